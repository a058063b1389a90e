#include "sim/program/line_touches.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "sim/base/errors.hpp"

namespace homenode {

namespace {

constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t wide_element = 256;       // bytes: inner loops up to this extent are one element
constexpr std::uint64_t unrolled_count = 8;       // inner loops of so few far-apart elements become streams of their own
constexpr std::uint64_t irregular_batch = 32;     // irregular accesses in one group
constexpr std::uint64_t strided_batch = 64;       // elements a group of a run whose elements lie in separate lines
constexpr std::uint64_t statement_accesses = 16;  // accesses without a loop this close together form one group
constexpr std::size_t many_live = 32;             // from so many live runs on those that go on
constexpr std::uint64_t distant = 1024;           // so many accesses from here wait in a heap
constexpr std::int64_t scattered_iterations = 4;  // blocks as short as this are gathered into common groups

std::uint64_t magnitude(std::int64_t value) { return value < 0 ? -static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value); }

bool same_kind(const LineTouch& a, const LineTouch& b) {
  return a.reads == b.reads && a.writes == b.writes && a.non_temporal == b.non_temporal;
}

void absorb(LineTouch& into, const LineTouch& other) {
  into.accesses += other.accesses;
  into.parallelism = std::min(into.parallelism, other.parallelism);
}

}  // namespace

LineTouchOptions LineTouchOptions::of(const Machine& machine, StoreTreatment stores) {
  LineTouchOptions options;
  if (!machine.caches.empty()) {
    options.line_bytes = static_cast<std::uint64_t>(machine.caches.front().line.count());
    std::uint64_t private_lines = 0;
    for (const auto& cache : machine.caches)
      if (cache.cores_per_cache == 1) private_lines += static_cast<std::uint64_t>(cache.size.count()) / options.line_bytes;
    options.group_lines = std::max<std::uint64_t>(64, private_lines / 4);
  }
  // A core that blocks goes on when a demand miss is back; its buffers are for what runs ahead of it.
  options.miss_buffers = machine.overlap == Overlap::none ? 1 : machine.miss_buffers;
  options.prefetched_lines = machine.prefetched_lines;
  options.prefetch_stride_limit = static_cast<std::uint64_t>(machine.prefetch_stride_limit.count());
  options.stores = stores;
  return options;
}

LineTouches::LineTouches(LineTouchOptions options) : options_{options} {
  if (!std::has_single_bit(options_.line_bytes))
    throw UsageError("a cache line of " + std::to_string(options_.line_bytes) + " bytes; a power of two is allowed");
  line_shift_ = static_cast<unsigned>(std::countr_zero(options_.line_bytes));
}

void LineTouches::start(const std::vector<ItemPattern>& patterns, const ExecutionBody& body, std::int64_t first, std::int64_t last,
                        AddressOf address_of) {
  patterns_ = &patterns;
  body_ = &body;
  address_of_ = std::move(address_of);
  first_ = first;
  last_ = last;
  const auto behind = [](std::int64_t iteration, const ItemBlock& block) { return iteration < block.last; };
  block_ = static_cast<std::size_t>(std::upper_bound(body.blocks.begin(), body.blocks.end(), first, behind) - body.blocks.begin());
  close_cursors();
  sequence_base_ = 0;
  irregular_count_ = 0;
  limit_ = to_the_end;
  last_address_.clear();
  restart_chains();
}

void LineTouches::go_on_until(std::uint64_t limit) {
  limit_ = limit;
  ++epoch_;
}

std::uint64_t LineTouches::position() const {
  std::uint64_t first = to_the_end;
  for (const std::uint32_t live : live_) first = std::min(first, cursors_[live].sequence);
  if (!waiting_.empty()) first = std::min(first, cursors_[waiting_.front()].sequence);
  if (begun_ < order_.size()) first = std::min(first, cursors_[order_[begun_]].sequence);
  for (const IrregularCursor& irregular : irregular_) first = std::min(first, irregular.sequence);
  const bool begun = block_ >= body_->blocks.size() || body_->blocks[block_].first >= last_ || first_ >= last_;
  return first == to_the_end && !begun ? 0 : first;
}

