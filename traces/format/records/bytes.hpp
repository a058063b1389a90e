// Records as bytes. Unsigned numbers are LEB128 varints. Signed numbers are zigzag-coded first. Doubles are 8 little-endian bytes.
// A record is (type << 1 | critical), the length of its fields, its fields. A new field goes behind the others: an older reader
// ignores it.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "traces/format/records/large_memory.hpp"
#include "traces/format/records/records.hpp"

namespace homenode::format {

// What is wrong with the bytes. The reader of the file adds path and offset.
struct DecodeError {
  std::string message;
};

class ByteWriter {
public:
  void byte(std::uint8_t value) { bytes_.push_back(value); }
  void unsigned_value(std::uint64_t value) {
    while (value >= 128) {
      bytes_.push_back(static_cast<std::uint8_t>(value | 128));
      value >>= 7;
    }
    bytes_.push_back(static_cast<std::uint8_t>(value));
  }
  void signed_value(std::int64_t value) { unsigned_value(zigzag(value)); }
  static std::uint64_t zigzag(std::int64_t value) {
    return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
  }
  // number(i) for each i below `count`, as unsigned_value() writes them. Room is made for many at a time.
  template <class Number>
  void unsigned_column(std::size_t count, Number&& number) {
    constexpr std::size_t at_once = 1024;
    for (std::size_t i = 0; i < count;) {
      const std::size_t end = std::min(count, i + at_once), before = bytes_.size();
      bytes_.resize(before + (end - i) * longest);
      std::uint8_t* out = bytes_.data() + before;
      for (; i < end; ++i) out = put(out, number(i));
      bytes_.resize(static_cast<std::size_t>(out - bytes_.data()));
    }
  }
  void real(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (unsigned i = 0; i < 8; ++i) bytes_.push_back(static_cast<std::uint8_t>(bits >> (8 * i)));
  }
  void text(std::string_view value) {
    unsigned_value(value.size());
    bytes_.insert(bytes_.end(), value.begin(), value.end());
  }
  template <class Tag, class Representation>
  void id(Id<Tag, Representation> value) {  // none() is 0
    unsigned_value(value.is_none() ? 0 : std::uint64_t{value.value()} + 1);
  }
  // A record whose fields write() appends.
  template <class Write>
  void record(RecordType type, Write&& write, bool critical = true) {
    const std::size_t begin = bytes_.size();
    write();
    std::array<std::uint8_t, 2 * longest> head;
    std::uint8_t* const middle = put(head.data(), std::uint64_t{static_cast<std::uint16_t>(type)} << 1 | (critical ? 1 : 0));
    bytes_.insert(bytes_.begin() + static_cast<std::ptrdiff_t>(begin), head.data(), put(middle, bytes_.size() - begin));
  }
  void reserve(std::size_t more) {
    if (bytes_.capacity() - bytes_.size() < more) reserve_large(bytes_, std::max(bytes_.size() + more, 2 * bytes_.capacity()));
  }
  void truncate(std::size_t size) { bytes_.resize(size); }
  std::size_t size() const { return bytes_.size(); }
  bool empty() const { return bytes_.empty(); }
  void clear() { bytes_.clear(); }
  const std::vector<std::uint8_t>& bytes() const { return bytes_; }

private:
  static constexpr std::size_t longest = 10;  // bytes of a varint
  static std::uint8_t* put(std::uint8_t* out, std::uint64_t value) {
    for (; value >= 128; value >>= 7) *out++ = static_cast<std::uint8_t>(value | 128);
    *out++ = static_cast<std::uint8_t>(value);
    return out;
  }
  std::vector<std::uint8_t> bytes_;
};

class ByteReader {
public:
  explicit ByteReader(std::span<const std::uint8_t> bytes) : bytes_{bytes} {}
  bool at_end() const { return position_ == bytes_.size(); }
  std::size_t remaining() const { return bytes_.size() - position_; }
  std::uint8_t byte() {
    if (at_end()) throw DecodeError{"a record ends in the middle of a field"};
    return bytes_[position_++];
  }
  std::uint64_t unsigned_value() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint8_t next = byte();
      if (shift == 63 && next > 1) break;
      value |= std::uint64_t{next & 127u} << shift;
      if (next < 128) return value;
    }
    throw DecodeError{"a number has more than 64 bits"};
  }
  std::int64_t signed_value() {
    const std::uint64_t value = unsigned_value();
    return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1) + 1));
  }
  // A value that must be at most `limit`; the error names the field.
  template <class Value>
  Value bounded(const char* field, std::uint64_t limit) {
    return static_cast<Value>(within(field, unsigned_value(), limit));
  }
  // The number of elements that follow. Each takes at least so many bytes: a count beyond what the remaining bytes can hold is refused
  // before memory is taken for it.
  std::size_t count(const char* field, std::size_t least_bytes = 1) {
    const std::uint64_t value = unsigned_value();  // before asking what remains
    return within(field, value, remaining() / least_bytes);
  }
  double real() {
    std::uint64_t bits = 0;
    for (unsigned i = 0; i < 8; ++i) bits |= std::uint64_t{byte()} << (8 * i);
    return std::bit_cast<double>(bits);
  }
  std::string text() {
    const std::size_t length = count("a text's length");
    std::string value(reinterpret_cast<const char*>(bytes_.data()) + position_, length);
    position_ += length;
    return value;
  }
  template <class Identifier>
  Identifier id(const char* field) {
    const auto value = bounded<std::uint64_t>(field, 0xFFFFFFFFu);
    return value == 0 ? Identifier::none() : Identifier{static_cast<std::size_t>(value - 1)};
  }
  ByteReader part(std::size_t length) {
    if (length > remaining()) {
      throw DecodeError{"a record of " + std::to_string(length) + " bytes where " + std::to_string(remaining()) + " remain"};
    }
    ByteReader part{bytes_.subspan(position_, length)};
    position_ += length;
    return part;
  }

private:
  static std::uint64_t within(const char* field, std::uint64_t value, std::uint64_t limit) {
    if (value <= limit) return value;
    throw DecodeError{std::string(field) + " is " + std::to_string(value) + "; at most " + std::to_string(limit) + " is allowed"};
  }

  std::span<const std::uint8_t> bytes_;
  std::size_t position_ = 0;
};

// Throws the DecodeError for a critical record of an unknown type. `names`: the record names of the file's META, by type.
[[noreturn]] void refuse_record(std::uint64_t type, const std::vector<std::string>& names);
// Calls handle(type, fields) for each record. A handle that does not know the type returns false: then the record is refused if it
// is critical, else skipped.
template <class Handle>
void for_each_record(ByteReader bytes, const std::vector<std::string>& names, Handle&& handle) {
  while (!bytes.at_end()) {
    const std::uint64_t tag = bytes.unsigned_value();
    ByteReader fields = bytes.part(bytes.count("a record's length"));
    const std::uint64_t type = tag >> 1;
    if ((type > last_record_type || !handle(static_cast<RecordType>(type), fields)) && (tag & 1) != 0) refuse_record(type, names);
  }
}

}  // namespace homenode::format
