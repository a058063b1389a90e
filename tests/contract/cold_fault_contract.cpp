// What every timing engine owes a system whose page faults take longer on frames that no cache holds, and the closed form with them: as
// many faults take longer as pages were placed beyond what the last levels of a node hold, and no others.
#include <gtest/gtest.h>

#include "models/engines/engines.hpp"
#include "models/run/estimate.hpp"
#include "models/run/run.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/workloads.hpp"

namespace homenode::test {
namespace {

constexpr std::int64_t page = 4096, warm = 32;

// Two nodes; the last level of each holds 32 pages.
Machine with_system(std::int64_t more_nanoseconds) {
  Machine machine = two_sockets(1);
  machine.caches.back().size = Bytes{warm * page};
  machine.caches.back().cores_per_cache = 1;
  machine.system.emplace();
  machine.system->fault.parallel = Time::nanoseconds(500);
  if (more_nanoseconds != 0) machine.system->fault.cold = Time::nanoseconds(static_cast<double>(500 + more_nanoseconds));
  return machine;
}

// One thread writes a line of each of so many pages.
std::shared_ptr<Workload> touching(std::int64_t pages) {
  WorkloadBuilder builder;
  const ObjectId array = builder.object("array", pages * page, ObjectKind::mapped);
  const RegionId touch = builder.loop("touch", 1);
  builder.nest(touch, {static_cast<unsigned>(pages)}, {write(array, 0, {page})});
  builder.repeat(touch);
  return builder.build();
}

RunSpec options_of(const std::string& engine, const std::string& placement) {
  RunSpec options;
  options.engine = engine;
  options.threads = 1;
  options.caches = "lines";
  options.placement = placement;
  return options;
}

class ColdFaultContract : public ::testing::TestWithParam<std::string> {
protected:
  void expect(std::int64_t pages, const std::string& placement, std::int64_t cold) const {
    constexpr std::int64_t more = 2000;
    const auto program = touching(pages);
    const RunSpec options = options_of(GetParam(), placement);
    const double by_replay = (run(*program, with_system(more), options).time - run(*program, with_system(0), options).time).seconds();
    const double by_estimate = estimate(*program, with_system(more), options).seconds - estimate(*program, with_system(0), options).seconds;
    const double expected = static_cast<double>(cold * more) * 1e-9;
    EXPECT_NEAR(by_replay, expected, 1e-3 * expected + 1e-8) << pages << " pages, " << placement;
    EXPECT_NEAR(by_estimate, expected, 1e-3 * expected + 1e-8) << "closed form, " << pages << " pages, " << placement;
  }
};

TEST_P(ColdFaultContract, PagesBeyondTheLastLevelTakeLonger) {
  expect(warm, "first-touch", 0);
  expect(3 * warm, "first-touch", 2 * warm);
}

TEST_P(ColdFaultContract, EachNodeHasItsOwnFrames) {
  expect(3 * warm, "interleave", warm);
  expect(3 * warm, "bind:1", 2 * warm);
}

INSTANTIATE_TEST_SUITE_P(every, ColdFaultContract, ::testing::ValuesIn(engine_names()), [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace homenode::test
