#include "bindings/asked_chunks.hpp"

#include "bindings/returned_numbers.hpp"

namespace homenode::python {
namespace py = pybind11;

namespace {

// (first, last) or (first, last, overhead_ns).
struct Answer {
  std::int64_t first = 0, last = 0;
  Time overhead;
};

Answer answer_from(const std::string& who, const py::object& given) {
  const std::size_t size = py::isinstance<py::tuple>(given) || py::isinstance<py::list>(given) ? py::len(given) : 0;
  if (size == 2 || size == 3) {
    const auto parts = py::reinterpret_borrow<py::sequence>(given);
    const auto first = whole_number_from(parts[0]), last = whole_number_from(parts[1]);
    if (first && last) return {*first, *last, size == 3 ? time_from(who, parts[2]) : Time{}};
  }
  throw PolicyError(who + " handed out " + std::string(py::repr(given)) +
                    "; allowed: (first, last), (first, last, overhead_ns), or None for a thread that is done");
}

}  // namespace

AskedChunks::AskedChunks(std::string who, const py::object& answer, ExecutionId execution, std::int64_t iterations)
    : who_{std::move(who)},
      next_{answer.attr("next")},
      complete_{py::hasattr(answer, "complete") ? KeptObject{answer.attr("complete")} : KeptObject{}},
      execution_{execution},
      handed_out_(static_cast<std::size_t>(iterations), false) {}

Decision AskedChunks::next(ThreadId thread, Time now) {
  const py::gil_scoped_acquire gil;
  const py::object given = call_user(who_, [&] { return next_.get()(thread.value(), now.count()); });
  if (given.is_none()) return {};
  const Answer answer = answer_from(who_, given);
  note(answer.first, answer.last);
  return {Decision::Kind::run, {execution_, answer.first, answer.last}, answer.overhead};
}

void AskedChunks::complete(ItemRange items, ThreadId thread, Time now) {
  if (!complete_) return;
  const py::gil_scoped_acquire gil;
  call_user(who_, [&] { complete_.get()(items.first, items.last, thread.value(), now.count()); });
}

void AskedChunks::note(std::int64_t first, std::int64_t last) {
  const auto iterations = static_cast<std::int64_t>(handed_out_.size());
  if (first < 0 || first >= last || last > iterations)
    throw PolicyError(who_ + " handed out iterations " + std::to_string(first) + " to " + std::to_string(last) + "; there are 0 to " +
                      std::to_string(iterations));
  for (std::int64_t i = first; i < last; ++i) {
    if (handed_out_[static_cast<std::size_t>(i)]) throw PolicyError(who_ + " handed out iteration " + std::to_string(i) + " twice");
    handed_out_[static_cast<std::size_t>(i)] = true;
  }
}

}  // namespace homenode::python
