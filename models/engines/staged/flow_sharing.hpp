// Bandwidth sharing by a solver of our own: progressive filling, each round gives every activity that can still grow an equal part
// of what its resources have left. Same rules as SimGrid's "fairbottleneck" (its reference is simgrid_sharing), made incremental:
// only activities connected through shared resources to one that started or ended get new rates.
#pragma once

#include <cstdint>
#include <span>

#include "models/engines/parts/bandwidth_sharing.hpp"

namespace homenode {

class FlowSharing final : public BandwidthSharing {
public:
  explicit FlowSharing(std::size_t resources);

  ActivityId start(const Activity&) override;
  std::optional<Time> next_event() override;
  void advance(Time to, std::vector<ActivityEnd>& ended) override;

  // Progress per second of a running activity; for tests of fairness and conservation.
  double rate(ActivityId);

private:
  struct Use {
    double seconds = 0, inverse = 0;
    std::uint32_t resource = 0;
  };
  struct Running {
    ActivityId id;
    std::uint32_t use_count = 0;
    std::uint64_t resource_set = 0;  // bit r % 64: a superset of the resources, enough to find what is connected
    double bound = 0;                // 1 / minimum, infinite without a minimum
    double remaining = 1;            // of the whole activity, at `since`
    double rate = 0;
    Time since, end;
  };
  // An activity while rates are found.
  struct Growing {
    std::uint32_t slot = 0, row = 0;
    double bound = 0, rate = 0, increment = 0;
  };
  struct Resource {
    double used = 0;           // if all activities ran at their bounds
    std::uint32_t column = 0;  // of those that can be used up
    std::uint32_t stamp = 0;
  };
  struct Filling {
    std::vector<double> left, share, used, users;  // by column; users: activities that use it and can still grow
    std::vector<double> seconds, inverse;          // row by row
  };

  std::span<Use> uses(std::uint32_t slot) { return {uses_.data() + std::size_t{slot} * stride_, running_[slot].use_count}; }
  void widen(std::size_t uses);
  void solve();
  bool all_at_bound();
  void begin_filling();
  void fill();
  void set_rate(Running&, double rate);

  Time now_;
  std::uint32_t next_id_ = 0;
  std::size_t stride_ = 16;                         // uses per slot
  std::vector<Running> running_;                    // by slot
  std::vector<Use> uses_;                           // by slot * stride
  std::vector<std::uint32_t> free_slots_, active_;  // active_ in order of id
  std::uint64_t changed_ = 0;                       // resources (mod 64) whose activities need new rates
  std::vector<Resource> resources_;
  std::uint32_t stamp_ = 0;
  std::vector<std::uint32_t> connected_, others_, touched_;  // these are kept to avoid allocation
  std::vector<Growing> growing_;
  Filling filling_;
};

}  // namespace homenode
