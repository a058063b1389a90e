// Equations of a controller with round numbers: activate 10, precharge 20, column 15 ns, row cycle 60 ns, rows stay open for 200 ns;
// reads 16 GB/s (4 ns a line of 64 B), one to one 12.8 GB/s, so a write costs 6 ns; two channels.
#include "models/engines/line/memory_controller.hpp"

#include <gtest/gtest.h>

namespace homenode::test {
namespace {

constexpr std::int64_t ns = 1000;
constexpr std::uint64_t page_lines = 64;
// Lines of channel 0 (even ones), page by page.
constexpr LineNumber line_of(std::uint64_t page, std::uint64_t line) { return LineNumber{page * page_lines + 2 * line}; }

MemoryController controller(unsigned banks = 8) {
  DramDescription dram;
  dram.channels = 2;
  dram.banks = banks;
  dram.activate = Time::picoseconds(10 * ns);
  dram.precharge = Time::picoseconds(20 * ns);
  dram.column = Time::picoseconds(15 * ns);
  dram.row_cycle = Time::picoseconds(60 * ns);
  dram.row_closes_after = Time::picoseconds(200 * ns);
  dram.write_batch = 4;
  return {dram, {4e-9, 6e-9}, page_lines};
}

TEST(MemoryController, anIdleReadTakesActivateAndColumn) {
  MemoryController c = controller();
  EXPECT_EQ(c.idle(), 25 * ns);
  EXPECT_EQ(c.read(line_of(0, 0), 1000 * ns), (1000 + 25) * ns);
}

TEST(MemoryController, anOpenRowTakesTheColumnOnly) {
  MemoryController c = controller();
  c.read(line_of(0, 0), 0);
  EXPECT_EQ(c.read(line_of(0, 1), 100 * ns), (100 + 15) * ns);
  EXPECT_EQ(c.row_hits(), 1U);
  // 201 ns without use: closed again, and the row cycle is long over.
  EXPECT_EQ(c.read(line_of(0, 2), 301 * ns), (301 + 25) * ns);
}

TEST(MemoryController, anotherOpenRowIsPrechargedFirst) {
  MemoryController c = controller(1);
  c.read(line_of(0, 0), 0);
  EXPECT_EQ(c.read(line_of(1, 0), 100 * ns), (100 + 20 + 10 + 15) * ns);
  // A third one at once: activations are a row cycle apart. The last one was at 120.
  EXPECT_EQ(c.read(line_of(2, 0), 130 * ns), (120 + 60 + 10 + 15) * ns);
  // The row before is precharged at 180 - 20: until then its lines go first.
  EXPECT_EQ(c.read(line_of(1, 1), 160 * ns), (160 + 15) * ns);
  EXPECT_EQ(c.row_hits(), 1U);
  // Afterwards it is another row, opened for the last time at 180; the precharge begins at once.
  EXPECT_EQ(c.read(line_of(1, 2), 300 * ns), (300 + 20 + 10 + 15) * ns);
  // The column of that one is at 330: only then its row may be precharged. But a row cycle after 320 is later.
  EXPECT_EQ(c.read(line_of(0, 1), 310 * ns), (320 + 60 + 10 + 15) * ns);
}

TEST(MemoryController, aRowOnItsWayIsWaitedFor) {
  // Activated at 1000 ns, so open from 1010 on: column 15. The bus would be free at 1015 + 8.
  MemoryController c = controller();
  c.read(line_of(0, 0), 1000 * ns);
  EXPECT_EQ(c.read(line_of(0, 1), 1001 * ns), (1000 + 10 + 15) * ns);
  EXPECT_EQ(c.row_hits(), 1U);
}

TEST(MemoryController, readsOfAStreamGoAtTheReadBandwidth) {
  MemoryController c = controller();
  std::int64_t last = 0;
  constexpr int lines = 6400;
  for (int line = 0; line < lines; ++line) last = c.read(static_cast<LineNumber>(line), 0);
  // 4 ns a line of the controller; the first waits for its row.
  EXPECT_NEAR(static_cast<double>(last), lines * 4.0 * ns, 0.01 * lines * 4 * ns);
  EXPECT_GE(last, (lines - 2) * 4 * ns);
}

TEST(MemoryController, asManyWritesAsReadsGoAtTheBandwidthOneToOne) {
  MemoryController c = controller();
  std::int64_t last = 0;
  constexpr int lines = 6400;
  for (int line = 0; line < lines; ++line) {
    last = c.read(static_cast<LineNumber>(line), 0);
    c.write(static_cast<LineNumber>(line), 0);
  }
  EXPECT_NEAR(static_cast<double>(last), lines * (4.0 + 6.0) * ns, 0.01 * lines * 10 * ns);
}

TEST(MemoryController, aWriteIsAcceptedWhenFewerThanTwoBatchesWait) {
  MemoryController c = controller();
  // Batches of 4 lines of 12 ns on one channel's bus: each holds it for 48 ns. The third is full at 0, when two wait.
  for (int line = 0; line < 12; ++line) EXPECT_EQ(c.write(line_of(0, static_cast<std::uint64_t>(line)), 0), 0);
  EXPECT_EQ(c.write(line_of(0, 12), 0), (3 * 48 - 2 * 48) * ns);
}

TEST(MemoryController, noMoreLinesThanItsBusesCarry) {
  MemoryController c = controller();
  std::int64_t last = 0;
  for (std::uint64_t line = 0; line < 1000; ++line)
    last = std::max(last, c.read(LineNumber{line * 37}, static_cast<std::int64_t>(line) * ns));
  EXPECT_LE(c.busy(), 2 * (last + 8 * ns));  // two channels
}

}  // namespace
}  // namespace homenode::test
