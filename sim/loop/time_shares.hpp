// Whose each moment of a run is, so that times sum to the run's. A moment in which threads work is theirs in equal parts: of the region
// that a thread works in, of the page work in it, or of the runtime system that hands it work. A moment in which none works is that of the
// fork or barrier that goes on, else of waiting: for signals between threads, locks, cores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <queue>
#include <vector>

#include "sim/base/ids.hpp"
#include "sim/base/units.hpp"
#include "sim/report/report.hpp"

namespace homenode {

class TimeShares {
public:
  TimeShares(std::size_t regions, std::size_t threads);

  // The thread works from now until it stops: first for the runtime system, then on pages, then for the region. Times do not go back.
  struct Slice {
    RegionId region;
    Time runtime, page_work;
  };
  void start(ThreadId, const Slice&, Time now);
  void stop(ThreadId, Time now);
  // The runtime system keeps the thread until then.
  void hand_out(ThreadId, Time now, Time until);
  // The team starts, for this region first, or meets behind it, until then.
  void fork(RegionId, Time now, Time until);
  void barrier(RegionId, Time now, Time until);

  // Of a run that ends then.
  void end(Time);
  Time region(std::size_t index) const { return spent_[index]; }
  Time team_of_region(std::size_t index) const { return team_[index]; }  // its part of fork and barrier
  const Overheads& overheads() const { return overheads_; }

private:
  static constexpr std::size_t none = ~std::size_t{0};
  struct Change {  // of what a thread does
    Time at;
    std::size_t thread = 0;
    std::uint64_t turn = 0;  // of the thread; if it has had another one since, the change is off
    std::size_t account = none;
    bool operator>(const Change& other) const { return at > other.at; }
  };
  struct Doing {
    std::size_t account = none;
    std::uint64_t turn = 0;
  };
  struct Running {
    std::size_t account = 0;
    std::int64_t threads = 0;
  };

  void advance(Time to);
  void pass(Time to);
  void become(std::size_t thread, std::size_t account);

  std::size_t page_work_, runtime_;  // accounts behind those of regions
  std::vector<Time> spent_;          // by account
  std::vector<Time> team_;           // by region
  std::vector<Doing> doing_;         // by thread
  std::vector<Running> running_;     // accounts with threads in them
  std::int64_t working_ = 0;         // threads
  std::priority_queue<Change, std::vector<Change>, std::greater<>> changes_;
  Time now_, fork_until_, barrier_until_;
  std::size_t forks_for_ = 0, meets_behind_ = 0;  // regions
  Overheads overheads_;
};

}  // namespace homenode
