// Lines that occur, numbered densely from 1 on in order of occurrence (by chunks), so that a cache's tag fits in 32 bits and
// what is known of a line lies in a flat table.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/hardware/cache_model.hpp"

namespace homenode {

class LineNumbers {
public:
  using Id = std::uint32_t;  // 0 = none
  static constexpr unsigned chunk_shift = 12;
  static constexpr std::uint64_t chunk_lines = std::uint64_t{1} << chunk_shift;

  LineNumbers() : table_(64) {}

  // 0 if nothing of its chunk ever occurred.
  Id find(LineNumber line) const {
    const std::uint64_t chunk = line.value() >> chunk_shift;
    for (std::size_t slot = slot_of(chunk); table_[slot].id != 0; slot = (slot + 1) & (table_.size() - 1))
      if (table_[slot].chunk == chunk) return table_[slot].id + static_cast<Id>(line.value() & (chunk_lines - 1));
    return 0;
  }
  // Throws UsageError beyond 2^31 lines (128 GiB of 64-byte lines).
  Id number(LineNumber line) {
    const Id id = find(line);
    return id != 0 ? id : add(line);
  }
  LineNumber line(Id id) const { return LineNumber{chunks_[(id - 1) >> chunk_shift] << chunk_shift | ((id - 1) & (chunk_lines - 1))}; }
  std::size_t size() const { return chunks_.size() << chunk_shift; }

private:
  struct Slot {
    std::uint64_t chunk = 0;
    Id id = 0;  // of its first line
  };
  std::size_t slot_of(std::uint64_t chunk) const {
    return static_cast<std::size_t>(chunk * 0x9e3779b97f4a7c15ULL >> 32) & (table_.size() - 1);
  }
  Id add(LineNumber);

  std::vector<Slot> table_;  // open addressing, at most half full
  std::vector<std::uint64_t> chunks_;
};

}  // namespace homenode
