// Which pages a slice has read and written: of those that it touches in the same way again nothing is to be learned.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace homenode {

class PageMarks {
public:
  // Another slice begins: no page is marked.
  void clear() {
    if (slice_ == most_slices) std::fill(marks_.begin(), marks_.end(), 0);
    slice_ = slice_ == most_slices ? 1 : slice_ + 1;
  }
  // Marks pages [first, last). Returns whether one of them had not been touched yet, or, of a write, not been written yet.
  bool add(std::uint64_t first, std::uint64_t last, bool writes) {
    if (last > marks_.size()) marks_.resize(std::max<std::size_t>(last, 2 * marks_.size()), 0);
    const std::uint32_t mark = 2 * slice_ + (writes ? 1 : 0);
    bool news = false;
    for (std::uint64_t page = first; page < last; ++page) {
      if (marks_[page] >= mark) continue;
      marks_[page] = mark;
      news = true;
    }
    return news;
  }

  // The same of one page.
  bool add(std::uint64_t page, bool writes) {
    const std::uint32_t mark = 2 * slice_ + (writes ? 1 : 0);
    if (page >= marks_.size()) marks_.resize(std::max<std::size_t>(page + 1, 2 * marks_.size()), 0);
    if (marks_[page] >= mark) return false;
    marks_[page] = mark;
    return true;
  }

private:
  static constexpr std::uint32_t most_slices = std::numeric_limits<std::uint32_t>::max() / 2 - 1;
  std::vector<std::uint32_t> marks_;  // by page: twice the slice that touched it last, and one more if that wrote it
  std::uint32_t slice_ = 1;
};

}  // namespace homenode
