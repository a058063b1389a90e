#include "sim/program/workload_builder.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/errors.hpp"

namespace homenode {

ObjectId WorkloadBuilder::object(std::string symbol, std::uint64_t bytes, ObjectKind kind, bool thread_private) {
  TracedObject object;
  object.kind = kind;
  object.thread_private = thread_private;
  object.bytes = bytes;
  object.alignment = 64;
  object.symbol = std::move(symbol);
  workload_->objects.push_back(std::move(object));
  return ObjectId{workload_->objects.size() - 1};
}

RegionId WorkloadBuilder::add(RegionKind kind, std::string label, Binding binding, std::int64_t iterations) {
  if (iterations < 0) throw UsageError("region '" + label + "' has " + std::to_string(iterations) + " iterations; at least 0 are allowed");
  Region region;
  region.kind = kind;
  region.site = SiteId{workload_->sites.size()};
  if (kind == RegionKind::loop) region.dimensions = {{0, iterations, 1}};
  workload_->sites.push_back({0, "", 0, label});
  region.label = std::move(label);
  workload_->regions.push_back(std::move(region));
  Draft draft;
  draft.binding = binding;
  draft.iterations = iterations;
  drafts_.push_back(std::move(draft));
  return RegionId{drafts_.size() - 1};
}

RegionId WorkloadBuilder::loop(std::string label, std::int64_t iterations) {
  return add(RegionKind::loop, std::move(label), Binding::free, iterations);
}

RegionId WorkloadBuilder::serial(std::string label) { return add(RegionKind::serial, std::move(label), Binding::free, 1); }

RegionId WorkloadBuilder::bound(std::string label, std::uint32_t team) {
  return add(RegionKind::thread, std::move(label), Binding::rank, team);
}

RegionId WorkloadBuilder::single(std::string label) { return add(RegionKind::single, std::move(label), Binding::free, 1); }

RegionId WorkloadBuilder::tasks(std::string label, std::int64_t tasks) {
  return add(RegionKind::task, std::move(label), Binding::free, tasks);
}

// Slots are normalised: their base is the first access that uses them, so that equal work has equal patterns.
SlotNumber WorkloadBuilder::slot(Draft& draft, ObjectId object, std::int64_t offset, std::int64_t shift) {
  for (std::size_t s = 0; s < draft.slots.size(); ++s) {
    if (draft.slots[s].object == object && draft.slots[s].shift == shift) return static_cast<SlotNumber>(s);
  }
  draft.slots.push_back({object, offset, shift});
  draft.pattern.slots = static_cast<SlotNumber>(draft.slots.size());
  return static_cast<SlotNumber>(draft.slots.size() - 1);
}

void WorkloadBuilder::count(ItemPattern& pattern, AccessKind kind, std::uint64_t accesses) {
  pattern.accesses += accesses;
  if (kind != AccessKind::write) pattern.reads += accesses;
  if (kind != AccessKind::read) pattern.writes += accesses;
}

void WorkloadBuilder::nest(RegionId region, const std::vector<std::uint32_t>& counts, const std::vector<Reference>& references) {
  Draft& draft = this->draft(region);
  const std::string& label = workload_->regions[region.index()].label;
  if (counts.size() > AccessRun::max_dimensions) {
    throw UsageError("a nest of " + std::to_string(counts.size()) + " dimensions in region '" + label + "'; at most 4 are allowed");
  }
  std::uint64_t steps = 1;
  for (const std::uint32_t count : counts) steps *= count;
  if (steps == 0) return;
  std::uint64_t sequence = draft.next_sequence;
  for (const Reference& reference : references) append_run(region, reference, counts, sequence++, references.size());
  draft.next_sequence += steps * references.size();
}

void WorkloadBuilder::append_run(RegionId region, const Reference& reference, const std::vector<std::uint32_t>& counts,
                                 std::uint64_t sequence, std::uint64_t accesses_per_step) {
  Draft& draft = this->draft(region);
  const std::string& label = workload_->regions[region.index()].label;
  if (reference.strides.size() != counts.size()) {
    throw UsageError("a reference with " + std::to_string(reference.strides.size()) + " strides in a nest of " +
                     std::to_string(counts.size()) + " dimensions, region '" + label + "'; one a dimension is allowed");
  }
  AccessRun run;
  run.slot = slot(draft, reference.object, reference.offset, reference.shift);
  run.width = reference.width;
  run.kind = reference.kind;
  run.streamable = reference.streamable;
  run.bulk = reference.bulk;
  run.producer_distance = reference.producer_distance;
  run.site = SiteId{workload_->sites.size()};
  workload_->sites.push_back({0, "", 0, label});
  run.offset = reference.offset - draft.slots[run.slot].base;
  run.sequence = sequence;
  for (std::size_t d = 0; d < counts.size(); ++d) {
    if (counts[d] > 1) run.dimension[run.dimensions++] = {counts[d], reference.strides[d], static_cast<std::uint32_t>(accesses_per_step)};
    accesses_per_step *= counts[d];
  }
  count(draft.pattern, reference.kind, run.accesses());
  draft.pattern.runs.push_back(run);
}

void WorkloadBuilder::interleaved(RegionId region, std::uint32_t count, const std::vector<Reference>& before, ObjectId table,
                                  const std::function<std::int64_t(std::int64_t step)>& offset_of, const std::vector<Reference>& after) {
  if (count == 0) return;
  const std::uint64_t first = draft(region).next_sequence, per_step = before.size() + 1 + after.size();
  std::uint64_t sequence = first;
  for (const Reference& reference : before) append_run(region, reference, {count}, sequence++, per_step);
  std::vector<std::int64_t> offsets;
  for (std::uint32_t step = 0; step < count; ++step) offsets.push_back(offset_of(step));
  stream(region, AccessKind::read, table, offsets, before.empty() ? 0 : 1);
  NumberColumn<std::uint64_t> sequences;
  for (std::uint32_t step = 0; step < count; ++step) sequences.push_back(sequence + step * per_step);
  draft(region).pattern.streams.back().sequence = std::move(sequences);
  ++sequence;
  for (const Reference& reference : after) append_run(region, reference, {count}, sequence++, per_step);
  draft(region).next_sequence = first + count * per_step;
}

void WorkloadBuilder::stream(RegionId region, AccessKind kind, ObjectId object, const std::vector<std::int64_t>& offsets,
                             std::uint32_t producer_distance, std::int64_t shift, std::uint16_t width) {
  if (offsets.empty()) return;
  Draft& draft = this->draft(region);
  IrregularStream stream;
  stream.kind = kind;
  stream.width = width;
  stream.site = SiteId{workload_->sites.size()};
  workload_->sites.push_back({0, "", 0, workload_->regions[region.index()].label});
  const SlotNumber slot = this->slot(draft, object, offsets.front(), shift);
  for (const std::int64_t offset : offsets) {
    stream.slot.push_back(slot);
    stream.offset.push_back(offset - draft.slots[slot].base);
    stream.producer_distance.push_back(producer_distance);
    stream.sequence.push_back(draft.next_sequence++);
  }
  count(draft.pattern, kind, offsets.size());
  draft.pattern.streams.push_back(std::move(stream));
}

void WorkloadBuilder::heap(RegionId region, HeapOperation operation, ObjectId object, bool zeroed) {
  Draft& draft = this->draft(region);
  draft.pattern.heap_events.push_back({draft.next_sequence, operation, slot(draft, object, 0, 0), zeroed});
}

void WorkloadBuilder::sync(RegionId region, SyncOperation operation, std::uint64_t object, std::uint64_t match) {
  Draft& draft = this->draft(region);
  draft.pattern.sync_events.push_back({draft.next_sequence, operation, object, match});
}

void WorkloadBuilder::work(RegionId region, const WorkCounts& counts) { draft(region).pattern.work += counts; }

void WorkloadBuilder::next_block(RegionId region, std::int64_t until) { close_block(draft(region), until); }

void WorkloadBuilder::close_block(Draft& draft, std::int64_t until) {
  if (until < draft.described || until > draft.iterations) {
    throw UsageError("a block of iterations " + std::to_string(draft.described) + " to " + std::to_string(until) + " in a region of " +
                     std::to_string(draft.iterations));
  }
  if (until > draft.described) {
    ItemBlock block{draft.described, until, PatternId{workload_->patterns.size()}, draft.slots};
    workload_->patterns.push_back(draft.pattern);
    check(block);
    draft.blocks.push_back(std::move(block));
  }
  draft.described = until;
  draft.pattern = {};
  draft.slots.clear();
  draft.next_sequence = 0;
}

void WorkloadBuilder::check(const ItemBlock& block) const {
  const ItemPattern& pattern = workload_->patterns[block.pattern.index()];
  const auto check_range = [&](SlotNumber slot, std::int64_t low, std::int64_t high) {
    const SlotBinding& binding = block.slots[slot];
    const TracedObject& object = workload_->objects.at(binding.object.index());
    const std::int64_t travel = (block.last - block.first - 1) * binding.shift;
    low += binding.base + std::min<std::int64_t>(travel, 0);
    high += binding.base + std::max<std::int64_t>(travel, 0);
    if (low < 0 || high > static_cast<std::int64_t>(object.bytes)) {
      throw UsageError("accesses to bytes " + std::to_string(low) + " to " + std::to_string(high) + " of object '" + object.symbol +
                       "', which has " + std::to_string(object.bytes));
    }
  };
  for (const AccessRun& run : pattern.runs) {
    std::int64_t low = run.offset, high = run.offset + run.width;
    for (unsigned d = 0; d < run.dimensions; ++d) {
      const std::int64_t extent = (static_cast<std::int64_t>(run.dimension[d].count) - 1) * run.dimension[d].stride;
      (extent < 0 ? low : high) += extent;
    }
    check_range(run.slot, low, high);
  }
  for (const IrregularStream& stream : pattern.streams) {
    for (std::size_t i = 0; i < stream.offset.size(); ++i) check_range(stream.slot[i], stream.offset[i], stream.offset[i] + stream.width);
  }
}

ExecutionId WorkloadBuilder::repeat(RegionId region, unsigned times) {
  Draft& draft = this->draft(region);
  if (draft.described < draft.iterations) close_block(draft, draft.iterations);
  const RegionKind kind = workload_->regions[region.index()].kind;
  const ExecutionId first{workload_->executions.size()};
  auto body = std::make_shared<ExecutionBody>();
  body->blocks = draft.blocks;
  for (unsigned time = 0; time < times; ++time) {
    Execution execution;
    execution.region = region;
    for (const Execution& earlier : workload_->executions) execution.ordinal += earlier.region == region ? 1 : 0;
    execution.iterations = draft.iterations;
    execution.binding = draft.binding;
    execution.team = draft.binding == Binding::rank ? static_cast<std::uint32_t>(draft.iterations) : 1;
    execution.parallel = kind == RegionKind::serial ? 0 : parallel_ != 0 ? parallel_ : next_parallel_++;
    execution.barrier_after = kind != RegionKind::serial && kind != RegionKind::task;
    execution.step = step_;
    for (const ItemBlock& block : body->blocks) {
      const ItemPattern& pattern = workload_->patterns[block.pattern.index()];
      const auto iterations = static_cast<std::uint64_t>(block.last - block.first);
      execution.accesses += iterations * pattern.accesses;
      execution.reads += iterations * pattern.reads;
      execution.writes += iterations * pattern.writes;
    }
    workload_->executions.push_back(execution);
    workload_->bodies.push_back(body);
  }
  return first;
}

void WorkloadBuilder::clear(RegionId region) {
  Draft& draft = this->draft(region);
  draft.blocks.clear();
  draft.described = 0;
  draft.pattern = {};
  draft.slots.clear();
  draft.next_sequence = 0;
}

std::shared_ptr<Workload> WorkloadBuilder::build() {
  for (std::size_t r = 0; r < drafts_.size(); ++r) {
    const Draft& draft = drafts_[r];
    if (draft.next_sequence != 0 && draft.described < draft.iterations) {
      throw UsageError("region '" + workload_->regions[r].label + "' is described but never executed; call repeat");
    }
  }
  workload_->program = "built in memory";
  std::uint32_t team = 1;
  for (const Execution& execution : workload_->executions) team = std::max(team, execution.team);
  for (std::uint32_t rank = 0; rank < team; ++rank) {
    workload_->threads.push_back({rank == 0 ? ThreadId::none() : ThreadId{0}, "", static_cast<std::int32_t>(rank)});
  }
  return std::exchange(workload_, std::make_shared<MemoryWorkload>());
}

}  // namespace homenode
