// What a core can do beside and together with transfers.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/machines/native/measuring.hpp"

namespace homenode::native {
namespace {

// One a cycle (core_hertz): they depend on each other, not on what is read.
inline void compute(std::uint64_t& chain, unsigned steps) {
  for (unsigned step = 0; step < steps; ++step) {
#if defined(__x86_64__)
    asm volatile("add %0, %0\n add %0, %0\n add %0, %0\n add %0, %0" : "+r"(chain) : : "cc");
#elif defined(__aarch64__)
    asm volatile("add %0, %0, %0\n add %0, %0, %0\n add %0, %0, %0\n add %0, %0, %0" : "+r"(chain));
#else
    for (unsigned addition = 0; addition < composed_cycles_step; ++addition) {
      chain += chain;
      asm volatile("" : "+r"(chain));
    }
#endif
  }
}

// Each into a register of its own, as soon as a port is free.
inline void load_words(const char* line) {
  const auto* const words = reinterpret_cast<const std::uint64_t*>(line);
#pragma GCC unroll 8
  for (unsigned word = 0; word < line_bytes / sizeof *words; ++word) {
#if defined(__x86_64__)
    std::uint64_t loaded;
    asm volatile("mov %1, %0" : "=r"(loaded) : "m"(words[word]));
#elif defined(__aarch64__)
    std::uint64_t loaded;
    asm volatile("ldr %0, %1" : "=r"(loaded) : "m"(words[word]));
#else
    keep(words[word]);
#endif
  }
}

// The words of a line and of the lines `streams` rows before it, and a chain of additions that depends on them. Each stream has loads of
// its own, as in loops of programs (measure_bandwidth.cpp).
template <unsigned streams>
double sum_of_line(const char* line, std::size_t row, unsigned additions) {
  double sums[4] = {};
#pragma GCC unroll 8
  for (unsigned stream = 0; stream <= streams; ++stream) {
    const auto* words = reinterpret_cast<const double*>(line - stream * row);
#pragma GCC unroll 8
    for (std::size_t word = 0; word < line_bytes / sizeof(double); ++word) sums[word % 4] += words[word];
  }
  double sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  for (unsigned addition = 0; addition < additions; ++addition) {
    sum += 1;
#if defined(__x86_64__)
    asm volatile("" : "+x"(sum));
#endif
  }
  return sum;
}

template <unsigned streams>
double sum_of_lines(const char* first, std::size_t lines, std::size_t row, unsigned additions) {
  double total = 0;
  for (std::size_t line = 0; line < lines; ++line) total += sum_of_line<streams>(first + line * line_bytes, row, additions);
  return total;
}

// Throws std::logic_error for a number of streams that has no loop.
double sum_of_lines(const char* first, std::size_t lines, std::size_t row, const Reread& loop) {
  switch (loop.streams) {
    case 0: return sum_of_lines<0>(first, lines, row, loop.additions);
    case 1: return sum_of_lines<1>(first, lines, row, loop.additions);
    case 2: return sum_of_lines<2>(first, lines, row, loop.additions);
    case 4: return sum_of_lines<4>(first, lines, row, loop.additions);
    default: throw std::logic_error("no loop reads " + std::to_string(loop.streams) + " streams again");
  }
}

void issue_slots(std::uint64_t rounds) {
  for (std::uint64_t round = 0; round < rounds; ++round) {
#if defined(__x86_64__) || defined(__aarch64__)
    asm volatile(".rept 256\n nop\n .endr");
#else
    for (unsigned number = 0; number < 256; ++number) asm volatile("");
#endif
  }
}

}  // namespace

double composed_nanoseconds(const Buffer& buffer, std::size_t bytes, unsigned cycles, unsigned repeats, std::size_t& at) {
  constexpr std::size_t most_lines = 50'000;
  const std::size_t set = std::min(bytes, buffer.size()) / line_bytes, lines = std::clamp<std::size_t>(set, 1, most_lines);
  const std::size_t passes = std::max<std::size_t>(1, most_lines / lines);
  const unsigned steps = cycles / composed_cycles_step;
  std::uint64_t chain = 1, sum = 0;
  double best = std::numeric_limits<double>::infinity();
  for (unsigned repeat = 0; repeat <= repeats; ++repeat) {
    if (set <= most_lines || (at / line_bytes) + lines > set) at = 0;
    const char* first = buffer.data() + at;
    const double seconds = seconds_of([&] {
      for (std::size_t pass = 0; pass < passes; ++pass) {
        for (std::size_t line = 0; line < lines; ++line) {
          sum += *reinterpret_cast<const std::uint64_t*>(first + line * line_bytes);
          compute(chain, steps);
        }
      }
      keep(sum + chain);
    });
    at += lines * line_bytes;
    if (repeat > 0) best = std::min(best, seconds / static_cast<double>(passes * lines) * 1e9);
  }
  return best;
}

double loads_nanoseconds(const Buffer& buffer, std::size_t bytes, unsigned repeats) {
  constexpr std::size_t least_lines = 50'000;
  const std::size_t lines = std::max<std::size_t>(1, std::min(bytes, buffer.size()) / line_bytes);
  const std::size_t passes = (least_lines + lines - 1) / lines;
  double best = std::numeric_limits<double>::infinity();
  for (unsigned repeat = 0; repeat <= repeats; ++repeat) {
    const double seconds = seconds_of([&] {
      for (std::size_t pass = 0; pass < passes; ++pass)
        for (std::size_t line = 0; line < lines; ++line) load_words(buffer.data() + line * line_bytes);
    });
    if (repeat > 0) best = std::min(best, seconds / static_cast<double>(passes * lines) * 1e9);
  }
  return best;
}

double same_set_nanoseconds(const Buffer& buffer, std::size_t lines, std::size_t period, unsigned repeats) {
  // In no order that a prefetcher could follow.
  std::vector<std::uint32_t> order(std::min(lines, buffer.size() / period));
  std::iota(order.begin(), order.end(), 0U);
  std::shuffle(order.begin(), order.end(), std::minstd_rand{1});
  const std::size_t passes = std::max<std::size_t>(1, 100'000 / order.size());
  double best = std::numeric_limits<double>::infinity();
  for (unsigned repeat = 0; repeat <= repeats; ++repeat) {
    const double seconds = seconds_of([&] {
      std::uint64_t sum = 0;
      for (std::size_t pass = 0; pass < passes; ++pass)
        for (const std::uint32_t line : order) sum += *reinterpret_cast<const std::uint64_t*>(buffer.data() + std::size_t{line} * period);
      keep(sum);
    });
    if (repeat > 0) best = std::min(best, seconds / static_cast<double>(passes * order.size()) * 1e9);
  }
  return best;
}

double reread_nanoseconds(const Buffer& buffer, std::size_t bytes, const Reread& loop, unsigned repeats, std::size_t& at) {
  // Rows do not meet in the same sets, nor a row in the place in its page where the stream is or soon will be.
  constexpr std::size_t row = std::size_t{17} << 10, most_lines = 50'000;
  const std::size_t behind = loop.streams * row, whole = buffer.size() - std::min(behind, buffer.size() / 2);
  const std::size_t set = std::min(bytes, whole) / line_bytes, lines = std::clamp<std::size_t>(set, 1, most_lines);
  const std::size_t passes = std::max<std::size_t>(1, most_lines / lines);
  double best = std::numeric_limits<double>::infinity();
  for (unsigned repeat = 0; repeat <= repeats; ++repeat) {
    if (set <= most_lines || (at / line_bytes) + lines > set) at = 0;
    const char* first = buffer.data() + behind + at;
    const double seconds = seconds_of([&] {
      double total = 0;
      for (std::size_t pass = 0; pass < passes; ++pass) total += sum_of_lines(first, lines, row, loop);
      keep(total);
    });
    at += lines * line_bytes;
    if (repeat > 0) best = std::min(best, seconds / static_cast<double>(passes * lines) * 1e9);
  }
  return best;
}

double sharing_slowdown(unsigned first_cpu, unsigned second_cpu, unsigned repeats) {
  constexpr std::uint64_t rounds = 20'000;  // a tenth of a millisecond: most samples see no other work
  const unsigned samples = 50 * repeats;
  std::vector<double> alone, beside[2];
  on_each({first_cpu}, [&](unsigned) {
    for (unsigned sample = 0; sample < samples; ++sample) alone.push_back(seconds_of([] { issue_slots(rounds); }));
  });
  SpinBarrier barrier{2};
  on_each({first_cpu, second_cpu}, [&](unsigned rank) {
    for (unsigned sample = 0; sample < samples; ++sample) {
      barrier.wait();
      beside[rank].push_back(seconds_of([] { issue_slots(rounds); }));
    }
  });
  return (least(beside[0]).median + least(beside[1]).median) / (2 * least(alone).median);
}

double page_walk_nanoseconds(std::size_t working_set, unsigned repeats) {
  const auto latency = [&](Buffer::Pages pages) { return chase_nanoseconds(Buffer{working_set, pages}, working_set, repeats).value; };
  const double huge = latency(Buffer::Pages::huge);
  return latency(Buffer::Pages::small) - huge;
}

}  // namespace homenode::native
