// Where floating-point durations become the simulation's picoseconds, for every sharing engine alike.
#pragma once

#include <cmath>
#include <cstdint>

#include "sim/base/units.hpp"

namespace homenode {

// Up to the next picosecond; what lies above a whole one by rounding noise only (4e-15 of it, 1e-3 ps) counts as that one.
inline Time round_up(double seconds) {
  const double picoseconds = seconds * 1e12;
  return Time::picoseconds(static_cast<std::int64_t>(std::ceil(picoseconds * (1 - 4e-15) - 1e-3)));
}

}  // namespace homenode
