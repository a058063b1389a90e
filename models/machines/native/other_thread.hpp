// Whether a core's other hardware thread has work, of whomever: a guest is told nothing of it, and its own code takes up to twice as long.
#pragma once

#include <vector>

namespace homenode::native {

// If the other thread has work in more than this share of the probes, the core is not one's own.
inline constexpr double most_other_thread_share = 0.1;

// Of `probes` of each CPU, one CPU after the other, the share in which the other thread of its core had work; the largest of all CPUs. 0
// where this cannot be told: on others than Intel's cores since Haswell and AMD's since Zen. A probe takes 3 us.
//
// A probe is a loop of one fetch block and no more slots than a core issues at once, beside a chain of as many dependent additions. Alone
// a round of the loop takes a cycle, as an addition does. Where both threads have work, the front end serves them in turn: a round takes
// two cycles, and the chain as long as before.
double other_thread_share(const std::vector<unsigned>& cpus, unsigned probes);

// What others on the core's other thread leave of a unit to the calling thread: cycles that one kind of work takes, by a chain of
// additions beside it, which take a cycle each whoever works.
struct UnitTime {
  const char* kind;            // "integer", "load", "dispatch", "fetch"
  double mean = 0, least = 0;  // of all samples
};
// Of the kinds that a core has most to do with, so many samples of a few microseconds in each of 25 bursts within a second; nothing on
// others than x86-64.
std::vector<UnitTime> unit_times(unsigned samples);

}  // namespace homenode::native
