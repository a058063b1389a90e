// How many cycles a core takes for the code of each region, if every access hits the first level: what a core model (models/core) made of
// the blocks that ran.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "sim/base/ids.hpp"
#include "sim/machine/vector_width.hpp"

namespace homenode {

// Cycles of code, by the shares of them in which its busiest unit is in use and in which the front end hands over lines of code: both are
// what a core's two hardware threads share. Where others leave of a unit 1/slowdown of its capacity, code that has it in use for a share u
// of its time takes u * slowdown of this time, or, where that is less, as long as alone: chains of latencies do not mind. Likewise the
// front end, whose slowdown is another one: it serves the threads in turn whether they need it or not.
class SharedUnits {
public:
  struct Shares {
    double units = 0, fetching = 0;
  };
  struct Slowdown {
    double units = 1, fetching = 1;
  };
  void add(double cycles, const Shares& shares) {
    Code& code = by_share_[class_of(shares.units) * classes + class_of(shares.fetching)];
    code.cycles += cycles, code.units += cycles * shares.units, code.fetching += cycles * shares.fetching;
  }
  void scale(double factor) {
    for (Code& code : by_share_) code.cycles *= factor, code.units *= factor, code.fetching *= factor;
  }
  // Cycles more beside others.
  double lost(const Slowdown& slowdown) const {
    double more = 0;
    for (const Code& code : by_share_)
      more += std::max({0.0, code.units * slowdown.units - code.cycles, code.fetching * slowdown.fetching - code.cycles});
    return more;
  }

private:
  struct Code {
    double cycles = 0, units = 0, fetching = 0;
  };
  static constexpr std::size_t classes = 16;
  static std::size_t class_of(double share) { return std::min(classes - 1, static_cast<std::size_t>(std::max(share, 0.0) * classes)); }
  std::array<Code, classes * classes> by_share_{};
};

// Of one region, each by the instructions of its instrumented code; a region without a core model has 0 cycles.
struct RegionCycles {
  double cycles = 0;          // of its blocks, and of what they call in libraries
  SharedUnits units{};        // of its blocks
  double mispredictions = 0;  // of branches
  double resolution = 0;      // cycles that these take longer than one whose condition was just computed; negative: less long
  double loads = -1;          // instructions that load what no store has just written, but for the stack and constants; negative: not known
  // Instructions that ask for the clock of such vectors, libraries' included.
  double wide_256 = 0, wide_512 = 0;

  // Whose clock the region's code runs at. A core lowers its clock for heavy instructions once it executes them at a rate: more than one in
  // two cycles on Skylake-SP, by measurements (T. Downs, stackoverflow.com/questions/56852812). Assumed here: from a tenth of all
  // instructions on, whatever the cycles they take, and for the region as a whole. Loops of vectors are far beyond it, scalar code with
  // a few of them far below.
  static constexpr double enough = 0.1;
  VectorWidth width() const {
    if (wide_512 >= enough) return VectorWidth::bits_512;
    return wide_256 + wide_512 >= enough ? VectorWidth::bits_256 : VectorWidth::narrow;
  }
};

// By SiteId: of 255 loads of that line of the source, those that the core waits for, one after the other. Their latencies beyond the first
// level's add to the time that it computes; those of the others may overlap it.
using WaitedLoads = std::vector<std::uint8_t>;

struct CodeCycles {
  std::vector<RegionCycles> regions;
  std::shared_ptr<const WaitedLoads> waited{};  // null: not known, and the core waits for none
  // Null: not known, and the classes of its instructions decide.
  const RegionCycles* of(RegionId region) const {
    return region.index() < regions.size() && regions[region.index()].cycles > 0 ? &regions[region.index()] : nullptr;
  }
  VectorWidth width_of(RegionId region) const { return of(region) == nullptr ? VectorWidth::narrow : of(region)->width(); }
};

}  // namespace homenode
