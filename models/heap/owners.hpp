// The thread that uses each block most, where no mark says whose it is.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/program/workload.hpp"

namespace homenode {

enum class OwnerRule : std::uint8_t { marked, inferred, caller };

// By object: the thread with the most accesses if each loop's iterations are divided in equal parts in order (a static schedule), of
// equal ones the lowest; -1 for objects that nothing uses. Code outside parallel constructs is thread 0's; singles, which anyone may run,
// as well.
std::vector<std::int32_t> owners_by_use(const Workload&, std::size_t threads);

}  // namespace homenode
