// Iterations of a work item in, lockstep groups of line touches out: what the caches see of a program.
//
// Every access run is an affine loop nest; the iterations of a block are its outermost dimension. Dimensions that continue
// each other are joined, short contiguous inner ones become one wide element. Then the runs are followed through the
// sequence numbers window by window: a window ends where the innermost loop of a run ends or another run begins, so the
// operands of one inner loop share a window and form one lockstep group. Ranges that overlap (a[i][j-1], a[i][j], a[i][j+1])
// become one touch, so each line occurs once in a group. The lines touched are exact, with the kind of access.
//
// Outstanding misses (LineTouch::parallelism) = min(dependence, miss buffers or prefetch depth):
//   - dependence, from the producer distances of the trace: a run whose addresses come from its own load m accesses back
//     has at most m outstanding; of irregular accesses, distinct lines over the longest chain of producers (a chase 1, four
//     interleaved chases 4, an independent gather all of them);
//   - the core's miss buffers (machine.miss_buffers; 1 for a core that blocks, Overlap::none) for strides that no prefetcher
//     follows, above machine.prefetch_stride_limit, and for irregular accesses;
//   - machine.prefetched_lines for strides up to it (Intel 64 and IA-32 Optimization Reference Manual 248966, section
//     "Data Prefetching": the streamer follows ascending and descending accesses within a page). The first
//     machine.prefetch_trigger lines of a stream are asked for by the core itself, so a stream of few lines (a row of a
//     block) has a number between the two.
//   - of more streams side by side than machine.prefetch_streams, each takes its turn in the prefetchers' table: it is followed for that
//     share of its lines, and waits in the miss buffers for the others. Streams: touches of a group that cover two lines and more, apart
//     from one another. Calibrations show the share; LRU would lose them all (docs/decisions/0029-a-cores-limits.md).
// All misses of one group share these resources. Time is the sum of lines / parallelism x latency, so every touch carries
// the group's whole number: two streams of n lines at 16 take 2n / 16 latencies, which is the same as 8 for each side by side.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/machine/machine.hpp"
#include "sim/program/code_cycles.hpp"
#include "sim/program/line_touch.hpp"
#include "sim/program/touch_combiner.hpp"
#include "sim/program/workload.hpp"

namespace homenode {

struct LineTouchOptions {
  std::uint64_t line_bytes = 64;
  unsigned miss_buffers = 10, prefetched_lines = 16;
  std::uint64_t prefetch_stride_limit = 2048;       // bytes
  unsigned prefetch_trigger = 0;                    // lines
  unsigned prefetch_streams = 0;                    // 0: all
  StoreTreatment stores = StoreTreatment::regular;  // nontemporal: streamable stores are non-temporal
  std::uint64_t group_lines = 1024;                 // a stream of one group covers at most so many
  std::shared_ptr<const WaitedLoads> waited{};      // null: none

  static LineTouchOptions of(const Machine&, StoreTreatment, const CodeCycles* = nullptr);
};

class LineTouches {
public:
  using AddressOf = std::function<Address(ObjectId)>;  // of byte 0, as the executing thread sees it

  explicit LineTouches(LineTouchOptions);

  // Patterns, body and the targets of `AddressOf` must outlive the last group. Patterns at the same address are taken to be the same:
  // what was found out about one holds for the next start.
  void start(const std::vector<ItemPattern>&, const ExecutionBody&, std::int64_t first, std::int64_t last, AddressOf);
  // The next group, in address order and without a line twice; false at the end (and the group is empty).
  bool next(std::vector<LineTouch>& group);
  // From now on touches of one line that is not kept are no part of their group, which may be empty then, but left out.
  void keep(KeptLines kept) { kept_ = kept; }
  // Of the last group, in any order; a line may come twice.
  const std::vector<LineTouch>& left_out() const { return left_out_; }
  // Touches of one kept line that the last group has no more, because others touch the line, too.
  std::uint64_t combined() const { return combined_; }

