#include "sim/memory/object_pages.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace homenode {

std::uint32_t ObjectPages::counts_of(ObjectId object) {
  if (last_ < counts_.size() && counts_[last_].object == object) return last_;
  const auto [found, is_new] = place_.try_emplace(object.value(), static_cast<std::uint32_t>(counts_.size()));
  if (is_new) counts_.push_back({object, std::vector<std::uint64_t>(nodes_), std::vector<std::uint64_t>(nodes_)});
  last_ = found->second;
  return last_;
}

void ObjectPages::placed(PageNumber first, PageNumber last, ObjectId object, std::span<const std::uint64_t> by_node) {
  const std::uint32_t place = counts_of(object);
  for (std::size_t node = 0; node < nodes_; ++node) {
    counts_[place].placed[node] += by_node[node];
    counts_[place].at_end[node] += by_node[node];
  }
  if (of_page_.size() < last.value()) of_page_.resize(last.value());
  std::fill(of_page_.begin() + static_cast<std::ptrdiff_t>(first.value()), of_page_.begin() + static_cast<std::ptrdiff_t>(last.value()),
            place);
}

void ObjectPages::moved(PageNumber page, NodeId from, NodeId to) {
  Counts& counts = counts_[of_page_.at(page.value())];
  --counts.at_end[from.index()];
  ++counts.at_end[to.index()];
}

std::vector<SymbolPages> ObjectPages::by_symbol(const Workload& workload) const {
  std::map<std::pair<ObjectKind, std::string>, SymbolPages> sums;
  for (const Counts& counts : counts_) {
    const bool is_known = !counts.object.is_none();
    const ObjectKind kind = is_known ? workload.objects[counts.object.index()].kind : ObjectKind::unknown;
    const std::string symbol = is_known ? workload.objects[counts.object.index()].symbol : "";
    SymbolPages& sum = sums.try_emplace({kind, symbol}, SymbolPages{kind, symbol, 0, {}, {}}).first->second;
    sum.placed_by_node.resize(nodes_);
    sum.pages_by_node.resize(nodes_);
    ++sum.objects;
    for (std::size_t node = 0; node < nodes_; ++node) {
      sum.placed_by_node[node] += counts.placed[node];
      sum.pages_by_node[node] += counts.at_end[node];
    }
  }
  std::vector<SymbolPages> result;
  for (auto& [key, sum] : sums) result.push_back(std::move(sum));
  const auto pages = [](const SymbolPages& one) {
    std::uint64_t all = 0;
    for (const std::uint64_t each : one.placed_by_node) all += each;
    return all;
  };
  std::stable_sort(result.begin(), result.end(), [&](const SymbolPages& a, const SymbolPages& b) { return pages(a) > pages(b); });
  return result;
}

}  // namespace homenode
