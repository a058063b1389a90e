// Where a mapping lets each thread of a trace run.
#include <pybind11/stl.h>

#include <string>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/machine_handle.hpp"
#include "models/mapping/register.hpp"
#include "sim/program/created_threads.hpp"

namespace homenode::python {
namespace py = pybind11;
using namespace pybind11::literals;

namespace {

std::vector<std::vector<unsigned>> affinities(const Workload& workload, const MachineHandle& handle, const std::string& name,
                                              unsigned threads) {
  const py::gil_scoped_release released;
  const Machine& machine = handle.file.machine;
  const auto mapping = thread_mappings().make(name);
  const auto graph = graph_for(*mapping, workload, name, threads);
  const CreatedThreads created = created_threads(workload);
  const bool by_place = !graph && created.any();  // as in a replay
  mapping->prepare(graph.get(), machine, by_place ? static_cast<unsigned>(created.at_once) : threads);
  std::vector<std::vector<unsigned>> result(threads);
  for (unsigned t = 0; t < threads; ++t)
    for (const CoreId core : mapping->affinity(ThreadId{by_place ? created.place.at(t) : t}, Time{})) result[t].push_back(core.value());
  return result;
}

}  // namespace

void bind_mapping(py::module_& module) { module.def("affinities", &affinities, "trace"_a, "machine"_a, "mapping"_a, "threads"_a); }

}  // namespace homenode::python
