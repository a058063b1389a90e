// Jumps over rounds of slices that repeat. Slices of a static loop pass the caches in rounds (sim/loop/prefiltered_slices.hpp). Where the
// accesses are affine, each round touches what the one before did, every object's lines moved by the same number. Once caches and
// translations hold what they held a period before, with the lines moved, the next periods do the same again: what they do to the caches
// is the last period's slices with the lines moved, and no longer worked out. After C. Morelli and J. Reineke, "Warping cache simulation
// of polyhedral programs", PLDI 2022.
//
// It is exact, for all that follows is a function of what caches hold and of what is touched, which moving lines does not change:
//   - every slice of the period is of whole iterations of one block, as many as that thread's slice of each round; the same threads;
//   - every slot of an object moves by the same number of bytes a period, a multiple of pages, so that lines and pages begin where they
//   did;
//   - objects that move differently share no line, and no jump comes nearer than a page to the ends of one that moves: lines of two
//     objects never meet in one touch;
//   - the caches say that they repeat: all that they hold, its order, and what is dirty; nothing was decided by the place of a line
//     (CacheModel::repeats);
//   - pages that the kernel zeroes when somebody comes to them are, to the next period, what they were to this one (fresh_periods.hpp);
//   - the translation buffers hold the same pages in the same order, moved, and the sets that they lie in move by the same number
//   (of a folded index: pages move by a multiple of the number of sets).
// Whatever does not move (a table that is read again in each round) counts as moving by 0. Whatever is not so: no jump.
//
// Comparing the caches takes as long as some slices: it is tried where two periods gave equal counts, and ever more rarely if it fails.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "models/engines/parts/cache_record.hpp"
#include "models/engines/parts/fresh_periods.hpp"
#include "sim/hardware/cache_model.hpp"
#include "sim/hardware/memory_model.hpp"
#include "sim/program/current_body.hpp"

namespace homenode {

// The slices of one period and how to make later ones of them.
struct RepeatedRounds {
  std::vector<FilteredSlice> slices;  // by round of the period, thread
  std::vector<ThreadId> threads;
  std::uint64_t period = 1;     // rounds
  std::int64_t iterations = 0;  // of a thread's slice
  std::uint64_t line_bytes = 64;
  LineMoves moves;  // in a period

  // The slice that the thread of that number starts `round` rounds after the period.
  void make(std::size_t thread, std::uint64_t round, FilteredSlice& slice) const;
  std::uint64_t bytes() const;  // of memory
};

class RepeatedRoundsFinder {
public:
  // The workload must outlive it. `page`: as of the address space.
  RepeatedRoundsFinder(const Workload&, std::uint64_t line_bytes, std::uint64_t page_bytes);

  struct Jump {
    std::shared_ptr<const RepeatedRounds> repeated;
    std::uint64_t periods = 0;
  };
  // `round`: the slices that have passed last, one of each thread that is at work, and what became of them. At most so many rounds like it
  // follow. Where they repeat, moves what the caches and the buffers hold behind the jump; the buffers may be none.
  std::optional<Jump> end_round(std::span<const Work> round, std::span<const FilteredSlice* const> slices, std::uint64_t most, CacheModel&,
                                std::vector<TranslationBuffers>&, AddressSpace&, FreshPages&);
  void forget();

  // Whether it wants to be told of the lines of the round that passes.
  bool follows() const { return before_ != nullptr; }
  void begin_slice() { slice_begin_ = touched_.size(); }
  void touched(LineRange);

private:
  std::optional<Jump> jump_behind(std::span<const Work> round, std::span<const FilteredSlice* const> slices, std::uint64_t most,
                                  CacheModel&, std::vector<TranslationBuffers>&, AddressSpace&, FreshPages&);
  bool goes_on(std::span<const Work> round);
  bool find_moves(std::span<const Work> round, const TranslationBuffer*, AddressSpace&);
  std::optional<std::uint64_t> period_of(std::uint64_t unit) const;
  bool has_equal_counts(std::span<const FilteredSlice* const> slices);
  bool moves_sets_alike(const std::vector<TranslationBuffers>&, const AddressSpace&);
  bool translations_repeat(const std::vector<TranslationBuffers>&, const AddressSpace&) const;
  std::optional<std::int64_t> page_moves(std::uint64_t page, const AddressSpace&) const;
  std::uint64_t periods_with_room(std::uint64_t most) const;
  void give_up();

  const Workload& workload_;
  std::uint64_t line_bytes_, page_bytes_;
  CurrentBody body_;

  // Of the loop in hand.
  std::vector<Work> last_;                 // round
  std::vector<LineMoves::Object> moving_;  // what its slots name; `by`: bytes a round
  std::vector<const ItemBlock*> blocks_;   // by thread of the round
  std::shared_ptr<const ExecutionBody> held_body_;
  std::optional<LineMoves> moves_;  // none: it cannot be said
  std::uint64_t period_ = 1;
  std::vector<std::uint64_t> counts_;       // by round: a hash of what its slices counted
  std::uint64_t wait_ = 0, next_wait_ = 1;  // rounds until the next attempt; of the one after it

  // Of an attempt.
  std::unique_ptr<CacheContents> before_;
  std::vector<TranslationBuffers> translations_before_;
  std::uint64_t set_rotation_ = 0;
  std::shared_ptr<RepeatedRounds> repeated_;
  std::vector<MovingLines> touched_;          // by slice and object, where it touched it
  std::vector<std::size_t> touched_objects_;  // of moves_, for each of these
  std::size_t slice_begin_ = 0;               // of the slice that passes: its first one
  bool outside_ = false;                      // something was touched that is of no object
};

}  // namespace homenode
