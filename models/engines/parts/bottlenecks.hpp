// What held up the work of each region, by cause: the shared resources first (controller_load.hpp), behind them what a core has for itself.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/base/ids.hpp"
#include "sim/hardware/memory_model.hpp"
#include "sim/machine/machine.hpp"
#include "sim/machine/topology.hpp"

namespace homenode {

enum class PrivateCause : std::uint8_t { core, latency, cache, overhead, count };

class Bottlenecks {
public:
  // Machine and topology must outlive it.
  Bottlenecks(const Machine&, const Topology&, std::size_t regions);

  std::size_t shared() const { return shared_; }
  std::size_t causes() const { return shared_ + static_cast<std::size_t>(PrivateCause::count); }
  std::size_t page_faults() const { return shared_ - 1; }
  std::size_t contended_line() const { return shared_ - 2; }
  std::size_t number(PrivateCause cause) const { return shared_ + static_cast<std::size_t>(cause); }
  std::string name(std::size_t cause) const;

  void add(RegionId region, std::size_t cause, double seconds) { seconds_[region.index()][cause] += seconds; }
  // By region, longest first.
  std::vector<std::vector<BottleneckTime>> ranked() const;

private:
  const Machine& machine_;
  const Topology& topology_;
  std::size_t shared_;
  std::vector<std::map<std::size_t, double>> seconds_;  // by region
};

}  // namespace homenode
