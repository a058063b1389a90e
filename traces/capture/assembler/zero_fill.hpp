// A block that the program gets zeroed where the traced build fills it: gcc -O2 makes one `calloc` of a `malloc` and the zero fill behind
// it, but not of a fill whose stores the sanitizer tells. calloc touches no page of a block that glibc maps, so such a fill would place
// pages that the program itself leaves untouched (decision 0060).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace homenode {

// Writes that may be the fill of the block allocated last. They arrive in any order, before the stream's next message that closes runs.
class ZeroFill {
public:
  struct Writes {
    std::size_t site = 0;  // number of the instruction
    std::uint64_t base = 0, sequence = 0, count = 0, width = 0, distance = 0;
    std::uint64_t step = 0;  // bytes of the writes in front of them, but the first one's perhaps
  };
  // glibc clears smaller blocks in calloc, with stores: they are as the traced build has them.
  static constexpr std::uint64_t mapped_from = 128 << 10;

  // `sequence`: accesses before the allocation.
  void expect(std::uint64_t address, std::uint64_t bytes, std::uint64_t sequence);
  bool is_open() const { return bytes_ != 0; }
  // Whether they lie where a fill from the first byte on would have them. They are kept then.
  bool keep(const Writes&);
  bool keeps(std::size_t site) const;
  bool is_whole() const { return kept_bytes_ == bytes_; }
  // What is kept, in order of the addresses; nothing is open after it.
  std::vector<Writes> close();

private:
  std::uint64_t low_ = 0, bytes_ = 0, sequence_ = 0, kept_bytes_ = 0;
  std::vector<Writes> kept_;
};

}  // namespace homenode
