#include "models/placement/cold_pages.hpp"

namespace homenode {

void ColdPages::touched(PageNumber page) {
  if (page.value() < cleared_.size()) cleared_[page.value()] = false;
}

std::uint64_t ColdPages::demote(NodeId from, NodeId to, std::uint64_t free, PageActions& actions) {
  cleared_.resize(actions.pages(), false);
  PageNumber& hand = hand_[from.index()];
  std::uint64_t demoted = 0;
  for (std::uint64_t looked_at = 0; looked_at < actions.pages() && actions.free_pages(from) < free; ++looked_at, ++hand) {
    if (hand.value() >= actions.pages()) hand = {};
    if (actions.home(hand) != from) continue;
    if (!cleared_[hand.value()]) {
      cleared_[hand.value()] = actions.clear_accessed(hand);
      continue;
    }
    if (actions.free_pages(to) == 0) break;
    actions.migrate(hand, to);
    cleared_[hand.value()] = false;
    ++demoted;
  }
  return demoted;
}

}  // namespace homenode
