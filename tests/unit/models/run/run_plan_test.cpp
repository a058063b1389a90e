// What a run is planned with, by the options that it was asked with.
#include "models/run/run_plan.hpp"

#include <gtest/gtest.h>

#include "tests/support/machines.hpp"
#include "tests/support/workloads.hpp"

namespace homenode::test {
namespace {

TEST(RunPlan, takesPagesAndQuantumFromTheOptions) {
  const auto workload = blocks(4, 4096);
  const Machine machine = two_sockets();
  RunSpec spec;
  RunExtras extras;
  // A slice touches a sixteenth of the last level: 8 MiB / 16.
  EXPECT_EQ(make_plan(*workload, machine, spec, extras).pages.page, Bytes{4096});
  EXPECT_EQ(make_plan(*workload, machine, spec, extras).quantum, Bytes{512 << 10});
  spec.pages = "2MiB";
  extras.quantum = Bytes{1 << 16};
  EXPECT_EQ(make_plan(*workload, machine, spec, extras).pages.page, Bytes{2 << 20});
  EXPECT_EQ(make_plan(*workload, machine, spec, extras).quantum, Bytes{1 << 16});
  spec.pages = "thp";
  EXPECT_EQ(make_plan(*workload, machine, spec, extras).pages.page, Bytes{4096});
  EXPECT_EQ(make_plan(*workload, machine, spec, extras).pages.huge, Bytes{2 << 20});
}

TEST(RunPlan, theMachinesOwnSystemComesBehindTheOneThatWasAskedFor) {
  Machine machine = two_sockets();
  RunExtras extras;
  EXPECT_EQ(system_of(machine, extras).fault.parallel, OperatingSystem{}.fault.parallel);
  machine.system.emplace().fault.parallel = Time::nanoseconds(1200);
  EXPECT_EQ(system_of(machine, extras).fault.parallel, Time::nanoseconds(1200));
  extras.system.emplace();  // `--system default`
  EXPECT_EQ(system_of(machine, extras).fault.parallel, OperatingSystem{}.fault.parallel);
}

}  // namespace
}  // namespace homenode::test
