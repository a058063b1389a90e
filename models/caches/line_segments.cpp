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
  if (found == chunks_.end()) return nullptr;
  recent_[number % cached_chunks] = {number, found->second.get()};
  return found->second.get();
}

LineSegments::Chunk& LineSegments::make_chunk(std::uint64_t number) {
  auto& slot = chunks_[number];
  slot = std::make_unique<Chunk>();
  recent_[number % cached_chunks] = {number, slot.get()};
  return *slot;
}

void LineSegments::add(Block& block, SegmentIndex index, std::uint32_t lines) {
  if (block.held == 0) {
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

void LineSegments::clear(Block& block, std::uint32_t lines) {
  block.held = static_cast<std::uint16_t>(block.held & ~lines);
  if (block.held != 0 || !block.several) return;
  free_lists_.push_back(block.index);
  block.several = false;
}

void LineSegments::add_all(BlockNumber first, BlockNumber last, SegmentIndex index) {
  while (first < last) {
    const BlockNumber end = std::min(last, ((first >> chunk_shift) + 1) << chunk_shift);
    Block* begin = &at(first);
    std::fill(begin, begin + (end - first), Block{index, static_cast<std::uint16_t>(all_lines), false});
    first = end;
  }
}

void LineSegments::clear_all(BlockNumber first, BlockNumber last) {
  while (first < last) {
    const BlockNumber end = std::min(last, ((first >> chunk_shift) + 1) << chunk_shift);
    Block* block = &at(first);
    for (; first < end; ++first, ++block) {
      if (block->several) free_lists_.push_back(block->index);
      *block = Block{};
    }
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
  Segment& segment = pool_[index];
  segment = Segment{};
  segment.first = range.first;
  segment.last = range.last;
  const BlockNumber first_block = block_of(range.first), last_block = block_of(range.last - 1);
  if (first_block == last_block) {
    add(at(first_block), index, from(range.first) & up_to(range.last));
  } else {
    add(at(first_block), index, from(range.first));
    add_all(first_block + 1, last_block, index);
    add(at(last_block), index, up_to(range.last));
  }
  return index;
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
  if (first_block == last_block) return clear(at(first_block), from(first) & up_to(last));
  clear(at(first_block), from(first));
  clear_all(first_block + 1, last_block);
  clear(at(last_block), up_to(last));
}

void LineSegments::trim(SegmentIndex index, LineNumber first, LineNumber last) {
  Segment& segment = pool_[index];
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
