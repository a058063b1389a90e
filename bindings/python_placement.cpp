#include "bindings/python_placement.hpp"

#include <pybind11/numpy.h>

#include <cstddef>
#include <memory>

#include "bindings/mapped_pages.hpp"
#include "bindings/returned_arrays.hpp"
#include "bindings/returned_numbers.hpp"

namespace homenode::python {
namespace py = pybind11;

namespace {

// Fields of a struct as NumPy sees them. Ids are 32-bit numbers, a page and bytes 64-bit, a Time 64-bit picoseconds.
class Layout {
public:
  Layout& field(const char* name, const char* format, std::size_t offset) {
    names_.append(name);
    formats_.append(py::dtype(format));
    offsets_.append(offset);
    return *this;
  }
  py::dtype of(std::size_t size) const { return {names_, formats_, offsets_, static_cast<py::ssize_t>(size)}; }

private:
  py::list names_, formats_, offsets_;
};

py::dtype fault_layout() {
  static_assert(sizeof(ThreadId) == 4 && sizeof(Time) == 8 && sizeof(PageNumber) == 8 && sizeof(bool) == 1);
  constexpr auto place = offsetof(PageFault, place);
  return Layout{}
      .field("page", "u8", offsetof(PageFault, page))
      .field("object", "u4", offsetof(PageFault, object))
      .field("thread", "u4", place + offsetof(Place, thread))
      .field("core", "u4", place + offsetof(Place, core))
      .field("node", "u4", place + offsetof(Place, node))
      .field("time_ps", "i8", place + offsetof(Place, now))
      .field("write", "?", offsetof(PageFault, write))
      .field("pages", "u8", offsetof(PageFault, pages))
      .of(sizeof(PageFault));
}

py::dtype use_layout() {
  static_assert(sizeof(NodeId) == 4);
  return Layout{}
      .field("page", "u8", offsetof(PageUse, page))
      .field("home", "u4", offsetof(PageUse, home))
      .field("read_bytes", "u8", offsetof(PageUse, read_bytes))
      .field("written_bytes", "u8", offsetof(PageUse, written_bytes))
      .of(sizeof(PageUse));
}

// A copy, so that a policy that keeps the array keeps something valid.
template <class Row>
py::array array_of(const py::dtype& layout, std::span<const Row> rows) {
  return py::array(layout, {static_cast<py::ssize_t>(rows.size())}, {}, rows.data());
}

}  // namespace

void PythonPlacement::prepare(const AccessSummary*, const Machine& machine) {
  machine_ = machine;
  place_ = {};
  wakeup_ = std::nullopt;
}

void PythonPlacement::fault(std::span<const PageFault> faults, std::span<NodeId> home) {
  const py::gil_scoped_acquire gil;
  const std::string& who = policy_.who();
  if (!place_) place_ = policy_.made_for(machine_);
  const py::object result = call_user(who, [&] { return place_.get()(array_of(fault_layout(), faults)); });
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
  note_wakeup();
}

void PythonPlacement::observe(const Place& place, std::span<const PageUse> uses, PageActions& actions) {
  const py::gil_scoped_acquire gil;
  with_pages(actions, [&](const py::object& pages) { place_.get().attr("observe")(array_of(use_layout(), uses), tuple_of(place), pages); });
}

void PythonPlacement::wake(const Place& place, PageActions& actions) {
  const py::gil_scoped_acquire gil;
  wakeup_ = std::nullopt;
  with_pages(actions, [&](const py::object& pages) { place_.get().attr("wake")(tuple_of(place), pages); });
}

template <class Work>
void PythonPlacement::with_pages(PageActions& actions, const Work& work) {
  if (!place_) place_ = policy_.made_for(machine_);
  const auto pages = std::make_shared<MappedPages>(actions);
  const py::object held = py::cast(pages);
  try {
    call_user(policy_.who(), [&] { work(held); });
  } catch (...) {
    pages->end();
    throw;
  }
  pages->end();
  note_wakeup();
}

void PythonPlacement::note_wakeup() {
  if (!watching_.wakes) return;
  const py::object time = call_user(policy_.who(), [&] { return py::object(place_.get().attr("wakeup_ps")()); });
  if (time.is_none()) {
    wakeup_ = std::nullopt;
    return;
  }
  const std::optional<std::int64_t> number = whole_number_from(time);
  if (!number || *number < 0)
    throw PolicyError(policy_.who() + " wakes at " + std::string(py::repr(time)) + "; allowed: None, or simulated picoseconds");
  wakeup_ = Time::picoseconds(*number);
}

}  // namespace homenode::python
