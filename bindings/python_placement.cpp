#include "bindings/python_placement.hpp"

#include <pybind11/numpy.h>

#include <cstddef>

namespace homenode::python {
namespace py = pybind11;

namespace {

// The layout of sim's PageFault as NumPy sees it. Ids are 32-bit numbers, a page 64-bit, a Time 64-bit picoseconds.
py::dtype fault_layout() {
  static_assert(sizeof(ThreadId) == 4 && sizeof(Time) == 8 && sizeof(PageNumber) == 8 && sizeof(bool) == 1);
  constexpr auto place = offsetof(PageFault, place);
  py::list names, formats, offsets;
  const auto field = [&](const char* name, const char* format, std::size_t offset) {
    names.append(name);
    formats.append(py::dtype(format));
    offsets.append(offset);
  };
  field("page", "u8", offsetof(PageFault, page));
  field("object", "u4", offsetof(PageFault, object));
  field("thread", "u4", place + offsetof(Place, thread));
  field("core", "u4", place + offsetof(Place, core));
  field("node", "u4", place + offsetof(Place, node));
  field("time_ps", "i8", place + offsetof(Place, now));
  field("write", "?", offsetof(PageFault, write));
  return py::dtype(names, formats, offsets, sizeof(PageFault));
}

}  // namespace

void PythonPlacement::prepare(const AccessSummary*, const Machine& machine) {
  has_memory_.clear();
  for (const NodeDescription& node : machine.nodes) has_memory_.push_back(node.memory > Bytes{0});
}

void PythonPlacement::fault(std::span<const PageFault> faults, std::span<NodeId> home) {
  const py::gil_scoped_acquire gil;
  const std::string where = "placement '" + name_ + "' ";
  py::array result;
  try {
    // A copy, so that a policy that keeps the array keeps something valid.
    const py::array batch(fault_layout(), {static_cast<py::ssize_t>(faults.size())}, {}, faults.data());
    result = py::array::ensure(place_(batch));
    if (!result) throw py::error_already_set();
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_Exception)) throw;  // KeyboardInterrupt, SystemExit: no fault of the policy
    throw PythonPolicyError(
        where + "raised " + std::string(py::str(error.type().attr("__name__"))) + ": " + std::string(py::str(error.value())), error);
  }
  if (result.ndim() != 1 || result.shape(0) != static_cast<py::ssize_t>(faults.size())) {
    throw PolicyError(where + "returned an array of shape " + std::string(py::str(result.attr("shape"))) + " for a batch of " +
                      std::to_string(faults.size()) + " page faults; allowed: one node for each");
  }
  const char kind = result.dtype().kind();
  if (kind != 'i' && kind != 'u') {
    throw PolicyError(where + "returned values of type " + std::string(py::str(result.dtype())) +
                      "; allowed: integers, the numbers of nodes");
  }
  const auto nodes = py::array_t<std::int64_t, py::array::c_style | py::array::forcecast>::ensure(result);
  const auto values = nodes.unchecked<1>();
  for (std::size_t i = 0; i < faults.size(); ++i) {
    const std::int64_t node = values(static_cast<py::ssize_t>(i));
    if (node < 0 || node >= static_cast<std::int64_t>(has_memory_.size()) || !has_memory_[static_cast<std::size_t>(node)]) {
      throw PolicyError(where + "placed page " + std::to_string(faults[i].page.value()) + " on node " + std::to_string(node) +
                        "; allowed: nodes with memory, of 0 to " + std::to_string(has_memory_.size() - 1));
    }
    home[i] = NodeId{static_cast<std::size_t>(node)};
  }
}

}  // namespace homenode::python
