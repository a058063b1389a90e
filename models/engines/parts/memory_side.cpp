#include "models/engines/parts/memory_side.hpp"

#include <algorithm>

#include "sim/machine/line_bytes.hpp"

namespace homenode {

namespace {
std::uint64_t lowest_bits(std::uint64_t count) { return count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1; }
}  // namespace

MemorySide::MemorySide(const Machine& machine, bool zeroed)
    : machine_{machine},
      directory_{machine.directory_in == DirectoryPlace::memory},
      zeroed_{zeroed},
      line_bytes_{line_bytes(machine)},
      shift_{static_cast<unsigned>(std::countr_zero(std::min<std::uint64_t>(64, 4096 / line_bytes_)))} {
  if (!machine.has_side_caches()) return;
  for (const NodeDescription& node : machine.nodes) {
    Node& made = slots_.emplace_back();
    if (node.has_side_cache()) made.slots = static_cast<std::uint64_t>(node.memory_side_cache->count()) / (line_bytes_ << shift_);
  }
}

template <class Do>
void MemorySide::for_each_part(LineRange lines, NodeId asker, const AddressSpace& addresses, Do&& act) {
  if (!based_) {
    base_ = addresses.first_byte(PageNumber{0}).value() / line_bytes_ >> shift_;
    based_ = true;
  }
  const std::uint64_t of_block = (std::uint64_t{1} << shift_) - 1;
  for (LineNumber line = lines.first; line < lines.last;) {
    const std::uint64_t begin = line.value() & of_block, number = line.value() >> shift_;
    const LineNumber end = std::min(lines.last, LineNumber{(number + 1) << shift_});
    const std::uint64_t count = end - line;
    const Address at = first_byte(line, line_bytes_);
    const PageNumber page = addresses.page_of(at);
    Part part{.block = static_cast<std::uint32_t>(number - base_),
              .mask = lowest_bits(count) << begin,
              .lines = count,
              .home = addresses.home_for(at, asker),
              .of_all = addresses.home_of_page(page).is_none() || addresses.replicated(page)};
    if (blocks_.size() <= part.block) blocks_.resize(std::max<std::size_t>(part.block + 1, 2 * blocks_.size()));
    act(part);
    line = end;
  }
}

MemorySide::Held& MemorySide::held(Node& node, const Block& block, std::uint32_t number) {
  const std::size_t place = block.frame % node.slots;
  if (node.by_number.size() <= place) node.by_number.resize(place + 1);
  Slot& slot = node.by_number[place];
  if (slot.first.block == number) return slot.first;
  const auto other = std::find_if(slot.others.begin(), slot.others.end(), [&](const Held& one) { return one.block == number; });
  if (other != slot.others.end()) return *other;
  if (slot.first.present == 0) return slot.first = {.block = number};
  const auto empty = std::find_if(slot.others.begin(), slot.others.end(), [](const Held& one) { return one.present == 0; });
  if (empty != slot.others.end()) return *empty = {.block = number};
  return slot.others.emplace_back(Held{.block = number});
}

std::uint64_t MemorySide::take_in(Node& node, const Block& block, std::uint32_t number, std::uint64_t mask, bool modified, Met& met) {
  Held& mine = held(node, block, number);
  const std::uint64_t there = mine.present & mask, missing = mask & ~there;
  mine.present |= mask;
  if (modified) {
    mine.modified |= mask;
    met.fills += static_cast<std::uint64_t>(std::popcount(missing));
  }
  if (missing == 0) return there;
  Slot& slot = node.by_number[block.frame % node.slots];
  const auto push_out = [&](Held& other) {
    if (other.block == number) return;
    std::uint64_t victims = other.modified & missing;
    other.present &= ~missing;
    other.modified &= ~missing;
    met.victims += static_cast<std::uint64_t>(std::popcount(victims));
    for (; victims != 0; victims &= victims - 1)
      victims_.push_back(LineNumber{((base_ + other.block) << shift_) + static_cast<std::uint64_t>(std::countr_zero(victims))});
  };
  push_out(slot.first);
  for (Held& other : slot.others) push_out(other);
  return there;
}

// Where its page has come to another node, what the old one knew of it is gone.
MemorySide::Block& MemorySide::block_at(std::uint32_t number, NodeId home, Met& met) {
  Block& block = blocks_[number];
  if (block.node == home.value()) return block;
  const bool fresh = block.node == no_node;
  if (!fresh) release(block, number);
  block.node = static_cast<std::uint8_t>(home.value());
  block.noted = 0;
  if (!has_side_cache(home)) return block;
  Node& node = slots_[home.index()];
  if (node.free.empty()) {
    block.frame = node.frames++;
  } else {
    block.frame = node.free.back();
    node.free.pop_back();
  }
  if (fresh && zeroed_) {
    Met zeroed;  // whole lines of a whole page: nothing is fetched
    take_in(node, block, number, lowest_bits(std::uint64_t{1} << shift_), true, zeroed);
    met.victims += zeroed.victims;
  }
  return block;
}

void MemorySide::release(Block& block, std::uint32_t number) {
  if (block.frame != nowhere) {
    Node& node = slots_[block.node];
    held(node, block, number) = {};
    node.free.push_back(block.frame);
  }
  block = {};
}

void MemorySide::read(LineRange lines, NodeId reader, const AddressSpace& addresses, const Each& each) {
  for_each_part(lines, reader, addresses, [&](const Part& part) {
    Met met{.home = part.home, .lines = part.lines};
    if (part.of_all) {
      if (has_side_cache(part.home)) met.hits = part.lines;
      return each(met);
    }
    Block& block = block_at(part.block, part.home, met);
    if (block.frame != nowhere)
      met.hits = static_cast<std::uint64_t>(std::popcount(take_in(slots_[part.home.index()], block, part.block, part.mask, false, met)));
    if (directory_ && machine_.socket_of(reader) != machine_.socket_of(part.home)) {
      met.directory = static_cast<std::uint64_t>(std::popcount(part.mask & ~block.noted));
      block.noted |= part.mask;
    }
    each(met);
  });
}

void MemorySide::write(LineRange lines, NodeId writer, const AddressSpace& addresses, const Each& each) {
  for_each_part(lines, writer, addresses, [&](const Part& part) {
    Met met{.home = part.home, .lines = part.lines};
    if (part.of_all) return each(met);
    Block& block = block_at(part.block, part.home, met);
    if (block.frame != nowhere) take_in(slots_[part.home.index()], block, part.block, part.mask, true, met);
    block.noted &= ~part.mask;
    each(met);
  });
}

void MemorySide::forget(LineRange lines) {
  if (!based_) return;
  const std::uint64_t first = ((lines.first.value() + (std::uint64_t{1} << shift_) - 1) >> shift_) - base_;
  const std::uint64_t last = (lines.last.value() >> shift_) - base_;
  for (std::uint64_t block = first; block < last && block < blocks_.size(); ++block)
    if (blocks_[block].node != no_node) release(blocks_[block], static_cast<std::uint32_t>(block));
}

}  // namespace homenode
