// ptmalloc's rules, as mallopt(3) and malloc(3) document them. Each test states its arithmetic.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/heaps.hpp"

namespace homenode::test {
namespace {

constexpr std::uint64_t kib = 1024, mib = 1024 * kib, page = 4096;

bool unmaps(const HeapEffect& effect) {
  return effect.operations.size() == 1 && effect.operations.front().kind == PageOperation::Kind::unmap;
}

TEST(Glibc, smallBlocksFollowEachOtherWithAHeaderOf16Bytes) {
  HeapBench heap{"glibc"};
  // A chunk holds bytes + 8, rounded up to 16, at least 32: 24 -> 32, 25 -> 48.
  const Address first = heap.allocate(0, 24).range.first;
  EXPECT_EQ(heap.allocate(0, 25).range.first, first + 32);
  EXPECT_EQ(heap.allocate(0, 1).range.first, first + 32 + 48);
  EXPECT_EQ(first.value() % page, 16u);  // the arena begins on a page
}

TEST(Glibc, theMmapThresholdIs128KiBAndRisesToTheLargestBlockFreed) {
  HeapBench heap{"glibc", 2, page, 64, 40 * mib};
  // A chunk of 128 KiB holds 128 KiB - 8: one byte more goes by mmap, in 33 pages of 132 KiB, which is then the threshold.
  const auto at = heap.allocate(0, 128 * kib - 8 + 1);
  EXPECT_EQ(at.range.first.value() % page, 16u);
  EXPECT_TRUE(unmaps(heap.release(0, at)));
  const auto below = heap.allocate(0, 132 * kib - 24);      // a chunk of 132 KiB - 16, from the arena; 128 KiB of pad are left
  const auto not_below = heap.allocate(0, 132 * kib - 23);  // 132 KiB: does not fit there and reaches the threshold
  EXPECT_TRUE(unmaps(heap.release(0, not_below)));
  EXPECT_FALSE(unmaps(heap.release(0, below)));
}

TEST(Glibc, theThresholdStopsAt32MiB) {
  HeapBench heap{"glibc", 2, page, 64, 40 * mib};
  // 32 MiB - 4 KiB + 16: 8192 pages, the most allowed. Above, the threshold stays.
  const auto most = heap.allocate(0, 32 * mib - 4 * kib + 16);
  ASSERT_EQ(heap.manager->reserved_bytes(), 32 * mib);
  EXPECT_TRUE(unmaps(heap.release(0, most)));
  const auto again = heap.allocate(0, 32 * mib - 4 * kib + 16);
  EXPECT_FALSE(unmaps(heap.release(0, again)));
  const auto beyond = heap.allocate(0, 33 * mib);
  EXPECT_TRUE(unmaps(heap.release(0, beyond)));
  EXPECT_TRUE(unmaps(heap.release(0, heap.allocate(0, 33 * mib))));
}

TEST(Glibc, aThresholdThatIsNotDynamicStays) {
  HeapBench heap{"glibc:dynamic=0", 2, page, 64, 2 * mib};
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(unmaps(heap.release(0, heap.allocate(0, mib))));
}

TEST(Glibc, theTopIsTrimmedFromTwiceTheThresholdOnAndKeepsItsPad) {
  HeapBench heap{"glibc", 2, page, 64, 2 * mib};
  heap.release(0, heap.allocate(0, mib));  // threshold 257 pages, trim threshold 514 pages = 2056 KiB
  const auto one = heap.allocate(0, mib - 64), two = heap.allocate(0, mib - 64);
  EXPECT_TRUE(heap.release(0, two).operations.empty());  // top: 1 MiB and the pad of 128 KiB, below 2056 KiB
  const HeapEffect effect = heap.release(0, one);        // top: 2 MiB and the pad
  ASSERT_EQ(effect.operations.size(), 1u);
  EXPECT_EQ(effect.operations.front().kind, PageOperation::Kind::shrink);  // brk
  // What stays: the pad, less than two pages of rounding and least chunk.
  EXPECT_GE(heap.manager->reserved_bytes(), 128 * kib);
  EXPECT_LT(heap.manager->reserved_bytes(), 128 * kib + 2 * page);
}

TEST(Glibc, writesItsHeaderAndTheNextOne) {
  // The chunk of 1000 bytes begins 16 bytes before them and takes 1008; sizes stand 8 bytes into a chunk.
  HeapBench heap{"glibc:tcache=0"};
  const auto block = heap.allocate(0, 1000);
  const Address chunk = block.range.first - 16;
  ASSERT_EQ(block.effect.written.size(), 2u);
  EXPECT_EQ(block.effect.written[0].first, chunk + 8);
  EXPECT_EQ(block.effect.written[1].first, chunk + 1008 + 8);
  EXPECT_EQ(block.effect.written[1].size(), 8u);
}

TEST(Glibc, aBlockOnThePageBehindItsHeaderIsNotTouched) {
  // A chunk of 4096 - 16 bytes leaves the next chunk's header at the end of the page, and its block begins on the page behind: both headers
  // of the first block are on the first page.
  HeapBench heap{"glibc:tcache=0"};
  const auto first = heap.allocate(0, page - 16 - 8), second = heap.allocate(0, 100);
  ASSERT_EQ(second.range.first.value() % page, 0u);
  const std::uint64_t here = first.range.first.value() / page;
  for (const AddressRange& range : first.effect.written) EXPECT_EQ(range.first.value() / page, here);
  EXPECT_EQ(second.effect.written[0].first.value() / page, here);
  EXPECT_EQ(second.effect.written[1].first.value() / page, here + 1);
}

TEST(Glibc, fromTheCacheOfAThreadNothingIsWritten) {
  HeapBench heap{"glibc"};
  heap.release(0, heap.allocate(0, 100));
  EXPECT_TRUE(heap.allocate(0, 100).effect.written.empty());
}

TEST(Glibc, freeNeighboursJoinAndServeALargerBlock) {
  HeapBench heap{"glibc:tcache=0"};
  const auto a = heap.allocate(0, 1000), b = heap.allocate(0, 1000);
  heap.allocate(0, 1000);
  heap.release(0, a);
  heap.release(0, b);
  EXPECT_EQ(heap.allocate(0, 2000).range.first, a.range.first);  // 2 x 1008 = 2016 >= 2000 + 8
}

TEST(Glibc, eachThreadHasAnArenaUpToTheLimitAndAForeignFreeGoesBackToIt) {
  HeapBench heap{"glibc:arenas=2,tcache=0"};
  const auto main = heap.allocate(0, 200);
  const LockId first = heap.lock;
  const auto other = heap.allocate(1, 200);
  const LockId second = heap.lock;
  EXPECT_NE(first, second);
  EXPECT_GT(other.range.first.value() / (64 * mib), main.range.first.value() / (64 * mib));
  heap.allocate(2, 200);  // the limit is reached: it shares
  EXPECT_TRUE(heap.lock == first || heap.lock == second);
  heap.release(3, other);
  EXPECT_EQ(heap.lock, second);
  EXPECT_EQ(heap.allocate(1, 200).range.first, other.range.first);
}

TEST(Glibc, aThreadKeepsSevenBlocksOfASizeForItself) {
  HeapBench heap{"glibc"};
  std::vector<HeapBench::Block> blocks;
  for (int i = 0; i < 8; ++i) blocks.push_back(heap.allocate(0, 200));
  for (const auto& block : blocks) {
    heap.release(1, block);
    EXPECT_EQ(heap.lock.is_none(), &block != &blocks.back());  // the eighth goes to its arena
  }
  EXPECT_EQ(heap.allocate(1, 200).range.first, blocks[6].range.first);  // the newest first, whatever arena it is of
}

TEST(Glibc, anArenaGoesOnInASecondHeapAndGivesItBack) {
  HeapBench heap{"glibc", 2, page, 256, 2 * mib};
  heap.release(1, heap.allocate(1, mib));  // raises the threshold: arenas serve 1 MiB from now on
  std::vector<HeapBench::Block> blocks;
  for (int i = 0; i < 70; ++i) blocks.push_back(heap.allocate(1, mib));
  // 63 chunks of 1 MiB + 16 fit in a heap of 64 MiB beside its tables.
  EXPECT_NE(blocks.front().range.first.value() / (64 * mib), blocks.back().range.first.value() / (64 * mib));
  EXPECT_EQ(blocks.front().range.first.value() / (64 * mib), blocks[62].range.first.value() / (64 * mib));
  bool second_heap_unmapped = false;
  for (auto block = blocks.rbegin(); block != blocks.rend(); ++block)
    for (const PageOperation& operation : heap.release(0, *block).operations)
      second_heap_unmapped |= operation.kind == PageOperation::Kind::unmap && operation.range.size() == 64 * mib;
  EXPECT_TRUE(second_heap_unmapped);
  EXPECT_LT(heap.manager->reserved_bytes(), 3 * mib);
}

TEST(Glibc, theEndOfAFullHeapIsUsedForSmallBlocks) {
  HeapBench heap{"glibc:tcache=0", 2, page, 256, 2 * mib};
  heap.release(1, heap.allocate(1, mib));  // raises the threshold, as above
  std::vector<HeapBench::Block> blocks;
  for (int i = 0; i < 64; ++i) blocks.push_back(heap.allocate(1, mib));  // the last one in a second heap
  ASSERT_NE(blocks[62].range.first.value() / (64 * mib), blocks[63].range.first.value() / (64 * mib));
  // A heap grows by whole pages to what is asked for and 32 bytes more: 32 bytes at least are left behind the 63rd block of the first.
  const Address left{blocks[62].range.first.value() + mib};
  EXPECT_EQ(heap.allocate(1, 1).range.first, left + 16);
}

TEST(Glibc, alignedBlocksAreAlignedAndLeaveNoHole) {
  HeapBench heap{"glibc:tcache=0"};
  const auto first = heap.allocate(0, 100);
  const auto aligned = heap.allocate(0, 100, 4096);
  EXPECT_EQ(aligned.range.first.value() % 4096, 0u);
  const auto between = heap.allocate(0, 100);
  EXPECT_GT(between.range.first, first.range.first);
  EXPECT_LT(between.range.first, aligned.range.first);
}

}  // namespace
}  // namespace homenode::test
