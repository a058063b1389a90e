// A block that the program gets zeroed where the traced build fills it: gcc -O2 makes one `calloc` of a `malloc` and the zero fill behind
// it, but not of a fill whose stores the sanitizer tells. calloc touches no page of a block that glibc maps, so such a fill would place
// pages that the program itself leaves untouched (decision 0060).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace homenode {

// Writes that may be the fill of one new block. They arrive in any order, before the stream's next message that closes runs.
class ZeroFill {
public:
  struct Writes {
    std::size_t site = 0;  // number of the instruction
    std::uint64_t base = 0, sequence = 0, count = 0, width = 0, distance = 0;
    std::uint64_t step = 0;  // bytes of the writes in front of them, but the first one's perhaps
  };

  // `sequence`: accesses before the allocation; `event`: which heap call of the item it is.
  ZeroFill(std::uint64_t address, std::uint64_t bytes, std::uint64_t sequence, std::size_t event)
      : low_{address}, bytes_{bytes}, sequence_{sequence}, event_{event} {}

  // Whether they lie where a fill from the first byte on would have them, if at most so many bytes of other blocks were filled before.
  bool fits(const Writes&, std::uint64_t filled_before) const;
  void keep(const Writes&);
  bool keeps(std::size_t site) const;
  bool has_begun() const { return !kept_.empty(); }
  bool is_whole() const { return kept_bytes_ == bytes_; }
  const std::vector<Writes>& kept() const { return kept_; }  // in order of the addresses
  std::uint64_t address() const { return low_; }
  std::uint64_t bytes() const { return bytes_; }
  std::size_t event() const { return event_; }

private:
  std::uint64_t low_, bytes_, sequence_;
  std::size_t event_;
  std::uint64_t kept_bytes_ = 0;
  std::vector<Writes> kept_;
};

}  // namespace homenode
