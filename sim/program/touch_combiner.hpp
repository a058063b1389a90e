// The touches of one lockstep group in address order, each line once.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/program/line_touch.hpp"

namespace homenode {

class TouchCombiner {
public:
  // Sorts the touches, and joins some. The result stays until the next call; it may be taken out by a swap.
  std::vector<LineTouch>& combine(std::vector<LineTouch>& touches);

private:
  void join_same_lines(std::vector<LineTouch>& touches);
  std::vector<LineTouch>& combine_kinds(const std::vector<LineTouch>& touches);

  std::vector<LineTouch> combined_, single_, open_;  // scratch
  std::vector<LineNumber> cuts_;                     // scratch
  std::vector<std::uint64_t> known_;                 // by a hash of a line and a kind: call and touch; of earlier calls: nothing
  std::uint32_t call_ = 0;
};

}  // namespace homenode
