// Folding of single accesses: nothing is lost, regular accesses become few runs, memory is given back.
#include "traces/importers/folding.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <random>

#include "sim/program/workload_builder.hpp"
#include "traces/importers/blocks.hpp"
#include "traces/importers/unfold.hpp"

namespace homenode {
namespace {

struct Given {
  std::uint64_t site;
  std::uint32_t object;
  std::int64_t offset;
  AccessKind kind = AccessKind::read;
  std::uint16_t width = 8;
};

constexpr std::uint64_t object_distance = std::uint64_t{1} << 40;

// A workload of one execution; objects and sites lie where `address` and `pc` say.
class Folded {
public:
  void add(const std::vector<Given>& accesses) {
    for (const Given& access : accesses) {
      folder_.add(SiteId{access.site}, ObjectId{access.object}, access.offset, access.kind, access.width);
      most_objects_ = std::max<std::size_t>(most_objects_, access.object + 1);
      most_sites_ = std::max<std::size_t>(most_sites_, access.site + 1);
    }
    joiner_.add(folder_.finish());
    ++iterations_;
  }
  std::shared_ptr<MemoryWorkload> finish() {
    joiner_.finish();
    Execution execution;
    execution.iterations = iterations_;
    workload_->executions.push_back(execution);
    workload_->bodies.push_back(body_);
    for (std::size_t i = 0; i < most_objects_; ++i) {
      TracedObject object;
      object.site = SiteId{most_sites_ + i};
      workload_->objects.push_back(object);
    }
    for (std::size_t i = 0; i < most_sites_; ++i) workload_->sites.push_back({i + 1, "", 0, ""});
    for (std::size_t i = 0; i < most_objects_; ++i) workload_->sites.push_back({i * object_distance, "", 0, ""});
    return workload_;
  }

private:
  std::shared_ptr<MemoryWorkload> workload_ = std::make_shared<MemoryWorkload>();
  std::shared_ptr<ExecutionBody> body_ = std::make_shared<ExecutionBody>();
  AccessFolder folder_;
  BlockJoiner joiner_{[this](const ItemPattern& pattern) {
                        workload_->patterns.push_back(pattern);
                        return PatternId{workload_->patterns.size() - 1};
                      },
                      [this](const ItemBlock& block) { body_->blocks.push_back(block); }};
  std::size_t most_objects_ = 0, most_sites_ = 0;
  std::int64_t iterations_ = 0;
};

std::vector<UnfoldedAccess> expected(const std::vector<Given>& accesses) {
  std::vector<UnfoldedAccess> result;
  for (const Given& access : accesses) {
    const std::uint64_t address = access.object * object_distance + static_cast<std::uint64_t>(access.offset);
    result.push_back({address, access.site + 1, access.width, access.kind});
  }
  return result;
}

std::size_t runs_of(const ItemPattern& pattern) { return pattern.runs.size(); }
std::size_t irregular_of(const ItemPattern& pattern) {
  std::size_t sum = 0;
  for (const IrregularStream& stream : pattern.streams) sum += stream.offset.size();
  return sum;
}

// a[i][j] = b[i][j-1] + b[i][j] + b[i][j+1]; without sites all three reads are of one class.
std::vector<Given> stencil(std::int64_t rows, std::int64_t columns, bool sites) {
  std::vector<Given> result;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 1; j + 1 < columns; ++j) {
      for (std::int64_t d = -1; d <= 1; ++d)
        result.push_back({sites ? static_cast<std::uint64_t>(d + 1) : 0, 0, (i * columns + j + d) * 8});
      result.push_back({sites ? 3u : 0u, 1, (i * columns + j) * 8, AccessKind::write});
    }
  }
  return result;
}

