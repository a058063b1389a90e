#include "traces/capture/assembler/folding.hpp"

#include <algorithm>
#include <map>
#include <span>

#include "sim/base/errors.hpp"

namespace homenode {
namespace {

// From how many accesses of one site that fold into nothing they are stored as columns.
constexpr std::size_t least_stream = 16;
// They are packed once there are so many. The last ones stay unpacked: an access that arrives late may belong before them.
constexpr std::size_t least_packed = 1 << 16, most_late = 4096;
// Up to so many runs each has a slot of its own, so that blocks of iterations may move each by itself.
constexpr std::size_t most_slots_by_run = 65535;

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
  activate(folder, site);
  const AccessRun& run = placed.run;
  // Which accesses the runtime joins to runs of two depends on where things lie in memory. The trace must not: single accesses
  // are folded together, in the order of their sequence, whatever the order and form in which they came.
  const bool pair = run.dimensions == 1 && run.dimension[0].count == 2;
  if (run.streamable || run.bulk || (run.dimensions > 0 && !pair)) {
    push(folder, 0, placed);
    return;
  }
  if (!folder.shape_known) {
    folder.single_shape = placed;
    folder.single_shape.run.dimensions = 0;
    folder.shape_known = true;
  }
  folder.singles.push_back({placed.object, run.producer_distance, run.offset, run.sequence});
  if (pair) {
    folder.singles.push_back(
        {placed.object, run.producer_distance, run.offset + run.dimension[0].stride, run.sequence + run.dimension[0].sequence_stride});
  }
  bound(folder);
}

void ItemFolder::close_all(SiteFolder& folder) {
  for (unsigned level = 0; level < AccessRun::max_dimensions; ++level) close(folder, level);
}

ItemFolder::Stretch ItemFolder::stretch_at(const std::vector<Single>& singles, std::size_t first) {
  Stretch stretch;
  stretch.first = first;
  if (first == singles.size()) return stretch;
  const Single& begin = singles[first];
  stretch.count = 1;
  std::size_t next = first + 1;
  const auto goes_on = [&] {
    return next < singles.size() && singles[next].object == begin.object && singles[next].distance == begin.distance;
  };
  if (!goes_on() || singles[next].sequence == begin.sequence || singles[next].sequence - begin.sequence > UINT32_MAX) return stretch;
  stretch.stride = singles[next].offset - begin.offset;
  stretch.sequence_stride = singles[next].sequence - begin.sequence;
  do {
    ++next;
    ++stretch.count;
  } while (goes_on() && singles[next].offset - singles[next - 1].offset == stretch.stride &&
           singles[next].sequence - singles[next - 1].sequence == stretch.sequence_stride && stretch.count < UINT32_MAX);
  return stretch;
}

PlacedRun ItemFolder::placed(const SiteFolder& folder, const Single& single) {
  PlacedRun placed = folder.single_shape;
  placed.object = single.object;
  placed.run.producer_distance = single.distance;
  placed.run.offset = single.offset;
  placed.run.sequence = single.sequence;
  return placed;
}

// Accesses at constant distances are stretches, which the levels above the first fold further. A stretch of one or two that is
// unlike the one before and the one behind it joins neither on any level: it needs no levels, it only ends what they hold.
void ItemFolder::fold_singles(SiteFolder& folder) {
  close_all(folder);
  const auto earlier = [](const Single& a, const Single& b) { return a.sequence < b.sequence; };
  std::vector<Single>& singles = folder.singles;
  const auto begin = singles.begin() + static_cast<std::ptrdiff_t>(folder.folded);
  if (!std::is_sorted(begin, singles.end(), earlier)) std::sort(begin, singles.end(), earlier);
  const auto alike = [&singles](const Stretch& a, const Stretch& b) {
    return a.count == b.count && a.stride == b.stride && a.sequence_stride == b.sequence_stride && a.count > 0 &&
           singles[a.first].object == singles[b.first].object && singles[a.first].distance == singles[b.first].distance;
  };
  bool levels_hold = false, like_before = false;
  for (Stretch now = stretch_at(singles, folder.folded), next; now.count > 0; now = next) {
    next = stretch_at(singles, now.first + now.count);
    const bool like_next = alike(now, next);
    if (now.count <= 2 && !like_before && !like_next) {
      if (levels_hold) close_all(folder);
      levels_hold = false;
      for (std::size_t i = now.first; i < now.first + now.count; ++i) singles[folder.folded++] = singles[i];
    } else {
      PlacedRun run = placed(folder, singles[now.first]);
      if (now.count > 1) {
        run.run.dimensions = 1;
        run.run.dimension[0] = {now.count, now.stride, static_cast<std::uint32_t>(now.sequence_stride)};
      }
      push(folder, 1, run);
      levels_hold = true;
    }
    like_before = like_next;
  }
  if (levels_hold) close_all(folder);
  singles.resize(folder.folded);
  if (folder.folded >= least_packed + most_late) pack_singles(folder);
}

// All but the last of what folds into nothing. Packed accesses keep their order; add_stream sorts if it must.
void ItemFolder::pack_singles(SiteFolder& folder) {
  std::vector<Single>& singles = folder.singles;
  const std::size_t packed = folder.folded - most_late;
  folder.loose.append(std::span{singles}.first(packed));
  singles.erase(singles.begin(), singles.begin() + static_cast<std::ptrdiff_t>(packed));
  folder.folded = most_late;
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
    format::push_back_large(runs_, placed);
    return;
  }
  // Comes from fold_singles only, and takes the place of what was read already.
  folder.singles[folder.folded++] = {placed.object, run.producer_distance, run.offset, run.sequence};
  if (pair) {
    folder.singles[folder.folded++] = {placed.object, run.producer_distance, run.offset + run.dimension[0].stride,
                                       run.sequence + run.dimension[0].sequence_stride};
  }
}

