#include "models/machines/native/calibration_plan.hpp"

#include <algorithm>
#include <bit>

namespace homenode {
namespace {

constexpr std::size_t smallest_set = 8 << 10, least_warm = std::size_t{1} << 20;

std::size_t at_most(Bytes wish, double limit) { return static_cast<std::size_t>(std::min(static_cast<double>(wish.count()), limit)); }

std::size_t bytes_of(const CacheDescription& cache) { return static_cast<std::size_t>(cache.size.count()); }

// The largest power of two that fills no more than half of the level. The last level may be a share of a large one: it is measured
// where the level inside it is surely exceeded.
std::size_t level_set(const Machine& machine, std::size_t index) {
  const std::size_t half = std::bit_floor(bytes_of(machine.caches[index]) / 2);
  if (index == 0 || index + 1 < machine.caches.size()) return half;
  return std::min(half, std::bit_ceil(4 * bytes_of(machine.caches[index - 1])));
}

}  // namespace

native::NewMemory warm_memory(const Machine& machine) {
  std::size_t many = least_warm;
  if (machine.caches.size() > 1) many = std::max(many, 8 * bytes_of(machine.caches[machine.caches.size() - 2]));
  return {many / 16, many};
}

CalibrationPlan calibration_plan(const Machine& machine, const CalibrationOptions& options, double memory, std::size_t cpus) {
  CalibrationPlan plan;
  const std::size_t largest = std::bit_floor(at_most(options.largest_working_set, memory / 8));
  const auto last_level = machine.caches.empty() ? 0 : bytes_of(machine.caches.back());
  for (std::size_t set = std::min(smallest_set, largest); set <= largest; set *= 2) {
    plan.working_sets.push_back(set);
    // Where the last level ends and what it keeps of more is of interest, and a virtual machine has an eighth of it, or all.
    if (8 * set < last_level || set > 2 * last_level) continue;
    for (const std::size_t more : {set + set / 4, set + set / 2, set + set / 4 * 3})
      if (more <= largest) plan.working_sets.push_back(more);
  }
  for (std::size_t level = 0; level < machine.caches.size(); ++level)
    plan.level_sets.push_back(std::clamp(level_set(machine, level), plan.working_sets.front(), largest));
  if (machine.caches.size() > 1) {
    const CacheDescription& first = machine.caches.front();
    plan.set_period = bytes_of(first) / first.ways;
    for (std::size_t level = 1; level < machine.caches.size(); ++level) {
      const std::size_t bytes = std::min({8 * bytes_of(machine.caches[level - 1]), bytes_of(machine.caches[level]) / 2, largest});
      const bool told_apart = bytes >= 2 * bytes_of(machine.caches[level - 1]);
      plan.same_set_lines.push_back(told_apart ? bytes / plan.set_period : 0);
    }
  }
  plan.memory_set = std::min(largest, std::bit_ceil(16 * bytes_of(machine.caches.back())));
  plan.gathered_set = std::max(plan.working_sets.front(), plan.memory_set / 4);
  if (machine.caches.size() > 1) {
    const std::size_t inner = bytes_of(machine.caches[machine.caches.size() - 2]);
    for (std::size_t set = std::bit_ceil(2 * inner); set <= std::min(last_level, largest); set *= 2) plan.independent_sets.push_back(set);
  }
  plan.warm_memory = warm_memory(machine);
  if (last_level != 0) {
    const auto on_node = static_cast<std::size_t>(std::count(machine.core_node.begin(), machine.core_node.end(), NodeId{0}));
    const std::size_t held = last_level * std::max<std::size_t>(1, on_node / machine.caches.back().cores_per_cache);
    const std::size_t few = std::min(2 * held, largest / 2);
    plan.cold_memory = {few, std::min(3 * few, largest)};
  }
  plan.array = at_most(options.array, memory / 2 / 3 / static_cast<double>(cpus));
  for (std::size_t threads = 1; threads < cpus; threads *= 2) plan.threads.push_back(threads);
  plan.threads.push_back(cpus);
  for (const std::size_t set : {std::size_t{64} << 20, std::size_t{512} << 20}) plan.walked_sets.push_back(std::min(set, largest));
  if (plan.walked_sets.front() == plan.walked_sets.back()) plan.walked_sets.pop_back();
  return plan;
}

}  // namespace homenode