  // Follows a single iteration in stretches. `next` gives the groups before access number `limit`, then false; a further call
  // continues. Asks again for the addresses of objects that the iteration allocates or releases.
  static constexpr std::uint64_t to_the_end = ~std::uint64_t{0};
  void go_on_until(std::uint64_t limit);
  // Number of the first access that no group contains yet; to_the_end after the last.
  std::uint64_t position() const;

private:
  static constexpr unsigned most_dimensions = AccessRun::max_dimensions + 1;  // and the iterations
  static constexpr std::uint64_t never = to_the_end;
  static constexpr std::uint64_t irregular_batch = 32;  // irregular accesses in one group
  static constexpr std::uint64_t magnitude(std::int64_t value) {
    return value < 0 ? -static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  }

  struct Dimension {
    std::uint64_t count = 1;
    std::int64_t stride = 0;
    std::uint64_t sequence_stride = 0;
  };
  // One access run, part way through its nest.
  struct Cursor {
    const AccessRun* run = nullptr;
    std::uint64_t sequence = 0;  // of the next access; the largest number when finished
    std::uint64_t address = 0;   // of its first byte, from the slot's base on
    std::uint64_t left = 0;      // elements left in the innermost loop
    Dimension inner;
    std::uint64_t extent = 0;    // bytes of one element
    std::uint64_t accesses = 1;  // of one element
    std::uint64_t most = 0;      // elements in one group
    float parallelism = 1;
    bool reads = false, writes = false, non_temporal = false, atomic = false;
    std::uint8_t waited = 0;
    bool separate = false;  // lines between elements are not touched
    SlotNumber slot = 0;
    unsigned outer_dimensions = 0;  // loops around the innermost one
    std::array<Dimension, most_dimensions> outer{};
    std::array<std::uint64_t, most_dimensions> index{};
    std::uint64_t row_sequence = 0, row_address = 0;  // where the innermost loop began

    bool finished() const { return sequence == ~std::uint64_t{0}; }
  };
  // Of an irregular stream, by its number in the pattern.
  struct IrregularCursor {
    const IrregularStream* stream = nullptr;
    std::uint64_t iterations = 0, iteration = 0;
    std::size_t position = 0;
    bool finished() const { return iteration == iterations; }
  };
  // In a heap of streams: where the stream goes on, or where its batch ends.
  struct IrregularPlace {
    std::uint64_t sequence = 0;
    std::uint32_t number = 0;  // of the stream
    bool later_than(const IrregularPlace& other) const {
      return sequence != other.sequence ? sequence > other.sequence : number > other.number;
    }
  };
  struct Irregular {
    std::uint64_t sequence = 0;
    LineNumber line;
    std::uint32_t depth = 0;
  };
  // How far apart the accesses of a run are decides what a prefetcher makes of it: the lines until it loses the stream.
  struct Prefetched {
    std::uint64_t width = 0, extent = 0, elements = 1;  // bytes of an element and of all
    bool lost = false;                                  // at a stride beyond its reach
  };
  // The touches of a block of few iterations, for whatever its slots are bound to: windows depend on sequence numbers only. Of one
  // iteration; or of several, if each run is one element an iteration, and the slot's shift leads from one to the next.
  struct PatternTouches {
    struct Touch {
      std::uint64_t offset = 0, bytes = 0;  // from the slot's base on, in the first iteration
      SlotNumber slot = 0;
      LineTouch made;         // of one iteration, but for its lines; of several, whose shift no prefetcher follows
      double dependence = 0;  // of several: at most so many in flight
      Prefetched prefetched;  // of several: within an iteration
      // Of several: what came out for the last shift and number of iterations.
      mutable float last_parallelism = 0;
      mutable std::int64_t last_shift = 0;
      mutable std::uint64_t last_iterations = 0;
    };
    std::vector<Touch> touches;
    std::vector<std::uint32_t> group_ends;
    std::uint32_t uses = 0;  // of the pattern, until they are known
    bool known = false, never = false;
  };
  LineRange lines_at(std::uint64_t address, std::uint64_t bytes) const {
    return LineRange::of(address >> line_shift_, ((address + bytes - 1) >> line_shift_) + 1);
  }

