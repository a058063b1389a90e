// Lines that several cores write at the same time: shared counters, locks, bins of a histogram, neighbours in one line (false sharing).
// Slices pass the caches one after the other, so that the caches hand such a line over once a slice. In time, accesses of the cores mix,
// and a core has lost the line whenever another one wrote it since. Of n writes beside f by others in the same time, spread evenly, the
// share f / (f + n) comes behind another core's: so many times the line is handed over, that is, its ownership changes.
//
// The same time: slices of one round (sim/loop/prefiltered_slices.hpp), as far as the parts of them overlap in which they write the line.
// The end of one thread's share of an array lies in one line with the beginning of the next one's, which is written long before. Where
// slices pass in the order of time: others go on as in their last slice of the same execution, access for access; the first slices see
// those alone that have begun before them. All code of created threads counts as one execution.
//
// Only lines are followed that a slice writes twice or more, in touches of one line or two: streams hand a line over once. Touches of
// atomic accesses may be of many lines: the bins of a histogram in turn. Cores that only read such a line are not seen.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/ids.hpp"
#include "sim/program/line_touch.hpp"

namespace homenode {

// What a slice writes to lines that other cores write in the same time. Counts of updates: an atomic access; else a store, with the load
// of the same line before it.
struct Contention {
  struct Writer {
    CoreId core;
    double share = 0;  // of the updates by other cores
  };
  struct Updates {
    double atomic = 0, plain = 0;
    double plain_read = 0;  // of the plain ones, those that read the line, too
    void add(const Updates&, double times = 1);
    double all() const { return atomic + plain; }
  };
  std::uint64_t lines = 0;
  Updates updates;
  Updates late;                 // behind another core's, but for the first of each line, which the caches count
  Updates busiest;              // late ones, on the line that is handed over most in this time
  std::vector<Writer> writers;  // of the line on which most are late

  bool any() const { return lines != 0; }
  void clear();
};

class ContendedLines {
public:
  // Whoever is told meets the touches of all cores in the order of time, and counts a line that a touch finds elsewhere by itself: what is
  // late among the accesses of one touch is left.
  void know_touches() { knows_touches_ = true; }
  // A slice begins on the core. `time`: slices with the same number may run at the same time.
  void begin(CoreId, std::uint64_t time);
  // `accesses`: of the slice so far, those of the touch among them.
  void wrote(const LineTouch& touch, std::uint64_t accesses) {
    if (touch.lines.size() <= (touch.atomic ? most_atomic_lines : 2) && !touch.non_temporal) add(touch, accesses);
  }
  // It ends: what is known by now. In a round (`ahead`) end_round works it out, and it must stay where it is until then.
  void end(Contention&, std::uint64_t accesses, bool ahead);
  void end_round();

private:
  static constexpr std::size_t most_atomic_lines = 512;  // of one touch: few beside `followed`, so that touches do not displace each other
  static constexpr std::size_t followed = 4096;          // lines of a slice, and of all cores, by a hash
  struct Written {                                       // by the slice that passes
    LineNumber line;
    std::uint64_t slice = 0;
    std::uint64_t touches = 0;
    std::uint64_t from = 0, to = 0;  // accesses of the slice before the first one of the line, and up to the last
    Contention::Updates updates;
  };
  struct Part {
    CoreId core;
    std::uint64_t slice = 0;  // the core's last one that wrote the line
    double accesses = 0;      // of that slice
    double touches = 0;       // of the line
    double from = 0, to = 1;  // the part of it in which it writes the line
    Contention::Updates updates;
  };
  struct Shared {
    std::vector<Part> parts;  // by core
  };
  struct Known {
    LineNumber line;
    std::uint64_t since = 0;  // slice; older than those of this time: nothing
    std::uint32_t shared = 0;
  };
  struct Open {
    Contention* result = nullptr;
    CoreId core;
    std::vector<std::uint32_t> lines;  // of shared_
  };
  static std::size_t place_of(LineNumber);
  void add(const LineTouch&, std::uint64_t accesses);
  void take(const Written&, double accesses, std::vector<std::uint32_t>& lines);
  bool counts(const Part& part) const { return part.slice >= since_ && part.slice == slice_of_[part.core.index()]; }
  std::uint32_t busiest(const std::vector<std::uint32_t>& lines) const;
  double of_other(const Part& own, const Part& other) const;
  double late(const Part& own, const std::vector<Part>& parts) const;
  void name_writers(const Part& own, const std::vector<Part>& parts, std::vector<Contention::Writer>&) const;
  void work_out(const Open&, std::uint32_t busiest) const;

  std::vector<Written> written_;
  std::vector<std::uint32_t> used_;                      // of written_, by the slice that passes
  std::uint64_t slice_ = 0, time_ = 0, time_began_ = 0;  // the last one; of the last begin
  CoreId core_;
  std::vector<std::uint64_t> slice_of_;  // by core: the last one
  std::uint64_t since_ = 0;              // slices from here on count
  std::vector<Known> known_;
  std::vector<Shared> shared_;
  std::vector<Open> round_;
  bool knows_touches_ = false;
  std::uint64_t round_began_ = 0;  // slice
};

}  // namespace homenode
