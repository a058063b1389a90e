// What psm.h promises, one thread at a time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "tests/unit/traces/psm/pretended.hpp"

namespace {

// Before any other call of the library, whichever test runs first.
const bool pretended = (page_allocator_pretend(pretended_nodes), true);

constexpr std::uintptr_t system_page = 4096;
constexpr int untouched_node = pretended_nodes - 1;  // for a test that counts all of a node's memory

// Owner k resides on node k mod 4.
int node_of_owner(int owner) { return owner % (pretended_nodes - 1); }

void place_owners(int count) {
  for (int owner = 0; owner < count; ++owner) ASSERT_EQ(psm_place_owner(owner, node_of_owner(owner)), 0);
}

std::uintptr_t address(const void* block) { return reinterpret_cast<std::uintptr_t>(block); }

TEST(Psm, knows_its_nodes) {
  ASSERT_TRUE(pretended);
  EXPECT_EQ(psm_nodes(), pretended_nodes);
  EXPECT_EQ(psm_binding(), PSM_FIRST_TOUCH);
}

TEST(Psm, reads_the_kernel_s_list_of_nodes) {
  // nodes = highest number + 1
  EXPECT_EQ(nodes_in_list("0\n"), 1);
  EXPECT_EQ(nodes_in_list("0-3\n"), 4);
  EXPECT_EQ(nodes_in_list("0,2\n"), 3);
  EXPECT_EQ(nodes_in_list("0-1,8-15\n"), 16);
  EXPECT_EQ(nodes_in_list(""), 1);
}

TEST(Psm, refuses_what_it_cannot_place) {
  errno = 0;
  EXPECT_EQ(psm_alloc(64, 4000), nullptr);  // nobody said where owner 4000 resides
  EXPECT_EQ(errno, EINVAL);
  for (const int owner : {-1, static_cast<int>(PSM_MAX_OWNERS)}) {
    errno = 0;
    EXPECT_EQ(psm_alloc(64, owner), nullptr);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(psm_place_owner(owner, 0), -1);
  }
  EXPECT_EQ(psm_place_owner(0, pretended_nodes), -1);
  EXPECT_EQ(psm_place_owner(0, -1), -1);
  ASSERT_EQ(psm_place_owner(0, 0), 0);
  errno = 0;
  EXPECT_EQ(psm_alloc(std::numeric_limits<std::size_t>::max(), 0), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  errno = 0;
  EXPECT_EQ(psm_alloc(std::numeric_limits<std::size_t>::max() / 2, 0), nullptr);
  EXPECT_EQ(errno, ENOMEM);
}

TEST(Psm, passes_over_null_and_strangers) {
  psm_free(nullptr);
  const int on_stack = 0;
  EXPECT_EQ(psm_usable_size(nullptr), 0U);
  EXPECT_EQ(psm_usable_size(&on_stack), 0U);
  EXPECT_EQ(psm_node_of(&on_stack), -1);
  EXPECT_EQ(psm_node_of_owner(3999), -1);
}

TEST(PsmDeathTest, aborts_on_a_stranger_s_block) {
  int on_stack = 0;
  EXPECT_DEATH(psm_free(&on_stack), "");
}

TEST(Psm, size_classes_waste_an_eighth_at_most) {
  place_owners(1);
  // class >= size; the class of a class's size is itself; a span holds as many as of blocks an eighth (or 15 bytes) larger than asked
  for (std::size_t bytes = 1; bytes <= LARGEST_SMALL; bytes += bytes < 4096 ? 1 : 127) {
    const size_class& shape = *size_class_at(size_class_of(bytes));
    const std::size_t span = shape.pages << PAGE_SHIFT;
    ASSERT_GE(shape.bytes, bytes);
    ASSERT_GE(span / shape.bytes, span / (bytes + std::max<std::size_t>(15, bytes / 8))) << bytes;
    ASSERT_EQ(size_class_at(size_class_of(shape.bytes))->bytes, shape.bytes);
    ASSERT_EQ(shape.bytes % 16, 0U);
  }
  // and at most an eighth of a span is left over
  for (int index = 0; index < size_classes_count(); ++index) {
    const size_class& shape = *size_class_at(index);
    const std::size_t span = shape.pages << PAGE_SHIFT;
    EXPECT_LE(span % shape.bytes, span / 8) << shape.bytes;
  }
}

// Many blocks of every size, freed and allocated again in random order.
TEST(Psm, blocks_are_aligned_apart_and_on_their_owner_s_node) {
  constexpr int owners = 8, rounds = 20000;
  place_owners(owners);
  std::mt19937 random(1);
  struct Block {
    std::size_t bytes;
    int owner;
    unsigned char content;
  };
  std::map<std::uintptr_t, Block> live;
  std::map<std::uintptr_t, int> node_of_page;  // that ever held a block: a page never changes its node
  for (int round = 0; round < rounds; ++round) {
    if (!live.empty() && random() % 5 < 2) {
      auto victim = live.lower_bound(live.begin()->first + random() % (live.rbegin()->first - live.begin()->first + 1));
      const auto* bytes = reinterpret_cast<const unsigned char*>(victim->first);
      for (const std::size_t at : {std::size_t{0}, victim->second.bytes / 2, victim->second.bytes - 1}) {
        ASSERT_EQ(bytes[at], victim->second.content);
      }
      psm_free(reinterpret_cast<void*>(victim->first));
      live.erase(victim);
      continue;
    }
    const std::size_t bytes = std::size_t{1} << (random() % 21), size = bytes + random() % bytes;
    const Block block{size, static_cast<int>(random() % owners), static_cast<unsigned char>(random())};
    void* memory = psm_alloc(block.bytes, block.owner);
    ASSERT_NE(memory, nullptr);
    ASSERT_EQ(address(memory) % 16, 0U);
    ASSERT_GE(psm_usable_size(memory), block.bytes);
    ASSERT_EQ(psm_node_of(memory), node_of_owner(block.owner));
    // no overlap: the block before ends before this one, this one ends before the next
    const auto next = live.lower_bound(address(memory));
    if (next != live.end()) { ASSERT_LE(address(memory) + block.bytes, next->first); }
    if (next != live.begin()) { ASSERT_LE(std::prev(next)->first + std::prev(next)->second.bytes, address(memory)); }
    std::memset(memory, block.content, block.bytes);
    live.emplace(address(memory), block);
    for (auto page = address(memory) / system_page; page <= (address(memory) + block.bytes - 1) / system_page; ++page) {
      const auto [entry, fresh] = node_of_page.emplace(page, node_of_owner(block.owner));
      ASSERT_EQ(entry->second, node_of_owner(block.owner)) << "a page shared by nodes";
    }
  }
  for (const auto& [at, block] : live) psm_free(reinterpret_cast<void*>(at));
}

TEST(Psm, not_even_a_huge_page_is_shared_by_two_nodes) {
  place_owners(untouched_node);
  std::map<std::uintptr_t, int> node_of_huge_page;
  for (int i = 0; i < 2000; ++i) {
    const int owner = i % untouched_node;
    const std::size_t bytes = 16 + 37 * static_cast<std::size_t>(i);
    void* memory = psm_alloc(bytes, owner);
    ASSERT_NE(memory, nullptr);
    const auto [entry, fresh] = node_of_huge_page.emplace(address(memory) / CHUNK_BYTES, owner);
    ASSERT_EQ(entry->second, owner);
  }
}

class Recycling : public testing::TestWithParam<std::size_t> {};

// S1, section 4.2: a block of another node returns to its node, and serves that node's owners again.
TEST_P(Recycling, a_foreign_free_returns_to_the_owner_s_node) {
  const std::size_t bytes = GetParam();
  place_owners(pretended_nodes);
  constexpr std::size_t count = 200, passes = 10;
  std::set<void*> served;  // to owner 2, in any pass
  for (std::size_t pass = 0; pass < passes; ++pass) {
    std::set<void*> blocks;
    while (blocks.size() < count) blocks.insert(psm_alloc(bytes, 2));
    served.insert(blocks.begin(), blocks.end());
    std::thread([&] {
      ASSERT_EQ(psm_register_thread(7), 0);  // where this runs: node 0 of a machine of one node
      for (void* block : blocks) psm_free(block);
    }).join();
  }
  ASSERT_NE(psm_node_of_owner(7), 2);
  // the thread that freed them gets none of them
  for (std::size_t i = 0; i < count; ++i) EXPECT_FALSE(served.contains(psm_alloc(bytes, 7)));
  // the owner gets them again: without recycling it would have seen passes x count blocks; with it, those of the spans that
  // count blocks fill, and what other tests left free in theirs
  EXPECT_LT(served.size(), 3 * count);
}

// One of each path: a class of many blocks a span, of one or two, and whole spans.
INSTANTIATE_TEST_SUITE_P(Sizes, Recycling, testing::Values(48, 8000, 200000, 1 << 20));

TEST(Psm, a_free_at_home_serves_the_next_request) {
  std::thread([] {
    ASSERT_EQ(psm_register_thread(100), 0);
    void* block = psm_alloc(500, 100);
    psm_free(block);
    EXPECT_EQ(psm_alloc(500, 100), block);
  }).join();
}

TEST(Psm, an_owner_that_moves_is_served_by_its_new_node) {
  ASSERT_EQ(psm_place_owner(50, 1), 0);
  void* before = psm_alloc(64, 50);
  EXPECT_EQ(psm_node_of(before), 1);
  ASSERT_EQ(psm_place_owner(50, 3), 0);
  EXPECT_EQ(psm_node_of_owner(50), 3);
  EXPECT_EQ(psm_node_of(psm_alloc(64, 50)), 3);
  EXPECT_EQ(psm_node_of(before), 1);
  psm_free(before);
}

// 64 blocks of 1 MiB take 32 chunks of 2 MiB; freed, they join and hold 32 blocks of 2 MiB: 32 chunks in all.
TEST(Psm, spans_join_again) {
  ASSERT_EQ(psm_place_owner(60, untouched_node), 0);
  std::set<std::uintptr_t> chunks;
  for (const std::size_t bytes : {1U << 20, 2U << 20, 1U << 20}) {
    std::vector<void*> blocks((64U << 20) / bytes);
    for (void*& block : blocks) {
      block = psm_alloc(bytes, 60);
      ASSERT_NE(block, nullptr);
      for (auto at = address(block); at < address(block) + bytes; at += PAGE_BYTES) chunks.insert(at / CHUNK_BYTES);
    }
    for (void* block : blocks) psm_free(block);
    EXPECT_EQ(chunks.size(), 32U) << bytes;
  }
}

}  // namespace
