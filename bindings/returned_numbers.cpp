#include "bindings/returned_numbers.hpp"

namespace homenode::python {
namespace py = pybind11;

namespace {

constexpr double longest_ns = 1e15;

[[noreturn]] void refuse(const std::string& who, const std::string& found) {
  throw PolicyError(who + " says that a call takes " + found + " ns; allowed: a number, 0 to 1e15");
}

}  // namespace

Time time_of(const std::string& who, double nanoseconds) {
  if (!(nanoseconds >= 0 && nanoseconds <= longest_ns)) refuse(who, std::to_string(nanoseconds));
  return Time::nanoseconds(nanoseconds);
}

std::optional<std::int64_t> whole_number_from(const py::object& number) {
  if (PyIndex_Check(number.ptr()) == 0 || py::isinstance<py::bool_>(number)) return std::nullopt;
  const auto index = py::reinterpret_steal<py::object>(PyNumber_Index(number.ptr()));
  const std::int64_t value = index ? PyLong_AsLongLong(index.ptr()) : 0;
  if (PyErr_Occurred() == nullptr) return value;
  PyErr_Clear();
  return std::nullopt;
}

Time time_from(const std::string& who, const py::object& nanoseconds) {
  const double value = PyFloat_AsDouble(nanoseconds.ptr());
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    refuse(who, py::repr(nanoseconds));
  }
  return time_of(who, value);
}

}  // namespace homenode::python
