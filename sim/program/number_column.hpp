// A column of whole numbers, each in as few bytes as the widest one needs, and in none while all are equal. Any number can be read and
// replaced. Irregular streams are made of four: of an access they took 24 bytes as vectors, and take 5 to 12.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

namespace homenode {

template <class Number>
class NumberColumn {
  static_assert(std::is_integral_v<Number>);

public:
  NumberColumn() = default;
  NumberColumn(const NumberColumn&) = default;
  NumberColumn(NumberColumn&& other) noexcept { swap(other); }
  NumberColumn& operator=(const NumberColumn&) = default;
  NumberColumn& operator=(NumberColumn&& other) noexcept {
    NumberColumn taken{std::move(other)};
    swap(taken);
    return *this;
  }
  ~NumberColumn() = default;
  NumberColumn(std::initializer_list<Number> numbers) {
    reserve(numbers.size());
    for (const Number number : numbers) push_back(number);
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Number operator[](std::size_t i) const { return width_ == 0 ? all_ : read(bytes_.data(), i, width_); }
  Number front() const { return (*this)[0]; }
  Number back() const { return (*this)[size_ - 1]; }

  void reserve(std::size_t size) { reserved_ = size; }  // room is taken once the width of a number is known
  void push_back(Number number) {
    if (width_ == 0) {
      if (size_ == 0) all_ = number;
      if (number == all_) {
        ++size_;
        return;
      }
    }
    if (!fits(number, width_)) widen(number);
    const std::size_t room = (size_ + 1) * width_ + padding;
    if (bytes_.size() < room) {
      if (bytes_.capacity() < room) bytes_.reserve(std::max({room, reserved_ * width_ + padding, 2 * bytes_.capacity()}));
      bytes_.resize(bytes_.capacity());
    }
    write(bytes_.data(), size_++, width_, number);
  }
  void set(std::size_t i, Number number) {
    if (width_ == 0 ? number == all_ : fits(number, width_)) {
      if (width_ > 0) write(bytes_.data(), i, width_, number);
      return;
    }
    widen(number);
    write(bytes_.data(), i, width_, number);
  }

  class Iterator {
  public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Number;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = Number;
    Iterator(const NumberColumn& column, std::size_t at) : column_{&column}, at_{at} {}
    Number operator*() const { return (*column_)[at_]; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++at_;
      return before;
    }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

  private:
    const NumberColumn* column_;
    std::size_t at_;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size_}; }

  bool operator==(const NumberColumn& other) const {
    if (size_ != other.size_) return false;
    for (std::size_t i = 0; i < size_; ++i)
      if ((*this)[i] != other[i]) return false;
    return true;
  }

private:
  void swap(NumberColumn& other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(size_, other.size_);
    std::swap(reserved_, other.reserved_);
    std::swap(all_, other.all_);
    std::swap(width_, other.width_);
  }
  static constexpr std::size_t padding = sizeof(std::uint64_t) - 1;  // a number is read as 8 bytes

  static Number extended(std::uint64_t bits, unsigned width) {
    const unsigned unused = 64 - 8 * width;
    if constexpr (std::is_signed_v<Number>)
      return static_cast<Number>(static_cast<std::int64_t>(bits << unused) >> unused);
    else
      return static_cast<Number>(bits << unused >> unused);
  }
  static Number read(const std::uint8_t* bytes, std::size_t i, unsigned width) {
    std::uint64_t bits;
    std::memcpy(&bits, bytes + i * width, sizeof bits);
    return extended(bits, width);
  }
  static void write(std::uint8_t* bytes, std::size_t i, unsigned width, Number number) {
    const std::uint64_t mask = ~std::uint64_t{0} >> (64 - 8 * width);
    std::uint64_t bits;
    std::memcpy(&bits, bytes + i * width, sizeof bits);
    bits = (bits & ~mask) | (static_cast<std::uint64_t>(number) & mask);
    std::memcpy(bytes + i * width, &bits, sizeof bits);
  }
  static bool fits(Number number, unsigned width) {
    return width == sizeof(std::uint64_t) || (width > 0 && extended(static_cast<std::uint64_t>(number), width) == number);
  }
  // So that this number and all that are there have room.
  void widen(Number number) {
    unsigned width = width_ == 0 ? 1 : width_;
    while (!fits(number, width) || (width_ == 0 && !fits(all_, width))) width *= 2;
    std::vector<std::uint8_t> bytes(std::max(size_ + 1, reserved_) * width + padding);
    for (std::size_t i = 0; i < size_; ++i) write(bytes.data(), i, width, (*this)[i]);
    bytes_ = std::move(bytes);
    width_ = width;
  }

  std::vector<std::uint8_t> bytes_;
  std::size_t size_ = 0, reserved_ = 0;
  Number all_{};        // while `width_` is 0
  unsigned width_ = 0;  // bytes of a number: 1, 2, 4 or 8
};

}  // namespace homenode
