// The accesses of an imported trace one by one and in their order, to compare an import with its input.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/program/workload.hpp"

namespace homenode {

struct UnfoldedAccess {
  std::uint64_t address = 0;  // where it was: importers keep each object's address in its site
  std::uint64_t site = 0;     // address of the instruction, 0 = not known
  std::uint16_t width = 0;
  AccessKind kind = AccessKind::read;
  bool operator==(const UnfoldedAccess&) const = default;
};

// Of one iteration. Memory grows with its accesses.
std::vector<UnfoldedAccess> unfold(const Workload&, ExecutionId, std::int64_t iteration);

}  // namespace homenode
