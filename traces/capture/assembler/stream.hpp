// The runtime's stream as it comes through the pipe, by the encoding of stream.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace homenode {

class CaptureStream {
public:
  struct Ended {};  // in the middle of a message: the program was killed

  explicit CaptureStream(int descriptor);
  // False at the end of the file.
  bool byte(std::uint8_t& value) {
    if (at_ == end_ && !fill()) return false;
    value = buffer_[at_++];
    return true;
  }
  std::uint64_t u64() {
    // One number takes ten bytes at most; the last bytes of the buffer go the slow way.
    if (end_ - at_ >= 10) {
      std::uint64_t value = buffer_[at_++];
      if (value < 128) return value;
      value &= 127;
      for (unsigned shift = 7; shift < 64; shift += 7) {
        const std::uint64_t next = buffer_[at_++];
        value |= (next & 127) << shift;
        if (next < 128) return value;
      }
      too_long();
    }
    return u64_at_the_end();
  }
  std::int64_t i64() {
    const std::uint64_t value = u64();
    return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
  }
  std::string text();
  // The next bytes of a message, in one piece.
  const std::uint8_t* bytes(std::size_t count) {
    if (end_ - at_ < count && ahead(count).size() < count) throw Ended{};
    at_ += count;
    return buffer_.data() + at_ - count;
  }

  // Bytes that have come so far.
  std::uint64_t received() const { return received_; }

  // The bytes that are there without waiting for more than one read; at least `least` of them unless the file ends.
  std::span<const std::uint8_t> ahead(std::size_t least);
  void skip(std::size_t bytes) { at_ += bytes; }
  // A place in the buffer, for since(); the text in between is lost when the buffer was filled anew.
  struct Bookmark {
    std::uint64_t generation = ~std::uint64_t{0};
    std::size_t at = 0;
  };
  Bookmark bookmark() const { return {generation_, at_}; }
  std::span<const std::uint8_t> since(const Bookmark& mark) const {
    if (mark.generation != generation_ || mark.at > at_) return {};
    return {buffer_.data() + mark.at, at_ - mark.at};
  }

private:
  std::uint64_t u64_at_the_end();
  [[noreturn]] static void too_long();
  bool fill();
  std::size_t get(std::size_t at);
  int descriptor_;
  std::vector<std::uint8_t> buffer_;
  std::size_t at_ = 0, end_ = 0;
  std::uint64_t generation_ = 0, received_ = 0;
};

}  // namespace homenode
