// Bandwidth sharing by SimGrid parallel tasks (host/model:ptask_L07, fair-bottleneck solver): the reference for flow_sharing.
// One engine can live in a process at a time. SimGrid ends the process when one of its own assertions fails, so sweeps
// that use it belong into worker processes.
#pragma once

#include <memory>

#include "models/engines/parts/bandwidth_sharing.hpp"

namespace homenode {

class SimgridSharing final : public BandwidthSharing {
public:
  // Throws UsageError while another one lives in this process. `concurrent`: most activities at a time (threads).
  SimgridSharing(std::size_t resources, std::size_t concurrent);
  ~SimgridSharing() override;

  ActivityId start(const Activity&) override;
  std::optional<Time> next_event() override;
  void advance(Time to, std::vector<ActivityEnd>& ended) override;

private:
  class Platform;  // SimGrid's headers stay in the .cpp
  std::unique_ptr<Platform> platform_;
};

}  // namespace homenode