TEST(AccessFolder, SixRegularAccessesAreARunAndFiveAreNot) {
  for (const std::size_t count : {5, 6}) {
    std::vector<Given> accesses;
    for (std::size_t i = 0; i < count; ++i) accesses.push_back({0, 0, static_cast<std::int64_t>(i) * 24});
    Folded folded;
    folded.add(accesses);
    const auto workload = folded.finish();
    EXPECT_EQ(runs_of(workload->patterns.front()), count == 6 ? 1u : 0u);
    EXPECT_EQ(irregular_of(workload->patterns.front()), count == 6 ? 0u : 5u);
  }
}

TEST(AccessFolder, StencilWithSitesIsARunAReference) {
  // runs = 4 references x 1, of two dimensions each
  Folded folded;
  folded.add(stencil(50, 40, true));
  const auto workload = folded.finish();
  const ItemPattern& pattern = workload->patterns.front();
  EXPECT_EQ(runs_of(pattern), 4u);
  EXPECT_EQ(irregular_of(pattern), 0u);
  for (const AccessRun& run : pattern.runs) EXPECT_EQ(run.accesses(), 50u * 38u);
  EXPECT_EQ(unfold(*workload, ExecutionId{0u}, 0), expected(stencil(50, 40, true)));
}

TEST(AccessFolder, StencilWithoutSitesIsFewRuns) {
  // Accesses = rows x (columns - 2) x 4; what does not fold is at the edges only, so it does not grow with the size.
  std::size_t held[2];
  for (const std::int64_t size : {40, 160}) {
    Folded folded;
    folded.add(stencil(size, size, false));
    const auto workload = folded.finish();
    const ItemPattern& pattern = workload->patterns.front();
    EXPECT_EQ(pattern.accesses, static_cast<std::uint64_t>(size * (size - 2) * 4));
    held[size == 160] = runs_of(pattern) + irregular_of(pattern);
    EXPECT_EQ(unfold(*workload, ExecutionId{0u}, 0), expected(stencil(size, size, false)));
  }
  EXPECT_LE(held[1], held[0]);
  EXPECT_LE(held[1], 16u);
}

TEST(AccessFolder, MatrixProductIsThreeRuns) {
  // c[i][j] += a[i][k] * b[k][j], rows padded: three references in three loops, n^3 accesses each. (Without padding the end of a
  // row of a goes on into the next one, and it is some runs more.)
  std::vector<Given> accesses;
  const std::int64_t n = 12, row = n + 4;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t k = 0; k < n; ++k) {
        accesses.push_back({0, 0, (i * row + k) * 8});
        accesses.push_back({1, 1, (k * row + j) * 8});
        accesses.push_back({2, 2, (i * row + j) * 8, AccessKind::read_modify_write});
      }
    }
  }
  Folded folded;
  folded.add(accesses);
  const auto workload = folded.finish();
  EXPECT_EQ(runs_of(workload->patterns.front()), 3u);
  EXPECT_EQ(irregular_of(workload->patterns.front()), 0u);
  EXPECT_EQ(unfold(*workload, ExecutionId{0u}, 0), expected(accesses));
}

TEST(AccessFolder, AnyAccessesComeBackInTheirOrder) {
  // unfold(fold(x)) = x, for mixtures of strided, repeated and random accesses of several sites, objects, kinds and widths.
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random{seed};
    const auto below = [&](std::uint64_t bound) { return random() % bound; };
    std::vector<Given> accesses;
    while (accesses.size() < 3000) {
      const Given start{below(4), static_cast<std::uint32_t>(below(3)), static_cast<std::int64_t>(below(1 << 20)),
                        static_cast<AccessKind>(below(4)), static_cast<std::uint16_t>(1 + below(2) * 7)};
      const std::uint64_t length = below(3) == 0 ? 1 + below(40) : 1;
      const std::int64_t stride = static_cast<std::int64_t>(below(5)) * 8 - 16;
      const std::uint64_t noise = below(4);
      for (std::uint64_t i = 0; i < length; ++i) {
        Given access = start;
        access.offset += static_cast<std::int64_t>(i) * stride;
        accesses.push_back(access);
        if (below(8) < noise) accesses.push_back({below(4), 0, static_cast<std::int64_t>(below(64)) * 8});
      }
    }
    Folded folded;
    folded.add(accesses);
    const auto workload = folded.finish();
    ASSERT_EQ(unfold(*workload, ExecutionId{0u}, 0), expected(accesses)) << "seed " << seed;
  }
}

