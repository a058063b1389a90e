// Arrays that the user's code returned, checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bindings/bindings.hpp"

namespace homenode::python {

// What was asked for, in the words of the error.
struct WantedIntegers {
  std::string who;                   // "placement 'pairs'"
  std::string of;                    // "a batch of 3 page faults"
  std::string allowed;               // "one node for each"
  std::string meaning;               // "the numbers of nodes"
  std::optional<std::size_t> count;  // so many; none: any number
};

// One-dimensional integers. Throws PolicyError. With the GIL.
std::vector<std::int64_t> integers_from(const pybind11::object& returned, const WantedIntegers& wanted);

}  // namespace homenode::python
