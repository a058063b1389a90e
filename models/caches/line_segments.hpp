// Disjoint ranges of lines with what a cache knows of them, found by address. Addresses are cut into blocks of 16 lines; a
// flat table (pieces of it exist where lines are held) says which lines of a block are held and by which segment, or, if there
// are several, where the list of them by line is. A row of a stencil is one segment, whatever its length; a gathered line is
// a segment of its own.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "models/caches/large_page_allocator.hpp"
#include "sim/base/prefetch.hpp"
#include "sim/hardware/cache_model.hpp"

namespace homenode {

using SegmentIndex = std::uint32_t;
inline constexpr SegmentIndex no_segment = 0;

struct LineSegment {
  LineNumber first, last;                               // [first, last)
  std::uint64_t group = 0;                              // lockstep group that touched it last
  float start = 0, step = 0;                            // when within that group, as a fraction: line first + i at start + i * step
  SegmentIndex newer = no_segment, older = no_segment;  // all segments by time
  std::uint16_t writer = 0;                             // core of the newest store, while dirty
  bool dirty = false;

  std::uint64_t size() const { return last - first; }
};

class LineSegments {
public:
  LineSegments() : pool_(1) {}
  LineSegments(const LineSegments&);
  LineSegments(LineSegments&&) = default;
  LineSegments& operator=(const LineSegments&) = delete;

  LineSegment& operator[](SegmentIndex index) { return pool_[index]; }
  const LineSegment& operator[](SegmentIndex index) const { return pool_[index]; }

  // The first segment by address that ends behind `line` and begins before `end`, or no_segment.
  SegmentIndex first_in(LineNumber line, LineNumber end) const;
  // The next segment by address, if it begins before `end`; else no_segment.
  SegmentIndex next_in(SegmentIndex current, LineNumber end) const {
    const LineNumber last = pool_[current].last;
    return last < end ? first_in(last, end) : no_segment;
  }

  // The range must hold no segment. The caller fills in the rest.
  SegmentIndex insert(LineRange);
  void erase(SegmentIndex);
  // Moves segments: all of them are taken out of the table, then each is put back at its new lines.
  void take_out(SegmentIndex index) { clear_lines(pool_[index].first, pool_[index].last); }
  void put_back(SegmentIndex, LineRange);
  // Shortens a segment to [first, last), which must be a non-empty part of it.
  void trim(SegmentIndex, LineNumber first, LineNumber last);

  std::size_t size() const { return pool_.size() - 1 - free_count_; }

  // Prefetch the simulator's own data for looking the line up: first the table, later the segment that it names.
  void prefetch_table(LineNumber line) const { prefetch_host(find(block_of(line))); }
  void prefetch_segment(LineNumber line) const {
    const Block* block = find(block_of(line));
    if (!block || block->held == 0) return;
    if (block->several)
      prefetch_host(&lists_[block->index]);
    else
      prefetch_host(&pool_[block->index]);
  }

  // Prefetches segments that were made soon after this one: they lie behind it in memory.
  void prefetch_followers(SegmentIndex index, std::size_t count) const {
    const std::size_t end = std::min(pool_.size(), index + count);
    for (std::size_t i = index; i < end; i += 64 / sizeof(LineSegment)) prefetch_host(&pool_[i]);
  }

private:
  static constexpr unsigned block_shift = 4, chunk_shift = 11;  // lines a block, blocks a chunk (2 MiB of 64-byte lines)
  static constexpr std::uint64_t block_lines = std::uint64_t{1} << block_shift, chunk_blocks = std::uint64_t{1} << chunk_shift;
  static constexpr std::uint32_t all_lines = (std::uint32_t{1} << block_lines) - 1;
  struct Block {
    std::uint32_t index = no_segment;  // of the only segment, or of the list
    std::uint16_t held = 0;            // a bit a line
    bool several = false;              // never while nothing is held
  };
  using BlockNumber = std::uint64_t;
  struct Chunk {
    std::array<Block, chunk_blocks> blocks{};
    std::uint64_t used = 0;  // of the blocks
  };
  using Chunks = std::unordered_map<std::uint64_t, std::unique_ptr<Chunk>>;
  struct alignas(64) List {
    std::array<SegmentIndex, block_lines> segment;  // by line, where held
  };

  static BlockNumber block_of(LineNumber line) { return line.value() >> block_shift; }
  // Bits of the lines from (up to, but not) the given one to the end (from the beginning) of its block.
  static std::uint32_t from(LineNumber line) { return all_lines & (all_lines << (line.value() & (block_lines - 1))); }
  static std::uint32_t before(LineNumber line) { return all_lines & ~(all_lines << (line.value() & (block_lines - 1))); }
  static std::uint32_t up_to(LineNumber last) { return before(last - 1) | std::uint32_t{1} << ((last - 1).value() & (block_lines - 1)); }

  Chunk* chunk(std::uint64_t number) const {
    const CachedChunk& cached = recent_[number % cached_chunks];
    return cached.number == number ? cached.chunk : search_chunk(number);
  }
  Chunk* search_chunk(std::uint64_t number) const;
  Chunk& make_chunk(std::uint64_t number);
  const Block* find(BlockNumber number) const {
    const Chunk* found = chunk(number >> chunk_shift);
    return found ? &found->blocks[number & (chunk_blocks - 1)] : nullptr;
  }
  Chunk& chunk_of(BlockNumber number) {
    Chunk* found = chunk(number >> chunk_shift);
    return found ? *found : make_chunk(number >> chunk_shift);
  }
  void leave_chunk(std::uint64_t number, Chunk&, std::uint64_t blocks);
  void add(BlockNumber, SegmentIndex, std::uint32_t lines);
  void clear(BlockNumber, std::uint32_t lines);
  void clear_lines(LineNumber first, LineNumber last);  // of one segment
  void add_lines(LineRange, SegmentIndex);
  void add_all(BlockNumber first, BlockNumber last, SegmentIndex);  // of empty blocks [first, last)
  void clear_all(BlockNumber first, BlockNumber last);              // of blocks that one segment fills

  struct CachedChunk {
    std::uint64_t number = ~std::uint64_t{0};
    Chunk* chunk = nullptr;
  };
  static constexpr std::size_t cached_chunks = 64;

  std::vector<LineSegment, LargePageAllocator<LineSegment>> pool_;  // [0] is no_segment
  // Free entries, first in first out, linked by `newer`: segments made at about the same time lie together, and they are evicted
  // in that order, too.
  SegmentIndex free_first_ = no_segment, free_last_ = no_segment;
  std::size_t free_count_ = 0;
  std::vector<List, LargePageAllocator<List>> lists_;
  std::vector<std::uint32_t> free_lists_;
  Chunks chunks_;
  // Empty chunks for reuse: the table grows with the lines that are held, not with all lines ever touched.
  std::vector<Chunks::node_type> spare_;
  mutable std::array<CachedChunk, cached_chunks> recent_{};  // hot part of chunks_; null: there is none
};

}  // namespace homenode
