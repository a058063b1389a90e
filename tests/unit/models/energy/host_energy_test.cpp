// The energy of cores against SimGrid's host-energy plugin, which integrates power over simulated time by itself: each core a host that
// executes for its busy time, then, in a state of another power, for its spinning time, and idles until the run ends.
#include <gtest/gtest.h>
#include <simgrid/plugins/energy.h>
#include <sys/wait.h>
#include <unistd.h>

#include <simgrid/s4u.hpp>

#include "models/energy/energy_model.hpp"
#include "models/run/run.hpp"
#include "sim/program/workload_builder.hpp"
#include "tests/unit/sim/machine/test_machine.hpp"

namespace homenode {
namespace {

constexpr double flops = 1e9;  // a second

double joules_by_simgrid(const EnergyModel& model, const RunReport& report) {
  namespace s4u = simgrid::s4u;
  int arguments = 3;
  char program[] = "cores", precision[] = "--cfg=surf/precision:1e-12", quiet[] = "--log=root.thresh:warning";
  char* argument[] = {program, precision, quiet, nullptr};
  s4u::Engine engine{&arguments, argument};
  sg_host_energy_plugin_init();
  s4u::NetZone* const zone = s4u::create_full_zone("cores");
  const std::string idle = std::to_string(model.core.idle.watts()), busy = std::to_string(model.core.busy.watts()),
                    spinning = std::to_string(model.core.spinning.watts());
  std::vector<s4u::Host*> hosts;
  for (std::size_t core = 0; core < report.cores.size(); ++core) {
    hosts.push_back(zone->create_host("core " + std::to_string(core), std::vector<double>{flops, flops}));
    hosts.back()->set_property("wattage_per_state", idle + ":" + busy + ":" + busy + "," + idle + ":" + spinning + ":" + spinning);
    hosts.back()->seal();
  }
  zone->seal();
  double joules = 0;
  for (std::size_t core = 0; core < hosts.size(); ++core) {
    const CoreUse use = report.cores[core];
    s4u::Actor::create("core", hosts[core], [use] {
      s4u::this_actor::execute(use.busy.seconds() * flops);
      s4u::this_actor::get_host()->set_pstate(1);
      s4u::this_actor::execute(use.spinning.seconds() * flops);
      s4u::this_actor::get_host()->set_pstate(0);
    });
  }
  s4u::Actor::create("end", hosts.front(), [&] {
    s4u::this_actor::sleep_until(report.time.seconds());
    for (s4u::Host* const host : hosts) joules += sg_host_get_consumed_energy(host);
  });
  engine.run();
  return joules;
}

// SimGrid has one engine a process and aborts it on errors of its own: it runs in one of its own (docs/decisions, 0005).
double in_a_process(const EnergyModel& model, const RunReport& report) {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  const pid_t child = fork();
  if (child == 0) {
    const double joules = joules_by_simgrid(model, report);
    const bool written = ::write(ends[1], &joules, sizeof joules) == sizeof joules;
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  double joules = -1;
  const bool complete = ::read(ends[0], &joules, sizeof joules) == sizeof joules;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return complete && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? joules : -1;
}

double states(const EnergyReport& energy) {
  double sum = 0;
  for (const EnergyComponent& component : energy.cores)
    if (component.name != "wakeups") sum += component.energy.joules();
  return sum;
}

TEST(HostEnergy, AgreesWithSimGridOnStatesMadeByHand) {
  const Machine machine = small_machine(1, 3, {});
  RunReport report;
  report.time = Time::from_seconds(2);
  report.cores = {{Time::from_seconds(1), Time::from_seconds(0.5)}, {Time::from_seconds(2), Time{}}, {}};
  const EnergyModel model;
  // 1 x 9 + 0.5 x 6 + 0.5 x 1.5, 2 x 9, 2 x 1.5
  EXPECT_NEAR(in_a_process(model, report), 9 + 3 + 0.75 + 18 + 3, 1e-6);
  EXPECT_NEAR(states(energy_of(model, machine, report)), 9 + 3 + 0.75 + 18 + 3, 1e-9);
}

TEST(HostEnergy, AgreesWithSimGridOnARun) {
  WorkloadBuilder builder;
  const ObjectId a = builder.object("a", 1 << 24);
  const RegionId init = builder.serial("init");
  builder.nest(init, {(1 << 24) / 8}, {write(a, 0, {8})});
  builder.repeat(init);
  const RegionId sweep = builder.loop("sweep", 100);
  builder.nest(sweep, {(1 << 16) / 8}, {read(a, 0, {8}, 1 << 16)});
  builder.repeat(sweep, 5);
  const Machine machine = small_machine(2, 4, {{0, 1}});
  RunSpec options;
  options.threads = 6;
  options.mapping = "scatter";
  const RunReport report = run(*builder.build(), machine, options);
  EnergyModel model;
  model.core.busy = Power::watts(10.5);
  model.core.spinning = Power::watts(7.25);
  const double expected = states(energy_of(model, machine, report));
  ASSERT_GT(expected, 0);
  EXPECT_NEAR(in_a_process(model, report) / expected, 1, 1e-6);
}

}  // namespace
}  // namespace homenode
