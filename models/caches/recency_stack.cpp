#include "models/caches/recency_stack.hpp"

#include <utility>

namespace homenode {

namespace {
constexpr std::size_t initial_groups = 1024;
// Beyond this many pieces (gathers: many streams of one line) the lines that the present group adds are not told apart.
constexpr std::size_t pieces_told_apart = 16;
}  // namespace

RecencyStack::RecencyStack(std::vector<std::uint64_t> capacities) : live_(initial_groups, 0) {
  for (const auto capacity : capacities) cursors_.push_back({capacity, 0, 0});
}

void RecencyStack::look_up(LineRange range, unsigned touch, std::vector<StackPiece>& pieces) const {
  const float pace = 1.0F / static_cast<float>(range.size());
  LineNumber at = range.first;
  const auto absent = [&](LineNumber end) {
    StackPiece& piece = pieces.emplace_back();
    piece.lines = {at, end};
    piece.touch = touch;
    piece.level = static_cast<unsigned>(cursors_.size());
    piece.now = pace * static_cast<float>(at - range.first);
    piece.pace = pace;
  };
  for (SegmentIndex s = segments_.first_in(range.first, range.last); s != no_segment; s = segments_.next_in(s, range.last)) {
    const Segment& segment = segments_[s];
    const LineRange lines = intersection(s, range);
    if (lines.first > at) absent(lines.first);
    StackPiece& piece = pieces.emplace_back();
    piece.lines = lines;
    piece.touch = touch;
    piece.present = true;
    piece.dirty = segment.dirty;
    piece.group = segment.group;
    piece.start = segment.start + segment.step * static_cast<float>(lines.first - segment.first);
    piece.step = segment.step;
    piece.now = pace * static_cast<float>(lines.first - range.first);
    piece.pace = pace;
    at = lines.last;
  }
  if (at < range.last) absent(range.last);
}

// The part of the piece that a capacity holds: all, none, a head or a tail.
LineRange RecencyStack::held(const StackPiece& piece, const Cursor& cursor, std::span<const StackPiece> pieces,
                             std::uint64_t group_lines) const {
  const LineRange all = piece.lines, none{piece.lines.first, piece.lines.first};
  if (piece.group < cursor.group) return none;
  const std::uint64_t own = live(piece.group);
  std::uint64_t newer = cursor.newer;  // lines in groups after the walked one
  if (newer + (piece.group == cursor.group ? own : 0) + group_lines <= cursor.capacity) return all;
  for (std::uint64_t group = cursor.group + 1; group <= piece.group; ++group) {
    newer -= live(group);
    if (newer + (group == piece.group ? own : 0) + group_lines <= cursor.capacity) return all;
  }
  if (newer > cursor.capacity) return none;
  // distance(y) = newer groups + the rest of its own group + what the present group has touched that is not counted there
  std::uint64_t added = group_lines;
  if (pieces.size() <= pieces_told_apart)
    for (const auto& other : pieces)
      if (other.present && other.group > piece.group) added -= other.lines.size();
  const auto size = static_cast<double>(all.size());
  const auto distance = [&](double line) {
    return static_cast<double>(newer) + static_cast<double>(own) * std::max(0.0, 1.0 - (piece.start + piece.step * line)) +
           static_cast<double>(added) * (piece.now + piece.pace * line);
  };
  const double first = distance(0), last = distance(size), capacity = static_cast<double>(cursor.capacity);
  const double slack = 1e-3 * capacity;  // rounding of the fractions
  if (first <= capacity + slack && last <= capacity + slack) return all;
  if (first >= capacity && last >= capacity) return none;
  const auto cut = static_cast<std::uint64_t>(size * (capacity - first) / (last - first) + 0.5);
  const LineNumber at = all.first + std::min(cut, all.size());
  return first < last ? LineRange{all.first, at} : LineRange{at, all.last};
}

void RecencyStack::classify(std::vector<StackPiece>& pieces, std::uint64_t group_lines) const {
  const auto levels = static_cast<unsigned>(cursors_.size());
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (!pieces[i].present) continue;
    while (pieces[i].level < levels) {
      const LineRange hit = held(pieces[i], cursors_[pieces[i].level], pieces, group_lines);
      if (hit.size() == pieces[i].lines.size()) break;
      if (hit.size() == 0) {
        ++pieces[i].level;
        continue;
      }
      // The part that misses goes on to the next capacity, as a piece of its own right behind this one.
      StackPiece rest = pieces[i];
      const bool head = hit.first == rest.lines.first;
      StackPiece& second = head ? rest : pieces[i];
      StackPiece& first = head ? pieces[i] : rest;
      const LineNumber at = head ? hit.last : hit.first;
      const auto skipped = static_cast<float>(at - second.lines.first);
      second.start += second.step * skipped;
      second.now += second.pace * skipped;
      first.lines.last = second.lines.first = at;
      ++rest.level;
      pieces.insert(pieces.begin() + static_cast<std::ptrdiff_t>(i) + 1, rest);
    }
  }
}

