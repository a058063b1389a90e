#include "models/engines/closed_form/reuse_history.hpp"

#include <algorithm>

namespace homenode {

void ReuseHistory::begin_execution(LoopNumber loop) {
  if (execution_ > 0) end_of_.push_back(live_.size());
  ++execution_;
  loop_ = loop;
}

void ReuseHistory::grow() {
  if (live_.size() < tree_.size()) return;
  tree_.assign(std::max<std::size_t>(1024, 2 * tree_.size()), 0);
  for (std::size_t i = 1; i < tree_.size(); ++i) {
    if (i <= live_.size()) tree_[i] += live_[i - 1];
    const std::size_t parent = i + (i & (~i + 1));
    if (parent < tree_.size()) tree_[parent] += tree_[i];
  }
}

void ReuseHistory::add(std::uint64_t group, std::int64_t lines) {
  live_[group] += lines;
  all_ += lines;
  for (std::size_t i = group + 1; i < tree_.size(); i += i & (~i + 1)) tree_[i] += lines;
}

std::int64_t ReuseHistory::up_to(std::uint64_t group) const {
  std::int64_t sum = 0;
  for (std::size_t i = group; i > 0; i -= i & (~i + 1)) sum += tree_[i];
  return sum;
}

void ReuseHistory::look_up(LineRange lines, std::vector<LineReuse>& found) const {
  LineNumber at = lines.first;
  auto next = ranges_.upper_bound(lines.first);
  if (next != ranges_.begin() && std::prev(next)->second.last > lines.first) --next;
  for (; at < lines.last; ++next) {
    const LineNumber begin = next == ranges_.end() ? lines.last : std::min(std::max(next->first, at), lines.last);
    if (begin > at) found.push_back({{at, begin}, {}, no_cell, false, 0});
    if (begin == lines.last) return;
    const Range& range = next->second;
    LineReuse reuse{{begin, std::min(range.last, lines.last)}, {}, no_cell, false, 0};
    const float own = static_cast<float>(reuse.lines.size());
    if (range.execution == execution_) {
      reuse.past = range.past;
      reuse.cell_before = range.cell;
      reuse.written_before = range.written;
      reuse.distance = std::max(0.0F, since(range.group) - own);
    } else {
      const float after = since(end_of_[range.execution - 1]);
      reuse.past = {.loop = range.loop,
                    .first_cell = range.first_cell,
                    .last_cell = range.last_cell,
                    .writer = range.writer,
                    .writer_cell = range.writer_cell,
                    .tail = std::max(0.0F, since(range.group) - after - own),
                    .since = after};
    }
    at = reuse.lines.last;
    found.push_back(reuse);
  }
}

void ReuseHistory::split(LineNumber at) {
  const auto behind = ranges_.lower_bound(at);
  if (behind == ranges_.begin()) return;
  const auto before = std::prev(behind);
  if (before->second.last <= at) return;
  Range rest = before->second;
  before->second.last = at;
  ranges_.emplace_hint(behind, at, rest);
}

void ReuseHistory::forget(LineRange lines) {
  split(lines.first);
  split(lines.last);
  const auto begin = ranges_.lower_bound(lines.first), end = ranges_.lower_bound(lines.last);
  for (auto old = begin; old != end; ++old) add(old->second.group, -static_cast<std::int64_t>(old->second.last - old->first));
  ranges_.erase(begin, end);
}

void ReuseHistory::touch(const LineReuse& reuse, std::uint32_t cell, bool writes) {
  split(reuse.lines.first);
  split(reuse.lines.last);
  const auto begin = ranges_.lower_bound(reuse.lines.first), end = ranges_.lower_bound(reuse.lines.last);
  Range range{.last = reuse.lines.last,
              .group = live_.size() - 1,
              .execution = execution_,
              .first_cell = cell,
              .last_cell = cell,
              .cell = cell,
              .loop = loop_,
              .writer = reuse.past.writer,
              .writer_cell = reuse.past.writer_cell,
              .written = writes,
              .past = reuse.past};
  for (auto old = begin; old != end; ++old) {
    add(old->second.group, -static_cast<std::int64_t>(old->second.last - old->first));
    if (old->second.execution != execution_) continue;
    range.first_cell = std::min(range.first_cell, old->second.first_cell);
    range.last_cell = std::max(range.last_cell, old->second.last_cell);
    range.writer = old->second.writer;
    range.writer_cell = old->second.writer_cell;
    range.written |= old->second.written && old->second.cell == cell;
  }
  if (writes) {
    range.writer = loop_;
    range.writer_cell = cell;
  }
  const auto behind = ranges_.erase(begin, end);
  ranges_.emplace_hint(behind, reuse.lines.first, range);
  add(live_.size() - 1, static_cast<std::int64_t>(reuse.lines.size()));
}

}  // namespace homenode
