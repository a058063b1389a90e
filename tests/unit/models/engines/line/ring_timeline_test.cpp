// The rings of the Xeon Phi on a timeline: seconds in use by intervals add up to what all messages took.
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "models/engines/line/ring_routes.hpp"
#include "models/machines/machine_file.hpp"
#include "models/run/run.hpp"
#include "tests/support/source_folder.hpp"
#include "tests/support/workloads.hpp"

namespace homenode::test {
namespace {

Machine knc() { return load_machine(test::source_folder() / "models/machines/knc-5110p.toml"); }

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

TEST(RingsOnATimeline, areInUseForTheirMessages) {
  const Machine machine = knc();
  Timeline timeline{100};
  timeline.set_resources(std::vector<std::string>(8, "resource"), std::vector<double>(8, 0.0), 64);
  RingRoutes routes{machine, PhysicalMemory{machine, Bytes{4096}, 0}, 0, &timeline, 2};
  std::mt19937_64 random{3};
  for (int k = 0; k < 10'000; ++k) {
    const auto kind = static_cast<RingKind>(random() % 3);
    routes.ride({kind, random() % 2 == 0, static_cast<std::uint16_t>(random() % 60), static_cast<std::uint16_t>(random() % 30)}, 500 * k);
  }
  const std::vector<RingUse> rings = routes.rings();
  ASSERT_EQ(rings.size(), 6U);
  for (std::size_t ring = 0; ring < rings.size(); ++ring) {
    // hops x their time / places of the ring
    EXPECT_NEAR(sum(timeline.use().of(2 + ring)), rings[ring].busy.seconds(), 1e-9 * rings[ring].busy.seconds() + 1e-12)
        << rings[ring].name;
    EXPECT_GT(rings[ring].messages, 0U);
  }
  EXPECT_TRUE(timeline.use().of(0).empty() && timeline.use().of(1).empty());
}

TEST(RingsOnATimeline, areThoseOfAWholeRun) {
  RunSpec options;
  options.engine = "line";
  options.threads = 60;
  RunExtras extras;
  extras.timeline_events = 100'000;
  const RunReport report = run(*jacobi2d(256, 2), knc(), options, extras);
  const Timeline& timeline = *report.timeline;
  std::size_t rings = 0;
  for (std::size_t resource = 0; resource < timeline.resources().size(); ++resource) {
    if (timeline.resources()[resource].find("ring") == std::string::npos) continue;
    ++rings;
    EXPECT_GT(sum(timeline.use().of(resource)), 0.0) << timeline.resources()[resource];
    for (const double seconds : timeline.use().of(resource)) EXPECT_LE(seconds, 1.001 * timeline.use().interval().seconds());
  }
  EXPECT_EQ(rings, 6U);
}

}  // namespace
}  // namespace homenode::test