// In the order of their sequence, the packed ones before the others.
void ItemFolder::sort_singles(SiteFolder& folder) {
  const auto earlier = [](const Single& a, const Single& b) { return a.sequence < b.sequence; };
  std::vector<Single>& singles = folder.singles;
  if (!std::is_sorted(singles.begin(), singles.end(), earlier)) std::sort(singles.begin(), singles.end(), earlier);
  LooseAccesses& loose = folder.loose;
  if (loose.empty() || (loose.in_order() && (singles.empty() || singles.front().sequence >= loose.last_sequence()))) return;
  std::vector<Single> all;
  format::reserve_large(all, loose.size() + singles.size());
  loose.take_all([&](const Single& single) { all.push_back(single); });
  all.insert(all.end(), singles.begin(), singles.end());
  std::sort(all.begin(), all.end(), earlier);
  singles = std::move(all);
}

void ItemFolder::add_stream(SiteFolder& folder, Item& item) {
  sort_singles(folder);
  const std::vector<Single>& singles = folder.singles;
  const std::size_t accesses = folder.loose.size() + singles.size();
  if (accesses < least_stream) {
    for (const Single& single : singles) format::push_back_large(runs_, placed(folder, single));
    return;
  }
  IrregularStream stream;
  stream.site = folder.single_shape.run.site;
  stream.kind = folder.single_shape.run.kind;
  stream.width = folder.single_shape.run.width;
  stream.slot.reserve(accesses);
  stream.offset.reserve(accesses);
  stream.producer_distance.reserve(accesses);
  stream.sequence.reserve(accesses);
  const auto add = [&](const Single& single) {
    const SlotNumber slot = slots_.find_or_add(single.object, static_cast<SlotNumber>(item.positions.size()));
    if (slot == item.positions.size()) item.positions.push_back({single.object, single.offset});
    stream.slot.push_back(slot);
    stream.offset.push_back(single.offset - item.positions[slot].offset);
    stream.producer_distance.push_back(single.distance);
    stream.sequence.push_back(single.sequence);
  };
  folder.loose.take_all(add);
  for (const Single& single : singles) add(single);
  slots_.clear();
  item.pattern.streams.push_back(std::move(stream));
}

void ItemFolder::add_heap_event(const HeapEvent& event, ObjectId object) {
  events_.pattern.heap_events.push_back(event);
  events_.positions.push_back({object, 0});
}

void ItemFolder::add_sync_event(const SyncEvent& event) { events_.pattern.sync_events.push_back(event); }

std::size_t ItemFolder::held() const {
  std::size_t count = runs_.size();
  for (const std::size_t site : active_) count += sites_[site].loose.size() + sites_[site].singles.size();
  return count;
}

void ItemFolder::fold() {
  for (const std::size_t site : active_) fold_singles(sites_[site]);
}

void ItemFolder::finish(Item& item) {
  item.clear();
  std::sort(active_.begin(), active_.end());
  for (const std::size_t site : active_) {
    SiteFolder& folder = sites_[site];
    fold_singles(folder);
    if (!folder.singles.empty()) add_stream(folder, item);
    if (folder.singles.capacity() > 4096) {
      std::vector<Single>{}.swap(folder.singles);  // `= {}` keeps its room
    } else {
      folder.singles.clear();
    }
    folder.folded = 0;
    folder.active = false;
  }
  active_.clear();
  const auto earlier = [](const PlacedRun& a, const PlacedRun& b) { return a.run.sequence < b.run.sequence; };
  if (!std::is_sorted(runs_.begin(), runs_.end(), earlier)) std::sort(runs_.begin(), runs_.end(), earlier);
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
  format::reserve_large(pattern.runs, runs_.size());
  for (const PlacedRun& placed : runs_) {
    AccessRun run = placed.run;
    run.slot = slot_at(placed.object, run.offset);
    run.offset -= item.positions[run.slot].offset;
    count(run.kind, run.accesses());
    pattern.runs.push_back(run);
  }
  if (runs_.capacity() > 65536)
    std::vector<PlacedRun>{}.swap(runs_);  // `= {}` keeps its room
  else
    runs_.clear();
  for (std::size_t i = 0; i < events_.pattern.heap_events.size(); ++i) {
    HeapEvent event = events_.pattern.heap_events[i];
    event.slot = slot_at(events_.positions[i].object, 0);
    pattern.heap_events.push_back(event);
  }
  std::swap(pattern.sync_events, events_.pattern.sync_events);
  events_.clear();
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
    ItemPattern& pattern = item_.pattern;  // which nobody compares any more: the next item takes its place
    for (AccessRun& run : pattern.runs) {
      run.offset += relative_[run.slot];
      run.slot = joined_[run.slot];
    }
    for (IrregularStream& stream : pattern.streams) {
      for (std::size_t i = 0; i < stream.slot.size(); ++i) {
        stream.offset.set(i, stream.offset[i] + relative_[stream.slot[i]]);
        stream.slot.set(i, joined_[stream.slot[i]]);
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
