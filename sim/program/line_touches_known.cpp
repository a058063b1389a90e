// Blocks of few iterations whose pattern came before: rows of a sparse matrix, particles, small tasks. Only their slots differ.
#include <algorithm>

#include "sim/program/line_touches.hpp"

namespace homenode {

namespace {

constexpr std::uint64_t few_iterations = 32;              // more are a loop, whose cursors cost little
constexpr std::uint64_t widest_step = 512;                // bytes between elements that are one touch, at most
constexpr std::size_t most_of_a_pattern = 256;            // touches
constexpr std::size_t most_known = std::size_t{1} << 18;  // touches of all patterns

}  // namespace

// Patterns that occur once are not worth the note.
void LineTouches::look_up_touches(const ItemPattern& pattern, PatternId id) {
  // A window takes all elements of so few iterations.
  const std::uint64_t few = std::min(few_iterations, options_.group_lines * options_.line_bytes / widest_step);
  if (open_iterations_ > few || in_stretches_) return;
  if (pattern_touches_.size() < 2 * patterns_->size()) pattern_touches_.resize(2 * patterns_->size());
  PatternTouches& touches = pattern_touches_[2 * id.index() + (open_iterations_ > 1 ? 1 : 0)];
  if (touches.never) return;
  if (touches.known) {
    known_block_ = &touches;
    known_group_ = 0;
    return;
  }
  if (++touches.uses < 2) return;
  touches.never = !pattern.streams.empty() || !pattern.heap_events.empty() || known_touches_ >= most_known;
  if (touches.never) return;
  touches.touches.clear();
  touches.group_ends.clear();
  noted_ = &touches;
}

// What a window takes from a cursor.
void LineTouches::note_touch(const Cursor& cursor, std::uint64_t elements) {
  PatternTouches::Touch touch{.offset = cursor.address,
                              .bytes = cursor.extent,
                              .slot = cursor.slot,
                              .made = {.lines = {}, .parallelism = cursor.parallelism, .accesses = cursor.accesses},
                              .prefetched = {}};
  set_kind(touch.made, cursor);
  if (open_iterations_ > 1) {
    // One element an iteration, and all in this window.
    const bool shifted = cursor.outer_dimensions == 0 && cursor.inner.count == open_iterations_ && elements == open_iterations_ &&
                         cursor.inner.sequence_stride == iteration_span_;
    noted_->never |= !shifted || cursor.extent + options_.line_bytes > widest_step;
    std::array<Dimension, most_dimensions> loops{};
    const unsigned count = loops_of(*cursor.run, 1, loops);
    const std::uint64_t width = std::max<std::uint64_t>(cursor.run->width, 1);
    touch.prefetched = {.width = width, .extent = width};
    for (unsigned d = 0; d < count; ++d) prefetch_on(touch.prefetched, loops[d]);
    if (count == 0) loops[0] = cursor.inner;
    // With some shifts the iterations would continue the run's outermost loop.
    noted_->never |= count > 0 && loops[count - 1].count * loops[count - 1].sequence_stride == iteration_span_;
    touch.dependence = dependence_of(*cursor.run, {loops.data(), 1});
    touch.made.parallelism = static_cast<float>(std::max(std::min(lines_in_flight(touch.prefetched), touch.dependence), 1.0));
    noted_->touches.push_back(touch);
  } else if (cursor.separate) {
    for (std::uint64_t i = 0; i < elements; ++i) {
      noted_->touches.push_back(touch);
      touch.offset += static_cast<std::uint64_t>(cursor.inner.stride);
    }
  } else {
    const std::uint64_t travel = (elements - 1) * magnitude(cursor.inner.stride);
    if (cursor.inner.stride < 0) touch.offset -= travel;
    touch.bytes += travel;
    touch.made.accesses *= elements;
    noted_->touches.push_back(touch);
  }
}

// After a window; a caller that stops between windows leaves the pattern to its next use.
void LineTouches::note_group() {
  const auto noted = static_cast<std::uint32_t>(noted_->touches.size());
  if (noted > most_of_a_pattern || noted_->never) {
    *noted_ = {};
    noted_->never = true;
    noted_ = nullptr;
    return;
  }
  if (noted > (noted_->group_ends.empty() ? 0 : noted_->group_ends.back())) noted_->group_ends.push_back(noted);
  if (following()) return;
  noted_->known = true;
  known_touches_ += noted;
  noted_ = nullptr;
}

inline LineTouch& LineTouches::add_touch(const LineTouch& made, std::uint64_t address, std::uint64_t bytes) {
  const LineRange lines = lines_at(address, bytes);
  LineTouch& touch = (is_left_out(lines) ? left_out_ : touches_).emplace_back(made);
  touch.lines = lines;
  return touch;
}

// Where a prefetcher follows the shift. Arrays have the same one in every block.
float LineTouches::parallelism_of_followed(const PatternTouches::Touch& known, std::int64_t shift) const {
  if (known.last_shift == shift && known.last_iterations == open_iterations_) return known.last_parallelism;
  Prefetched prefetched = known.prefetched;
  prefetch_on(prefetched, {open_iterations_, shift, iteration_span_});
  known.last_shift = shift;
  known.last_iterations = open_iterations_;
  known.last_parallelism = static_cast<float>(std::max(std::min(lines_in_flight(prefetched), known.dependence), 1.0));
  return known.last_parallelism;
}

// As cursors of such a run do it: elements far apart are touches of their own.
void LineTouches::add_shifted(const PatternTouches::Touch& known) {
  const std::int64_t shift = shifts_[known.slot];
  const std::uint64_t step = magnitude(shift), begin = bases_[known.slot] + known.offset;
  const bool followed = is_prefetched(known.prefetched, step);
  const float parallelism = followed ? parallelism_of_followed(known, shift) : known.made.parallelism;
  if (step >= known.bytes + options_.line_bytes) {
    for (std::uint64_t i = 0; i < open_iterations_; ++i)
      add_touch(known.made, begin + i * static_cast<std::uint64_t>(shift), known.bytes).parallelism = parallelism;
    return;
  }
  const std::uint64_t travel = (open_iterations_ - 1) * step;
  LineTouch& touch = add_touch(known.made, shift < 0 ? begin - travel : begin, travel + known.bytes);
  touch.parallelism = parallelism;
  touch.accesses *= open_iterations_;
}

void LineTouches::next_known_group() {
  const std::size_t begin = known_group_ == 0 ? 0 : known_block_->group_ends[known_group_ - 1],
                    end = known_block_->group_ends[known_group_];
  ++known_group_;
  for (std::size_t i = begin; i < end; ++i) {
    const PatternTouches::Touch& known = known_block_->touches[i];
    if (open_iterations_ == 1)
      add_touch(known.made, bases_[known.slot] + known.offset, known.bytes);
    else
      add_shifted(known);
  }
}

}  // namespace homenode
