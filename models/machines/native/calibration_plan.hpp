// What a calibration measures, and under which names: known before anything is measured, so that each pass measures the same.
#pragma once

#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "models/machines/native/figures.hpp"
#include "models/machines/native/measure_system.hpp"
#include "sim/machine/machine.hpp"

namespace homenode {

struct CalibrationOptions {
  Bytes largest_working_set{std::int64_t{2} << 30};         // of the pointer chase; reduced to an eighth of the memory
  Bytes array{std::int64_t{1} << 30};                       // of each thread in the bandwidth kernels; reduced likewise
  unsigned repeats = 3;                                     // samples in a pass, of which the best counts
  native::SettlingLimits settling{};                        // passes
  std::function<void(const std::string& step)> progress{};  // before each measurement, with its pass; may be empty
};

struct CalibrationPlan {
  std::vector<std::size_t> working_sets;  // of the chase, growing: powers of two, and their quarters about the last level
  std::vector<std::size_t> level_sets;    // by cache level: a working set that it surely serves
  std::size_t memory_set = 0;             // one that no cache serves
  // Lines of one set of the first level, so many bytes from one to the next: of each level behind it as many as it serves and those inside
  // it do not; 0 where there is no such number.
  std::size_t set_period = 0;
  std::vector<std::size_t> same_set_lines;
  std::size_t array = 0;
  std::vector<std::size_t> threads;  // 1, 2, 4 ... all
  std::array<unsigned, 10> streams{1, 2, 4, 8, 16, 24, 32, 40, 48, 64};
  std::array<std::size_t, 5> strides{128, 256, 512, 1024, 2048};
  std::size_t run_lines = 64;  // a page, which a prefetcher does not leave
  std::array<unsigned, 7> composed_cycles{0, 4, 8, 16, 32, 64, 128};
  std::array<unsigned, 4> reread_streams{0, 1, 2, 4};
  std::array<unsigned, 3> reread_additions{0, 8, 20};
  std::size_t gathered_set = 0;  // no cache serves it, and translations cover it
  // Of loads that do not wait for each other: the first is surely served by the last level, the last is as large as it is said to be.
  // Empty with one level of caches.
  std::vector<std::size_t> independent_sets;
  std::array<double, 8> idle_microseconds{5, 20, 50, 100, 200, 500, 1000, 3000};
  std::vector<std::size_t> walked_sets;  // of the chase on small pages
  // Of new memory that page faults place: as of warm_memory, and more than the last levels of its node can hold. None of the latter
  // without caches.
  native::NewMemory warm_memory, cold_memory;
};
// New memory whose frames no level inside the last one holds: eight times the largest of these, 1 MiB at least. A program's new pages are
// frames that other programs had, or itself long ago (docs/decisions/0090). The last level's size plays no part: what neighbours leave of
// it changes, and each measurement of one host takes the same amount.
native::NewMemory warm_memory(const Machine& machine);
// `memory`: bytes of the host. `machine`: as detected.
CalibrationPlan calibration_plan(const Machine&, const CalibrationOptions&, double memory, std::size_t cpus);

// Names of figures. Times in nanoseconds, bandwidths in bytes a second.
namespace figure {
inline std::string latency(std::size_t bytes) { return "latency/" + std::to_string(bytes); }
inline std::string independent(std::size_t bytes) { return "independent load/" + std::to_string(bytes); }
inline std::string walk(std::size_t bytes) { return "page walk/" + std::to_string(bytes); }
inline std::string delivery(std::size_t level) { return "cache bandwidth/" + std::to_string(level + 1); }
inline std::string same_set(std::size_t level) { return "lines of one set/" + std::to_string(level + 1); }
inline std::string bandwidth(native::Kernel kernel, std::size_t threads) {
  return "bandwidth/" + native::name_of(kernel) + "/" + std::to_string(threads);
}
inline std::string streams(unsigned number) { return "read streams/" + std::to_string(number); }
inline std::string strided(std::size_t bytes) { return "strided load/" + std::to_string(bytes); }
// `level`: index of the cache that the data lie in; as many as there are: memory.
inline std::string composed(std::size_t level, unsigned cycles) {
  return "composition/" + std::to_string(level + 1) + "/" + std::to_string(cycles);
}
// `level`: as above, 0 or 1.
inline std::string loads(std::size_t level) { return "eight loads a line/" + std::to_string(level + 1); }
// `set`: "cache" or "memory".
inline std::string reread(const std::string& set, unsigned streams, unsigned additions) {
  return "streams read again/" + set + "/" + std::to_string(streams) + "/" + std::to_string(additions);
}
inline std::string throughput(const std::string& kind) { return "instructions a second/" + kind; }
// Cycles of one kind of work beside what others do on the core's second thread: the mean, and the least.
inline std::string unit_mean(const std::string& kind) { return "a core beside others/" + kind; }
inline std::string unit_least(const std::string& kind) { return "a core beside others/" + kind + ", least"; }
inline std::string barrier(std::size_t threads) { return "barrier/" + std::to_string(threads); }
inline std::string wakeup(double idle_microseconds) { return "wake-up/" + std::to_string(std::lround(idle_microseconds)); }
// Of memory on node `to` for a core of node `from`; what all cores of a socket read of another one's nodes. Numbers of the description.
inline std::string node_latency(std::size_t from, std::size_t to) {
  return "node latency/" + std::to_string(from) + "/" + std::to_string(to);
}
inline std::string socket_bandwidth(std::size_t from, std::size_t to) {
  return "socket bandwidth/" + std::to_string(from) + "/" + std::to_string(to);
}
inline std::string sharing(std::size_t second) { return "slowdown beside the CPU before/" + std::to_string(second); }
inline const std::string clock = "clock", short_clock = "clock/short samples", misprediction = "mispredicted branch",
                         misses_in_flight = "misses in flight", tlb_entries = "tlb/entries", tlb_miss = "tlb/miss",
                         tlb_independent = "tlb/independent miss", tlb_ways = "tlb/ways", tlb_sets = "tlb/sets", tlb_folded = "tlb/folded",
                         tlb_reach = "tlb/pages that are left", tlb_first = "tlb/first level/entries",
                         tlb_first_miss = "tlb/first level/miss", tlb_first_independent = "tlb/first level/independent miss",
                         stream_walk = "page walk/stream", run = "read run", core_to_core_near = "core to core/near",
                         core_to_core_far = "core to core/far", fault = "page fault/write", cold_fault = "page fault/cold",
                         read_fault = "page fault/read", rewrite_fault = "page fault/again",
                         contended_fault = "page fault/all CPUs at once", fresh_line = "page fault/line of the page",
                         huge_fault = "page fault/huge", map = "mmap and munmap", unmap_page = "munmap/page", system_call = "system call",
                         context_switch = "context switch", thread = "thread", task_call = "task/at once", task_create = "task/created",
                         task_take = "task/taken and run";
}  // namespace figure

}  // namespace homenode
