// Quantities with their dimension in the type: a time never adds to a size, a size over a bandwidth is a time.
// Time is int64 picoseconds (106 days), so that sums are exact and reports repeat bit for bit.
#pragma once

#include <cmath>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace homenode {

class Time {
public:
  constexpr Time() = default;
  static constexpr Time picoseconds(std::int64_t count) { return Time{count}; }
  static constexpr Time nanoseconds(double count) { return from_seconds(count * 1e-9); }
  // Rounded to the nearest picosecond: the one place where floating-point times enter the simulation.
  static constexpr Time from_seconds(double seconds) {
    const double scaled = seconds * 1e12;
    return Time{static_cast<std::int64_t>(scaled < 0 ? scaled - 0.5 : scaled + 0.5)};
  }
  static constexpr Time max() { return Time{INT64_MAX}; }

  constexpr std::int64_t count() const { return picoseconds_; }
  constexpr double seconds() const { return static_cast<double>(picoseconds_) * 1e-12; }
  constexpr double nanoseconds() const { return static_cast<double>(picoseconds_) * 1e-3; }

  constexpr auto operator<=>(const Time&) const = default;
  constexpr Time& operator+=(Time other) {
    picoseconds_ += other.picoseconds_;
    return *this;
  }
  constexpr Time& operator-=(Time other) {
    picoseconds_ -= other.picoseconds_;
    return *this;
  }
  friend constexpr Time operator+(Time a, Time b) { return a += b; }
  friend constexpr Time operator-(Time a, Time b) { return a -= b; }
  friend constexpr Time operator*(Time a, std::int64_t factor) { return Time{a.picoseconds_ * factor}; }
  friend constexpr Time operator*(std::int64_t factor, Time a) { return a * factor; }

private:
  explicit constexpr Time(std::int64_t picoseconds) : picoseconds_{picoseconds} {}
  std::int64_t picoseconds_ = 0;
};

class Bytes {
public:
  constexpr Bytes() = default;
  explicit constexpr Bytes(std::int64_t count) : count_{count} {}
  constexpr std::int64_t count() const { return count_; }
  constexpr auto operator<=>(const Bytes&) const = default;
  constexpr Bytes& operator+=(Bytes other) {
    count_ += other.count_;
    return *this;
  }
  friend constexpr Bytes operator+(Bytes a, Bytes b) { return a += b; }
  friend constexpr Bytes operator-(Bytes a, Bytes b) { return Bytes{a.count_ - b.count_}; }
  friend constexpr Bytes operator*(Bytes a, std::int64_t factor) { return Bytes{a.count_ * factor}; }

private:
  std::int64_t count_ = 0;
};

class Frequency {
public:
  constexpr Frequency() = default;
  static constexpr Frequency hertz(double value) { return Frequency{value}; }
  constexpr double hertz() const { return hertz_; }
  constexpr auto operator<=>(const Frequency&) const = default;

private:
  explicit constexpr Frequency(double hertz) : hertz_{hertz} {}
  double hertz_ = 0;
};

class Bandwidth {
public:
  constexpr Bandwidth() = default;
  static constexpr Bandwidth bytes_per_second(double value) { return Bandwidth{value}; }
  constexpr double bytes_per_second() const { return bytes_per_second_; }
  constexpr auto operator<=>(const Bandwidth&) const = default;

private:
  explicit constexpr Bandwidth(double value) : bytes_per_second_{value} {}
  double bytes_per_second_ = 0;
};

constexpr Time operator/(Bytes size, Bandwidth bandwidth) {
  return Time::from_seconds(static_cast<double>(size.count()) / bandwidth.bytes_per_second());
}
constexpr Time cycles_to_time(double cycles, Frequency clock) { return Time::from_seconds(cycles / clock.hertz()); }

// Text with its unit, as descriptions write it: "66 ns", "12.8 GB/s", "24 MiB", "2.66 GHz". GB = 10^9 B, GiB = 2^30 B.
// Throws UnitError (errors.hpp): what was found and which units are allowed. Negative values are refused.
Time parse_time(std::string_view text);
Bytes parse_bytes(std::string_view text);
Bandwidth parse_bandwidth(std::string_view text);
Frequency parse_frequency(std::string_view text);

std::string to_string(Time);       // "66 ns"
std::string to_string(Bytes);      // "24 MiB"
std::string to_string(Bandwidth);  // "12.8 GB/s"
std::string to_string(Frequency);  // "2.66 GHz"

}  // namespace homenode
