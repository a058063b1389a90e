#include "traces/importers/objects.hpp"

#include <algorithm>
#include <iterator>

namespace homenode {

void AddressRanges::touch(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t order = touches_++;
  std::uint64_t first = address & ~(page - 1), last = (address + (bytes - 1)) | (page - 1);
  if (recent_ != ranges_.end() && recent_->first <= first && last <= recent_->second.last) return;
  // All ranges that the gap does not keep apart from this one become part of it.
  Found found{last, order};
  auto next = ranges_.upper_bound(first);
  if (next != ranges_.begin()) {
    const auto before = std::prev(next);
    if (before->second.last >= first || first - before->second.last - 1 <= largest_gap) next = before;
  }
  while (next != ranges_.end() && (next->first <= found.last || next->first - found.last - 1 <= largest_gap)) {
    first = std::min(first, next->first);
    found.last = std::max(found.last, next->second.last);
    found.order = std::min(found.order, next->second.order);
    next = ranges_.erase(next);
  }
  recent_ = ranges_.emplace(first, found).first;
}

void AddressRanges::seal() {
  std::vector<Ranges::const_iterator> in_order;
  for (auto range = ranges_.cbegin(); range != ranges_.cend(); ++range) in_order.push_back(range);
  std::sort(in_order.begin(), in_order.end(), [](const auto& a, const auto& b) { return a->second.order < b->second.order; });
  for (const auto& range : in_order) {
    by_last_.emplace(range->second.last, objects_.size());
    objects_.push_back({range->first, range->second.last});
  }
  ranges_.clear();
  recent_ = ranges_.end();
}

std::size_t AddressRanges::object_of(std::uint64_t address) {
  if (recent_object_ < objects_.size() && objects_[recent_object_].contains(address)) return recent_object_;
  const auto found = by_last_.lower_bound(address);
  if (found == by_last_.end() || !objects_[found->second].contains(address)) return objects_.size();
  return recent_object_ = found->second;
}

}  // namespace homenode
