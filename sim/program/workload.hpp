// A program as the simulation sees it: regions are executed in order; an execution has logical iterations;
// the accesses of an iteration are runs on objects, independent of the thread that ran it and of where objects lay.
// Units: offsets, strides and widths in bytes; sequence numbers count accesses within one iteration from 0.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/base/ids.hpp"
#include "sim/program/code_cycles.hpp"
#include "sim/program/executed_code.hpp"
#include "sim/program/known_by_name.hpp"
#include "sim/program/number_column.hpp"
#include "sim/program/touch_lengths.hpp"

namespace homenode {

class ThreadGraph;

enum class AccessKind : std::uint8_t { read, write, read_modify_write, atomic };
enum class ObjectKind : std::uint8_t { heap, global, stack, thread_local_storage, mapped, unknown };
enum class RegionKind : std::uint8_t { serial, loop, task, section, single, thread };

// Who may run an iteration: any thread; or rank r of a team of T (code partitioned by omp_get_thread_num());
// or every thread of whatever team runs it (code of a parallel construct that never asks for its rank; one iteration).
enum class Binding : std::uint8_t { free, rank, replicated };

// An iteration names the objects it uses by slots, which its block binds to them.
using SlotNumber = std::uint32_t;
inline constexpr SlotNumber most_slots = (SlotNumber{1} << 24) - 1;  // of one iteration

struct RunDimension {
  std::uint32_t count = 1;
  std::int64_t stride = 0;            // bytes between two accesses along this dimension
  std::uint32_t sequence_stride = 0;  // accesses of the iteration between them
};

// count[0] x count[1] x ... accesses, dimension 0 innermost. The address of an access is
// base(slot) + offset + sum index[d] * stride[d]; its place in the iteration, sequence + sum index[d] * sequence_stride[d].
struct AccessRun {
  static constexpr unsigned max_dimensions = 4;
  SlotNumber slot = 0;      // which object binding of the block
  std::uint16_t width = 0;  // bytes of one access (bulk operations: bytes of the whole range, at most 64 an access)
  AccessKind kind = AccessKind::read;
  bool streamable = false;              // a store that may be non-temporal
  bool bulk = false;                    // memcpy, memset, calloc's zeroing ...
  std::uint8_t dimensions = 0;          // used entries of `dimension`; 0 = one access
  std::uint32_t producer_distance = 0;  // accesses back to the load that produced the address; 0 = independent
  SiteId site;
  std::int64_t offset = 0;
  std::uint64_t sequence = 0;
  std::array<RunDimension, max_dimensions> dimension{};

