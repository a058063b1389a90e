#include "models/engines/parts/bottlenecks.hpp"

#include <algorithm>

#include "models/engines/parts/controller_load.hpp"

namespace homenode {

BindingCauses::BindingCauses(const Machine& machine, const Topology& topology, std::span<const char* const> private_names,
                             std::size_t regions)
    : machine_{machine},
      topology_{topology},
      private_names_{private_names},
      shared_{shared_resources(machine, topology)},
      seconds_(regions) {}

std::string BindingCauses::name(std::size_t cause) const {
  return cause >= shared_ ? private_names_[cause - shared_] : shared_resource_name(machine_, topology_, cause);
}

std::vector<std::vector<BottleneckTime>> BindingCauses::ranked() const {
  std::vector<std::vector<BottleneckTime>> result(seconds_.size());
  for (std::size_t region = 0; region < seconds_.size(); ++region) {
    for (const auto& [cause, seconds] : seconds_[region]) result[region].push_back({name(cause), seconds});
    std::stable_sort(result[region].begin(), result[region].end(),
                     [](const BottleneckTime& a, const BottleneckTime& b) { return a.seconds > b.seconds; });
  }
  return result;
}

}  // namespace homenode
