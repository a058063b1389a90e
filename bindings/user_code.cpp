#include "bindings/user_code.hpp"

namespace homenode::python {
namespace py = pybind11;

void KeptObject::drop(PyObject* object) {
  if (object == nullptr || Py_IsInitialized() == 0) return;
  const py::gil_scoped_acquire gil;
  Py_DECREF(object);
}

void throw_as_ours(const std::string& who, py::error_already_set& error, MayRefuse may_refuse) {
  if (!error.matches(PyExc_Exception)) throw error;
  const std::string said = py::str(error.value());
  const auto errors = py::module_::import("homenode.errors");
  if (may_refuse == MayRefuse::yes && error.matches(errors.attr("UsageError"))) throw UsageError(said);
  // What the code asked of us and may not: it says itself what is wrong.
  if (error.matches(errors.attr("PolicyError"))) throw PythonPolicyError(said.starts_with(who) ? said : who + ": " + said, error);
  throw PythonPolicyError(who + " raised " + std::string(py::str(error.type().attr("__name__"))) + ": " + said, error);
}

}  // namespace homenode::python
