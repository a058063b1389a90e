// The only place where a C++ error becomes a Python one: the class of sim/base/errors.hpp to its twin in homenode/errors.py.
#include <filesystem>

#include "bindings/bindings.hpp"
#include "sim/base/text.hpp"

namespace homenode::python {
namespace py = pybind11;

namespace {

void raise(const char* name, const Error& error) {
  const py::object type = py::module_::import("homenode.errors").attr(name);
  // A message may hold a file's name, whose bytes need not be UTF-8.
  py::set_error(type, valid_utf8(error.what()).c_str());
}

void raise_with_cause(const PythonPolicyError& error) {
  const py::object type = py::module_::import("homenode.errors").attr("PolicyError");
  py::error_already_set original = *error.cause;
  py::raise_from(original, type.ptr(), valid_utf8(error.what()).c_str());
}

}  // namespace

void translate_exceptions() {
  py::register_exception_translator([](std::exception_ptr pointer) {
    if (!pointer) return;
    try {
      std::rethrow_exception(pointer);
    } catch (const PythonPolicyError& error) { raise_with_cause(error); } catch (const UnitError& error) {
      raise("UnitError", error);
    } catch (const InputError& error) { raise("InputError", error); } catch (const UsageError& error) {
      raise("UsageError", error);
    } catch (const PolicyError& error) { raise("PolicyError", error); } catch (const DeadlockError& error) {
      raise("DeadlockError", error);
    } catch (const Error& error) { raise("Error", error); } catch (const std::filesystem::filesystem_error& error) {
      raise("InputError", InputError(error.what()));
    }
  });
}

}  // namespace homenode::python
