#include "models/core/value_walk.hpp"

#include <algorithm>
#include <bit>

namespace homenode {
namespace {

using Kind = InstructionEffects::Kind;

// Arithmetic of addresses wraps round.
std::int64_t sum(std::int64_t one, std::int64_t other) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(one) + static_cast<std::uint64_t>(other));
}
std::int64_t times(std::int64_t one, std::int64_t other) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(one) * static_cast<std::uint64_t>(other));
}

}  // namespace

void ValueWalk::forget() {
  for (Value& value : registers_) value = fresh();
  combinations_.clear();
  made_.clear();
  code_roots_.clear();
  cells_.clear();
  memory_.clear();
}

// The same roots combined in the same way are the same root again.
ValueWalk::Value ValueWalk::combined(const Value& base, const Value& index, std::int64_t scale) {
  const std::int64_t offset = sum(base.offset, times(index.offset, scale));
  if (index.root == 0) return {base.root, offset};
  if (base.root == 0 && scale == 1) return {index.root, offset};
  const bool swapped = scale == 1 && index.root < base.root;
  const std::tuple key{swapped ? index.root : base.root, swapped ? base.root : index.root, scale};
  const auto [found, is_new] = combinations_.try_emplace(key, 0);
  if (is_new) found->second = ++roots_;
  return {found->second, offset};
}

ValueWalk::Value ValueWalk::address_of(const MemoryOperand& operand, const Place& place) {
  if (operand.base == CoreTarget::instruction_pointer) {
    const auto [found, is_new] = code_roots_.try_emplace(place.code, 0);
    if (is_new) found->second = ++roots_;
    return {found->second, sum(place.next, operand.displacement)};
  }
  Value address = operand.base >= 0 ? get(operand.base) : Value{};
  if (operand.index >= 0) address = combined(address, get(operand.index), operand.scale);
  address.offset = sum(address.offset, operand.displacement);
  return address;
}

ValueWalk::Loaded ValueWalk::loaded(const Value& address, unsigned width, std::vector<std::uint32_t>& stores) {
  const std::size_t before = stores.size();
  const Cell* whole = nullptr;
  unsigned known = 0, in_flight = 0;  // bytes
  for (unsigned byte = 0; byte < width; ++byte) {
    const auto found = memory_.find({address.root, sum(address.offset, byte)});
    if (found == memory_.end()) continue;
    ++known;
    const Cell& cell = cells_[found->second];
    if (byte == 0 && cell.address == address && cell.width == width) whole = &cell;
    if (whole != nullptr && whole != &cell) whole = nullptr;  // overwritten in part
    if (!cell.is_stored || store_count_ - cell.store_count >= stores_in_flight_) continue;
    ++in_flight;
    const auto begin = stores.begin() + static_cast<std::ptrdiff_t>(before);
    if (std::find(begin, stores.end(), cell.store) == stores.end()) stores.push_back(cell.store);
  }
  const std::size_t sources = stores.size() - before;
  const bool is_merged = sources > 1 || (sources == 1 && in_flight < width);
  if (whole != nullptr) return {whole->content, is_merged};
  const Value content = fresh();
  if (known == 0) remember({.address = address, .content = content, .width = width});
  return {content, is_merged};
}

void ValueWalk::store(const Value& address, unsigned width, const Value& content, std::uint32_t number) {
  remember({.address = address, .content = content, .width = width, .store = number, .store_count = ++store_count_, .is_stored = true});
}

void ValueWalk::remember(const Cell& cell) {
  const auto index = static_cast<std::uint32_t>(cells_.size());
  cells_.push_back(cell);
  for (unsigned byte = 0; byte < cell.width; ++byte) memory_[{cell.address.root, sum(cell.address.offset, byte)}] = index;
}