std::uint64_t LineTouches::base_of(const ItemBlock& block, std::size_t slot, std::int64_t iteration) const {
  const SlotBinding& binding = block.slots[slot];
  return address_of_(binding.object) + static_cast<std::uint64_t>(binding.base + (iteration - block.first) * binding.shift);
}

bool LineTouches::next(std::vector<LineTouch>& group) {
  group.clear();
  touches_.clear();
  while (touches_.empty()) {
    if (following()) {
      if (!window()) return false;
    } else if (!next_block()) {
      return false;
    }
  }
  combine();
  group.swap(combined_);
  return true;
}

// Opens the next block of the slice, or does a number of short ones at once.
bool LineTouches::next_block() {
  const auto& blocks = body_->blocks;
  if (block_ >= blocks.size() || blocks[block_].first >= last_ || first_ >= last_) return false;
  const ItemBlock& block = blocks[block_];
  if (scattered(block)) {
    gather_blocks();
    return true;
  }
  open((*patterns_)[block.pattern.index()], block, std::max(first_, block.first), std::min(last_, block.last));
  ++block_;
  return true;
}

bool LineTouches::scattered(const ItemBlock& block) const {
  if (block.last - block.first > scattered_iterations) return false;
  const ItemPattern& pattern = (*patterns_)[block.pattern.index()];
  if (!pattern.streams.empty() || !pattern.heap_events.empty() || !pattern.sync_events.empty()) return false;
  return std::all_of(pattern.runs.begin(), pattern.runs.end(), [](const AccessRun& run) { return run.accesses() == 1; });
}

void LineTouches::open(const ItemPattern& pattern, const ItemBlock& block, std::int64_t from, std::int64_t to) {
  close_cursors();
  restart_chains();
  open_pattern_ = &pattern;
  open_block_ = &block;
  open_from_ = from;
  moving_objects_.clear();
  for (const HeapEvent& event : pattern.heap_events) moving_objects_.push_back(block.slots[event.slot].object);
  std::sort(moving_objects_.begin(), moving_objects_.end());
  bases_.resize(block.slots.size());
  base_epochs_.resize(block.slots.size());
  shifts_.resize(block.slots.size());
  for (std::size_t slot = 0; slot < block.slots.size(); ++slot) {
    shifts_[slot] = block.slots[slot].shift;
    const bool moves = std::binary_search(moving_objects_.begin(), moving_objects_.end(), block.slots[slot].object);
    base_epochs_[slot] = moves ? 0 : never;
    if (!moves) bases_[slot] = base_of(block, slot, from);
  }
  std::uint64_t span = pattern.accesses;
  for (const AccessRun& run : pattern.runs) {
    std::uint64_t end = run.sequence + 1;
    for (unsigned d = 0; d < run.dimensions; ++d) end += (std::uint64_t{run.dimension[d].count} - 1) * run.dimension[d].sequence_stride;
    span = std::max(span, end);
  }
  for (const IrregularStream& stream : pattern.streams)
    if (!stream.sequence.empty()) span = std::max(span, stream.sequence.back() + 1);
  iteration_span_ = span;
  const auto iterations = static_cast<std::uint64_t>(to - from);
  for (const AccessRun& run : pattern.runs) add_cursors(run, iterations);
  for (std::uint32_t cursor = 0; cursor < cursors_.size(); ++cursor) order_.push_back(cursor);
  const auto before = [this](std::uint32_t a, std::uint32_t b) { return cursors_[a].sequence < cursors_[b].sequence; };
  if (!std::is_sorted(order_.begin(), order_.end(), before)) std::stable_sort(order_.begin(), order_.end(), before);
  for (const IrregularStream& stream : pattern.streams) {
    const auto number = static_cast<std::uint32_t>(&stream - pattern.streams.data());
    if (!stream.offset.empty()) irregular_.push_back({&stream, iterations, 0, 0, stream.sequence.front(), number});
  }
  std::make_heap(irregular_.begin(), irregular_.end(), [](const auto& a, const auto& b) { return a.later_than(b); });
}

