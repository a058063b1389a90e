// Pages and frames by hand, for placements on fast and slow memory: no simulation.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "models/placement/register.hpp"
#include "tests/support/machines.hpp"

namespace homenode::test {

constexpr std::uint64_t page_size = 4096;
constexpr Time second = Time::picoseconds(1'000'000'000'000), millisecond = Time::picoseconds(1'000'000'000);

// Node 0 has cores and `fast` bytes, node 1 has none, `slow` bytes, twice the latency and a third of the bandwidth.
inline Machine two_tiers(std::int64_t fast, std::int64_t slow) {
  Machine machine = one_node();
  machine.name = "two-tiers";
  machine.nodes[0].memory = Bytes{fast};
  machine.nodes.push_back({SocketId{0}, Bytes{slow}, Time::nanoseconds(200), {}});
  machine.controllers.push_back({NodeId{1}, Bandwidth::bytes_per_second(8e9), Bandwidth::bytes_per_second(8e9), {}});
  return machine;
}

class TieredPages final : public PageActions {
public:
  explicit TieredPages(const Machine& machine) {
    for (const NodeDescription& node : machine.nodes) free.push_back(static_cast<std::uint64_t>(node.memory.count()) / page_size);
  }
  std::uint64_t pages() const override { return homes.size(); }
  std::uint64_t page_bytes() const override { return page_size; }
  NodeId home(PageNumber page) const override { return homes[page.value()]; }
  void migrate(PageNumber page, NodeId to) override {
    NodeId& home = homes[page.value()];
    if (home == to || free[to.index()] == 0) return;
    ++free[home.index()];
    --free[to.index()];
    home = to;
  }
  bool unmap(PageNumber page) override { return !unmapped[page.value()] && (unmapped[page.value()] = true); }
  bool clear_accessed(PageNumber) override { return true; }
  std::uint64_t free_pages(NodeId node) const override { return free[node.index()]; }
  bool move_thread(ThreadId, NodeId) override { return false; }

  void place(NodeId node, std::size_t pages) {
    homes.insert(homes.end(), pages, node);
    unmapped.resize(homes.size(), false);
    free[node.index()] -= pages;
  }
  std::size_t on(NodeId node) const { return static_cast<std::size_t>(std::count(homes.begin(), homes.end(), node)); }

  std::vector<NodeId> homes;
  std::vector<bool> unmapped;
  std::vector<std::uint64_t> free;  // by node
};

// A placement and its pages: scans and passes when they are due, touches by a thread on node 0.
struct TieredRun {
  TieredRun(const std::string& text, const Machine& machine) : placement{page_placements().make(text)}, pages{machine} {
    placement->prepare(nullptr, machine);
  }
  static Place at(Time now) { return {ThreadId{0}, CoreId{0}, NodeId{0}, now}; }
  bool wake(Time now) {
    const auto due = placement->wakeup();
    if (!due || *due > now) return false;
    placement->wake(at(now), pages);
    return true;
  }
  // Pages [first, last): those that are unmapped fault.
  void touch(Time now, std::uint64_t first, std::uint64_t last) {
    std::vector<PageUse> uses;
    for (std::uint64_t page = first; page < last; ++page) {
      if (!pages.unmapped[page]) continue;
      pages.unmapped[page] = false;
      uses.push_back({PageNumber{page}, pages.homes[page]});
    }
    placement->observe(at(now), uses, pages);
  }
  void use(std::uint64_t page) {
    const PageUse touched{PageNumber{page}, pages.homes[page]};
    placement->observe(at(Time{}), std::span{&touched, 1}, pages);
  }

  std::unique_ptr<PagePlacement> placement;
  TieredPages pages;
};

}  // namespace homenode::test
