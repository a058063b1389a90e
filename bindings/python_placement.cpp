#include "bindings/python_placement.hpp"

#include <pybind11/numpy.h>

#include <cstddef>

#include "bindings/returned_arrays.hpp"

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
  field("pages", "u8", offsetof(PageFault, pages));
  return py::dtype(names, formats, offsets, sizeof(PageFault));
}

}  // namespace

void PythonPlacement::prepare(const AccessSummary*, const Machine& machine) {
  machine_ = machine;
  place_ = {};
}

void PythonPlacement::fault(std::span<const PageFault> faults, std::span<NodeId> home) {
  const py::gil_scoped_acquire gil;
  const std::string& who = policy_.who();
  if (!place_) place_ = policy_.made_for(machine_);
  const py::object result = call_user(who, [&] {
    // A copy, so that a policy that keeps the array keeps something valid.
    return place_.get()(py::array(fault_layout(), {static_cast<py::ssize_t>(faults.size())}, {}, faults.data()));
  });
  const std::vector<std::int64_t> nodes = integers_from(result, {.who = who,
                                                                 .of = "a batch of " + std::to_string(faults.size()) + " page faults",
                                                                 .allowed = "one node for each",
                                                                 .meaning = "the numbers of nodes",
                                                                 .count = faults.size()});
  const std::vector<NodeDescription>& described = machine_.nodes;
  for (std::size_t i = 0; i < faults.size(); ++i) {
    const auto node = static_cast<std::size_t>(nodes[i]);
    if (nodes[i] < 0 || node >= described.size() || described[node].memory <= Bytes{0})
      throw PolicyError(who + " placed page " + std::to_string(faults[i].page.value()) + " on node " + std::to_string(nodes[i]) +
                        "; allowed: nodes with memory, of 0 to " + std::to_string(described.size() - 1));
    home[i] = NodeId{node};
  }
}

}  // namespace homenode::python
