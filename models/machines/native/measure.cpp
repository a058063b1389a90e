#include "models/machines/native/measure.hpp"

#include <hwloc.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string_view>
#include <thread>
#include <utility>

#include "models/machines/native/chase.hpp"
#include "models/machines/native/measuring.hpp"
#include "models/machines/native/random_cycle.hpp"
#include "sim/base/errors.hpp"

namespace homenode::native {

Spread least(const std::vector<double>& times) {
  if (times.empty()) return {};
  std::vector<double> sorted = times;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t half = sorted.size() / 2;
  const double median = sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  return {sorted.front(), sorted.front(), sorted.back(), median};
}

Spread most(const std::vector<double>& rates) {
  Spread spread = least(rates);
  spread.value = spread.high;
  return spread;
}

namespace {

constexpr int policy_bind = 2;  // MPOL_BIND of linux/mempolicy.h

void bind_to_node(char* data, std::size_t bytes, unsigned node) {
  constexpr std::size_t bits = 8 * sizeof(unsigned long);
  std::vector<unsigned long> mask(node / bits + 1);
  mask.back() = 1UL << node % bits;
  if (syscall(SYS_mbind, data, bytes, policy_bind, mask.data(), bits * mask.size() + 1, 0) != 0)
    throw Error("the system does not bind memory to node " + std::to_string(node));
}

}  // namespace

Buffer::Buffer(std::size_t bytes, Pages pages, std::optional<unsigned> node) : bytes_{(bytes + huge_page - 1) / huge_page * huge_page} {
  void* memory = std::aligned_alloc(huge_page, bytes_);
  if (memory == nullptr)
    throw Error("calibration needs " + to_string(Bytes{static_cast<std::int64_t>(bytes_)}) + " of memory, more than there is");
  data_ = static_cast<char*>(memory);
  // A wish: where the system does not grant it, the figures contain TLB misses.
  madvise(data_, bytes_, pages == Pages::huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  try {
    if (node) bind_to_node(data_, bytes_, *node);
  } catch (...) {
    std::free(data_);
    throw;
  }
  std::memset(data_, 0, bytes_);
}
Buffer::~Buffer() { std::free(data_); }
Buffer::Buffer(Buffer&& other) noexcept : data_{std::exchange(other.data_, nullptr)}, bytes_{std::exchange(other.bytes_, 0)} {}

std::vector<unsigned> usable_cpus() {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0 || hwloc_topology_load(topology) != 0) throw Error("hwloc cannot read the topology of this host");
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof allowed, &allowed);
  std::vector<unsigned> cpus;
  const bool has_cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0;
  for (hwloc_obj_t core = nullptr;
       (core = hwloc_get_next_obj_by_type(topology, has_cores ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU, core)) != nullptr;) {
    const int cpu = hwloc_bitmap_first(core->cpuset);
    if (cpu >= 0 && cpu < CPU_SETSIZE && CPU_ISSET(cpu, &allowed)) cpus.push_back(static_cast<unsigned>(cpu));
  }
  hwloc_topology_destroy(topology);
  if (cpus.empty()) throw Error("this process may use no CPU that hwloc knows");
  return cpus;
}

void pin_this_thread(unsigned cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) throw Error("the system does not let a thread be pinned to CPU " + std::to_string(cpu));
}

void on_cpu(unsigned cpu, const std::function<void()>& work) {
  std::exception_ptr failure;
  std::jthread{[&] {
    try {
      pin_this_thread(cpu);
      work();
    } catch (...) { failure = std::current_exception(); }
  }}.join();
  if (failure) std::rethrow_exception(failure);
}

Spread core_hertz(std::uint64_t additions, unsigned repeats) {
  std::vector<double> samples;
  constexpr std::uint64_t of_a_round = 100;
  const std::uint64_t rounds = additions / of_a_round;
  for (unsigned repeat = 0; repeat <= repeats; ++repeat) {
    std::uint64_t value = 1;
    const double seconds = seconds_of([&value, rounds] {
      std::uint64_t sum = value;  // in a register
      for (std::uint64_t round = 0; round < rounds; ++round) {
#if defined(__x86_64__)
        asm volatile(".rept 100\n add %0, %0\n .endr" : "+r"(sum) : : "cc");
#elif defined(__aarch64__)
        asm volatile(".rept 100\n add %0, %0, %0\n .endr" : "+r"(sum));
#else
        for (std::uint64_t addition = 0; addition < of_a_round; ++addition) {
          sum += sum;
          asm volatile("" : "+r"(sum));
        }
#endif
      }
      value = sum;
    });
    keep(value);
    if (repeat > 0) samples.push_back(static_cast<double>(rounds * of_a_round) / seconds);
  }
  return most(samples);
}

