// What a branch that was predicted wrong costs a core.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "models/machines/native/measuring.hpp"

namespace homenode::native {
namespace {

// A random number by shifts (Marsaglia, Xorshift RNGs, 2003), and a branch over one instruction on it under `mask`: 1: on a bit that no
// predictor knows; 0: always taken. Each number waits for the one before, so that no work beside the branches hides what they cost.
std::uint64_t branch_on_numbers(std::uint64_t number, std::uint64_t mask, std::uint64_t branches) {
  for (std::uint64_t branch = 0; branch < branches; ++branch) {
    number ^= number << 13;
    number ^= number >> 7;
    number ^= number << 17;
#if defined(__x86_64__)
    asm volatile("test %1, %0\n jz 1f\n nop\n 1:" : : "r"(number), "r"(mask) : "cc");
#elif defined(__aarch64__)
    asm volatile("tst %0, %1\n b.eq 1f\n nop\n 1:" : : "r"(number), "r"(mask) : "cc");
#endif
  }
  return number;
}

}  // namespace

double misprediction_nanoseconds(unsigned repeats) {
#if defined(__x86_64__) || defined(__aarch64__)
  constexpr std::uint64_t branches = 20'000;  // a tenth of a millisecond: most samples see no interrupt
  constexpr double wrong = 0.5;               // of the random ones
  double best[2] = {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  std::uint64_t number = 88172645463325252;
  for (unsigned repeat = 0; repeat <= repeats; ++repeat) {
    for (const std::uint64_t mask : {0, 1}) {
      const double seconds = seconds_of([&] { number = branch_on_numbers(number, mask, branches); });
      keep(number);
      if (repeat > 0) best[mask] = std::min(best[mask], seconds);
    }
  }
  return (best[1] - best[0]) / (wrong * static_cast<double>(branches)) * 1e9;
#else
  return repeats * 0.0;
#endif
}

}  // namespace homenode::native
