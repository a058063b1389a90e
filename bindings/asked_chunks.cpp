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

KeptObject method_of(const py::object& answer, const char* name) {
  return py::hasattr(answer, name) ? KeptObject{answer.attr(name)} : KeptObject{};
}

// None or a truth value.
bool agrees(const std::string& who, const py::object& answer) {
  if (answer.is_none()) return true;
  if (!py::isinstance<py::bool_>(answer))
    throw PolicyError(who + " returned " + std::string(py::repr(answer)) + " for a task; allowed: True, False, or None for True");
  return answer.cast<bool>();
}

}  // namespace

AskedChunks::AskedChunks(std::string who, const py::object& answer, const RegionView& region)
    : who_{std::move(who)},
      tasks_{region.region != nullptr && region.region->kind == RegionKind::task},
      next_{answer.attr("next")},
      complete_{method_of(answer, "complete")},
      execution_{region.execution},
      handed_out_(static_cast<std::size_t>(region.iterations), false) {
  if (!tasks_) return;
  submit_ = method_of(answer, "submit");
  queue_ = method_of(answer, "queue");
  withdraw_ = method_of(answer, "withdraw");
  if (!submit_ || !queue_ || !withdraw_)
    throw PolicyError(who_ + " returned " + std::string(py::str(py::type::of(answer).attr("__name__"))) +
                      " for a region of tasks; allowed: an object with methods next, submit, queue and withdraw");
}

Decision AskedChunks::next(ThreadId thread, Time now) {
  const py::gil_scoped_acquire gil;
  const py::object given = call_user(who_, [&] { return next_.get()(thread.value(), now.count()); });
  if (given.is_none()) return {tasks_ ? Decision::Kind::wait : Decision::Kind::finished, {}, Time{}};
  const Answer answer = answer_from(who_, given);
  note(answer.first, answer.last);
  return {Decision::Kind::run, {execution_, answer.first, answer.last}, answer.overhead};
}

void AskedChunks::complete(ItemRange items, ThreadId thread, Time now) {
  if (!complete_) return;
  const py::gil_scoped_acquire gil;
  call_user(who_, [&] { complete_.get()(items.first, items.last, thread.value(), now.count()); });
}

Submit AskedChunks::submit(const ItemRange& task, ThreadId thread, Time now) {
  const py::gil_scoped_acquire gil;
  const py::object answer = call_user(who_, [&] { return submit_.get()(task.first, thread.value(), now.count()); });
  const bool timed = py::isinstance<py::tuple>(answer) && py::len(answer) == 2;
  const auto part = [&](std::size_t number) { return py::object(py::reinterpret_borrow<py::tuple>(answer)[number]); };
  const bool takes = agrees(who_, timed ? part(0) : answer);
  return {takes ? Submit::Kind::queued : Submit::Kind::producer_must_run_it, timed ? time_from(who_, part(1)) : Time{}};
}

void AskedChunks::queue(const ItemRange& task, ThreadId thread, Time now) {
  const py::gil_scoped_acquire gil;
  call_user(who_, [&] { queue_.get()(task.first, thread.value(), now.count()); });
}

bool AskedChunks::withdraw(const ItemRange& task, ThreadId thread) {
  const py::gil_scoped_acquire gil;
  return agrees(who_, call_user(who_, [&] { return withdraw_.get()(task.first, thread.value()); }));
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
