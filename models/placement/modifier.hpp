// A placement that changes another one: what it does not override is the other's.
#pragma once

#include <memory>
#include <utility>

#include "sim/policy/page_placement.hpp"

namespace homenode {

class PlacementModifier : public PagePlacement {
public:
  explicit PlacementModifier(std::shared_ptr<PagePlacement> placement) : placement_{std::move(placement)} {}
  bool wants_summary() const override { return placement_->wants_summary(); }
  std::vector<TouchedPages> touched_first() const override { return placement_->touched_first(); }
  void run_on(const OperatingSystem& system) override { placement_->run_on(system); }
  void prepare(const AccessSummary* summary, const Machine& machine) override { placement_->prepare(summary, machine); }
  void fault(std::span<const PageFault> faults, std::span<NodeId> home) override { placement_->fault(faults, home); }
  Watch watches() const override { return placement_->watches(); }
  void observe(const Place& place, std::span<const PageUse> uses, PageActions& actions) override {
    placement_->observe(place, uses, actions);
  }
  std::optional<Time> wakeup() const override { return placement_->wakeup(); }
  void wake(const Place& place, PageActions& actions) override { placement_->wake(place, actions); }
  bool replicates() const override { return placement_->replicates(); }

protected:
  PagePlacement& modified() { return *placement_; }

private:
  std::shared_ptr<PagePlacement> placement_;
};

}  // namespace homenode
