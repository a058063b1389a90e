// What the measurements have in common: a clock, values that are kept, pinned threads that start together.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

#include "models/machines/native/measure.hpp"

namespace homenode::native {

inline constexpr std::size_t line_bytes = 64;
inline constexpr std::size_t huge_page = std::size_t{2} << 20;

inline double now_seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Keeps a value that nothing else uses.
template <class Value>
void keep(Value value) {
  asm volatile("" : : "r"(value) : "memory");
}

template <class Work>
double seconds_of(Work&& work) {
  const double begin = now_seconds();
  work();
  return now_seconds() - begin;
}

// Threads that start together: sense-reversing, spinning; gives way when there are more threads than CPUs.
class SpinBarrier {
public:
  explicit SpinBarrier(unsigned threads) : threads_{threads} {}
  void wait() {
    const unsigned round = round_.load(std::memory_order_relaxed);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
      arrived_.store(0, std::memory_order_relaxed);
      round_.store(round + 1, std::memory_order_release);
      return;
    }
    for (unsigned spins = 0; round_.load(std::memory_order_acquire) == round; ++spins)
      if (spins % 4096 == 4095) std::this_thread::yield();
  }

private:
  alignas(line_bytes) std::atomic<unsigned> arrived_{0};
  alignas(line_bytes) std::atomic<unsigned> round_{0};
  const unsigned threads_;
};

// Runs work(rank) on one pinned thread a CPU.
inline void on_each(const std::vector<unsigned>& cpus, const std::function<void(unsigned)>& work) {
  std::vector<std::jthread> threads;
  for (unsigned rank = 0; rank < cpus.size(); ++rank)
    threads.emplace_back([&, rank] {
      pin_this_thread(cpus[rank]);
      work(rank);
    });
}

}  // namespace homenode::native
