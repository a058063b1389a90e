// Places in the simulated virtual address space, and ranges of them. An address, a page and a line do not convert into each other: a
// place plus a number is a place, the difference of two places is a number. Pages and addresses convert in AddressSpace, lines and
// addresses below.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

namespace homenode {

template <class Tag>
class Position {
public:
  constexpr Position() = default;
  explicit constexpr Position(std::uint64_t value) : value_{value} {}
  constexpr std::uint64_t value() const { return value_; }
  constexpr auto operator<=>(const Position&) const = default;
  constexpr Position& operator++() {
    ++value_;
    return *this;
  }
  constexpr Position operator++(int) { return std::exchange(*this, *this + 1); }
  constexpr Position& operator+=(std::uint64_t more) {
    value_ += more;
    return *this;
  }
  friend constexpr Position operator+(Position at, std::uint64_t more) { return Position{at.value_ + more}; }
  friend constexpr Position operator-(Position at, std::uint64_t less) { return Position{at.value_ - less}; }
  friend constexpr std::uint64_t operator-(Position to, Position from) { return to.value_ - from.value_; }

private:
  std::uint64_t value_ = 0;
};

using Address = Position<struct AddressTag>;  // of a byte
using PageNumber = Position<struct PageTag>;  // page 0 is the first of the address space
using LineNumber = Position<struct LineTag>;  // address / line size

struct AddressRange {  // bytes [first, last)
  Address first, last;
  static constexpr AddressRange of(Address first, std::uint64_t bytes) { return {first, first + bytes}; }
  constexpr std::uint64_t size() const { return last - first; }
  constexpr auto operator<=>(const AddressRange&) const = default;
};

struct LineRange {
  LineNumber first, last;  // [first, last)
  static constexpr LineRange of(std::uint64_t first, std::uint64_t last) { return {LineNumber{first}, LineNumber{last}}; }
  constexpr std::uint64_t size() const { return last - first; }
};

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t to) { return (value + to - 1) / to * to; }
constexpr Address round_down(Address at, std::uint64_t to) { return Address{at.value() / to * to}; }
constexpr Address round_up(Address at, std::uint64_t to) { return Address{round_up(at.value(), to)}; }

// That the byte lies on.
constexpr LineNumber line_of(Address at, std::uint64_t line_bytes) { return LineNumber{at.value() / line_bytes}; }
constexpr Address first_byte(LineNumber line, std::uint64_t line_bytes) { return Address{line.value() * line_bytes}; }
// All that the bytes lie on.
constexpr LineRange lines_of(AddressRange bytes, std::uint64_t line_bytes) {
  return {line_of(bytes.first, line_bytes), line_of(bytes.last + (line_bytes - 1), line_bytes)};
}
constexpr AddressRange bytes_of(LineRange lines, std::uint64_t line_bytes) {
  return {first_byte(lines.first, line_bytes), first_byte(lines.last, line_bytes)};
}

}  // namespace homenode

template <class Tag>
struct std::hash<homenode::Position<Tag>> {
  std::size_t operator()(homenode::Position<Tag> at) const noexcept { return std::hash<std::uint64_t>{}(at.value()); }
};
