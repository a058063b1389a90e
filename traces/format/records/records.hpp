// The record types of trace schema version 1, and what a trace file keeps beyond sim/program/workload.hpp: no model reads it today.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/program/workload.hpp"

namespace homenode {

// Numbers are the file format: never reuse one.
enum class RecordType : std::uint16_t {
  meta = 1,
  string,
  site,
  thread,
  region,
  execution,
  item,
  segment,
  object,
  heap,
  run,
  stream,
  pattern,
  instance,
  sync,
  edge,
  mark,
  calibration,
  loss,
  index,
  footer,
  outside,
  code_block,
  code_window,
  code_count,
  code_host,
  measured_time,
  code_place
};
inline constexpr std::uint16_t last_record_type = static_cast<std::uint16_t>(RecordType::code_place);
const char* name_of(RecordType);

// A feature of this prefix names what the trace lacks, as sim/program/recorded.hpp calls it: "lacks:dependence".
inline constexpr std::string_view lacking_feature = "lacks:";

struct TraceMeta {
  std::string tool, compiler, compiler_flags, program, arguments;
  std::uint32_t capture_threads = 1;
  std::uint64_t page_size = 4096;
  std::vector<std::string> features;
  bool complete = true;
};

struct SiteExtra {
  SiteId inline_parent = SiteId::none();
};
struct ThreadExtra {
  std::uint64_t create_event = 0, join_event = 0;
};

// Which iteration of which execution; none() as execution = nobody.
struct ItemReference {
  ExecutionId execution = ExecutionId::none();
  std::int64_t iteration = 0;
  bool operator==(const ItemReference&) const = default;
};
struct ExecutionExtra {
  ItemReference parent;
};

// Where items come from, if not from the execution alone (tasks, thread bodies); of the block that starts at `first`.
struct ItemOrigin {
  std::int64_t first = 0;
  ItemReference parent;
  ThreadId creator = ThreadId::none();
  std::uint64_t first_sequence = 0;
  bool thread_body = false;
};

// A stretch of one iteration with its own work counts and cost class (e.g. "fp", "memory"; empty = the region's).
struct Segment {
  std::uint32_t ordinal = 0;
  WorkCounts work;
  std::string cost_class;
};

// How a region's counted work is spread over its iterations: by their accesses, or evenly where it accesses nothing.
struct WorkRate {
  WorkCounts per_access, per_iteration;
};

enum class EdgeKind : std::uint8_t { order, data, creation, join, match };
struct Edge {
  ItemReference predecessor, successor;
  EdgeKind kind{};
};

enum class MarkOperation : std::uint8_t { label, step, streamable, owner, thread_type };
struct Mark {
  ItemReference item;
  std::uint64_t sequence = 0;
  MarkOperation operation{};
  std::int64_t value = 0;
  ObjectId object = ObjectId::none();
  std::string text;
};

// Outside the content hash: it belongs to a host, not to the program.
struct Calibration {
  RegionId region = RegionId::none();  // or a cost class
  std::string cost_class;
  double cycles = 0, clock_hertz = 0;
  std::string host;
  bool measured = false;  // else assumed
};

// What the trace has of a call of code that was not instrumented.
enum class RecordedOfCall : std::uint8_t { nothing, accesses, heap };
// Where a number of instructions comes from (traces/capture/runtime/calls.c): counted in instrumented code; of sampled calls counted one
// by one; of sampled calls from their time; of calls that were counted up to some point; not known.
enum class InstructionBasis : std::uint8_t { counted, stepped, timed, at_least, none };

// Instructions that ran in a region, of the twin: in instrumented code (no function), or in all calls of one function outside of it.
// Outside the content hash: samples depend on the host.
struct RegionCode {
  RegionId region = RegionId::none();  // none: outside all regions
  std::string function, library;       // no library: the program's own file
  RecordedOfCall recorded = RecordedOfCall::nothing;
  InstructionBasis basis = InstructionBasis::counted;
  double calls = 0, instructions = 0;  // in all; fractions occur, for totals are spread over regions
  std::uint64_t samples = 0;           // calls of the function that were looked at, in the whole program
};

// Of the capture's host.
struct CodeHost {
  double hertz = 0;
};

}  // namespace homenode
