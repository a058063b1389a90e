#include "models/machines/native/other_thread.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>

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
// Twelve additions of six registers, loads of half a first level, as programs have data there, no-operations: each as many as a core can
// take at once.
constexpr std::size_t loaded_bytes = 16 << 10;
void independent_additions() {
  std::uint64_t left = rounds / 2;
  asm volatile(
      ".p2align 6\n1: .rept 2\n add $1, %%rax\n add $1, %%rcx\n add $1, %%rdx\n add $1, %%r8\n add $1, %%r9\n add $1, %%r10\n .endr\n"
      " dec %0\n jnz 1b"
      : "+r"(left)
      :
      : "rax", "rcx", "rdx", "r8", "r9", "r10", "cc");
}
void independent_loads() {
  alignas(64) static const std::array<std::byte, loaded_bytes> data{};
  const std::byte* const end = data.data() + data.size();
  for (unsigned pass = 0; pass < rounds / (loaded_bytes / 256); ++pass) {
    const std::byte* at = data.data();
    asm volatile("1: mov (%0), %%rax\n mov 64(%0), %%rcx\n mov 128(%0), %%rdx\n mov 192(%0), %%r8\n add $256, %0\n cmp %1, %0\n jne 1b"
                 : "+r"(at)
                 : "r"(end)
                 : "rax", "rcx", "rdx", "r8", "cc", "memory");
  }
}
void no_operations() {
  std::uint64_t left = rounds / 2;
  asm volatile(".p2align 6\n1: .rept 12\n nop\n .endr\n dec %0\n jnz 1b" : "+r"(left) : : "cc");
}
// Cores that issue four such and take a branch in each cycle: Intel's since Haswell, AMD's since Zen.
bool can_tell() { return __builtin_cpu_supports("avx2") && !__builtin_cpu_is("amdfam15h"); }
#else
void slots() {}
void additions() {}
void independent_additions() {}
void independent_loads() {}
void no_operations() {}
bool can_tell() { return false; }
#endif

// Others come and go within a second.
constexpr unsigned bursts = 25;
constexpr std::chrono::milliseconds between_bursts{40};
constexpr double cycles_of_chain = rounds / 16 * 16;  // of additions(), which take a cycle each

struct Seconds {
  double mean = 0, least = 0;
};

// Samples in which the processor did something else, for an interrupt or another thread of ours, count for nothing: the other hardware
// thread makes none four times as long.
Seconds seconds_of_samples(const std::vector<double>& samples) {
  constexpr double too_long = 4;
  const double least = *std::min_element(samples.begin(), samples.end());
  double sum = 0, number = 0;
  for (const double sample : samples)
    if (sample <= too_long * least) sum += sample, ++number;
  return {.mean = sum / number, .least = least};
}

}  // namespace

std::vector<UnitTime> unit_times(unsigned samples) {
  if (!can_tell() || samples == 0) return {};
  struct Kind {
    const char* name;
    void (*work)();
    std::vector<double> of_work{}, of_chain{};
  };
  std::array<Kind, 4> kinds{
      {{"integer", &independent_additions}, {"load", &independent_loads}, {"dispatch", &no_operations}, {"fetch", &slots}}};
  for (unsigned burst = 0; burst < bursts; ++burst) {
    std::this_thread::sleep_for(between_bursts);
    for (Kind& kind : kinds) {
      kind.work();  // what others have left of the caches after a pause is no matter
      for (unsigned sample = 0; sample < samples; ++sample) {
        kind.of_work.push_back(seconds_of(*kind.work));
        kind.of_chain.push_back(seconds_of(additions));
      }
    }
  }
  std::vector<UnitTime> times;
  for (const Kind& kind : kinds) {
    const Seconds work = seconds_of_samples(kind.of_work), chain = seconds_of_samples(kind.of_chain);
    times.push_back(
        {.kind = kind.name, .mean = work.mean / chain.mean * cycles_of_chain, .least = work.least / chain.least * cycles_of_chain});
  }
  return times;
}

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