ValueWalk::Step ValueWalk::step(const InstructionEffects& effects, const Place& place, std::uint32_t number,
                                std::vector<std::uint32_t>& stores) {
  Value address;
  const unsigned width = effects.memory.base == CoreTarget::instruction_pointer && !place.is_exact ? 1 : effects.memory.width;
  if (effects.kind == Kind::push || effects.kind == Kind::pop) {
    address = get(CoreTarget::rsp);
    if (effects.kind == Kind::push) address.offset = sum(address.offset, -8);
  } else if (effects.kind == Kind::leave) {
    address = get(CoreTarget::rbp);
  } else if (effects.loads || effects.stores || effects.kind == Kind::address) {
    address = address_of(effects.memory, place);
  }
  const Loaded read = effects.loads ? loaded(address, width, stores) : Loaded{};
  const Value& from_memory = read.content;
  const Made operands = operands_of(effects, from_memory);
  const Value content = effects.stores ? stored(effects, from_memory, operands) : Value{};
  assign(effects, address, from_memory, operands, place.enters);
  if (effects.stores) store(address, width, content, number);
  const Value pushed{registers_[CoreTarget::rsp].root, sum(registers_[CoreTarget::rsp].offset, -8)};
  const bool calls = effects.kind == Kind::call;
  return {.is_merged = read.is_merged, .line = effects.stores ? line_of(address) : calls ? line_of(pushed) : 0};
}

std::uint64_t ValueWalk::line_of(const Value& address) {
  constexpr unsigned bits_of_line = 6;
  return std::uint64_t{Hash{}({address.root, address.offset >> bits_of_line})} | 1;
}

ValueWalk::Made ValueWalk::operands_of(const InstructionEffects& effects, const Value& from_memory) {
  const Operation& operation = effects.operation;
  Made made;
  if (effects.may_load && !effects.loads) return made;
  made.what = operation.what;
  for (unsigned i = 0; i < operation.read_count; ++i) made.operands[i] = get(operation.reads[i]);
  made.operands.back() = from_memory;
  return made;
}

ValueWalk::Value ValueWalk::made(Made operands, unsigned result) {
  if (operands.what == 0) return fresh();
  operands.result = result;
  const auto [found, is_new] = made_.try_emplace(operands, 0);
  if (is_new) found->second = ++roots_;
  return {found->second, 0};
}

ValueWalk::Value ValueWalk::stored(const InstructionEffects& effects, const Value& from_memory, const Made& operands) {
  constexpr unsigned in_memory = 32;  // as a result: behind those in registers
  switch (effects.stored) {
    case InstructionEffects::Stored::constant: return {0, effects.constant};
    case InstructionEffects::Stored::source: return get(effects.source);
    case InstructionEffects::Stored::add_constant: return {from_memory.root, sum(from_memory.offset, effects.constant)};
    case InstructionEffects::Stored::other: break;
  }
  return made(operands, in_memory);
}

void ValueWalk::assign(const InstructionEffects& effects, const Value& address, const Value& from_memory, const Made& operands,
                       bool enters) {
  const Value source = effects.source >= 0 ? get(effects.source) : Value{};
  const Value old = effects.target >= 0 ? get(effects.target) : Value{};
  unsigned result = 0;
  for (unsigned written = effects.written; written != 0; written &= written - 1) set(std::countr_zero(written), made(operands, result++));
  if (effects.operation.writes_flags) set(Operation::flags, effects.operation.keeps_flags ? fresh() : made(operands, result));
  switch (effects.kind) {
    case Kind::other: break;
    case Kind::constant: set(effects.target, {0, effects.constant}); break;
    case Kind::copy: set(effects.target, effects.loads ? from_memory : source); break;
    case Kind::add_constant: set(effects.target, {source.root, sum(source.offset, effects.constant)}); break;
    case Kind::add_register: set(effects.target, combined(old, source, 1)); break;
    case Kind::subtract_register: set(effects.target, combined(old, source, -1)); break;
    case Kind::scale: set(effects.target, combined({}, source, effects.constant)); break;
    case Kind::address: set(effects.target, address); break;
    case Kind::push: set(CoreTarget::rsp, address); break;
    case Kind::pop:
      set(CoreTarget::rsp, {address.root, sum(address.offset, 8)});
      set(effects.target, from_memory);
      break;
    case Kind::leave:
      set(CoreTarget::rsp, {address.root, sum(address.offset, 8)});
      set(CoreTarget::rbp, from_memory);
      break;
    case Kind::call:
      if (enters) break;
      set(CoreTarget::rax, fresh());
      set(CoreTarget::rdx, fresh());
      break;
  }
}

}  // namespace homenode
