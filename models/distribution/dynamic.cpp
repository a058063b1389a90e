// OpenMP's dynamic schedule (OpenMP 5.2, 11.5.3): the next chunk to whoever asks, for one atomic addition to a shared counter.
#include <algorithm>

#include "models/distribution/register.hpp"
#include "models/distribution/shared_counter.hpp"

namespace homenode {
namespace {

class Dynamic final : public WorkDistribution {
public:
  explicit Dynamic(std::int64_t chunk) : chunk_{chunk} {}

  void prepare(const RegionView& region, const Team& team, const CostOracle*) override {
    region_ = region;
    next_ = 0;
    chunk_time_ = shared_counter_time(team);
  }

  Decision next(ThreadId, Time) override {
    if (next_ >= region_.iterations) return {};
    const std::int64_t first = next_;
    next_ = std::min(first + chunk_, region_.iterations);
    return {Decision::Kind::run, {region_.execution, first, next_}, chunk_time_};
  }

private:
  std::int64_t chunk_;
  RegionView region_;
  std::int64_t next_ = 0;
  Time chunk_time_;
};

}  // namespace

PolicyEntry<WorkDistribution> dynamic_schedule() {
  return {.name = "dynamic",
          .description = "OpenMP dynamic: each idle thread takes the next chunk",
          .parameters = {integer_parameter("chunk", "iterations", "size of a chunk", 1, 1)},
          .make = [](const Parameters& parameters) { return std::make_unique<Dynamic>(parameters.get("chunk")); },
          .examples = {"dynamic:2", "dynamic:4"}};
}

}  // namespace homenode
