// Numbers and times that the user's code returned, checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "bindings/bindings.hpp"
#include "sim/base/units.hpp"

namespace homenode::python {

// A time of a number of nanoseconds. Throws PolicyError for one that no call can take. `who`: "heap 'mine'".
Time time_of(const std::string& who, double nanoseconds);

// A whole number; none for what is none, or has more than 64 bits. With the GIL.
std::optional<std::int64_t> whole_number_from(const pybind11::object& number);

// A time of a Python number of nanoseconds. With the GIL.
Time time_from(const std::string& who, const pybind11::object& nanoseconds);

}  // namespace homenode::python