void LineTouches::close_cursors() {
  cursors_.clear();
  order_.clear();
  begun_ = 0;
  live_.clear();
  waiting_.clear();
  irregular_.clear();
}

// Where the slot's object lies now: it may come and go while the iteration runs.
std::uint64_t LineTouches::base_of_slot(std::size_t slot) {
  if (base_epochs_[slot] < epoch_) {
    bases_[slot] = base_of(*open_block_, slot, open_from_);
    base_epochs_[slot] = epoch_;
  }
  return bases_[slot];
}

// Whether a heap call or synchronisation comes between accesses of the run, which then has to be followed access by access.
bool LineTouches::interrupted(const AccessRun& run) const {
  std::uint64_t last = run.sequence;
  for (unsigned d = 0; d < run.dimensions; ++d) last += (std::uint64_t{run.dimension[d].count} - 1) * run.dimension[d].sequence_stride;
  const auto comes_between = [&](const auto& events) {
    const auto next = std::upper_bound(events.begin(), events.end(), run.sequence,
                                       [](std::uint64_t sequence, const auto& event) { return sequence < event.sequence; });
    return next != events.end() && next->sequence <= last;
  };
  return comes_between(open_pattern_->heap_events) || comes_between(open_pattern_->sync_events);
}

void LineTouches::add_cursors(const AccessRun& run, std::uint64_t iterations) {
  std::array<Dimension, most_dimensions> dimensions{};
  unsigned count = 0;
  for (unsigned d = 0; d < run.dimensions; ++d) {
    const RunDimension& dimension = run.dimension[d];
    if (dimension.count == 0) return;
    if (dimension.count > 1) dimensions[count++] = {dimension.count, dimension.stride, dimension.sequence_stride};
  }
  if (iterations > 1) dimensions[count++] = {iterations, shifts_[run.slot], iteration_span_};

  Cursor cursor;
  cursor.slot = run.slot;
  cursor.address = static_cast<std::uint64_t>(run.offset);
  cursor.sequence = run.sequence;
  cursor.extent = std::max<std::uint64_t>(run.width, 1);
  cursor.reads = run.kind != AccessKind::write;
  cursor.writes = run.kind != AccessKind::read;
  cursor.non_temporal = run.streamable && cursor.writes && options_.stores == StoreTreatment::nontemporal;

  const auto erase_innermost = [&] {
    std::copy(dimensions.begin() + 1, dimensions.begin() + count, dimensions.begin());
    --count;
  };
  // Loops that continue each other are one loop.
  for (unsigned d = 0; d + 1 < count;) {
    Dimension &inner = dimensions[d], &outer = dimensions[d + 1];
    if (outer.stride == static_cast<std::int64_t>(inner.count) * inner.stride &&
        outer.sequence_stride == inner.count * inner.sequence_stride) {
      inner.count *= outer.count;
      std::copy(dimensions.begin() + d + 2, dimensions.begin() + count, dimensions.begin() + d + 1);
      --count;
    } else {
      ++d;
    }
  }
  // How far apart the accesses of the run are decides what a prefetcher makes of it.
  const std::uint64_t stride = count > 0 ? magnitude(dimensions[0].stride) : 0;
  std::uint64_t in_flight = stride != 0 && stride <= options_.prefetch_stride_limit ? options_.prefetched_lines : options_.miss_buffers;
  if (run.producer_distance > 0 && count > 0 && run.producer_distance % dimensions[0].sequence_stride == 0)
    in_flight = std::min<std::uint64_t>(in_flight, run.producer_distance / dimensions[0].sequence_stride);
  cursor.parallelism = static_cast<float>(std::max<std::uint64_t>(in_flight, 1));

  // A short inner loop over neighbouring bytes is one wide element.
  const bool whole = !interrupted(run);
  while (whole && count > 1) {
    const Dimension& inner = dimensions[0];
    const std::uint64_t step = magnitude(inner.stride), extent = (inner.count - 1) * step + cursor.extent;
    if (extent > wide_element || step >= cursor.extent + options_.line_bytes) break;
    if (inner.stride < 0) cursor.address -= (inner.count - 1) * step;
    cursor.extent = extent;
    cursor.accesses *= inner.count;
    erase_innermost();
  }
  // A short inner loop over distant elements is as many streams.
  if (count > 1 && dimensions[0].count <= unrolled_count && magnitude(dimensions[0].stride) >= options_.line_bytes) {
    const Dimension inner = dimensions[0];
    erase_innermost();
    for (std::uint64_t i = 0; i < inner.count; ++i) {
      Cursor stream = cursor;
      stream.address += i * static_cast<std::uint64_t>(inner.stride);
      stream.sequence += i * inner.sequence_stride;
      place(stream, {dimensions.data(), count});
    }
    return;
  }
  place(cursor, {dimensions.data(), count});
}