Spread chase_nanoseconds(const Buffer& buffer, std::size_t working_set, unsigned repeats) {
  const std::size_t lines = std::max<std::size_t>(4, std::min(working_set, buffer.size()) / line_bytes);
  link_lines(lines, [&](std::size_t line) { return buffer.data() + line * line_bytes; });
  return nanoseconds_of_a_chase(buffer.data(), lines, repeats);
}

Spread gather_nanoseconds(const Buffer& buffer, std::size_t working_set, unsigned repeats) {
  const std::size_t lines = std::bit_floor(std::max<std::size_t>(4, std::min(working_set, buffer.size()) / line_bytes));
  constexpr std::size_t loads = 2'000'000;
  // From an array, as programs do: a generator in the loop keeps a core from having as many loads in hand.
  std::vector<std::uint32_t> index(loads);
  std::uint64_t state = 1, sum = 0;
  for (std::uint32_t& line : index) {
    state = state * cycle_multiplier + cycle_increment;
    line = static_cast<std::uint32_t>((state >> 24) & (lines - 1));
  }
  std::vector<double> samples;
  for (unsigned repeat = 0; repeat <= repeats; ++repeat) {
    const double seconds = seconds_of([&] {
      for (const std::uint32_t line : index) sum += *reinterpret_cast<const std::uint64_t*>(buffer.data() + std::size_t{line} * line_bytes);
      keep(sum);
    });
    if (repeat > 0) samples.push_back(seconds / static_cast<double>(loads) * 1e9);
  }
  return least(samples);
}

Spread core_to_core_nanoseconds(unsigned first_cpu, unsigned second_cpu, unsigned repeats) {
  constexpr unsigned round_trips = 1'000;  // a tenth of a millisecond: most samples see no other work
  struct alignas(line_bytes) Flag {
    std::atomic<unsigned> value{0};
  };
  Flag flag;
  std::vector<double> samples;
  const auto wait_for = [&](unsigned expected) {
    for (unsigned spins = 0; flag.value.load(std::memory_order_acquire) != expected; ++spins)
      if (spins % 4096 == 4095) std::this_thread::yield();
  };
  on_each({first_cpu, second_cpu}, [&](unsigned rank) {
    for (unsigned repeat = 0; repeat <= repeats; ++repeat) {
      const unsigned base = repeat * 2 * round_trips;
      const double begin = now_seconds();
      for (unsigned trip = 0; trip < round_trips; ++trip) {
        wait_for(base + 2 * trip + rank);
        flag.value.store(base + 2 * trip + rank + 1, std::memory_order_release);
      }
      if (rank == 0 && repeat > 0) samples.push_back((now_seconds() - begin) / round_trips / 2 * 1e9);
    }
  });
  return least(samples);
}

Spread barrier_nanoseconds(const std::vector<unsigned>& cpus, unsigned repeats) {
  constexpr unsigned rounds = 1'000;  // likewise
  SpinBarrier barrier{static_cast<unsigned>(cpus.size())};
  std::vector<double> samples;
  on_each(cpus, [&](unsigned rank) {
    for (unsigned repeat = 0; repeat <= repeats; ++repeat) {
      barrier.wait();
      const double begin = now_seconds();
      for (unsigned round = 0; round < rounds; ++round) barrier.wait();
      if (rank == 0 && repeat > 0) samples.push_back((now_seconds() - begin) / rounds * 1e9);
    }
  });
  return least(samples);
}

