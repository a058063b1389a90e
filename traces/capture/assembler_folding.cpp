#include "traces/capture/assembler_folding.hpp"

#include <algorithm>
#include <map>

#include "sim/errors.hpp"

namespace homenode {
namespace {

// From how many accesses of one site that fold into nothing they are stored as columns.
constexpr std::size_t least_stream = 16;
// Up to so many runs each has a slot of its own, so that blocks of iterations may move each by itself.
constexpr std::size_t most_slots_by_run = 65535;
constexpr std::size_t most_unfolded = 1 << 20;

bool equal(const RunDimension& a, const RunDimension& b) {
  return a.count == b.count && a.stride == b.stride && a.sequence_stride == b.sequence_stride;
}

bool same_shape(const AccessRun& a, const AccessRun& b) {
  if (a.site != b.site || a.dimensions != b.dimensions || a.width != b.width || a.kind != b.kind ||
      a.producer_distance != b.producer_distance || a.streamable != b.streamable || a.bulk != b.bulk) {
    return false;
  }
  for (unsigned d = 0; d < a.dimensions; ++d) {
    if (!equal(a.dimension[d], b.dimension[d])) return false;
  }
  return true;
}

bool same_shape(const IrregularStream& a, const IrregularStream& b) {
  return a.site == b.site && a.kind == b.kind && a.width == b.width && a.slot == b.slot && a.offset == b.offset &&
         a.producer_distance == b.producer_distance && a.sequence == b.sequence;
}

// Slots count one a run, so equal shapes have equal slots.
bool same_shape(const ItemPattern& a, const ItemPattern& b) {
  if (a.slots != b.slots || a.accesses != b.accesses || a.runs.size() != b.runs.size() || a.streams.size() != b.streams.size() ||
      a.heap_events.size() != b.heap_events.size() || a.sync_events.size() != b.sync_events.size()) {
    return false;
  }
  for (std::size_t i = 0; i < a.runs.size(); ++i) {
    if (a.runs[i].sequence != b.runs[i].sequence || !same_shape(a.runs[i], b.runs[i])) return false;
  }
  for (std::size_t i = 0; i < a.streams.size(); ++i) {
    if (!same_shape(a.streams[i], b.streams[i])) return false;
  }
  for (std::size_t i = 0; i < a.heap_events.size(); ++i) {
    const HeapEvent &x = a.heap_events[i], &y = b.heap_events[i];
    if (x.sequence != y.sequence || x.operation != y.operation || x.zeroed != y.zeroed || x.slot != y.slot) return false;
  }
  for (std::size_t i = 0; i < a.sync_events.size(); ++i) {
    const SyncEvent &x = a.sync_events[i], &y = b.sync_events[i];
    if (x.sequence != y.sequence || x.operation != y.operation || x.object != y.object || x.match != y.match) return false;
  }
  return true;
}

}  // namespace

void ItemFolder::add(std::size_t site, const PlacedRun& placed) {
  if (site >= sites_.size()) sites_.resize(site + 1);
  SiteFolder& folder = sites_[site];
  if (!folder.active) {
    folder.active = true;
    active_.push_back(site);
  }
  const AccessRun& run = placed.run;
  // Which accesses the runtime joins to runs of two depends on where things lie in memory. The trace must not: single accesses
  // are folded together, in the order of their sequence, whatever the order and form in which they came.
  const bool pair = run.dimensions == 1 && run.dimension[0].count == 2;
  if (run.streamable || run.bulk || (run.dimensions > 0 && !pair)) {
    push(folder, 0, placed);
    return;
  }
  if (folder.unfolded.empty()) {
    folder.single_shape = placed;
    folder.single_shape.run.dimensions = 0;
  }
  folder.unfolded.push_back({placed.object, run.producer_distance, run.offset, run.sequence});
  if (pair) {
    folder.unfolded.push_back(
        {placed.object, run.producer_distance, run.offset + run.dimension[0].stride, run.sequence + run.dimension[0].sequence_stride});
  }
  // Memory is bounded by what does not fold.
  if (folder.unfolded.size() >= most_unfolded) {
    close_all(folder);
    fold_singles(folder);
  }
}

void ItemFolder::close_all(SiteFolder& folder) {
  for (unsigned level = 0; level < AccessRun::max_dimensions; ++level) close(folder, level);
}

void ItemFolder::fold_singles(SiteFolder& folder) {
  const auto earlier = [](const Single& a, const Single& b) { return a.sequence < b.sequence; };
  if (!std::is_sorted(folder.unfolded.begin(), folder.unfolded.end(), earlier)) {
    std::sort(folder.unfolded.begin(), folder.unfolded.end(), earlier);
  }
  PlacedRun placed = folder.single_shape;
  for (const Single& single : folder.unfolded) {
    placed.object = single.object;
    placed.run.producer_distance = single.distance;
    placed.run.offset = single.offset;
    placed.run.sequence = single.sequence;
    push(folder, 0, placed);
  }
  close_all(folder);
  folder.unfolded.clear();
}

void ItemFolder::push(SiteFolder& folder, unsigned level, const PlacedRun& placed) {
  if (level == AccessRun::max_dimensions || placed.run.dimensions == AccessRun::max_dimensions) {
    emit(folder, placed);
    return;
  }
  Level& open = folder.level[level];
  if (open.count > 0) {
    const std::int64_t stride = placed.run.offset - open.last_offset;
    const std::uint64_t sequence_stride = placed.run.sequence - open.last_sequence;
    const bool joins = open.first.object == placed.object && same_shape(open.first.run, placed.run) &&
                       (open.count == 1 ? placed.run.sequence > open.last_sequence && sequence_stride <= UINT32_MAX
                                        : stride == open.stride && sequence_stride == open.sequence_stride && open.count < UINT32_MAX);
    if (joins) {
      open.stride = stride;
      open.sequence_stride = sequence_stride;
      open.last_offset = placed.run.offset;
      open.last_sequence = placed.run.sequence;
      ++open.count;
      return;
    }
    close(folder, level);
  }
  open.first = placed;
  open.count = 1;
  open.last_offset = placed.run.offset;
  open.last_sequence = placed.run.sequence;
}

void ItemFolder::close(SiteFolder& folder, unsigned level) {
  Level& open = folder.level[level];
  if (open.count == 0) return;
  PlacedRun placed = open.first;
  const std::uint32_t count = open.count;
  open.count = 0;
  if (count == 1) {
    push(folder, level + 1, placed);
  } else {
    placed.run.dimension[placed.run.dimensions++] = {count, open.stride, static_cast<std::uint32_t>(open.sequence_stride)};
    push(folder, level + 1, placed);
  }
}

void ItemFolder::emit(SiteFolder& folder, const PlacedRun& placed) {
  const AccessRun& run = placed.run;
  // Any two accesses are a run of two: alone, that is no regularity.
  const bool pair = run.dimensions == 1 && run.dimension[0].count == 2;
  if (run.streamable || run.bulk || (run.dimensions > 0 && !pair)) {
    runs_.push_back(placed);
    return;
  }
  folder.singles.push_back({placed.object, run.producer_distance, run.offset, run.sequence});
  if (pair) {
    folder.singles.push_back(
        {placed.object, run.producer_distance, run.offset + run.dimension[0].stride, run.sequence + run.dimension[0].sequence_stride});
  }
}

void ItemFolder::add_stream(SiteFolder& folder, Item& item) {
  std::vector<Single>& singles = folder.singles;
  std::sort(singles.begin(), singles.end(), [](const Single& a, const Single& b) { return a.sequence < b.sequence; });
  if (singles.size() < least_stream) {
    for (const Single& single : singles) {
      PlacedRun placed = folder.single_shape;
      placed.object = single.object;
      placed.run.producer_distance = single.distance;
      placed.run.offset = single.offset;
      placed.run.sequence = single.sequence;
      runs_.push_back(placed);
    }
    return;
  }
  IrregularStream stream;
  stream.site = folder.single_shape.run.site;
  stream.kind = folder.single_shape.run.kind;
  stream.width = folder.single_shape.run.width;
  std::map<ObjectId, SlotNumber> slots;
  for (const Single& single : singles) {
    const auto [entry, fresh] = slots.emplace(single.object, static_cast<SlotNumber>(item.positions.size()));
    if (fresh) item.positions.push_back({single.object, single.offset});
    stream.slot.push_back(entry->second);
    stream.offset.push_back(single.offset - item.positions[entry->second].offset);
    stream.producer_distance.push_back(single.distance);
    stream.sequence.push_back(single.sequence);
  }
  item.pattern.streams.push_back(std::move(stream));
}

void ItemFolder::heap_event(const HeapEvent& event, ObjectId object) {
  events_.pattern.heap_events.push_back(event);
  events_.positions.push_back({object, 0});
}

void ItemFolder::sync_event(const SyncEvent& event) { events_.pattern.sync_events.push_back(event); }

void ItemFolder::finish(Item& item) {
  item.pattern = {};
  item.positions.clear();
  for (const std::size_t site : active_) {
    SiteFolder& folder = sites_[site];
    close_all(folder);
    if (!folder.unfolded.empty()) fold_singles(folder);
  }
  std::sort(active_.begin(), active_.end());
  for (const std::size_t site : active_) {
    SiteFolder& folder = sites_[site];
    if (!folder.singles.empty()) add_stream(folder, item);
    if (folder.singles.capacity() > 4096) {
      folder.singles = {};
    } else {
      folder.singles.clear();
    }
    folder.active = false;
  }
  active_.clear();
  std::sort(runs_.begin(), runs_.end(), [](const PlacedRun& a, const PlacedRun& b) { return a.run.sequence < b.run.sequence; });
  ItemPattern& pattern = item.pattern;
  const auto count = [&pattern](AccessKind kind, std::uint64_t accesses) {
    pattern.accesses += accesses;
    if (kind != AccessKind::write) pattern.reads += accesses;
    if (kind != AccessKind::read) pattern.writes += accesses;
  };
  for (const IrregularStream& stream : pattern.streams) count(stream.kind, stream.offset.size());
  // A slot a run while there is room; then runs of one object share one, and keep their distance in it.
  const bool room = item.positions.size() + runs_.size() + events_.positions.size() <= most_slots_by_run;
  std::map<ObjectId, SlotNumber> shared;
  const auto slot_at = [&](ObjectId object, std::int64_t offset) {
    if (!room) {
      const auto known = shared.find(object);
      if (known != shared.end()) return known->second;
    }
    if (item.positions.size() >= most_slots) {
      throw InputError("one iteration of the traced program uses more than " + std::to_string(most_slots) +
                       " objects; capture a smaller problem, or cut serial code by HOMENODE_STEP");
    }
    const auto slot = static_cast<SlotNumber>(item.positions.size());
    item.positions.push_back({object, offset});
    if (!room) shared.emplace(object, slot);
    return slot;
  };
  for (const PlacedRun& placed : runs_) {
    AccessRun run = placed.run;
    run.slot = slot_at(placed.object, run.offset);
    run.offset -= item.positions[run.slot].offset;
    count(run.kind, run.accesses());
    pattern.runs.push_back(run);
  }
  runs_.clear();
  for (std::size_t i = 0; i < events_.pattern.heap_events.size(); ++i) {
    HeapEvent event = events_.pattern.heap_events[i];
    event.slot = slot_at(events_.positions[i].object, 0);
    pattern.heap_events.push_back(event);
  }
  pattern.sync_events = std::move(events_.pattern.sync_events);
  events_ = {};
  pattern.slots = static_cast<SlotNumber>(item.positions.size());
}

void BlockFolder::add(std::int64_t iteration, Item& item, const Intern& intern, const Emit& emit) {
  const std::int64_t length = last_ - first_;
  const bool alike = length > 0 && same_shape(item_.pattern, item.pattern);
  if (alike && iteration == last_) {
    bool joins = true;
    for (std::size_t s = 0; joins && s < item.positions.size(); ++s) {
      const Item::Position &a = item_.positions[s], &b = item.positions[s];
      joins = a.object == b.object && (length == 1 || b.offset == a.offset + shifts_[s] * length);
    }
    if (joins) {
      if (length == 1) {
        shifts_.resize(item.positions.size());
        for (std::size_t s = 0; s < shifts_.size(); ++s) shifts_[s] = item.positions[s].offset - item_.positions[s].offset;
      }
      ++last_;
      return;
    }
  }
  if (length > 0) close(intern, emit);
  same_shape_as_joined_ = alike;
  std::swap(item_, item);
  first_ = iteration;
  last_ = iteration + 1;
  shifts_.clear();
}

void BlockFolder::close(const Intern& intern, const Emit& emit) {
  const bool single = last_ - first_ == 1;
  const auto shift = [&](std::size_t s) { return single ? 0 : shifts_[s]; };
  const std::vector<Item::Position>& at = item_.positions;
  bool as_before = same_shape_as_joined_ && !pattern_.is_none() && joined_.size() == at.size();
  for (std::size_t s = 0; as_before && s < at.size(); ++s) {
    const std::size_t leader = leader_[joined_[s]];
    as_before = at[s].object == at[leader].object && at[s].offset - at[leader].offset == relative_[s] && shift(s) == shift(leader);
  }
  if (!as_before) {
    joined_.assign(at.size(), 0);
    relative_.assign(at.size(), 0);
    leader_.clear();
    std::map<std::pair<ObjectId, std::int64_t>, SlotNumber> known;
    // Runs come first, by sequence, so that a joined slot's base is the first access through it.
    std::vector<std::size_t> order;
    std::vector<bool> seen(at.size(), false);
    const auto visit = [&](std::size_t s) {
      if (!seen[s]) {
        seen[s] = true;
        order.push_back(s);
      }
    };
    for (const AccessRun& run : item_.pattern.runs) visit(run.slot);
    for (std::size_t s = 0; s < at.size(); ++s) visit(s);
    for (const std::size_t s : order) {
      const auto [entry, fresh] = known.emplace(std::pair{at[s].object, shift(s)}, static_cast<SlotNumber>(leader_.size()));
      if (fresh) leader_.push_back(s);
      joined_[s] = entry->second;
      relative_[s] = at[s].offset - at[leader_[entry->second]].offset;
    }
    ItemPattern pattern = item_.pattern;
    for (AccessRun& run : pattern.runs) {
      run.offset += relative_[run.slot];
      run.slot = joined_[run.slot];
    }
    for (IrregularStream& stream : pattern.streams) {
      for (std::size_t i = 0; i < stream.slot.size(); ++i) {
        stream.offset[i] += relative_[stream.slot[i]];
        stream.slot[i] = joined_[stream.slot[i]];
      }
    }
    for (HeapEvent& event : pattern.heap_events) event.slot = joined_[event.slot];
    pattern.slots = static_cast<SlotNumber>(leader_.size());
    pattern_ = intern(pattern);
  }
  ItemBlock block{first_, last_, pattern_, {}};
  for (const std::size_t leader : leader_) block.slots.push_back({at[leader].object, at[leader].offset, shift(leader)});
  emit(std::move(block));
  first_ = last_ = 0;
  same_shape_as_joined_ = true;
}

void BlockFolder::finish(const Intern& intern, const Emit& emit) {
  if (last_ > first_) close(intern, emit);
}

}  // namespace homenode
