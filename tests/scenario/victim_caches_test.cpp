// Cores that share a cache filled by what their own caches evict: the model by runs against the model line by line.
#include <gtest/gtest.h>

#include "models/machines/machine_file.hpp"
#include "models/run/run.hpp"
#include "sim/program/workload_builder.hpp"
#include "tests/support/accounted_run.hpp"
#include "tests/support/source_folder.hpp"

namespace homenode::test {
namespace {

// STREAM's loops, once each after an initialisation of all arrays: copy, scale, add, triad.
std::shared_ptr<Workload> stream(std::int64_t rows) {
  constexpr std::uint32_t row = 1000;
  constexpr std::int64_t row_bytes = row * 8;
  WorkloadBuilder builder;
  const auto array = [&](const char* name) { return builder.object(name, static_cast<std::uint64_t>(rows * row_bytes)); };
  const ObjectId a = array("a"), b = array("b"), c = array("c");
  const auto loop = [&](const char* label, const std::vector<ObjectId>& sources, const std::vector<ObjectId>& targets) {
    const RegionId region = builder.loop(label, rows);
    std::vector<Reference> runs;
    for (const ObjectId object : sources) runs.push_back(read(object, 0, {8}, row_bytes));
    for (const ObjectId object : targets) runs.push_back(write(object, 0, {8}, row_bytes));
    builder.nest(region, {row}, runs);
    builder.repeat(region);
  };
  loop("init", {}, {a, b, c});
  loop("copy", {a}, {c});
  loop("scale", {c}, {b});
  loop("add", {a, b}, {c});
  loop("triad", {b, c}, {a});
  return builder.build();
}

TEST(VictimCaches, holdAsMuchByRunsAsLineByLine) {
  // Six cores of an Opteron 8431 have 6 x 576 KiB of their own and 5.1 MB in common, 8.7 MB: 7.2 MB of arrays stay in, of 9.6, 12
  // and 14.4 MB ever less does. At the edge, where half of the lines hit, the memory lines agree within 16 %, else within 6 %.
  const Machine machine = load_machine(test::source_folder() / "models/machines/opteron-8431-4s.toml");
  for (const std::int64_t rows : {300, 400, 500, 600}) {
    const auto workload = stream(rows);
    RunSpec options;
    options.threads = 6;
    options.stores = "regular";
    options.caches = "lines";
    const auto expected = static_cast<double>(accounted_run(*workload, machine, options).counts.memory_lines);
    options.caches = "runs";
    const auto found = static_cast<double>(accounted_run(*workload, machine, options).counts.memory_lines);
    EXPECT_NEAR(found / expected, 1, rows == 400 ? 0.16 : 0.06) << rows << " rows: " << found << " for " << expected << " lines";
  }
}

}  // namespace
}  // namespace homenode::test
