// The coherence of the engine `line` under random sharing, millions of accesses: one writer or many readers, and a read returns the last
// write. The test keeps a version of each line in memory and in each core's path, moves them as the caches say (fates, write-backs), and
// compares with the version that was written last.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "models/caches/set_caches.hpp"
#include "tests/support/machines.hpp"

namespace homenode::test {
namespace {

// Small caches, so that lines are evicted all the time.
Machine small(Machine machine, Inclusion outermost, bool shared) {
  machine.caches[0].size = Bytes{1 << 10};
  machine.caches[0].ways = 2;
  machine.caches[1].size = Bytes{2 << 10};
  machine.caches[1].ways = 4;
  machine.caches[2].size = Bytes{8 << 10};
  machine.caches[2].ways = 4;
  for (CacheDescription& cache : machine.caches) cache.inclusion = Inclusion::non_inclusive;
  machine.caches[2].inclusion = outermost;
  if (outermost != Inclusion::inclusive) machine.caches[1].inclusion = Inclusion::exclusive;
  if (!shared) machine.caches.pop_back();  // as on Knights Corner: a core's second level is the outermost
  if (!shared) machine.caches[1].inclusion = Inclusion::inclusive;
  return machine;
}

struct Variant {
  const char* name;
  Inclusion outermost;
  bool shared, forwards;
};

class Coherence : public testing::TestWithParam<Variant> {};

TEST_P(Coherence, oneWriterOrManyReadersAndAReadReturnsTheLastWrite) {
  const Variant& variant = GetParam();
  const Machine machine = small(four_socket_mesh(3), variant.outermost, variant.shared);
  SetCaches caches{machine, 7, variant.forwards};
  std::mt19937_64 random{42};
  constexpr std::uint64_t lines = 512;
  // What a domain's path holds of each line; nothing known of private copies within it, which the newest of the domain must equal.
  std::vector<std::vector<std::uint64_t>> held(machine.cores(), std::vector<std::uint64_t>(lines, 0));
  std::vector<std::uint64_t> memory(lines, 0), newest(lines, 0);
  std::vector<int> last_writer(lines, -1);
  CacheOutcome outcome;
  std::uint64_t transfers = 0, memory_reads = 0, writebacks = 0, upgrades = 0;
  constexpr int steps = 400000;
  for (int step = 0; step < steps; ++step) {
    const std::size_t core = random() % machine.cores();
    // A few lines that all use, and many.
    const std::uint64_t line = random() % 3 == 0 ? random() % 16 : random() % lines;
    const bool writes = random() % 4 == 0;
    LineTouch touch{.lines = LineRange::of(line, line + 1), .reads = !writes, .writes = writes, .accesses = 1};
    outcome.clear();
    const LineFate fate = caches.access_line(CoreId{core}, LineNumber{line}, touch, outcome);
    switch (fate.from) {
      case LineFate::From::memory:
        ++memory_reads;
        ASSERT_EQ(memory[line], newest[line]) << "step " << step << ": memory answers with old data";
        break;
      case LineFate::From::transfer:
        ++transfers;
        ASSERT_NE(fate.owner, core);
        if (!fate.dirty)
          ASSERT_EQ(memory[line], newest[line]) << "step " << step << ": a clean copy of data that memory does not have";
        else
          ASSERT_EQ(held[static_cast<std::size_t>(last_writer[line])][line], newest[line]);
        break;
      case LineFate::From::cache: break;
      case LineFate::From::nowhere: FAIL() << "no bypassing stores here";
    }
    upgrades += fate.upgrade;
    if (writes) {
      newest[line] = static_cast<std::uint64_t>(step) + 1;
      last_writer[line] = static_cast<int>(core);
      held[core][line] = newest[line];
      // Nobody else holds it now.
      const SetCaches::Held state = caches.held(CoreId{core}, LineNumber{line});
      ASSERT_TRUE(state.here && state.dirty_here);
      ASSERT_FALSE(state.elsewhere || state.dirty_elsewhere) << "step " << step << ": a copy survived a write";
    } else if (step % 16 == 0) {
      const SetCaches::Held state = caches.held(CoreId{core}, LineNumber{line});
      ASSERT_TRUE(state.here) << "step " << step;
    }
    for (const LineRange& written : outcome.writebacks) {
      for (LineNumber back = written.first; back < written.last; ++back) {
        ++writebacks;
        memory[back.value()] = newest[back.value()];  // only newest data are ever dirty
      }
    }
  }
  EXPECT_GT(transfers, 1000U);
  EXPECT_GT(memory_reads, 1000U);
  EXPECT_GT(writebacks, 1000U);
  EXPECT_GT(upgrades, 100U);
  outcome.clear();
  caches.flush(outcome);
  for (const LineRange& written : outcome.writebacks)
    for (LineNumber back = written.first; back < written.last; ++back) memory[back.value()] = newest[back.value()];
  EXPECT_EQ(memory, newest);  // nothing is lost
}

INSTANTIATE_TEST_SUITE_P(All, Coherence,
                         testing::Values(Variant{"Mesi", Inclusion::inclusive, true, false},
                                         Variant{"Mesif", Inclusion::inclusive, true, true},
                                         Variant{"MoesiOfVictims", Inclusion::non_inclusive, true, false},
                                         Variant{"PrivateLevelsOnly", Inclusion::inclusive, false, false}),
                         [](const auto& info) { return info.param.name; });

// One line, two cores of different sockets: every stable state of the pair, every access by either. State of a core's path: M newest data
// and memory has older ones, S a clean copy, I none; O: newest data beside clean copies elsewhere.
TEST(ProtocolTable, isWhatEachProtocolSays) {
  struct Row {
    const char* before;  // of cores 0 and 3, by what led there: letters of who did what
    bool second_writes;  // then core 3 reads or writes
    LineFate::From from;
    bool upgrade, written_back;
    bool first_keeps;  // a copy
  };
  const auto check = [](Inclusion outermost, bool forwards, const std::vector<Row>& rows) {
    for (const Row& row : rows) {
      const Machine machine = small(two_sockets(3), outermost, true);
      SetCaches caches{machine, 0, forwards};
      CacheOutcome outcome;
      const auto access = [&](std::size_t core, bool writes) {
        outcome.clear();
        return caches.access_line(CoreId{core}, LineNumber{5},
                                  LineTouch{.lines = LineRange::of(5, 6), .reads = !writes, .writes = writes, .accesses = 1}, outcome);
      };
      for (const char* did = row.before; *did != 0; ++did) {  // r, w: core 0; R, W: core 3
        const bool second = *did == 'R' || *did == 'W';
        access(second ? 3 : 0, *did == 'w' || *did == 'W');
      }
      const LineFate fate = access(3, row.second_writes);
      const std::string what = std::string{row.before} + (row.second_writes ? " then W" : " then R");
      EXPECT_EQ(fate.from, row.from) << what;
      EXPECT_EQ(fate.upgrade, row.upgrade) << what;
      EXPECT_EQ(!outcome.writebacks.empty(), row.written_back) << what;
      EXPECT_EQ(caches.held(CoreId{0}, LineNumber{5}).here, row.first_keeps) << what;
    }
  };
  using From = LineFate::From;
  // MESI with a directory: clean data come from memory, newest ones from their owner, and a read of them updates memory.
  check(Inclusion::inclusive, false,
        {{"", false, From::memory, false, false, false},
         {"", true, From::memory, false, false, false},
         {"r", false, From::memory, false, false, true},
         {"r", true, From::memory, false, false, false},
         {"w", false, From::transfer, false, true, true},
         {"w", true, From::transfer, false, false, false},
         {"rR", false, From::cache, false, false, true},
         {"rR", true, From::cache, true, false, false},
         {"wR", false, From::cache, false, false, true},
         {"wR", true, From::cache, true, false, false},
         {"W", false, From::cache, false, false, false},
         {"W", true, From::cache, false, false, false},
         {"R", true, From::cache, false, false, false}});  // E to M without a word
  // MESIF: clean data come from the cache that got them last.
  check(Inclusion::inclusive, true,
        {{"r", false, From::transfer, false, false, true},
         {"r", true, From::transfer, false, false, false},
         {"w", false, From::transfer, false, true, true},
         {"rR", true, From::cache, true, false, false}});
  // MOESI: newest data are shared without memory knowing.
  check(Inclusion::non_inclusive, false,
        {{"r", false, From::memory, false, false, true},
         {"w", false, From::transfer, false, false, true},
         {"w", true, From::transfer, false, false, false},
         {"wR", true, From::cache, true, false, false}});
}

}  // namespace
}  // namespace homenode::test
