#include "models/engines/parts/held_back.hpp"

#include <cmath>

namespace homenode {

double wait_for_faults(std::span<const FaultingSlice> slices) {
  double chance = 0, held = 0;
  for (const FaultingSlice& slice : slices) {
    chance += slice.interval > 0 ? std::min(slice.held / slice.interval, 1.0) : 1.0;
    held = std::max(held, slice.held);
  }
  if (!(chance > 0)) return 0;
  const auto number = static_cast<double>(slices.size()) + 1;
  const double mean = chance / static_cast<double>(slices.size());
  return held * (1 - (1 - std::pow(1 - mean, number)) / (mean * number));
}

}  // namespace homenode
