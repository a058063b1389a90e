// Which memory a run finds zeroed in the caches: what goes back to the system and comes again, not what a heap keeps (decision 0058).
#include <gtest/gtest.h>

#include <numeric>

#include "sim/program/recorded.hpp"
#include "sim/program/workload_builder.hpp"
#include "tests/support/accounted_run.hpp"
#include "tests/support/machines.hpp"

namespace homenode::test {
namespace {

constexpr std::int64_t block_bytes = 256 << 10;

std::uint64_t sum(const std::vector<std::uint64_t>& values) { return std::accumulate(values.begin(), values.end(), std::uint64_t{0}); }

class OnEngine : public ::testing::TestWithParam<const char*> {
protected:
  // Of a core that allocates a block, writes it and releases it, twice: bytes read from memory.
  std::uint64_t read_bytes(const std::string& heap, const std::string& pages = "4KiB", bool knows_objects = true) const {
    WorkloadBuilder builder;
    const ObjectId a = builder.object("a", block_bytes), b = builder.object("b", block_bytes);
    const RegionId region = builder.serial("temporaries");
    for (const ObjectId block : {a, b}) {
      builder.heap(region, HeapOperation::allocate, block);
      builder.nest(region, {block_bytes / 8}, {write(block, 0, {8})});
      builder.heap(region, HeapOperation::release, block);
    }
    builder.repeat(region);
    const auto workload = builder.build();
    if (!knows_objects) workload->lacks = {name_of(Recorded::objects)};
    RunSpec options;
    options.threads = 1;
    options.engine = GetParam();
    options.heap = heap;
    options.pages = pages;
    return sum(accounted_run(*workload, one_node(), options).counts.read_bytes);
  }
};
INSTANTIATE_TEST_SUITE_P(each, OnEngine, ::testing::Values("flow", "simgrid", "line"));

TEST_P(OnEngine, aBlockThatWasUnmappedIsZeroedAnew) { EXPECT_EQ(read_bytes("glibc"), 0U); }

TEST_P(OnEngine, aBlockThatTheHeapKeptIsNot) {
  // Zeroed at first; its lines are lost with what the first block held, and the second one fetches them.
  EXPECT_EQ(read_bytes("plain"), static_cast<std::uint64_t>(block_bytes));
}

TEST_P(OnEngine, hugePagesAreReadFromMemory) { EXPECT_GE(read_bytes("plain", "thp"), static_cast<std::uint64_t>(block_bytes)); }

TEST_P(OnEngine, memoryOfATraceWithoutObjectsWasInUse) {
  EXPECT_EQ(read_bytes("plain", "4KiB", false), static_cast<std::uint64_t>(2 * block_bytes));
}

}  // namespace
}  // namespace homenode::test
