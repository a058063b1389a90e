// The caches of the engine `line`, in whole runs, against the exact hierarchy: random reads, writes and bypassing stores of lines, whose
// order is fixed by program order (one thread), by barriers (a turn each) or by time (each thread computes, and accesses when nobody else
// does). Caches have at most 64 sets, so that pages' frames, which each side draws for itself, decide nothing: every count is equal.
#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <random>

#include "models/run/run.hpp"
#include "sim/program/workload_builder.hpp"
#include "tests/support/machines.hpp"
#include "tests/unit/models/caches/exact_cache_oracle.hpp"

namespace homenode::test {
namespace {

constexpr std::uint64_t lines = 1024, base = std::uint64_t{1} << 30;  // the oracle's; the engine has addresses of its own

struct Access {
  unsigned thread;
  std::uint64_t line;
  enum Kind { reads, writes, streams } kind;
};

struct Hierarchy {
  const char* name;
  Inclusion second, third;
  exact::Filling second_filling, third_filling;
  bool forwards = false;
};

constexpr std::array<std::int64_t, 3> sizes{1 << 10, 4 << 10, 24 << 10};
constexpr std::array<unsigned, 3> ways{2, 4, 12};  // 8, 16 and 32 sets

Machine machine_of(const Hierarchy& hierarchy) {
  Machine machine = four_socket_square(2);
  for (std::size_t level = 0; level < 3; ++level) {
    machine.caches[level].size = Bytes{sizes[level]};
    machine.caches[level].ways = ways[level];
  }
  machine.caches[1].inclusion = hierarchy.second;
  machine.caches[2].inclusion = hierarchy.third;
  machine.snoop = hierarchy.forwards ? SnoopMode::source : SnoopMode::directory;
  return machine;
}

exact::Hierarchy oracle_of(const Hierarchy& hierarchy) {
  const auto bytes = [](std::size_t level) { return static_cast<std::uint64_t>(sizes[level]); };
  return {{{bytes(0), ways[0], 1, 1, exact::Filling::inclusive},
           {bytes(1), ways[1], 1, 1, hierarchy.second_filling},
           {bytes(2), ways[2], 2, 1, hierarchy.third_filling}},
          8,
          base,
          lines * 64,
          11};
}

// Two to six lines one after the other, or every third one: loops, which caches see in the order of the program (line_touches.hpp; of
// irregular accesses a batch at a time in order of addresses).
struct Loop {
  unsigned thread;
  std::uint64_t first, count, step;
  Access::Kind kind;
};

// Some lines that all use and some of each thread's own. Nobody streams to one line twice in a row: stores that are combined.
class Draw {
public:
  explicit Draw(std::uint64_t seed) : random_{seed} { streamed_.fill(lines); }
  Loop operator()(unsigned thread) {
    while (true) {
      Loop loop{thread, 0, 1 + up_to(5), random_() % 4 == 0 ? 3U : 1U, Access::reads};
      const std::uint64_t where = random_() % 6;
      loop.first = where < 2 ? random_() % 48 : where == 2 ? random_() % (lines - 32) : 64 + 96 * thread + random_() % 80;
      const std::uint64_t kind = random_() % 16;
      if (kind < 6) loop.kind = kind == 0 ? Access::streams : Access::writes;
      if (loop.kind != Access::streams) return loop;
      if (std::exchange(streamed_[thread], loop.first + (loop.count - 1) * loop.step) != loop.first) return loop;
    }
  }
  std::uint64_t up_to(std::uint64_t most) { return 1 + random_() % most; }

private:
  std::mt19937_64 random_;
  std::array<std::uint64_t, 8> streamed_{};
};

// A program of 8 threads: the first writes every line, then what is described.
class Program {
public:
  Program() : data_{builder.object("data", lines * 64, ObjectKind::mapped)} {
    const RegionId init = builder.serial("init");
    builder.nest(init, {lines}, {write(data_, 0, {64})});
    builder.repeat(init);
    for (std::uint64_t line = 0; line < lines; ++line) order.push_back({0, line, Access::writes});
  }
  std::vector<Access> append(RegionId region, const Loop& loop) {
    const auto offset = static_cast<std::int64_t>(64 * loop.first), stride = static_cast<std::int64_t>(64 * loop.step);
    builder.nest(region, {static_cast<std::uint32_t>(loop.count)},
                 {loop.kind == Access::reads    ? read(data_, offset, {stride})
                  : loop.kind == Access::writes ? write(data_, offset, {stride})
                                                : streamed_write(data_, offset, {stride})});
    std::vector<Access> accesses;
    for (std::uint64_t k = 0; k < loop.count; ++k) accesses.push_back({loop.thread, loop.first + k * loop.step, loop.kind});
    return accesses;
  }
  void append_in_order(RegionId region, const Loop& loop) {
    for (const Access& access : append(region, loop)) order.push_back(access);
  }

