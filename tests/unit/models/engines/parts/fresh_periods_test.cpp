// Periods that find pages as the period before did: how many, and what they leave behind, held against passing them one by one.
#include "models/engines/parts/fresh_periods.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "tests/support/machines.hpp"

namespace homenode::test {
namespace {

constexpr std::int64_t page = 4096, lines_of_page = 64;

// Two sockets of two cores: each core has 8 KiB and then 32 KiB, each socket 128 KiB for both.
Machine small_machine() {
  Machine machine = two_sockets(2);
  const auto cache = [](unsigned level, std::int64_t kib, unsigned cores) {
    CacheDescription description;
    description.level = level;
    description.size = Bytes{kib << 10};
    description.line = Bytes{64};
    description.cores_per_cache = cores;
    return description;
  };
  machine.caches = {cache(1, 8, 1), cache(2, 32, 1), cache(3, 128, 2)};
  return machine;
}

struct Slice {
  unsigned core = 0;
  std::int64_t first = 0, last = 0, by = 0;  // lines; a period further each time
  bool past_caches = false;                  // non-temporal stores
};

LineRange lines_in(const Slice& slice, std::uint64_t period) {
  const std::int64_t moved = slice.by * static_cast<std::int64_t>(period);
  return LineRange::of(static_cast<std::uint64_t>(slice.first + moved), static_cast<std::uint64_t>(slice.last + moved));
}

// What the slices of a period get, by cache level and from memory.
using Served = std::vector<std::vector<std::uint64_t>>;

Served run(FreshPages& pages, const std::vector<Slice>& slices, std::uint64_t period) {
  Served served;
  for (const Slice& slice : slices) {
    CacheOutcome outcome;
    outcome.hit_lines.assign(3, 0);
    outcome.hit_weight.assign(3, 0);
    const LineRange lines = lines_in(slice, period);
    if (slice.past_caches)
      outcome.non_temporal_writes.push_back(lines);
    else
      outcome.reads.push_back({lines, 4});
    pages.serve(CoreId{slice.core}, FreshPages::End{}, outcome);
    served.push_back(outcome.hit_lines);
    for (const MissRange& miss : outcome.reads)
      served.back().insert(served.back().end(), {miss.lines.first - lines.first, miss.lines.size()});
  }
  return served;
}

// Of what a core touches and what moves alike, from the first line to the last.
std::vector<MovingLines> touched(const std::vector<Slice>& slices, std::uint64_t period) {
  std::map<std::pair<unsigned, std::int64_t>, LineRange> all;
  for (const Slice& slice : slices) {
    const LineRange lines = lines_in(slice, period);
    LineRange& of_core = all.try_emplace({slice.core, slice.by}, lines).first->second;
    of_core = {std::min(of_core.first, lines.first), std::max(of_core.last, lines.last)};
  }
  std::vector<MovingLines> moving;
  for (const auto& [whose, lines] : all) moving.push_back({lines, whose.second});
  return moving;
}

FreshPages empty(const Machine& machine, const std::vector<PageNumber>& in_use = {}, std::uint64_t page_bytes = page) {
  FreshPages pages{machine, page_bytes, 64, in_use};
  pages.number_from(LineNumber{0});
  return pages;
}

// How many periods behind the one of that number are alike, of at most so many. Fails where one is not, or where what they leave is not
// what they leave one by one.
std::uint64_t alike_behind(FreshPages pages, const std::vector<Slice>& slices, std::uint64_t period, std::uint64_t most,
                           std::uint64_t lines = 512 * lines_of_page) {
  for (std::uint64_t before = 0; before < period; ++before) run(pages, slices, before);
  FreshPeriods{pages}.begin();
  const Served last = run(pages, slices, period);
  FreshPeriods last_one{pages};
  const std::uint64_t periods = last_one.alike(touched(slices, period), most);
  FreshPages one_by_one = pages;
  for (std::uint64_t more = 1; more <= periods; ++more) EXPECT_EQ(run(one_by_one, slices, period + more), last) << "period " << more;
  last_one.pass(periods);
  for (std::uint64_t line = 0; periods > 0 && line < lines; line += 13) {
    const unsigned core = line % 4;
    EXPECT_EQ(pages.serve(CoreId{core}, LineNumber{line}), one_by_one.serve(CoreId{core}, LineNumber{line})) << "line " << line;
  }
  return periods;
}

Slice pages_of(unsigned core, std::int64_t first, std::int64_t last, std::int64_t by) {
  return {core, first * lines_of_page, last * lines_of_page, by * lines_of_page};
}

TEST(FreshPeriodsTest, aFirstSweepRepeatsAtOnce) {
  const Machine machine = small_machine();
  EXPECT_EQ(alike_behind(empty(machine), {pages_of(0, 0, 4, 4)}, 0, 100), 100U);
}

TEST(FreshPeriodsTest, pagesThatAreHalfReadHaveToAgeAlike) {
  // Each period reads the first halves of two pages, and the second half of a page that it came to four periods before.
  const Machine machine = small_machine();
  constexpr std::int64_t begin = 100 * lines_of_page, by = 2 * lines_of_page;
  const std::vector<Slice> slices{
      {0, begin, begin + 32, by}, {0, begin + 64, begin + 96, by}, {0, begin - 4 * by + 32, begin - 4 * by + 64, by}};
  EXPECT_EQ(alike_behind(empty(machine), slices, 1, 100), 0U) << "to what lies behind nobody had come";
  EXPECT_EQ(alike_behind(empty(machine), slices, 12, 100), 100U);
}

TEST(FreshPeriodsTest, pagesInUseAheadEndThem) {
  const Machine machine = small_machine();
  EXPECT_EQ(alike_behind(empty(machine, {PageNumber{41u}}), {pages_of(0, 0, 4, 4)}, 0, 100), 9U);
}

TEST(FreshPeriodsTest, whatOthersReadEndsThem) {
  const Machine machine = small_machine();
  EXPECT_EQ(alike_behind(empty(machine), {pages_of(0, 0, 2, 2), pages_of(1, 40, 42, 2)}, 0, 100), 19U);
  EXPECT_EQ(alike_behind(empty(machine), {pages_of(0, 100, 102, -2), pages_of(2, 60, 62, -2)}, 0, 100), 19U) << "downwards";
}

TEST(FreshPeriodsTest, whatIsInUseRepeatsForEver) {
  std::vector<PageNumber> in_use;
  for (std::uint64_t number = 0; number < 512; ++number) in_use.emplace_back(number);
  EXPECT_EQ(alike_behind(empty(small_machine(), in_use), {pages_of(0, 0, 2, 2), pages_of(1, 40, 42, 2)}, 0, 100), 100U);
}

TEST(FreshPeriodsTest, whatStandsStillHasToBeReadBefore) {
  const std::vector<Slice> slices{pages_of(0, 0, 1, 0), pages_of(0, 8, 10, 2)};
  EXPECT_EQ(alike_behind(empty(small_machine()), slices, 0, 100), 0U);
  EXPECT_EQ(alike_behind(empty(small_machine()), slices, 1, 100), 100U);
}

TEST(FreshPeriodsTest, nothingRepeatsWherePagesWentBack) {
  FreshPages pages = empty(small_machine());
  const std::vector<Slice> slices{pages_of(0, 0, 4, 4)};
  EXPECT_EQ(FreshPeriods{pages}.alike(touched(slices, 0), 100), 0U) << "none began";
  FreshPeriods{pages}.begin();
  run(pages, slices, 0);
  pages.give_back(LineRange::of(0, 64));
  EXPECT_EQ(FreshPeriods{pages}.alike(touched(slices, 0), 100), 0U);
  FreshPeriods{pages}.begin();
  run(pages, slices, 1);
  pages.move(LineRange::of(0, 64));
  EXPECT_EQ(FreshPeriods{pages}.alike(touched(slices, 1), 100), 0U) << "or moved";
}

TEST(FreshPeriodsTest, withoutFreshPagesAllRepeats) {
  FreshPages none;
  FreshPeriods{none}.begin();
  EXPECT_EQ(FreshPeriods{none}.alike(touched({pages_of(0, 0, 1, 1)}, 0), 100), 100U);
  FreshPeriods{none}.pass(100);
}

TEST(FreshPeriodsTest, randomPeriodsLeaveWhatTheyLeaveOneByOne) {
  const Machine machine = small_machine();
  std::uint64_t repeated = 0, shorter = 0;
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random{seed};
    const auto up_to = [&](std::int64_t most) { return std::uniform_int_distribution<std::int64_t>{0, most}(random); };
    std::vector<PageNumber> in_use;
    for (std::int64_t number = up_to(3); number > 0; --number) in_use.emplace_back(static_cast<std::uint64_t>(up_to(1023)));
    // All of one object moves alike; another one lies far behind it; a table stands still.
    const std::int64_t of_page = up_to(3) == 0 ? 16 * lines_of_page : lines_of_page;
    const auto by = [&] { return (up_to(1) == 0 ? 1 : -1) * (1 + up_to(2)) * of_page; };
    const std::int64_t by_of_one = by(), by_of_other = by();
    std::vector<Slice> slices;
    for (std::int64_t number = 1 + up_to(4); number > 0; --number) {
      const bool other = up_to(3) == 0;
      Slice slice{static_cast<unsigned>(up_to(3)), (150 + up_to(60) * (1 + up_to(3))) * of_page + up_to(63), 0, by_of_one, up_to(7) == 0};
      if (other) slice.first += 500 * of_page, slice.by = by_of_other;
      slice.last = slice.first + 1 + up_to(4 * of_page);
      slices.push_back(slice);
    }
    if (up_to(2) == 0) slices.push_back({0, 1100 * of_page, 1100 * of_page + 1 + up_to(100), 0});
    const std::uint64_t most = static_cast<std::uint64_t>(1 + up_to(20));
    const std::uint64_t alike = alike_behind(empty(machine, in_use, static_cast<std::uint64_t>(64 * of_page)), slices,
                                             static_cast<std::uint64_t>(up_to(12)), most, static_cast<std::uint64_t>(1110 * of_page));
    repeated += alike > 0;
    shorter += alike > 0 && alike < most;
    if (HasFailure()) return;
  }
  EXPECT_GT(repeated, 100U);
  EXPECT_GT(shorter, 10U);
}

}  // namespace
}  // namespace homenode::test
