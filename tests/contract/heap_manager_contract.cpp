// One contract for every heap manager: random calls of four threads on two nodes, foreign releases included.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "tests/support/heaps.hpp"
#include "tests/support/registered.hpp"

namespace homenode {
namespace {

using test::HeapBench;

// Clauses that a heap may say it does not keep.
const std::string used_again = "freed memory is used again", any_alignment = "any alignment";

class EveryHeap : public ::testing::TestWithParam<std::string> {};

struct RandomCalls {
  RandomCalls(const std::string& name, unsigned seed, std::uint64_t page = 4096)
      : heap{name, 2, page, calls, 2 << 20}, random{seed}, alignments{test::deviates(heap_managers(), name, any_alignment) ? 13u : 16u} {}

  static constexpr std::size_t calls = 4000;
  std::uint64_t draw(std::uint64_t below) { return random() % below; }

  // Sizes of every kind: a few bytes, up to a page, up to a megabyte.
  std::uint64_t bytes() {
    static constexpr std::uint64_t most[] = {64, 64, 1024, 4096, 40'000, 300'000, 1 << 20};
    return 1 + draw(most[draw(std::size(most))]);
  }
  void call() {
    const std::size_t thread = draw(4);
    if (live.empty() || (live.size() < 300 && draw(2) == 0)) {
      const std::uint64_t alignment = draw(10) == 0 ? std::uint64_t{1} << draw(alignments) : 1;
      const auto owner = static_cast<std::int32_t>(draw(4));
      const HeapBench::Block block = heap.allocate(thread, bytes(), alignment, owner);
      EXPECT_EQ(block.range.first.value() % std::max<std::uint64_t>(alignment, 8), 0u);
      // [first, last) of live blocks are disjoint: the one before ends at most where this begins, the one behind begins no earlier.
      const auto behind = live.lower_bound(block.range.first);
      if (behind != live.end()) { EXPECT_GE(behind->first, block.range.last); }
      if (behind != live.begin()) { EXPECT_LE(std::prev(behind)->second.range.last, block.range.first); }
      check_pages(block.effect);  // before the block is there: what it lies on may have been given back before it was cut
      live.emplace(block.range.first, block);
      requested += block.range.size();
      EXPECT_EQ(block.range.size(), heap.workload.objects[block.object.index()].bytes);
      EXPECT_GE(block.effect.cost, Time{});
      EXPECT_GE(block.effect.held, Time{});
      heap.write(static_cast<std::size_t>(owner), block);
    } else {
      auto freed = live.begin();
      std::advance(freed, static_cast<std::ptrdiff_t>(draw(live.size())));
      const HeapBench::Block block = freed->second;
      live.erase(freed);
      requested -= block.range.size();
      check_pages(heap.release(thread, block));
    }
    EXPECT_GE(heap.manager->reserved_bytes(), requested);
  }
  // No page that a live block lies on goes.
  void check_pages(const HeapEffect& effect) {
    for (const PageOperation& operation : effect.operations) {
      if (operation.kind == PageOperation::Kind::forget) continue;
      EXPECT_EQ(operation.range.first.value() % heap.addresses->page_bytes(), 0u);
      EXPECT_EQ(operation.range.last.value() % heap.addresses->page_bytes(), 0u);
      const auto behind = live.lower_bound(operation.range.first);
      if (behind != live.end()) { EXPECT_GE(behind->first, operation.range.last); }
      if (behind != live.begin()) { EXPECT_LE(std::prev(behind)->second.range.last, operation.range.first); }
    }
  }

  HeapBench heap;
  std::mt19937_64 random;
  std::uint64_t alignments;  // powers of two below it: to a page, or to eight
  std::map<Address, HeapBench::Block> live;
  std::uint64_t requested = 0;
};

TEST_P(EveryHeap, blocksNeverOverlapAreAlignedAndKeepTheirPages) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    RandomCalls calls{GetParam(), seed};
    for (std::size_t i = 0; i < RandomCalls::calls; ++i) calls.call();
  }
}

TEST_P(EveryHeap, thePageSizeMayBeLarge) {
  RandomCalls calls{GetParam(), 7, 2 << 20};
  for (std::size_t i = 0; i < 1000; ++i) calls.call();
}

