// C56 (S3, sections 3 and 4): threads that share data on one core meet in its private caches and touch local memory only, and give up
// working at the same time.
#include <gtest/gtest.h>

#include "models/run/run.hpp"
#include "sim/program/workload_builder.hpp"
#include "tests/support/accounted_run.hpp"
#include "tests/unit/sim/machine/test_machine.hpp"

namespace homenode {
namespace {

// Private first and second levels, a third one that the socket shares.
Machine two_sockets() {
  Machine machine = small_machine(2, 4, {{0, 1}});
  CacheDescription second = machine.caches[0];
  second.level = 2;
  second.size = Bytes{256 * 1024};
  second.latency = Time::nanoseconds(5);
  CacheDescription third = machine.caches[1];
  third.level = 3;
  third.size = Bytes{4 << 20};
  machine.caches = {machine.caches[0], second, third};
  return machine;
}

// Main creates `threads` threads. In each round one of them writes its part of a ring, and reads the part of the one before it, which
// wrote it in the round before; a barrier separates the rounds.
std::shared_ptr<Workload> ring(std::size_t threads, unsigned rounds) {
  constexpr std::int64_t part = 16 * 1024;
  WorkloadBuilder builder;
  const ObjectId numbers = builder.object("numbers", threads * part);
  const RegionId main = builder.serial("main");
  for (std::size_t t = 1; t <= threads; ++t) builder.sync(main, SyncOperation::create, t, t);
  for (std::size_t t = 1; t <= threads; ++t) builder.sync(main, SyncOperation::join, t);
  builder.repeat(main);
  for (std::size_t t = 0; t < threads; ++t) {
    const RegionId routine = builder.serial("routine " + std::to_string(t));
    const std::int64_t own = static_cast<std::int64_t>(t) * part, before = static_cast<std::int64_t>((t + threads - 1) % threads) * part;
    for (unsigned round = 0; round < rounds; ++round) {
      builder.nest(routine, {part / 8}, {write(numbers, own, {8})});
      builder.sync(routine, SyncOperation::barrier, 1, threads);
      builder.nest(routine, {part / 8}, {read(numbers, before, {8})});
      builder.sync(routine, SyncOperation::barrier, 1, threads);
    }
    WorkCounts work;
    work.instructions = work.integer = 2.0 * rounds * part / 8;
    builder.work(routine, work);
    builder.repeat(routine);
    builder.region(routine).kind = RegionKind::thread;
  }
  auto workload = builder.build();
  workload->threads.resize(threads + 1);
  return workload;
}

RunReport mapped(const Workload& workload, const std::string& mapping) {
  RunSpec options;
  options.threads = static_cast<unsigned>(workload.threads.size());
  options.mapping = mapping;
  return test::accounted_run(workload, two_sockets(), options);
}

// Of the lines that arrive at the first level, what the private levels serve.
double private_hit_rate(const EventCounts& counts) {
  double arriving = static_cast<double>(counts.memory_lines + counts.transfer_lines);
  for (const std::uint64_t hits : counts.hit_lines) arriving += static_cast<double>(hits);
  return static_cast<double>(counts.hit_lines[0] + counts.hit_lines[1]) / arriving;
}

double local_share(const EventCounts& counts) {
  double local = 0, all = 0;
  for (std::size_t from = 0; from < counts.nodes; ++from) {
    for (std::size_t home = 0; home < counts.nodes; ++home) {
      const auto bytes = static_cast<double>(counts.traffic_bytes[from * counts.nodes + home]);
      all += bytes;
      if (from == home) local += bytes;
    }
  }
  return all > 0 ? local / all : 1;
}

// Seconds worked in a second by all threads but main, which wakes up on a core of its own.
double parallelism(const RunReport& report) {
  Time busy;
  for (std::size_t t = 1; t < report.threads.size(); ++t) busy += report.threads[t].busy;
  return busy.seconds() / report.time.seconds();
}

TEST(SideBySideThreads, OnOneCoreHitTheirCachesAndLoseParallelism) {
  const auto workload = ring(4, 10);
  const RunReport together = mapped(*workload, "btdm"), apart = mapped(*workload, "scatter");
  for (std::size_t t = 2; t < together.threads.size(); ++t) EXPECT_EQ(together.threads[t].core, together.threads[1].core);
  EXPECT_GT(private_hit_rate(together.counts), private_hit_rate(apart.counts) + 0.1);
  EXPECT_LT(together.counts.transfer_lines, apart.counts.transfer_lines);
  EXPECT_GT(local_share(together.counts), local_share(apart.counts));
  EXPECT_DOUBLE_EQ(local_share(together.counts), 1);
  EXPECT_LE(parallelism(together), 1);
  EXPECT_GT(parallelism(apart), 1.5);
}

TEST(SideBySideThreads, OnOneCoreSwitchThreadsAndLetTheOthersSleep) {
  const auto workload = ring(4, 10);
  const RunReport together = mapped(*workload, "btdm"), apart = mapped(*workload, "scatter");
  std::uint64_t switches = 0;
  for (const CoreUse& core : together.cores) switches += core.switches;
  EXPECT_GE(switches, 3u * 2 * 10);  // at each of 20 barriers all but the last to come give the core up
  for (const CoreUse& core : apart.cores) EXPECT_LE(core.switches, 2u);
  std::uint64_t wakeups_together = 0, wakeups_apart = 0;
  for (const CoreUse& core : together.cores) wakeups_together += core.wakeups;
  for (const CoreUse& core : apart.cores) wakeups_apart += core.wakeups;
  EXPECT_LT(wakeups_together, wakeups_apart);  // a core with work for others does not sleep at a barrier
}

// 2400 threads on 8 cores (S3, section 4): time slices, and each thread done.
TEST(Oversubscription, ThousandsOfAutonomousThreadsOnEightCores) {
  constexpr std::size_t threads = 2400;
  WorkloadBuilder builder;
  const RegionId main = builder.serial("main");
  for (std::size_t t = 1; t <= threads; ++t) builder.sync(main, SyncOperation::create, t, t);
  for (std::size_t t = 1; t <= threads; ++t) builder.sync(main, SyncOperation::join, t);
  builder.repeat(main);
  const ObjectId numbers = builder.object("numbers", threads * 4096);
  for (std::size_t t = 0; t < threads; ++t) {
    const RegionId routine = builder.serial("routine " + std::to_string(t));
    builder.nest(routine, {512}, {write(numbers, static_cast<std::int64_t>(t) * 4096, {8})});
    builder.repeat(routine);
    builder.region(routine).kind = RegionKind::thread;
  }
  const auto workload = builder.build();
  workload->threads.resize(threads + 1);
  RunSpec options;
  options.threads = threads + 1;
  options.oversubscribe = true;
  for (const std::string mapping : {"btdm", "unpinned"}) {
    options.mapping = mapping;
    const RunReport report = test::accounted_run(*workload, two_sockets(), options);
    EXPECT_EQ(report.counts.accesses, threads * 512);
    // btdm: 300 threads a core, one after the other; on idle cores of either they begin with a waking. The first thread's core may have
    // been busy throughout.
    std::size_t without = 0;
    for (const CoreUse& core : report.cores) {
      without += core.wakeups == 0;
      if (mapping == "btdm") { EXPECT_GE(core.switches, 299u); }
    }
    EXPECT_LE(without, 1u) << mapping;
  }
}

}  // namespace
}  // namespace homenode
