// OpenMP's static schedule (OpenMP 5.2, 11.5.3): without a chunk one contiguous block a thread, as libgomp splits them
// (the first n mod T threads get one iteration more); with a chunk, chunks go round the threads.
#include <algorithm>

#include "models/distribution/register.hpp"

namespace homenode {
namespace {

class Static final : public WorkDistribution {
public:
  explicit Static(std::int64_t chunk) : chunk_{chunk} {}

  void prepare(const RegionView& region, const Team& team, const CostOracle*) override {
    region_ = region;
    threads_ = static_cast<std::int64_t>(team.size());
    handed_out_.assign(team.size(), 0);
  }

  std::unique_ptr<WorkDistribution> fixed_schedule() const override { return std::make_unique<Static>(*this); }
  Decision next(ThreadId thread, Time) override {
    const auto rank = static_cast<std::int64_t>(thread.index());
    std::int64_t& turn = handed_out_[thread.index()];
    std::int64_t first = 0, last = 0;
    if (chunk_ == 0) {
      if (turn > 0) return {};
      const std::int64_t quotient = region_.iterations / threads_, remainder = region_.iterations % threads_;
      first = rank * quotient + std::min(rank, remainder);
      last = first + quotient + (rank < remainder ? 1 : 0);
    } else {
      first = (turn * threads_ + rank) * chunk_;
      last = std::min(first + chunk_, region_.iterations);
    }
    if (first >= last) return {};
    ++turn;
    return {Decision::Kind::run, {region_.execution, first, last}, Time{}};
  }

private:
  std::int64_t chunk_;
  RegionView region_;
  std::int64_t threads_ = 1;
  std::vector<std::int64_t> handed_out_;
};

}  // namespace

PolicyEntry<WorkDistribution> static_schedule() {
  return {.name = "static",
          .description = "OpenMP static: one contiguous block a thread, or chunks round robin",
          .parameters = {integer_parameter("chunk", "iterations", "size of a chunk; 0 = one contiguous block a thread", 0, 0)},
          .make = [](const Parameters& parameters) { return std::make_unique<Static>(parameters.get("chunk")); },
          .examples = {"static:1", "static:3", "static:7"}};
}

}  // namespace homenode