// The same work eight times over needs hardly more memory than twice (a quarter, for what caches hold back), not four times as much:
// freed blocks are used again.
TEST_P(EveryHeap, whatWasFreedIsUsedAgain) {
  HeapBench heap{GetParam(), 2, 4096, 20'000, 300'000};
  std::uint64_t after_first = 0, most = 0;
  for (int pass = 0; pass < 8; ++pass) {
    std::mt19937_64 random{42};
    std::vector<HeapBench::Block> blocks;
    for (int i = 0; i < 400; ++i) blocks.push_back(heap.allocate(1, 1 + random() % (i % 10 == 0 ? 300'000 : 5'000)));
    if (pass == 1) after_first = heap.manager->reserved_bytes();
    if (pass > 1) most = std::max(most, heap.manager->reserved_bytes());
    for (const auto& block : blocks) heap.release(1, block);
  }
  EXPECT_EQ(most > after_first + after_first / 4, test::deviates(heap_managers(), GetParam(), used_again))
      << most << " bytes, after the second pass " << after_first;
}

TEST_P(EveryHeap, equalCallsGetEqualAddresses) {
  RandomCalls one{GetParam(), 5}, other{GetParam(), 5};
  for (std::size_t i = 0; i < 1000; ++i) {
    one.call();
    other.call();
  }
  std::vector<Address> first, second;
  for (const auto& [address, block] : one.live) first.push_back(address);
  for (const auto& [address, block] : other.live) second.push_back(address);
  EXPECT_EQ(first, second);
}

TEST_P(EveryHeap, blocksAreAlignedToMoreThanAPage) {
  HeapBench heap{GetParam()};
  bool aligned = true;
  for (std::size_t i = 0; i < 40; ++i) aligned &= heap.allocate(i % 4, 100 + 9000 * i, 32768).range.first.value() % 32768 == 0;
  EXPECT_EQ(!aligned, test::deviates(heap_managers(), GetParam(), any_alignment));
}

INSTANTIATE_TEST_SUITE_P(registry, EveryHeap, ::testing::ValuesIn(test::every_text(heap_managers())), test::test_name);

TEST(HeapContract, entriesAreSound) { test::expect_sound_entries(heap_managers(), {used_again, any_alignment}); }

// C39 (S1 section 4): no page is shared across nodes, each block lies where its owner runs, and the locks are of one node, or a core.
TEST(JArenaContract, noPageIsSharedAcrossNodesAndNoBlockIsRemote) {
  for (const std::uint64_t page : {4096, 65536}) {
    RandomCalls calls{"jarena", 11, page};
    std::map<LockId, std::set<NodeId>> nodes_by_lock;
    for (std::size_t i = 0; i < RandomCalls::calls; ++i) {
      calls.call();
      for (const auto& [address, block] : calls.live) {
        if (i % 50 != 0) break;
        const NodeId owner = calls.heap.on(static_cast<std::size_t>(calls.heap.workload.objects[block.object.index()].owner_hint)).node;
        for (Address at = block.range.first; at < block.range.last; at += page) ASSERT_EQ(calls.heap.addresses->home_of(at), owner);
        ASSERT_EQ(calls.heap.addresses->home_of(block.range.last - 1), owner);
      }
    }
    EXPECT_EQ(calls.heap.addresses->mixed_owner_pages(), 0u);
  }
  HeapBench heap{"jarena"};
  for (const std::uint64_t bytes : {100, 5000, 1 << 20}) {
    heap.allocate(0, bytes, 1, 0);
    const LockId near = heap.lock;
    heap.allocate(0, bytes, 1, 2);
    EXPECT_NE(heap.lock, near) << bytes;  // of another node
  }
}

// The heaps that know no nodes do mix them: small blocks for two nodes come from one thread's pages.
TEST(TcMallocContract, pagesAreSharedAcrossNodes) {
  for (const std::string name : {"tcmalloc", "glibc"}) {
    HeapBench heap{name};
    for (int i = 0; i < 40; ++i) heap.allocate(0, 1000, 1, i % 4);
    EXPECT_GT(heap.addresses->mixed_owner_pages(), 0u) << name;
  }
}

}  // namespace
}  // namespace homenode
