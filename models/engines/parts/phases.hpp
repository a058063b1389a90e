// How far computing and transfers of a slice can overlap. They overlap inside what the core has in hand (its reorder buffer, the lines
// in flight), not across a slice: a transform that first copies rows from memory and then computes on them takes the sum. So a slice is
// followed in windows, and windows that ask memory and other caches alike, per access, are one phase.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "models/engines/parts/slice_cost.hpp"
#include "sim/hardware/cache_model.hpp"
#include "sim/machine/machine.hpp"

namespace homenode {

struct SlicePhase {
  static constexpr std::size_t most_levels = 4;  // behind the first
  double accesses = 0;
  double reads = 0, read_weight = 0;            // lines from memory; the same / parallelism
  double transferred = 0, transfer_weight = 0;  // lines from other cores' caches; the same / parallelism, and lines to own without data
  double written = 0;                           // lines written back, and written past the caches
  double streamed = 0, streamed_weight = 0;     // of `reads`, those that prefetchers follow
  double loads = 0;                             // of `streamed`, without those that stores ask for
  double again = 0;                             // lines of streams that are in a cache
  // Lines that the core waits for before it goes on (LineTouch::waited), of those in no stream: from memory and other cores; by level.
  double waited = 0;
  std::array<double, most_levels> waited_hits{};
  std::array<double, most_levels> hit_lines{}, hit_weight{};
  std::array<double, most_levels> busiest_set{};  // by level: hits whose lines went into the busiest set of the first level

  void add(const SlicePhase&);
  // Lines that come into the first level.
  double fills() const { return std::accumulate(hit_lines.begin(), hit_lines.end(), reads + transferred); }
  // Lines that go over shared resources.
  double lines() const { return reads + transferred + written; }
  // Latencies that the core waits for.
  double weight() const { return read_weight + transfer_weight; }
  // Streams that the phase reads from a cache, for each that it reads from memory.
  double streams_again() const;
};

// Collects the phases of one slice.
class PhaseRecorder {
public:
  // More lines in flight than the core has miss buffers are a prefetcher's.
  explicit PhaseRecorder(const Machine& machine)
      : levels_{std::min(machine.caches.size(), SlicePhase::most_levels + 1)},
        miss_buffers_{static_cast<float>(machine.miss_buffers)},
        window_accesses_{static_cast<double>(machine.overlap_accesses)},
        set_{machine} {}
  // The outcome's short hits are asked for: of each group those of the group.
  bool follows_sets() const { return set_.follows(); }
  // Where caches follow one line in so many, windows are as many times longer: the sample has as many lines in each.
  void follow_sample(const KeptLines& kept) { sample_ = kept.one_in, kept_ = kept; }
  // `outcome`: of the slice, before its first group. `single`: lines that a touch of one line stands for, where others are left out.
  void start(const CacheOutcome& outcome, double single = 1);
  // `outcome`: with what the caches made of the group.
  void add(std::span<const LineTouch> group, const CacheOutcome& outcome);
  // Accesses of the group that the caches were not asked for.
  void pass_over(std::uint64_t accesses) {
    window_.accesses += static_cast<double>(accesses);
    if (!follows_sets()) return;
    set_accesses_ += static_cast<double>(accesses);
    left_out_ += static_cast<double>(accesses);
    settle_sets(false);
  }
  // Ascending by latencies that the core waits for (lines from memory and other cores / parallelism) per access; those without any come
  // last. The recorder is then ready for the next slice.
  void finish(std::vector<SlicePhase>& phases);

private:
  static constexpr int bins = 8;
  // How much of a list that grows at its end was seen: ranges, and lines of the last one.
  struct Seen {
    std::size_t ranges = 0;
    std::uint64_t last = 0;
    // `told`: a range, and how many of its lines are new.
    template <class Range, class Told>
    void further(const std::vector<Range>& list, const Told& told);
  };
  // Hits behind the first level by the set of the first level that their lines go into, of the accesses
  // that a core has in hand. Those of few lines: others are spread over the sets.
  class FirstLevelSets {
  public:
    using Lines = std::array<float, SlicePhase::most_levels>;  // by level
    explicit FirstLevelSets(const Machine&);
    bool follows() const { return !lines_.empty(); }
    void add(const ShortHit&);
    // Into `sum`; then begins anew. Of a sample of one line in `one_in`, all lines of a set are followed or none: the sum is that of
    // all accesses on average. `followed`: share of the accesses to single lines that are in the sample.
    void busiest_to(std::array<double, SlicePhase::most_levels>& sum, double one_in, double followed);