  std::uint64_t accesses() const {
    std::uint64_t product = 1;
    for (unsigned d = 0; d < dimensions; ++d) product *= dimension[d].count;
    return product;
  }
};

// Irregular accesses (gathers, chases, hash tables) in columns of equal length, in sequence order.
struct IrregularStream {
  SiteId site;
  AccessKind kind = AccessKind::read;
  std::uint16_t width = 0;
  NumberColumn<SlotNumber> slot;
  NumberColumn<std::int64_t> offset;
  NumberColumn<std::uint32_t> producer_distance;
  NumberColumn<std::uint64_t> sequence;
};

// Instructions of one iteration by class, from the uninstrumented twin (docs/tracing.md). Fractions occur: totals are spread over
// iterations.
struct WorkCounts {
  double instructions = 0, integer = 0, fp_add = 0, fp_multiply = 0, fp_fma = 0, divide = 0, load = 0, store = 0, branch = 0;
  WorkCounts& operator+=(const WorkCounts&);
  WorkCounts scaled(double factor) const;
};

enum class HeapOperation : std::uint8_t { allocate, release, reallocate, map, unmap };
struct HeapEvent {
  std::uint64_t sequence = 0;
  HeapOperation operation{};
  SlotNumber slot = 0;
  bool zeroed = false;
};

enum class SyncOperation : std::uint8_t {
  lock,
  try_lock,
  unlock,
  wait,
  signal,
  broadcast,
  barrier,
  create,
  join,
  task_submit,
  task_wait,
  depend,
  critical_enter,
  critical_leave,
  ordered_enter,
  ordered_leave,
  atomic_wait,
  task_group_begin,
  task_group_end
};
struct SyncEvent {
  std::uint64_t sequence = 0;
  SyncOperation operation{};
  std::uint64_t object = 0;
  std::uint64_t match = 0;
};

// What one iteration does, up to the objects it does it on.
struct ItemPattern {
  SlotNumber slots = 0;
  std::uint64_t accesses = 0, reads = 0, writes = 0;  // of one iteration; read_modify_write and atomic count as both, once as an access
  WorkCounts work;
  std::vector<AccessRun> runs;  // by sequence
  std::vector<IrregularStream> streams;
  std::vector<HeapEvent> heap_events;  // by sequence
  std::vector<SyncEvent> sync_events;  // by sequence
};

struct SlotBinding {
  ObjectId object;
  std::int64_t base = 0;   // byte offset in the object at the block's first iteration
  std::int64_t shift = 0;  // added each iteration
};

// Iterations [first, last) that follow one pattern: iteration k binds slot s to object at base + (k - first) * shift.
struct ItemBlock {
  std::int64_t first = 0, last = 0;
  PatternId pattern;
  std::vector<SlotBinding> slots;
};

struct ExecutionBody {
  std::vector<ItemBlock> blocks;  // by first; no gaps, no overlaps
};

struct Execution {
  RegionId region;
  std::uint32_t ordinal = 0;  // of this region, from 0
  // Of serial code and of created threads: the parts of what one thread does, in order; mostly 1.
  std::int64_t iterations = 0;  // for Binding::rank: the team size, iteration r = rank r; for replicated: 1
  Binding binding = Binding::free;
  std::uint32_t team = 1;      // threads at capture
  std::uint32_t parallel = 0;  // serial number of the parallel construct it runs in; executions of one share a team; 0 = none
  bool barrier_after = false;  // false for nowait
  std::int64_t step = -1;      // program-marked step, -1 = none
  std::uint64_t accesses = 0, reads = 0, writes = 0;
};

struct LoopDimension {
  std::int64_t low = 0, high = 0, step = 1;
};

struct Region {
  RegionKind kind = RegionKind::serial;
  std::string label;  // marked in the program, else function#ordinal
  SiteId site;
  std::vector<LoopDimension> dimensions;
  bool nowait = false, ordered = false, reduction = false;
  std::string schedule_clause;  // the program's own, e.g. "static,1"; empty = none
};

struct TracedObject {
  ObjectKind kind = ObjectKind::unknown;
  bool thread_private = false;  // belongs to the executing thread (its stack), whichever that is
  std::uint64_t bytes = 0;
  std::uint64_t alignment = 1;
  SiteId site;
  std::string symbol;  // global's name, frame's function, or "file:line" of the allocation
  ObjectId reallocated_from = ObjectId::none();
  std::int32_t owner_hint = -1;  // rank marked as owner, -1 = none
};

struct Site {
  std::uint64_t pc = 0;
  std::string file;
  std::uint32_t line = 0;
  std::string function;
};

struct TracedThread {
  ThreadId parent = ThreadId::none();
  std::string routine;
  std::int32_t rank = 0;
};

struct Loss {
  SiteId site;
  std::string reason;
  std::uint64_t count = 0;
};

// A trace without the bodies of its executions. These are loaded when they are needed, so that memory does not grow with the
// length of a run.
class Workload {
public:
  virtual ~Workload() = default;

  std::string program, compiler, arguments, content_hash;
  bool complete = true;
  std::uint64_t page_size = 4096;
  std::vector<TracedObject> objects;
  std::vector<Region> regions;
  std::vector<Execution> executions;  // program order
  std::vector<ItemPattern> patterns;
  std::vector<Site> sites;
  std::vector<TracedThread> threads;
  std::vector<Loss> losses;
  ExecutedCode executed;                    // empty: nobody kept it
  KnownByName<CodeCycles> code_cycles;      // of `executed`, by core
  KnownByName<TouchLengths> touch_lengths;  // by what cuts touches
  LastKnown traffic_table;                  // of the closed form, by what its machine looks like to it
  KnownByName<ThreadGraph> thread_graphs;   // by team
  std::vector<std::string> lacks;           // parts that the tool did not record: names of sim/program/recorded.hpp

  // Shared and immutable; safe to call from several threads.
  virtual std::shared_ptr<const ExecutionBody> body(ExecutionId) const = 0;
};

// A contiguous range of iterations of one execution.
struct ItemRange {
  ExecutionId execution;
  std::int64_t first = 0, last = 0;
  std::int64_t size() const { return last - first; }
  bool operator==(const ItemRange&) const = default;
};

}  // namespace homenode
