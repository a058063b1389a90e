#include "models/caches/line_segments.hpp"

#include <algorithm>
#include <bit>

namespace homenode {

// What is recent is found again.
LineSegments::LineSegments(const LineSegments& other)
    : pool_{other.pool_},
      free_first_{other.free_first_},
      free_last_{other.free_last_},
      free_count_{other.free_count_},
      lists_{other.lists_},
      free_lists_{other.free_lists_} {
  for (const auto& [number, chunk] : other.chunks_) chunks_.emplace(number, std::make_unique<Chunk>(*chunk));
}

LineSegments::Chunk* LineSegments::search_chunk(std::uint64_t number) const {
  const auto found = chunks_.find(number);
  Chunk* const there = found == chunks_.end() ? nullptr : found->second.get();
  recent_[number % cached_chunks] = {number, there};
  return there;
}

LineSegments::Chunk& LineSegments::make_chunk(std::uint64_t number) {
  Chunk* made = nullptr;
  if (spare_.empty()) {
    made = chunks_.emplace(number, std::make_unique<Chunk>()).first->second.get();
  } else {
    spare_.back().key() = number;
    made = chunks_.insert(std::move(spare_.back())).position->second.get();
    spare_.pop_back();
  }
  recent_[number % cached_chunks] = {number, made};
  return *made;
}

// So many of its blocks hold nothing any more.
void LineSegments::leave_chunk(std::uint64_t number, Chunk& chunk, std::uint64_t blocks) {
  chunk.used -= blocks;
  if (chunk.used != 0) return;
  spare_.push_back(chunks_.extract(number));
  recent_[number % cached_chunks] = {number, nullptr};
}

void LineSegments::add(BlockNumber number, SegmentIndex index, std::uint32_t lines) {
  Chunk& chunk = chunk_of(number);
  Block& block = chunk.blocks[number & (chunk_blocks - 1)];
  if (block.held == 0) {
    ++chunk.used;
    block.index = index;
  } else if (block.several || block.index != index) {
    if (!block.several) {
      std::uint32_t list = static_cast<std::uint32_t>(lists_.size());
      if (free_lists_.empty()) {
        lists_.emplace_back();
      } else {
        list = free_lists_.back();
        free_lists_.pop_back();
      }
      lists_[list].segment.fill(block.index);
      block.index = list;
      block.several = true;
    }
    auto& segments = lists_[block.index].segment;
    for (std::uint32_t rest = lines; rest != 0; rest &= rest - 1) segments[static_cast<std::size_t>(std::countr_zero(rest))] = index;
  }
  block.held = static_cast<std::uint16_t>(block.held | lines);
}

void LineSegments::clear(BlockNumber number, std::uint32_t lines) {
  Chunk& chunk = chunk_of(number);
  Block& block = chunk.blocks[number & (chunk_blocks - 1)];
  block.held = static_cast<std::uint16_t>(block.held & ~lines);
  if (block.held != 0) return;
  if (block.several) free_lists_.push_back(block.index);
  block.several = false;
  leave_chunk(number >> chunk_shift, chunk, 1);
}

void LineSegments::add_all(BlockNumber first, BlockNumber last, SegmentIndex index) {
  while (first < last) {
    const BlockNumber end = std::min(last, ((first >> chunk_shift) + 1) << chunk_shift);
    Chunk& chunk = chunk_of(first);
    const auto begin = chunk.blocks.begin() + static_cast<std::ptrdiff_t>(first & (chunk_blocks - 1));
    std::fill(begin, begin + static_cast<std::ptrdiff_t>(end - first), Block{index, static_cast<std::uint16_t>(all_lines), false});
    chunk.used += end - first;
    first = end;
  }
}

void LineSegments::clear_all(BlockNumber first, BlockNumber last) {
  while (first < last) {
    const BlockNumber end = std::min(last, ((first >> chunk_shift) + 1) << chunk_shift);
    Chunk& chunk = chunk_of(first);
    Block* block = &chunk.blocks[first & (chunk_blocks - 1)];
    const std::uint64_t number = first >> chunk_shift, blocks = end - first;
    for (; first < end; ++first, ++block) {
      if (block->several) free_lists_.push_back(block->index);
      *block = Block{};
    }
    leave_chunk(number, chunk, blocks);
  }
}

SegmentIndex LineSegments::first_in(LineNumber line, LineNumber end) const {
  const BlockNumber last_block = block_of(end - 1);
  BlockNumber number = block_of(line);
  std::uint32_t wanted = from(line);
  while (number <= last_block) {
    const BlockNumber chunk_end = ((number >> chunk_shift) + 1) << chunk_shift;
    if (const Block* block = find(number)) {
      for (const BlockNumber stop = std::min(last_block + 1, chunk_end); number < stop; ++number, ++block, wanted = all_lines) {
        if (block->held == 0) continue;
        if (number == last_block) wanted &= up_to(end);
        const std::uint32_t held = block->held & wanted;
        if (held == 0) continue;
        return block->several ? lists_[block->index].segment[static_cast<std::size_t>(std::countr_zero(held))] : block->index;
      }
    }
    number = chunk_end;
    wanted = all_lines;
  }
  return no_segment;
}

SegmentIndex LineSegments::insert(LineRange range) {
  SegmentIndex index;
  if (free_count_ == 0) {
    index = static_cast<SegmentIndex>(pool_.size());
    pool_.emplace_back();
  } else {
    index = free_first_;
    free_first_ = pool_[index].newer;
    --free_count_;
  }
  LineSegment& segment = pool_[index];
  segment = LineSegment{};
  segment.first = range.first;
  segment.last = range.last;
  add_lines(range, index);
  return index;
}

void LineSegments::put_back(SegmentIndex index, LineRange range) {
  pool_[index].first = range.first;
  pool_[index].last = range.last;
  add_lines(range, index);
}

void LineSegments::add_lines(LineRange range, SegmentIndex index) {
  const BlockNumber first_block = block_of(range.first), last_block = block_of(range.last - 1);
  if (first_block == last_block) {
    add(first_block, index, from(range.first) & up_to(range.last));
  } else {
    add(first_block, index, from(range.first));
    add_all(first_block + 1, last_block, index);
    add(last_block, index, up_to(range.last));
  }
}

void LineSegments::erase(SegmentIndex index) {
  clear_lines(pool_[index].first, pool_[index].last);
  if (free_count_++ == 0)
    free_first_ = index;
  else
    pool_[free_last_].newer = index;
  free_last_ = index;
}

void LineSegments::clear_lines(LineNumber first, LineNumber last) {
  const BlockNumber first_block = block_of(first), last_block = block_of(last - 1);
  if (first_block == last_block) return clear(first_block, from(first) & up_to(last));
  clear(first_block, from(first));
  clear_all(first_block + 1, last_block);
  clear(last_block, up_to(last));
}

void LineSegments::trim(SegmentIndex index, LineNumber first, LineNumber last) {
  LineSegment& segment = pool_[index];
  if (first > segment.first) {
    clear_lines(segment.first, first);
    segment.start += segment.step * static_cast<float>(first - segment.first);
    segment.first = first;
  }
  if (last < segment.last) {
    clear_lines(last, segment.last);
    segment.last = last;
  }
}

}  // namespace homenode
