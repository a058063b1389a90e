// Caches of a whole machine by ranges of lines (run-granular): a row of a stencil costs the same whatever its length.
//
// Consecutive LRU levels with the same users form a tier with one stack (recency_stack.hpp), a level of random victims one of its own; a
// core's path leads from its private tier to the tier shared most widely, its domain. What the `inclusion` of a tier's first level means:
//   inclusive       filled on the way in; what it evicts leaves the inner tiers too
//   exclusive       filled by what the inner tier evicts; a hit moves the line inwards
//   non_inclusive   as exclusive, but a hit leaves the line when other cores of the domain hold it as well (AMD family 10h:
//                   "the L3 is a non-inclusive victim cache", BIOS and Kernel Developer's Guide 31116, section 2.9.4)
// Within a tier an exclusive level adds its capacity to the inner ones, another replaces it.
//
// Coherence: a dirty segment has the newest data, and nobody else holds its lines. A read of lines that are dirty in another
// core's cache is a coherence miss (transfer). Within a domain the outer tier then keeps them dirty. Between domains an inclusive
// outer tier writes them back to memory (MESI with implicit write-back), any other tier keeps them (MOESI, state Owned). A write
// invalidates all other copies; for lines that the writer held it counts an upgrade.
//
// Tolerances (tests/unit/models/caches): memory lines within 2 % of an exact hierarchy with random frames and hashed slices, one core,
// 5 % for cores that share a level; with random victims within 3 % of the lines touched of the caches by lines. Evictions are handed out
// by whole groups and at the far end of the chance that a line is still held, so a write-back can come late; an inner hit refreshes the
// line in all levels of its tier.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "models/caches/recency_stack.hpp"
#include "models/caches/sharing_directory.hpp"
#include "sim/hardware/cache_model.hpp"
#include "sim/machine/cache_domains.hpp"
#include "sim/machine/machine.hpp"

namespace homenode {

class RunLru final : public CacheModel {
public:
  explicit RunLru(const Machine&);

  void access(CoreId, std::span<const LineTouch> group, CacheOutcome&) override;
  void drop(LineRange, bool discard, CacheOutcome&) override;
  void flush(CacheOutcome&) override;
  std::unique_ptr<CacheModel> clone() const override { return std::make_unique<RunLru>(*this); }

  // run_lru_repeat.cpp. What decides is the order of touches and how many lines lie between two of one line, which moving keeps; but not
  // where the sets of a level decide by a line's place, nor random victims: with these nothing is said to repeat.
  std::unique_ptr<CacheContents> contents() const override;
  bool repeats(const CacheContents& before, const LineMoves&) const override;
  void move(const LineMoves&, std::uint64_t times) override;

private:
  struct DirtyCopy {
    LineRange lines;
    std::uint16_t writer = 0;
  };
  // Lines that others have, or had: outermost caches below which they are.
  struct SharedCopies {
    LineRange lines;
    std::uint64_t domains = 0;
  };
  struct Tier {
    unsigned cores_per_cache = 1, first_level = 0, levels = 0;
    Inclusion inclusion = Inclusion::inclusive;
    std::vector<RecencyStack> stacks;
    std::vector<StackPiece> pieces;    // scratch
    std::vector<char> absent;          // by stream: nothing of it is held
    std::vector<LineSegment> evicted;  // while evict looks at it
    std::vector<DirtyCopy> dirty;      // of one evicted segment
    std::vector<LineTouch> chunk;
  };
  struct Demand {  // lines that an inner tier did not hold
    LineRange lines;
    unsigned touch = 0;
    bool served = false;            // already served by a transfer; this tier only records it
    bool spilled = false;           // still in the stack of the inner tier, beyond its capacity
    std::uint64_t invalidated = 0;  // domains below which a store invalidated clean copies
  };

  std::size_t stack_of(std::size_t tier, CoreId core) const { return core.index() / tiers_[tier].cores_per_cache; }
  bool victim(std::size_t tier) const { return tiers_[tier].inclusion != Inclusion::inclusive; }
  bool same_domain(CoreId a, CoreId b) const { return stack_of(tiers_.size() - 1, a) == stack_of(tiers_.size() - 1, b); }

  std::uint64_t decided_by_place() const;
  // run_lru.cpp
  void step(CoreId, std::span<const LineTouch> group, std::uint64_t lines, CacheOutcome&);
  void prefetch(CoreId, std::span<const LineTouch> group);
  void innermost(CoreId, std::span<const LineTouch> group, std::uint64_t lines, CacheOutcome&);
  void outer(std::size_t tier, CoreId, std::span<const LineTouch> group, CacheOutcome&);
  // run_lru_coherence.cpp
  bool stays_for_others(std::size_t tier, CoreId, const StackPiece&);
  void fetch(CoreId, LineRange, unsigned touch, bool writes, bool spilled, float parallelism, CacheOutcome&);
  void upgrade(CoreId, LineRange, unsigned level, float parallelism, CacheOutcome&);
  void demand(LineRange, unsigned touch, bool spilled, bool writes);
  void non_temporal(LineRange, CacheOutcome&);
  // The cores that may hold (or hold newer data of) lines in the range, with the part of it where that is so; notes `core`.
  CoreMask contenders(CoreId core, LineRange&, bool writes);
  // Caches of the cores in the mask that `core` does not use.
  template <class Each>
  void for_each_foreign_stack(CoreId core, CoreMask, Each&&);
  void invalidate_others(CoreId, LineRange, CoreMask, CacheOutcome&);  // invalidates all other copies; fills shared_ and newest_
  void downgrade_owner(CoreId, LineRange, CoreMask, CacheOutcome&);    // makes the dirty copy clean; fills newest_
  void take_out_lost(RecencyStack&, CoreId other, LineRange);          // fills lost_dirty_
  void report_lost(CacheOutcome&);                                     // of lost_dirty_, those without a newer copy in newest_
  void prune_directory(CoreId, LineRange, CoreMask);
  void keep_only_union(std::vector<DirtyCopy>&);
  void join_copies(std::vector<SharedCopies>&);
  void merge_dirty(std::size_t tier, std::size_t stack, LineRange, std::uint16_t writer, CacheOutcome&);
  void evict(std::size_t tier, std::size_t stack, CacheOutcome&);

  SharingDirectory directory_;
  CacheDomains domains_;
  std::vector<Tier> tiers_;
  std::size_t levels_;
  std::vector<std::uint64_t> capacities_;  // by level, in lines
  std::uint64_t group_limit_;              // larger groups are processed in steps
  std::vector<Demand> demands_, missed_;
  std::vector<DirtyCopy> newest_, held_;
  std::vector<SharedCopies> shared_, joined_;
  std::vector<LineNumber> cuts_;  // scratch
  std::vector<StackPiece> lost_;  // scratch
  std::vector<LineRange> lost_dirty_;
  std::vector<LineRange> absent_;
};

}  // namespace homenode
