// What promotes and demotes pages: Linux's memory tiers, TPP, Memtis, Colloid. Faults are given by hand, equations stand beside them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/models/placement/tiered_pages.hpp"

namespace homenode::test {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;
constexpr NodeId fast{0}, slow{1};

std::string refused(const std::string& placement, unsigned available, unsigned kernel) {
  OperatingSystem system;
  system.name = "this one";
  system.balancing.available = available;
  system.balancing.kernel = kernel;
  try {
    page_placements().make(placement)->run_on(system);
  } catch (const UsageError& error) { return error.what(); }
  return "taken";
}

// Between the high watermark and what counts as much: less than 1 GiB free of 512 MiB.
struct LittleFree : TieredRun {
  explicit LittleFree(const std::string& text, std::size_t pages_ = 1) : TieredRun{text, two_tiers(512 * mebibyte, 512 * mebibyte)} {
    pages.place(slow, pages_);
    EXPECT_TRUE(wake(second));  // the scan
    EXPECT_TRUE(pages.unmapped.front());
  }
};

TEST(Tiering, promotesWhatIsTouchedWithinTheHotThreshold) {
  LittleFree late{"first-touch+tiering"}, soon{"first-touch+tiering"};
  late.touch(2 * second, 0, 1);  // 1 s behind the scan is not less than the threshold
  EXPECT_EQ(late.pages.homes[0], slow);
  soon.touch(2 * second - millisecond, 0, 1);
  EXPECT_EQ(soon.pages.homes[0], fast);
}

TEST(Tiering, passesOverTheThresholdWhileMuchIsFree) {
  TieredRun run{"first-touch+tiering", two_tiers(std::int64_t{4} << 30, std::int64_t{1} << 30)};
  run.pages.place(slow, 1);
  run.wake(second);
  run.touch(5 * second, 0, 1);
  EXPECT_EQ(run.pages.homes[0], fast);
}

TEST(Tiering, scansSlowMemoryAlone) {
  TieredRun run{"first-touch+tiering", two_tiers(512 * mebibyte, 512 * mebibyte)};
  run.pages.place(fast, 2);
  run.pages.place(slow, 3);
  EXPECT_FALSE(run.wake(second - millisecond));
  run.wake(second);
  EXPECT_THAT(run.pages.unmapped, ::testing::ElementsAre(false, false, true, true, true));
  EXPECT_EQ(run.placement->wakeup(), 2 * second);  // all pages in one scan a second
}

TEST(Tiering, limitsTheRateOfPromotions) {
  // 1 MiB/s are 256 pages a second. The first candidate begins the second; the 257th is 256 behind it.
  LittleFree run{"first-touch+tiering:rate_limit=1", 300};
  run.touch(second + 500 * millisecond, 0, 300);
  EXPECT_EQ(run.pages.on(fast), 256u);
}

TEST(Tiering, adjustsTheThresholdToTheRate) {
  // Fewer candidates than 0.9 of the rate: an eighth of a second more. 1.1 s behind the scan is not hot, then it is.
  LittleFree before{"first-touch+tiering"}, after{"first-touch+tiering:adjust_period=1 s"};
  before.touch(second + 1100 * millisecond, 0, 1);
  EXPECT_EQ(before.pages.homes[0], slow);
  after.touch(second + 1100 * millisecond, 0, 1);
  EXPECT_EQ(after.pages.homes[0], fast);
  // More than 1.1 of it: an eighth less. 601 candidates in the second behind the first adjustment, where 1 MiB/s are 256: 1.125 s become
  // 1 s again, and 1.05 s are too long.
  LittleFree many{"first-touch+tiering:adjust_period=1 s,rate_limit=1", 601};
  many.touch(second + millisecond, 0, 601);
  many.wake(2 * second);  // a scan of those that the rate limit kept
  many.touch(3 * second + 50 * millisecond, 600, 601);
  EXPECT_EQ(many.pages.homes[600], slow);
}

TEST(Tiering, demotesWhereAPromotionFindsTheNodeNearlyFull) {
  // 64 and 192 MiB: high is 192 pages, promotion 224 (tiers_test). 16384 pages, 16200 of them used: 184 free.
  const auto filled = [](const std::string& text) {
    TieredRun run{text, two_tiers(64 * mebibyte, 192 * mebibyte)};
    run.pages.place(fast, 16200);
    run.pages.place(slow, 1);
    run.wake(second);
    run.touch(second + millisecond, 16200, 16201);
    EXPECT_EQ(run.pages.homes[16200], slow);
    return run;
  };
  TieredRun run = filled("first-touch+tiering");
  EXPECT_TRUE(run.wake(second + millisecond));  // bits are cleared; pages 0 to 9 are used then
  for (std::uint64_t page = 0; page < 10; ++page) run.use(page);
  EXPECT_TRUE(run.wake(second + 2 * millisecond));
  EXPECT_EQ(run.pages.free[0], 225u);
  for (std::uint64_t page = 0; page < 10; ++page) EXPECT_EQ(run.pages.homes[page], fast);
  EXPECT_EQ(run.pages.homes[10], slow);
  EXPECT_FALSE(run.wake(second + 3 * millisecond));
  EXPECT_FALSE(filled("first-touch+tiering:demotion=off").wake(second + millisecond));
}

TEST(Tiering, needsAKernelThatHasIt) {
  EXPECT_EQ(refused("first-touch+tiering", 1, 0), "taken");
  EXPECT_EQ(refused("first-touch+tiering", 1, 612), "taken");
  EXPECT_THAT(refused("first-touch+tiering", 1, 404), HasSubstr("allowed: Linux since 6.1, found 'this one'"));
  EXPECT_THAT(refused("first-touch+tiering", 0, 0), HasSubstr("needs NUMA balancing with memory tiers"));
  EXPECT_THAT(refused("first-touch+tpp", 0, 206), HasSubstr("needs automatic NUMA balancing"));
  EXPECT_THROW(page_placements().make("first-touch+autonuma+tpp"), UsageError);
}

TEST(Tiering, leavesMachinesOfOneTierAlone) {
  for (const char* text : {"first-touch+tiering", "first-touch+tpp", "first-touch+memtis", "first-touch+colloid"}) {
    TieredRun run{text, two_sockets()};
    run.pages.place(NodeId{1}, 3);
    EXPECT_FALSE(run.wake(100 * second)) << text;
  }
}

TEST(Tpp, promotesAtTheSecondHintingFault) {
  LittleFree run{"first-touch+tpp"};
  run.touch(second + millisecond, 0, 1);
  EXPECT_EQ(run.pages.homes[0], slow);
  run.wake(second + millisecond);  // the fault asked for free pages; there are
  run.wake(2 * second);
  run.touch(2 * second + millisecond, 0, 1);
  EXPECT_EQ(run.pages.homes[0], fast);
}

TEST(Tpp, keepsAShareOfFastMemoryFree) {
  // 2 % of 16384 pages are 327. The node is full when a page is placed.
  TieredRun run{"first-touch+tpp", two_tiers(64 * mebibyte, 192 * mebibyte)};
  run.pages.place(fast, 16384);
  const PageFault fault{PageNumber{0}, ObjectId{0}, TieredRun::at({}), true, 0};
  NodeId home;
  run.placement->fault(std::span{&fault, 1}, std::span{&home, 1});
  EXPECT_TRUE(run.wake({}));
  EXPECT_EQ(run.pages.free[0], 0u);  // the first pass clears bits
  EXPECT_TRUE(run.wake({}));
  EXPECT_EQ(run.pages.free[0], 327u);
  EXPECT_FALSE(run.wake({}));
}

// Reads a page's lines.
void read(TieredRun& run, std::uint64_t page, std::uint64_t lines) {
  const PageUse use{PageNumber{page}, run.pages.homes[page], lines * 64, 0};
  run.placement->observe(TieredRun::at({}), std::span{&use, 1}, run.pages);
}

TEST(Memtis, keepsTheMostReadPagesInFastMemory) {
  // 100 fast pages, of which 3 stay free (3 %). 60 fast pages are not read, 60 slow ones once a sample: count 512, bin 9. From bin 1 on
  // 60 pages fit into 97, from bin 0 on 120 do not: pages of bin 1 and above are hot. 63 of 100 must be free: 23 cold pages go.
  TieredRun run{"first-touch+memtis:adaptation=50", two_tiers(100 * 4096, 1000 * 4096)};
  run.pages.place(fast, 60);
  run.pages.place(slow, 60);
  for (std::uint64_t page = 60; page < 120; ++page) read(run, page, 199);
  EXPECT_FALSE(run.wake(499 * millisecond));
  EXPECT_TRUE(run.wake(500 * millisecond));
  for (std::uint64_t page = 60; page < 120; ++page) EXPECT_EQ(run.pages.homes[page], fast) << page;
  EXPECT_EQ(run.pages.on(fast), 97u);
}

TEST(Memtis, takesNoMoreForHotThanFits) {
  // 200 slow pages: 90 read four times (2048: bin 11), 110 once (bin 9). 90 fit into 97, 200 do not: bin 10 and above are hot.
  TieredRun run{"first-touch+memtis:sample=1,adaptation=470", two_tiers(100 * 4096, 1000 * 4096)};
  run.pages.place(slow, 200);
  for (std::uint64_t page = 0; page < 200; ++page) read(run, page, page < 90 ? 4 : 1);
  run.wake(500 * millisecond);
  EXPECT_EQ(run.pages.on(fast), 90u);
  EXPECT_EQ(run.pages.homes[89], fast);
  EXPECT_EQ(run.pages.homes[90], slow);
}

TEST(Memtis, forgetsByHalves) {
  // Counts are halved behind the 8th and the 16th sample: page 0 has 8 x 512 / 4, bin 10, page 1 half of 8 x 512, bin 11. One page fits:
  // that of bin 11. Without halves both were of one bin, and neither fitted.
  TieredRun run{"first-touch+memtis:sample=1,cooling=8,adaptation=16", two_tiers(4096, 1000 * 4096)};
  run.pages.place(slow, 2);
  read(run, 0, 8);
  read(run, 1, 8);
  run.wake(500 * millisecond);
  EXPECT_EQ(run.pages.homes[0], slow);
  EXPECT_EQ(run.pages.homes[1], fast);
}

TEST(Colloid, movesPagesUntilLatenciesUnderLoadAreEqual) {
  // Near memory: 100 ns, + 300 ns at full use (24 GB/s), + 0 up to half; the other 200 ns. 8 pages are read alike, 24 GB/s in all:
  //   8 near: use 1, 400 ns > 200: the share is at most 1, middle 0.5: half of the reads go, 4 pages
  //   4 near: use 1/2, 100 ns < 200: at least 0.5, middle 0.75: 2 pages come
  //   6 near: use 3/4, 250 ns > 200: at most 0.75, middle 0.625: 1 page goes
  //   5 near: use 5/8, 175 ns < 200: at least 0.625, middle 0.6875: less than a page
  Machine machine = two_tiers(mebibyte, mebibyte);
  machine.controllers[0].loaded_latency = {{0.5, Time{}}, {1.0, Time::nanoseconds(300)}};
  TieredRun run{"first-touch+colloid", machine};
  run.pages.place(fast, 8);
  const std::uint64_t lines = 12'000'000'000 / 8 / 64;
  std::vector<std::size_t> near;
  for (int period = 1; period <= 4; ++period) {
    for (std::uint64_t page = 0; page < 8; ++page) read(run, page, lines);
    EXPECT_TRUE(run.wake(500 * period * millisecond));
    near.push_back(run.pages.on(fast));
  }
  EXPECT_THAT(near, ::testing::ElementsAre(4, 6, 5, 5));
}

TEST(Colloid, exchangesPagesWhereTheNodeIsFull) {
  // 2 frames near memory, in use by pages that are read 1 and 3 times; of two pages in far memory one is read 8 times, the other once.
  // 100 ns < 200 ns: near has 4 of 13 reads and seeks (4 / 13 + 1) / 2, 4.5 more: of the pages that fit into that the one read once would
  // not replace another read once. The page read 8 times is more than that.
  TieredRun run{"first-touch+colloid", two_tiers(2 * 4096, mebibyte)};
  run.pages.place(fast, 2);
  run.pages.place(slow, 2);
  const std::uint64_t reads[] = {1, 3, 8, 1};
  for (std::uint64_t page = 0; page < 4; ++page) read(run, page, reads[page]);
  run.wake(500 * millisecond);
  EXPECT_THAT(run.pages.homes, ::testing::ElementsAre(fast, fast, slow, slow));
  // Page 3 is read 4 times: 4 of 16, 6 more are sought; page 2 is too much still, page 3 takes the place of page 0.
  TieredRun other{"first-touch+colloid", two_tiers(2 * 4096, mebibyte)};
  other.pages.place(fast, 2);
  other.pages.place(slow, 2);
  const std::uint64_t more[] = {1, 3, 8, 4};
  for (std::uint64_t page = 0; page < 4; ++page) read(other, page, more[page]);
  other.wake(500 * millisecond);
  EXPECT_THAT(other.pages.homes, ::testing::ElementsAre(slow, fast, slow, fast));
}

}  // namespace
}  // namespace homenode::test
