// Where a core is in its slice: line after line, the streams of one group (an inner loop) side by side in proportion to their lengths.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "models/engines/line/collected_slice.hpp"

namespace homenode {

class LineCursor {
public:
  void restart() { *this = {}; }

  // The next line and the touch that it is of; false behind the last one.
  bool next(const SliceTouches& slice, const LineTouch*& touch, LineNumber& line) {
    if (line_ == line_end_ && !next_range(slice)) return false;
    touch = &slice.touches[touch_];
    line = line_++;
    return true;
  }

  // Which of the group's streams the last line was of.
  std::size_t stream() const { return touch_ - first_touch_; }
  // The line that comes `lines` later in the same stream, or begins the touch that is as many further on; the last one's if there is none.
  LineNumber ahead(const SliceTouches& slice, std::uint64_t lines) const {
    const LineRange& range = slice.touches[touch_].lines;
    if (line_ - 1 + lines < range.last) return line_ - 1 + lines;
    return slice.touches[std::min<std::size_t>(touch_ + lines, slice.touches.size() - 1)].lines.first;
  }

private:
  bool next_range(const SliceTouches& slice) {
    while (line_ == line_end_) {
      if (steps_ != 0 && ++touch_ == slice.group_ends[group_]) {
        touch_ = first_touch_;
        if (++step_ == steps_) leave_group(slice);
      }
      if (steps_ == 0) {
        while (group_ < slice.group_ends.size() && slice.group_ends[group_] == first_touch_) ++group_;
        if (group_ == slice.group_ends.size()) return false;
        step_ = 0;
        for (std::size_t t = first_touch_; t < slice.group_ends[group_]; ++t) steps_ = std::max(steps_, slice.touches[t].lines.size());
        if (steps_ == 0) {  // nothing but empty ranges
          leave_group(slice);
          continue;
        }
      }
      const LineRange& lines = slice.touches[touch_].lines;
      const std::uint64_t size = lines.size();
      if (size == steps_) {
        line_ = lines.first + step_;
        line_end_ = line_ + 1;
      } else {
        line_ = lines.first + step_ * size / steps_;
        line_end_ = lines.first + (step_ + 1) * size / steps_;
      }
    }
    return true;
  }
  void leave_group(const SliceTouches& slice) {
    first_touch_ = touch_ = slice.group_ends[group_++];
    steps_ = 0;
  }

  std::size_t group_ = 0, first_touch_ = 0, touch_ = 0;
  std::uint64_t step_ = 0, steps_ = 0;  // of the group; 0 steps: none has begun
  LineNumber line_, line_end_;
};

}  // namespace homenode
