#include "models/run/placement_pass.hpp"

#include <map>
#include <utility>
#include <vector>

#include "sim/program/workload_builder.hpp"

namespace homenode {
namespace {

// What one thread does, as its iteration of the pass.
class Touches {
public:
  Touches(std::int64_t rank, PatternId pattern) { block_ = {rank, rank + 1, pattern, {}}; }

  // Pages first, first + step, ... before last. False if the thread has no room for another object.
  bool add(const AccessSummary& summary, const TouchedPages& pages, std::uint64_t first, std::uint64_t step) {
    if (first >= pages.last) return true;
    const auto known = slot_of_.find(pages.object);
    if (known == slot_of_.end() && slot_of_.size() >= most_slots) return false;
    const SlotNumber slot = slot_of_.try_emplace(pages.object, static_cast<SlotNumber>(slot_of_.size())).first->second;
    if (slot == block_.slots.size()) block_.slots.push_back({pages.object, 0, 0});
    if (first == 0) {  // byte 0 of the object lies inside its page
      write(slot, 0, 1, 0);
      first += step;
    }
    if (first >= pages.last) return true;
    const std::uint64_t count = (pages.last - first + step - 1) / step, page = summary.page_bytes;
    write(slot, static_cast<std::int64_t>(first * page - summary.objects.at(pages.object).phase), count,
          static_cast<std::int64_t>(step * page));
    return true;
  }
  const ItemBlock& block() const { return block_; }
  ItemPattern pattern() && {
    pattern_.slots = static_cast<SlotNumber>(block_.slots.size());
    return std::move(pattern_);
  }

private:
  void write(SlotNumber slot, std::int64_t offset, std::uint64_t count, std::int64_t stride) {
    AccessRun run;
    run.slot = slot;
    run.width = 1;
    run.kind = AccessKind::write;
    run.offset = offset;
    run.sequence = pattern_.accesses;
    run.dimensions = 1;
    run.dimension[0] = {static_cast<std::uint32_t>(count), stride, 1};
    pattern_.runs.push_back(run);
    pattern_.accesses += count;
    pattern_.writes += count;
  }

  ItemBlock block_;
  ItemPattern pattern_;
  std::map<ObjectId, SlotNumber> slot_of_;
};

void add(std::vector<std::uint64_t>& to, const std::vector<std::uint64_t>& more) {
  if (to.size() < more.size()) to.resize(more.size(), 0);
  for (std::size_t i = 0; i < more.size(); ++i) to[i] += more[i];
}

}  // namespace

std::shared_ptr<Workload> placement_pass(const Workload& program, const AccessSummary& summary, std::span<const TouchedPages> pages,
                                         unsigned threads) {
  if (pages.empty()) return nullptr;
  std::vector<Touches> touches;
  for (unsigned t = 0; t < threads; ++t) touches.emplace_back(t, PatternId{t});
  for (const TouchedPages& range : pages) {
    if (!range.thread.is_none()) {
      touches[range.thread.index()].add(summary, range, range.first, 1);
    } else {
      for (unsigned t = 0; t < threads; ++t)
        touches[t].add(summary, range, range.first + (t + threads - range.first % threads) % threads, threads);
    }
  }

  auto pass = std::make_shared<MemoryWorkload>();
  pass->program = placement_pass_label;
  pass->page_size = program.page_size;
  pass->objects = program.objects;
  Region& region = pass->regions.emplace_back();
  region.kind = RegionKind::loop;
  region.label = placement_pass_label;
  Execution& execution = pass->executions.emplace_back();
  execution.iterations = threads;
  execution.binding = Binding::rank;
  execution.team = threads;
  execution.parallel = 1;
  execution.barrier_after = true;
  ExecutionBody body;
  for (Touches& one : touches) {
    body.blocks.push_back(one.block());
    ItemPattern& pattern = pass->patterns.emplace_back(std::move(one).pattern());
    execution.accesses += pattern.accesses;
    execution.writes += pattern.writes;
  }
  pass->bodies.push_back(std::make_shared<const ExecutionBody>(std::move(body)));
  return pass;
}

void put_in_front(const RunReport& pass, RunReport& program) {
  program.time += pass.time;
  program.overheads.fork += pass.overheads.fork;
  program.overheads.barrier += pass.overheads.barrier;
  program.overheads.runtime += pass.overheads.runtime;
  program.overheads.page_work += pass.overheads.page_work;
  program.overheads.waiting += pass.overheads.waiting;
  program.regions.insert(program.regions.begin(), pass.regions.begin(), pass.regions.end());
  for (std::size_t t = 0; t < program.threads.size(); ++t) {
    ThreadReport& thread = program.threads[t];
    thread.busy += pass.threads[t].busy;
    thread.idle = program.time - thread.busy;
    thread.local_bytes += pass.threads[t].local_bytes;
    thread.remote_bytes += pass.threads[t].remote_bytes;
  }
  for (std::size_t core = 0; core < program.cores.size(); ++core) {
    program.cores[core].busy += pass.cores[core].busy;
    program.cores[core].spinning += pass.cores[core].spinning;
    program.cores[core].switches += pass.cores[core].switches;
    program.cores[core].wakeups += pass.cores[core].wakeups;
  }
  EventCounts& counts = program.counts;
  const EventCounts& before = pass.counts;
  add(counts.traffic_bytes, before.traffic_bytes);
  add(counts.read_bytes, before.read_bytes);
  add(counts.write_bytes, before.write_bytes);
  add(counts.link_bytes, before.link_bytes);
  for (std::size_t ring = 0; ring < before.rings.size(); ++ring) {
    counts.rings[ring].messages += before.rings[ring].messages;
    counts.rings[ring].hops += before.rings[ring].hops;
    counts.rings[ring].busy += before.rings[ring].busy;
  }
  add(counts.hit_lines, before.hit_lines);
  add(counts.local_bytes, before.local_bytes);
  add(counts.remote_bytes, before.remote_bytes);
  counts.memory_lines += before.memory_lines;
  counts.transfer_lines += before.transfer_lines;
  counts.upgrade_lines += before.upgrade_lines;
  counts.tlb_misses += before.tlb_misses;
  counts.zeroed_bytes += before.zeroed_bytes;
  counts.directory_bytes += before.directory_bytes;
  add(counts.side_cache_hits, before.side_cache_hits);
  add(counts.side_cache_misses, before.side_cache_misses);
  for (const auto& [source, latencies] : before.latency_ns)
    for (const auto& [latency, lines] : latencies) counts.latency_ns[source][latency] += lines;
}

}  // namespace homenode
