// Faults of one thread, at one time, on pages of one object that follow each other.
#pragma once

#include <cstdint>

#include "sim/policy/page_placement.hpp"

namespace homenode {

struct FaultRun {
  PageFault first;
  std::uint64_t count = 1;  // faults, each of as many pages as the first one

  std::uint64_t pages() const { return count * first.pages; }
  PageFault fault(std::uint64_t n) const {
    PageFault fault = first;
    fault.page += n * first.pages;
    fault.offset += static_cast<std::int64_t>(n * first.bytes);
    return fault;
  }
  FaultRun part(std::uint64_t from, std::uint64_t faults) const { return {fault(from), faults}; }
};

}  // namespace homenode
