// Policies of shared libraries outside of the tree (sim/policy/extension.hpp).
#include <dlfcn.h>

#include "bindings/bindings.hpp"
#include "models/distribution/register.hpp"
#include "models/heap/register.hpp"
#include "models/mapping/register.hpp"
#include "models/placement/register.hpp"
#include "sim/policy/extension.hpp"

namespace homenode::python {
namespace py = pybind11;
using namespace pybind11::literals;

namespace {

std::string reason_of_dl() {
  const char* said = dlerror();
  return said != nullptr ? said : "no reason is told";
}

// `path` has a slash. The library stays loaded: policies of it may be in use.
void load_library(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw InputError("'" + path + "' cannot be loaded: " + reason_of_dl());
  const auto interface = reinterpret_cast<const char* (*)()>(dlsym(library, "homenode_interface"));
  const auto enter = reinterpret_cast<void (*)(PolicyRegistries&)>(dlsym(library, "homenode_register"));
  if (interface == nullptr || enter == nullptr)
    throw InputError("'" + path + "' registers no policies; allowed: a library that homenode_add_policy of homenode's CMake package built");
  if (const std::string found = interface(); found != HOMENODE_INTERFACE)
    throw InputError("'" + path + "' was built for another homenode: found '" + found +
                     "'; allowed: '" HOMENODE_INTERFACE "'; build it again with this homenode and its compiler");
  PolicyRegistries registries{page_placements(), thread_mappings(), work_distributions(), heap_managers()};
  enter(registries);
}

}  // namespace

void bind_extensions(py::module_& module) {
  module.attr("interface") = HOMENODE_INTERFACE;
  module.def("load_library", &load_library, "path"_a);
}

}  // namespace homenode::python