  bool has_known_groups() const { return known_block_ != nullptr && known_group_ < known_block_->group_ends.size(); }
  bool following() const {
    return !live_.empty() || !waiting_.empty() || !to_begin_.empty() || next_unopened() != never || !irregular_.empty();
  }
  bool next_block();
  void open(const ItemPattern&, const ItemBlock&, std::int64_t from, std::int64_t to);
  void find_bases(const ItemBlock&, std::int64_t from);
  void open_cursors(const ItemPattern&);
  // Where the first run begins that has no cursors yet; never: all have.
  std::uint64_t next_unopened() const { return opened_ < runs_.size() ? open_pattern_->runs[runs_[opened_]].sequence : never; }
  void open_more_runs();
  // line_touches_known.cpp
  void look_up_touches(const ItemPattern&, PatternId);
  void note_touch(const Cursor&, std::uint64_t elements);
  void note_group();
  void next_known_group();
  bool is_left_out(LineRange lines) const { return lines.size() == 1 && !kept_.has(lines.first); }
  void leave_out();
  void take_turns(std::vector<LineTouch>& group) const;
  LineTouch& add_touch(const LineTouch& made, std::uint64_t address, std::uint64_t bytes);
  void add_shifted(const PatternTouches::Touch&);
  float parallelism_of_followed(const PatternTouches::Touch&, std::int64_t shift) const;
  void close_cursors();
  bool scattered(const ItemBlock&) const;
  void gather_blocks();
  std::uint64_t base_of(const ItemBlock&, std::size_t slot, std::int64_t iteration);
  // Of byte 0. Asked once in a slice, or between two stops in it: objects stay where they are meanwhile.
  std::uint64_t address_of(ObjectId object) {
    FoundAddress& found = found_addresses_[object.index() % found_addresses_.size()];
    if (found.object != object) found = {object, address_of_(object).value()};
    return found.address;
  }
  // Where the slot's object lies now: it may come and go while the iteration runs.
  std::uint64_t base_of_slot(std::size_t slot) {
    if (!base_epochs_.empty() && base_epochs_[slot] < epoch_) {
      bases_[slot] = base_of(*open_block_, slot, open_from_);
      base_epochs_[slot] = epoch_;
    }
    return bases_[slot];
  }
  bool interrupted(const AccessRun&) const;
  unsigned loops_of(const AccessRun&, std::uint64_t iterations, std::array<Dimension, most_dimensions>&) const;
  bool is_prefetched(const Prefetched& prefetched, std::uint64_t step) const {
    return !prefetched.lost && step != 0 && step <= std::max(options_.prefetch_stride_limit, prefetched.extent + options_.line_bytes);
  }
  void prefetch_on(Prefetched&, const Dimension&) const;
  double lines_in_flight(const Prefetched&) const;
  double lines_in_flight(std::uint64_t lines) const;
  static double dependence_of(const AccessRun&, std::span<const Dimension>);
  void add_cursors(const AccessRun&, std::uint64_t iterations);
  void place(Cursor, std::span<const Dimension>);
  struct Begin {
    std::uint64_t sequence = 0, slack = 0;
  };
  Begin earliest() const;
  bool window();
  void follow(Cursor&, std::uint64_t end);
  struct Waiting {
    std::uint64_t sequence = 0;  // of the cursor: so the heap does not look it up
    std::uint32_t cursor = 0;
    static bool later(const Waiting& a, const Waiting& b) { return a.sequence > b.sequence; }
  };
  void put_off_distant(std::uint64_t end);
  static void advance_row(Cursor&);
  void emit(const Cursor&, std::uint64_t elements);
  struct IrregularAccess {
    std::uint64_t sequence = 0, address = 0, width = 0;
    std::uint32_t producer_distance = 0;
    AccessKind kind = AccessKind::read;
    bool non_temporal = false;
    SiteId site{};
  };
  void add_irregular(const IrregularAccess&);
  // Of a read at the site.
  std::uint8_t waited_at(SiteId site, AccessKind kind) const {
    return options_.waited && kind == AccessKind::read && site.index() < options_.waited->size() ? (*options_.waited)[site.index()] : 0;
  }
  void irregular_until(std::uint64_t end);
  std::uint64_t batch_end(std::uint32_t number) const;
  std::uint64_t first_batch_end();
  // How the lines are accessed.
  static void set_kind(LineTouch& touch, const Cursor& cursor) {
    touch.reads = cursor.reads;
    touch.writes = cursor.writes;
    touch.non_temporal = cursor.non_temporal;
    touch.atomic = cursor.atomic;
    touch.waited = cursor.waited;
  }
  static void sift_first(std::vector<IrregularPlace>& heap);
  static void drop_first(std::vector<IrregularPlace>& heap);
  void restart_chains();
  void close_chains();

