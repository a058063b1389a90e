// A trace file as a workload. Opening verifies every frame of the file and reads its tables; bodies are read when asked for.
// Whatever is wrong with the file, opening throws one InputError that names file and offset: nothing is guessed.
#pragma once

#include <filesystem>
#include <list>
#include <map>
#include <memory>
#include <mutex>

#include "sim/program/workload.hpp"
#include "traces/format/frame.hpp"
#include "traces/format/records.hpp"

namespace homenode {

class TraceFile : public Workload {
public:
  explicit TraceFile(const std::filesystem::path&);
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

private:
  friend void recover(const std::filesystem::path&, const std::filesystem::path&);
  TraceFile(const std::filesystem::path&, bool whole_frames_only);
  void load(bool whole_frames_only);
  void decode_table(const format::Frame&);
  void renumber(bool whole_frames_only);
  void validate() const;
  template <class Visit>
  void for_each_part(ExecutionId, Visit&&) const;

  format::FrameReader reader_;
  std::vector<std::string> strings_, record_names_;
  struct StoredExecution {
    Execution execution;
    ExecutionExtra extra;
    std::uint64_t order = 0;
    bool known = false;
  };
  std::vector<StoredExecution> stored_;             // by id in the file
  std::vector<std::uint32_t> file_id_;              // by execution in program order
  std::vector<std::vector<std::uint64_t>> frames_;  // by id in the file: offsets of the frames with its blocks
  std::map<RegionId, WorkRate> rates_;
  static constexpr std::size_t cached_bodies = 8;
  mutable std::mutex mutex_;
  mutable std::list<std::pair<ExecutionId, std::shared_ptr<const ExecutionBody>>> cache_;  // latest first
};

std::shared_ptr<Workload> open_trace(const std::filesystem::path&);

// Makes a trace of what a killed capture left in `part`, marked truncated: its whole frames, of each execution the iterations
// that arrived without a gap.
void recover(const std::filesystem::path& part, const std::filesystem::path& target);

}  // namespace homenode
