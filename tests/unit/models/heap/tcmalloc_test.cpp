// TCMalloc's size classes against the library's own, and how spans and caches pass blocks on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "models/heap/owners.hpp"
#include "models/heap/size_classes.hpp"
#include "sim/program/workload_builder.hpp"
#include "tests/support/heaps.hpp"

namespace homenode::test {
namespace {

constexpr std::uint64_t kib = 1024, mib = 1024 * kib;

// Measured: malloc_usable_size of malloc(1) to malloc(262144) under libtcmalloc_minimal 2.10-1 of Debian 12, each new value.
const std::vector<std::uint64_t> sizes_of_the_library{
    8,      16,     32,     48,     64,     80,     96,     112,    128,    144,    160,    176,    192,    208,    224,    240,    256,
    288,    320,    352,    384,    416,    448,    480,    512,    576,    640,    704,    768,    896,    1024,   1152,   1280,   1408,
    1536,   1792,   2048,   2304,   2560,   2816,   3072,   3328,   4096,   4608,   5120,   6144,   6656,   8192,   9216,   10240,  12288,
    13312,  16384,  20480,  24576,  26624,  32768,  40960,  49152,  57344,  65536,  73728,  81920,  90112,  98304,  106496, 114688, 122880,
    131072, 139264, 147456, 155648, 163840, 172032, 180224, 188416, 196608, 204800, 212992, 221184, 229376, 237568, 245760, 253952, 262144};

TEST(SizeClasses, areThoseOfTheLibrary) {
  const SizeClasses classes;
  std::vector<std::uint64_t> sizes;
  for (std::size_t i = 0; i < classes.size(); ++i) sizes.push_back(classes[i].bytes);
  EXPECT_EQ(sizes, sizes_of_the_library);
}

TEST(SizeClasses, wasteAtMostAnEighthOfASpanAndMove64KiBOr32Blocks) {
  const SizeClasses classes;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const SizeClasses::Class& one = classes[i];
    EXPECT_LE(one.pages * SizeClasses::page % one.bytes, one.pages * SizeClasses::page / 8) << one.bytes;
    EXPECT_EQ(one.batch, std::max<std::size_t>(2, std::min<std::size_t>(32, 65536 / one.bytes))) << one.bytes;
    EXPECT_EQ(classes.of(one.bytes, 1), i);
    if (i + 1 < classes.size()) { EXPECT_EQ(classes.of(one.bytes + 1, 1), i + 1); }
  }
  EXPECT_EQ(classes[classes.of(40, 64)].bytes, 64u);
  EXPECT_EQ(classes[classes.of(100, 4096)].bytes, 4096u);
}

TEST(TcMalloc, aFetchGrowsByOneBlockEachTimeUntilItIsAWholeTransfer) {
  HeapBench heap{"tcmalloc"};
  // 1024 bytes: 32 a transfer, 8 a span. Fetches ask for 1, 2, 3, 4 ... blocks; the fourth finds 8 - (1 + 2 + 3) = 2 left in the span.
  std::vector<int> fetched;
  for (int block = 1; block <= 11; ++block) {
    heap.allocate(0, 1024);
    if (!heap.lock.is_none()) fetched.push_back(block);
  }
  EXPECT_THAT(fetched, ::testing::ElementsAre(1, 2, 4, 7, 9));
}

TEST(TcMalloc, aBlockThatAForeignThreadFreedIsServedToThatThread) {
  HeapBench heap{"tcmalloc"};
  const auto block = heap.allocate(0, 100);
  heap.release(2, block);
  EXPECT_EQ(heap.allocate(2, 100).range.first, block.range.first);
}

TEST(TcMalloc, freedSpansJoinAndGoToWhoeverAsks) {
  HeapBench heap{"tcmalloc:release=0"};
  const auto a = heap.allocate(0, mib), b = heap.allocate(0, mib);
  heap.write(0, a);
  heap.release(0, a);
  heap.release(0, b);
  const auto both = heap.allocate(2, 2 * mib);  // thread 2 is on node 1
  EXPECT_EQ(both.range.first, std::min(a.range.first, b.range.first));
  EXPECT_EQ(heap.addresses->home_of(a.range.first), NodeId{0});  // its pages stay where they were written first
  EXPECT_EQ(heap.manager->reserved_bytes(), 2 * mib);
}

TEST(TcMalloc, aSpanGivesItsFramesBackAfterAThousandTimesItsPages) {
  HeapBench heap{"tcmalloc", 2, 4096, 4096, mib};
  // The first span of 128 pages goes back as it is entered; the next after 128 000 pages freed, which are 1000 blocks of 1 MiB.
  unsigned discards = 0, calls = 0;
  for (; discards < 2 && calls < 4000; ++calls) {
    const auto block = heap.allocate(0, mib);
    discards += static_cast<unsigned>(block.effect.operations.size());
    discards += static_cast<unsigned>(heap.release(0, block).operations.size());
  }
  EXPECT_EQ(discards, 2u);
  EXPECT_EQ(calls, 1001u);
  EXPECT_EQ(heap.manager->reserved_bytes(), 0u);  // of the block that was freed last, which was all there is
}

TEST(TcMalloc, givesBackOnlyPagesThatLieInTheFreeSpan) {
  // Blocks of 38 x 8 KiB = 304 KiB = 4.75 pages of 64 KiB, one behind the other. The one in the middle goes and comes until its frames go
  // back: not the pages that it shares with its neighbours.
  HeapBench heap{"tcmalloc", 2, 64 * kib, 10'000, mib};
  std::map<Address, HeapBench::Block> blocks;
  for (int i = 0; i < 3; ++i) {
    const auto block = heap.allocate(0, 304 * kib);
    blocks[block.range.first] = block;
  }
  HeapBench::Block middle = std::next(blocks.begin())->second;
  std::vector<PageOperation> operations;
  for (int i = 0; i < 9000 && operations.empty(); ++i) {
    operations = heap.release(0, middle).operations;
    if (operations.empty()) middle = heap.allocate(0, 304 * kib);
  }
  ASSERT_EQ(operations.size(), 1u);
  ASSERT_NE(middle.range.first.value() % (64 * kib), 0u);
  EXPECT_GE(operations[0].range.first, middle.range.first);
  EXPECT_LE(operations[0].range.last, middle.range.last);
}

// At 1 GHz: a call 15 ns; a central list or page heap 400 ns. TCMalloc grows by sbrk and calls without a lock; JArena grows by mmap and
// mbind, and has its cache's lock for the call, too. What the system takes is not the heap's.
TEST(SpanCosts, ofALargeBlockAreThoseOfThePageHeapAndTheSystem) {
  const HeapEffect tcmalloc = HeapBench{"tcmalloc:release=0"}.allocate(0, mib).effect, jarena = HeapBench{"jarena"}.allocate(0, mib).effect;
  EXPECT_EQ(tcmalloc.held, Time::nanoseconds(400));
  EXPECT_EQ(tcmalloc.map_changes, 1u);
  EXPECT_EQ(tcmalloc.cost, Time::nanoseconds(15));
  EXPECT_EQ(jarena.held, Time::nanoseconds(400 + 15));
  EXPECT_EQ(jarena.map_changes, 2u);
  EXPECT_EQ(jarena.cost, Time{});
}

TEST(JArena, givesFramesBackAsTcmallocDoesUnlessToldNot) {
  // IncrementalScavenge counts from 0, so that the first span that comes back goes to the system (span_heap.hpp).
  for (const char* name : {"tcmalloc", "jarena"}) {
    HeapBench heap{name, 2, 4096, 64, mib};
    const auto block = heap.allocate(0, mib);
    EXPECT_FALSE(block.effect.operations.empty() && heap.release(0, block).operations.empty()) << name;
  }
  HeapBench keeps{"jarena:release=0", 2, 4096, 64, mib};
  const auto block = keeps.allocate(0, mib);
  EXPECT_TRUE(block.effect.operations.empty());
  EXPECT_TRUE(keeps.release(0, block).operations.empty());
}

TEST(JArena, aForeignFreeTakesALockOfTheOwnersNodeWhoeverFrees) {
  HeapBench heap{"jarena"};
  const auto a = heap.allocate(0, 100, 1, 3), b = heap.allocate(0, 100, 1, 3), own = heap.allocate(0, 100);
  heap.release(0, a);
  const LockId of_node_1 = heap.lock;
  heap.release(1, b);
  EXPECT_EQ(heap.lock, of_node_1);
  heap.release(0, own);
  EXPECT_NE(heap.lock, of_node_1);
}

TEST(JArena, servesTheOwnersNodeAndTakesForeignFreesBackThere) {
  HeapBench heap{"jarena"};
  const auto block = heap.allocate(0, mib, 1, 3);  // thread 0, node 0, for thread 3, node 1
  heap.write(0, block);
  EXPECT_EQ(heap.addresses->home_of(block.range.first), NodeId{1});
  heap.release(0, block);
  EXPECT_NE(heap.allocate(0, mib).range.first, block.range.first);
  EXPECT_EQ(heap.allocate(2, mib).range.first, block.range.first);

  const auto small = heap.allocate(0, 100, 1, 3);
  heap.release(0, small);  // to node 1's central list, not to thread 0's cache
  EXPECT_NE(heap.allocate(0, 100).range.first, small.range.first);
  std::set<Address> served;
  for (int i = 0; i < 3; ++i) served.insert(heap.allocate(2, 100).range.first);
  EXPECT_TRUE(served.contains(small.range.first));
}

TEST(JArena, theOwnerRuleSaysWhose) {
  HeapBench heap{"jarena:owner=caller"};
  const auto block = heap.allocate(0, mib, 1, 3);
  heap.write(3, block);
  EXPECT_EQ(heap.addresses->home_of(block.range.first), NodeId{0});
  EXPECT_THROW(heap_managers().make("jarena:owner=nobody"), UsageError);
  HeapBench marked{"jarena"};
  EXPECT_THROW(marked.allocate(0, mib, 1, 4), UsageError);  // four threads: 0 to 3
}

TEST(Owners, areTheThreadsThatUseABlockMost) {
  WorkloadBuilder builder;
  const ObjectId a = builder.object("a", 8000), b = builder.object("b", 8), unused = builder.object("unused", 8),
                 row = builder.object("row", 80);
  const RegionId init = builder.serial("init");
  builder.stream(init, AccessKind::write, a, {0, 8});
  builder.repeat(init);
  // Four iterations over two threads: 0 and 1 are thread 0's, 2 and 3 thread 1's. Iteration i makes i + 1 accesses of a: 1 + 2 + 2 of
  // the serial code are thread 0's, 3 + 4 thread 1's.
  const RegionId sweep = builder.loop("sweep", 4);
  for (std::int64_t i = 0; i < 4; ++i) {
    builder.stream(sweep, AccessKind::read, a, std::vector<std::int64_t>(static_cast<std::size_t>(i) + 1, 0));
    if (i == 0) builder.stream(sweep, AccessKind::write, b, {0});
    // A run of 10 accesses by thread 1, 9 single ones by thread 0.
    if (i == 0) builder.stream(sweep, AccessKind::read, row, std::vector<std::int64_t>(9, 8));
    if (i == 3) builder.nest(sweep, {10}, {read(row, 0, {8})});
    builder.next_block(sweep, i + 1);
  }
  builder.repeat(sweep);
  const auto owners = owners_by_use(*builder.build(), 2);
  EXPECT_EQ(owners[a.index()], 1);
  EXPECT_EQ(owners[b.index()], 0);
  EXPECT_EQ(owners[row.index()], 1);
  EXPECT_EQ(owners[unused.index()], -1);
}

}  // namespace
}  // namespace homenode::test
