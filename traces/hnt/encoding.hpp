// Bytes of a frame: varints, zigzag, strings; the decoder refuses to run past its end.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "sim/errors.hpp"

namespace homenode::format {

class Encoder {
public:
  void u64(std::uint64_t value) {
    while (value >= 128) {
      bytes_.push_back(static_cast<std::uint8_t>(value | 128));
      value >>= 7;
    }
    bytes_.push_back(static_cast<std::uint8_t>(value));
  }
  void i64(std::int64_t value) { u64((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63)); }
  void real(double value) {
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    for (int i = 0; i < 8; ++i) bytes_.push_back(static_cast<std::uint8_t>(bits >> (8 * i)));
  }
  void text(std::string_view value) {
    u64(value.size());
    bytes_.insert(bytes_.end(), value.begin(), value.end());
  }
  const std::vector<std::uint8_t>& bytes() const { return bytes_; }

private:
  std::vector<std::uint8_t> bytes_;
};

class Decoder {
public:
  // `place` names file and frame for errors.
  Decoder(const std::uint8_t* data, std::size_t size, std::string place) : data_{data}, end_{data + size}, place_{std::move(place)} {}
  std::uint64_t u64() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (data_ == end_) fail("ends within a number");
      const std::uint8_t byte = *data_++;
      value |= static_cast<std::uint64_t>(byte & 127) << shift;
      if (byte < 128) return value;
    }
    fail("has a number of more than 64 bits");
  }
  std::int64_t i64() {
    const std::uint64_t value = u64();
    return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
  }
  double real() {
    if (end_ - data_ < 8) fail("ends within a number");
    std::uint64_t bits = 0;
    for (int i = 0; i < 8; ++i) bits |= static_cast<std::uint64_t>(*data_++) << (8 * i);
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  std::string text() {
    const std::uint64_t size = count(1);
    std::string value{reinterpret_cast<const char*>(data_), size};
    data_ += size;
    return value;
  }
  // A number of things that take at least `least` bytes each: never more than what is left can hold.
  std::uint64_t count(std::uint64_t least = 1) {
    const std::uint64_t value = u64();
    if (value > static_cast<std::uint64_t>(end_ - data_) / least)
      fail("announces " + std::to_string(value) + " entries, more than it has bytes for");
    return value;
  }
  std::uint64_t below(std::uint64_t limit, const char* what) {
    const std::uint64_t value = u64();
    if (value >= limit) fail(std::string{"has "} + what + " " + std::to_string(value) + "; allowed: below " + std::to_string(limit));
    return value;
  }
  bool finished() const { return data_ == end_; }
  [[noreturn]] void fail(const std::string& what) const { throw InputError(place_ + " " + what); }

private:
  const std::uint8_t* data_;
  const std::uint8_t* end_;
  std::string place_;
};

}  // namespace homenode::format
