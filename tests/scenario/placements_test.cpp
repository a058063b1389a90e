// Placements on the papers' machines: what S0 shows of stencils whose arrays one thread initialises, and that nothing beats the bound.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/machines/machine_file.hpp"
#include "models/placement/register.hpp"
#include "models/run/placement_pass.hpp"
#include "models/run/run.hpp"
#include "tests/support/accounted_run.hpp"
#include "tests/support/registered.hpp"
#include "tests/support/source_folder.hpp"
#include "tests/support/workloads.hpp"

namespace homenode::test {
namespace {

Machine described(const std::string& name) { return load_machine(test::source_folder() / "models/machines" / (name + ".toml")); }

// 5-point Jacobi on n x n doubles whose arrays the master initialises (S0 section 3.2: all pages on its node by first touch).
std::shared_ptr<Workload> serially_initialised(std::int64_t n, unsigned sweeps) {
  WorkloadBuilder builder;
  const std::int64_t row = n * 8;
  const ObjectId a = builder.object("a", static_cast<std::uint64_t>(n * row)), b = builder.object("b", static_cast<std::uint64_t>(n * row));
  const RegionId init = builder.serial("init");
  builder.nest(init, {static_cast<std::uint32_t>(n * n)}, {write(a, 0, {8}), write(b, 0, {8})});
  builder.repeat(init);
  const RegionId sweep = builder.loop("sweep", n - 2);
  ObjectId from = a, to = b;
  for (unsigned s = 0; s < sweeps; ++s) {
    builder.clear(sweep);
    const std::int64_t centre = row + 8;
    builder.nest(sweep, {static_cast<std::uint32_t>(n - 2)},
                 {read(from, centre, {8}, row), read(from, centre - 8, {8}, row), read(from, centre + 8, {8}, row),
                  read(from, centre - row, {8}, row), read(from, centre + row, {8}, row), write(to, centre, {8}, row)});
    builder.repeat(sweep);
    std::swap(from, to);
  }
  return builder.build();
}

RunReport replayed(const Workload& workload, const Machine& machine, std::string placement) {
  RunSpec options;
  options.threads = machine.cores();
  options.placement = std::move(placement);
  return accounted_run(workload, machine, options);
}

Time time_of(const RunReport& report, const std::string& label) {
  for (const RegionReport& region : report.regions)
    if (region.label == label) return region.time;
  throw std::out_of_range("no region " + label);
}

TEST(StencilAwareOnS4sLargestMachine, isFasterThanSerialFirstTouchAndSweepsNoSlowerThanInterleave) {
  const Machine machine = described("xeon-x7560-4s");
  const auto workload = serially_initialised(4096, 10);
  const RunReport aware = replayed(*workload, machine, "stencil-aware"), first_touch = replayed(*workload, machine, "first-touch"),
                  interleave = replayed(*workload, machine, "interleave");
  EXPECT_LT(aware.time, first_touch.time);
  // The master fetches the lines that it initialises, since the pass made others zero them: else its own caches have them.
  EXPECT_GT(time_of(aware, "init"), time_of(interleave, "init"));
  // Controllers bind the sweeps of both; interleaving also evens out that some threads have a row more than others.
  EXPECT_LE(time_of(aware, "sweep").seconds(), 1.02 * time_of(interleave, "sweep").seconds());
  EXPECT_LT(2 * time_of(aware, "sweep"), time_of(first_touch, "sweep"));
  // C5: the pass counts for the whole, not for the iterations.
  EXPECT_GT(time_of(aware, placement_pass_label), Time{});
  // Both arrays page by page, and each once.
  EXPECT_EQ(aware.page_faults, first_touch.page_faults);
}

class Bounded : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(machines, Bounded, ::testing::Values("opteron-8431-4s", "xeon-x5550-2s", "xeon-x7560-4s"));

TEST_P(Bounded, noPlacementIsFasterThanOptimal) {
  const Machine machine = described(GetParam());
  for (const auto& workload : {jacobi2d(512, 2), serially_initialised(512, 2), jacobi3d(24, 64, 64, 2, 4, 64, 1)}) {
    const Time bound = replayed(*workload, machine, "optimal").time;
    EXPECT_GT(bound, Time{});
    for (const auto& entry : page_placements().entries()) {
      for (const std::string& placement : texts(entry, page_placements())) {
        try {
          EXPECT_LE(bound, replayed(*workload, machine, placement).time) << placement;
        } catch (const UsageError&) { EXPECT_FALSE(entry.examples.empty()) << placement; }  // for machines with other nodes
      }
    }
  }
}

}  // namespace
}  // namespace homenode::test
