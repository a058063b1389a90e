#include "models/caches/line_segments.hpp"

#include <algorithm>

namespace homenode {

LineSegments::Chunk* LineSegments::chunk(std::uint64_t number) const {
  CachedChunk& cached = recent_[number % cached_chunks];
  if (cached.number == number) return cached.chunk;
  const auto found = chunks_.find(number);
  if (found == chunks_.end()) return nullptr;
  cached = {number, found->second.get()};
  return cached.chunk;
}

LineSegments::Chunk& LineSegments::make_chunk(std::uint64_t number) {
  if (Chunk* found = chunk(number)) return *found;
  auto& slot = chunks_[number];
  slot = std::make_unique<Chunk>();
  slot->fill(no_segment);
  recent_[number % cached_chunks] = {number, slot.get()};
  return *slot;
}

void LineSegments::fill_heads(Block first, Block last, SegmentIndex index) {
  while (first < last) {
    const Block chunk_end = ((first >> chunk_shift) + 1) << chunk_shift;
    const Block end = std::min(last, chunk_end);
    auto begin = make_chunk(first >> chunk_shift).begin() + static_cast<std::ptrdiff_t>(first & (chunk_blocks - 1));
    std::fill(begin, begin + static_cast<std::ptrdiff_t>(end - first), index);
    first = end;
  }
}

SegmentIndex LineSegments::predecessor(Block block, LineNumber line) const {
  SegmentIndex before = no_segment;
  for (SegmentIndex s = head(block); s != no_segment && pool_[s].first < line; s = pool_[s].next) {
    before = s;
    if (block_of(pool_[s].last - 1) != block) break;
  }
  return before;
}

void LineSegments::link(SegmentIndex before, Block block, SegmentIndex index) {
  if (before != no_segment)
    pool_[before].next = index;
  else
    set_head(block, index);
}

SegmentIndex LineSegments::first_in(LineNumber line, LineNumber end) const {
  const Block last_block = block_of(end - 1);
  Block block = block_of(line);
  SegmentIndex s = head(block);
  while (s != no_segment && pool_[s].last <= line) s = pool_[s].next;
  while (s == no_segment && block < last_block) {
    ++block;
    const Chunk* found = chunk(block >> chunk_shift);
    if (!found) {
      block = (((block >> chunk_shift) + 1) << chunk_shift) - 1;
      continue;
    }
    s = (*found)[block & (chunk_blocks - 1)];
  }
  return s != no_segment && pool_[s].first < end ? s : no_segment;
}

SegmentIndex LineSegments::next_in(SegmentIndex current, LineNumber end) const {
  const Segment& segment = pool_[current];
  if (segment.last >= end) return no_segment;
  if (segment.next != no_segment) return pool_[segment.next].first < end ? segment.next : no_segment;
  const LineNumber next_block = (block_of(segment.last - 1) + 1) << block_shift;
  return next_block < end ? first_in(next_block, end) : no_segment;
}

SegmentIndex LineSegments::insert(LineRange range) {
  SegmentIndex index;
  if (free_count_ == 0) {
    index = static_cast<SegmentIndex>(pool_.size());
    pool_.emplace_back();
  } else {
    index = free_first_;
    free_first_ = pool_[index].next;
    --free_count_;
  }
  const Block first_block = block_of(range.first), last_block = block_of(range.last - 1);
  const SegmentIndex before = predecessor(first_block, range.first);
  SegmentIndex after;
  if (first_block == last_block)
    after = before != no_segment ? pool_[before].next : head(first_block);
  else
    after = head(last_block);
  Segment& segment = pool_[index];
  segment = Segment{};
  segment.first = range.first;
  segment.last = range.last;
  segment.next = after;
  link(before, first_block, index);
  if (last_block > first_block) fill_heads(first_block + 1, last_block + 1, index);
  return index;
}

void LineSegments::erase(SegmentIndex index) {
  const Segment& segment = pool_[index];
  const Block first_block = block_of(segment.first), last_block = block_of(segment.last - 1);
  const SegmentIndex before = predecessor(first_block, segment.first);
  if (first_block == last_block) {
    link(before, first_block, segment.next);
  } else {
    link(before, first_block, no_segment);
    fill_heads(first_block + 1, last_block, no_segment);
    set_head(last_block, segment.next);
  }
  if (free_count_++ == 0)
    free_first_ = index;
  else
    pool_[free_last_].next = index;
  free_last_ = index;
}

void LineSegments::trim(SegmentIndex index, LineNumber first, LineNumber last) {
  Segment& segment = pool_[index];
  if (first > segment.first) {
    const Block from = block_of(segment.first), to = block_of(first);
    if (to > from) {
      link(predecessor(from, segment.first), from, no_segment);
      fill_heads(from + 1, to, no_segment);
    }
    segment.start += segment.step * static_cast<float>(first - segment.first);
    segment.first = first;
  }
  if (last < segment.last) {
    const Block from = block_of(last - 1), to = block_of(segment.last - 1);
    if (to > from) {
      fill_heads(from + 1, to, no_segment);
      set_head(to, segment.next);
      segment.next = no_segment;
    }
    segment.last = last;
  }
}

}  // namespace homenode
