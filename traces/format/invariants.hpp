// Whether a workload holds together. What is refused here is never replayed: TraceFile runs it part by part as it loads them.
#pragma once

#include <string>
#include <vector>

#include "sim/program/workload.hpp"
#include "traces/format/block_extents.hpp"

namespace homenode {

// Keeps one line for each broken invariant, at most 100. Not for use by several threads at once.
class InvariantChecker {
public:
  explicit InvariantChecker(const Workload& workload) : workload_{workload}, extents_{workload} {}
  void check_pattern(std::size_t number);
  void check_execution(std::size_t number, const ExecutionBody&);
  const std::vector<std::string>& problems() const { return problems_; }

private:
  void report(const std::string& text);
  std::uint64_t check_run(const AccessRun&, const ItemPattern&, std::uint64_t last);
  void check_stream(const IrregularStream&, const ItemPattern&);
  void check_sum(const char* what, std::uint64_t said, std::uint64_t found);
  void check_bounds(const ItemBlock&);

  const Workload& workload_;
  BlockExtents extents_;
  std::string where_;
  std::vector<std::string> problems_;
};

// All of it: blocks that leave out or repeat an iteration, references to what does not exist, accesses outside of their object,
// sequence numbers out of order, sums that differ from their parts; and invariants_of_tasks.hpp.
std::vector<std::string> broken_invariants(const Workload&);

}  // namespace homenode
