#include "models/machines/native/other_thread.hpp"

#include <algorithm>
#include <cstdint>

#include "models/machines/native/measuring.hpp"

namespace homenode::native {
namespace {

constexpr std::uint64_t rounds = 4000;
constexpr double busy_ratio = 1.5;  // halfway between one cycle a round and two

#if defined(__x86_64__)
// Four issue slots: a decrement that is fused with its branch, and three instructions more; the loop lies in one block of 64 bytes.
void slots() {
  std::uint64_t left = rounds;
  asm volatile(".p2align 6\n1: nop\n nop\n nop\n dec %0\n jnz 1b" : "+r"(left) : : "cc");
}
void additions() {
  std::uint64_t left = rounds / 16, sum = 1;
  asm volatile("1: .rept 16\n add %1, %1\n .endr\n dec %0\n jnz 1b" : "+r"(left), "+r"(sum) : : "cc");
}
// Cores that issue four such and take a branch in each cycle: Intel's since Haswell, AMD's since Zen.
bool can_tell() { return __builtin_cpu_supports("avx2") && !__builtin_cpu_is("amdfam15h"); }
#else
void slots() {}
void additions() {}
bool can_tell() { return false; }
#endif

}  // namespace

double other_thread_share(const std::vector<unsigned>& cpus, unsigned probes) {
  if (!can_tell()) return 0;
  unsigned most = 0;
  for (const unsigned cpu : cpus) {
    unsigned busy = 0;
    on_cpu(cpu, [&] {
      for (unsigned probe = 0; probe < probes; ++probe) {
        const double loop = seconds_of(slots), chain = seconds_of(additions);
        if (loop > busy_ratio * chain) ++busy;
      }
    });
    most = std::max(most, busy);
  }
  return probes == 0 ? 0 : static_cast<double>(most) / probes;
}

}  // namespace homenode::native