void LineTouches::place(Cursor cursor, std::span<const Dimension> dimensions) {
  if (dimensions.empty()) {
    cursor.inner = {1, 0, 1};
  } else {
    cursor.inner = dimensions[0];
    cursor.outer_dimensions = static_cast<unsigned>(dimensions.size()) - 1;
    std::copy(dimensions.begin() + 1, dimensions.end(), cursor.outer.begin());
  }
  cursor.inner.sequence_stride = std::max<std::uint64_t>(cursor.inner.sequence_stride, 1);
  cursor.left = cursor.inner.count;
  cursor.row_address = cursor.address;
  cursor.row_sequence = cursor.sequence;
  const std::uint64_t step = magnitude(cursor.inner.stride);
  cursor.separate = step >= cursor.extent + options_.line_bytes;
  cursor.most = cursor.separate ? strided_batch
                                : std::max<std::uint64_t>(1, options_.group_lines * options_.line_bytes / std::max<std::uint64_t>(step, 1));
  cursors_.push_back(cursor);
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

// A part of the sequence in which no loop ends and none begins; false if it would begin at the limit.
bool LineTouches::window() {
  std::uint64_t begin = never, slack = 0;
  const auto begins = [&](const Cursor& cursor) {
    if (cursor.sequence >= begin) return;
    begin = cursor.sequence;
    slack = cursor.inner.sequence_stride;
  };
  Cursor* const cursors = cursors_.data();
  for (const std::uint32_t live : live_) begins(cursors[live]);
  if (!waiting_.empty()) begins(cursors[waiting_.front()]);
  if (begun_ < order_.size()) begins(cursors[order_[begun_]]);
  for (const IrregularCursor& irregular : irregular_) {
    if (irregular.sequence >= begin) continue;
    begin = irregular.sequence;
    slack = 0;
  }
  if (begin >= limit_) return false;
  slack = std::max(slack, statement_accesses);
  while (begun_ < order_.size() && cursors[order_[begun_]].sequence <= begin + slack) live_.push_back(order_[begun_++]);
  while (!waiting_.empty() && cursors[waiting_.front()].sequence <= begin + slack) {
    std::pop_heap(waiting_.begin(), waiting_.end(), later_cursor());
    live_.push_back(waiting_.back());
    waiting_.pop_back();
  }
  std::uint64_t end = begun_ < order_.size() ? cursors[order_[begun_]].sequence : never;
  if (!waiting_.empty()) end = std::min(end, cursors[waiting_.front()].sequence);
  for (const std::uint32_t live : live_) {
    const Cursor& cursor = cursors[live];
    if (cursor.sequence > begin + slack)
      end = std::min(end, cursor.sequence);
    else if (cursor.inner.count > 1)
      end = std::min(end, cursor.sequence + std::min(cursor.left, cursor.most) * cursor.inner.sequence_stride);
  }
  for (const IrregularCursor& irregular : irregular_) {
    // The end of its batch; an iteration of the block ends it too.
    const auto& sequence = irregular.stream->sequence;
    const std::size_t behind = irregular.position + irregular_batch;
    const std::uint64_t iteration_begin = irregular.iteration * iteration_span_;
    end = std::min(end, iteration_begin + (behind < sequence.size() ? sequence[behind] : sequence.back() + 1));
  }
  if (end == never) end = begin + slack + 1;
  end = std::min(end, limit_);

  bool finished = false;
  for (const std::uint32_t live : live_) {
    Cursor& cursor = cursors[live];
    if (cursor.sequence >= end) continue;
    follow(cursor, end);
    finished |= cursor.finished();
  }
  if (finished) std::erase_if(live_, [cursors](std::uint32_t live) { return cursors[live].finished(); });
  if (live_.size() > many_live) put_off_distant(end);
  if (!irregular_.empty()) irregular_until(end);
  return true;
}

void LineTouches::put_off_distant(std::uint64_t end) {
  std::erase_if(live_, [&](std::uint32_t live) {
    if (cursors_[live].sequence - end < distant || cursors_[live].sequence < end) return false;
    waiting_.push_back(live);
    std::push_heap(waiting_.begin(), waiting_.end(), later_cursor());
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
  LineTouch touch;
  touch.reads = cursor.reads;
  touch.writes = cursor.writes;
  touch.non_temporal = cursor.non_temporal;
  touch.parallelism = cursor.parallelism;
  const std::uint64_t begin = base_of_slot(cursor.slot) + cursor.address;
  if (cursor.separate) {
    touch.accesses = cursor.accesses;
    for (std::uint64_t i = 0; i < elements; ++i) {
      const std::uint64_t address = begin + i * static_cast<std::uint64_t>(cursor.inner.stride);
      touch.lines = {address >> line_shift_, ((address + cursor.extent - 1) >> line_shift_) + 1};
      touches_.push_back(touch);
    }
    return;
  }
  std::uint64_t low = begin;
  const std::uint64_t travel = (elements - 1) * magnitude(cursor.inner.stride);
  if (cursor.inner.stride < 0) low -= travel;
  touch.lines = {low >> line_shift_, ((low + travel + cursor.extent - 1) >> line_shift_) + 1};
  touch.accesses = elements * cursor.accesses;
  touches_.push_back(touch);
}

void LineTouches::restart_chains() {
  chain_start_ = irregular_count_;
  irregular_lines_ = 0;
  deepest_ = 0;
}

// Notes an irregular access and where in the chain of producers it stands.
void LineTouches::add_irregular(std::uint64_t sequence, std::uint64_t address, std::uint64_t width, std::uint32_t producer_distance,
                                AccessKind kind, bool non_temporal) {
  const LineNumber line = address >> line_shift_;
  std::uint32_t depth = 1;
  bool seen = false;
  const std::uint64_t producer = producer_distance > 0 && producer_distance <= sequence ? sequence - producer_distance : never;
  const std::uint64_t oldest = std::max(chain_start_, irregular_count_ > recent_.size() ? irregular_count_ - recent_.size() : 0);
  for (std::uint64_t i = irregular_count_; i-- > oldest;) {
    const Irregular& earlier = recent_[i % recent_.size()];
    if (irregular_count_ - i <= 4 && earlier.line == line) seen = true;
    if (producer != never && earlier.sequence == producer) depth = earlier.depth + (earlier.line == line ? 0 : 1);
    if ((producer == never || earlier.sequence <= producer) && irregular_count_ - i >= 4) break;
  }
  recent_[irregular_count_ % recent_.size()] = {sequence, line, depth};
  ++irregular_count_;
  irregular_lines_ += seen ? 0 : 1;
  deepest_ = std::max(deepest_, depth);
  LineTouch touch;
  touch.lines = {line, ((address + std::max<std::uint64_t>(width, 1) - 1) >> line_shift_) + 1};
  touch.reads = kind != AccessKind::write;
  touch.writes = kind != AccessKind::read;
  touch.non_temporal = non_temporal;
  touch.parallelism = 0;  // known when the batch is complete
  touch.accesses = 1;
  touches_.push_back(touch);
}

void LineTouches::close_chains() {
  const auto chains = static_cast<float>(irregular_lines_) / static_cast<float>(std::max<std::uint32_t>(deepest_, 1));
  const float parallelism = std::clamp(chains, 1.0F, static_cast<float>(options_.miss_buffers));
  for (LineTouch& touch : touches_)
    if (touch.parallelism == 0) touch.parallelism = parallelism;
  restart_chains();
}

// The first one has moved on: down to its place in the heap.
void LineTouches::sift_first_irregular() {
  const std::size_t size = irregular_.size();
  const IrregularCursor moved = irregular_.front();
  std::size_t hole = 0;
  for (std::size_t child = 1; child < size; child = 2 * hole + 1) {
    if (child + 1 < size && irregular_[child].later_than(irregular_[child + 1])) ++child;
    if (!moved.later_than(irregular_[child])) break;
    irregular_[hole] = irregular_[child];
    hole = child;
  }
  irregular_[hole] = moved;
}

// Programs have dozens of irregular streams: a heap, the earliest first.
void LineTouches::irregular_until(std::uint64_t end) {
  while (!irregular_.empty() && irregular_.front().sequence < end) {
    IrregularCursor& first = irregular_.front();
    const IrregularStream& stream = *first.stream;
    const std::size_t at = first.position;
    const SlotNumber slot = stream.slot[at];
    const std::uint64_t address =
        base_of_slot(slot) + first.iteration * static_cast<std::uint64_t>(shifts_[slot]) + static_cast<std::uint64_t>(stream.offset[at]);
    add_irregular(first.sequence, address, stream.width, stream.producer_distance[at], stream.kind, false);
    if (++first.position == stream.offset.size()) {
      first.position = 0;
      if (++first.iteration == first.iterations) {
        first = irregular_.back();
        irregular_.pop_back();
        if (!irregular_.empty()) sift_first_irregular();
        continue;
      }
    }
    first.sequence = first.iteration * iteration_span_ + stream.sequence[first.position];
    sift_first_irregular();
  }
  close_chains();
}

// Blocks of a few single accesses (a gather's elements): as many as make a group. An access beside the one that the same
// run made last belongs to a stream; others are irregular.
void LineTouches::gather_blocks() {
  const auto& blocks = body_->blocks;
  std::size_t irregular = 0;
  while (block_ < blocks.size() && blocks[block_].first < last_ && scattered(blocks[block_]) && irregular < irregular_batch &&
         touches_.size() < 2 * irregular_batch) {
    const ItemBlock& block = blocks[block_];
    const ItemPattern& pattern = (*patterns_)[block.pattern.index()];
    if (last_address_.size() < pattern.runs.size()) last_address_.resize(pattern.runs.size(), {never, never});
    for (std::int64_t iteration = std::max(first_, block.first); iteration < std::min(last_, block.last); ++iteration) {
      for (std::size_t r = 0; r < pattern.runs.size(); ++r) {
        const AccessRun& run = pattern.runs[r];
        const std::uint64_t address = base_of(block, run.slot, iteration) + static_cast<std::uint64_t>(run.offset);
        const LineNumber line = address >> line_shift_, end = ((address + std::max<std::uint64_t>(run.width, 1) - 1) >> line_shift_) + 1;
        const bool writes = run.kind != AccessKind::read;
        const bool non_temporal = run.streamable && writes && options_.stores == StoreTreatment::nontemporal;
        auto& [last_line, touch_index] = last_address_[r];
        const bool beside = last_line != never && line - last_line <= 1;
        if (beside && run.producer_distance == 0) {
          if (touch_index < touches_.size() && touches_[touch_index].lines.last >= line && touches_[touch_index].writes == writes &&
              touches_[touch_index].reads == (run.kind != AccessKind::write) && touches_[touch_index].non_temporal == non_temporal) {
            LineTouch& touch = touches_[touch_index];
            touch.lines.last = std::max(touch.lines.last, end);
            touch.parallelism = static_cast<float>(options_.prefetched_lines);
            ++touch.accesses;
          } else {
            touch_index = touches_.size();
            touches_.push_back(
                {{line, end}, run.kind != AccessKind::write, writes, non_temporal, static_cast<float>(options_.prefetched_lines), 1});
          }
        } else {
          touch_index = touches_.size();
          add_irregular(sequence_base_ + run.sequence, address, run.width, run.producer_distance, run.kind, non_temporal);
          ++irregular;
        }
        last_line = line;
      }
      sequence_base_ += pattern.accesses;
    }
    ++block_;
  }
  for (auto& entry : last_address_) entry.second = never;  // touches of this group
  close_chains();
}

// In address order, each line once.
void LineTouches::combine() {
  const auto by_address = [](const LineTouch& a, const LineTouch& b) {
    return a.lines.first != b.lines.first ? a.lines.first < b.lines.first : a.lines.last > b.lines.last;
  };
  if (!std::is_sorted(touches_.begin(), touches_.end(), by_address)) std::sort(touches_.begin(), touches_.end(), by_address);
  combined_.clear();
  for (const LineTouch& touch : touches_) {
    if (combined_.empty() || touch.lines.first >= combined_.back().lines.last) {
      combined_.push_back(touch);
      continue;
    }
    if (!same_kind(combined_.back(), touch)) return combine_kinds();
    add_same_kind(combined_, touch);
  }
}

// Neighbouring operands become one stream; streams that only meet in the line where one ends and the other begins stay two.
void LineTouches::add_same_kind(std::vector<LineTouch>& out, LineTouch touch) {
  LineTouch& before = out.back();
  const LineNumber common = std::min(before.lines.last, touch.lines.last) - touch.lines.first;
  if (2 * common >= std::min(before.lines.size(), touch.lines.size())) {
    before.lines.last = std::max(before.lines.last, touch.lines.last);
    absorb(before, touch);
    return;
  }
  touch.lines.first = before.lines.last;
  out.push_back(touch);
}

// The rare case of lines that are read and written by different operands: each kind by itself first, then cut where they meet.
void LineTouches::combine_kinds() {
  std::vector<LineTouch>& single = single_;
  single.clear();
  const auto kind = [](const LineTouch& touch) { return touch.reads + 2 * touch.writes + 4 * touch.non_temporal; };
  for (int k = 0; k < 8; ++k) {
    const std::size_t begin = single.size();
    for (const LineTouch& touch : touches_) {
      if (kind(touch) != k) continue;
      if (single.size() == begin || touch.lines.first >= single.back().lines.last)
        single.push_back(touch);
      else
        add_same_kind(single, touch);
    }
  }
  std::vector<LineNumber>& cuts = meets_;
  cuts.clear();
  for (const LineTouch& touch : single) {
    cuts.push_back(touch.lines.first);
    cuts.push_back(touch.lines.last);
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  std::stable_sort(single.begin(), single.end(), [](const LineTouch& a, const LineTouch& b) { return a.lines.first < b.lines.first; });
  combined_.clear();
  std::size_t begin = 0;
  std::vector<LineTouch>& open = meeting_;
  open.clear();
  for (std::size_t c = 0; c + 1 < cuts.size(); ++c) {
    std::erase_if(open, [&](const LineTouch& touch) { return touch.lines.last <= cuts[c]; });
    for (; begin < single.size() && single[begin].lines.first == cuts[c]; ++begin) open.push_back(single[begin]);
    if (open.empty()) continue;
    LineTouch piece = open.front();
    piece.lines = {cuts[c], cuts[c + 1]};
    bool cached_write = false;
    piece.accesses = 0;
    piece.reads = piece.writes = piece.non_temporal = false;
    for (LineTouch& touch : open) {
      piece.reads |= touch.reads;
      piece.writes |= touch.writes;
      piece.non_temporal |= touch.non_temporal;
      cached_write |= touch.writes && !touch.non_temporal;
      piece.parallelism = std::min(piece.parallelism, touch.parallelism);
      piece.accesses += std::exchange(touch.accesses, 0);  // where the stream begins
    }
    if (cached_write) piece.non_temporal = false;  // an ordinary store brings the line in anyway
    combined_.push_back(piece);
  }
}

}  // namespace homenode
