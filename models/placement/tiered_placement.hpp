// What placements on fast and slow memory have in common that go by hinting faults of slow pages: scans of slow memory, and passes over a
// node that is to have free pages. What a fault means, and how many free pages a node needs, are theirs.
//
// Assumed: kswapd has no core of its own. A pass begins with the first slice behind what made it necessary, whose thread pays for it.
#pragma once

#include <optional>
#include <vector>

#include "models/placement/cold_pages.hpp"
#include "models/placement/memory_tiers.hpp"
#include "models/placement/modifier.hpp"
#include "models/placement/slow_scan.hpp"

namespace homenode {

class TieredPlacement : public PlacementModifier {
public:
  TieredPlacement(const ScanSettings&, std::shared_ptr<PagePlacement>);
  void prepare(const AccessSummary*, const Machine&) override;
  void fault(std::span<const PageFault>, std::span<NodeId> home) override;
  Watch watches() const override { return Watch::hinting_faults; }
  void observe(const Place&, std::span<const PageUse>, PageActions&) override;
  std::optional<Time> wakeup() const override;
  void wake(const Place&, PageActions&) override;

protected:
  struct SlowTouch {
    PageNumber page;
    Time scanned;  // when its rights were taken
  };
  // A hinting fault of a page that is not on a top node.
  virtual void touched(const Place&, const SlowTouch&, PageActions&) = 0;
  // So many free pages the passes are to reach.
  virtual std::uint64_t wanted_free(NodeId) const = 0;
  virtual void placed(const PageFault&) {}

  const MemoryTiers& tiers() const { return *tiers_; }
  const FreePages& marks(NodeId node) const { return nodes_[node.index()].marks; }
  std::uint64_t node_pages(NodeId node) const { return nodes_[node.index()].bytes / page_bytes_; }
  std::size_t nodes() const { return nodes_.size(); }
  void promote(PageNumber, NodeId to, PageActions&);
  void free_soon(NodeId);  // passes begin, if there is a slower tier

private:
  struct Node {
    std::uint64_t bytes = 0;
    FreePages marks;
    bool is_due = false;
    unsigned failures = 0;  // passes in a row that demoted nothing
  };
  // Once: the size of pages is known with the first actions.
  void know_pages(const PageActions&);
  void pass(NodeId, PageActions&);

  ScanSettings settings_;
  std::optional<Machine> machine_;
  std::optional<MemoryTiers> tiers_;
  std::optional<SlowScan> scan_;
  std::optional<ColdPages> cold_;
  std::vector<Node> nodes_;
  std::uint64_t page_bytes_ = 0;
  bool is_due_ = false;  // of any node
};

}  // namespace homenode
