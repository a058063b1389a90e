// Accesses of one site that fold into nothing, in a few bytes each: differences to the one before, in chunks that are given back as they
// are read. Programs of gathers have hundreds of millions in one item.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/base/ids.hpp"
#include "traces/format/records/large_memory.hpp"

namespace homenode {

// An access outside of a run: its object and the offset in it, the distance to the load that produced its address, its sequence.
struct LooseAccess {
  ObjectId object;
  std::uint32_t distance;
  std::int64_t offset;
  std::uint64_t sequence;
};

class LooseAccesses {
public:
  void append(std::span<const LooseAccess> accesses) {
    for (const LooseAccess& access : accesses) append(access);
  }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  // Whether sequences ascend, and the last one.
  bool in_order() const { return in_order_; }
  std::uint64_t last_sequence() const { return last_.sequence; }

  // Calls take(LooseAccess) for each, in the order in which they came. Nothing is left.
  template <class Take>
  void take_all(Take&& take) {
    LooseAccess access{};
    for (Chunk& chunk : chunks_) {
      const std::uint8_t *at = chunk.bytes.data(), *const end = at + chunk.used;
      while (at < end) {
        const std::uint8_t head = *at++;
        if ((head & other_object) != 0) access.object = ObjectId{number(at)};
        if ((head & other_distance) != 0) access.distance = static_cast<std::uint32_t>(number(at));
        access.offset = moved(access.offset, number(at), (head & to_lower_offset) != 0);
        access.sequence = static_cast<std::uint64_t>(moved(static_cast<std::int64_t>(access.sequence), number(at), (head & back) != 0));
        take(access);
      }
      chunk.bytes = {};
    }
    *this = {};
  }

private:
  // The first chunk is small, the others are two large pages each. An access takes at most `longest` bytes.
  static constexpr std::size_t first_chunk = 1 << 17, further_chunk = 2 * format::large_page, longest = 1 + 5 + 5 + 10 + 10;
  enum : std::uint8_t { other_object = 1, other_distance = 2, to_lower_offset = 4, back = 8 };
  struct Chunk {
    std::vector<std::uint8_t> bytes;
    std::size_t used = 0;
  };

  void append(const LooseAccess& access) {
    if (chunks_.empty() || chunks_.back().used + longest > chunks_.back().bytes.size()) {
      Chunk& fresh = chunks_.emplace_back();
      const std::size_t bytes = chunks_.size() == 1 ? first_chunk : further_chunk;
      format::reserve_large(fresh.bytes, bytes);
      fresh.bytes.resize(bytes);
    }
    Chunk& chunk = chunks_.back();
    std::uint8_t *const begin = chunk.bytes.data() + chunk.used, *out = begin + 1;
    // The first one differs from an access whose numbers are all 0.
    std::uint8_t head = 0;
    if (size_ == 0 || access.object != last_.object) {
      head |= other_object;
      put(out, access.object.value());
    }
    if (access.distance != last_.distance) {
      head |= other_distance;
      put(out, access.distance);
    }
    if (access.offset < last_.offset) head |= to_lower_offset;
    put(out, distance(last_.offset, access.offset));
    const auto before = static_cast<std::int64_t>(last_.sequence), now = static_cast<std::int64_t>(access.sequence);
    if (now < before) head |= back;
    in_order_ &= now >= before;
    put(out, distance(before, now));
    *begin = head;
    chunk.used += static_cast<std::size_t>(out - begin);
    last_ = access;
    ++size_;
  }
  // Unsigned, so that any two numbers have one; `moved` undoes it.
  static std::uint64_t distance(std::int64_t from, std::int64_t to) {
    const auto a = static_cast<std::uint64_t>(from), b = static_cast<std::uint64_t>(to);
    return to < from ? a - b : b - a;
  }
  static std::int64_t moved(std::int64_t from, std::uint64_t by, bool lower) {
    const auto start = static_cast<std::uint64_t>(from);
    return static_cast<std::int64_t>(lower ? start - by : start + by);
  }
  static void put(std::uint8_t*& out, std::uint64_t value) {
    for (; value >= 128; value >>= 7) *out++ = static_cast<std::uint8_t>(value | 128);
    *out++ = static_cast<std::uint8_t>(value);
  }
  static std::uint64_t number(const std::uint8_t*& at) {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const std::uint8_t next = *at++;
      value |= std::uint64_t{next & 127U} << shift;
      if (next < 128) return value;
    }
  }

  std::vector<Chunk> chunks_;
  std::size_t size_ = 0;
  bool in_order_ = true;
  LooseAccess last_{};
};

}  // namespace homenode
