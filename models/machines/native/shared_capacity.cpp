#include "models/machines/native/shared_capacity.hpp"

#include <algorithm>
#include <vector>

#include "models/machines/native/calibration_plan.hpp"
#include "models/machines/native/estimators.hpp"
#include "models/machines/native/measure.hpp"
#include "models/machines/native/measure_system.hpp"
#include "models/machines/native/other_thread.hpp"

namespace homenode {
namespace {

constexpr std::size_t least_set = std::size_t{4} << 20, most_set = std::size_t{32} << 20, array = std::size_t{128} << 20;
constexpr native::NewMemory much{2 * most_set, 6 * most_set};

double dependent_bytes(const native::Buffer& buffer, const Machine& machine) {
  std::vector<native::LatencyPoint> curve;
  for (std::size_t set = least_set; set <= most_set; set *= 2) {
    for (const std::size_t bytes : {set, set + set / 2})
      if (bytes <= most_set) curve.push_back({static_cast<double>(bytes), native::chase_nanoseconds(buffer, bytes, 2).median});
  }
  return native::served_bytes(curve, machine.caches.back().latency.nanoseconds(), machine.nodes.front().latency.nanoseconds());
}

// What such a load takes from the last level and from memory is measured as well: no description has it.
double independent_bytes(const native::Buffer& buffer, const Machine& machine) {
  const auto inner = static_cast<std::size_t>(machine.caches[machine.caches.size() - 2].size.count());
  const double hit = native::gather_nanoseconds(buffer, std::min(2 * inner, least_set), 3).value;
  std::vector<native::LatencyPoint> curve;
  for (std::size_t set = least_set; set <= most_set; set *= 2)
    curve.push_back({static_cast<double>(set), native::gather_nanoseconds(buffer, set, 3).median});
  return native::served_bytes(curve, hit, native::gather_nanoseconds(buffer, array, 3).median);
}

}  // namespace

SharedCapacity shared_capacity(const Machine& machine) {
  const std::vector<unsigned> cpus = native::usable_cpus();
  SharedCapacity capacity;
  native::on_cpu(cpus.front(), [&] {
    const native::Buffer buffer{array};
    capacity.clock = native::core_hertz(native::additions_of_long_samples, 3).median;
    if (machine.caches.size() > 1) {
      capacity.last_level_independent = independent_bytes(buffer, machine);
      capacity.last_level_dependent = dependent_bytes(buffer, machine);
    }
    // The last level serves a part of that set, too.
    const double share = std::min(0.5, capacity.last_level_dependent / static_cast<double>(array));
    const double hit = machine.caches.empty() ? 0 : machine.caches.back().latency.nanoseconds();
    capacity.memory_latency = (native::chase_nanoseconds(buffer, array, 1).median - share * hit) / (1 - share);
    capacity.page_fault = native::fault_nanoseconds(native::FirstAccess::write, warm_memory(machine));
    capacity.cold_page_fault = native::fault_nanoseconds(native::FirstAccess::write, much);
  });
  capacity.other_thread = native::other_thread_share(cpus, 500);
  if (cpus.size() > 1) capacity.core_to_core = native::core_to_core_nanoseconds(cpus[0], cpus[1], 20).median;
  capacity.read_bandwidth = native::bandwidth(native::Kernel::read, cpus, array, 3).median;
  capacity.one_to_one = native::bandwidth(native::Kernel::copy_nontemporal, cpus, array, 3).median;
  return capacity;
}

}  // namespace homenode