#if defined(__x86_64__)
namespace {

// A loop of 32 instructions over eight independent registers, so that no latency binds; registers start at 1.
#define HOMENODE_LOOP(body)                                                                                                             \
  [](std::uint64_t rounds, std::uint64_t* cell) {                                                                                       \
    double one = 1;                                                                                                                     \
    asm volatile(                                                                                                                       \
        "movsd %[one], %%xmm0\n movsd %[one], %%xmm1\n movsd %[one], %%xmm2\n movsd %[one], %%xmm3\n"                                   \
        "movsd %[one], %%xmm4\n movsd %[one], %%xmm5\n movsd %[one], %%xmm6\n movsd %[one], %%xmm7\n"                                   \
        "movsd %[one], %%xmm8\n .p2align 6\n 1:\n .rept 4\n" body ".endr\n dec %[rounds]\n jnz 1b\n"                                    \
        : [rounds] "+r"(rounds)                                                                                                         \
        : [one] "m"(one), "D"(cell)                                                                                                     \
        : "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", \
          "cc", "memory");                                                                                                              \
  }
#define HOMENODE_SSE(operation)                                                                                     \
  HOMENODE_LOOP(operation " %%xmm8, %%xmm0\n" operation " %%xmm8, %%xmm1\n" operation " %%xmm8, %%xmm2\n" operation \
                          " %%xmm8, %%xmm3\n" operation " %%xmm8, %%xmm4\n" operation " %%xmm8, %%xmm5\n" operation \
                          " %%xmm8, %%xmm6\n" operation " %%xmm8, %%xmm7\n")

struct InstructionLoop {
  const char* name;
  void (*run)(std::uint64_t rounds, std::uint64_t* cell);
};
const InstructionLoop instruction_loops[] = {
    // Clearing a register wants no execution unit, and each takes a slot of its own: pairs of no-operations share one on Zen 4.
    {"issue", HOMENODE_LOOP("xor %%eax, %%eax\n xor %%ecx, %%ecx\n xor %%edx, %%edx\n xor %%esi, %%esi\n"
                            "xor %%r8d, %%r8d\n xor %%r9d, %%r9d\n xor %%r10d, %%r10d\n xor %%r11d, %%r11d\n")},
    {"integer", HOMENODE_LOOP("add %%rdi, %%rax\n add %%rdi, %%rcx\n add %%rdi, %%rdx\n add %%rdi, %%rsi\n"
                              "add %%rdi, %%r8\n add %%rdi, %%r9\n add %%rdi, %%r10\n add %%rdi, %%r11\n")},
    {"fp_add", HOMENODE_SSE("addsd")},
    {"fp_multiply", HOMENODE_SSE("mulsd")},
    {"divide", HOMENODE_SSE("divsd")},
    {"load", HOMENODE_LOOP("mov (%%rdi), %%rax\n mov 8(%%rdi), %%rcx\n mov 16(%%rdi), %%rdx\n mov 24(%%rdi), %%rsi\n"
                           "mov 32(%%rdi), %%r8\n mov 40(%%rdi), %%r9\n mov 48(%%rdi), %%r10\n mov 56(%%rdi), %%r11\n")},
    {"store", HOMENODE_LOOP("mov %%rdi, (%%rdi)\n mov %%rdi, 8(%%rdi)\n mov %%rdi, 16(%%rdi)\n mov %%rdi, 24(%%rdi)\n"
                            "mov %%rdi, 32(%%rdi)\n mov %%rdi, 40(%%rdi)\n mov %%rdi, 48(%%rdi)\n mov %%rdi, 56(%%rdi)\n")},
};
#undef HOMENODE_SSE
#undef HOMENODE_LOOP

}  // namespace
#endif

std::vector<Throughput> core_throughput(unsigned repeats) {
  std::vector<Throughput> measured;
#if defined(__x86_64__)
  constexpr std::uint64_t instructions = 32;
  alignas(line_bytes) std::uint64_t cell[8] = {};
  for (const InstructionLoop& loop : instruction_loops) {
    std::vector<double> samples;
    const std::uint64_t rounds = std::string_view{loop.name} == "divide" ? 10'000 : 100'000;  // less than a millisecond
    for (unsigned repeat = 0; repeat <= repeats; ++repeat) {
      const double seconds = seconds_of([&] { loop.run(rounds, cell); });
      if (repeat > 0) samples.push_back(static_cast<double>(rounds * instructions) / seconds);
    }
    measured.push_back({loop.name, most(samples)});
  }
#else
  (void)repeats;
#endif
  return measured;
}

}  // namespace homenode::native
