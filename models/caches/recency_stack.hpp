// What a chain of caches with the same users holds, as one LRU stack. Lines touched by one lockstep group share one
// stretch of time, the group; within it a line's place is a fraction, so that streams which advance together are evicted
// together. Whether a cache still holds a line depends on its stack distance d, the number of other lines touched since
// (Mattson et al., IBM Systems Journal 9(2), 1970); so one stack serves several caches.
//   - A fully associative LRU cache of C lines holds it while d < C.
//   - With S sets of W ways and lines spread over the sets at random (page frames, hashed slices) it holds it when fewer than W
//     of the d lines fell into its set: with the chance P(Binomial(d, 1/S) < W) (A. J. Smith, IEEE TSE 4(2), 1978; M. D. Hill
//     and A. J. Smith, IEEE TC 38(12), 1989, equation 1). Of a range that share of the lines is held.
//   - Where victims are random, recency says nothing: the stack is of one level then, and what it still holds, random_victims.hpp says.
// Cursors mark the groups where d passes the bounds of certainty; distances are worked out only between them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "models/caches/line_segments.hpp"
#include "models/caches/random_victims.hpp"
#include "sim/machine/machine.hpp"

namespace homenode {

// A part of a touched range whose lines were last touched together and are held by the same level.
struct StackPiece {
  LineRange lines;
  unsigned touch = 0;    // which stream of the group
  unsigned level = 0;    // innermost level that holds it; the number of levels = none
  bool present = false;  // in the stack, possibly beyond the capacity of every level
  bool dirty = false;
  std::uint64_t group = 0;  // when it was touched last, and when within the group
  float start = 0, step = 0;
  float now = 0, pace = 0;  // when the present group touches it
};

struct StackLevel {
  std::uint64_t lines = 0;
  unsigned ways = 0;  // 0 = fully associative
  Victim victim = Victim::oldest;
};

// Stack distances at which each level still holds a line, computed once for all stacks with the same levels. Of a level whose victims are
// random: as if all lines were touched again at this distance.
struct StackBounds {
  explicit StackBounds(const std::vector<StackLevel>&);  // increasing

  // A line is certainly held below the near distance, and certainly not beyond the far one. Equal if fully associative.
  struct Level {
    std::size_t near = 0, far = 0;  // in `distances`
    std::vector<float> chance;      // at equal steps from near to far
  };
  std::vector<Level> levels;
  std::vector<std::uint64_t> distances;  // in lines, increasing
  std::optional<RandomVictims> random;   // of a single level whose victims are random

private:
  template <class Chance>
  std::uint64_t add_chances(Level&, double most, double farthest, Chance&&);
};

// What a stack holds, apart from how it counts groups: two stacks with equal contents do the same from there on.
struct StackContents {
  struct Segment {
    LineRange lines;
    std::uint32_t rank = 0;  // of its group among those that hold something, the oldest 0
    float start = 0, step = 0;
    std::uint16_t writer = 0;
    bool dirty = false;
  };
  struct Bound {
    std::uint64_t newer = 0;  // lines in groups after the one where the distance ends
    std::uint32_t older = 0;  // groups before that one, of those that hold something
    bool in_a_group = false;  // that one holds something
    bool operator==(const Bound&) const = default;
  };
  std::vector<Segment> segments;  // oldest first
  std::vector<Bound> bounds;      // by distance
};

class RecencyStack {
public:
  explicit RecencyStack(std::shared_ptr<const StackBounds>);

  // The protocol of an access: look every stream up, classify, then touch every stream between begin and end.
  void look_up(LineRange, unsigned touch, std::vector<StackPiece>&) const;
  void classify(std::vector<StackPiece>&, std::uint64_t group_lines) const;  // may split pieces; no lines: nobody touches them
  void begin_group();
  // `absent`: look_up found nothing, and nothing was put there since.
  void touch(LineRange, bool writes, std::uint16_t writer, bool absent = false);
  void end_group();
  // Evicts segments that lie wholly beyond the last level: evicted(const LineSegment&). Of random victims, parts of segments, some time
  // after the line left: at the ages of `thinning`.
  template <class Evicted>
  void evict(Evicted&& evicted) {
    if (random_) return evict_lost(evicted);
    const Cursor& last = cursors_.back();
    const std::uint64_t kept = last.newer >= last.capacity ? last.group + 1 : last.group;  // the oldest group in reach
    while (oldest_ != no_segment && segments_[oldest_].group < kept) {
      const SegmentIndex index = oldest_;
      const LineSegment segment = segments_[index];
      leave(index);
      segments_.erase(index);
      evicted(segment);
    }
  }

