// Work stealing over a loop: every thread begins with a contiguous block and takes chunks from its front; who runs dry steals half of
// what another has left, from its end (Hendler and Shavit 2002), the victim chosen at random (Blumofe and Leiserson 1999) or nearest first:
// own node, then nodes by their distance, at random within a node. A probe of another thread's block moves one line.
#include <algorithm>
#include <optional>
#include <random>
#include <vector>

#include "models/distribution/register.hpp"
#include "sim/machine/topology.hpp"

namespace homenode {
namespace {

class WorkStealing final : public WorkDistribution {
public:
  explicit WorkStealing(const Parameters& parameters) : chunk_{parameters.get("chunk")}, nearest_first_{parameters.get("victim") == 1} {}

  void prepare(const RegionView& region, const Team& team, const CostOracle*) override {
    execution_ = region.execution;
    left_ = region.iterations;
    random_.seed(region.seed);
    team_ = &team;
    const auto threads = static_cast<std::int64_t>(team.size());
    blocks_.clear();
    for (std::int64_t t = 0; t < threads; ++t) blocks_.push_back({region.iterations * t / threads, region.iterations * (t + 1) / threads});
  }

  Decision next(ThreadId thread, Time) override {
    Block& own = blocks_[thread.index()];
    Time spent;
    if (own.first == own.last) {
      if (left_ == 0) return {};
      for (const std::size_t victim : victims(thread.index())) {
        Block& block = blocks_[victim];
        spent += distance_time(thread.index(), victim);
        if (block.first == block.last) continue;
        own = {block.last - (block.last - block.first + 1) / 2, block.last};
        block.last = own.first;
        spent += distance_time(thread.index(), victim);  // of the swap that takes it
        break;
      }
      if (own.first == own.last) return {};  // what is left runs already
    }
    const std::int64_t first = own.first;
    own.first = std::min(first + chunk_, own.last);
    left_ -= own.first - first;
    return {Decision::Kind::run, {execution_, first, own.first}, spent};
  }

private:
  struct Block {
    std::int64_t first = 0, last = 0;
  };

  NodeId node_of(std::size_t thread) const { return team_->machine->node_of(team_->core[thread]); }

  Time distance_time(std::size_t a, std::size_t b) const { return team_->machine->core_to_core(team_->core[a], team_->core[b]); }

  std::vector<std::size_t> victims(std::size_t thief) {
    std::vector<std::size_t> order;
    for (std::size_t t = 0; t < blocks_.size(); ++t) {
      if (t != thief) order.push_back(t);
    }
    std::shuffle(order.begin(), order.end(), random_);
    if (nearest_first_) {
      if (!topology_) topology_.emplace(*team_->machine);
      const auto distance = [&](std::size_t t) { return topology_->latency(node_of(thief), node_of(t)); };
      std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return distance(a) < distance(b); });
    }
    return order;
  }

  std::int64_t chunk_;
  bool nearest_first_;
  ExecutionId execution_;
  std::int64_t left_ = 0;
  std::vector<Block> blocks_;  // of each thread, what it has not begun
  const Team* team_ = nullptr;
  std::optional<Topology> topology_;
  std::mt19937_64 random_;
};

}  // namespace

PolicyEntry<WorkDistribution> work_stealing() {
  return {
      .name = "work-stealing",
      .description = "one block a thread; an idle thread steals half of what another has left",
      .parameters = {integer_parameter("chunk", "iterations", "iterations that a thread takes from its own block at a time", 1, 1),
                     word_parameter("victim", "from whom to steal: a random thread, or the nearest one with work", {"random", "nearest"})},
      .make = [](const Parameters& parameters) { return std::make_unique<WorkStealing>(parameters); },
      .examples = {"work-stealing:chunk=3,victim=nearest"}};
}

}  // namespace homenode
