// Slices, their blocks, and the loop nests of each block's access runs.
#include "sim/program/line_touches.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "sim/base/errors.hpp"

namespace homenode {

namespace {

constexpr std::uint64_t wide_element = 256;  // bytes: inner loops up to this extent are one element
constexpr std::uint64_t unrolled_count = 8;  // inner loops of so few far-apart elements become streams of their own
constexpr std::uint64_t strided_batch = 64;  // elements a group of a run whose elements lie in separate lines
constexpr std::size_t runs_at_once = 4096;   // that get cursors, at 272 bytes each

}  // namespace

LineTouchOptions LineTouchOptions::of(const Machine& machine, StoreTreatment stores, const CodeCycles* code) {
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
  options.prefetch_trigger = machine.prefetch_trigger;
  options.prefetch_streams = machine.prefetch_streams;
  options.stores = stores;
  if (code != nullptr) options.waited = code->waited;
  return options;
}

LineTouches::LineTouches(LineTouchOptions options) : options_{std::move(options)} {
  if (!std::has_single_bit(options_.line_bytes))
    throw UsageError("a cache line of " + std::to_string(options_.line_bytes) + " bytes; a power of two is allowed");
  line_shift_ = static_cast<unsigned>(std::countr_zero(options_.line_bytes));
  for (std::size_t lines = 0; lines < short_streams_.size(); ++lines) short_streams_[lines] = lines_in_flight(lines);
}

void LineTouches::start(const std::vector<ItemPattern>& patterns, const ExecutionBody& body, std::int64_t first, std::int64_t last,
                        AddressOf address_of) {
  if (patterns_ != &patterns || pattern_touches_.size() > 2 * patterns.size()) {
    pattern_touches_.clear();
    known_touches_ = 0;
  }
  patterns_ = &patterns;
  body_ = &body;
  in_stretches_ = false;
  address_of_ = std::move(address_of);
  found_addresses_.fill({});
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
  in_stretches_ = true;
  ++epoch_;
  found_addresses_.fill({});
}

std::uint64_t LineTouches::position() const {
  std::uint64_t first = to_the_end;
  for (const std::uint32_t live : live_) first = std::min(first, cursors_[live].sequence);
  if (!waiting_.empty()) first = std::min(first, waiting_.front().sequence);
  if (!to_begin_.empty()) first = std::min(first, to_begin_.front().sequence);
  first = std::min(first, next_unopened());
  if (!irregular_.empty()) first = std::min(first, irregular_.front().sequence);
  const bool begun = block_ >= body_->blocks.size() || body_->blocks[block_].first >= last_ || first_ >= last_;
  return first == to_the_end && !begun ? 0 : first;
}

std::uint64_t LineTouches::base_of(const ItemBlock& block, std::size_t slot, std::int64_t iteration) {
  const SlotBinding& binding = block.slots[slot];
  return address_of(binding.object) + static_cast<std::uint64_t>(binding.base + (iteration - block.first) * binding.shift);
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

void LineTouches::open(const ItemPattern& pattern, const ItemBlock& block, std::int64_t from, std::int64_t to) {
  close_cursors();
  restart_chains();
  open_pattern_ = &pattern;
  open_block_ = &block;
  open_from_ = from;
  moving_objects_.clear();
  for (const HeapEvent& event : pattern.heap_events) moving_objects_.push_back(block.slots[event.slot].object);
  std::sort(moving_objects_.begin(), moving_objects_.end());
  find_bases(block, from);
  open_iterations_ = static_cast<std::uint64_t>(to - from);
  look_up_touches(pattern, block.pattern);
  if (known_block_ == nullptr) open_cursors(pattern);
}

void LineTouches::find_bases(const ItemBlock& block, std::int64_t from) {
  const std::size_t slots = block.slots.size();
  bases_.resize(slots);
  shifts_.resize(slots);
  base_epochs_.assign(moving_objects_.empty() ? 0 : slots, never);
  const std::int64_t iterations = from - block.first;
  for (std::size_t slot = 0; slot < slots; ++slot) {
    const SlotBinding& binding = block.slots[slot];
    shifts_[slot] = binding.shift;
    if (!moving_objects_.empty() && std::binary_search(moving_objects_.begin(), moving_objects_.end(), binding.object))
      base_epochs_[slot] = 0;
    else
      bases_[slot] = address_of(binding.object) + static_cast<std::uint64_t>(binding.base + iterations * binding.shift);
  }
}

void LineTouches::open_cursors(const ItemPattern& pattern) {
  std::uint64_t span = pattern.accesses;
  for (const AccessRun& run : pattern.runs) {
    std::uint64_t end = run.sequence + 1;
    for (unsigned d = 0; d < run.dimensions; ++d) end += (std::uint64_t{run.dimension[d].count} - 1) * run.dimension[d].sequence_stride;
    span = std::max(span, end);
  }
  for (const IrregularStream& stream : pattern.streams)
    if (!stream.sequence.empty()) span = std::max(span, stream.sequence.back() + 1);
  iteration_span_ = span;
  const auto is_empty = [](const AccessRun& run) {
    return std::any_of(run.dimension.begin(), run.dimension.begin() + run.dimensions, [](const auto& loop) { return loop.count == 0; });
  };
  for (std::uint32_t run = 0; run < pattern.runs.size(); ++run)
    if (!is_empty(pattern.runs[run])) runs_.push_back(run);
  if (runs_.size() > runs_at_once) {
    const auto begins_before = [&](std::uint32_t a, std::uint32_t b) { return pattern.runs[a].sequence < pattern.runs[b].sequence; };
    if (!std::is_sorted(runs_.begin(), runs_.end(), begins_before)) std::stable_sort(runs_.begin(), runs_.end(), begins_before);
  }
  open_more_runs();
  for (const IrregularStream& stream : pattern.streams) {
    const auto number = static_cast<std::uint32_t>(irregular_streams_.size());
    irregular_streams_.push_back({.stream = &stream, .iterations = open_iterations_});
    if (stream.offset.empty()) continue;
    irregular_.push_back({stream.sequence.front(), number});
    batch_ends_.push_back({batch_end(number), number});
  }
  const auto later = [](const IrregularPlace& a, const IrregularPlace& b) { return a.later_than(b); };
  std::make_heap(irregular_.begin(), irregular_.end(), later);
  std::make_heap(batch_ends_.begin(), batch_ends_.end(), later);
}

// No cursor of a run begins before the run does, so those of the runs behind begin later than next_unopened().
void LineTouches::open_more_runs() {
  const std::size_t until = std::min(runs_.size(), opened_ + runs_at_once);
  for (; opened_ < until; ++opened_) add_cursors(open_pattern_->runs[runs_[opened_]], open_iterations_);
}

void LineTouches::close_cursors() {
  known_block_ = nullptr;
  noted_ = nullptr;
  runs_.clear();
  opened_ = 0;
  cursors_.clear();
  free_.clear();
  to_begin_.clear();
  placed_ = 0;
  live_.clear();
  waiting_.clear();
  irregular_.clear();
  irregular_streams_.clear();
  batch_ends_.clear();
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

void LineTouches::prefetch_on(Prefetched& prefetched, const Dimension& dimension) const {
  const std::uint64_t step = magnitude(dimension.stride);
  prefetched.lost = !is_prefetched(prefetched, step);
  if (prefetched.lost) return;
  prefetched.extent += (dimension.count - 1) * step;
  prefetched.elements *= dimension.count;
}

// Of such a stream, on average: the first lines wait in the miss buffers, the rest is asked for ahead.
double LineTouches::lines_in_flight(const Prefetched& prefetched) const {
  const auto lines_of = [&](std::uint64_t bytes) { return (bytes + options_.line_bytes - 1) >> line_shift_; };
  const std::uint64_t lines = std::min(lines_of(prefetched.extent), prefetched.elements * lines_of(prefetched.width));
  return lines < short_streams_.size() ? short_streams_[lines] : lines_in_flight(lines);
}

double LineTouches::lines_in_flight(std::uint64_t lines) const {
  if (lines <= 1) return options_.miss_buffers;  // no stream
  const auto all = static_cast<double>(lines), first = static_cast<double>(std::min<std::uint64_t>(lines, options_.prefetch_trigger));
  return all / (first / options_.miss_buffers + (all - first) / options_.prefetched_lines);
}

// The loads that make the addresses: so many elements later at the earliest.
double LineTouches::dependence_of(const AccessRun& run, std::span<const Dimension> loops) {
  if (run.producer_distance == 0 || loops.empty() || run.producer_distance % loops[0].sequence_stride != 0)
    return std::numeric_limits<double>::infinity();
  return static_cast<double>(run.producer_distance) / static_cast<double>(loops[0].sequence_stride);
}

// The run's loops from the innermost on, the iterations among them; those that continue each other are one.
unsigned LineTouches::loops_of(const AccessRun& run, std::uint64_t iterations, std::array<Dimension, most_dimensions>& loops) const {
  unsigned count = 0;
  for (unsigned d = 0; d < run.dimensions; ++d) {
    const RunDimension& dimension = run.dimension[d];
    if (dimension.count > 1) loops[count++] = {dimension.count, dimension.stride, dimension.sequence_stride};
  }
  if (iterations > 1) loops[count++] = {iterations, shifts_[run.slot], iteration_span_};
  for (unsigned d = 0; d + 1 < count;) {
    Dimension &inner = loops[d], &outer = loops[d + 1];
    if (outer.stride == static_cast<std::int64_t>(inner.count) * inner.stride &&
        outer.sequence_stride == inner.count * inner.sequence_stride) {
      inner.count *= outer.count;
      std::copy(loops.begin() + d + 2, loops.begin() + count, loops.begin() + d + 1);
      --count;
    } else {
      ++d;
    }
  }
  return count;
}

void LineTouches::add_cursors(const AccessRun& run, std::uint64_t iterations) {
  std::array<Dimension, most_dimensions> dimensions{};
  unsigned count = loops_of(run, iterations, dimensions);

  Cursor cursor;
  cursor.run = &run;
  cursor.slot = run.slot;
  cursor.address = static_cast<std::uint64_t>(run.offset);
  cursor.sequence = run.sequence;
  cursor.extent = std::max<std::uint64_t>(run.width, 1);
  cursor.reads = run.kind != AccessKind::write;
  cursor.writes = run.kind != AccessKind::read;
  cursor.atomic = run.kind == AccessKind::atomic;
  cursor.waited = waited_at(run.site, run.kind);
  cursor.non_temporal = run.streamable && cursor.writes && options_.stores == StoreTreatment::nontemporal;

  const auto erase_innermost = [&] {
    std::copy(dimensions.begin() + 1, dimensions.begin() + count, dimensions.begin());
    --count;
  };
  Prefetched prefetched{.width = cursor.extent, .extent = cursor.extent};
  for (unsigned d = 0; d < count; ++d) prefetch_on(prefetched, dimensions[d]);
  const double in_flight = std::min(lines_in_flight(prefetched), dependence_of(run, {dimensions.data(), count}));
  cursor.parallelism = static_cast<float>(std::max(in_flight, 1.0));

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
  std::uint32_t index = static_cast<std::uint32_t>(cursors_.size());
  if (free_.empty()) {
    cursors_.push_back(cursor);
  } else {
    index = free_.back();
    cursors_[index] = cursor;
    free_.pop_back();
  }
  to_begin_.push_back({cursor.sequence, placed_++, index});
  std::push_heap(to_begin_.begin(), to_begin_.end(), ToBegin::heap_order);
}

}  // namespace homenode
