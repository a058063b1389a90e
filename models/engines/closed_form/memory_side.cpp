// Memory-side caches, the directory in memory and ports of outermost caches, in a loop that repeats (../parts/memory_side.hpp).
//
// Memory-side cache: W bytes of pages on a node whose cache holds C <= W, direct-mapped, frames one behind the other: W - C places have two
// pages, whose lines push each other out, so 2 C - W of W hit. Lines that are written back were read shortly
// before, and are still there; non-temporal stores that do not hit fetch theirs. Both go to memory where the next use does not hit.
// Directory: each line that another socket's core writes back is noted anew when it is read again.
#include "models/engines/closed_form/model.hpp"
#include "models/engines/parts/controller_costs.hpp"
#include "models/engines/parts/controller_load.hpp"

namespace homenode {

Eigen::ArrayXd ClosedForm::side_cache_shares(const std::vector<std::uint8_t>& home_of) const {
  std::vector<double> pages(machine_.nodes.size(), 0);
  for (const std::uint8_t home : home_of)
    if (home != unplaced) pages[home] += 1;
  Eigen::ArrayXd shares = Eigen::ArrayXd::Zero(at(machine_.nodes.size()));
  for (std::size_t node = 0; node < machine_.nodes.size(); ++node) {
    if (!machine_.nodes[node].has_side_cache()) continue;
    const double held = static_cast<double>(machine_.nodes[node].memory_side_cache->count());
    const double used = pages[node] * static_cast<double>(table_.page_bytes());
    shares(at(node)) = used <= held ? 1 : std::max(0.0, (2 * held - used) / used);
  }
  return shares;
}

ClosedForm::Matrix ClosedForm::idle_latency(const Demand& asked) const {
  Matrix latency = latency_;
  if (asked.side_hits.size() == 0) return latency;
  for (std::size_t t = 0; t < team_.size(); ++t)
    for (std::size_t home = 0; home < machine_.nodes.size(); ++home) {
      const double hit = topology_.side_cache_latency(node_[t], NodeId{home}).seconds(), share = asked.side_hits(at(home));
      latency(at(t), at(home)) = share * hit + (1 - share) * latency(at(t), at(home));
    }
  return latency;
}

void ClosedForm::use_controllers(const Demand& asked, Matrix& uses) const {
  const Eigen::Index controllers = at(machine_.controllers.size());
  Matrix reads = asked.read_lines, writes = asked.writebacks + asked.non_temporal;
  Matrix notes = Matrix::Zero(reads.rows(), reads.cols());
  if (machine_.directory_in == DirectoryPlace::memory) {
    for (std::size_t t = 0; t < team_.size(); ++t)
      for (std::size_t home = 0; home < machine_.nodes.size(); ++home)
        if (socket_[t] != machine_.socket_of(NodeId{home}))
          notes(at(t), at(home)) = std::min(asked.read_lines(at(t), at(home)), asked.writebacks(at(t), at(home)));
  }
  if (asked.side_hits.size() > 0) {
    const std::size_t first = first_side_cache(machine_, topology_);
    for (std::size_t home = 0; home < machine_.nodes.size(); ++home) {
      const LineCosts cost = side_cache_costs(machine_, NodeId{home});
      if (!(cost.read > 0)) continue;
      const double missed = 1 - asked.side_hits(at(home));
      const Eigen::ArrayXd stored = asked.non_temporal.col(at(home));
      uses.col(at(first + home)) = reads.col(at(home)) * (cost.read + missed * cost.write) +
                                   (writes.col(at(home)) + notes.col(at(home))) * (cost.read + cost.write) + stored * missed * cost.write;
      reads.col(at(home)) = missed * (reads.col(at(home)) + stored);
      writes.col(at(home)) *= missed;
      notes.col(at(home)) = 0;
    }
  }
  writes += notes;
  uses.leftCols(controllers) = (reads.matrix() * read_cost_.matrix() + writes.matrix() * write_cost_.matrix()).array();
}

void ClosedForm::use_ports(const Demand& asked, Matrix& uses) const {
  if (!machine_.has_ports()) return;
  const LineCosts cost = port_costs(machine_);
  const std::size_t first = first_port(machine_, topology_);
  for (std::size_t t = 0; t < team_.size(); ++t) {
    const std::size_t port = first + 2 * domain_of_[t];
    uses(at(t), at(port)) = asked.read_lines.row(at(t)).sum() * cost.read;
    uses(at(t), at(port + 1)) = (asked.writebacks.row(at(t)) + asked.non_temporal.row(at(t))).sum() * cost.write;
  }
}

}  // namespace homenode
