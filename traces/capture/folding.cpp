#include "traces/capture/folding.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "sim/errors.hpp"

namespace homenode {
namespace {

bool same_shape(const PlacedRun& a, const PlacedRun& b) {
  if (a.object != b.object || a.run.site != b.run.site || a.run.dimensions != b.run.dimensions || a.run.width != b.run.width ||
      a.run.kind != b.run.kind || a.run.producer_distance != b.run.producer_distance || a.run.streamable != b.run.streamable ||
      a.run.bulk != b.run.bulk) {
    return false;
  }
  for (unsigned d = 0; d < a.run.dimensions; ++d) {
    const RunDimension &x = a.run.dimension[d], &y = b.run.dimension[d];
    if (x.count != y.count || x.stride != y.stride || x.sequence_stride != y.sequence_stride) return false;
  }
  return true;
}

// One pass over the runs of one site; true if anything became shorter.
bool fold_pass(std::vector<PlacedRun>& runs) {
  std::vector<PlacedRun> folded;
  bool shorter = false;
  for (std::size_t i = 0; i < runs.size();) {
    std::size_t end = i + 1;
    if (end < runs.size() && runs[i].run.dimensions < AccessRun::max_dimensions && same_shape(runs[i], runs[end])) {
      const std::int64_t step = runs[end].run.offset - runs[i].run.offset;
      const std::uint64_t sequence_step = runs[end].run.sequence - runs[i].run.sequence;
      while (end + 1 < runs.size() && same_shape(runs[i], runs[end + 1]) && runs[end + 1].run.offset - runs[end].run.offset == step &&
             runs[end + 1].run.sequence - runs[end].run.sequence == sequence_step) {
        ++end;
      }
      ++end;
      if (sequence_step <= UINT32_MAX) {
        PlacedRun joined = runs[i];
        joined.run.dimension[joined.run.dimensions++] = {static_cast<std::uint32_t>(end - i), step,
                                                         static_cast<std::uint32_t>(sequence_step)};
        folded.push_back(joined);
        shorter = true;
        i = end;
        continue;
      }
      end = i + 1;
    }
    folded.push_back(runs[i]);
    i = end;
  }
  if (shorter) runs = std::move(folded);
  return shorter;
}

template <class Value>
void bytes(std::string& key, const Value& value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string key_of(const ItemPattern& p) {
  std::string key;
  key.reserve(64 + p.runs.size() * 96);
  bytes(key, p.slots), bytes(key, p.runs.size()), bytes(key, p.heap_events.size());
  for (const double w : {p.work.instructions, p.work.integer, p.work.fp_add, p.work.fp_multiply, p.work.fp_fma, p.work.divide, p.work.load,
                         p.work.store, p.work.branch})
    bytes(key, w);
  for (const AccessRun& run : p.runs) {
    bytes(key, run.slot), bytes(key, run.width), bytes(key, run.kind), bytes(key, run.streamable), bytes(key, run.bulk),
        bytes(key, run.dimensions);
    bytes(key, run.producer_distance), bytes(key, run.site), bytes(key, run.offset), bytes(key, run.sequence);
    for (unsigned d = 0; d < run.dimensions; ++d)
      bytes(key, run.dimension[d].count), bytes(key, run.dimension[d].stride), bytes(key, run.dimension[d].sequence_stride);
  }
  for (const HeapEvent& e : p.heap_events) bytes(key, e.sequence), bytes(key, e.operation), bytes(key, e.slot), bytes(key, e.zeroed);
  for (const SyncEvent& e : p.sync_events) bytes(key, e.sequence), bytes(key, e.operation), bytes(key, e.object), bytes(key, e.match);
  return key;
}

}  // namespace

void fold_runs(std::vector<PlacedRun>& runs) {
  std::stable_sort(runs.begin(), runs.end(), [](const PlacedRun& a, const PlacedRun& b) {
    return std::tie(a.run.site, a.run.sequence) < std::tie(b.run.site, b.run.sequence);
  });
  std::vector<PlacedRun> result, of_site;
  for (std::size_t i = 0; i < runs.size();) {
    std::size_t end = i;
    while (end < runs.size() && runs[end].run.site == runs[i].run.site) ++end;
    of_site.assign(runs.begin() + static_cast<std::ptrdiff_t>(i), runs.begin() + static_cast<std::ptrdiff_t>(end));
    while (of_site.size() > 1 && fold_pass(of_site)) {}
    result.insert(result.end(), of_site.begin(), of_site.end());
    i = end;
  }
  std::sort(result.begin(), result.end(), [](const PlacedRun& a, const PlacedRun& b) { return a.run.sequence < b.run.sequence; });
  runs = std::move(result);
}

PatternId PatternTable::intern(ItemPattern pattern) {
  const auto [found, fresh] = known_.try_emplace(key_of(pattern), PatternId{patterns_.size()});
  if (fresh) patterns_.push_back(std::move(pattern));
  return found->second;
}

void BlockFolder::add(std::int64_t iteration, const Item& item) {
  ItemPattern shape;
  Draft draft{iteration, iteration + 1, 0, {}};
  // Here, run i has slot i and heap event i slot runs + i, too many for the slot numbers of a pattern: those are given by finish().
  for (const PlacedRun& placed : item.runs) {
    AccessRun run = placed.run;
    draft.slots.push_back({placed.object, run.offset, 0});
    run.offset = 0;
    const std::uint64_t n = run.accesses();
    shape.accesses += n;
    if (run.kind != AccessKind::write) shape.reads += n;
    if (run.kind != AccessKind::read) shape.writes += n;
    shape.runs.push_back(run);
  }
  for (HeapEvent event : item.heap_events) {
    draft.slots.push_back({item.heap_objects[shape.heap_events.size()], 0, 0});
    event.slot = 0;
    shape.heap_events.push_back(event);
  }
  shape.sync_events = item.sync_events;
  accesses_ += shape.accesses, reads_ += shape.reads, writes_ += shape.writes;
  const auto [found, fresh] = known_.try_emplace(key_of(shape), shapes_.size());
  if (fresh) shapes_.push_back(std::move(shape));
  draft.shape = found->second;

  if (!drafts_.empty()) {
    Draft& before = drafts_.back();
    const std::int64_t length = before.last - before.first;
    bool joins = before.last == iteration && before.shape == draft.shape && shapes_[draft.shape].heap_events.empty() &&
                 shapes_[draft.shape].sync_events.empty();
    for (std::size_t s = 0; joins && s < draft.slots.size(); ++s) {
      const SlotBinding &a = before.slots[s], &b = draft.slots[s];
      joins = a.object == b.object && (length == 1 || b.base == a.base + a.shift * length);
    }
    if (joins) {
      if (length == 1) {
        for (std::size_t s = 0; s < draft.slots.size(); ++s) before.slots[s].shift = draft.slots[s].base - before.slots[s].base;
      }
      before.last = iteration + 1;
      return;
    }
  }
  drafts_.push_back(std::move(draft));
}

std::vector<ItemBlock> BlockFolder::finish(PatternTable& patterns, const WorkCounts& per_access) {
  std::vector<ItemBlock> blocks;
  for (const Draft& draft : drafts_) {
    ItemPattern pattern = shapes_[draft.shape];
    ItemBlock block{draft.first, draft.last, PatternId{}, {}};
    const bool single = draft.last - draft.first == 1;
    std::vector<std::uint16_t> joined(draft.slots.size());
    std::vector<std::int64_t> moved(draft.slots.size());
    std::map<std::pair<ObjectId, std::int64_t>, std::size_t> slot_of;
    for (std::size_t s = 0; s < draft.slots.size(); ++s) {
      const SlotBinding& binding = draft.slots[s];
      const std::int64_t shift = single ? 0 : binding.shift;
      const auto [found, fresh] = slot_of.try_emplace({binding.object, shift}, block.slots.size());
      if (fresh) block.slots.push_back({binding.object, binding.base, shift});
      joined[s] = static_cast<std::uint16_t>(found->second);
      moved[s] = binding.base - block.slots[found->second].base;
    }
    if (block.slots.size() > UINT16_MAX) {
      throw InputError("iteration " + std::to_string(draft.first) + " accesses, allocates or releases " +
                       std::to_string(block.slots.size()) + " objects; a trace allows " + std::to_string(UINT16_MAX));
    }
    for (std::size_t r = 0; r < pattern.runs.size(); ++r) pattern.runs[r].offset = moved[r], pattern.runs[r].slot = joined[r];
    for (std::size_t e = 0; e < pattern.heap_events.size(); ++e) pattern.heap_events[e].slot = joined[pattern.runs.size() + e];
    pattern.slots = static_cast<std::uint16_t>(block.slots.size());
    pattern.work = per_access.scaled(static_cast<double>(pattern.accesses));
    block.pattern = patterns.intern(std::move(pattern));
    blocks.push_back(std::move(block));
  }
  return blocks;
}

}  // namespace homenode
