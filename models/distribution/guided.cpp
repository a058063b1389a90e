// OpenMP's guided schedule (OpenMP 5.2, 11.5.3) as libgomp does it (loop iter_guided): the remaining iterations divided by the
// team's size, rounded up, but never less than the chunk.
#include <algorithm>

#include "models/distribution/register.hpp"
#include "models/distribution/shared_counter.hpp"

namespace homenode {
namespace {

class Guided final : public WorkDistribution {
public:
  explicit Guided(std::int64_t chunk) : chunk_{chunk} {}

  void prepare(const RegionView& region, const Team& team, const CostOracle*) override {
    region_ = region;
    next_ = 0;
    threads_ = static_cast<std::int64_t>(team.size());
    chunk_time_ = shared_counter_time(team);
  }

  Decision next(ThreadId, Time) override {
    const std::int64_t remaining = region_.iterations - next_;
    if (remaining <= 0) return {};
    const std::int64_t share = (remaining + threads_ - 1) / threads_;
    const std::int64_t first = next_;
    next_ += std::min(remaining, std::max(chunk_, share));
    return {Decision::Kind::run, {region_.execution, first, next_}, chunk_time_};
  }

private:
  std::int64_t chunk_;
  RegionView region_;
  std::int64_t next_ = 0, threads_ = 1;
  Time chunk_time_;
};

}  // namespace

PolicyEntry<WorkDistribution> guided_schedule() {
  return {.name = "guided",
          .description = "OpenMP guided: each idle thread takes the next chunk, chunks shrink",
          .parameters = {integer_parameter("chunk", "iterations", "smallest chunk", 1, 1)},
          .make = [](const Parameters& parameters) { return std::make_unique<Guided>(parameters.get("chunk")); },
          .examples = {"guided:8"}};
}

}  // namespace homenode
