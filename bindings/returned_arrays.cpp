#include "bindings/returned_arrays.hpp"

#include <pybind11/numpy.h>

#include "bindings/user_code.hpp"

namespace homenode::python {
namespace py = pybind11;

std::vector<std::int64_t> integers_from(const py::object& returned, const WantedIntegers& wanted) {
  const py::array values = call_user(wanted.who, [&] {
    py::array made = py::array::ensure(returned);
    if (!made) throw py::error_already_set();
    return made;
  });
  if (values.ndim() != 1 || (wanted.count && static_cast<std::size_t>(values.shape(0)) != *wanted.count))
    throw PolicyError(wanted.who + " returned an array of shape " + std::string(py::str(values.attr("shape"))) + " for " + wanted.of +
                      "; allowed: " + wanted.allowed);
  const char kind = values.dtype().kind();
  if (values.size() > 0 && kind != 'i' && kind != 'u') {
    // What a policy is given is unsigned in part, and NumPy makes a float of that and a signed integer.
    const char* hint = kind == 'f' ? " (NumPy makes float64 of uint64 and int64: .astype('int64'))" : "";
    throw PolicyError(wanted.who + " returned values of type " + std::string(py::str(values.dtype())) + hint + "; allowed: integers, " +
                      wanted.meaning);
  }
  const auto numbers = py::array_t<std::int64_t, py::array::c_style | py::array::forcecast>::ensure(values);
  return {numbers.data(), numbers.data() + numbers.size()};
}

}  // namespace homenode::python
