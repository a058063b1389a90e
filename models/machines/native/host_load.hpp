// Whether a measurement had its processors to itself. What else runs on a host only ever makes it slower; the best of several
// samples forgives a little of that, not all.
#pragma once

#include <cstdint>
#include <string>

#include "models/machines/native/measure.hpp"

namespace homenode::native {

// What the system has counted for this process, all threads together.
struct Usage {
  double cpu_seconds = 0;
  std::uint64_t involuntary_switches = 0;  // a thread could go on and its processor went to somebody else
  double wall_seconds = 0;
  double busy_seconds = 0;    // of all processors, whoever used them, in the system's ticks; 0 where it does not tell
  double stolen_seconds = 0;  // a hypervisor gave them to other guests
  Usage operator-(const Usage& earlier) const {
    return {cpu_seconds - earlier.cpu_seconds, involuntary_switches - earlier.involuntary_switches, wall_seconds - earlier.wall_seconds,
            busy_seconds - earlier.busy_seconds, stolen_seconds - earlier.stolen_seconds};
  }
};
Usage usage_now();

// Why samples taken at that cost are not the host's own figures, in words that follow "while"; empty if nothing speaks against them.
std::string disturbance(const Spread& samples, const Usage& meanwhile);

}  // namespace homenode::native
