// The chunks of one execution of a loop, all known before it begins.
#pragma once

#include <memory>
#include <vector>

#include "sim/policy/work_distribution.hpp"

namespace homenode::python {

// Each thread runs its chunks in their order. Copies share the chunks and start from the first.
class PlannedChunks final : public WorkDistribution {
public:
  struct Chunk {
    std::int64_t first = 0, last = 0;
    Time overhead;
  };
  PlannedChunks(ExecutionId execution, std::vector<std::vector<Chunk>> by_thread)
      : execution_{execution},
        by_thread_{std::make_shared<const std::vector<std::vector<Chunk>>>(std::move(by_thread))},
        turn_(by_thread_->size(), 0) {}

  void prepare(const RegionView&, const Team&, const CostOracle*) override {}
  Decision next(ThreadId thread, Time) override {
    const std::vector<Chunk>& chunks = by_thread_->at(thread.index());
    std::size_t& turn = turn_[thread.index()];
    if (turn == chunks.size()) return {};
    const Chunk& chunk = chunks[turn++];
    return {Decision::Kind::run, {execution_, chunk.first, chunk.last}, chunk.overhead};
  }
  std::unique_ptr<WorkDistribution> fixed_schedule() const override { return std::make_unique<PlannedChunks>(*this); }

private:
  ExecutionId execution_;
  std::shared_ptr<const std::vector<std::vector<Chunk>>> by_thread_;
  std::vector<std::size_t> turn_;  // by thread
};

}  // namespace homenode::python
