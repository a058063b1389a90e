// Lines of pages that the kernel has just zeroed: who finds them in which cache, and until when.
#include "models/engines/parts/fresh_pages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/placement/register.hpp"
#include "sim/memory/address_space.hpp"
#include "sim/program/recorded.hpp"
#include "sim/program/workload_builder.hpp"
#include "tests/support/machines.hpp"

namespace homenode::test {
namespace {

using testing::ElementsAre;
using testing::Eq;
using testing::Optional;
using testing::Pair;

constexpr std::int64_t page = 4096, lines_of_page = 64;

// An array of 64 pages. Two sockets of two cores: each core has 8 KiB and then 32 KiB, each socket 128 KiB for both.
struct Bench {
  explicit Bench(bool fresh = true, std::uint64_t pages_in_use = 0) : machine{two_sockets(2)} {
    machine.caches = {cache(1, 8, 1), cache(2, 32, 1), cache(3, 128, 2)};
    WorkloadBuilder builder;
    const ObjectId array = builder.object("array", 64 * page, ObjectKind::mapped);
    workload = builder.build();
    policy = page_placements().make("bind:0");
    policy->prepare(nullptr, machine);
    addresses.emplace(machine, *workload, *policy, Bytes{page});
    const Address base = addresses->address(array, ThreadId{0u});
    first = line_of(base, 64);
    std::vector<PageNumber> in_use;
    for (std::uint64_t number = 0; number < pages_in_use; ++number) in_use.push_back(addresses->page_of(base) + number);
    pages.emplace();
    if (fresh) *pages = FreshPages{machine, page, 64, in_use};
    pages->number_from(line_of(addresses->first_byte(PageNumber{0}), 64));
  }
  static CacheDescription cache(unsigned level, std::int64_t kib, unsigned cores) {
    CacheDescription description;
    description.level = level;
    description.size = Bytes{kib << 10};
    description.ways = 8;
    description.line = Bytes{64};
    description.cores_per_cache = cores;
    return description;
  }
  LineRange lines(std::uint64_t from, std::uint64_t to) const { return {first + from, first + to}; }
  LineRange page_lines(std::uint64_t from, std::uint64_t to) const { return lines(from * lines_of_page, to * lines_of_page); }
  std::optional<std::size_t> ask(std::uint64_t line, unsigned core = 0) { return pages->serve(CoreId{core}, first + line); }
  // The caches have passed these on; what is left for memory. `hits`: by level.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> pass(std::vector<LineRange> reads, unsigned core = 0) {
    CacheOutcome outcome;
    outcome.hit_lines.assign(3, 0);
    outcome.hit_weight.assign(3, 0);
    const FreshPages::End end = FreshPages::end_of(outcome);
    for (const LineRange& range : reads) outcome.reads.push_back({range, 4});
    pages->serve(CoreId{core}, end, outcome);
    hits = outcome.hit_lines;
    weight = outcome.hit_weight;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> left;
    for (const MissRange& miss : outcome.reads) left.emplace_back(miss.lines.first - first, miss.lines.last - first);
    return left;
  }

