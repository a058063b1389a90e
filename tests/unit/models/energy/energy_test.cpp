// Joules: every equation of energy_model.hpp once, and what must hold whatever the numbers.
#include <gtest/gtest.h>

#include <filesystem>

#include "models/energy/energy_file.hpp"
#include "models/run/run.hpp"
#include "sim/base/errors.hpp"
#include "sim/program/workload_builder.hpp"
#include "tests/support/source_folder.hpp"
#include "tests/unit/sim/machine/test_machine.hpp"

namespace homenode {
namespace {

const std::filesystem::path folder = test::source_folder() / "models" / "energy";

double component(const EnergyReport& report, const std::string& name) {
  for (const auto& list : {report.components, report.cores, report.background})
    for (const EnergyComponent& entry : list)
      if (entry.name == name) return entry.energy.joules();
  ADD_FAILURE() << "no component " << name;
  return 0;
}

RunReport idle_run(const Machine& machine, double seconds) {
  RunReport report;
  report.time = Time::from_seconds(seconds);
  report.cores.resize(machine.cores());
  report.counts.hit_lines.assign(machine.caches.size(), 0);
  return report;
}

TEST(PowerUnits, ReadAndWritten) {
  EXPECT_DOUBLE_EQ(parse_energy("20 pJ").joules(), 20e-12);
  EXPECT_DOUBLE_EQ(parse_energy("1.5 mJ").joules(), 1.5e-3);
  EXPECT_DOUBLE_EQ(parse_power("250 mW").watts(), 0.25);
  EXPECT_EQ(to_string(parse_energy("1.6 nJ")), "1.6 nJ");
  EXPECT_EQ(to_string(parse_power("9 W")), "9 W");
  EXPECT_THROW(parse_power("9 J"), UnitError);
  EXPECT_THROW(parse_energy("-1 J"), UnitError);
  // 3 W x 2 s = 6 J
  EXPECT_DOUBLE_EQ((Power::watts(3) * Time::from_seconds(2)).joules(), 6);
}

// An idle machine: (sockets x P_s + controllers x P_c + links x P_l + cores x P_idle) x time.
TEST(EnergyModel, AnIdleMachineConsumesItsStaticPowerTimesTime) {
  const Machine machine = small_machine(2, 4, {{0, 1}});
  const EnergyModel model;
  const EnergyReport energy = energy_of(model, machine, idle_run(machine, 3));
  EXPECT_DOUBLE_EQ(component(energy, "static"), (2 * 20 + 2 * 8 + 1 * 1.5) * 3);
  EXPECT_DOUBLE_EQ(component(energy, "idle"), 8 * 1.5 * 3);
  EXPECT_DOUBLE_EQ(energy.total().joules(), (2 * 20 + 2 * 8 + 1 * 1.5 + 8 * 1.5) * 3);
}

// Core 0 works 1 s and spins 0.5 s of 2 s, core 1 sleeps but for 3 wakings.
TEST(EnergyModel, CoresByState) {
  const Machine machine = small_machine(1, 2, {});
  RunReport report = idle_run(machine, 2);
  report.cores[0].busy = Time::from_seconds(1);
  report.cores[0].spinning = Time::from_seconds(0.5);
  report.cores[1].wakeups = 3;
  const EnergyReport energy = energy_of({}, machine, report);
  EXPECT_DOUBLE_EQ(component(energy, "busy"), 9);
  EXPECT_DOUBLE_EQ(component(energy, "spinning"), 3);
  EXPECT_DOUBLE_EQ(component(energy, "idle"), (0.5 + 2) * 1.5);
  EXPECT_DOUBLE_EQ(component(energy, "wakeups"), 3 * 100e-6);
  EXPECT_DOUBLE_EQ(component(energy, "cores"), 9 + 3 + 3.75 + 3e-4);
}

// Where the time is a bound of 2 s, cores may have worked and spun for longer: 9 W x (2 + 0.5), 6 W x (0 + 1.5), nobody idle.
TEST(EnergyModel, NoCoreIsAwakeForLongerThanTheRun) {
  const Machine machine = small_machine(1, 2, {});
  RunReport report = idle_run(machine, 2);
  report.cores[0].busy = Time::from_seconds(3);
  report.cores[0].spinning = Time::from_seconds(1);
  report.cores[1].busy = Time::from_seconds(0.5);
  report.cores[1].spinning = Time::from_seconds(9);
  const EnergyReport energy = energy_of({}, machine, report);
  EXPECT_DOUBLE_EQ(component(energy, "busy"), 9 * 2.5);
  EXPECT_DOUBLE_EQ(component(energy, "spinning"), 6 * 1.5);
  EXPECT_DOUBLE_EQ(component(energy, "idle"), 0);
}

TEST(EnergyModel, EventsAndBytes) {
  const Machine machine = small_machine(2, 2, {{0, 1}});  // a private first level, a second one that its socket shares
  RunReport report = idle_run(machine, 0);
  report.counts.accesses = 1000;
  report.counts.hit_lines = {500, 100};
  report.counts.transfer_lines = 10;
  report.counts.read_bytes = {6400, 640};
  report.counts.write_bytes = {64, 0};
  report.counts.link_bytes = {720, 80};
  const EnergyReport energy = energy_of({}, machine, report);
  EXPECT_DOUBLE_EQ(component(energy, "caches"), 1000 * 20e-12 + 100 * 800e-12 + 10 * 1600e-12);
  EXPECT_DOUBLE_EQ(component(energy, "controllers"), 7040 * 240e-12 + 64 * 240e-12);
  EXPECT_DOUBLE_EQ(component(energy, "links"), 800 * 120e-12);
}

// A serial and a parallel region on real engines.
std::shared_ptr<Workload> program() {
  WorkloadBuilder builder;
  const ObjectId a = builder.object("a", 1 << 22);
  const RegionId init = builder.serial("init");
  builder.nest(init, {(1 << 22) / 8}, {write(a, 0, {8})});
  builder.repeat(init);
  const RegionId sweep = builder.loop("sweep", 64);
  builder.nest(sweep, {(1 << 16) / 8}, {read(a, 0, {8}, 1 << 16)});
  builder.repeat(sweep, 3);
  return builder.build();
}

class EnergyOfRuns : public ::testing::TestWithParam<std::string> {};

TEST_P(EnergyOfRuns, IsConserved) {
  const Machine machine = small_machine(2, 4, {{0, 1}});
  RunSpec options;
  options.threads = 8;
  options.engine = GetParam();
  const RunReport report = run(*program(), machine, options);
  // Every core's time is that of the threads that ran on it.
  Time of_threads, of_cores;
  for (const ThreadReport& thread : report.threads) of_threads += thread.busy;
  for (const CoreUse& core : report.cores) {
    of_cores += core.busy;
    EXPECT_LE(core.busy + core.spinning, report.time);
    EXPECT_GE(core.wakeups, 1u);
    EXPECT_EQ(core.switches, 0u);  // one thread a core
  }
  EXPECT_EQ(of_threads, of_cores);
  const EnergyReport energy = energy_of({}, machine, report);
  double sum = 0;
  for (const EnergyComponent& entry : energy.components) {
    EXPECT_GT(entry.energy.joules(), 0) << entry.name;
    sum += entry.energy.joules();
  }
  EXPECT_DOUBLE_EQ(sum, energy.total().joules());
  double cores = 0;
  for (const EnergyComponent& entry : energy.cores) cores += entry.energy.joules();
  EXPECT_DOUBLE_EQ(cores, component(energy, "cores"));
}

// Twice the price of everything is twice the energy.
TEST_P(EnergyOfRuns, ScalesWithItsParameters) {
  const Machine machine = small_machine(2, 4, {{0, 1}});
  RunSpec options;
  options.threads = 4;
  options.engine = GetParam();
  const RunReport report = run(*program(), machine, options);
  EnergyModel once, twice;
  for (Power* power : {&twice.core.busy, &twice.core.spinning, &twice.core.idle, &twice.background.socket, &twice.background.controller,
                       &twice.background.link})
    *power = *power * 2;
  for (Energy* energy : {&twice.core.wakeup, &twice.cache.first_level, &twice.cache.private_line, &twice.cache.shared_line,
                         &twice.cache.transfer, &twice.controller.read, &twice.controller.write, &twice.link.byte})
    *energy = *energy * 2;
  EXPECT_NEAR(energy_of(twice, machine, report).total().joules(), 2 * energy_of(once, machine, report).total().joules(), 1e-12);
}

INSTANTIATE_TEST_SUITE_P(engines, EnergyOfRuns, ::testing::Values("flow", "simgrid", "line"),
                         [](const auto& tested) { return tested.param; });

// One thread and the same caches: flow and line count the same accesses, hits and bytes, so that what depends on them costs the same
// joules, and the rest differs as the times do:
//   caches, controllers, links   first_level x accesses + ... : equal
//   static                       P x time:                    E_line / T_line = E_flow / T_flow
//   cores                        9 W x busy + 1.5 W x (cores x T - busy) + 100 uJ x wakeups, each by its own times
TEST(EnergyOfEngines, IsTheSameWhereTheyCountTheSame) {
  const Machine machine = small_machine(2, 4, {{0, 1}});
  for (const char* placement : {"bind:0", "interleave", "bind:1"}) {
    RunSpec options;
    options.threads = 1;
    options.caches = "lines";
    options.placement = placement;
    const RunReport flow = run(*program(), machine, options);
    options.engine = "line";
    const RunReport line = run(*program(), machine, options);
    ASSERT_EQ(line.counts.accesses, flow.counts.accesses);
    ASSERT_EQ(line.counts.hit_lines, flow.counts.hit_lines);
    ASSERT_EQ(line.counts.read_bytes, flow.counts.read_bytes);
    ASSERT_EQ(line.counts.write_bytes, flow.counts.write_bytes);
    ASSERT_EQ(line.counts.link_bytes, flow.counts.link_bytes) << placement;
    const EnergyReport by_flow = energy_of({}, machine, flow), by_line = energy_of({}, machine, line);
    for (const char* counted : {"caches", "controllers", "links"})
      EXPECT_DOUBLE_EQ(component(by_line, counted), component(by_flow, counted)) << placement << ' ' << counted;
    ASSERT_NE(line.time, flow.time);
    EXPECT_DOUBLE_EQ(component(by_line, "static") / line.time.seconds(), component(by_flow, "static") / flow.time.seconds());
    for (const auto& [report, energy] : {std::pair{&flow, &by_flow}, std::pair{&line, &by_line}}) {
      const double busy = report->threads.front().busy.seconds();
      EXPECT_DOUBLE_EQ(component(*energy, "busy"), 9 * busy);
      EXPECT_NEAR(component(*energy, "idle"), 1.5 * (8 * report->time.seconds() - busy), 1e-12);
    }
  }
}

TEST(EnergyFile, DefaultsAreThoseOfTheFile) {
  const EnergyFile file = read_energy_file(folder / "default.toml");
  const Machine machine = small_machine(2, 4, {{0, 1}});
  RunReport report = idle_run(machine, 2);
  report.cores[0] = {Time::from_seconds(1), Time::from_seconds(0.5), 2, 5};
  report.counts.accesses = 1'000'000'000;
  report.counts.hit_lines = {500, 1'000'000'000};
  report.counts.transfer_lines = 1'000'000'000;
  report.counts.read_bytes = {1'000'000'000, 0};
  report.counts.write_bytes = {0, 3'000'000'000};
  report.counts.link_bytes = {7'000'000'000, 0};
  EXPECT_DOUBLE_EQ(energy_of(file.model, machine, report).total().joules(), energy_of({}, machine, report).total().joules());
  for (const MachineParameter& parameter : file.parameters) {
    EXPECT_TRUE(parameter.low && parameter.high) << parameter.path;
    EXPECT_TRUE(parameter.assumed) << parameter.path;
  }
}

// static.socket from 10 W to 40 W, described as 20 W: 2 sockets x 2 s more or less.
TEST(EnergyFile, SensitivityMovesOneParameterAtATime) {
  const EnergyFile file = read_energy_file(folder / "default.toml");
  const Machine machine = small_machine(2, 4, {{0, 1}});
  const RunReport report = idle_run(machine, 2);
  const double total = energy_of(file.model, machine, report).total().joules();
  const auto all = energy_sensitivity(file, machine, report);
  EXPECT_EQ(all.size(), file.parameters.size());
  for (const EnergySensitivity& one : all) {
    EXPECT_LE(one.low.joules(), total) << one.parameter;
    EXPECT_GE(one.high.joules(), total) << one.parameter;
    if (one.parameter != "static.socket") continue;
    EXPECT_DOUBLE_EQ(one.low.joules(), total - 10 * 2 * 2);
    EXPECT_DOUBLE_EQ(one.high.joules(), total + 20 * 2 * 2);
  }
}

TEST(EnergyFile, RefusesWhatItDoesNotKnow) {
  const std::string head = "schema = \"homenode.energy/1\"\nname = \"x\"\n[sources]\nS = \"s\"\n";
  EXPECT_THROW(parse_energy_file(head + "[cores]\nbusy = { value = \"1 W\", source = \"S\" }\n", "x.toml"), InputError);
  EXPECT_THROW(parse_energy_file(head + "[core]\nbusy = { value = \"1 J\", source = \"S\" }\n", "x.toml"), InputError);
  EXPECT_DOUBLE_EQ(parse_energy_file(head + "[core]\nbusy = { value = \"1 W\", source = \"S\" }\n", "x.toml").model.core.busy.watts(), 1);
}

}  // namespace
}  // namespace homenode