  void prefetch_table(LineNumber line) const { segments_.prefetch_table(line); }
  void prefetch_segment(LineNumber line) const { segments_.prefetch_segment(line); }

  void prefetch_oldest(std::size_t count) const { segments_.prefetch_followers(oldest_, count); }
  // The `count` next victims: oldest(LineNumber first).
  template <class Oldest>
  void for_each_oldest(std::size_t count, Oldest&& oldest) const {
    for (SegmentIndex s = oldest_; s != no_segment && count > 0; s = segments_[s].newer, --count) oldest(segments_[s].first);
  }

  bool any(LineRange range) const { return segments_.first_in(range.first, range.last) != no_segment; }
  bool any_dirty(LineRange) const;
  // Calls part(LineRange, bool dirty, std::uint16_t writer) for every held part of the range. Does not change recency.
  template <class Part>
  void remove(LineRange range, Part&& part) {
    for (SegmentIndex s = segments_.first_in(range.first, range.last), next; s != no_segment; s = next) {
      next = segments_.next_in(s, range.last);
      const LineRange lines = intersection(s, range);
      const bool dirty = segments_[s].dirty;
      const std::uint16_t writer = segments_[s].writer;
      remove_part(s, lines);
      part(lines, dirty, writer);
    }
  }
  template <class Part>
  void clean(LineRange range, Part&& part) {
    for (SegmentIndex s = segments_.first_in(range.first, range.last), next; s != no_segment; s = next) {
      next = segments_.next_in(s, range.last);
      if (!segments_[s].dirty) continue;
      const LineRange lines = intersection(s, range);
      const std::uint16_t writer = segments_[s].writer;
      segments_[isolate(s, lines)].dirty = false;
      part(lines, writer);
    }
  }
  // Marks what is held; absent(LineRange) gets the rest.
  template <class Absent>
  void mark_dirty(LineRange range, std::uint16_t writer, Absent&& absent) {
    LineNumber at = range.first;
    for (SegmentIndex s = segments_.first_in(range.first, range.last), next; s != no_segment; s = next) {
      next = segments_.next_in(s, range.last);
      const LineRange lines = intersection(s, range);
      if (lines.first > at) absent(LineRange{at, lines.first});
      at = lines.last;
      LineSegment& segment = segments_[segments_[s].dirty && segments_[s].writer == writer ? s : isolate(s, lines)];
      segment.dirty = true;
      segment.writer = writer;
    }
    if (at < range.last) absent(LineRange{at, range.last});
  }
  template <class Each>
  void for_each(Each&& each) const {  // oldest first
    for (SegmentIndex s = oldest_; s != no_segment; s = segments_[s].newer) each(segments_[s]);
  }

  // recency_contents.cpp. Not of random victims.
  bool has_contents() const { return !random_; }
  StackContents contents() const;
  bool holds(const StackContents&, const LineMoves&) const;  // with the lines moved
  void move(const LineMoves&, std::uint64_t times);
  // How often the place of a line decided whether it is held. A line that moves has another place.
  std::uint64_t decided_by_place() const { return decided_by_place_; }

  std::uint64_t lines() const { return lines_; }
  std::size_t segments() const { return segments_.size(); }

private:
  struct Cursor {
    std::uint64_t capacity = 0;
    std::uint64_t group = 0;  // the capacity ends somewhere in this group
    std::uint64_t newer = 0;  // lines in groups after it, at most `capacity`
  };
  using Level = StackBounds::Level;  // its distances are those of the cursors

