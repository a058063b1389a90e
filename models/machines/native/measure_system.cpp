#include "models/machines/native/measure_system.hpp"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <thread>

#include "models/machines/native/measuring.hpp"
#include "sim/base/errors.hpp"

namespace homenode::native {
namespace {

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

// Memory of the process that nobody has touched; the system's small pages unless it is told otherwise.
class Mapping {
public:
  explicit Mapping(std::size_t bytes, int advice = MADV_NOHUGEPAGE) : bytes_{bytes} {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw Error("calibration needs a mapping of " + std::to_string(bytes) + " B, which the system refuses");
    data_ = static_cast<char*>(memory);
    madvise(data_, bytes_, advice);  // a wish: without it, pages of the usual size
  }
  ~Mapping() { unmap(); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  void unmap() {
    if (bytes_ != 0) munmap(data_, bytes_);
    bytes_ = 0;
  }
  void touch(std::size_t first, std::size_t count, std::size_t stride, bool write) {
    volatile char* at = data_ + first * stride;
    for (std::size_t number = 0; number < count; ++number, at += stride) {
      if (write)
        *at = 1;
      else
        (void)*at;
    }
  }
  void give_back() { madvise(data_, bytes_, MADV_DONTNEED); }
  char* data() const { return data_; }

private:
  char* data_ = nullptr;
  std::size_t bytes_ = 0;
};

double seconds_of_faults(std::size_t pages, FirstAccess access) {
  Mapping mapping{pages * page_bytes()};
  if (access == FirstAccess::rewrite) {
    mapping.touch(0, pages, page_bytes(), true);
    mapping.give_back();
  }
  return seconds_of([&] { mapping.touch(0, pages, page_bytes(), access != FirstAccess::read); });
}

double seconds_to_unmap(std::size_t pages) {
  Mapping mapping{pages * page_bytes()};
  mapping.touch(0, pages, page_bytes(), true);
  return seconds_of([&] { mapping.unmap(); });
}

// The best of a few: interrupts only add.
template <class Sample>
double least_of(unsigned samples, Sample&& sample) {
  double best = sample();
  for (unsigned number = 1; number < samples; ++number) best = std::min(best, sample());
  return best;
}

// Nanoseconds a page between the two numbers of pages.
template <class Seconds>
double slope(std::size_t few, std::size_t many, Seconds&& seconds) {
  const double of_few = least_of(3, [&] { return seconds(few); }), of_many = least_of(3, [&] { return seconds(many); });
  return (of_many - of_few) / static_cast<double>(many - few) * 1e9;
}

long minor_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) {
  return syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, nullptr, nullptr, 0);
}

struct Pipe {
  std::array<int, 2> ends{-1, -1};
  Pipe() {
    if (pipe(ends.data()) != 0) throw Error("calibration needs a pipe, which the system refuses");
  }
  ~Pipe() {
    close(ends[0]);
    close(ends[1]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void put() const {
    const char letter = 0;
    if (write(ends[1], &letter, 1) != 1) throw Error("calibration cannot write to its pipe");
  }
  void take() const {
    char letter = 0;
    if (read(ends[0], &letter, 1) != 1) throw Error("calibration cannot read from its pipe");
  }
};

}  // namespace

double fault_nanoseconds(FirstAccess access, NewMemory memory) {
  return slope(memory.few / page_bytes(), memory.many / page_bytes(), [&](std::size_t pages) { return seconds_of_faults(pages, access); });
}

double fresh_line_nanoseconds(std::size_t bytes) {
  const std::size_t pages = bytes / page_bytes(), lines = page_bytes() / line_bytes, loads = lines / 2;
  const double best = least_of(3, [&] {
    Mapping mapping{bytes};
    double seconds = 0;
    for (std::size_t page = 0; page < pages; ++page) {
      volatile char* const first = mapping.data() + page * page_bytes();
      *first = 1;
      seconds += seconds_of([&] {
        std::size_t line = 1;
        // A permutation of the lines whose next place needs what was loaded: 0.
        for (std::size_t load = 0; load < loads; ++load)
          line = (5 * line + 3 + static_cast<std::size_t>(first[line * line_bytes] & 2)) % lines;
        keep(line);
      });
    }
    return seconds;
  });
  return best / static_cast<double>(pages * loads) * 1e9;
}

// The median: where another program takes one of the CPUs, threads do not fault at once, and the best is no contention.
double contended_fault_nanoseconds(const std::vector<unsigned>& cpus, std::size_t bytes) {
  constexpr std::size_t samples = 7;
  const std::size_t pages = std::max<std::size_t>(bytes / page_bytes() / cpus.size(), 64);
  std::vector<double> of_a_fault;
  for (std::size_t sample = 0; sample < samples; ++sample) {
    Mapping mapping{cpus.size() * pages * page_bytes()};
    SpinBarrier together{static_cast<unsigned>(cpus.size())};
    std::vector<double> seconds(cpus.size());
    on_each(cpus, [&](unsigned rank) {
      together.wait();
      seconds[rank] = seconds_of([&] { mapping.touch(rank * pages, pages, page_bytes(), true); });
    });
    double sum = 0;
    for (const double one : seconds) sum += one;
    of_a_fault.push_back(sum / static_cast<double>(cpus.size() * pages) * 1e9);
  }
  return least(of_a_fault).median;
}

std::optional<double> huge_fault_nanoseconds() {
  constexpr std::size_t blocks = 16;
  bool huge = true;
  const double seconds = least_of(3, [&] {
    Mapping mapping{(blocks + 1) * huge_page, MADV_HUGEPAGE};
    const auto begin = reinterpret_cast<std::uintptr_t>(mapping.data());
    const std::size_t first = (huge_page - begin % huge_page) % huge_page / page_bytes(), a_block = huge_page / page_bytes();
    const double passed = seconds_of([&] {
      for (std::size_t block = 0; block < blocks; ++block) mapping.touch(first + block * a_block, 1, page_bytes(), true);
    });
    const long before = minor_faults();
    mapping.touch(first, blocks * a_block, page_bytes(), true);  // all there already if the pages are huge
    huge = huge && minor_faults() - before < static_cast<long>(blocks);
    return passed;
  });
  if (!huge) return std::nullopt;
  return seconds / blocks * 1e9;
}

double map_nanoseconds() {
  constexpr unsigned rounds = 500;
  return least_of(3, [] {
    return seconds_of([] {
             for (unsigned round = 0; round < rounds; ++round) {
               void* memory = mmap(nullptr, page_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
               if (memory != MAP_FAILED) munmap(memory, page_bytes());
             }
           }) /
           rounds * 1e9;
  });
}

double unmap_page_nanoseconds() { return slope(256, 2048, seconds_to_unmap); }

double system_call_nanoseconds() {
  constexpr unsigned rounds = 20'000;
  return least_of(3, [] {
    return seconds_of([] {
             for (unsigned round = 0; round < rounds; ++round) syscall(SYS_getppid);
           }) /
           rounds * 1e9;
  });
}

double context_switch_nanoseconds(unsigned cpu) {
  constexpr unsigned rounds = 2'000;
  const Pipe there, back;
  double alone = 0, trips = 0;
  on_each({cpu}, [&](unsigned) {
    alone = least_of(3, [&] {
      return seconds_of([&] {
        for (unsigned round = 0; round < rounds; ++round) {
          there.put();
          there.take();
        }
      });
    });
  });
  on_each({cpu, cpu}, [&](unsigned rank) {
    const auto trip = [&] {
      for (unsigned round = 0; round < rounds; ++round) {
        if (rank == 0) there.put();
        (rank == 0 ? back : there).take();
        if (rank == 1) back.put();
      }
    };
    const double seconds = least_of(3, [&] { return seconds_of(trip); });
    if (rank == 0) trips = seconds;
  });
  return std::max(0.0, trips / 2 - alone) / rounds * 1e9;
}

double wakeup_nanoseconds(unsigned waker_cpu, unsigned sleeper_cpu, double idle_microseconds) {
  const unsigned rounds = idle_microseconds >= 1000 ? 20 : 100;
  constexpr double to_fall_asleep = 5e-6;  // seconds that the sleeper takes to wait again
  std::atomic<std::uint32_t> word{0}, seen{0};
  std::atomic<double> awake{0};
  std::vector<double> samples;
  on_each({waker_cpu, sleeper_cpu}, [&](unsigned rank) {
    for (std::uint32_t round = 1; round <= rounds; ++round) {
      if (rank == 1) {
        while (word.load() < round) futex(word, FUTEX_WAIT, round - 1);
        awake = now_seconds();
        seen = round;
        continue;
      }
      const double begin = now_seconds();
      while (now_seconds() - begin < idle_microseconds * 1e-6 + to_fall_asleep) {}
      const double called = now_seconds();
      word = round;
      futex(word, FUTEX_WAKE, 1);
      while (seen.load() < round) {}
      samples.push_back((awake - called) * 1e9);
    }
  });
  return least(samples).median;
}

double thread_nanoseconds() {
  constexpr unsigned threads = 50;
  return least_of(3, [] {
    return seconds_of([] {
             for (unsigned number = 0; number < threads; ++number) std::thread{[] {}}.join();
           }) /
           threads * 1e9;
  });
}

}  // namespace homenode::native
