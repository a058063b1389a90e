#include "models/engines/parts/bottlenecks.hpp"

#include <algorithm>
#include <array>

#include "models/engines/parts/controller_load.hpp"

namespace homenode {

Bottlenecks::Bottlenecks(const Machine& machine, const Topology& topology, std::size_t regions)
    : machine_{machine}, topology_{topology}, shared_{shared_resources(machine, topology)}, seconds_(regions) {}

std::string Bottlenecks::name(std::size_t cause) const {
  static constexpr std::array<const char*, static_cast<std::size_t>(PrivateCause::count)> names{"core", "latency", "cache", "overhead"};
  return cause >= shared_ ? names.at(cause - shared_) : shared_resource_name(machine_, topology_, cause);
}

std::vector<std::vector<BottleneckTime>> Bottlenecks::ranked() const {
  std::vector<std::vector<BottleneckTime>> result(seconds_.size());
  for (std::size_t region = 0; region < seconds_.size(); ++region) {
    for (const auto& [cause, seconds] : seconds_[region]) result[region].push_back({name(cause), seconds});
    std::stable_sort(result[region].begin(), result[region].end(),
                     [](const BottleneckTime& a, const BottleneckTime& b) { return a.seconds > b.seconds; });
  }
  return result;
}

}  // namespace homenode