  LineTouchOptions options_;
  unsigned line_shift_ = 6;
  std::array<double, 32> short_streams_{};  // lines_in_flight by lines
  const std::vector<ItemPattern>* patterns_ = nullptr;
  const ExecutionBody* body_ = nullptr;
  AddressOf address_of_;
  struct FoundAddress {
    ObjectId object = ObjectId::none();
    std::uint64_t address = 0;
  };
  std::array<FoundAddress, 16> found_addresses_{};  // by the object's number
  std::int64_t first_ = 0, last_ = 0;
  std::size_t block_ = 0;  // the next one

  std::vector<std::uint32_t> runs_;  // of the open block's pattern, by where they begin
  std::size_t opened_ = 0;           // of runs_: those that have, or had, cursors. A part at a time: a program's serial code has millions
  std::vector<Cursor> cursors_;      // of the open block's opened runs
  std::vector<std::uint32_t> free_;  // of cursors_: finished, for runs that are opened later
  // Of cursors_ that have not begun, as a heap with the earliest first, of equal ones that which was placed first.
  struct ToBegin {
    std::uint64_t sequence = 0, number = 0;
    std::uint32_t cursor = 0;
    bool later_than(const ToBegin& other) const { return std::tie(sequence, number) > std::tie(other.sequence, other.number); }
    static bool heap_order(const ToBegin& a, const ToBegin& b) { return a.later_than(b); }
  };
  std::vector<ToBegin> to_begin_;
  std::uint64_t placed_ = 0;         // cursors of the open block
  std::vector<std::uint32_t> live_;  // begun and not finished
  // If many are live: those whose next access is far, as a heap with the earliest first, so that a window does not look at all.
  std::vector<Waiting> waiting_;
  std::vector<IrregularCursor> irregular_streams_;  // by number
  // Heaps, the earliest first: where streams go on; where their batches end, or ended when they were asked last.
  std::vector<IrregularPlace> irregular_, batch_ends_;
  std::vector<std::uint64_t> bases_;  // by slot
  std::vector<std::int64_t> shifts_;
  std::vector<std::uint64_t> base_epochs_;  // by slot: epoch that the base is of; of objects that stay, every one. Empty: all stay
  std::uint64_t epoch_ = 1;
  std::uint64_t limit_ = to_the_end;
  const ItemPattern* open_pattern_ = nullptr;
  const ItemBlock* open_block_ = nullptr;
  std::int64_t open_from_ = 0;
  std::vector<ObjectId> moving_objects_;  // that the open iteration allocates or releases
  std::uint64_t iteration_span_ = 0;      // sequence numbers of one iteration

  std::vector<PatternTouches> pattern_touches_;  // by pattern: of one iteration, of several
  std::size_t known_touches_ = 0;                // in all of them
  const PatternTouches* known_block_ = nullptr;  // of the open block, if they are known
  std::size_t known_group_ = 0;                  // the next one
  PatternTouches* noted_ = nullptr;              // of the open block, if they are being noted
  std::uint64_t open_iterations_ = 0;
  bool in_stretches_ = false;

  KeptLines kept_;
  std::vector<LineTouch> touches_, left_out_;  // of the group in hand
  std::uint64_t combined_ = 0;
  TouchCombiner combiner_;
  std::array<Irregular, 64> recent_{};  // the last irregular accesses
  std::uint64_t irregular_count_ = 0, chain_start_ = 0, irregular_lines_ = 0;
  std::uint32_t deepest_ = 0;
  std::uint64_t sequence_base_ = 0;                               // accesses of earlier short blocks
  std::vector<std::pair<LineNumber, std::size_t>> last_address_;  // by run of short blocks: last line and its touch
};

}  // namespace homenode
