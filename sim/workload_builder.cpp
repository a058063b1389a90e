#include "sim/workload_builder.hpp"

#include <algorithm>

#include "sim/errors.hpp"

namespace homenode {

class WorkloadBuilder::Built final : public Workload {
public:
  std::shared_ptr<const ExecutionBody> body(ExecutionId id) const override { return bodies.at(id.index()); }
  std::vector<std::shared_ptr<const ExecutionBody>> bodies;
};

WorkloadBuilder::WorkloadBuilder() : built_{std::make_shared<Built>()} {
  built_->program = "built in memory";
  built_->sites.push_back({});
  built_->threads.push_back({});
}

ObjectId WorkloadBuilder::heap(std::string symbol, std::uint64_t bytes, std::uint64_t alignment) {
  built_->objects.push_back({ObjectKind::heap, false, bytes, alignment, SiteId{}, std::move(symbol), ObjectId::none(), -1});
  return ObjectId{built_->objects.size() - 1};
}

ObjectId WorkloadBuilder::global(std::string symbol, std::uint64_t bytes) {
  built_->objects.push_back({ObjectKind::global, false, bytes, 64, SiteId{}, std::move(symbol), ObjectId::none(), -1});
  return ObjectId{built_->objects.size() - 1};
}

WorkloadBuilder::PatternBuilder& WorkloadBuilder::PatternBuilder::run(AccessKind kind, ObjectId object, std::int64_t offset,
                                                                      std::uint16_t width, std::vector<RunDimension> dimensions,
                                                                      std::int64_t shift, bool streamable) {
  if (dimensions.size() > AccessRun::max_dimensions) throw UsageError("a run has at most 4 dimensions");
  AccessRun run;
  auto slot = std::find_if(slots_.begin(), slots_.end(), [&](const SlotBinding& s) { return s.object == object && s.shift == shift; });
  if (slot == slots_.end()) slot = slots_.insert(slots_.end(), {object, 0, shift});
  run.slot = static_cast<std::uint16_t>(slot - slots_.begin());
  run.width = width;
  run.kind = kind;
  run.streamable = streamable;
  run.offset = offset;
  run.dimensions = static_cast<std::uint8_t>(dimensions.size());
  std::copy(dimensions.begin(), dimensions.end(), run.dimension.begin());
  pattern_.runs.push_back(run);
  return *this;
}

WorkloadBuilder::PatternBuilder& WorkloadBuilder::PatternBuilder::read(ObjectId object, std::int64_t offset, std::uint16_t width,
                                                                       std::vector<RunDimension> dimensions, std::int64_t shift) {
  return run(AccessKind::read, object, offset, width, std::move(dimensions), shift, false);
}

WorkloadBuilder::PatternBuilder& WorkloadBuilder::PatternBuilder::write(ObjectId object, std::int64_t offset, std::uint16_t width,
                                                                        std::vector<RunDimension> dimensions, std::int64_t shift,
                                                                        bool streamable) {
  return run(AccessKind::write, object, offset, width, std::move(dimensions), shift, streamable);
}

WorkloadBuilder::PatternBuilder& WorkloadBuilder::PatternBuilder::irregular(AccessKind kind, ObjectId object, std::uint16_t width,
                                                                            std::vector<std::int64_t> offsets,
                                                                            std::vector<std::uint32_t> producer_distance) {
  close_body();
  slots_.push_back({object, 0, 0});
  IrregularStream stream;
  stream.kind = kind;
  stream.width = width;
  stream.slot.assign(offsets.size(), static_cast<std::uint16_t>(slots_.size() - 1));
  for (std::size_t i = 0; i < offsets.size(); ++i) stream.sequence.push_back(sequence_ + i);
  sequence_ += offsets.size();
  stream.offset = std::move(offsets);
  stream.producer_distance = std::move(producer_distance);
  pattern_.streams.push_back(std::move(stream));
  return *this;
}

// The runs of one body advance together: access n of each comes before access n + 1 of any.
void WorkloadBuilder::PatternBuilder::close_body() {
  const auto members = static_cast<std::uint32_t>(pattern_.runs.size() - body_begin_);
  std::uint64_t longest = 0;
  for (std::size_t i = body_begin_; i < pattern_.runs.size(); ++i) {
    AccessRun& run = pattern_.runs[i];
    run.sequence = sequence_ + (i - body_begin_);
    std::uint32_t stride = members;
    for (unsigned d = 0; d < run.dimensions; ++d) {
      run.dimension[d].sequence_stride = stride;
      stride *= run.dimension[d].count;
    }
    longest = std::max<std::uint64_t>(longest, run.accesses());
  }
  sequence_ += longest * members;
  body_begin_ = pattern_.runs.size();
}

WorkloadBuilder::PatternBuilder& WorkloadBuilder::PatternBuilder::then() {
  close_body();
  return *this;
}

WorkloadBuilder::PatternBuilder& WorkloadBuilder::PatternBuilder::work(WorkCounts counts) {
  pattern_.work = counts;
  return *this;
}

PatternId WorkloadBuilder::PatternBuilder::end() {
  close_body();
  pattern_.slots = static_cast<std::uint16_t>(slots_.size());
  const auto count = [this](AccessKind kind, std::uint64_t accesses) {
    pattern_.accesses += accesses;
    if (kind != AccessKind::write) pattern_.reads += accesses;
    if (kind != AccessKind::read) pattern_.writes += accesses;
  };
  for (const AccessRun& run : pattern_.runs) count(run.kind, run.accesses());
  for (const IrregularStream& stream : pattern_.streams) count(stream.kind, stream.offset.size());
  builder_.built_->patterns.push_back(pattern_);
  builder_.slots_.push_back(slots_);
  return PatternId{builder_.built_->patterns.size() - 1};
}

RegionId WorkloadBuilder::region(const std::string& label, RegionKind kind) {
  auto& regions = built_->regions;
  const auto found = std::find_if(regions.begin(), regions.end(), [&](const Region& r) { return r.label == label; });
  if (found != regions.end()) return RegionId{static_cast<std::size_t>(found - regions.begin())};
  Region region;
  region.label = label;
  region.kind = kind;
  regions.push_back(region);
  return RegionId{regions.size() - 1};
}

ExecutionId WorkloadBuilder::execution(Execution execution, std::vector<Part> parts) {
  auto body = std::make_shared<ExecutionBody>();
  for (const Part& part : parts) {
    const ItemPattern& pattern = built_->patterns.at(part.pattern.index());
    ItemBlock block{part.first, part.last, part.pattern, slots_[part.pattern.index()]};
    for (std::size_t slot = 0; slot < part.start.size(); ++slot) block.slots.at(slot).base += part.start[slot];
    const auto iterations = static_cast<std::uint64_t>(part.last - part.first);
    execution.accesses += pattern.accesses * iterations;
    execution.reads += pattern.reads * iterations;
    execution.writes += pattern.writes * iterations;
    body->blocks.push_back(std::move(block));
  }
  for (const Execution& earlier : built_->executions) execution.ordinal += earlier.region == execution.region ? 1 : 0;
  built_->executions.push_back(execution);
  built_->bodies.push_back(std::move(body));
  return ExecutionId{built_->executions.size() - 1};
}

ExecutionId WorkloadBuilder::loop(const std::string& label, std::int64_t iterations, std::vector<Part> parts) {
  Execution loop;
  loop.region = region(label, RegionKind::loop);
  loop.iterations = iterations;
  loop.parallel = ++constructs_;
  loop.barrier_after = true;
  return execution(loop, std::move(parts));
}

ExecutionId WorkloadBuilder::serial(const std::string& label, PatternId pattern) {
  Execution serial;
  serial.region = region(label, RegionKind::serial);
  serial.iterations = 1;
  return execution(serial, {{0, 1, pattern, {}}});
}

std::shared_ptr<Workload> WorkloadBuilder::build() { return built_; }

}  // namespace homenode
