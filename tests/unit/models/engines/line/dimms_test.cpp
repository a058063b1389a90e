// What DIMMs add to a memory controller, each mechanism alone, with round numbers: activate 10, precharge 20, column 16 ns, row cycle 60
// ns, rows stay open for 200 ns; one channel of one rank, bursts of 4 ns, measured at as much.
#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "models/engines/line/memory_controller.hpp"
#include "sim/machine/mixed_bits.hpp"

namespace homenode::test {
namespace {

constexpr std::int64_t ns = 1000;
constexpr std::uint64_t page_lines = 64;
constexpr LineCosts at_peak{4e-9, 4e-9};

DramDescription dimms(unsigned banks = 8) {
  DramDescription dram;
  dram.channels = 1;
  dram.banks = banks;
  dram.activate = Time::nanoseconds(10);
  dram.precharge = Time::nanoseconds(20);
  dram.column = Time::nanoseconds(16);
  dram.row_cycle = Time::nanoseconds(60);
  dram.row_closes_after = Time::nanoseconds(200);
  dram.write_batch = 4;
  dram.burst = Time::nanoseconds(4);
  return dram;
}

DramDescription refreshed() {  // from 0 on for 100 ns, each microsecond
  DramDescription dram = dimms();
  dram.refresh_interval = Time::nanoseconds(1000);
  dram.refresh_time = Time::nanoseconds(100);
  return dram;
}

constexpr LineNumber line_of(std::uint64_t page, std::uint64_t line) { return LineNumber{page * page_lines + line}; }

// Pages of `number` different banks.
std::vector<std::uint64_t> pages_apart(std::size_t number, std::size_t banks) {
  std::vector<std::uint64_t> pages;
  std::vector<bool> used(banks);
  for (std::uint64_t page = 0; pages.size() < number; ++page) {
    if (used[mixed_bits(page) % banks]) continue;
    used[mixed_bits(page) % banks] = true;
    pages.push_back(page);
  }
  return pages;
}

// When the last of `lines` lines in order leaves, 32 of them under way at a time.
std::int64_t stream(MemoryController& controller, std::uint64_t lines) {
  std::deque<std::int64_t> under_way;
  std::int64_t now = 0, last = 0;
  for (std::uint64_t line = 0; line < lines; ++line) {
    if (under_way.size() == 32) {
      now = std::max(now, under_way.front());
      under_way.pop_front();
    }
    under_way.push_back(controller.read(LineNumber{line}, now));
    last = std::max(last, under_way.back());
  }
  return last;
}

TEST(Dimms, linesOfAnOpenRowLeaveBurstByBurst) {
  MemoryController c{dimms(), at_peak, page_lines};
  c.read(line_of(0, 0), 0);
  for (std::int64_t line = 1; line < 10; ++line)
    EXPECT_EQ(c.read(line_of(0, static_cast<std::uint64_t>(line)), 100 * ns), (100 + 16 + 4 * (line - 1)) * ns);
  EXPECT_EQ(c.row_hits(), 9U);
}

TEST(Dimms, aRefreshIsWaitedFor) {
  // 60 ns of the second one are left, then activate and column.
  MemoryController c{refreshed(), at_peak, page_lines};
  EXPECT_EQ(c.read(line_of(0, 0), 1040 * ns), (1100 + 10 + 16) * ns);
}

TEST(Dimms, aRefreshClosesRows) {
  MemoryController c{refreshed(), at_peak, page_lines};
  c.read(line_of(0, 0), 980 * ns);
  EXPECT_EQ(c.read(line_of(0, 1), 1150 * ns), (1150 + 10 + 16) * ns);
  EXPECT_EQ(c.row_hits(), 0U);
}

TEST(Dimms, theIdleTimeIsTheMeanOverAllTimesOfArrival) {
  // activate + column + (100 / 1000) x 100 / 2
  const std::int64_t idle = (10 + 16 + 5) * ns;
  EXPECT_EQ(MemoryController(refreshed(), at_peak, page_lines).idle(), idle);
  double sum = 0;
  for (std::int64_t at = 0; at < 1000; ++at) {
    MemoryController c{refreshed(), at_peak, page_lines};
    const std::int64_t now = 5000 * ns + at * ns + ns / 2;
    sum += static_cast<double>(c.read(line_of(0, 0), now) - now);
  }
  EXPECT_NEAR(sum / 1000, static_cast<double>(idle), 1);
}

TEST(Dimms, refreshTakesItsShareOfTheBandwidth) {
  // Of each microsecond the bus has 900 ns, and the first line after a refresh comes 10 + 16 ns later: 874 / 4 lines at the least, 900 / 4
  // at the most.
  MemoryController c{refreshed(), at_peak, page_lines};
  constexpr std::uint64_t lines = 20000;
  const double last = static_cast<double>(stream(c, lines)) / ns;
  EXPECT_GE(last, lines * 4 / 0.900 - 1000);
  EXPECT_LE(last, lines * 4 / 0.874 + 1000);
}

TEST(Dimms, ranksAreRefreshedInTurn) {
  // Two ranks of four banks: the second is refreshed from 500 on. A line of each at 1540.
  DramDescription dram = refreshed();
  dram.ranks = 2;
  std::uint64_t first = 0, second = 0;
  while (mixed_bits(first) % 8 >= 4) ++first;
  while (mixed_bits(second) % 8 < 4) ++second;
  MemoryController c{dram, at_peak, page_lines};
  EXPECT_EQ(c.read(line_of(first, 0), 1540 * ns), (1540 + 10 + 16) * ns);
  EXPECT_EQ(c.read(line_of(second, 0), 1540 * ns), (1600 + 10 + 16) * ns);
}

TEST(Dimms, turningTheBusRoundTakesItsTime) {
  // Four writes hold the bus for 4 x 4 ns, and 24 for turning it.
  DramDescription dram = dimms();
  for (const std::int64_t turn : {0, 24}) {
    dram.turn_around = Time::nanoseconds(turn);
    MemoryController c{dram, at_peak, page_lines};
    for (std::uint64_t line = 0; line < 4; ++line) EXPECT_EQ(c.write(line_of(0, line), 1000 * ns), 1000 * ns);
    EXPECT_EQ(c.read(line_of(1, 0), 1000 * ns), (1000 + std::max<std::int64_t>(10 + 16, 16 + turn)) * ns);
  }
}

TEST(Dimms, fiveActivationsOfARankTakeFourActivates) {
  // One each 40 / 4 ns; the fifth 40 after the first.
  DramDescription dram = dimms();
  dram.four_activates = Time::nanoseconds(40);
  MemoryController c{dram, at_peak, page_lines};
  std::int64_t at = 1000;
  for (const std::uint64_t page : pages_apart(5, 8)) {
    EXPECT_EQ(c.read(line_of(page, 0), 1000 * ns), (at + 10 + 16) * ns);
    at += 10;
  }
}

TEST(Dimms, twoStreamsInOneBankCloseEachOthersRows) {
  // One bank. A line of either page each 180 ns: precharge, activate, column each time. Alone, all are of an open row.
  MemoryController both{dimms(1), at_peak, page_lines}, alone{dimms(1), at_peak, page_lines};
  both.read(line_of(0, 0), 0);
  alone.read(line_of(0, 0), 0);
  for (std::uint64_t line = 1; line < 10; ++line) {
    const std::int64_t now = static_cast<std::int64_t>(line) * 180 * ns;
    EXPECT_EQ(both.read(line_of(line % 2, line), now) - now, (20 + 10 + 16) * ns);
    EXPECT_EQ(alone.read(line_of(0, line), now) - now, 16 * ns);
  }
}

TEST(Dimms, neighboursLieInTwoBankGroups) {
  // A rank of sixteen banks: two rows are opened, then four lines are of open rows.
  MemoryController c{dimms(16), at_peak, page_lines};
  for (std::uint64_t line = 0; line < 6; ++line) c.read(line_of(0, line), 1000 * ns);
  EXPECT_EQ(c.row_hits(), 4U);
}

TEST(Dimms, noMoreThanWasMeasured) {
  // Bursts of 4 ns, measured at 8 ns a line: the first passes after 16 ns, the others 8 ns apart at the least.
  MemoryController c{dimms(), {8e-9, 8e-9}, page_lines};
  EXPECT_EQ(c.channels(), 1U);
  constexpr std::int64_t lines = 5000;
  const std::int64_t last = stream(c, lines);
  EXPECT_GE(last, (16 + (lines - 1) * 8) * ns);
  EXPECT_LE(last, (lines * 8 + 100) * ns);
}

TEST(Dimms, writesAreNoFasterThanMeasuredEither) {
  // 6 ns a write, accepted while two batches of 16 ns on the bus wait: the last of 4000 is accepted when all batches but three have passed.
  MemoryController c{dimms(), {4e-9, 6e-9}, page_lines};
  std::int64_t last = 0;
  for (std::uint64_t line = 0; line < 4000; ++line) last = std::max(last, c.write(LineNumber{line}, last));
  EXPECT_GE(last, ((4000 - 3 * 4) * 6 - 2 * 16) * ns);
  EXPECT_LE(last, 4000 * 6 * ns);
}

TEST(Dimms, measuredAtMoreThanItsChannelsThereAreMore) {
  // 1.5 ns a line: three channels of 4 ns.
  EXPECT_EQ(MemoryController(dimms(), {1.5e-9, 1.5e-9}, page_lines).channels(), 3U);
}

TEST(Dimms, neverFasterThanAnOpenRowNorThanTheBus) {
  DramDescription dram = refreshed();
  dram.channels = 2;
  dram.ranks = 2;
  dram.four_activates = Time::nanoseconds(20);
  dram.turn_around = Time::nanoseconds(24);
  MemoryController c{dram, {2e-9, 3e-9}, page_lines};
  std::uint64_t random = 1;
  std::int64_t last = 0;
  for (std::int64_t now = 0; now < 200'000 * ns; now += 3 * ns) {
    random = mixed_bits(random + 1);
    if (random % 4 == 0) {
      EXPECT_GE(c.write(LineNumber{random % 100'000}, now), now);
    } else {
      const std::int64_t leaves = c.read(LineNumber{random % 100'000}, now);
      EXPECT_GE(leaves, now + c.least());
      last = std::max(last, leaves);
    }
  }
  EXPECT_LE(c.busy(), 2 * (last + 100 * ns));  // two channels
}

}  // namespace
}  // namespace homenode::test