void RecencyStack::begin_group() {
  if (current_ + 1 - cursors_.back().group >= live_.size()) make_room_for_group();
  ++current_;
  live(current_) = 0;
}

// The ring is full: groups without lines lose their numbers; if few have none, the ring grows.
void RecencyStack::make_room_for_group() {
  std::vector<std::uint64_t> counts(1, 0);
  std::vector<Cursor> moved = cursors_;
  std::vector<bool> done(cursors_.size(), false);
  std::uint64_t previous = ~std::uint64_t{0};
  const auto place_cursors = [&](std::uint64_t before) {  // cursors on groups older than `before`
    for (std::size_t c = cursors_.size(); c-- > 0;) {     // outermost is oldest
      if (done[c] || cursors_[c].group >= before) continue;
      done[c] = true;
      if (previous != cursors_[c].group) {
        previous = cursors_[c].group;
        counts.push_back(live(previous));
      }
      moved[c].group = counts.size() - 1;
    }
  };
  for (SegmentIndex s = oldest_; s != no_segment; s = segments_[s].newer) {
    Segment& segment = segments_[s];
    if (segment.group != previous) {
      place_cursors(segment.group);
      previous = segment.group;
      counts.push_back(live(previous));
      for (std::size_t c = 0; c < cursors_.size(); ++c)
        if (!done[c] && cursors_[c].group == previous) {
          done[c] = true;
          moved[c].group = counts.size() - 1;
        }
    }
    segment.group = counts.size() - 1;
  }
  place_cursors(~std::uint64_t{0});
  // `previous` compared old numbers while segments got new ones: both lists are walked in the same order, so each old group
  // is met exactly once.
  std::size_t size = initial_groups;
  while (size < 4 * counts.size()) size *= 2;
  live_.assign(size, 0);
  std::copy(counts.begin(), counts.end(), live_.begin());
  cursors_ = std::move(moved);
  current_ = counts.size() - 1;
}

void RecencyStack::forget(std::uint64_t group, std::uint64_t lines) {
  live(group) -= lines;
  lines_ -= lines;
  for (auto& cursor : cursors_)
    if (group > cursor.group) cursor.newer -= lines;
}

void RecencyStack::unlink(SegmentIndex index) {
  const Segment& segment = segments_[index];
  (segment.newer != no_segment ? segments_[segment.newer].older : newest_) = segment.older;
  (segment.older != no_segment ? segments_[segment.older].newer : oldest_) = segment.newer;
}

void RecencyStack::enter(SegmentIndex index, LineRange touched) {
  Segment& segment = segments_[index];
  segment.step = 1.0F / static_cast<float>(touched.size());
  segment.start = segment.step * static_cast<float>(segment.first - touched.first);
  segment.group = current_;
  segment.newer = no_segment;
  segment.older = newest_;
  (newest_ != no_segment ? segments_[newest_].newer : oldest_) = index;
  newest_ = index;
  const std::uint64_t size = segment.size();
  live(current_) += size;
  lines_ += size;
  for (auto& cursor : cursors_) cursor.newer += size;
}

