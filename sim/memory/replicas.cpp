#include "sim/memory/replicas.hpp"

namespace homenode {

Replicas::Replicas(const Machine& machine) : has_cores_(machine.nodes.size(), false) {
  for (const NodeId node : machine.core_node) has_cores_[node.index()] = true;
}

bool Replicas::add(PageNumber page, NodeId home, NodeMemory& memory, std::vector<NodeId>& copies) {
  const std::size_t before = copies.size();
  for (std::size_t node = 0; node < has_cores_.size(); ++node) {
    if (!has_cores_[node] || NodeId{node} == home) continue;
    if (!memory.has_room(NodeId{node})) {
      copies.resize(before);
      ++counts_.without_room;
      return false;
    }
    copies.emplace_back(node);
  }
  for (std::size_t copy = before; copy < copies.size(); ++copy) memory.take(copies[copy]);
  homes_.emplace(page.value(), home);
  ++counts_.replicated;
  return true;
}

void Replicas::give_back(NodeId home, NodeId kept, NodeMemory& memory) const {
  for (std::size_t node = 0; node < has_cores_.size(); ++node)
    if ((has_cores_[node] || NodeId{node} == home) && NodeId{node} != kept) memory.give_back(NodeId{node});
}

void Replicas::remove(PageNumber page, NodeMemory& memory) {
  const NodeId home = homes_.extract(page.value()).mapped();
  give_back(home, home, memory);
}

NodeId Replicas::collapse(PageNumber page, NodeId writer, NodeMemory& memory) {
  const NodeId home = homes_.extract(page.value()).mapped(), kept = has_cores_[writer.index()] ? writer : home;
  give_back(home, kept, memory);
  ++collapses_[page.value()];
  ++counts_.collapsed;
  return kept;
}

std::uint64_t Replicas::collapses(PageNumber page) const {
  const auto found = collapses_.find(page.value());
  return found == collapses_.end() ? 0 : found->second;
}

void Replicas::forget(PageNumber first, PageNumber last) {
  for (PageNumber page = first; page < last && !collapses_.empty(); ++page) collapses_.erase(page.value());
}

}  // namespace homenode
