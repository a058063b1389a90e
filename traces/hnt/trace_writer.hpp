// Writes a .hnt file: frames of zstd-compressed records, each with a checksum, an index at the end. Tables go out in the order
// in which executions need them, so that a file whose writer was killed can be recovered to its last whole frame.
// Written to PATH.part and renamed by finish().
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "sim/workload.hpp"

namespace homenode {

class TraceWriter {
public:
  // Throws InputError when the file cannot be created.
  explicit TraceWriter(std::filesystem::path);
  ~TraceWriter();  // without finish(): the .part file is removed
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;

  // The next execution in program order. Tables of `workload` that it refers to (objects, regions, sites, patterns) may only
  // have grown since the last call.
  void add(const Workload& workload, const Execution&, const ExecutionBody&);
  // Rest of the tables, metadata, index; renames. Returns the content hash.
  std::string finish(const Workload& workload);

private:
  struct State;
  std::unique_ptr<State> state_;
};

// Writes a whole workload; returns its content hash.
std::string write_trace(const Workload&, const std::filesystem::path&);

}  // namespace homenode
