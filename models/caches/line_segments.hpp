// Disjoint ranges of lines with what a cache knows of them, found by address. Addresses are cut into blocks of 16 lines;
// a flat table (allocated piecewise where lines occur) names the first segment of each block, and the segments of a block
// form a chain by address. A row of a stencil is one segment, whatever its length; a gathered line is a segment of its own.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "sim/hardware/cache_model.hpp"

namespace homenode {

using SegmentIndex = std::uint32_t;
inline constexpr SegmentIndex no_segment = 0;

struct Segment {
  LineNumber first = 0, last = 0;                       // [first, last)
  std::uint64_t group = 0;                              // lockstep group that touched it last
  float start = 0, step = 0;                            // when within that group, as a fraction: line first + i at start + i * step
  SegmentIndex next = no_segment;                       // the next segment by address, if it begins in the block where this one ends
  SegmentIndex newer = no_segment, older = no_segment;  // all segments by time
  std::uint16_t writer = 0;                             // core of the newest store, while dirty
  bool dirty = false;

  std::uint64_t size() const { return last - first; }
};

class LineSegments {
public:
  LineSegments() : pool_(1) {}

  Segment& operator[](SegmentIndex index) { return pool_[index]; }
  const Segment& operator[](SegmentIndex index) const { return pool_[index]; }

  // The first segment by address that ends behind `line` and begins before `end`, or no_segment.
  SegmentIndex first_in(LineNumber line, LineNumber end) const;
  // The next one by address that begins before `end`.
  SegmentIndex next_in(SegmentIndex current, LineNumber end) const;

  // The range must hold no segment. The caller fills in the rest.
  SegmentIndex insert(LineRange);
  void erase(SegmentIndex);
  // Shortens a segment to [first, last), which must be a non-empty part of it.
  void trim(SegmentIndex, LineNumber first, LineNumber last);

  std::size_t size() const { return pool_.size() - 1 - free_count_; }

  // Asks the host for what looking the line up will need: first the table, later the segment it names.
  void prefetch_table(LineNumber line) const {
    if (const Chunk* found = chunk(block_of(line) >> chunk_shift)) __builtin_prefetch(&(*found)[block_of(line) & (chunk_blocks - 1)]);
  }
  void prefetch_segment(LineNumber line) const { __builtin_prefetch(&pool_[head(block_of(line))]); }

private:
  static constexpr unsigned block_shift = 4, chunk_shift = 11;  // lines a block, blocks a chunk (2 MiB of 64-byte lines)
  static constexpr std::size_t chunk_blocks = std::size_t{1} << chunk_shift;
  using Block = std::uint64_t;
  using Chunk = std::array<SegmentIndex, chunk_blocks>;

  static Block block_of(LineNumber line) { return line >> block_shift; }
  Chunk* chunk(std::uint64_t number) const;
  Chunk& make_chunk(std::uint64_t number);
  SegmentIndex head(Block block) const {
    const Chunk* found = chunk(block >> chunk_shift);
    return found ? (*found)[block & (chunk_blocks - 1)] : no_segment;
  }
  void set_head(Block block, SegmentIndex index) { make_chunk(block >> chunk_shift)[block & (chunk_blocks - 1)] = index; }
  void fill_heads(Block first, Block last, SegmentIndex);  // [first, last)
  SegmentIndex predecessor(Block, LineNumber) const;       // the last segment of the block's chain that begins before the line
  void link(SegmentIndex predecessor, Block, SegmentIndex);

  struct CachedChunk {
    std::uint64_t number = ~std::uint64_t{0};
    Chunk* chunk = nullptr;
  };
  static constexpr std::size_t cached_chunks = 64;

  std::vector<Segment> pool_;  // [0] is no_segment
  // Free entries, first in first out, linked by `next`: what is made at about the same time lies together, which is also the
  // order of eviction.
  SegmentIndex free_first_ = no_segment, free_last_ = no_segment;
  std::size_t free_count_ = 0;
  std::unordered_map<std::uint64_t, std::unique_ptr<Chunk>> chunks_;
  mutable std::array<CachedChunk, cached_chunks> recent_{};  // hot part of chunks_
};

}  // namespace homenode
