#include "traces/importers/blocks.hpp"

#include <map>
#include <utility>

namespace homenode {
namespace {

bool equal(const WorkCounts& a, const WorkCounts& b) {
  return a.instructions == b.instructions && a.integer == b.integer && a.fp_add == b.fp_add && a.fp_multiply == b.fp_multiply &&
         a.fp_fma == b.fp_fma && a.divide == b.divide && a.load == b.load && a.store == b.store && a.branch == b.branch;
}

bool equal(const AccessRun& a, const AccessRun& b) {
  if (a.slot != b.slot || a.width != b.width || a.kind != b.kind || a.site != b.site || a.offset != b.offset || a.sequence != b.sequence ||
      a.dimensions != b.dimensions) {
    return false;
  }
  for (unsigned d = 0; d < a.dimensions; ++d) {
    const RunDimension &x = a.dimension[d], &y = b.dimension[d];
    if (x.count != y.count || x.stride != y.stride || x.sequence_stride != y.sequence_stride) return false;
  }
  return true;
}

bool equal(const IrregularStream& a, const IrregularStream& b) {
  return a.site == b.site && a.kind == b.kind && a.width == b.width && a.slot == b.slot && a.offset == b.offset && a.sequence == b.sequence;
}

template <class Element>
bool equal(const std::vector<Element>& a, const std::vector<Element>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!equal(a[i], b[i])) return false;
  }
  return true;
}

}  // namespace

bool BlockJoiner::can_join(const FoldedItem& item) const {
  const std::int64_t length = last_ - first_;
  if (length == 0 || item.positions.size() != first_item_.positions.size()) return false;
  for (std::size_t s = 0; s < item.positions.size(); ++s) {
    const FoldedItem::Position &a = first_item_.positions[s], &b = item.positions[s];
    if (a.object != b.object || (length > 1 && b.offset != a.offset + shifts_[s] * length)) return false;
  }
  const ItemPattern &a = first_item_.pattern, &b = item.pattern;
  return equal(a.work, b.work) && equal(a.runs, b.runs) && equal(a.streams, b.streams);
}

void BlockJoiner::add(FoldedItem item) {
  if (can_join(item)) {
    if (last_ - first_ == 1) {
      shifts_.resize(item.positions.size());
      for (std::size_t s = 0; s < shifts_.size(); ++s) shifts_[s] = item.positions[s].offset - first_item_.positions[s].offset;
    }
    ++last_;
    return;
  }
  finish();
  first_item_ = std::move(item);
  ++last_;
}

void BlockJoiner::add_empty(std::int64_t iterations) {
  if (iterations == 0) return;
  add({});
  last_ += iterations - 1;
}

// Slots of one object that shift alike become one.
void BlockJoiner::finish() {
  if (last_ == first_) return;
  ItemBlock block{first_, last_, PatternId::none(), {}};
  ItemPattern& pattern = first_item_.pattern;
  const std::vector<FoldedItem::Position>& positions = first_item_.positions;
  std::map<std::pair<ObjectId, std::int64_t>, SlotNumber> joined;
  std::vector<SlotNumber> slot_of;
  for (std::size_t s = 0; s < positions.size(); ++s) {
    const std::int64_t shift = shifts_.empty() ? 0 : shifts_[s];
    const auto [entry, fresh] = joined.emplace(std::pair{positions[s].object, shift}, static_cast<SlotNumber>(block.slots.size()));
    if (fresh) block.slots.push_back({positions[s].object, positions[s].offset, shift});
    slot_of.push_back(entry->second);
  }
  const auto moved = [&](SlotNumber slot) { return positions[slot].offset - block.slots[slot_of[slot]].base; };
  for (AccessRun& run : pattern.runs) {
    run.offset += moved(run.slot);
    run.slot = slot_of[run.slot];
  }
  for (IrregularStream& stream : pattern.streams) {
    for (std::size_t i = 0; i < stream.slot.size(); ++i) {
      stream.offset.set(i, stream.offset[i] + moved(stream.slot[i]));
      stream.slot.set(i, slot_of[stream.slot[i]]);
    }
  }
  pattern.slots = static_cast<SlotNumber>(block.slots.size());
  block.pattern = intern_(pattern);
  emit_(block);
  first_ = last_;
  shifts_.clear();
}

}  // namespace homenode
