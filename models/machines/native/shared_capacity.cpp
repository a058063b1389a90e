#include "models/machines/native/shared_capacity.hpp"

#include <algorithm>
#include <vector>

#include "models/machines/native/estimators.hpp"
#include "models/machines/native/measure.hpp"

namespace homenode {
namespace {

constexpr std::size_t least_set = std::size_t{4} << 20, most_set = std::size_t{32} << 20, array = std::size_t{128} << 20;

}  // namespace

SharedCapacity shared_capacity(const Machine& machine) {
  const std::vector<unsigned> cpus = native::usable_cpus();
  SharedCapacity capacity;
  if (machine.caches.size() > 1) {
    native::on_cpu(cpus.front(), [&] {
      const native::Buffer buffer{most_set};
      std::vector<native::LatencyPoint> curve;
      for (std::size_t set = least_set; set <= most_set; set *= 2) {
        for (const std::size_t bytes : {set, set + set / 2})
          if (bytes <= most_set) curve.push_back({static_cast<double>(bytes), native::chase_nanoseconds(buffer, bytes, 2).median});
      }
      capacity.last_level =
          native::served_bytes(curve, machine.caches.back().latency.nanoseconds(), machine.nodes.front().latency.nanoseconds());
    });
  }
  if (cpus.size() > 1) capacity.core_to_core = native::core_to_core_nanoseconds(cpus[0], cpus[1], 20).median;
  capacity.read_bandwidth = native::bandwidth(native::Kernel::read, cpus, array, 3).median;
  capacity.one_to_one = native::bandwidth(native::Kernel::copy_nontemporal, cpus, array, 3).median;
  return capacity;
}

}  // namespace homenode
