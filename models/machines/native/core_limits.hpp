// What figures say of a core's own limits towards memory: how many streams its prefetchers follow, with which
// strides, and from which line on; how many lines of non-temporal stores it has under way. Measures nothing.
#pragma once

#include <vector>

#include "models/machines/native/describe_host.hpp"
#include "models/machines/native/described_fields.hpp"

namespace homenode {
namespace native {

// Streams read side by side, a line of each in turn.
struct StreamsPoint {
  double streams = 0, nanoseconds = 0;  // of a line
};
// `streams`: 0 if all are followed as far as points go; `low` and `high`: least and most of all points that say something.
struct FollowedStreams {
  double streams = 0, low = 0, high = 0;
};
// Of n streams S are followed at a time, in turn: a line takes f t + (1 - f) `demand`, f = min(1, S / n), with t the least time of all
// points and `demand` what a line takes that the core asks for itself. S: the median of f n over the points, most streams first, until one
// has f of 0.85 and more; at least that one's streams. Points must be sorted by streams. demand must exceed t by a fifth, or nothing shows.
FollowedStreams followed_streams(const std::vector<StreamsPoint>&, double demand);

// Loads `bytes` behind each other.
struct StridePoint {
  double bytes = 0, nanoseconds = 0;  // of a load
};
// The largest stride that prefetchers follow: up to it each point's time lies nearer to `followed` (of a line of a stream) than to `demand`
// (of a line that the core asks for itself). `line` if the first does not. Points must be sorted by bytes.
double followed_stride(const std::vector<StridePoint>&, double followed, double demand, double line);

// How many of the first lines of a run the core asks for itself, if the others take `followed` and these take `demand`: from what a line
// takes over a whole run of so many `lines`. At most all of them, at least none.
double lines_before_prefetch(double nanoseconds, double lines, double followed, double demand);

}  // namespace native

void describe_core_limits(DescribedFields&, const MachineFile&, const HostFigures&);

}  // namespace homenode
