#include "bindings/python_mapping.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include "bindings/returned_arrays.hpp"
#include "sim/program/thread_graph.hpp"

namespace homenode::python {
namespace py = pybind11;
using namespace pybind11::literals;

namespace {

template <class Number>
py::array_t<Number> array_of(const std::vector<Number>& values) {
  return py::array_t<Number>(static_cast<py::ssize_t>(values.size()), values.data());
}

// Columns: of threads, and of the pairs of a writer and a reader.
py::dict arrays_of(const ThreadGraph& graph) {
  std::vector<std::int64_t> parent;
  std::vector<std::uint64_t> accesses, read, written, writer, reader, shared, dependent;
  std::vector<std::string> routines;
  for (std::size_t t = 0; t < graph.threads.size(); ++t) {
    const ThreadGraph::Thread& thread = graph.threads[t];
    parent.push_back(thread.parent.is_none() ? -1 : static_cast<std::int64_t>(thread.parent.value()));
    accesses.push_back(thread.accesses);
    read.push_back(thread.read_bytes);
    written.push_back(thread.written_bytes);
    routines.push_back(thread.routine);
    for (const ThreadGraph::Partner& partner : graph.partners(ThreadId{t})) {
      const std::size_t writes = t < partner.thread.index() ? 0 : 1;
      if (partner.bytes.shared[writes] + partner.bytes.dependent[writes] == 0) continue;
      writer.push_back(t);
      reader.push_back(partner.thread.value());
      shared.push_back(partner.bytes.shared[writes]);
      dependent.push_back(partner.bytes.dependent[writes]);
    }
  }
  return py::dict("parent"_a = array_of(parent), "accesses"_a = array_of(accesses), "read_bytes"_a = array_of(read),
                  "written_bytes"_a = array_of(written), "routine"_a = routines, "writer"_a = array_of(writer),
                  "reader"_a = array_of(reader), "shared"_a = array_of(shared), "dependent"_a = array_of(dependent));
}

// From a table of truth values.
std::vector<std::vector<CoreId>> chosen_cores(const std::string& who, const py::array& table, std::size_t threads, std::size_t cores) {
  if (static_cast<std::size_t>(table.shape(0)) != threads || static_cast<std::size_t>(table.shape(1)) != cores)
    throw PolicyError(who + " returned a table of shape " + std::string(py::str(table.attr("shape"))) + "; allowed: a row for each of " +
                      std::to_string(threads) + " threads, a column for each of " + std::to_string(cores) + " cores");
  const auto allowed = py::array_t<bool, py::array::c_style | py::array::forcecast>::ensure(table);
  const auto values = allowed.unchecked<2>();
  std::vector<std::vector<CoreId>> result(threads);
  for (std::size_t t = 0; t < threads; ++t) {
    for (std::size_t core = 0; core < cores; ++core)
      if (values(static_cast<py::ssize_t>(t), static_cast<py::ssize_t>(core))) result[t].emplace_back(core);
    if (result[t].empty()) throw PolicyError(who + " allows thread " + std::to_string(t) + " no core; allowed: one at least");
  }
  return result;
}

std::vector<std::vector<CoreId>> pinned(const std::string& who, const py::object& returned, std::size_t threads, std::size_t cores) {
  const std::vector<std::int64_t> numbers =
      integers_from(returned, {.who = who,
                               .of = std::to_string(threads) + " threads",
                               .allowed = "one core for each, or a table of truth values, a row a thread and a column a core",
                               .meaning = "the numbers of cores",
                               .count = threads});
  std::vector<std::vector<CoreId>> result;
  for (std::size_t t = 0; t < threads; ++t) {
    if (numbers[t] < 0 || numbers[t] >= static_cast<std::int64_t>(cores))
      throw PolicyError(who + " put thread " + std::to_string(t) + " on core " + std::to_string(numbers[t]) + "; allowed: 0 to " +
                        std::to_string(cores - 1));
    result.push_back({CoreId{static_cast<std::size_t>(numbers[t])}});
  }
  return result;
}

}  // namespace

void PythonMapping::prepare(const ThreadGraph* graph, const Machine& machine, std::size_t threads) {
  const std::string& who = policy_.who();
  if (wants_graph_ && (graph == nullptr || graph->threads.size() != threads))
    throw UsageError(who + " needs the graph of the " + std::to_string(threads) + " threads that run; found " +
                     (graph == nullptr ? "none" : "one of " + std::to_string(graph->threads.size())));
  const py::gil_scoped_acquire gil;
  const py::object map = policy_.made_for(machine).get();
  const py::object returned = call_user(
      who, [&] { return map(threads, wants_graph_ ? py::object(arrays_of(*graph)) : py::object(py::none())); }, MayRefuse::yes);
  const py::array table = py::array::ensure(returned);
  if (!table) PyErr_Clear();
  const bool is_table = table && table.ndim() == 2 && table.dtype().kind() == 'b';
  cores_ = is_table ? chosen_cores(who, table, threads, machine.cores()) : pinned(who, returned, threads, machine.cores());
}

}  // namespace homenode::python
