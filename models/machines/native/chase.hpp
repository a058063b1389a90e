// Loads that wait for each other: chains of addresses in memory, and what a load of one takes.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "models/machines/native/measure.hpp"
#include "models/machines/native/measuring.hpp"
#include "models/machines/native/random_cycle.hpp"

namespace homenode::native {

// Each line holds the address of the next one. `place` gives the address of a line by its number; it is written in order, which takes no
// time to speak of.
template <class Place>
void link_lines(std::size_t lines, Place place) {
  for (std::size_t line = 0; line < lines; ++line) {
    char* next = place(next_in_cycle(line, lines));
    std::memcpy(place(line), &next, sizeof next);
  }
}

inline Spread nanoseconds_of_a_chase(const char* start, std::size_t lines, unsigned repeats) {
  const std::size_t loads = std::clamp<std::size_t>(lines, 200'000, 1'500'000);
  const char* at = start;
  std::vector<double> samples;
  for (unsigned repeat = 0; repeat <= repeats; ++repeat) {  // the first round warms up
    const double seconds = seconds_of([&] {
      for (std::size_t load = 0; load < loads; ++load) at = *reinterpret_cast<const char* const*>(at);
      keep(at);
    });
    if (repeat > 0) samples.push_back(seconds / static_cast<double>(loads) * 1e9);
  }
  return least(samples);
}

}  // namespace homenode::native
