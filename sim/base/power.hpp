// Energy and power with their dimension in the type: a power over a time is an energy. Text as descriptions write it: "20 pJ", "6.5 W".
#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "sim/base/units.hpp"

namespace homenode {

class Energy {
public:
  constexpr Energy() = default;
  static constexpr Energy joules(double value) { return Energy{value}; }
  constexpr double joules() const { return joules_; }
  constexpr auto operator<=>(const Energy&) const = default;
  constexpr Energy& operator+=(Energy other) {
    joules_ += other.joules_;
    return *this;
  }
  friend constexpr Energy operator+(Energy a, Energy b) { return a += b; }
  friend constexpr Energy operator*(Energy a, double factor) { return Energy{a.joules_ * factor}; }

private:
  explicit constexpr Energy(double joules) : joules_{joules} {}
  double joules_ = 0;
};

class Power {
public:
  constexpr Power() = default;
  static constexpr Power watts(double value) { return Power{value}; }
  constexpr double watts() const { return watts_; }
  constexpr auto operator<=>(const Power&) const = default;
  friend constexpr Power operator*(Power a, double factor) { return Power{a.watts_ * factor}; }
  friend constexpr Energy operator*(Power power, Time time) { return Energy::joules(power.watts_ * time.seconds()); }

private:
  explicit constexpr Power(double watts) : watts_{watts} {}
  double watts_ = 0;
};

// Throw UnitError: what was found and which units are allowed. Negative values are refused.
Energy parse_energy(std::string_view text);  // fJ, pJ, nJ, uJ, mJ, J
Power parse_power(std::string_view text);    // uW, mW, W, kW
std::string to_string(Energy);
std::string to_string(Power);

}  // namespace homenode
