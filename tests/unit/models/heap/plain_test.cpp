// What is freed without a heap manager serves blocks of the same size, with its pages; caches forget its lines.
#include <gtest/gtest.h>

#include "tests/support/heaps.hpp"

namespace homenode::test {
namespace {

constexpr std::uint64_t large = 1 << 20;

TEST(PlainHeap, GivesFreedPagesToTheNextBlockOfTheSize) {
  HeapBench bench{"plain"};
  std::uint64_t faults = 0;
  for (int step = 0; step < 3; ++step) {
    const auto first = bench.allocate(0, large), second = bench.allocate(0, large);
    bench.write(0, first), bench.write(0, second);
    if (step == 0) faults = bench.addresses->page_faults();
    bench.release(0, first), bench.release(0, second);
  }
  EXPECT_EQ(faults, 2 * (large / 4096 + 1));  // with the header, a block of 2^20 bytes lies in 257 pages
  EXPECT_EQ(bench.addresses->page_faults(), faults);
  EXPECT_EQ(bench.manager->reserved_bytes(), faults * 4096);
}

TEST(PlainHeap, GivesSmallBlocksBackToTheThreadThatTheyWerePackedFor) {
  HeapBench bench{"plain"};
  const auto block = bench.allocate(0, 100);
  const HeapEffect effect = bench.release(1, block);
  ASSERT_EQ(effect.operations.size(), 1u);
  EXPECT_EQ(effect.operations[0].kind, PageOperation::Kind::forget);
  EXPECT_EQ(effect.operations[0].range, block.range);
  EXPECT_NE(bench.allocate(1, 100).range.first, block.range.first);
  EXPECT_NE(bench.allocate(0, 200).range.first, block.range.first);  // another size
  EXPECT_EQ(bench.allocate(0, 97).range.first, block.range.first);   // both take 112 bytes
}

}  // namespace
}  // namespace homenode::test
