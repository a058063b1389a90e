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
      for (std::size_t set = least_set; set <= most_set; set *= 2)
        curve.push_back({static_cast<double>(set), native::chase_nanoseconds(buffer, set, 2).median});
      capacity.last_level =
          native::served_bytes(curve, machine.caches.back().latency.nanoseconds(), machine.nodes.front().latency.nanoseconds());
    });
  }
  capacity.read_bandwidth = native::bandwidth(native::Kernel::read, cpus, array, 3).median;
  capacity.one_to_one = native::bandwidth(native::Kernel::copy_nontemporal, cpus, array, 3).median;
  return capacity;
}

}  // namespace homenode
