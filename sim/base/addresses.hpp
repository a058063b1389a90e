// Addresses of the simulated virtual address space, and ranges of them.
#pragma once

#include <cstdint>

namespace homenode {

using LineNumber = std::uint64_t;  // address / line size

struct AddressRange {  // bytes [first, last)
  std::uint64_t first = 0, last = 0;
};

struct LineRange {
  LineNumber first = 0, last = 0;  // [first, last)
  std::uint64_t size() const { return last - first; }
};

}  // namespace homenode
