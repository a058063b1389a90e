// Writes a trace in one pass. Memory does not grow with its length: bodies go to the file block by block, and several executions may
// be open at once. Tables (objects, regions ...) are small: they are written as they grow, and again at the end.
// Until finish() the file is called TARGET.part and consists of whole frames, from which recover() makes a truncated trace. A target
// that itself ends in .part keeps that name, and the caller renames it.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "sim/program/workload.hpp"
#include "traces/format/records/records.hpp"

namespace homenode {

class TraceWriter {
public:
  explicit TraceWriter(std::filesystem::path target);
  ~TraceWriter();

  void meta(const TraceMeta&);
  SiteId add(const Site&, const SiteExtra& = {});
  ThreadId add(const TracedThread&, const ThreadExtra& = {});
  RegionId add(const Region&);
  ObjectId add(const TracedObject&);
  // What becomes known later: lines, labels, symbols of heap objects, owners. The fields that identify an object stay.
  void update(SiteId, const Site&);
  void update(RegionId, const Region&);
  void update(ObjectId, const TracedObject&);
  // The same pattern of one region is stored once.
  PatternId add(RegionId, const ItemPattern&, const std::vector<Segment>& = {});

  // An execution is known by the returned id while it is written; its place in program order comes from `order`.
  ExecutionId open_execution(RegionId, std::uint64_t order);
  // Blocks in the order of their iterations, without gaps.
  void append(ExecutionId, ItemBlock);
  void origin(ExecutionId, const ItemOrigin&);
  // Its counts are computed from its blocks; region and ordinal are known.
  void close_execution(ExecutionId, const Execution&, const ExecutionExtra& = {});
  const Execution& execution(ExecutionId) const;

  void add(const Loss&);
  void add(const Edge&);
  void add(const Mark&);
  void add(const Calibration&);
  void add(const RegionCode&);
  void add(const ExecutedCode&);
  // Added to the work of the region's patterns in proportion to their accesses.
  void work_rate(RegionId, const WorkRate&);

  // What has come so far goes to the file in whole frames, for recover(). The content hash does not depend on it.
  void flush();
  // Closes what is open, writes tables, index and footer, renames. Returns the content hash.
  std::string finish(bool complete);
  std::uint64_t bytes() const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

// The loss by which a truncated trace says why it ends: its reason is "truncated: " and `why`.
inline constexpr std::string_view truncation_prefix = "truncated: ";
Loss truncation(const std::string& why);

// Writes any workload: what is read back has the same content hash.
std::string write_trace(const std::filesystem::path& target, const Workload&);

}  // namespace homenode
