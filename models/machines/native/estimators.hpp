// What measured figures say of a model's parameters. Equations only: no clock, no host.
#pragma once

#include <optional>
#include <vector>

#include "models/machines/native/measure.hpp"

namespace homenode::native {

struct LatencyPoint {
  double bytes = 0, nanoseconds = 0;  // of a chase over a working set
};
// How much of a working set a cache serves where hits take `hit` and misses `memory`: of W bytes at latency t the share
// h = (memory - t) / (memory - hit), thus h W bytes; a set that fits says W. The largest of them all counts, of sets with h of a quarter
// and more (below, an error of the latencies times a large W counts for more than the cache). What a smaller set contradicts does not
// count: one of half the bytes and less has h of three quarters and more. 0 if no point says anything.
double served_bytes(const std::vector<LatencyPoint>& curve, double hit, double memory);

// Laws of what a cache of C bytes keeps of W that are run through again and again, in one order: the share of hits.
//   oldest   all up to C, nothing beyond it (LRU)
//   random   random_sweep.hpp
//   best     C / W: the most that any choice of victims can keep
// Sets of `ways` lines may be filled evenly, or by a Poisson law where frames are scattered: each law takes what fits better.
// Shares are told from latencies as above; points at which all is served say nothing about the law, but bound C.
struct LawOfVictims {
  double bytes = 0;  // C, to 2 %
  double error = 1;  // root of the mean square of predicted - measured shares
};
struct VictimLaws {
  LawOfVictims oldest, random, best;
  bool shown = false;  // the curve has points between all and nothing, or misses
  // The law that the cache follows: at most `fits` off, and half as far off as the other. Both assumed.
  static constexpr double fits = 0.06;
  bool is_random() const { return shown && random.error <= fits && 2 * random.error <= oldest.error; }
  bool is_oldest() const { return shown && oldest.error <= fits && 2 * oldest.error <= random.error; }
};
// The knee of an LRU cache with scattered frames looks like that of a smaller one with random victims (22 MiB for 33 at 16 ways: 0.04 apart
// at the best), so it counts that no share of a level is larger than the whole.
struct SweptLevel {
  double bytes = 0;  // the whole level: C is no more than that by 5 %
  unsigned ways = 0;
  double besides = 0;  // bytes of a sweep that it need not hold, since a level inside it does: where it is filled by evictions
};
VictimLaws victim_laws(const std::vector<LatencyPoint>& curve, double hit, double memory, const SweptLevel&);

// A line that takes `computing` by itself and `transfers` by itself takes max + theta x min of the two: 0 where they overlap wholly,
// 1 where one waits for the other. theta by least squares.
struct ComposedPoint {
  double computing = 0, transfers = 0, measured = 0;
};
double composition(const std::vector<ComposedPoint>&);
// Mean of |predicted / measured - 1| at that theta.
double composition_error(const std::vector<ComposedPoint>&, double theta);

// A loop over a stream from memory and others that it reads again from a cache takes `memory` a line of the first, and `cache` where
// that one is in a cache, too. A line `alone` takes that long beside nothing. `slowdown`: by which share more a line takes of what is on
// top of `cache`, the median; 0 where it is less than alone. `serial`: composition() with that as transfers, within 0 to 1.
struct RereadPoint {
  double cache = 0, memory = 0;
};
struct RereadLaw {
  double slowdown = 0, serial = 0;
};
RereadLaw reread(const std::vector<RereadPoint>&, double alone);

// A page fault of `alone` beside nobody, and of `together` in each of `threads` at once, in one address space, as system.hpp splits it:
// threads that queue for a lock get one fault each `serial`, so together = max(alone, threads x serial). What does not slow down by a
// tenth shows no lock: serial is then 0, and no more than together / threads.
struct FaultSplit {
  double parallel = 0, serial = 0, most_serial = 0;
};
FaultSplit split_fault(double alone, double together, unsigned threads);

// A wake-up takes longer where the core was idle for long.
struct WakeupPoint {
  double idle_microseconds = 0, nanoseconds = 0;
};
struct Wakeups {
  double shallow = 0, deep = 0;          // nanoseconds
  std::optional<double> residency = {};  // microseconds: where the curve crosses the middle of the two; none if it is flat
};
// Of a curve by growing idle times: its first and last value; flat if they differ by less than a quarter.
Wakeups wakeups(const std::vector<WakeupPoint>&);

// Which of neighbouring CPUs add nothing of their own: they share a core with one before them. `slowdown`: of each CPU beside the one
// before it (sharing_slowdown). Two loops that need all of a core take 1 on two cores and 2 on one; two threads of a core may get up to
// 1.3 times the work of one out of it, thus 1.5 and more. Under 1.2 they are two cores. Between, what the system says counts.
enum class Sharing { own_cores, one_core, unclear };
Sharing sharing(double slowdown);

}  // namespace homenode::native
