// Builds a workload in memory: for tests, studies of made-up programs and importers. What it builds has the form that a
// capture yields: runs with exact sequence numbers, slots normalised to their first access, one block for iterations that
// repeat with a constant shift.
//
//   WorkloadBuilder builder;
//   auto a = builder.object("a", n * n * 8), b = builder.object("b", n * n * 8);
//   auto sweep = builder.loop("sweep", n - 2);
//   builder.nest(sweep, {n - 2}, {read(a, (n + 1) * 8, {8}, n * 8), write(b, (n + 1) * 8, {8}, n * 8)});
//   builder.repeat(sweep, 10);
//   std::shared_ptr<Workload> workload = builder.build();
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/program/workload.hpp"

namespace homenode {

// One memory reference in a loop nest: it is executed once an innermost step.
struct Reference {
  AccessKind kind = AccessKind::read;
  ObjectId object;
  std::int64_t offset = 0;            // of the first access of the first iteration
  std::vector<std::int64_t> strides;  // by dimension of the nest, innermost first
  std::int64_t shift = 0;             // from one iteration of the region to the next
  std::uint16_t width = 8;
  bool streamable = false;
  bool bulk = false;
  std::uint32_t producer_distance = 0;
};

inline Reference read(ObjectId object, std::int64_t offset, std::vector<std::int64_t> strides, std::int64_t shift = 0,
                      std::uint16_t width = 8) {
  return {.kind = AccessKind::read, .object = object, .offset = offset, .strides = std::move(strides), .shift = shift, .width = width};
}
inline Reference write(ObjectId object, std::int64_t offset, std::vector<std::int64_t> strides, std::int64_t shift = 0,
                       std::uint16_t width = 8) {
  return {.kind = AccessKind::write, .object = object, .offset = offset, .strides = std::move(strides), .shift = shift, .width = width};
}
inline Reference streamed_write(ObjectId object, std::int64_t offset, std::vector<std::int64_t> strides, std::int64_t shift = 0,
                                std::uint16_t width = 8) {
  Reference reference = write(object, offset, std::move(strides), shift, width);
  reference.streamable = true;
  return reference;
}

// A workload whose bodies are all in memory.
class MemoryWorkload : public Workload {
public:
  std::vector<std::shared_ptr<const ExecutionBody>> bodies;  // by execution
  std::shared_ptr<const ExecutionBody> body(ExecutionId execution) const override { return bodies.at(execution.index()); }
};

class WorkloadBuilder {
public:
  ObjectId object(std::string symbol, std::uint64_t bytes, ObjectKind kind = ObjectKind::heap, bool thread_private = false);

  // A region; what its iterations do is described by the calls below until the next `repeat`.
  RegionId loop(std::string label, std::int64_t iterations);  // free iterations, a barrier after them
  RegionId serial(std::string label);                         // one iteration
  RegionId bound(std::string label, std::uint32_t team);      // iteration r belongs to rank r
  RegionId single(std::string label);                         // one iteration of whoever comes first, a barrier after it
  RegionId tasks(std::string label, std::int64_t tasks);      // executed once a construct; events of other regions create them
  Region& region(RegionId region) { return workload_->regions.at(region.index()); }

  // Appends counts[0] x counts[1] x ... steps (innermost first) to each iteration; every step does all references in order.
  void nest(RegionId, const std::vector<std::uint32_t>& counts, const std::vector<Reference>&);
  // Appends irregular reads or writes of one object, in order, by their offsets at the first iteration.
  void stream(RegionId, AccessKind, ObjectId, const std::vector<std::int64_t>& offsets, std::uint32_t producer_distance = 0,
              std::int64_t shift = 0, std::uint16_t width = 8);
  // Appends `count` steps; each does the references `before`, one irregular read of `table` at `offset_of(step)` whose address
  // the access just before it produced, then the references `after`. References are one-dimensional.
  void interleaved(RegionId, std::uint32_t count, const std::vector<Reference>& before, ObjectId table,
                   const std::function<std::int64_t(std::int64_t step)>& offset_of, const std::vector<Reference>& after);
  void heap(RegionId, HeapOperation, ObjectId, bool zeroed = false);
  void sync(RegionId, SyncOperation, std::uint64_t object = 0, std::uint64_t match = 0);
  void work(RegionId, const WorkCounts& of_one_iteration);
  // Iterations up to here (exclusive) do what was described since the last call; what follows is for those after them.
  void next_block(RegionId, std::int64_t until);

  // The region is executed `times` times in program order. Returns the first of them.
  ExecutionId repeat(RegionId, unsigned times = 1);
  // Forgets what the region's iterations do, to describe another execution of the same region.
  void clear(RegionId);
  // Executions from now on belong to one parallel construct (their threads form one team); 0 = each to its own.
  void parallel(std::uint32_t serial_number) { parallel_ = serial_number; }
  void barrier(ExecutionId execution, bool after) { workload_->executions.at(execution.index()).barrier_after = after; }
  void step(std::int64_t step) { step_ = step; }

  // Ends the building. Throws UsageError if an access leaves its object or blocks do not cover a region's iterations.
  std::shared_ptr<Workload> build();

private:
  struct Draft {
    Binding binding = Binding::free;
    std::int64_t iterations = 0, described = 0;
    ItemPattern pattern;
    std::vector<SlotBinding> slots;
    std::uint64_t next_sequence = 0;
    std::vector<ItemBlock> blocks;
  };
  RegionId add(RegionKind, std::string label, Binding, std::int64_t iterations);
  Draft& draft(RegionId region) { return drafts_.at(region.index()); }
  static SlotNumber slot(Draft&, ObjectId, std::int64_t offset, std::int64_t shift);
  void close_block(Draft&, std::int64_t until);
  void check(const ItemBlock&) const;
  void append_run(RegionId, const Reference&, const std::vector<std::uint32_t>& counts, std::uint64_t sequence,
                  std::uint64_t accesses_per_step);
  static void count(ItemPattern&, AccessKind, std::uint64_t accesses);

  std::shared_ptr<MemoryWorkload> workload_ = std::make_shared<MemoryWorkload>();
  std::vector<Draft> drafts_;
  std::uint32_t parallel_ = 0, next_parallel_ = 1;
  std::int64_t step_ = -1;
};

}  // namespace homenode
