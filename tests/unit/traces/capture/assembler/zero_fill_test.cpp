// Which writes behind an allocation may be its zero fill.
#include "traces/capture/assembler/zero_fill.hpp"

#include <gtest/gtest.h>

namespace homenode {
namespace {

constexpr std::uint64_t low = 1 << 20, bytes = 128 << 10;

ZeroFill opened() { return {low, bytes, 100, 0}; }

bool keep(ZeroFill& fill, const ZeroFill::Writes& writes, std::uint64_t filled_before = 0) {
  if (!fill.fits(writes, filled_before)) return false;
  fill.keep(writes);
  return true;
}

// Writes of eight bytes from a byte of the block on.
ZeroFill::Writes eights(std::uint64_t offset, std::uint64_t sequence, std::uint64_t count) {
  return {.site = 3, .base = low + offset, .sequence = sequence, .count = count, .width = 8, .distance = 0, .step = 8};
}

TEST(ZeroFill, isWholeOnceEachByteIsWritten) {
  ZeroFill fill = opened();
  EXPECT_TRUE(keep(fill, eights(8000, 1102, bytes / 8 - 1000)));
  EXPECT_FALSE(fill.is_whole());
  EXPECT_TRUE(keep(fill, eights(0, 102, 1000)));
  EXPECT_TRUE(fill.is_whole());
  ASSERT_EQ(fill.kept().size(), 2U);
  EXPECT_EQ(fill.kept().front().base, low);
}

TEST(ZeroFill, ofABulkOperationHasShorterEnds) {
  ZeroFill fill = opened();
  const auto piece = [](std::uint64_t offset, std::uint64_t sequence, std::uint64_t count, std::uint64_t width) {
    return ZeroFill::Writes{.site = width, .base = low + offset, .sequence = sequence, .count = count, .width = width, .step = 64};
  };
  EXPECT_TRUE(keep(fill, piece(0, 100, 1, 48)));
  EXPECT_TRUE(keep(fill, piece(48, 101, bytes / 64 - 1, 64)));
  EXPECT_TRUE(keep(fill, piece(bytes - 16, 100 + bytes / 64, 1, 16)));
  EXPECT_TRUE(fill.is_whole());
  EXPECT_TRUE(fill.keeps(48) && fill.keeps(64) && fill.keeps(16));
}

TEST(ZeroFill, refusesWhatComesBeforeTheBlockOrLongAfterIt) {
  ZeroFill fill = opened();
  EXPECT_FALSE(keep(fill, eights(0, 99, bytes / 8)));
  EXPECT_FALSE(keep(fill, eights(0, 117, bytes / 8)));
  EXPECT_TRUE(keep(fill, eights(0, 116, bytes / 8)));
}

TEST(ZeroFill, mayComeBehindTheFillsOfOtherBlocks) {
  ZeroFill fill = opened();
  EXPECT_FALSE(keep(fill, eights(0, 100 + 5000, bytes / 8), 4000));
  EXPECT_TRUE(keep(fill, eights(0, 100 + 5000, bytes / 8), 8 * 5000));
}

TEST(ZeroFill, refusesASecondSweepOverTheBlock) {
  ZeroFill fill = opened();
  EXPECT_FALSE(keep(fill, eights(0, 100 + bytes / 8, bytes / 8)));
  EXPECT_TRUE(keep(fill, eights(0, 100, 10)));
  EXPECT_FALSE(keep(fill, eights(8, 105, 10)));
  EXPECT_EQ(fill.kept().size(), 1U);
}

TEST(ZeroFill, refusesWhatReachesBeyondTheBlock) {
  ZeroFill fill = opened();
  EXPECT_FALSE(keep(fill, eights(0, 100, bytes / 8 + 1)));
  EXPECT_FALSE(keep(fill, {.site = 3, .base = low - 8, .sequence = 100, .count = 2, .width = 8, .step = 8}));
}

}  // namespace
}  // namespace homenode
