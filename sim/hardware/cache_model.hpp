// Accesses of a core in, lines that leave the core out. Lines are numbered in the simulated virtual address space
// (address / line size). A model keeps what each cache holds and which core wrote each line last.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sim/base/ids.hpp"
#include "sim/hardware/line_moves.hpp"
#include "sim/program/line_touch.hpp"

namespace homenode {

// Lines that are treated alike. `parallelism`: outstanding misses, as in the touch that caused it.
struct MissRange {
  LineRange lines;
  float parallelism = 1;
};
// The newest copy lies in `owner`'s caches.
struct TransferRange {
  LineRange lines;
  CoreId owner;
  float parallelism = 1;
};
// Lines that the core found in a cache of its path and now owns, though others had copies: these go, no data move. `level`: where it found
// them; `domains`: outermost caches below which copies went, the core's own among them (sim/machine/cache_domains.hpp).
struct UpgradeRange {
  LineRange lines;
  std::uint64_t domains = 0;
  unsigned level = 0;
  float parallelism = 1;
};

// Neighbouring lines, few of them, that were found in a level behind the first.
struct ShortHit {
  static constexpr std::uint64_t most = 8;  // more are spread over the sets
  LineNumber first;
  std::uint8_t lines = 1, level = 1;
};

struct CacheOutcome {
  std::vector<std::uint64_t> hit_lines;        // by cache level: lines served there
  std::vector<double> hit_weight;              // by cache level: sum of lines / parallelism, for latency
  std::vector<MissRange> reads;                // filled from memory
  std::vector<LineRange> writebacks;           // dirty lines written to memory
  std::vector<LineRange> written_earlier;      // dirty lines that were written back before this access: nobody knows when
  std::vector<LineRange> non_temporal_writes;  // non-temporal stores, full lines to memory
  std::vector<TransferRange> transfers;        // served cache to cache
  std::vector<UpgradeRange> upgraded;          // ownership without data, from whatever level
  std::uint64_t upgrades = 0;                  // of them, lines that the core's private caches had
  std::uint64_t accesses = 0;
  // Of the hits behind the first level, those of at most ShortHit::most lines; empty unless asked for.
  std::vector<ShortHit> short_hits;
  bool wants_short_hits = false;
  void note_hit(const LineRange& lines, std::size_t level) {
    if (wants_short_hits && level > 0 && lines.size() <= ShortHit::most)
      short_hits.push_back({lines.first, static_cast<std::uint8_t>(lines.size()), static_cast<std::uint8_t>(level)});
  }
  double sampling_error = 0;  // told by `flush` where a model follows a sample: of the lines that were read, relative
  void clear();
};

// What the caches hold at a time, and in which order it was touched.
class CacheContents {
public:
  virtual ~CacheContents() = default;
};

class CacheModel {
public:
  virtual ~CacheModel() = default;
  // What `access` of the same core will be called with later, in the order of these calls and before anything else is asked of the
  // model: it may look up what it needs meanwhile. The touches stay where they are until then.
  virtual void expect(CoreId /*core*/, std::span<const LineTouch> /*group*/) {}
  // No more is expected before the first of these calls. True: the model works on other host threads meanwhile, and asks for the caller's
  // in `access`.
  virtual bool begin(CoreId /*core*/) { return false; }
  // Touches that are worth to be expected together.
  virtual std::size_t touches_at_once() const { return 256; }
  // Host threads that it may use, the caller's among them. No outcome depends on it.
  virtual void use_host_threads(unsigned /*threads*/) {}
  // Adds to `outcome` what the group costs `core`. Same calls in the same order give the same outcome.
  virtual void access(CoreId core, std::span<const LineTouch> group, CacheOutcome& outcome) = 0;
  // Invalidates lines that no longer exist (freed) or whose contents moved (migrated page) in all caches. Dirty ones are
  // written back unless `discard`.
  virtual void drop(LineRange, bool discard, CacheOutcome& outcome) = 0;
  // Writes all dirty lines back at the end of the run, so that all bytes written are counted.
  virtual void flush(CacheOutcome& outcome) = 0;
  // Which lines it follows; of a sample each one comes with as many as it stands for.
  virtual KeptLines kept_lines() const { return {}; }
  // Single lines that were touched besides those of the groups: left out, as it does not follow them, and combined with others.
  virtual void touched_besides(std::uint64_t /*left_out*/, std::uint64_t /*combined*/) {}
  // For jumps over what repeats. Null: the model cannot tell whether its state repeats.
  virtual std::unique_ptr<CacheContents> contents() const { return nullptr; }
  // Whether the caches are what they were, with the lines moved, and whatever was asked of them since will have the same outcome, with the
  // lines moved, if it is asked again with the lines moved.
  virtual bool repeats(const CacheContents& /*before*/, const LineMoves&) const { return false; }
  // Moves all that they hold, so many times. To be called where they repeat.
  virtual void move(const LineMoves&, std::uint64_t /*times*/) {}
  // A copy: caches of the same machine with the same contents.
  virtual std::unique_ptr<CacheModel> clone() const = 0;
};

}  // namespace homenode