  // Evictions over the lines of a cache after which what was lost of a segment is taken out: where 7/8 are left, 6/8 ... 1/8, 1/32, and
  // all.
  static constexpr std::array<double, 9> thinning{0.1335, 0.2877, 0.4700, 0.6931, 0.9808, 1.3863, 2.0794, 3.4657, 6};
  double age(std::uint64_t group) const { return RandomVictims::mean(random_->now()) - RandomVictims::mean(since(group)); }
  // Lines of the present group stay until the next one: outer levels have yet to be asked for them.
  bool is_due(SegmentIndex s, std::size_t step) const {
    return s != no_segment && segments_[s].group < current_ && age(segments_[s].group) >= thinning[step];
  }
  template <class Evicted>
  void evict_lost(Evicted&& evicted) {
    for (std::size_t step = 0; step < thinning.size(); ++step)
      while (is_due(unthinned_[step], step)) {
        const LineSegment segment = segments_[unthinned_[step]];
        lost_.clear();
        const auto lost = [&](LineRange part) { lost_.push_back(part); };
        step + 1 < thinning.size() ? for_each_lost(segment, lost) : lost({segment.first, segment.last});
        unthinned_[step] = segment.newer;
        for (const LineRange& part : lost_) {
          remove(part, [](LineRange, bool, std::uint16_t) {});
          LineSegment gone = segment;
          gone.first = part.first;
          gone.last = part.last;
          evicted(gone);
        }
      }
  }
  template <class Lost>
  void for_each_lost(const LineSegment& segment, Lost&& lost) const {
    for (LineRange rest{segment.first, segment.last}; rest.size() > 0;) {
      const RandomVictims::Fate fate = random_->fate(rest, since(segment.group));
      if (!fate.held) lost(LineRange{rest.first, rest.first + fate.lines});
      rest.first = rest.first + fate.lines;
    }
  }
  const RandomVictims::Clock& since(std::uint64_t group) const { return clocks_[group & (clocks_.size() - 1)]; }

  LineRange intersection(SegmentIndex s, LineRange range) const {
    return {std::max(segments_[s].first, range.first), std::min(segments_[s].last, range.last)};
  }
  std::uint64_t& live(std::uint64_t group) { return live_[group & (live_.size() - 1)]; }
  std::uint64_t live(std::uint64_t group) const { return live_[group & (live_.size() - 1)]; }
  struct Fate {
    bool held = false;
    std::uint64_t lines = 0;  // from the first on
  };
  Fate fate(const StackPiece&, const Level&, std::span<const StackPiece> pieces, std::uint64_t group_lines) const;
  Fate fate_by_chance(const StackPiece&, const Level&, std::span<const StackPiece> pieces, std::uint64_t group_lines) const;
  std::uint64_t lines_of_groups(std::uint64_t first, std::uint64_t last) const;  // [first, last); remembers the last answer
  std::uint64_t sum_of_groups(std::uint64_t first, std::uint64_t last) const;
  void forget(std::uint64_t group, std::uint64_t lines);  // from the counts
  void unlink(SegmentIndex);
  void leave(SegmentIndex index) {
    if (random_) random_->left({segments_[index].first, segments_[index].last}, since(segments_[index].group));
    forget(segments_[index].group, segments_[index].size());
    unlink(index);
  }
  void enter(SegmentIndex, LineRange touched);
  void remove_part(SegmentIndex, LineRange);
  SegmentIndex isolate(SegmentIndex, LineRange);    // cuts the part out of its segment, at the same age
  SegmentIndex split(SegmentIndex, LineNumber at);  // returns the right part
  std::uint64_t oldest_group() const;               // that is looked at
  void make_room_for_group();

  struct Run {
    LineRange lines;
    bool dirty;
    std::uint16_t writer;
  };

  LineSegments segments_;
  SegmentIndex newest_ = no_segment, oldest_ = no_segment;
  std::shared_ptr<const StackBounds> bounds_;
  std::vector<Cursor> cursors_;  // the last one decides what leaves; none where victims are random
  std::optional<RandomVictims> random_;
  std::vector<RandomVictims::Clock> clocks_;               // ring by group, of random victims: when it was
  std::array<SegmentIndex, thinning.size()> unthinned_{};  // of random victims, by age: the oldest segment that was not thinned there
  std::vector<LineRange> lost_;                            // scratch
  std::vector<std::uint64_t> live_;                        // ring by group: lines whose last touch it was
  std::vector<std::uint64_t> blocks_;                      // the same by 64 groups
  std::uint64_t current_ = 0;                              // newest group
  std::uint64_t lines_ = 0;
  mutable std::uint64_t decided_by_place_ = 0;
  std::vector<Run> runs_;  // scratch of touch()
  struct SummedGroups {
    std::uint64_t first = 0, last = 0, lines = 0;
  };
  mutable SummedGroups summed_;  // of one classify(): pieces of a range that was cut lie in the same group
};

}  // namespace homenode
