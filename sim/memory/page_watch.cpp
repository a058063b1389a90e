#include "sim/memory/page_watch.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/errors.hpp"
#include "sim/memory/address_space.hpp"

namespace homenode {

PageWatch::PageWatch(AddressSpace& addresses, PagePlacement& policy)
    : addresses_{addresses}, policy_{policy}, watches_{policy.watches()}, replicates_{policy.replicates()} {}

void PageWatch::begin_slice(const Place& place) {
  const std::optional<Time> wakeup = policy_.wakeup();
  if (wakeup && *wakeup <= place.now) policy_.wake(place, *this);
}

void PageWatch::note_faults(PageNumber first, PageNumber last) {
  const PageNumber end = std::min(last + 1, PageNumber{states_.size()});
  for (PageNumber page = first; page < end; ++page) {
    const NodeId home = addresses_.home_of_page(page);
    if (states_[page.value()] == mapped || home.is_none()) continue;
    const bool faults = states_[page.value()] == unmapped;
    map(page);
    uses_.push_back({page, home});
    if (!faults || watches_ != Watch::hinting_faults) continue;
    ++work_.hinting_faults;
    ++all_hinting_faults_;
  }
}

void PageWatch::tell_faults(const Place& place) {
  if (uses_.empty()) return;
  std::sort(uses_.begin(), uses_.end(), [](const PageUse& a, const PageUse& b) { return a.page < b.page; });
  policy_.observe(place, uses_, *this);
  uses_.clear();
}

void PageWatch::exchanged(AddressRange bytes, bool written) {
  for (Address begin = bytes.first; begin < bytes.last;) {
    const PageNumber page = addresses_.page_of(begin);
    const Address next = std::min(bytes.last, addresses_.first_byte(page + 1));
    uses_.push_back({page, addresses_.home_of_page(page), written ? 0 : next - begin, written ? next - begin : 0});
    begin = next;
  }
}

void PageWatch::tell_traffic(const Place& place) {
  if (uses_.empty()) return;
  std::sort(uses_.begin(), uses_.end(), [](const PageUse& a, const PageUse& b) { return a.page < b.page; });
  std::size_t kept = 0;
  for (std::size_t i = 1; i < uses_.size(); ++i) {
    if (uses_[i].page == uses_[kept].page) {
      uses_[kept].read_bytes += uses_[i].read_bytes;
      uses_[kept].written_bytes += uses_[i].written_bytes;
    } else {
      uses_[++kept] = uses_[i];
    }
  }
  uses_.resize(kept + 1);
  if (addresses_.replicas().any()) {
    for (PageUse& use : uses_)
      if (addresses_.replicated(use.page)) use.home = place.node;
  }
  policy_.observe(place, uses_, *this);
  uses_.clear();
}

PageWork PageWatch::take_work() { return std::exchange(work_, {}); }

std::uint64_t PageWatch::pages() const { return addresses_.pages(); }
std::uint64_t PageWatch::page_bytes() const { return addresses_.page_bytes(); }
NodeId PageWatch::home(PageNumber page) const { return addresses_.home_of_page(page); }

void PageWatch::migrate(PageNumber page, NodeId to) {
  const NodeId from = home(page);
  if (from.is_none())
    throw PolicyError("placement moves page " + std::to_string(page.value()) + ", which has no home; allowed: pages that were written");
  if (to.index() >= addresses_.nodes()) {
    throw PolicyError("placement moves page " + std::to_string(page.value()) + " to node " + std::to_string(to.value()) +
                      "; allowed: nodes 0 to " + std::to_string(addresses_.nodes() - 1));
  }
  if (from == to && !addresses_.replicated(page)) return;
  if (addresses_.migrate(page, to)) work_.moves.push_back({page, from, to});
}

bool PageWatch::can_be_watched(PageNumber page) {
  // Linux's balancing leaves memory with a policy of its own alone (vma_policy_mof).
  if (home(page).is_none() || addresses_.bound(page)) return false;
  if (states_.size() <= page.value()) states_.resize(pages(), mapped);
  return true;
}

bool PageWatch::unmap(PageNumber page) {
  if (!can_be_watched(page)) return false;
  State& state = states_[page.value()];
  if (state == unmapped) return false;
  unmapped_ += state == mapped;
  state = unmapped;
  work_.unmapped += watches_ == Watch::hinting_faults;
  return true;
}

bool PageWatch::clear_accessed(PageNumber page) {
  if (!can_be_watched(page)) return false;
  State& state = states_[page.value()];
  if (state == mapped) {
    state = not_accessed;
    ++unmapped_;
  }
  return true;
}

bool PageWatch::replicate(PageNumber page) {
  const NodeId from = home(page);
  copies_.clear();
  if (!addresses_.replicate(page, copies_)) return false;
  ++work_.replicated;
  for (const NodeId to : copies_) work_.copies.push_back({page, from, to});
  return true;
}

bool PageWatch::replicated(PageNumber page) const { return addresses_.replicated(page); }
std::uint64_t PageWatch::collapses(PageNumber page) const { return addresses_.replicas().collapses(page); }

void PageWatch::set_dirty(PageNumber first, PageNumber last) {
  if (dirty_.size() < last.value()) dirty_.resize(pages(), false);
  std::fill(dirty_.begin() + static_cast<std::ptrdiff_t>(first.value()), dirty_.begin() + static_cast<std::ptrdiff_t>(last.value()), true);
}

bool PageWatch::clear_dirty(PageNumber page) {
  if (page.value() >= dirty_.size() || !dirty_[page.value()]) return false;
  dirty_[page.value()] = false;
  return true;
}

std::uint64_t PageWatch::free_pages(NodeId node) const { return addresses_.memory().free(node); }

void PageWatch::map(PageNumber page) {
  if (page.value() >= states_.size() || states_[page.value()] == mapped) return;
  states_[page.value()] = mapped;
  --unmapped_;
}

}  // namespace homenode
