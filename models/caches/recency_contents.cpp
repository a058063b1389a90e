// Whether a stack holds what it held, with the lines moved (recency_stack.hpp).
#include "models/caches/recency_stack.hpp"

namespace homenode {

StackContents RecencyStack::contents() const {
  StackContents contents;
  contents.segments.reserve(segments_.size());
  contents.bounds.resize(cursors_.size());
  std::uint32_t rank = 0;
  for (SegmentIndex s = oldest_; s != no_segment; s = segments_[s].newer) {
    const LineSegment& segment = segments_[s];
    const bool begins = s == oldest_ || segment.group != segments_[segment.older].group;
    if (begins && s != oldest_) ++rank;
    for (std::size_t c = 0; begins && c < cursors_.size(); ++c) {
      contents.bounds[c].older += segment.group < cursors_[c].group;
      contents.bounds[c].in_a_group |= segment.group == cursors_[c].group;
    }
    const auto writer = static_cast<std::uint16_t>(segment.dirty ? segment.writer : 0);
    contents.segments.push_back({.lines = {segment.first, segment.last},
                                 .rank = rank,
                                 .start = segment.start,
                                 .step = segment.step,
                                 .writer = writer,
                                 .dirty = segment.dirty});
  }
  for (std::size_t c = 0; c < cursors_.size(); ++c) contents.bounds[c].newer = cursors_[c].newer;
  return contents;
}

bool RecencyStack::holds(const StackContents& before, const LineMoves& moves) const {
  if (before.segments.size() != segments_.size()) return false;
  const StackContents now = contents();
  if (now.bounds != before.bounds) return false;
  for (std::size_t i = 0; i < now.segments.size(); ++i) {
    const StackContents::Segment &a = before.segments[i], &b = now.segments[i];
    if (a.rank != b.rank || a.start != b.start || a.step != b.step || a.dirty != b.dirty || a.writer != b.writer) return false;
    const std::optional<std::int64_t> by = moves.of(a.lines);
    if (!by) return false;
    const LineRange expected = LineMoves::shifted(a.lines, *by, 1);
    if (expected.first != b.lines.first || expected.last != b.lines.last) return false;
  }
  return true;
}

void RecencyStack::move(const LineMoves& moves, std::uint64_t times) {
  for (SegmentIndex s = oldest_; s != no_segment; s = segments_[s].newer) segments_.take_out(s);
  for (SegmentIndex s = oldest_; s != no_segment; s = segments_[s].newer)
    segments_.put_back(s, moves.moved({segments_[s].first, segments_[s].last}, times));
}

}  // namespace homenode