void RecencyStack::touch(LineRange range, bool writes, std::uint16_t writer, bool absent) {
  if (absent) {
    const SegmentIndex index = segments_.insert(range);
    segments_[index].dirty = writes;
    segments_[index].writer = writer;
    enter(index, range);
    return;
  }
  SegmentIndex s = segments_.first_in(range.first, range.last);
  if (s != no_segment && segments_[s].first == range.first && segments_[s].last == range.last) {
    leave(s);
    enter(s, range);
    if (writes) {
      segments_[s].dirty = true;
      segments_[s].writer = writer;
    }
    return;
  }
  runs_.clear();
  const auto add = [&](LineNumber first, LineNumber last, bool dirty, std::uint16_t by) {
    if (first == last) return;
    if (!runs_.empty() && runs_.back().dirty == dirty && (!dirty || runs_.back().writer == by))
      runs_.back().lines.last = last;
    else
      runs_.push_back({{first, last}, dirty, by});
  };
  LineNumber at = range.first;
  for (SegmentIndex next; s != no_segment; s = next) {
    next = segments_.next_in(s, range.last);
    const LineRange lines = intersection(s, range);
    const bool dirty = segments_[s].dirty;
    const std::uint16_t by = segments_[s].writer;
    add(at, lines.first, writes, writer);
    add(lines.first, lines.last, dirty || writes, writes ? writer : by);
    at = lines.last;
    remove_part(s, lines);
  }
  add(at, range.last, writes, writer);
  for (const auto& run : runs_) {
    const SegmentIndex index = segments_.insert(run.lines);
    segments_[index].dirty = run.dirty;
    segments_[index].writer = run.writer;
    enter(index, range);
  }
}

void RecencyStack::end_group() {
  for (auto& cursor : cursors_)
    while (cursor.newer > cursor.capacity) cursor.newer -= live(++cursor.group);
}

bool RecencyStack::any_dirty(LineRange range) const {
  for (SegmentIndex s = segments_.first_in(range.first, range.last); s != no_segment; s = segments_.next_in(s, range.last))
    if (segments_[s].dirty) return true;
  return false;
}

SegmentIndex RecencyStack::split(SegmentIndex left, LineNumber at) {
  const Segment whole = segments_[left];
  segments_.trim(left, whole.first, at);
  const SegmentIndex right = segments_.insert({at, whole.last});
  Segment& segment = segments_[right];
  segment.group = whole.group;
  segment.step = whole.step;
  segment.start = whole.start + whole.step * static_cast<float>(at - whole.first);
  segment.dirty = whole.dirty;
  segment.writer = whole.writer;
  segment.older = left;
  segment.newer = whole.newer;
  segments_[left].newer = right;
  (whole.newer != no_segment ? segments_[whole.newer].older : newest_) = right;
  return right;
}

SegmentIndex RecencyStack::isolate(SegmentIndex index, LineRange part) {
  if (segments_[index].first < part.first) index = split(index, part.first);
  if (part.last < segments_[index].last) split(index, part.last);
  return index;
}

void RecencyStack::remove_part(SegmentIndex index, LineRange part) {
  const Segment& segment = segments_[index];
  if (segment.first == part.first && segment.last == part.last) {
    leave(index);
    segments_.erase(index);
    return;
  }
  forget(segment.group, part.size());
  if (segment.first == part.first) {
    segments_.trim(index, part.last, segment.last);
  } else if (segment.last == part.last) {
    segments_.trim(index, segment.first, part.first);
  } else {
    split(index, part.last);
    segments_.trim(index, segments_[index].first, part.first);
  }
}

}  // namespace homenode
