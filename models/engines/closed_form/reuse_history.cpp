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

// The first range that ends behind the line.
template <class Map>
auto ReuseHistory::first_behind(Map& ranges, LineNumber line) {
  auto found = ranges.upper_bound(line);
  if (found != ranges.begin() && std::prev(found)->second.last > line) --found;
  return found;
}

ReuseHistory::Ranges::value_type* ReuseHistory::single(LineNumber line) const {
  const auto chunk = singles_.find(line.value() >> chunk_shift);
  return chunk == singles_.end() ? nullptr : (*chunk->second)[line.value() & ((1 << chunk_shift) - 1)];
}

void ReuseHistory::enter(Ranges::iterator range) {
  if (range->second.last - range->first != 1) return;
  std::unique_ptr<Chunk>& chunk = singles_[range->first.value() >> chunk_shift];
  if (!chunk) chunk = std::make_unique<Chunk>();
  (*chunk)[range->first.value() & ((1 << chunk_shift) - 1)] = &*range;
}

void ReuseHistory::leave(Ranges::iterator range) {
  if (range->second.last - range->first == 1)
    (*singles_.at(range->first.value() >> chunk_shift))[range->first.value() & ((1 << chunk_shift) - 1)] = nullptr;
}

// Of a part of the range.
LineReuse ReuseHistory::reuse_of(LineRange lines, const Range& range) const {
  LineReuse reuse{lines, {}, no_cell, false, 0};
  const float own = static_cast<float>(lines.size());
  if (range.execution == execution_) {
    reuse.past = range.past;
    reuse.cell_before = range.cell;
    reuse.written_before = range.written;
    reuse.distance = std::max(0.0F, since(range.group) - own);
    return reuse;
  }
  const float after = since(end_of_[range.execution - 1]);
  reuse.past = {.loop = range.loop,
                .first_cell = range.first_cell,
                .last_cell = range.last_cell,
                .writer = range.writer,
                .writer_cell = range.writer_cell,
                .tail = std::max(0.0F, since(range.group) - after - own),
                .since = after};
  return reuse;
}

void ReuseHistory::look_up(LineRange lines, std::vector<LineReuse>& found) const {
  if (lines.size() == 1) {
    if (const auto* known = single(lines.first)) {
      found.push_back(reuse_of(lines, known->second));
      return;
    }
  }
  LineNumber at = lines.first;
  for (auto next = first_behind(ranges_, lines.first); at < lines.last; ++next) {
    const LineNumber begin = next == ranges_.end() ? lines.last : std::min(std::max(next->first, at), lines.last);
    if (begin > at) found.push_back({{at, begin}, {}, no_cell, false, 0});
    if (begin == lines.last) return;
    at = std::min(next->second.last, lines.last);
    found.push_back(reuse_of({begin, at}, next->second));
  }
}

// Cuts what reaches over either end; the first range in it, or behind it.
ReuseHistory::Ranges::iterator ReuseHistory::cut_out(LineRange lines) {
  auto begin = first_behind(ranges_, lines.first);
  const auto cut = [&](Ranges::iterator whole, LineNumber at) {
    Range rest = whole->second;
    whole->second.last = at;
    enter(whole);
    const auto behind = ranges_.emplace_hint(std::next(whole), at, rest);
    enter(behind);
    return behind;
  };
  if (begin != ranges_.end() && begin->first < lines.first) begin = cut(begin, lines.first);
  for (auto range = begin; range != ranges_.end() && range->first < lines.last; ++range)
    if (range->second.last > lines.last) cut(range, lines.last);
  return begin;
}

void ReuseHistory::forget(LineRange lines) {
  const auto begin = cut_out(lines);
  auto end = begin;
  for (; end != ranges_.end() && end->first < lines.last; ++end) {
    add(end->second.group, -static_cast<std::int64_t>(end->second.last - end->first));
    leave(end);
  }
  ranges_.erase(begin, end);
}

ReuseHistory::Range ReuseHistory::touched(const LineReuse& reuse, std::uint32_t cell, bool writes) const {
  return {.last = reuse.lines.last,
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
}

// What a range that is touched again leaves to what takes its place.
void ReuseHistory::pass_on(LineNumber first, const Range& old, Range& next) {
  add(old.group, -static_cast<std::int64_t>(old.last - first));
  if (old.execution != execution_) return;
  next.first_cell = std::min(next.first_cell, old.first_cell);
  next.last_cell = std::max(next.last_cell, old.last_cell);
  next.writer = old.writer;
  next.writer_cell = old.writer_cell;
  next.written |= old.written && old.cell == next.cell;
}

void ReuseHistory::touch(const LineReuse& reuse, std::uint32_t cell, bool writes) {
  Range range = touched(reuse, cell, writes);
  const auto note_writer = [&] {
    if (!writes) return;
    range.writer = loop_;
    range.writer_cell = cell;
  };
  Ranges::value_type* const known = reuse.lines.size() == 1 ? single(reuse.lines.first) : nullptr;
  if (known != nullptr) {
    pass_on(known->first, known->second, range);
    note_writer();
    known->second = range;
  } else {
    const auto begin = cut_out(reuse.lines);
    auto end = begin;
    for (; end != ranges_.end() && end->first < reuse.lines.last; ++end) {
      pass_on(end->first, end->second, range);
      leave(end);
    }
    note_writer();
    enter(ranges_.emplace_hint(ranges_.erase(begin, end), reuse.lines.first, range));
  }
  add(live_.size() - 1, static_cast<std::int64_t>(reuse.lines.size()));
}

}  // namespace homenode
