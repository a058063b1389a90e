// Loads that the core waits for, beside what it computes and what else is in flight (line_bench.hpp).
#include <gtest/gtest.h>

#include <tuple>

#include "sim/program/code_cycles.hpp"
#include "tests/unit/models/engines/line/line_bench.hpp"

namespace homenode::test {
namespace {

std::shared_ptr<const CodeCycles> waits_for(std::uint8_t of_255_loads) {
  CodeCycles code;
  code.waited = std::make_shared<const WaitedLoads>(16, of_255_loads);  // the sites of the loops and of their accesses
  return std::make_shared<const CodeCycles>(code);
}

TEST(WaitedLines, addToComputing) {
  // 1000 lines, ten in flight, beside 200 us of computing. Each that the core waits for adds its 100 ns less the 1 ns of a hit.
  for (const auto& [waited, load_waits, share] :
       {std::tuple<std::uint8_t, double, double>{0, 1, 0}, {51, 1, 0.2}, {255, 1, 1}, {255, 0.5, 0.5}, {255, 0, 0}}) {
    Machine machine = one_node();
    machine.core.issue = 1;
    machine.load_waits = load_waits;
    LineBench bench{machine};
    std::vector<std::int64_t> offsets(1000);
    for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] = static_cast<std::int64_t>(i) * page;
    const RegionId region = bench.builder.loop("loop", 1);
    bench.builder.stream(region, AccessKind::read, bench.array, offsets);
    WorkCounts counts;
    counts.instructions = 400000;
    bench.builder.work(region, counts);
    const ExecutionId loop = bench.builder.repeat(region);
    bench.options.code = waits_for(waited);
    bench.build();
    const double expected = 200e-6 + share * 1000 * 99e-9;
    EXPECT_NEAR(bench.time(loop).seconds(), expected, 0.002 * expected);
  }
}

TEST(WaitedLines, areWaitedForEachAloneAndNotWithThoseInFlight) {
  // 1024 lines in the second level, which are waited for, 5 - 1 ns each; beside them a stream of stores to memory, ten in flight.
  Machine machine = one_node();
  machine.core.issue = 1;
  const auto seconds = [&](std::uint8_t waited) {
    LineBench bench{machine};
    std::vector<std::int64_t> warm;
    for (std::int64_t i = 0; i < 1024; ++i) warm.push_back(i * line);
    const auto first = bench.loop(AccessKind::read, warm, 0, 0, 1);
    const RegionId region = bench.builder.loop("loop", 1);
    // Rows that begin a line apart from those of the array: another page each, and another set.
    bench.builder.interleaved(region, 1024, {}, bench.array, [](std::int64_t step) { return step * line; },
                              {write(bench.array, 1024 * page, {page + line})});
    WorkCounts counts;
    counts.instructions = 49152;  // 12 ns an access
    bench.builder.work(region, counts);
    const ExecutionId loop = bench.builder.repeat(region);
    bench.options.code = waits_for(waited);
    bench.build();
    bench.time(first);
    return bench.time(loop).seconds();
  };
  const double without = seconds(0);
  EXPECT_NEAR(without, 2 * 1024 * 12e-9, 0.05 * without);  // the stores overlap
  // Lines that the stores have pushed out of the second level take 20 - 1 ns in the third: hardly any.
  EXPECT_NEAR(seconds(255) - without, 1024 * 4e-9, 0.15 * 1024 * 4e-9);
}

}  // namespace
}  // namespace homenode::test
