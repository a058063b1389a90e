#include "models/placement/tiered_placement.hpp"

#include "sim/base/errors.hpp"

namespace homenode {
namespace {

constexpr unsigned most_failures = 16;  // MAX_RECLAIM_RETRIES: kswapd gives a node up until it is woken again

}  // namespace

TieredPlacement::TieredPlacement(const ScanSettings& settings, std::shared_ptr<PagePlacement> placement)
    : PlacementModifier{std::move(placement)}, settings_{settings} {
  if (modified().watches() != Watch::nothing)
    throw UsageError("a modifier that migrates pages on a placement that migrates pages; allowed: one of them");
}

void TieredPlacement::prepare(const AccessSummary* summary, const Machine& machine) {
  modified().prepare(summary, machine);
  machine_ = machine;
  tiers_.emplace(machine);
  scan_.emplace(settings_);
  cold_.emplace(machine.nodes.size());
  nodes_.assign(machine.nodes.size(), {});
  for (std::size_t node = 0; node < nodes_.size(); ++node)
    nodes_[node].bytes = static_cast<std::uint64_t>(machine.nodes[node].memory.count());
  page_bytes_ = 0;
  is_due_ = false;
}

void TieredPlacement::fault(std::span<const PageFault> faults, std::span<NodeId> home) {
  modified().fault(faults, home);
  for (const PageFault& fault : faults) {
    for (PageNumber page = fault.page; page < fault.page + fault.pages; ++page) {
      scan_->forget(page);
      cold_->touched(page);
    }
    placed(fault);
  }
}

void TieredPlacement::know_pages(const PageActions& actions) {
  if (page_bytes_ != 0) return;
  page_bytes_ = actions.page_bytes();
  for (std::size_t node = 0; node < nodes_.size(); ++node) nodes_[node].marks = watermarks(*machine_, NodeId{node}, page_bytes_);
}

void TieredPlacement::observe(const Place& place, std::span<const PageUse> uses, PageActions& actions) {
  know_pages(actions);
  for (const PageUse& use : uses) {
    cold_->touched(use.page);
    const std::optional<Time> scanned = scan_->fault(use.page);
    if (scanned && !tiers_->is_top(use.home)) touched(place, {use.page, *scanned}, actions);
  }
}

std::optional<Time> TieredPlacement::wakeup() const {
  if (is_due_) return Time{};
  return tiers_ && tiers_->has_slow_nodes() ? std::optional{scan_->next()} : std::nullopt;
}

void TieredPlacement::wake(const Place& place, PageActions& actions) {
  know_pages(actions);
  if (is_due_) {
    is_due_ = false;
    for (std::size_t node = 0; node < nodes_.size(); ++node)
      if (nodes_[node].is_due) pass(NodeId{node}, actions);
  }
  if (tiers_->has_slow_nodes() && place.now >= scan_->next()) scan_->run(place.now, *tiers_, actions);
}

void TieredPlacement::promote(PageNumber page, NodeId to, PageActions& actions) {
  actions.migrate(page, to);
  cold_->touched(page);
}

void TieredPlacement::free_soon(NodeId node) {
  if (tiers_->below(node).is_none()) return;
  nodes_[node.index()].failures = 0;
  nodes_[node.index()].is_due = is_due_ = true;
}

void TieredPlacement::pass(NodeId node, PageActions& actions) {
  Node& passed = nodes_[node.index()];
  const std::uint64_t wanted = wanted_free(node);
  if (cold_->demote(node, tiers_->below(node), wanted, actions) > 0)
    passed.failures = 0;
  else
    ++passed.failures;
  passed.is_due = actions.free_pages(node) < wanted && passed.failures < most_failures;
  is_due_ |= passed.is_due;
}

}  // namespace homenode
