// The caches by lines on several host threads: every outcome is that of one thread.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <random>

#include "models/caches/set_caches.hpp"
#include "tests/support/machines.hpp"
#include "tests/unit/models/caches/programs.hpp"

namespace homenode::test {
namespace {

using Groups = std::vector<std::vector<LineTouch>>;

struct Batch {
  CoreId core;
  Groups groups;
};

// Rows, single lines, rows a page apart: shared among four cores, read, written, and stored past the caches. More of them where few of
// their lines are followed.
std::vector<Batch> random_batches(std::uint64_t seed, int count, unsigned one_in) {
  std::mt19937_64 random{seed};
  std::vector<Batch> batches;
  for (int i = 0; i < count; ++i) {
    Batch& batch = batches.emplace_back();
    batch.core = CoreId{static_cast<unsigned>(random() % 4)};
    const std::uint64_t groups = random() % 8 == 0 ? 1 : 1 + random() % (600 * one_in);
    for (std::uint64_t g = 0; g < groups; ++g) {
      std::vector<LineTouch>& group = batch.groups.emplace_back();
      for (std::uint64_t touches = 1 + random() % 4; touches > 0; --touches) {
        LineTouch touch;
        LineNumber first{(base_address >> 6) + random() % 60'000};
        if (random() % 4 == 0) first = LineNumber{first.value() & ~std::uint64_t{63}};
        touch.lines = {first, first + 1 + (random() % 4 == 0 ? random() % 40 : 0)};
        touch.writes = random() % 3 == 0;
        touch.reads = !touch.writes;
        touch.non_temporal = touch.writes && random() % 8 == 0;
        touch.accesses = 1 + random() % 9;
        touch.parallelism = static_cast<float>(1 + random() % 3);
        group.push_back(touch);
      }
    }
  }
  return batches;
}

template <class Range>
std::vector<std::pair<std::uint64_t, std::uint64_t>> lines_of(const std::vector<Range>& ranges) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> lines;
  for (const auto& range : ranges) {
    if constexpr (requires { range.lines; })
      lines.emplace_back(range.lines.first.value(), range.lines.last.value());
    else
      lines.emplace_back(range.first.value(), range.last.value());
  }
  return lines;
}

void expect_equal(const CacheOutcome& one, const CacheOutcome& other) {
  EXPECT_EQ(one.hit_lines, other.hit_lines);
  EXPECT_EQ(one.hit_weight, other.hit_weight);
  EXPECT_EQ(lines_of(one.reads), lines_of(other.reads));
  EXPECT_EQ(lines_of(one.writebacks), lines_of(other.writebacks));
  EXPECT_EQ(lines_of(one.non_temporal_writes), lines_of(other.non_temporal_writes));
  EXPECT_EQ(lines_of(one.transfers), lines_of(other.transfers));
  EXPECT_EQ(lines_of(one.upgraded), lines_of(other.upgraded));
  EXPECT_EQ(one.upgrades, other.upgrades);
  EXPECT_EQ(one.accesses, other.accesses);
  EXPECT_EQ(one.sampling_error, other.sampling_error);
  ASSERT_EQ(one.reads.size(), other.reads.size());
  for (std::size_t i = 0; i < one.reads.size(); ++i) EXPECT_EQ(one.reads[i].parallelism, other.reads[i].parallelism);
  ASSERT_EQ(one.transfers.size(), other.transfers.size());
  for (std::size_t i = 0; i < one.transfers.size(); ++i) EXPECT_EQ(one.transfers[i].owner, other.transfers[i].owner);
  ASSERT_EQ(one.upgraded.size(), other.upgraded.size());
  for (std::size_t i = 0; i < one.upgraded.size(); ++i) {
    EXPECT_EQ(one.upgraded[i].domains, other.upgraded[i].domains);
    EXPECT_EQ(one.upgraded[i].level, other.upgraded[i].level);
  }
}

// Returns how many batches passed on several threads.
int expect_the_outcome_of_one_thread(const Machine& machine, unsigned threads, bool forwards_clean, unsigned one_in) {
  SetCaches alone{machine, 5, forwards_clean, one_in};
  SetCaches beside{alone};
  beside.use_host_threads(threads);
  beside.insist_on_host_threads();
  int several = 0;
  std::mt19937_64 random{3};
  for (const Batch& batch : random_batches(11, 60, one_in)) {
    CacheOutcome of_one, of_several;
    for (const auto& group : batch.groups) {
      alone.access(batch.core, group, of_one);
      alone.touched_besides(7, 1);
    }
    if (batch.groups.size() > 1) {
      for (const auto& group : batch.groups) beside.expect(batch.core, group);
      several += beside.begin(batch.core) ? 1 : 0;
    }
    for (const auto& group : batch.groups) {
      beside.access(batch.core, group, of_several);
      beside.touched_besides(7, 1);
    }
    expect_equal(of_one, of_several);
    if (::testing::Test::HasFailure()) return several;
    if (random() % 4 == 0) {
      const LineNumber first{(base_address >> 6) + random() % 60'000};
      const bool discard = random() % 2 == 0;
      alone.drop({first, first + 640}, discard, of_one);
      beside.drop({first, first + 640}, discard, of_several);
      expect_equal(of_one, of_several);
    }
  }
  CacheOutcome of_one, of_several;
  alone.flush(of_one);
  beside.flush(of_several);
  expect_equal(of_one, of_several);
  return several;
}

struct Variant {
  std::string name;
  std::function<void(Machine&)> change;
  unsigned one_in = 1;
  bool forwards_clean = false;
};

const std::vector<Variant> variants{
    {"inclusive", [](Machine&) {}},
    {"forwards_clean", [](Machine&) {}, 1, true},
    {"slices", [](Machine& m) { m.caches[2].slices = 4; }},
    {"victims", [](Machine& m) { m.caches[2].inclusion = Inclusion::exclusive; }},
    {"non_inclusive", [](Machine& m) { m.caches[2].inclusion = Inclusion::non_inclusive; }},
    {"snoop_filter",
     [](Machine& m) {
       m.caches[2].inclusion = Inclusion::non_inclusive;
       m.caches[2].snoop_filter = Bytes{64 * 64 * 2};
       m.caches[2].snoop_filter_ways = 2;
     }},
    {"random_victims",
     [](Machine& m) {
       for (CacheDescription& cache : m.caches) cache.victim = Victim::random;
     }},
    {"sample", [](Machine&) {}, 8},
    {"sample_of_slices", [](Machine& m) { m.caches[2].slices = 4; }, 4},
};

class Lanes : public ::testing::TestWithParam<Variant> {};

TEST_P(Lanes, EveryOutcomeIsThatOfOneThread) {
  Machine machine = two_sockets(2);
  GetParam().change(machine);
  for (const unsigned threads : {2U, 3U})
    EXPECT_GT(expect_the_outcome_of_one_thread(machine, threads, GetParam().forwards_clean, GetParam().one_in), 5);
}

INSTANTIATE_TEST_SUITE_P(SetCaches, Lanes, ::testing::ValuesIn(variants), [](const auto& variant) { return variant.param.name; });

// Where lines of different places in their pages share a set, one thread passes them all.
TEST(SetCachesLanes, OneThreadWhereSetsAreFewerThanLinesOfAPage) {
  Machine machine = two_sockets(2);
  machine.caches[0].size = Bytes{32 * 64 * machine.caches[0].ways};
  EXPECT_EQ(expect_the_outcome_of_one_thread(machine, 2, false, 1), 0);
}

// By times that are told.
TEST(Pace, TakesTheFasterWayAndTriesTheOther) {
  for (const std::size_t faster : {0U, 1U}) {
    Pace pace;
    std::array<int, 2> taken{};
    for (std::uint64_t i = 0; i < 10 * Pace::tries; ++i) {
      const std::size_t way = pace.choose();
      ++taken[way];
      pace.took(way == faster ? 2e-6 : 3e-6, 100);
    }
    EXPECT_GE(taken[1 - faster], 10);
    EXPECT_LE(taken[1 - faster], 11);
  }
}

TEST(Pace, FollowsAHostThatChanges) {
  Pace pace;
  std::array<int, 2> late{};
  for (std::uint64_t i = 0; i < 20 * Pace::tries; ++i) {
    const bool changed = i >= 10 * Pace::tries;
    const std::size_t way = pace.choose();
    pace.took((way == 1) == changed ? 9e-6 : 3e-6, 100);
    if (i >= 11 * Pace::tries) ++late[way];
  }
  EXPECT_GE(late[0], 8 * static_cast<int>(Pace::tries));
}

TEST(SetCachesLanes, ACopyPassesLinesOnOneThread) {
  SetCaches caches{two_sockets(2)};
  caches.use_host_threads(2);
  EXPECT_GT(caches.touches_at_once(), SetCaches{two_sockets(2)}.touches_at_once());
  EXPECT_EQ(caches.clone()->touches_at_once(), SetCaches{two_sockets(2)}.touches_at_once());
}

}  // namespace
}  // namespace homenode::test
