// The loop nests of a block's access runs, followed window by window.
#include <algorithm>
#include <cstddef>

#include "sim/program/line_touches.hpp"

namespace homenode {

namespace {

constexpr std::uint64_t statement_accesses = 16;  // accesses without a loop this close together form one group
constexpr std::size_t many_live = 32;             // from so many live runs on those that go on
constexpr std::uint64_t distant = 1024;           // so many accesses from here wait in a heap

}  // namespace

bool LineTouches::next(std::vector<LineTouch>& group) {
  group.clear();
  left_out_.clear();
  touches_.clear();
  while (touches_.empty() && left_out_.empty()) {
    if (has_known_groups()) {
      next_known_group();
    } else if (following()) {
      if (!window()) return false;
      if (noted_ != nullptr) note_group();
    } else if (!next_block()) {
      return false;
    }
  }
  const auto single = [](const LineTouch& touch) { return touch.lines.size() == 1; };
  std::ptrdiff_t before = 0;
  if (!kept_.all()) {
    leave_out();
    before = std::count_if(touches_.begin(), touches_.end(), single);
  }
  group.swap(combiner_.combine(touches_));
  if (options_.prefetch_streams != 0 && group.size() > options_.prefetch_streams) take_turns(group);
  combined_ = 0;
  if (before > 0)
    combined_ = static_cast<std::uint64_t>(std::max<std::ptrdiff_t>(0, before - std::count_if(group.begin(), group.end(), single)));
  return true;
}

// Streams that are more than prefetchers follow at a time.
void LineTouches::take_turns(std::vector<LineTouch>& group) const {
  const auto buffers = static_cast<float>(options_.miss_buffers);
  const auto followed = [&](const LineTouch& touch) {
    return touch.lines.size() > 1 && touch.parallelism > buffers && (touch.reads || !touch.non_temporal);
  };
  const auto streams = static_cast<float>(std::count_if(group.begin(), group.end(), followed));
  const float share = static_cast<float>(options_.prefetch_streams) / streams;
  if (!(share < 1)) return;
  for (LineTouch& touch : group)
    if (followed(touch)) touch.parallelism = 1 / (share / touch.parallelism + (1 - share) / buffers);
}

void LineTouches::leave_out() {
  std::erase_if(touches_, [this](const LineTouch& touch) {
    if (!is_left_out(touch.lines)) return false;
    left_out_.push_back(touch);
    return true;
  });
}

// Where the earliest of what is open begins; the steps of its loop are its slack.
LineTouches::Begin LineTouches::earliest() const {
  Begin first{.sequence = never};
  const auto begins = [&](const Cursor& cursor) {
    if (cursor.sequence < first.sequence) first = {cursor.sequence, cursor.inner.sequence_stride};
  };
  for (const std::uint32_t live : live_) begins(cursors_[live]);
  if (!waiting_.empty() && waiting_.front().sequence < first.sequence) begins(cursors_[waiting_.front().cursor]);
  if (!to_begin_.empty()) begins(cursors_[to_begin_.front().cursor]);
  if (!irregular_.empty() && irregular_.front().sequence < first.sequence) first = {irregular_.front().sequence, 0};
  first.slack = std::max(first.slack, statement_accesses);
  return first;
}

// A part of the sequence in which no loop ends and none begins; false if it would begin at the limit.
bool LineTouches::window() {
  Begin first = earliest();
  while (next_unopened() != never && (first.sequence == never || next_unopened() <= first.sequence + first.slack)) {
    open_more_runs();
    first = earliest();
  }
  const auto [begin, slack] = first;
  if (begin >= limit_) return false;
  Cursor* const cursors = cursors_.data();
  while (!to_begin_.empty() && to_begin_.front().sequence <= begin + slack) {
    live_.push_back(to_begin_.front().cursor);
    std::pop_heap(to_begin_.begin(), to_begin_.end(), ToBegin::heap_order);
    to_begin_.pop_back();
  }
  while (!waiting_.empty() && waiting_.front().sequence <= begin + slack) {
    std::pop_heap(waiting_.begin(), waiting_.end(), Waiting::later);
    live_.push_back(waiting_.back().cursor);
    waiting_.pop_back();
  }
  std::uint64_t end = std::min(!to_begin_.empty() ? to_begin_.front().sequence : never, next_unopened());
  if (!waiting_.empty()) end = std::min(end, waiting_.front().sequence);
  for (const std::uint32_t live : live_) {
    const Cursor& cursor = cursors[live];
    if (cursor.sequence > begin + slack)
      end = std::min(end, cursor.sequence);
    else if (cursor.inner.count > 1)
      end = std::min(end, cursor.sequence + std::min(cursor.left, cursor.most) * cursor.inner.sequence_stride);
  }
  end = std::min(end, first_batch_end());
  if (end == never) end = begin + slack + 1;
  end = std::min(end, limit_);

  bool finished = false;
  for (const std::uint32_t live : live_) {
    Cursor& cursor = cursors[live];
    if (cursor.sequence >= end) continue;
    follow(cursor, end);
    finished |= cursor.finished();
  }
  const bool reused = next_unopened() != never;
  const auto is_finished = [&](std::uint32_t live) {
    if (!cursors[live].finished()) return false;
    if (reused) free_.push_back(live);
    return true;
  };
  if (finished) std::erase_if(live_, is_finished);
  if (live_.size() > many_live) put_off_distant(end);
  if (!irregular_.empty()) irregular_until(end);
  return true;
}

inline void LineTouches::follow(Cursor& cursor, std::uint64_t end) {
  const std::uint64_t step = cursor.inner.sequence_stride;
  const std::uint64_t elements = cursor.sequence + (cursor.left - 1) * step < end ? cursor.left : (end - cursor.sequence + step - 1) / step;
  emit(cursor, elements);
  if (elements < cursor.left) {
    cursor.left -= elements;
    cursor.sequence += elements * step;
    cursor.address += elements * static_cast<std::uint64_t>(cursor.inner.stride);
  } else {
    advance_row(cursor);
  }
}

void LineTouches::put_off_distant(std::uint64_t end) {
  std::erase_if(live_, [&](std::uint32_t live) {
    if (cursors_[live].sequence - end < distant || cursors_[live].sequence < end) return false;
    waiting_.push_back({cursors_[live].sequence, live});
    std::push_heap(waiting_.begin(), waiting_.end(), Waiting::later);
    return true;
  });
}

void LineTouches::advance_row(Cursor& cursor) {
  for (unsigned d = 0; d < cursor.outer_dimensions; ++d) {
    const Dimension& outer = cursor.outer[d];
    if (++cursor.index[d] < outer.count) {
      cursor.row_sequence += outer.sequence_stride;
      cursor.row_address += static_cast<std::uint64_t>(outer.stride);
      cursor.sequence = cursor.row_sequence;
      cursor.address = cursor.row_address;
      cursor.left = cursor.inner.count;
      return;
    }
    cursor.index[d] = 0;
    cursor.row_sequence -= (outer.count - 1) * outer.sequence_stride;
    cursor.row_address -= (outer.count - 1) * static_cast<std::uint64_t>(outer.stride);
  }
  cursor.sequence = never;
}

void LineTouches::emit(const Cursor& cursor, std::uint64_t elements) {
  if (noted_ != nullptr) note_touch(cursor, elements);
  const auto add = [&](LineRange lines, std::uint64_t accesses) {
    LineTouch& touch = touches_.emplace_back();  // field by field where it stays: a copy of what was just written in parts waits for it
    touch.lines = lines;
    set_kind(touch, cursor);
    touch.parallelism = cursor.parallelism;
    touch.accesses = accesses;
  };
  const std::uint64_t begin = base_of_slot(cursor.slot) + cursor.address;
  if (cursor.separate) {
    for (std::uint64_t i = 0; i < elements; ++i)
      add(lines_at(begin + i * static_cast<std::uint64_t>(cursor.inner.stride), cursor.extent), cursor.accesses);
    return;
  }
  std::uint64_t low = begin;
  const std::uint64_t travel = (elements - 1) * magnitude(cursor.inner.stride);
  if (cursor.inner.stride < 0) low -= travel;
  add(lines_at(low, travel + cursor.extent), elements * cursor.accesses);
}

}  // namespace homenode
