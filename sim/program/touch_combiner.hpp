// The touches of one lockstep group in address order, each line once.
#pragma once

#include <vector>

#include "sim/program/line_touch.hpp"

namespace homenode {

class TouchCombiner {
public:
  // Sorts the touches. The result stays until the next call; it may be taken out by a swap.
  std::vector<LineTouch>& combine(std::vector<LineTouch>& touches);

private:
  std::vector<LineTouch>& combine_kinds(const std::vector<LineTouch>& touches);

  std::vector<LineTouch> combined_, single_, open_;  // scratch
  std::vector<LineNumber> cuts_;                     // scratch
};

}  // namespace homenode
