#include "sim/program/touch_combiner.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "sim/machine/mixed_bits.hpp"

namespace homenode {

namespace {

bool is_same_kind(const LineTouch& a, const LineTouch& b) {
  return a.reads == b.reads && a.writes == b.writes && a.non_temporal == b.non_temporal;
}

unsigned kind(const LineTouch& touch) { return (touch.reads ? 1U : 0U) + (touch.writes ? 2U : 0U) + (touch.non_temporal ? 4U : 0U); }

// Both have been widened to the same lines, or have one line each.
void absorb(LineTouch& into, const LineTouch& other) {
  into.accesses += other.accesses;
  into.atomic |= other.atomic;
  into.waited = std::max(into.waited, other.waited);
  into.parallelism = std::min(into.parallelism, other.parallelism);
}

// Neighbouring operands become one stream; streams that only meet in the line where one ends and the other begins stay two.
void add_same_kind(std::vector<LineTouch>& out, LineTouch touch) {
  LineTouch& before = out.back();
  const std::uint64_t common = std::min(before.lines.last, touch.lines.last) - touch.lines.first;
  if (2 * common >= std::min(before.lines.size(), touch.lines.size())) {
    const std::uint64_t lines = before.lines.size(), others = touch.lines.size();
    before.lines.last = std::max(before.lines.last, touch.lines.last);
    if (before.waited != touch.waited && lines != others)  // each by its lines
      before.waited = touch.waited = static_cast<std::uint8_t>((before.waited * lines + touch.waited * others) / (lines + others));
    absorb(before, touch);
    return;
  }
  touch.lines.first = before.lines.last;
  out.push_back(touch);
}

}  // namespace

std::vector<LineTouch>& TouchCombiner::combine(std::vector<LineTouch>& touches) {
  const auto by_address = [](const LineTouch& a, const LineTouch& b) {
    return a.lines.first != b.lines.first ? a.lines.first < b.lines.first : a.lines.last > b.lines.last;
  };
  if (!std::is_sorted(touches.begin(), touches.end(), by_address)) {
    constexpr std::size_t many = 256;  // from here on sorting takes longer
    if (touches.size() >= many) join_same_lines(touches);
    std::sort(touches.begin(), touches.end(), by_address);
  }
  combined_.clear();
  for (const LineTouch& touch : touches) {
    if (combined_.empty() || touch.lines.first >= combined_.back().lines.last) {
      combined_.push_back(touch);
      continue;
    }
    if (!is_same_kind(combined_.back(), touch)) return combine_kinds(touches);
    add_same_kind(combined_, touch);
  }
  return combined_;
}

// Touches of one line and kind are one in the end. Loops over small blocks touch a line a dozen times in a group of thousands.
void TouchCombiner::join_same_lines(std::vector<LineTouch>& touches) {
  const std::size_t room = std::bit_ceil(2 * touches.size());
  if (known_.size() < room || ++call_ == 0) {
    known_.assign(std::max(room, known_.size()), 0);
    call_ = 1;
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < touches.size(); ++i) {
    const LineTouch touch = touches[i];
    if (touch.lines.size() == 1) {
      std::size_t at = mixed_bits(8 * touch.lines.first.value() + kind(touch)) & (room - 1);
      const auto is_taken = [&] { return known_[at] >> 32 == call_; };
      const auto is_same = [&](const LineTouch& other) { return other.lines.first == touch.lines.first && is_same_kind(other, touch); };
      while (is_taken() && !is_same(touches[known_[at] & 0xffffffff])) at = (at + 1) & (room - 1);
      if (is_taken()) {
        absorb(touches[known_[at] & 0xffffffff], touch);
        continue;
      }
      known_[at] = std::uint64_t{call_} << 32 | kept;
    }
    touches[kept++] = touch;
  }
  touches.resize(kept);
}

// The rare case of lines that are read and written by different operands: each kind by itself first, then cut where they meet.
std::vector<LineTouch>& TouchCombiner::combine_kinds(const std::vector<LineTouch>& touches) {
  single_.clear();
  unsigned kinds = 0;
  for (const LineTouch& touch : touches) kinds |= 1U << kind(touch);
  for (unsigned k = 0; k < 8; ++k) {
    if ((kinds >> k & 1) == 0) continue;
    const std::size_t begin = single_.size();
    for (const LineTouch& touch : touches) {
      if (kind(touch) != k) continue;
      if (single_.size() == begin || touch.lines.first >= single_.back().lines.last)
        single_.push_back(touch);
      else
        add_same_kind(single_, touch);
    }
  }
  cuts_.clear();
  for (const LineTouch& touch : single_) {
    cuts_.push_back(touch.lines.first);
    cuts_.push_back(touch.lines.last);
  }
  std::sort(cuts_.begin(), cuts_.end());
  cuts_.erase(std::unique(cuts_.begin(), cuts_.end()), cuts_.end());
  std::stable_sort(single_.begin(), single_.end(), [](const LineTouch& a, const LineTouch& b) { return a.lines.first < b.lines.first; });
  combined_.clear();
  std::size_t begin = 0;
  open_.clear();
  for (std::size_t c = 0; c + 1 < cuts_.size(); ++c) {
    std::erase_if(open_, [&](const LineTouch& touch) { return touch.lines.last <= cuts_[c]; });
    for (; begin < single_.size() && single_[begin].lines.first == cuts_[c]; ++begin) open_.push_back(single_[begin]);
    if (open_.empty()) continue;
    LineTouch piece = open_.front();
    piece.lines = {cuts_[c], cuts_[c + 1]};
    bool cached_write = false;
    piece.accesses = 0;
    piece.reads = piece.writes = piece.non_temporal = piece.atomic = false;
    for (LineTouch& touch : open_) {
      piece.reads |= touch.reads;
      piece.writes |= touch.writes;
      piece.non_temporal |= touch.non_temporal;
      piece.atomic |= touch.atomic;
      cached_write |= touch.writes && !touch.non_temporal;
      piece.waited = std::max(piece.waited, touch.waited);
      piece.parallelism = std::min(piece.parallelism, touch.parallelism);
      piece.accesses += std::exchange(touch.accesses, 0);  // where the stream begins
    }
    if (cached_write) piece.non_temporal = false;  // an ordinary store brings the line in anyway
    combined_.push_back(piece);
  }
  return combined_;
}

}  // namespace homenode
