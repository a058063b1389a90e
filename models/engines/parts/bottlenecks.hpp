// What held up the work of each region, by cause: the shared resources first (controller_load.hpp), behind them the model's own causes.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "sim/base/ids.hpp"
#include "sim/hardware/memory_model.hpp"
#include "sim/machine/machine.hpp"
#include "sim/machine/topology.hpp"

namespace homenode {

class BindingCauses {
public:
  // Machine, topology and names must outlive it.
  BindingCauses(const Machine&, const Topology&, std::span<const char* const> private_names, std::size_t regions);

  std::size_t shared() const { return shared_; }
  std::size_t page_faults() const { return shared_ - 1; }
  std::size_t of_model(std::size_t private_cause) const { return shared_ + private_cause; }

  void add(RegionId region, std::size_t cause, double seconds) { seconds_[region.index()][cause] += seconds; }
  // By region, longest first.
  std::vector<std::vector<BottleneckTime>> ranked() const;

private:
  std::string name(std::size_t cause) const;

  const Machine& machine_;
  const Topology& topology_;
  std::span<const char* const> private_names_;
  std::size_t shared_;
  std::vector<std::map<std::size_t, double>> seconds_;  // by region
};

}  // namespace homenode
