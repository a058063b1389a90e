// Pages of which every node with cores has a copy. Reads go to the reader's own; the first write leaves a single one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sim/base/addresses.hpp"
#include "sim/base/ids.hpp"
#include "sim/machine/machine.hpp"
#include "sim/memory/node_memory.hpp"
#include "sim/report/report.hpp"

namespace homenode {

class Replicas {
public:
  explicit Replicas(const Machine&);

  bool any() const { return !homes_.empty(); }
  // The node that a replicated page was on before, whose frame is one of the copies. The page counts for it.
  NodeId home(PageNumber page) const { return homes_.at(page.value()); }
  // Takes a frame for each new copy, and appends their nodes. False, and counted, if a node lacks room: then none is taken.
  bool add(PageNumber, NodeId home, NodeMemory&, std::vector<NodeId>& copies);
  // Gives back all frames but that of its home.
  void remove(PageNumber, NodeMemory&);
  // Of a write: gives back all frames but the writer's, or its home's where the writer has none. Returns whose is left.
  NodeId collapse(PageNumber, NodeId writer, NodeMemory&);
  // Writes that collapsed the page since it was placed.
  std::uint64_t collapses(PageNumber) const;
  // Pages [first, last) are no more; none of them is replicated.
  void forget(PageNumber first, PageNumber last);
  const Replication& counts() const { return counts_; }

private:
  void give_back(NodeId home, NodeId kept, NodeMemory&) const;

  std::vector<bool> has_cores_;                                 // by node
  std::unordered_map<std::uint64_t, NodeId> homes_;             // by page
  std::unordered_map<std::uint64_t, std::uint64_t> collapses_;  // by page
  Replication counts_;
};

}  // namespace homenode
