// What an access recorder finds, against sums over single accesses.
#include "sim/program/access_summary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "sim/program/workload_builder.hpp"

namespace homenode::test {
namespace {

constexpr std::uint64_t page = 4096;

// Bytes by (page, thread) and kind, counted access by access.
struct Counted {
  double read = 0, written = 0;
};
std::map<std::pair<std::uint64_t, std::uint32_t>, Counted> spread(const ObjectUse& use) {
  std::map<std::pair<std::uint64_t, std::uint32_t>, Counted> result;
  for (const UsedPages& pages : use.pages)
    for (std::uint64_t p = pages.first; p < pages.last; ++p)
      for (const PageUser& user : pages.users) result[{p, user.thread.value()}] = {user.read, user.written};
  return result;
}

TEST(AccessSummary, aRunCountsForThePagesThatItsBytesLieOn) {
  WorkloadBuilder builder;
  const ObjectId a = builder.object("a", 10 * page, ObjectKind::mapped);
  const RegionId loop = builder.loop("loop", 10);
  builder.nest(loop, {512}, {write(a, 0, {8}, page)});
  builder.repeat(loop);
  const auto workload = builder.build();
  AccessRecorder recorder{*workload, page};
  recorder.introduce(a, 16);  // as glibc's header puts it
  const ItemBlock& block = workload->body(ExecutionId{0})->blocks.front();
  recorder.add(block, 0, 4, ThreadId{0});
  recorder.add(block, 4, 10, ThreadId{1});
  const ObjectUse use = recorder.summary({NodeId{0}, NodeId{1}}).objects.at(a);
  // Thread 0 writes bytes [16, 16 + 4 x 4096) from the begin of page 0, thread 1 those up to 16 + 10 x 4096.
  const auto bytes = spread(use);
  EXPECT_EQ(bytes.size(), 12u);
  EXPECT_DOUBLE_EQ(bytes.at({0, 0}).written, 4096 - 16);
  EXPECT_DOUBLE_EQ(bytes.at({3, 0}).written, 4096);
  EXPECT_DOUBLE_EQ(bytes.at({4, 0}).written, 16);
  EXPECT_DOUBLE_EQ(bytes.at({4, 1}).written, 4096 - 16);
  EXPECT_DOUBLE_EQ(bytes.at({10, 1}).written, 16);
  EXPECT_DOUBLE_EQ(bytes.at({10, 1}).read, 0);
}

TEST(AccessSummary, rowsApartArePiecesAndRowsInReachOfAPageAreOneRange) {
  WorkloadBuilder builder;
  const ObjectId a = builder.object("a", 100 * page, ObjectKind::mapped);
  const RegionId apart = builder.serial("apart"), close = builder.serial("close");
  builder.nest(apart, {8, 10}, {read(a, 0, {8, 10 * static_cast<std::int64_t>(page)})});  // 64 bytes on every tenth page
  builder.nest(close, {8, 20}, {read(a, 0, {8, 4096})});                                  // 64 bytes on each of 20 pages
  builder.repeat(apart);
  builder.repeat(close);
  const auto workload = builder.build();
  for (const std::size_t execution : {std::size_t{0}, std::size_t{1}}) {
    AccessRecorder recorder{*workload, page};
    recorder.introduce(a, 0);
    recorder.add(workload->body(ExecutionId{execution})->blocks.front(), 0, 1, ThreadId{0});
    const ObjectUse use = recorder.summary({NodeId{0}}).objects.at(a);
    double bytes = 0;
    for (const auto& [where, counted] : spread(use)) bytes += counted.read;
    // Every byte is counted once: 10 x 64 and 20 x 64.
    EXPECT_NEAR(bytes, execution == 0 ? 640 : 1280, 1e-9);
    EXPECT_EQ(use.pages.size(), execution == 0 ? 10u : 3u);  // a range, and what its last page has
  }
}

// Any nest: what the summary spreads over pages adds up to all bytes; with contiguous runs page by page.
TEST(AccessSummary, bytesAreConserved) {
  std::mt19937_64 random{7};
  for (int trial = 0; trial < 200; ++trial) {
    WorkloadBuilder builder;
    const auto pick = [&](std::int64_t from, std::int64_t to) { return std::uniform_int_distribution<std::int64_t>{from, to}(random); };
    const std::int64_t inner = pick(1, 600), rows = pick(1, 5), row = 8 * inner + 8 * pick(0, 3000), iterations = pick(1, 6);
    const std::int64_t shift = pick(0, 1) == 0 ? rows * row : 0;
    const ObjectId a = builder.object("a", static_cast<std::uint64_t>(rows * row + iterations * shift + 8 * inner), ObjectKind::mapped);
    const RegionId loop = builder.loop("loop", iterations);
    builder.nest(loop, {static_cast<std::uint32_t>(inner), static_cast<std::uint32_t>(rows)}, {read(a, 0, {8, row}, shift)});
    builder.stream(loop, AccessKind::write, a, {0, 8 * (inner - 1), 0}, 0, shift);
    builder.repeat(loop);
    const auto workload = builder.build();
    AccessRecorder recorder{*workload, page};
    recorder.introduce(a, 0);
    const std::int64_t cut = pick(0, iterations);
    const ItemBlock& block = workload->body(ExecutionId{0})->blocks.front();
    if (cut > 0) recorder.add(block, 0, cut, ThreadId{0});
    if (cut < iterations) recorder.add(block, cut, iterations, ThreadId{1});
    double read = 0, written = 0;
    for (const auto& [where, counted] : spread(recorder.summary({NodeId{0}, NodeId{0}}).objects.at(a))) {
      read += counted.read;
      written += counted.written;
    }
    EXPECT_NEAR(read, static_cast<double>(8 * inner * rows * iterations), 1e-6);
    EXPECT_NEAR(written, static_cast<double>(3 * 8 * iterations), 1e-6);
  }
}

TEST(AccessSummary, anObjectThatLiesOtherwiseInItsPageIsKnownByTheLargerPart) {
  // Page 3 of an object with phase 16 begins 3 x 4096 - 16 bytes behind byte 0.
  EXPECT_EQ(AccessSummary::page_number(3 * 4096 - 16, 16, page), 3u);
  // An object at phase 0: its pages begin 16 bytes later.
  EXPECT_EQ(AccessSummary::page_number(3 * 4096, 16, page), 3u);
  EXPECT_EQ(AccessSummary::page_number(3 * 4096 - 2000, 16, page), 3u);
  EXPECT_EQ(AccessSummary::page_number(-3000, 16, page), 0u);
}

// 14 GB: ranges, not pages.
TEST(AccessSummary, growsWithRangesNotWithPages) {
  WorkloadBuilder builder;
  const std::int64_t row = 1 << 20, rows = 14'000;
  const ObjectId a = builder.object("a", static_cast<std::uint64_t>(rows * row), ObjectKind::mapped);
  const RegionId loop = builder.loop("loop", rows);
  builder.nest(loop, {1 << 17}, {read(a, 0, {8}, row)});
  builder.repeat(loop);
  const auto workload = builder.build();
  AccessRecorder recorder{*workload, page};
  recorder.introduce(a, 16);
  for (std::size_t t = 0; t < 32; ++t) {
    const auto first = static_cast<std::int64_t>(t) * rows / 32, last = (static_cast<std::int64_t>(t) + 1) * rows / 32;
    recorder.add(workload->body(ExecutionId{0})->blocks.front(), first, last, ThreadId{t});
  }
  // A range for each thread, and its first and last pages by themselves.
  EXPECT_LE(recorder.summary(std::vector<NodeId>(32, NodeId{0})).objects.at(a).pages.size(), 3u * 32);
}

}  // namespace
}  // namespace homenode::test
