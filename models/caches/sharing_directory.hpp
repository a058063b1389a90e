// Which cores may hold lines of a block of 64 lines, and which of them may hold newer data than memory. A filter: a set bit
// may be stale, a clear bit is certain. So data of a single core cost one look-up, and the caches of other cores are searched
// only for blocks that these touched.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "models/caches/core_bits.hpp"
#include "sim/base/prefetch.hpp"
#include "sim/hardware/cache_model.hpp"

namespace homenode {

struct SharedBlock {
  CoreMask holders = 0, writers = 0;
};

class SharingDirectory : public CoreBits {
public:
  static constexpr unsigned block_shift = 6;
  static std::uint64_t block_of(LineNumber line) { return line.value() >> block_shift; }
  static LineRange lines_of(std::uint64_t block) { return LineRange::of(block << block_shift, (block + 1) << block_shift); }

  explicit SharingDirectory(std::size_t cores) : CoreBits(cores) {}
  SharingDirectory(const SharingDirectory& other) : CoreBits(other) {
    for (const auto& [number, chunk] : other.chunks_) chunks_.emplace(number, std::make_unique<Chunk>(*chunk));
  }
  SharingDirectory& operator=(const SharingDirectory&) = delete;

  SharedBlock& block(std::uint64_t number) {
    const std::uint64_t chunk = number >> chunk_shift;
    Recent& recent = recent_[chunk % recent_.size()];
    if (recent.number != chunk) {
      auto& slot = chunks_[chunk];
      if (!slot) slot = std::make_unique<Chunk>();
      recent = {chunk, slot.get()};
    }
    return (*recent.chunk)[number & (chunk_blocks - 1)];
  }
  void prefetch(std::uint64_t number) { prefetch_host(&block(number)); }
  // Null if no core ever touched the block or its neighbours.
  SharedBlock* find(std::uint64_t number) {
    const std::uint64_t chunk = number >> chunk_shift;
    Recent& recent = recent_[chunk % recent_.size()];
    if (recent.number != chunk) {
      const auto found = chunks_.find(chunk);
      if (found == chunks_.end()) return nullptr;
      recent = {chunk, found->second.get()};
    }
    return &(*recent.chunk)[number & (chunk_blocks - 1)];
  }
  static std::uint64_t next_chunk(std::uint64_t number) { return ((number >> chunk_shift) + 1) << chunk_shift; }

private:
  static constexpr unsigned chunk_shift = 10;
  static constexpr std::size_t chunk_blocks = std::size_t{1} << chunk_shift;
  using Chunk = std::array<SharedBlock, chunk_blocks>;
  struct Recent {
    std::uint64_t number = ~std::uint64_t{0};
    Chunk* chunk = nullptr;
  };

  std::unordered_map<std::uint64_t, std::unique_ptr<Chunk>> chunks_;
  std::array<Recent, 64> recent_{};
};

}  // namespace homenode
