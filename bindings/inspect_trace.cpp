#include "bindings/inspect_trace.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <utility>

namespace homenode::python {
namespace {

struct Extent {
  std::int64_t first = INT64_MAX, last = INT64_MIN;  // [first, last)
  bool empty() const { return first >= last; }
  void add(std::int64_t from, std::int64_t to) {
    first = std::min(first, from);
    last = std::max(last, to);
  }
};

// By slot: what one iteration touches, relative to the slot's binding.
std::vector<Extent> extents_of(const ItemPattern& pattern) {
  std::vector<Extent> result(pattern.slots);
  for (const AccessRun& run : pattern.runs) {
    if (run.slot >= result.size()) continue;
    std::int64_t low = run.offset, high = run.offset;
    for (unsigned d = 0; d < run.dimensions; ++d) {
      const std::int64_t reach = (static_cast<std::int64_t>(run.dimension[d].count) - 1) * run.dimension[d].stride;
      (reach < 0 ? low : high) += reach;
    }
    result[run.slot].add(low, high + run.width);
  }
  for (const IrregularStream& stream : pattern.streams) {
    for (std::size_t i = 0; i < stream.slot.size(); ++i) {
      if (stream.slot[i] < result.size()) result[stream.slot[i]].add(stream.offset[i], stream.offset[i] + stream.width);
    }
  }
  return result;
}

// What a slot touches over a block's iterations, in bytes of its object.
Extent over_block(const Extent& extent, const SlotBinding& slot, const ItemBlock& block) {
  Extent result;
  const std::int64_t moved = (block.last - block.first - 1) * slot.shift;
  result.add(slot.base + extent.first, slot.base + extent.last);
  result.add(slot.base + moved + extent.first, slot.base + moved + extent.last);
  return result;
}

// Calls visit(block, slot, extent) for every slot that a block of iterations touches.
template <class Visit>
void for_each_extent(const Workload& workload, const ExecutionBody& body, std::map<std::uint32_t, std::vector<Extent>>& known,
                     const Visit& visit) {
  for (const ItemBlock& block : body.blocks) {
    if (block.pattern.index() >= workload.patterns.size() || block.last <= block.first) continue;
    auto [entry, added] = known.try_emplace(block.pattern.value());
    if (added) entry->second = extents_of(workload.patterns[block.pattern.index()]);
    for (std::size_t slot = 0; slot < std::min(entry->second.size(), block.slots.size()); ++slot) {
      if (!entry->second[slot].empty()) visit(block, block.slots[slot], over_block(entry->second[slot], block.slots[slot], block));
    }
  }
}

}  // namespace

std::uint64_t footprint(const Workload& workload) {
  std::map<std::uint32_t, std::vector<Extent>> known;
  std::vector<std::vector<Extent>> touched(workload.objects.size());
  for (std::size_t execution = 0; execution < workload.executions.size(); ++execution) {
    const auto body = workload.body(ExecutionId{execution});
    for_each_extent(workload, *body, known, [&](const ItemBlock&, const SlotBinding& slot, const Extent& extent) {
      if (slot.object.index() >= touched.size()) return;
      auto& of_object = touched[slot.object.index()];
      if (!of_object.empty() && of_object.back().first <= extent.first && extent.last <= of_object.back().last) return;
      of_object.push_back(extent);
    });
  }
  std::uint64_t bytes = 0;
  for (auto& of_object : touched) {
    std::sort(of_object.begin(), of_object.end(), [](const Extent& a, const Extent& b) { return a.first < b.first; });
    std::int64_t end = INT64_MIN;
    for (const Extent& extent : of_object) {
      if (extent.last > end) bytes += static_cast<std::uint64_t>(extent.last - std::max(extent.first, end));
      end = std::max(end, extent.last);
    }
  }
  return bytes;
}

std::vector<std::string> broken_invariants(const Workload& workload) {
  std::vector<std::string> problems;
  const auto report = [&](const std::string& text) {
    if (problems.size() < 100) problems.push_back(text);
  };
  for (std::size_t p = 0; p < workload.patterns.size(); ++p) {
    const ItemPattern& pattern = workload.patterns[p];
    const std::string where = "pattern " + std::to_string(p) + ": ";
    std::uint64_t accesses = 0, last = 0;
    for (const AccessRun& run : pattern.runs) {
      if (run.slot >= pattern.slots) report(where + "a run uses slot " + std::to_string(run.slot) + " of " + std::to_string(pattern.slots));
      if (run.dimensions > AccessRun::max_dimensions) report(where + "a run has " + std::to_string(run.dimensions) + " dimensions");
      if (run.sequence < last) report(where + "runs are not in order of their sequence numbers");
      last = run.sequence;
      accesses += run.accesses();
    }
    for (const IrregularStream& stream : pattern.streams) {
      const std::size_t size = stream.slot.size();
      if (stream.offset.size() != size || stream.sequence.size() != size || stream.producer_distance.size() != size)
        report(where + "columns of a stream differ in length");
      if (!std::is_sorted(stream.sequence.begin(), stream.sequence.end())) report(where + "a stream is not in order of sequence");
      accesses += size;
    }
    if (accesses != pattern.accesses)
      report(where + "says " + std::to_string(pattern.accesses) + " accesses, has " + std::to_string(accesses));
  }
  std::map<std::uint32_t, std::vector<Extent>> known;
  for (std::size_t e = 0; e < workload.executions.size(); ++e) {
    const Execution& execution = workload.executions[e];
    const std::string where = "execution " + std::to_string(e) + ": ";
    if (execution.region.index() >= workload.regions.size()) {
      report(where + "of region " + std::to_string(execution.region.value()) + ", which does not exist");
      continue;
    }
    const auto body = workload.body(ExecutionId{e});
    std::int64_t next = 0;
    std::uint64_t accesses = 0;
    for (const ItemBlock& block : body->blocks) {
      if (block.first != next || block.last <= block.first)
        report(where + "a block of iterations begins at " + std::to_string(block.first) + " where " + std::to_string(next) + " is next");
      next = block.last;
      if (block.pattern.index() >= workload.patterns.size()) {
        report(where + "uses pattern " + std::to_string(block.pattern.value()) + ", which does not exist");
        continue;
      }
      const ItemPattern& pattern = workload.patterns[block.pattern.index()];
      if (block.slots.size() != pattern.slots)
        report(where + "binds " + std::to_string(block.slots.size()) + " slots of " + std::to_string(pattern.slots));
      accesses += pattern.accesses * static_cast<std::uint64_t>(block.last - block.first);
    }
    if (next != execution.iterations)
      report(where + "has " + std::to_string(execution.iterations) + " iterations, blocks for " + std::to_string(next));
    if (accesses != execution.accesses)
      report(where + "says " + std::to_string(execution.accesses) + " accesses, has " + std::to_string(accesses));
    for_each_extent(workload, *body, known, [&](const ItemBlock&, const SlotBinding& slot, const Extent& extent) {
      if (slot.object.index() >= workload.objects.size()) {
        report(where + "binds object " + std::to_string(slot.object.value()) + ", which does not exist");
        return;
      }
      const TracedObject& object = workload.objects[slot.object.index()];
      if (object.kind == ObjectKind::unknown) return;  // its bounds were not seen
      if (extent.first < 0 || extent.last > static_cast<std::int64_t>(object.bytes))
        report(where + "touches bytes " + std::to_string(extent.first) + " to " + std::to_string(extent.last) + " of object " +
               std::to_string(slot.object.value()) + " ('" + object.symbol + "'), which has " + std::to_string(object.bytes));
    });
  }
  return problems;
}

std::string name_of(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::heap:
      return "heap";
    case ObjectKind::global:
      return "global";
    case ObjectKind::stack:
      return "stack";
    case ObjectKind::thread_local_storage:
      return "tls";
    case ObjectKind::mapped:
      return "mmap";
    case ObjectKind::unknown:
      return "unknown";
  }
  return "unknown";
}

std::string name_of(RegionKind kind) {
  switch (kind) {
    case RegionKind::serial:
      return "serial";
    case RegionKind::loop:
      return "loop";
    case RegionKind::task:
      return "task";
    case RegionKind::section:
      return "section";
    case RegionKind::single:
      return "single";
    case RegionKind::thread:
      return "thread";
  }
  return "serial";
}

}  // namespace homenode::python
