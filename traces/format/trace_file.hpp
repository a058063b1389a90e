// A trace file as a workload. Opening verifies every frame of the file and reads its tables. A body is read when it is asked for.
// Whatever breaks a rule is refused with an InputError that names the file and, of damage, the offset: nothing is guessed. Names are UTF-8:
// bytes that are none are read as escapes (sim/base/text.hpp).
#pragma once

#include <filesystem>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "sim/program/workload.hpp"
#include "traces/format/frame.hpp"
#include "traces/format/invariants.hpp"
#include "traces/format/records/codec.hpp"

namespace homenode {

// Which rules are held to while reading. With `references` only those that the reader itself rests on, for who looks for what else is
// broken (broken_invariants); with `all`, which every replay has, a pattern or body that breaks an invariant is refused.
enum class TraceRules { all, references };

class TraceFile : public Workload {
public:
  explicit TraceFile(const std::filesystem::path&, TraceRules = TraceRules::all);
  std::shared_ptr<const ExecutionBody> body(ExecutionId) const override;
  // Of the iterations that have one.
  std::vector<ItemOrigin> origins(ExecutionId) const;
  std::uint64_t file_bytes() const { return reader_.file_bytes(); }

  TraceMeta meta;
  std::vector<SiteExtra> site_extras;            // by site
  std::vector<ThreadExtra> thread_extras;        // by thread
  std::vector<ExecutionExtra> execution_extras;  // by execution
  std::vector<std::vector<Segment>> segments;    // by pattern
  std::vector<RegionId> pattern_regions;         // by pattern
  std::vector<Edge> edges;
  std::vector<Mark> marks;
  std::vector<Calibration> calibrations;
  std::vector<RegionCode> code;  // by region and function; empty in traces that no twin belongs to

private:
  friend void recover(const std::filesystem::path&, const std::filesystem::path&);
  TraceFile(const std::filesystem::path&, TraceRules, bool whole_frames_only);
  void load(bool whole_frames_only);
  class Taker;
  void take_records(const format::Frame&);
  void renumber(bool whole_frames_only);
  void validate() const;
  void check_code() const;
  void refuse_problem(const std::string&) const;
  template <class Visit>
  void for_each_part(ExecutionId, Visit&&) const;

  std::filesystem::path path_;
  format::FrameReader reader_;
  TraceRules rules_;
  std::vector<std::string> strings_, record_names_;
  std::vector<std::optional<format::StoredExecution>> stored_;  // by id in the file
  std::vector<std::uint32_t> file_id_;                          // by execution in program order
  std::vector<format::FrameOffsets> frames_;                    // by id in the file: of the frames with its blocks
  std::map<RegionId, WorkRate> rates_;
  mutable std::mutex checking_;
  mutable InvariantChecker checker_{*this};
  // Small bodies (serial code between loops) are kept beside the others, which they would push out.
  static constexpr std::size_t cached_bodies = 8, cached_small_bodies = 64, small_body = 4096;  // slots
  struct CachedBody {
    ExecutionId execution;
    std::shared_ptr<const ExecutionBody> body;
    bool small = false;
  };
  mutable std::mutex mutex_;
  mutable std::list<CachedBody> cache_;  // latest first
};

std::shared_ptr<Workload> open_trace(const std::filesystem::path&);

// Makes a trace of what a killed capture left in `part`: its whole frames, and of each execution the iterations up to the first gap.
// The trace is marked truncated.
void recover(const std::filesystem::path& part, const std::filesystem::path& target);

}  // namespace homenode