  WorkloadBuilder builder;
  std::vector<Access> order;  // in which they get to the caches

private:
  ObjectId data_;
};

void expect_equal(const Hierarchy& hierarchy, Program& program, unsigned threads) {
  RunSpec options;
  options.engine = "line";
  options.threads = threads;
  options.stores = "nt";
  options.pages = "thp";  // none of the lines comes from where the kernel has just zeroed its page (fresh_pages.hpp)
  RunExtras extras;
  extras.quantum = Bytes{std::int64_t{1} << 30};
  const EventCounts counts = run(*program.builder.build(), machine_of(hierarchy), options, extras).counts;
  exact::Hierarchy oracle = oracle_of(hierarchy);
  for (const Access& access : program.order) {
    const std::uint64_t address = base + 64 * access.line;
    if (access.kind == Access::reads)
      oracle.read(access.thread, address);
    else if (access.kind == Access::writes)
      oracle.write(access.thread, address);
    else
      oracle.stream(access.thread, address);
  }
  oracle.flush();
  const auto sum = [](const std::vector<std::uint64_t>& values) { return std::accumulate(values.begin(), values.end(), std::uint64_t{0}); };
  // With forwarding what would come from memory may come from a clean copy.
  std::uint64_t clean = 0;
  if (const auto copies = counts.latency_ns.find("clean transfer"); copies != counts.latency_ns.end())
    for (const auto& [latency, number] : copies->second) clean += number;
  EXPECT_EQ(counts.accesses, oracle.counts.accesses);
  EXPECT_EQ(counts.hit_lines, oracle.counts.hits);
  EXPECT_EQ(sum(counts.read_bytes) / 64 + clean, oracle.counts.memory_reads);
  EXPECT_EQ(sum(counts.write_bytes) / 64, oracle.counts.writebacks + oracle.counts.streamed);
  EXPECT_EQ(counts.transfer_lines - clean, oracle.counts.transfers);
  EXPECT_EQ(counts.upgrade_lines, oracle.counts.upgrades);
  EXPECT_EQ(clean > 0, hierarchy.forwards && threads > 1);
  EXPECT_GT(oracle.counts.memory_reads, 1000U);
  EXPECT_GT(oracle.counts.writebacks, 1000U);
  if (threads > 1) {
    EXPECT_GT(oracle.counts.transfers, 500U);
    EXPECT_GT(oracle.counts.upgrades, 500U);
  }
}

class LineEngineAndOracle : public testing::TestWithParam<Hierarchy> {};

TEST_P(LineEngineAndOracle, countTheSameForOneThread) {
  Program program;
  const RegionId walk = program.builder.serial("walk");
  Draw draw{1};
  for (int k = 0; k < 10'000; ++k) program.append_in_order(walk, draw(0));
  program.builder.repeat(walk);
  expect_equal(GetParam(), program, 1);
}

TEST_P(LineEngineAndOracle, countTheSameForThreadsThatTakeTurns) {
  // Each execution is one thread's, with a barrier behind it.
  Program program;
  const RegionId turn = program.builder.bound("turn", 8);
  Draw draw{2};
  for (int k = 0; k < 5'000; ++k) {
    program.builder.clear(turn);
    const auto thread = static_cast<unsigned>(draw.up_to(8) - 1);
    if (thread > 0) program.builder.next_block(turn, thread);
    for (std::uint64_t left = draw.up_to(4); left > 0; --left) program.append_in_order(turn, draw(thread));
    program.builder.next_block(turn, thread + 1);
    program.builder.next_block(turn, 8);
    program.builder.repeat(turn);
  }
  expect_equal(GetParam(), program, 8);
}

TEST_P(LineEngineAndOracle, countTheSameForThreadsWhoseTimesDiffer) {
  // Thread t begins t x 10 us late and makes an access every 80 us: no two within 10 us, while a line takes 0.5 us at most. A cycle of 0.5
  // ns an addition.
  constexpr int accesses = 4'000;
  constexpr double cycles_apart = 20'000;
  Program program;
  program.builder.parallel(1);
  const RegionId late = program.builder.bound("late", 8), walk = program.builder.bound("walk", 8);
  for (unsigned thread = 0; thread < 8; ++thread) {
    WorkCounts wait;
    wait.fp_add = thread * cycles_apart;
    program.builder.work(late, wait);
    program.builder.next_block(late, thread + 1);
  }
  program.builder.barrier(program.builder.repeat(late), false);
  Draw draw{3};
  std::array<std::vector<Access>, 8> of_thread;
  for (unsigned thread = 0; thread < 8; ++thread) {
    std::vector<Access>& own = of_thread[thread];
    while (own.size() < accesses) {
      Loop loop = draw(thread);
      loop.count = std::min<std::uint64_t>(loop.count, accesses - own.size());
      for (const Access& access : program.append(walk, loop)) own.push_back(access);
    }
    WorkCounts work;
    work.fp_add = accesses * 8 * cycles_apart;
    program.builder.work(walk, work);
    program.builder.next_block(walk, thread + 1);
  }
  program.builder.repeat(walk);
  for (std::size_t k = 0; k < accesses; ++k)
    for (const std::vector<Access>& own : of_thread) program.order.push_back(own[k]);
  expect_equal(GetParam(), program, 8);
}

INSTANTIATE_TEST_SUITE_P(Hierarchies, LineEngineAndOracle,
                         testing::Values(Hierarchy{"inclusive", Inclusion::inclusive, Inclusion::inclusive, exact::Filling::inclusive,
                                                   exact::Filling::inclusive},
                                         Hierarchy{"inclusive_that_forwards", Inclusion::inclusive, Inclusion::inclusive,
                                                   exact::Filling::inclusive, exact::Filling::inclusive, true},
                                         Hierarchy{"exclusive", Inclusion::inclusive, Inclusion::exclusive, exact::Filling::inclusive,
                                                   exact::Filling::by_evictions},
                                         Hierarchy{"victims", Inclusion::exclusive, Inclusion::non_inclusive, exact::Filling::by_evictions,
                                                   exact::Filling::by_evictions_shared}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace homenode::test