TEST(AccessFolder, RandomAccessesAreKeptAsColumns) {
  // Bytes in memory follow the columns: runs are few, accesses are all there.
  std::mt19937_64 random{1};
  std::vector<Given> accesses;
  for (int i = 0; i < 20000; ++i) accesses.push_back({0, 0, static_cast<std::int64_t>(random() % (1 << 30))});
  Folded folded;
  folded.add(accesses);
  const auto workload = folded.finish();
  const ItemPattern& pattern = workload->patterns.front();
  EXPECT_EQ(pattern.streams.size(), 1u);
  EXPECT_LT(runs_of(pattern), 10u);
  EXPECT_EQ(unfold(*workload, ExecutionId{0u}, 0), expected(accesses));
}

TEST(AccessFolder, HoldsLittleOfWhatFolds) {
  // held() after n accesses of a regular loop does not depend on n.
  const auto held_after = [](std::int64_t n) {
    AccessFolder folder;
    for (std::int64_t i = 0; i < n; ++i) folder.add(SiteId{0u}, ObjectId{0u}, i * 8, AccessKind::read, 8);
    return folder.held();
  };
  EXPECT_EQ(held_after(1000), held_after(100000));
  EXPECT_LT(held_after(100000), 10u);
}

TEST(BlockJoiner, IterationsThatShiftByAConstantAreOneBlock) {
  // iteration i: reads row i of object 0 (shift = row bytes) and element 0 of it (shift 0), writes row i of object 1
  const std::int64_t columns = 20, iterations = 30;
  const auto row = [&](std::int64_t i) {
    std::vector<Given> accesses;
    for (std::int64_t j = 0; j < columns; ++j) {
      accesses.push_back({0, 0, (i * columns + j) * 8});
      accesses.push_back({1, 0, 0});
      accesses.push_back({2, 1, (i * columns + j) * 8, AccessKind::write});
    }
    return accesses;
  };
  Folded folded;
  for (std::int64_t i = 0; i < iterations; ++i) folded.add(row(i));
  const auto workload = folded.finish();
  const auto body = workload->body(ExecutionId{0u});
  ASSERT_EQ(body->blocks.size(), 1u);
  EXPECT_EQ(body->blocks.front().last, iterations);
  EXPECT_EQ(body->blocks.front().slots.size(), 3u);  // (object 0, shift 160), (object 0, shift 0), (object 1, shift 160)
  for (const std::int64_t i : {std::int64_t{0}, std::int64_t{1}, iterations - 1})
    EXPECT_EQ(unfold(*workload, ExecutionId{0u}, i), expected(row(i)));
}

TEST(BlockJoiner, IterationsThatDifferAreBlocksOfTheirOwn) {
  Folded folded;
  std::vector<std::vector<Given>> iterations;
  std::mt19937_64 random{7};
  for (int i = 0; i < 40; ++i) {
    std::vector<Given> accesses;
    const std::uint64_t length = 1 + random() % 3;
    for (std::uint64_t j = 0; j < length; ++j) accesses.push_back({0, 0, static_cast<std::int64_t>(random() % 4) * 8});
    iterations.push_back(accesses);
    folded.add(accesses);
  }
  const auto workload = folded.finish();
  for (std::size_t i = 0; i < iterations.size(); ++i)
    EXPECT_EQ(unfold(*workload, ExecutionId{0u}, static_cast<std::int64_t>(i)), expected(iterations[i])) << i;
}

}  // namespace
}  // namespace homenode
