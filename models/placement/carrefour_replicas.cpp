#include "models/placement/carrefour_replicas.hpp"

#include <algorithm>

namespace homenode {

void CarrefourReplicas::prepare(const Machine& machine) {
  bytes_of_node_.clear();
  for (const NodeDescription& node : machine.nodes) bytes_of_node_.push_back(static_cast<std::uint64_t>(node.memory.count()));
}

void CarrefourReplicas::observe(std::span<const PageUse> uses) {
  for (const PageUse& use : uses) {
    if (use.home.is_none()) continue;
    read_bytes_ += static_cast<double>(use.read_bytes);
    written_bytes_ += static_cast<double>(use.written_bytes);
  }
}

bool CarrefourReplicas::worthwhile(const PageActions& actions) const {
  double frames = 0, used = 0;
  for (std::size_t node = 0; node < bytes_of_node_.size(); ++node) {
    const std::uint64_t of_node = bytes_of_node_[node] / actions.page_bytes();
    frames += static_cast<double>(of_node);
    used += static_cast<double>(of_node - std::min(of_node, actions.free_pages(NodeId{node})));
  }
  return read_bytes_ >= thresholds_.read_share * (read_bytes_ + written_bytes_) && used <= thresholds_.used_memory * frames;
}

void CarrefourReplicas::replicate(std::span<const PageNumber> shared, PageActions& actions) {
  if (!worthwhile(actions)) return;
  std::vector<PageNumber> read_only;
  for (const PageNumber page : shared)
    if (!actions.clear_dirty(page) && actions.collapses(page) <= thresholds_.collapses) read_only.push_back(page);
  if (!begun_ && read_only.size() < thresholds_.first_pages) return;
  begun_ = begun_ || !read_only.empty();
  for (const PageNumber page : read_only) actions.replicate(page);
}

void CarrefourReplicas::end_period(PageActions& actions) {
  for (PageNumber page; page < PageNumber{actions.pages()}; ++page) actions.clear_dirty(page);
  read_bytes_ = written_bytes_ = 0;
}

}  // namespace homenode
