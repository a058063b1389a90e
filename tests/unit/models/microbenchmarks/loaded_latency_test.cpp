// Latency under load on a machine with round numbers: 100 ns idle, controllers of 24 GB/s for reads.
#include "models/microbenchmarks/loaded_latency.hpp"

#include <gtest/gtest.h>

#include "sim/base/errors.hpp"
#include "tests/support/machines.hpp"

namespace homenode::test {
namespace {

TEST(LoadedLatency, beginsAtTheIdleLatencyAndGrows) {
  const auto points = loaded_latency(two_sockets(8), NodeId{1});
  ASSERT_GT(points.size(), 10U);
  // 4000 lines of pages in random banks: a few meet an open row of another page (20 ns more than activate) within 200 ns.
  EXPECT_GE(points.front().latency, Time::nanoseconds(100));
  EXPECT_LE(points.front().latency, Time::nanoseconds(105));
  EXPECT_GT(points.back().latency, Time::nanoseconds(130));
  for (std::size_t p = 1; p < points.size(); ++p) {
    EXPECT_GE(points[p].bandwidth.bytes_per_second(), 0.99 * points[p - 1].bandwidth.bytes_per_second()) << p;
    EXPECT_GE(points[p].latency.nanoseconds(), 0.97 * points[p - 1].latency.nanoseconds()) << p;
    EXPECT_LE(points[p].utilisation, 1.001) << p;
  }
  EXPECT_GT(points.back().utilisation, 0.98);
}

TEST(LoadedLatency, ofAPauseIsWhatItAsksFor) {
  // 7 readers of 64 B a pause: at half the controller's bandwidth a pause of 7 x 64 / 12 ns.
  for (const LatencyAtLoad& point : loaded_latency(one_node(8), NodeId{0})) {
    if (point.pause == Time{} || point.utilisation > 0.6) continue;
    const double asked = 7 * 64 / point.pause.seconds();
    EXPECT_NEAR(point.bandwidth.bytes_per_second(), asked, 0.05 * asked + 64 / 100e-9);
  }
}

TEST(LoadedLatency, refusesANodeWithoutCores) {
  Machine machine = one_node();
  machine.nodes.push_back({SocketId{0}, Bytes{1 << 30}, Time::nanoseconds(300), {}});
  EXPECT_THROW(loaded_latency(machine, NodeId{1}), UsageError);
}

}  // namespace
}  // namespace homenode::test
