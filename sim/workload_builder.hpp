// A workload built in memory, in the form in which the reader of trace files yields it: for tests, examples and importers.
//
//   WorkloadBuilder builder;
//   const ObjectId a = builder.heap("a", bytes);
//   const PatternId row = builder.pattern().read(a, 0, 8, {{n, 8, 1}}, row_bytes).write(...).end();
//   builder.loop("sweep", rows, {{0, rows, row}});
//   std::shared_ptr<Workload> workload = builder.build();
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "sim/workload.hpp"

namespace homenode {

class WorkloadBuilder {
public:
  WorkloadBuilder();

  ObjectId heap(std::string symbol, std::uint64_t bytes, std::uint64_t alignment = 4096);
  ObjectId global(std::string symbol, std::uint64_t bytes);

  // One iteration's accesses, in the order in which they start. Each stream is one slot: object, base 0, moved by `shift`
  // bytes an iteration. Sequence numbers: streams of one pattern interleave when their dimensions' counts agree, as the
  // operands of one loop body do (set_sequences); `then` starts a new loop body behind what stands.
  class PatternBuilder {
  public:
    PatternBuilder& read(ObjectId, std::int64_t offset, std::uint16_t width, std::vector<RunDimension> dimensions = {},
                         std::int64_t shift = 0);
    PatternBuilder& write(ObjectId, std::int64_t offset, std::uint16_t width, std::vector<RunDimension> dimensions = {},
                          std::int64_t shift = 0, bool streamable = false);
    PatternBuilder& irregular(AccessKind, ObjectId, std::uint16_t width, std::vector<std::int64_t> offsets,
                              std::vector<std::uint32_t> producer_distance);
    PatternBuilder& then();
    PatternBuilder& work(WorkCounts);  // of one iteration
    PatternId end();

  private:
    friend class WorkloadBuilder;
    explicit PatternBuilder(WorkloadBuilder& builder) : builder_{builder} {}
    PatternBuilder& run(AccessKind, ObjectId, std::int64_t, std::uint16_t, std::vector<RunDimension>, std::int64_t, bool);
    void close_body();
    WorkloadBuilder& builder_;
    ItemPattern pattern_;
    std::vector<SlotBinding> slots_;
    std::size_t body_begin_ = 0;  // first run of the current loop body
    std::uint64_t sequence_ = 0;
  };
  PatternBuilder pattern() { return PatternBuilder{*this}; }

  // Iterations [first, last) run `pattern`; its slots start `start` bytes further than the pattern says.
  struct Part {
    std::int64_t first, last;
    PatternId pattern;
    std::vector<std::int64_t> start = {};  // by slot; missing = 0
  };
  // A worksharing loop in a parallel construct of its own, with the barrier at its end. Equal labels are one region.
  ExecutionId loop(const std::string& label, std::int64_t iterations, std::vector<Part> parts);
  ExecutionId serial(const std::string& label, PatternId pattern);

  std::shared_ptr<Workload> build();

private:
  class Built;
  RegionId region(const std::string& label, RegionKind);
  ExecutionId execution(Execution, std::vector<Part>);
  std::shared_ptr<Built> built_;
  std::vector<std::vector<SlotBinding>> slots_;  // by pattern
  std::uint32_t constructs_ = 0;
};

}  // namespace homenode
