// Work counts and executed code of the twin, spread over the regions of the trace. The twin counts stretches of the program: each parallel
// construct, each piece of serial code before one, each created thread. The counts of a stretch are split over its regions by their
// accesses, and so are its calls of functions that have no counters; what they stand for is said by the twin at its end. An iteration of a
// loop that accesses nothing counts as one access. The timed program tells the processor time of the same stretches.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/program/workload.hpp"
#include "traces/format/records/records.hpp"

namespace homenode {

class TwinWork {
public:
  struct Share {  // of a region in a stretch
    RegionId region;
    std::uint64_t accesses = 0, iterations = 1;
    // What a stretch is split by; 0 of code that runs once and accesses nothing.
    std::uint64_t weight() const { return accesses > 0 || iterations == 1 ? accesses : iterations; }
  };
  using Shares = std::vector<Share>;
  // `kind` is serial or parallel, as in the twin's file.
  void note(const std::string& kind, std::uint64_t ordinal, Shares);
  // A stretch of which the twin would tell something else than the trace has: there are no times, which are not told apart by region.
  void leave_out() { is_whole_ = false; }

  struct Rates {
    std::map<RegionId, WorkRate> work;
    std::vector<RegionCode> code;  // by region, then by function
    ExecutedCode executed;
    std::vector<Loss> losses;
  };
  // Reads the file now: it may be a pipe that the twin writes to after the traced program. An empty file means that there is no twin.
  Rates rates(const std::filesystem::path&) const;

private:
  struct Counted;
  std::vector<MeasuredTime> times(const Counted&) const;
  struct Stretch {
    std::string kind;
    std::uint64_t ordinal;
    Shares shares;
  };
  std::vector<Stretch> stretches_;
  bool is_whole_ = true;
};

}  // namespace homenode
