// What a core of the engine line runs, and what it has in flight.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/engines/line/collected_slice.hpp"
#include "models/engines/line/line_counts.hpp"
#include "models/engines/line/line_cursor.hpp"
#include "models/engines/line/line_routes.hpp"
#include "models/engines/line/return_times.hpp"
#include "sim/hardware/memory_model.hpp"
#include "sim/memory/address_space.hpp"

namespace homenode {

using Picoseconds = std::int64_t;
inline Picoseconds to_picoseconds(double seconds) { return std::llround(seconds / 1e-12); }

// What a line meets at the memory-side cache of its home: none there; a read that hits or misses; a miss whose tags have been read; a
// write, likewise.
enum class AtSideCache : std::uint8_t { none, hit, miss, fetched, write, filling_write };

// The first level of a core that lets in a line or serves loads, one after the other (machine.hpp, fill_serial). Picoseconds.
struct FirstLevelPort {
  double access = 0, fill = 0;  // what the loads of an access, on average, and a line that comes in keep it; 0: it does both at once
  double in_hand = 0;           // so far the core's accesses and what the port does for them may be apart
  double free = 0;              // when it has done all that it was asked for
  Picoseconds held = 0;         // for how long it has held the core back

  // `clock`: of the core.
  void take(double time, Picoseconds clock) { free = std::max(free, static_cast<double>(clock) - in_hand) + time; }
  // Moves the core's clock on to where it can go on: not farther ahead of the port than what it has in hand; at the end, nothing.
  void hold_back(Picoseconds& clock, double ahead) {
    const Picoseconds until = std::max(clock, static_cast<Picoseconds>(free - ahead));
    held += until - clock;
    clock = until;
  }
};

// A line that a core asks for beyond its first level.
struct Miss {
  const LinePath* path = nullptr;
  LineRoutes::Served served{};
  LineSource source = LineSource::local;
  std::uint8_t level = 0;      // without a path: the cache that has it
  bool writes_memory = false;  // the controller's stage takes a line instead of giving one
  AtSideCache side = AtSideCache::none;
  bool through_port = false;   // its data come in by the port of the core's outermost cache
  bool awaited = false;        // the core does not go on before it is there
  NodeId home;                 // with a memory-side cache
  Picoseconds not_before = 0;  // the core cannot have it earlier, for its own bandwidth to memory
};

// What a cache of its own takes for a line.
struct LevelTimes {
  Picoseconds latency = 0, delivers = 0;  // a line each time; 0: as fast as it is asked
};

// On its path.
struct Transaction {
  Miss miss;
  std::uint32_t core = 0;
  std::uint32_t stage = 0;
  Picoseconds issued = 0;
};

// Of one kind, in places of a number.
struct LinesInFlight {
  double owed = 0;              // of a place
  std::uint32_t under_way = 0;  // transactions
  ReturnTimes returns;          // of lines that are known

  std::size_t size() const { return under_way + returns.size(); }
  void clear() {
    owed = 0;
    returns.clear();
  }
};

struct RunningSlice {
  static constexpr Picoseconds never = INT64_MAX;
  enum class Waits : std::uint8_t { no, for_place, for_line, for_all, at_end };
  // Pages that the kernel writes in front of the slice.
  struct KernelLines {
    NodeId home;
    std::uint64_t lines = 0;
  };

  bool active = false;
  Waits waits = Waits::no;
  Asker asker;
  ThreadId thread;
  RegionId region;
  WorkId work;
  AddressSpace* addresses = nullptr;
  SliceTouches slice;
  LineCursor cursor;
  const LineTouch* reached = nullptr;  // computed up to, and not accessed yet; of `slice`
  LineNumber reached_line;
  std::vector<KernelLines> kernel;
  Picoseconds begin = 0, clock = 0, wake = never;
  double access_time = 0;                             // picoseconds of computing an access
  std::uint64_t from_outermost = 0, from_memory = 0;  // lines
  double computed = 0;                                // picoseconds, not yet on the clock
  LinesInFlight misses, streams;                      // streams: non-temporal stores, and what the kernel writes
  FirstLevelPort port;
  std::vector<LevelTimes> levels;       // at the core's clock
  std::vector<Picoseconds> level_free;  // when a level can deliver the next line
  Picoseconds exchange_free = 0;        // when the core can exchange the next line with memory
  Picoseconds streaming_free = 0;       // the next line of a non-temporal store
  std::optional<Miss> put_off;          // it waits for a place
  Picoseconds awaited_at = never;       // when it goes on, for the line that it waits for; never: not known yet
  float put_off_parallelism = 1;
  // Of the lines that are known; 0 if there are none.
  Picoseconds last_return() const {
    return std::max(misses.returns.empty() ? 0 : misses.returns.last(), streams.returns.empty() ? 0 : streams.returns.last());
  }
  LinesInFlight& in_flight(const Miss& miss) { return miss.writes_memory ? streams : misses; }
  // With memory since the placement was last told, where it watches traffic: one line behind the other.
  struct Exchanged {
    LineRange lines;
    bool write = false;
  };
  std::vector<Exchanged> exchanged;
  // For what bound the slice.
  Picoseconds overhead = 0, locked = 0, contended = 0, latency = 0;  // locked: by the lock that page faults take; contended: by lines
  std::uint64_t accesses = 0;
  Picoseconds held_back = 0;   // of its faults, by writers of their lock
  Picoseconds fault_time = 0;  // of one, on average
  double fault_seconds = 0;    // of all
  double faults_per_access = 0, faults_due = 0;
  std::array<double, 3> waits_due{};  // of 255, of one wait for a load: by caches of its own, others, memory
  std::vector<Picoseconds> waited;    // by resource
  std::vector<std::uint32_t> queued;  // at these
};

}  // namespace homenode
