// Which pages of a node are demoted when it runs out of free ones: a clock, in place of Linux's lists of active and inactive pages. Its
// hand goes round the pages by number; one whose accessed bit is set keeps its place and loses the bit, one without is demoted. In one
// pass the hand comes by each page once, so that between two passes the program can show what it uses.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/policy/page_placement.hpp"

namespace homenode {

class ColdPages {
public:
  explicit ColdPages(std::size_t nodes) : hand_(nodes) {}

  void touched(PageNumber);  // also: placed, or moved to another node
  // One pass: demotes pages of `from` until it has `free` free ones, or `to` is full. Returns how many it demoted.
  std::uint64_t demote(NodeId from, NodeId to, std::uint64_t free, PageActions&);

private:
  std::vector<PageNumber> hand_;  // by node
  std::vector<bool> cleared_;     // by page: not touched since its bit was cleared
};

}  // namespace homenode