  private:
    std::vector<Lines> lines_;
    std::vector<std::uint32_t> used_;
  };
  void settle_streams();
  void settle_sets(bool now);  // `now`: and not only after as many accesses as a core has in hand
  void close();

  std::size_t levels_;
  float miss_buffers_;
  double window_accesses_, sample_ = 1, single_ = 1;
  double followed_ = 0, stores_ = 0, streamed_ = 0;  // lines of streams: all that were touched, by stores alone, from memory
  SlicePhase window_;
  std::array<SlicePhase, bins + 1> phases_{};  // the last: nothing from memory or other cores
  Seen reads_, transfers_, upgraded_, writebacks_, non_temporal_;
  std::array<std::uint64_t, SlicePhase::most_levels + 1> hit_lines_{};
  std::array<double, SlicePhase::most_levels> hit_weight_{};
  FirstLevelSets set_;
  KeptLines kept_;
  double set_accesses_ = 0, in_sample_ = 0, left_out_ = 0;  // since sets were settled: all; to single lines that a sample has, or not
};

// Of the slice's loads that the core waits for, beyond a hit in its first level: lines from memory and other cores at their average latency
// (`spent.reads` and `spent.transfers`, by latency alone, over what was asked for one after the other), hits at their level's. `cycle`: of
// the core, over one at the base clock. 0 where nothing overlaps computing.
double waited_seconds(std::span<const SlicePhase>, const CoreSeconds<double>& spent, const Machine&, double cycle);

// What the busiest sets of the first level take for their lines (machine.hpp, same_set), of all phases. `cycle`: as above.
double same_set_seconds(std::span<const SlicePhase>, const Machine&, double cycle);

// What the lines that come into the first level keep it from serving loads (machine.hpp, fill_serial), of all phases. `cycle`: as above.
double fill_seconds(std::span<const SlicePhase>, const Machine&, double cycle);

// What the slice keeps a core busy: sum over its phases of max(computing, transfers) + serial x min(computing, lines that prefetchers
// follow). Computing is spread over the phases by their accesses, waited loads (above) add to it; hits, transfers between caches and reads
// each by what the phase asked for. `serial`: 0, and more where streams are read again (machine.hpp, reread_serial). Never less than
// `spent.busy`.
double busy_seconds(std::span<const SlicePhase>, const CoreSeconds<double>& spent, const Machine&);

// A slice in two parts, whatever the order of its phases. Phases that move more lines over shared resources a second than the slice's
// average are the first part. If its rate is not at least 1.5 times the average, the slice is one part.
struct SlicePart {
  double seconds = 0;
  double lines = 0;  // share of the lines
  CoreSeconds<double> spent{};
};
struct SliceParts {
  SlicePart dense, rest;  // their seconds add up to `busy_seconds`; rest.seconds is 0 where there is one part
};
SliceParts parts_of(std::span<const SlicePhase>, const CoreSeconds<double>& spent, const Machine&);

// `spent.reads` where a core's prefetchers follow streams that it reads again from a cache (machine.hpp, reread_slowdown) beside those
// from memory: by this factor more. 1 where the machine does not say.
double reread_factor(std::span<const SlicePhase>, const Machine&);

}  // namespace homenode