  Machine machine;
  std::shared_ptr<Workload> workload;
  std::shared_ptr<PagePlacement> policy;
  std::optional<AddressSpace> addresses;
  std::optional<FreshPages> pages;
  LineNumber first;
  std::vector<std::uint64_t> hits;
  std::vector<double> weight;
};

TEST(FreshPagesTest, aLineOfAPageJustZeroedIsInTheFirstCacheOnce) {
  Bench bench;
  EXPECT_THAT(bench.ask(5), Optional(0U));
  EXPECT_THAT(bench.ask(63), Optional(0U));
  EXPECT_THAT(bench.ask(5), Eq(std::nullopt)) << "asked for again: the caches have lost it since";
}

TEST(FreshPagesTest, linesComeFromTheInnermostLevelThatHoldsAllTakenInSince) {
  Bench bench;
  bench.ask(0);
  const auto zero_page = [&](std::uint64_t number) { bench.ask(number * lines_of_page); };
  zero_page(1);
  EXPECT_THAT(bench.ask(1), Optional(0U)) << "8 KiB";
  zero_page(2);
  EXPECT_THAT(bench.ask(2), Optional(1U)) << "12 KiB";
  for (std::uint64_t number = 3; number < 9; ++number) zero_page(number);
  EXPECT_THAT(bench.ask(3), Optional(2U)) << "36 KiB";
  for (std::uint64_t number = 9; number < 16; ++number) zero_page(number);
  EXPECT_THAT(bench.ask(4), Optional(2U)) << "64 KiB, half of the outermost cache";
  zero_page(16);
  EXPECT_THAT(bench.ask(5), Eq(std::nullopt));
  EXPECT_THAT(bench.ask(lines_of_page + 1), Eq(std::nullopt)) << "64 KiB were zeroed from this page on, and one line read";
  EXPECT_THAT(bench.ask(2 * lines_of_page + 1), Optional(2U));
}

TEST(FreshPagesTest, linesFromMemoryPushZeroedOnesOut) {
  Bench bench{true, 32};
  bench.ask(40 * lines_of_page);
  EXPECT_THAT(bench.pass({bench.page_lines(0, 1)}), ElementsAre(Pair(0, 64))) << "in use before";
  EXPECT_THAT(bench.ask(40 * lines_of_page + 1), Optional(0U)) << "8 KiB";
  bench.ask(lines_of_page);
  EXPECT_THAT(bench.ask(40 * lines_of_page + 2), Optional(1U)) << "and one line";
  bench.pass({bench.page_lines(2, 18)});
  EXPECT_THAT(bench.ask(40 * lines_of_page + 3), Eq(std::nullopt));
}

TEST(FreshPagesTest, otherCoresFindThemInACacheThatTheyShare) {
  Bench bench;
  bench.ask(0, 0);
  EXPECT_THAT(bench.ask(1, 1), Optional(2U)) << "of its socket";
  EXPECT_THAT(bench.ask(2, 2), Eq(std::nullopt)) << "of the other one";
}

TEST(FreshPagesTest, readsAreCutWhereMemoryServesThem) {
  Bench bench;
  bench.ask(3);
  EXPECT_THAT(bench.pass({bench.lines(0, 8), bench.lines(64, 128)}), ElementsAre(Pair(3, 4)));
  EXPECT_THAT(bench.hits, ElementsAre(71, 0, 0));
  EXPECT_DOUBLE_EQ(bench.weight[0], 71.0 / 4) << "four at a time";
}

TEST(FreshPagesTest, readsThatWereThereBeforeStay) {
  Bench bench;
  CacheOutcome outcome;
  outcome.hit_lines.assign(3, 0);
  outcome.hit_weight.assign(3, 0);
  outcome.reads = {{bench.lines(0, 4), 4}};
  const FreshPages::End end = FreshPages::end_of(outcome);
  outcome.reads.back().lines.last = bench.first + 8;
  bench.pages->serve(CoreId{0u}, end, outcome);
  ASSERT_EQ(outcome.reads.size(), 1U);
  EXPECT_EQ(outcome.reads.front().lines.last, bench.first + 4);
  EXPECT_EQ(outcome.hit_lines[0], 4U);
}

TEST(FreshPagesTest, nonTemporalStoresTakeLinesOutOfTheCaches) {
  Bench bench;
  bench.pages->write_past(CoreId{0u}, bench.lines(0, 4));
  EXPECT_THAT(bench.ask(0), Eq(std::nullopt));
  EXPECT_THAT(bench.ask(4), Optional(0U));
}

TEST(FreshPagesTest, pagesGivenBackAreZeroedAgain) {
  Bench bench;
  bench.pass({bench.page_lines(0, 2)});
  bench.pages->give_back(bench.lines(0, 100));
  EXPECT_THAT(bench.ask(0), Optional(0U));
  EXPECT_THAT(bench.ask(64), Eq(std::nullopt)) << "28 lines of the page are still there";
}

TEST(FreshPagesTest, pagesThatMovedAreInMemory) {
  Bench bench;
  bench.ask(0);
  bench.pages->move(bench.page_lines(0, 2));
  EXPECT_THAT(bench.ask(1), Eq(std::nullopt));
  EXPECT_THAT(bench.ask(64), Optional(0U)) << "nobody had come to it";
}

TEST(FreshPagesTest, withoutThemMemoryServesAll) {
  Bench bench{false};
  EXPECT_THAT(bench.ask(0), Eq(std::nullopt));
  EXPECT_THAT(bench.pass({bench.lines(1, 4)}), ElementsAre(Pair(1, 4)));
}

TEST(FreshPagesTest, aPageHasToFitIntoACoresShareOfACache) {
  const Bench bench;
  const auto zeroed = [&](std::int64_t small, std::int64_t huge) {
    return are_zeroed_in_caches(*bench.workload, bench.machine, Bytes{small}, Bytes{huge});
  };
  EXPECT_TRUE(zeroed(page, 0));
  EXPECT_TRUE(zeroed(64 << 10, 0));
  EXPECT_FALSE(zeroed(128 << 10, 0));
  EXPECT_FALSE(zeroed(page, 2 << 20));
}

TEST(FreshPagesTest, whatWasThereBeforeATraceWithoutObjectsIsNotKnown) {
  const Bench bench;
  bench.workload->lacks = {name_of(Recorded::objects)};
  EXPECT_FALSE(are_zeroed_in_caches(*bench.workload, bench.machine, Bytes{page}, Bytes{}));
}

}  // namespace
}  // namespace homenode::test
