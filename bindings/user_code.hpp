// Code of the user's, in Python, that C++ calls: objects kept by threads that do not hold the GIL, exceptions as errors of ours.
#pragma once

#include <compare>
#include <memory>
#include <string>

#include "bindings/bindings.hpp"

namespace homenode::python {

// A Python object that threads without the GIL may copy and drop, also when the interpreter has ended.
class KeptObject {
public:
  KeptObject() = default;
  explicit KeptObject(pybind11::object object) : object_{object.release().ptr(), &drop} {}
  explicit operator bool() const { return object_ != nullptr; }
  pybind11::object get() const { return pybind11::reinterpret_borrow<pybind11::object>(object_.get()); }  // with the GIL
  auto operator<=>(const KeptObject&) const = default;                                                    // by identity

private:
  static void drop(PyObject* object);
  std::shared_ptr<PyObject> object_;
};

// Whether the code may refuse what it is asked for, by a hn.errors.UsageError of its own.
enum class MayRefuse { no, yes };

// An exception of the code as PythonPolicyError; KeyboardInterrupt and SystemExit, which are no fault of it, as they are. `who`:
// "placement 'pairs'".
[[noreturn]] void throw_as_ours(const std::string& who, pybind11::error_already_set& error, MayRefuse may_refuse);

// What `work` returns, which calls the user's code. With the GIL.
template <class Work>
auto call_user(const std::string& who, const Work& work, MayRefuse may_refuse = MayRefuse::no) {
  try {
    return work();
  } catch (pybind11::error_already_set& error) { throw_as_ours(who, error, may_refuse); }
}

}  // namespace homenode::python
