// Accesses without a loop nest: irregular streams, and blocks of a few single accesses.
#include <algorithm>

#include "sim/program/line_touches.hpp"

namespace homenode {

namespace {
constexpr LineNumber no_line{~std::uint64_t{0}};
}  // namespace

namespace {

constexpr std::int64_t scattered_iterations = 4;  // blocks as short as this are gathered into common groups

}  // namespace

bool LineTouches::scattered(const ItemBlock& block) const {
  if (block.last - block.first > scattered_iterations) return false;
  const ItemPattern& pattern = (*patterns_)[block.pattern.index()];
  if (!pattern.streams.empty() || !pattern.heap_events.empty() || !pattern.sync_events.empty()) return false;
  return std::all_of(pattern.runs.begin(), pattern.runs.end(), [](const AccessRun& run) { return run.accesses() == 1; });
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
    if (last_address_.size() < pattern.runs.size()) last_address_.resize(pattern.runs.size(), {no_line, never});
    for (std::int64_t iteration = std::max(first_, block.first); iteration < std::min(last_, block.last); ++iteration) {
      for (std::size_t r = 0; r < pattern.runs.size(); ++r) {
        const AccessRun& run = pattern.runs[r];
        const std::uint64_t address = base_of(block, run.slot, iteration) + static_cast<std::uint64_t>(run.offset);
        const auto [line, end] = lines_at(address, std::max<std::uint64_t>(run.width, 1));
        const bool writes = run.kind != AccessKind::read;
        const bool non_temporal = run.streamable && writes && options_.stores == StoreTreatment::nontemporal;
        auto& [last_line, touch_index] = last_address_[r];
        const bool beside = last_line != no_line && line - last_line <= 1;
        if (beside && run.producer_distance == 0) {
          if (touch_index < touches_.size() && touches_[touch_index].lines.last >= line && touches_[touch_index].writes == writes &&
              touches_[touch_index].reads == (run.kind != AccessKind::write) && touches_[touch_index].non_temporal == non_temporal) {
            LineTouch& touch = touches_[touch_index];
            touch.lines.last = std::max(touch.lines.last, end);
            touch.parallelism = static_cast<float>(options_.prefetched_lines);
            ++touch.accesses;
          } else {
            touch_index = touches_.size();
            LineTouch& touch = touches_.emplace_back();
            touch.lines = {line, end};
            touch.reads = run.kind != AccessKind::write;
            touch.writes = writes;
            touch.non_temporal = non_temporal;
            touch.atomic = run.kind == AccessKind::atomic;
            touch.waited = waited_at(run.site, run.kind);
            touch.parallelism = static_cast<float>(options_.prefetched_lines);
            touch.accesses = 1;
          }
        } else {
          touch_index = touches_.size();
          add_irregular({.sequence = sequence_base_ + run.sequence,
                         .address = address,
                         .width = run.width,
                         .producer_distance = run.producer_distance,
                         .kind = run.kind,
                         .non_temporal = non_temporal,
                         .site = run.site});
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

// Of a stream that is not finished. An iteration of the block ends a batch, too.
std::uint64_t LineTouches::batch_end(std::uint32_t number) const {
  const IrregularCursor& cursor = irregular_streams_[number];
  const auto& sequence = cursor.stream->sequence;
  const std::size_t behind = cursor.position + irregular_batch;
  return cursor.iteration * iteration_span_ + (behind < sequence.size() ? sequence[behind] : sequence.back() + 1);
}

// Of all streams; `never` if none is left. A batch only ever ends later as its stream goes on, so an old end is never too late: the heap's
// first place is brought up to date until it does not move. Large programs have thousands of streams, of which a window follows a few.
std::uint64_t LineTouches::first_batch_end() {
  while (!batch_ends_.empty()) {
    IrregularPlace& first = batch_ends_.front();
    if (irregular_streams_[first.number].finished()) {
      drop_first(batch_ends_);
      continue;
    }
    const std::uint64_t end = batch_end(first.number);
    if (end == first.sequence) return end;
    first.sequence = end;
    sift_first(batch_ends_);
  }
  return never;
}

void LineTouches::irregular_until(std::uint64_t end) {
  while (!irregular_.empty() && irregular_.front().sequence < end) {
    IrregularPlace& first = irregular_.front();
    IrregularCursor& cursor = irregular_streams_[first.number];
    const IrregularStream& stream = *cursor.stream;
    const std::size_t at = cursor.position;
    const SlotNumber slot = stream.slot[at];
    const std::uint64_t address =
        base_of_slot(slot) + cursor.iteration * static_cast<std::uint64_t>(shifts_[slot]) + static_cast<std::uint64_t>(stream.offset[at]);
    add_irregular({.sequence = first.sequence,
                   .address = address,
                   .width = stream.width,
                   .producer_distance = stream.producer_distance[at],
                   .kind = stream.kind,
                   .site = stream.site});
    if (++cursor.position == stream.offset.size()) {
      cursor.position = 0;
      if (++cursor.iteration == cursor.iterations) {
        drop_first(irregular_);
        continue;
      }
    }
    first.sequence = cursor.iteration * iteration_span_ + stream.sequence[cursor.position];
    sift_first(irregular_);
  }
  close_chains();
}

// The first one has moved on: down to its place in the heap.
void LineTouches::sift_first(std::vector<IrregularPlace>& heap) {
  const std::size_t size = heap.size();
  const IrregularPlace moved = heap.front();
  std::size_t hole = 0;
  for (std::size_t child = 1; child < size; child = 2 * hole + 1) {
    if (child + 1 < size && heap[child].later_than(heap[child + 1])) ++child;
    if (!moved.later_than(heap[child])) break;
    heap[hole] = heap[child];
    hole = child;
  }
  heap[hole] = moved;
}

void LineTouches::drop_first(std::vector<IrregularPlace>& heap) {
  heap.front() = heap.back();
  heap.pop_back();
  if (!heap.empty()) sift_first(heap);
}

// Notes an irregular access and where in the chain of producers it stands.
void LineTouches::add_irregular(const IrregularAccess& access) {
  const auto& [sequence, address, width, producer_distance, kind, non_temporal, site] = access;
  const LineRange lines = lines_at(address, std::max<std::uint64_t>(width, 1));
  const LineNumber line = lines.first;
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
  LineTouch& touch = touches_.emplace_back();  // field by field where it stays, as in emit
  touch.lines = lines;
  touch.reads = kind != AccessKind::write;
  touch.writes = kind != AccessKind::read;
  touch.non_temporal = non_temporal;
  touch.atomic = kind == AccessKind::atomic;
  touch.waited = waited_at(site, kind);
  touch.parallelism = 0;  // known when the batch is complete
  touch.accesses = 1;
}

void LineTouches::restart_chains() {
  chain_start_ = irregular_count_;
  irregular_lines_ = 0;
  deepest_ = 0;
}

void LineTouches::close_chains() {
  const auto chains = static_cast<float>(irregular_lines_) / static_cast<float>(std::max<std::uint32_t>(deepest_, 1));
  const float parallelism = std::clamp(chains, 1.0F, static_cast<float>(options_.miss_buffers));
  for (LineTouch& touch : touches_)
    if (touch.parallelism == 0) touch.parallelism = parallelism;
  restart_chains();
}

}  // namespace homenode
