// Work in, completion times out. All that the simulation loop knows of hardware.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/base/addresses.hpp"
#include "sim/base/ids.hpp"
#include "sim/base/place.hpp"
#include "sim/base/units.hpp"
#include "sim/program/workload.hpp"

namespace homenode {

class AddressSpace;

// A part of one iteration, from one access to another. A thread runs the stretches of an iteration in order, without gaps, from
// access 0 on. Between two stretches it may run other iterations (tasks) to their end.
struct Stretch {
  static constexpr std::uint64_t to_the_end = ~std::uint64_t{0};
  static constexpr std::int64_t passes = 16;
  std::uint64_t first = 0;
  // A stretch ends before access `last` (a heap call takes effect there), or once its distinct lines reach `quantum` bytes, or once
  // its lines, counted anew at each pass over them, reach `passes` times that. An access is never cut.
  std::uint64_t last = to_the_end;
  Bytes quantum;
};

// A slice: iterations of one execution that one thread runs without interruption. Whole iterations, or a stretch of one.
struct Work {
  Place place;
  ItemRange items;
  Time overhead;  // of the runtime system before the first access: chunk, task, lock. The model adds the cost of page faults
  std::optional<Stretch> stretch = std::nullopt;
};

struct Started {
  WorkId work;
  std::uint64_t reached = Stretch::to_the_end;  // first access of the iteration that the slice leaves to the next stretch
  Time page_work{};                             // of the slice: what the placement does to pages
};

struct Completion {
  WorkId work;
  ThreadId thread;
  Time time;
};

// Messages of one kind in one direction of a ring.
struct RingUse {
  std::string name;  // "data up"
  std::uint64_t messages = 0, hops = 0;
  Time busy;  // mean over its places
};

struct EventCounts {
  std::size_t nodes = 0;
  std::vector<std::uint64_t> traffic_bytes;                       // [initiator node * nodes + home node], real bytes at controllers
  std::vector<std::uint64_t> read_bytes, write_bytes;             // by home node; their sum equals traffic_bytes' column sums
  std::vector<std::uint64_t> link_bytes;                          // by directed link, messages included
  std::vector<RingUse> rings;                                     // of a machine that has one; engine line
  std::vector<std::uint64_t> side_cache_hits, side_cache_misses;  // lines read, by node; empty without memory-side caches
  std::uint64_t directory_bytes = 0;                              // written to memory for its directory, beside write_bytes
  std::vector<std::uint64_t> hit_lines;                           // by cache level
  std::uint64_t accesses = 0, memory_lines = 0, transfer_lines = 0, upgrade_lines = 0, tlb_misses = 0;
  double sampling_error = 0;                                                // of memory_lines, as CacheOutcome's
  std::uint64_t zeroed_bytes = 0;                                           // zeroing of fresh pages, at controllers; part of write_bytes
  std::vector<std::uint64_t> local_bytes, remote_bytes;                     // by thread
  std::map<std::string, std::map<std::int64_t, std::uint64_t>> latency_ns;  // source -> latency -> lines
};

// A bottleneck of one region, and for how long; seconds are summed over threads.
struct BottleneckTime {
  std::string resource;
  double seconds = 0;
};

// Lower bounds on the time of a run under any page placement (lower_bound.hpp).
struct LeastTime {
  Time phases;                             // one after the other
  Time work;                               // of all threads, page faults included
  std::vector<Time> by_thread, by_region;  // parts of `phases`
};

class MemoryModel {
public:
  virtual ~MemoryModel() = default;
  // Starts a slice at the current time. A thread has one slice at a time.
  virtual Started start(const Work&, AddressSpace&) = 0;
  // Whether slices can pass the caches before they start: not where the placement watches pages, which it may move meanwhile.
  // `filter_ahead` lets one do so; its time and overhead are ignored. The slices of a thread must start in that order, with no other
  // slice between them. Returns `reached` as start will.
  virtual bool can_filter_ahead(AddressSpace&) const { return false; }
  virtual std::uint64_t filter_ahead(const Work&, AddressSpace&) { return Stretch::to_the_end; }
  // One slice of every thread that is at work has passed ahead. `most`: so many rounds follow in which each of these threads has another
  // slice of as many iterations of the same block, right behind the last. Returns how many of them need not be passed: their slices are
  // foreseen as if they had been.
  virtual std::uint64_t end_round(std::span<const Work> /*round*/, std::uint64_t /*most*/, AddressSpace&) { return 0; }
  // From now on slices pass the caches in the order of simulated time.
  virtual void order_by_time() {}
  // Until `until` the simulation starts or drops nothing except in response to a completion, so the model may process its own events up
  // to the first completion.
  virtual void run_ahead(Time /*until*/) {}
  virtual std::optional<Time> next_event() = 0;
  // Advances to a time not after next_event. Completions are in the order of (time, thread).
  virtual void advance(Time to, std::vector<Completion>& done) = 0;
  virtual EventCounts counts() const = 0;
  // By region: its bottlenecks, largest first ("controller 0", "link 1->0", "core", "latency", "cache").
  virtual std::vector<std::vector<BottleneckTime>> bottlenecks() const = 0;
  // None if the model cannot tell.
  virtual std::optional<LeastTime> least_time() const { return std::nullopt; }
  // Invalidates the lines of a range that was released or migrated. Dirty ones are written back unless `discard`.
  virtual void drop(AddressRange, bool discard) = 0;
  // The frames of whole pages went back to the system: who comes to them next finds them zeroed.
  virtual void give_back(AddressRange /*pages*/) {}
  // When a waiting reader sees a word that the writer writes at `writer.now`; locks, conditions and barriers use it. None if the model
  // leaves this to the machine's core-to-core latency.
  virtual std::optional<Time> signal(const Place& /*writer*/, const Place& /*reader*/) { return std::nullopt; }
  // The lock of the address space is wanted for writing, from `now` on, for `held`: page faults wait until it is given up, those of running
  // slices and those of slices that start meanwhile. Returns how long the writer waits for faults that hold the lock for reading.
  virtual Time hold_back_faults(Time /*now*/, Time /*held*/) { return {}; }
  // What `faults` page faults, settled last in the address space, cost a thread that takes them in a call of the heap.
  virtual Time faults_in_call(const Place&, std::uint64_t /*faults*/, const AddressSpace&) { return {}; }
  // Writes all dirty lines back at the end of a run, in no time.
  virtual void flush(AddressSpace&) = 0;
};

}  // namespace homenode
