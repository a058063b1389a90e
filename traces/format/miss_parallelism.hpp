// How many misses of a region can be outstanding at once (memory-level parallelism), from its dependences and strides. The models
// divide latencies by it (sim/program/line_touches.hpp); here it is averaged over the lines that a region touches:
//
//   parallelism = lines / sum over lines of (1 / misses outstanding beside it)
//
// on a core of the usual limits (LineTouchOptions: ten miss buffers, sixteen lines prefetched, strides up to 2 KiB followed).
// A pointer chase has 1, four interleaved chases 4, a gather 10, a stream 16. Caches are left out: a line counts whenever a
// group of accesses touches it, hit or miss.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/program/line_touches.hpp"
#include "sim/program/workload.hpp"

namespace homenode {

class MissParallelism {
public:
  explicit MissParallelism(const Workload&);
  // Samples long executions at evenly spread places, so that the cost of a region is bounded.
  void add(RegionId, const ExecutionBody&);
  // 0 for a region that touches nothing.
  double of(RegionId) const;

private:
  struct Sum {
    std::uint64_t executions = 0;
    double lines = 0, latencies = 0;
  };

  const Workload& workload_;
  std::vector<Address> address_;  // by object: one after the other, a page apart
  std::vector<Sum> by_region_;
  LineTouches touches_;
  std::vector<LineTouch> group_;
};

}  // namespace homenode
