// The DIMMs of the shipped machines against the bandwidths that these were measured at: what refresh, rows and activations leave of the
// transfer rate is not told to the model, so that agreement is a result.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <queue>
#include <vector>

#include "models/engines/line/memory_controller.hpp"
#include "models/machines/machine_file.hpp"
#include "sim/machine/mixed_bits.hpp"
#include "tests/support/source_folder.hpp"

namespace homenode::test {
namespace {

constexpr std::uint64_t page_lines = 64;

// Of one controller: each core of its node reads a vector of its own, with its share of the core's lines under way. Lines a second.
double lines_per_second(MemoryController controller, std::size_t cores, std::size_t under_way, std::int64_t latency) {
  using Leaves = std::pair<std::int64_t, std::size_t>;  // a line, of a core
  std::priority_queue<Leaves, std::vector<Leaves>, std::greater<>> leaves;
  std::vector<std::uint64_t> next(cores);
  for (std::size_t core = 0; core < cores; ++core) {
    next[core] = mixed_bits(core + 1) % (std::uint64_t{1} << 40);
    for (std::size_t line = 0; line < under_way; ++line) leaves.push({static_cast<std::int64_t>(core), core});
  }
  constexpr std::uint64_t lines = 200'000;
  std::int64_t now = 0;
  for (std::uint64_t line = 0; line < lines; ++line) {
    const auto [at, core] = leaves.top();
    leaves.pop();
    now = at;
    leaves.push({controller.read(LineNumber{next[core]++}, now) + latency - controller.idle(), core});
  }
  return static_cast<double>(lines - cores * under_way) / (static_cast<double>(now) * 1e-12);
}

double lines_per_second(const Machine& machine, std::size_t controller, LineCosts costs) {
  const NodeId node = machine.controllers[controller].node;
  std::size_t cores = 0, controllers = 0;
  for (const NodeId of_core : machine.core_node) cores += of_core == node ? 1 : 0;
  for (const ControllerDescription& other : machine.controllers) controllers += other.node == node ? 1 : 0;
  if (cores == 0) cores = machine.cores() / machine.sockets;  // memory behind a link is read by a socket
  return lines_per_second({machine.dram, costs, page_lines}, cores, std::max<std::size_t>(machine.prefetched_lines / controllers, 1),
                          machine.nodes[node.index()].latency.count());
}

TEST(ShippedDimms, deliverWhatWasMeasuredAndNoMore) {
  std::size_t machines = 0;
  for (const auto& file : std::filesystem::directory_iterator(source_folder() / "models" / "machines")) {
    if (file.path().extension() != ".toml") continue;
    const Machine machine = load_machine(file.path());
    if (machine.dram.burst == Time{}) continue;
    ++machines;
    for (std::size_t c = 0; c < machine.controllers.size(); ++c) {
      const LineCosts costs = line_costs(machine, c);
      if (c > 0 && costs.read == line_costs(machine, c - 1).read) continue;
      // Memory beyond what DIMMs deliver (HBM) is described by them all the same: of no weight here.
      const double peak = machine.dram.channels / machine.dram.burst.seconds();
      if (1 / costs.read > peak) continue;
      const double delivered = lines_per_second(machine, c, costs) * costs.read;
      EXPECT_LE(delivered, 1.001) << machine.name << ", controller " << c;
      EXPECT_GE(delivered, 0.95) << machine.name << ", controller " << c;
    }
  }
  EXPECT_EQ(machines, 18U);
}

TEST(ShippedDimms, aloneDeliverWithinATenthOfWhatWasMeasured) {
  // Where DIMMs are the bottleneck: with their peak as the only bound. What was measured: 55.2 GB/s of 59.7 and 44.05 of 51.2.
  for (const char* name : {"xeon-e5-2697v2-2s", "xeon-8380-2s"}) {
    const Machine machine = load_machine(source_folder() / "models" / "machines" / (std::string{name} + ".toml"));
    const double at_peak = machine.dram.burst.seconds() / machine.dram.channels;
    EXPECT_NEAR(lines_per_second(machine, 0, {at_peak, at_peak}) * line_costs(machine, 0).read, 1, 0.1) << name;
  }
}

}  // namespace
}  // namespace homenode::test
