// What work takes a core, from what its parts take: the laws that the staged engines and the closed form go by.
// Value: seconds (double), of one slice; or an Eigen column of them, of a thread each.
#pragma once

#include <algorithm>
#include <optional>
#include <type_traits>

#include "models/engines/parts/bottlenecks.hpp"
#include "sim/machine/machine.hpp"

namespace homenode {

template <class Value>
Value larger(const Value& a, const Value& b) {
  if constexpr (std::is_arithmetic_v<Value>)
    return std::max(a, b);
  else
    return a.max(b);
}

template <class Value>
Value smaller(const Value& a, const Value& b) {
  if constexpr (std::is_arithmetic_v<Value>)
    return std::min(a, b);
  else
    return a.min(b);
}

// Hits of one level: by latency, as many lines outstanding as the stream allows (`weight`: lines / parallelism), or by what the level
// takes to deliver the lines to one core (bytes / bandwidth; 0 if that is unknown).
template <class Value>
Value hit_seconds(const Value& weight, Time latency, const Value& delivery) {
  return larger<Value>(weight * latency.seconds(), delivery);
}

// The same of one level of a machine, for `lines` lines that were found there, at the base clock.
inline double level_seconds(const CacheDescription& cache, double lines, double weight) {
  const double bandwidth = cache.bandwidth_per_core.bytes_per_second();
  return hit_seconds(weight, cache.latency, bandwidth > 0 ? lines * static_cast<double>(cache.line.count()) / bandwidth : 0);
}

// Where lines and loads take turns in the first level (machine.hpp, fill_serial): seconds, at the base clock, of a load and of a line that
// comes in. Both are 0 where they do not, and where nothing overlaps: the core waits for its lines one after the other there.
inline double fill_pace(const Machine& machine) {
  const double bandwidth = machine.caches.size() < 2 ? 0 : machine.caches[1].bandwidth_per_core.bytes_per_second();
  if (machine.overlap == Overlap::none || !(bandwidth > 0)) return 0;
  return machine.fill_serial * static_cast<double>(machine.caches[1].line.count()) / bandwidth;
}
inline double load_pace(const Machine& machine) { return fill_pace(machine) > 0 ? 1 / (machine.core.load * machine.clock.hertz()) : 0; }
// A line goes by the clock of the level behind the first. `cycle`: of the core, over one at the base clock; or a column of them.
template <class Value>
Value fill_cycle(const Machine& machine, const Value& cycle) {
  const bool own = machine.caches.size() < 2 || machine.caches[1].clock == CacheClock::own;
  return own ? Value(cycle * 0 + 1) : cycle;
}

template <class Value>
struct CoreSeconds {
  Value core;       // computing
  Value hits;       // in the levels behind the first
  Value transfers;  // from other cores' caches
  Value reads;      // from memory, at whatever latency its lines have
  Value waited{};   // of these three, of loads that the core waits for, beyond a hit in the first level: they add to computing

  // What hits take at the least whose lines go into one set of the first level (machine.hpp, same_set).
  Value same_set{};

  // Loads, which are a part of computing, and the lines that take turns with them in the first level (machine.hpp, fill_serial).
  Value loading{}, fills{};

  Value first_level() const { return smaller<Value>(loading, core) + fills; }
  Value memory() const { return larger<Value>(larger<Value>(hits + transfers + reads, same_set), first_level()); }
  CoreSeconds& operator+=(const CoreSeconds& other) {
    core += other.core;
    hits += other.hits;
    transfers += other.transfers;
    reads += other.reads;
    waited += other.waited;
    same_set += other.same_set;
    loading += other.loading;
    fills += other.fills;
    return *this;
  }
  Value busy(Overlap overlap) const { return overlap == Overlap::full ? larger<Value>(core + waited, memory()) : Value(core + memory()); }
};

// Lines that one core exchanges with memory. Regular stores read a line before they write it back: a written-back line takes one of the
// reads with it where there is one.
template <class Value>
struct ExchangedLines {
  Value reads, writebacks, non_temporal;
};

// What they take the core at the least, whatever the latency (machine.hpp, read_bandwidth and its neighbours); 0 where the machine does
// not say. `pairs`: min(reads, writebacks). Non-temporal stores leave
// through buffers of their own, beside the rest.
template <class Value>
Value exchange_seconds(const Machine& machine, double line_bytes, const ExchangedLines<Value>& lines, const Value& pairs) {
  const auto pace = [&](const std::optional<Bandwidth>& bandwidth) {
    return bandwidth && bandwidth->bytes_per_second() > 0 ? line_bytes / bandwidth->bytes_per_second() : 0;
  };
  const double read = pace(machine.read_bandwidth), write = pace(machine.write_bandwidth);
  const Value cached = (lines.reads - pairs) * read + (pairs + lines.writebacks) * write;
  return larger<Value>(cached, lines.non_temporal * pace(machine.nontemporal_bandwidth));
}

// Non-temporal stores by their latency: so many lines wait at once until memory has taken them. `latency`: seconds of all lines, each at
// its home's.
template <class Value>
Value streaming_seconds(const Machine& machine, const Value& latency) {
  return latency / static_cast<double>(machine.streaming_lines());
}

inline bool limits_exchange(const Machine& machine) {
  return machine.read_bandwidth || machine.write_bandwidth || machine.nontemporal_bandwidth;
}

// The share of a shared resource that work offers to use which would need `use` seconds of it in `seconds`.
inline double offered_share(double use, double seconds) { return seconds > 0 ? use / seconds : 0; }

// What bounds a core that no shared resource holds up. `overhead`: beside being busy.
inline PrivateCause private_cause(const CoreSeconds<double>& spent, Overlap overlap, double overhead) {
  if (overhead > spent.busy(overlap)) return PrivateCause::overhead;
  if (spent.core + spent.waited >= spent.memory() && spent.core >= spent.waited) return PrivateCause::core;
  const double latency = spent.reads + spent.transfers;
  return spent.hits > latency || std::max(spent.same_set, spent.first_level()) > spent.hits + latency ? PrivateCause::cache
                                                                                                      : PrivateCause::latency;
}

}  // namespace homenode
