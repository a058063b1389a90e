// Locks and barriers as words that cores write for each other: idle machines, one signal, then a tree of them.
#include <gtest/gtest.h>

#include "models/engines/line/line_engine.hpp"
#include "models/machines/machine_file.hpp"
#include "sim/loop/barrier.hpp"
#include "sim/machine/ring_geometry.hpp"
#include "sim/machine/team_costs.hpp"
#include "sim/program/workload_builder.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/source_folder.hpp"

namespace homenode::test {
namespace {

struct Team {
  Team(Machine described, std::size_t threads) : machine{std::move(described)}, topology{machine} {
    WorkloadBuilder builder;
    builder.repeat(builder.serial("nothing"));
    workload = builder.build();
    engine = std::make_unique<LineEngine>(*workload, machine, topology, EngineOptions{});
    for (std::size_t t = 0; t < threads; ++t)
      places.push_back({ThreadId{t}, CoreId{t}, machine.node_of(CoreId{t}), Time::nanoseconds(1000)});
  }
  Time signal(std::size_t from, std::size_t to) { return *engine->signal(places[from], places[to]) - places[from].now; }

  Machine machine;
  Topology topology;
  std::shared_ptr<Workload> workload;
  std::unique_ptr<LineEngine> engine;
  std::vector<Place> places;
};

TEST(Signal, takesACoreToCoreLatencyAndOccupiesLinks) {
  Team team{two_sockets(), 8};
  EXPECT_EQ(team.signal(0, 1), Time::nanoseconds(40));
  EXPECT_EQ(team.signal(0, 4), Time::nanoseconds(100));
  // 72 B over 12 GB/s: the next line waits 6 ns for the link.
  EXPECT_EQ(team.signal(0, 5), Time::nanoseconds(106));
  EXPECT_EQ(team.signal(4, 0), Time::nanoseconds(100)) << "the other direction is free";
  EXPECT_EQ(team.signal(3, 3), Time{});
}

TEST(Signal, onARingTakesItsWayRound) {
  Team team{load_machine(test::source_folder() / "models/machines/knc-5110p.toml"), 60};
  const RingGeometry ring{team.machine};
  const PhysicalMemory memory{team.machine, Bytes{4096}, 0};
  for (const std::size_t to : {1U, 17U, 44U}) {
    const std::size_t tour =
        ring.tour(ring.stop_of_core(CoreId{to}), ring.stop_of_directory(ring.directory_of(memory.line(LineNumber{to}))),
                  ring.stop_of_core(CoreId{0}));
    EXPECT_EQ(team.signal(0, to), ring.fixed_transfer_latency() + ring.hop() * static_cast<std::int64_t>(tour)) << to;
  }
}

TEST(Meeting, isATreeOfSignals) {
  Team team{two_sockets(), 8};
  // 7 tells 6, 6 tells 4 (40 ns each), 4 tells 0 (100 ns); down to 4 (100 ns), 6 and 7 (40 ns each).
  EXPECT_EQ(barrier_latency(*team.engine, team.places, 7), Time::nanoseconds(360));
  Team again{two_sockets(), 8};
  EXPECT_EQ(barrier_latency(*again.engine, again.places, 0), Time::nanoseconds(180)) << "the root came last";
  Team alone{two_sockets(), 1};
  EXPECT_EQ(barrier_latency(*alone.engine, alone.places, 0), Time{});
}

TEST(Meeting, isWithinTheFormulaOnAnIdleMachine) {
  for (const std::size_t threads : {2U, 3U, 5U, 8U}) {
    for (std::size_t last = 0; last < threads; ++last) {
      Team team{four_socket_mesh(2), threads};
      std::vector<CoreId> cores;
      for (const Place& place : team.places) cores.push_back(place.core);
      const Time formula = team_costs(team.machine, cores).barrier - team.machine.barrier_base;
      // Links are held for 6 ns a message: at most so much for every thread.
      EXPECT_LE(*barrier_latency(*team.engine, team.places, last), 2 * formula + Time::nanoseconds(6.0 * static_cast<double>(threads)))
          << threads << ", last " << last;
      EXPECT_GE(*barrier_latency(*team.engine, team.places, last), team.machine.core_to_core_local);
    }
  }
}

}  // namespace
}  // namespace homenode::test
