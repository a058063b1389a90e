#include "models/core/window_stream.hpp"

#include "models/core/value_walk.hpp"

namespace homenode {
namespace {

constexpr unsigned narrow = 4;  // bytes; less than that is never renamed

std::uint32_t stores_in_flight(const llvm::MCSchedModel& model) {
  constexpr std::uint32_t usual = 64;  // where the model tells no size
  if (!model.hasExtraProcessorInfo()) return usual;
  const unsigned queue = model.getExtraProcessorInfo().StoreQueueID;
  const int size = queue == 0 ? 0 : model.getProcResource(queue)->BufferSize;
  return size > 0 ? static_cast<std::uint32_t>(size) : usual;
}

// Of a block that ends in a call: whether the block behind it is the callee's, and not the one that the call returns to. Captured code has
// other code between its blocks, so that the latter begins a little behind the call (102 bytes in captures by gcc 12).
bool enters_callee(const CoreBlock& block, const CoreBlock* behind) {
  constexpr std::int64_t between = 160;
  if (behind == nullptr || !block.address || !behind->address || block.instructions.empty()) return false;
  const auto returns_to = static_cast<std::int64_t>(*block.address) + block.instructions.back().next;
  const auto begin = static_cast<std::int64_t>(*behind->address);
  return begin < returns_to || begin >= returns_to + between;
}

// Whether data of general registers that an instruction stores, or loads, are renamed.
bool renames(const ForwardingLatency& latency, const CoreInstruction& instruction) {
  using Kind = InstructionEffects::Kind;
  const MemoryOperand& memory = instruction.effects.memory;
  const Kind kind = instruction.effects.kind;
  if (latency.renames == ForwardingLatency::Renames::all) return true;
  if (kind == Kind::push || kind == Kind::pop) return true;
  if (memory.index >= 0) return false;
  const bool loads = instruction.effects.loads;
  if (latency.renames == ForwardingLatency::Renames::without_index) return !loads || !instruction.computes_with_memory;
  return (memory.base == CoreTarget::rsp || memory.base == CoreTarget::rbp) &&
         (!loads || instruction.effects.stores || instruction.only_loads);
}

// `behind`: the next block of the window; none at its end.
void append(WindowStream& stream, const CoreBlock& block, const CoreBlock* behind, ValueWalk& walk, const ForwardingLatency& latency) {
  const bool is_exact = block.address.has_value();
  // Blocks that tell their addresses share one space of code; 0 is that one.
  const std::uint64_t code = is_exact ? 0 : block.id + 1;
  const auto begin = static_cast<std::int64_t>(block.address.value_or(0));
  const bool enters = enters_callee(block, behind);
  Forwarding& forwarding = stream.forwarding;
  for (const CoreInstruction& instruction : block.instructions) {
    const bool is_last = &instruction == &block.instructions.back();
    const auto number = static_cast<std::uint32_t>(stream.instructions.size());
    const auto known = static_cast<std::uint32_t>(forwarding.stores.size());
    const ValueWalk::Place place{.code = code, .next = begin + instruction.next, .is_exact = is_exact, .enters = is_last && enters};
    const ValueWalk::Step done = walk.step(instruction.effects, place, number, forwarding.stores);
    const bool is_merged = done.is_merged && latency.merged > 0;
    forwarding.lines.push_back(done.line);
    const auto count = static_cast<std::uint32_t>(forwarding.stores.size()) - known;
    const InstructionEffects& load = instruction.effects;
    const bool is_vector = load.has_vector_result;
    bool is_renamed = load.memory.width >= narrow && renames(latency, instruction);
    for (std::uint32_t index = known; index < known + count; ++index) {
      const CoreInstruction& store = *stream.code[forwarding.stores[index]];
      is_renamed = is_renamed && !store.effects.stores_vector && renames(latency, store);
    }
    const Way way = is_merged ? Way::merged : is_vector ? Way::vector : is_renamed ? Way::renamed : Way::forwarded;
    forwarding.loads.push_back({.first = known, .count = count, .way = way});
    forwarding.readers.push_back(0);
    for (std::uint32_t index = known; index < known + count; ++index) {
      std::uint8_t& readers = forwarding.readers[forwarding.stores[index]];
      readers = static_cast<std::uint8_t>(readers | Forwarding::bit(way));
    }
    const unsigned of_way = is_vector ? latency.vector : is_renamed ? latency.renamed : latency.general;
    const bool tells_latency = is_merged || of_way > 0;
    const bool has_arrived = count > 0 && tells_latency && instruction.arrived;
    stream.code.push_back(&instruction);
    stream.instructions.push_back(has_arrived ? instruction.arrived.get() : instruction.plain.get());
  }
}

}  // namespace

WindowStream window_stream(const CoreTarget& target, const WindowOfBlocks& window, const ForwardingLatency& latency) {
  WindowStream stream;
  ValueWalk walk{stores_in_flight(target.model())};
  for (std::size_t i = 0; i < window.blocks.size(); ++i) {
    const CoreBlock* const behind = i + 1 < window.blocks.size() && !window.is_cut ? window.blocks[i + 1] : nullptr;
    stream.first.push_back(static_cast<std::uint32_t>(stream.instructions.size()));
    if (window.is_cut) walk.forget();
    append(stream, *window.blocks[i], behind, walk, latency);
  }
  stream.first.push_back(static_cast<std::uint32_t>(stream.instructions.size()));
  return stream;
}

// The last instruction of each execution that ends with a wrong branch.
std::vector<std::uint32_t> wrong_instructions(const WindowStream& stream, const WindowOfBlocks& window) {
  std::vector<std::uint32_t> wrong;
  for (const std::size_t execution : window.wrong)
    if (stream.first[execution + 1] > stream.first[execution]) wrong.push_back(stream.first[execution + 1] - 1);
  return wrong;
}

std::uint32_t reorder_buffer(const llvm::MCSchedModel& model) {
  const unsigned extra = model.hasExtraProcessorInfo() ? model.getExtraProcessorInfo().ReorderBufferSize : 0;
  return extra > 0 ? extra : model.MicroOpBufferSize;
}

}  // namespace homenode
