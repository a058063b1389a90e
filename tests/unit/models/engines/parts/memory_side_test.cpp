// Memory-side caches and the directory in memory, line by line: who has what, what is pushed out, what is noted.
#include "models/engines/parts/memory_side.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/placement/register.hpp"
#include "sim/program/workload_builder.hpp"
#include "tests/support/machines.hpp"

namespace homenode::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t page = 4096;

// An array of eight pages; the memory-side cache of node 0 holds two.
struct Bench {
  explicit Bench(bool directory = false, bool zeroed = false) : machine{two_sockets(1)} {
    NodeDescription& node = machine.nodes.front();
    if (directory) {
      machine.directory_in = DirectoryPlace::memory;
    } else {
      node.memory_side_cache = Bytes{2 * page};
      node.memory_side_latency = Time::nanoseconds(60);
      node.memory_side_read_only = node.memory_side_one_to_one = Bandwidth::bytes_per_second(1e9);
    }
    WorkloadBuilder builder;
    array = builder.object("array", 8 * page, ObjectKind::mapped);
    workload = builder.build();
    policy = page_placements().make("bind:0");
    policy->prepare(nullptr, machine);
    addresses.emplace(machine, *workload, *policy, Bytes{page});
    side.emplace(machine, zeroed);
  }
  // Lines [first, last) of the array.
  LineRange lines(std::uint64_t first, std::uint64_t last) {
    const Address base = addresses->address(array, ThreadId{0u});
    addresses->touch({base + 64 * first, base + 64 * last}, true, {ThreadId{0u}, CoreId{0u}, NodeId{0u}, Time{}});
    const LineNumber begin = line_of(base, 64);
    return {begin + first, begin + last};
  }
  MemorySide::Met sum(const std::function<void(const MemorySide::Each&)>& ask) {
    MemorySide::Met all;
    ask([&](const MemorySide::Met& met) {
      all.lines += met.lines;
      all.hits += met.hits;
      all.fills += met.fills;
      all.victims += met.victims;
      all.directory += met.directory;
    });
    return all;
  }
  MemorySide::Met read(std::uint64_t first, std::uint64_t last, unsigned node = 0) {
    const LineRange range = lines(first, last);
    return sum([&](const MemorySide::Each& each) { side->read(range, NodeId{node}, *addresses, each); });
  }
  MemorySide::Met write(std::uint64_t first, std::uint64_t last, unsigned node = 0) {
    const LineRange range = lines(first, last);
    return sum([&](const MemorySide::Each& each) { side->write(range, NodeId{node}, *addresses, each); });
  }
  std::vector<std::uint64_t> victims() {
    std::vector<std::uint64_t> numbers;
    const LineNumber begin = line_of(addresses->address(array, ThreadId{0u}), 64);
    for (const LineNumber line : side->victims()) numbers.push_back(line - begin);
    side->victims().clear();
    return numbers;
  }

  Machine machine;
  ObjectId array;
  std::shared_ptr<Workload> workload;
  std::unique_ptr<PagePlacement> policy;
  std::optional<AddressSpace> addresses;
  std::optional<MemorySide> side;
};

TEST(MemorySideCache, hasWhatWasReadBefore) {
  Bench bench;
  EXPECT_EQ(bench.read(0, 10).hits, 0U);
  EXPECT_EQ(bench.read(5, 20).hits, 5U);
  EXPECT_EQ(bench.read(0, 64).hits, 20U);
  EXPECT_EQ(bench.read(60, 70).hits, 4U);  // over the border of two pages
}

TEST(MemorySideCache, isOfAllReadersOfItsNode) {
  Bench bench;
  bench.read(0, 10);
  EXPECT_EQ(bench.read(0, 10, 1).hits, 10U);
}

// Pages 0, 1, 2 come in this order: 2 shares its place with 0, line by line.
TEST(MemorySideCache, pushesOutTheSameLineOfThePageInItsPlace) {
  Bench bench;
  bench.read(0, 128);
  EXPECT_EQ(bench.read(128, 138).hits, 0U);
  EXPECT_EQ(bench.read(0, 64).hits, 54U);    // but ten of page 0
  EXPECT_EQ(bench.read(128, 138).hits, 0U);  // which came back
  EXPECT_EQ(bench.read(64, 128).hits, 64U);
}

TEST(MemorySideCache, writesModifiedLinesToMemoryThatArePushedOut) {
  Bench bench;
  EXPECT_EQ(bench.write(0, 3).fills, 3U);
  EXPECT_EQ(bench.write(0, 4).fills, 1U);
  bench.read(64, 128);
  EXPECT_THAT(bench.victims(), IsEmpty());
  EXPECT_EQ(bench.read(129, 131).victims, 2U);
  EXPECT_THAT(bench.victims(), ElementsAre(1, 2));
  EXPECT_EQ(bench.read(129, 131).victims, 0U);
}

TEST(MemorySideCache, hasAllOfAPageThatTheKernelZeroed) {
  Bench bench{false, true};
  const MemorySide::Met first = bench.read(3, 10);
  EXPECT_EQ(first.hits, 7U);
  EXPECT_EQ(first.fills, 0U);
  EXPECT_EQ(bench.write(20, 30).fills, 0U);
  bench.read(64, 65);
  EXPECT_EQ(bench.read(128, 129).victims, 64U);  // of page 0, by page 2
}

TEST(MemorySideCache, forgetsPagesThatAreGivenBack) {
  Bench bench;
  bench.write(0, 64);
  bench.side->forget(bench.lines(0, 64));
  EXPECT_EQ(bench.read(0, 64).hits, 0U);
  EXPECT_THAT(bench.victims(), IsEmpty());
}

TEST(DirectoryInMemory, isWrittenOnceForALineThatAnotherSocketReads) {
  Bench bench{true};
  EXPECT_EQ(bench.read(0, 10).directory, 0U);
  EXPECT_EQ(bench.read(0, 10, 1).directory, 10U);
  EXPECT_EQ(bench.read(0, 12, 1).directory, 2U);
  EXPECT_EQ(bench.read(0, 12).directory, 0U);
}

TEST(DirectoryInMemory, isClearedByAWriteBack) {
  Bench bench{true};
  bench.read(0, 10, 1);
  EXPECT_EQ(bench.write(0, 4, 1).directory, 0U);
  EXPECT_EQ(bench.read(0, 10, 1).directory, 4U);
  EXPECT_EQ(bench.read(0, 10, 1).hits, 0U);
}

}  // namespace
}  // namespace homenode::test
