#include "bindings/loop_view.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <memory>

namespace homenode::python {
namespace py = pybind11;
using namespace pybind11::literals;

namespace {

using Numbers = py::array_t<std::int64_t, py::array::c_style | py::array::forcecast>;

py::array_t<std::int64_t> cores_of(const LoopView& loop) {
  py::array_t<std::int64_t> cores(static_cast<py::ssize_t>(loop.cores().size()));
  auto values = cores.mutable_unchecked<1>();
  for (py::ssize_t t = 0; t < values.shape(0); ++t) values(t) = loop.cores()[static_cast<std::size_t>(t)].value();
  return cores;
}

py::array_t<std::int64_t> homes_of(const LoopView& loop, std::int64_t first, std::int64_t last) {
  const std::vector<std::int64_t> homes = loop.homes(first, last);
  return py::array_t<std::int64_t>(static_cast<py::ssize_t>(homes.size()), homes.data());
}

std::vector<double> seconds_of(const LoopView& loop, const Numbers& first, const Numbers& last, const Numbers& thread) {
  if (first.ndim() != 1 || last.size() != first.size() || thread.size() != first.size())
    throw UsageError("a plan of " + std::to_string(first.size()) + " first iterations, " + std::to_string(last.size()) + " last ones and " +
                     std::to_string(thread.size()) + " threads; allowed: three arrays of one length");
  std::vector<ScheduledRange> schedule;
  for (py::ssize_t i = 0; i < first.size(); ++i)
    schedule.push_back({first.data()[i], last.data()[i], ThreadId{static_cast<std::size_t>(thread.data()[i])}});
  return loop.seconds(schedule);
}

}  // namespace

void LoopView::require_running() const {
  if (is_over_) throw UsageError("the execution of region '" + label_ + "' is over; allowed: homes and estimates until its last iteration");
}

std::vector<std::int64_t> LoopView::homes(std::int64_t first, std::int64_t last) const {
  require_running();
  if (first < 0 || first > last || last > region_.iterations)
    throw UsageError("homes of iterations " + std::to_string(first) + " to " + std::to_string(last) + "; allowed: of 0 to " +
                     std::to_string(region_.iterations));
  std::vector<std::int64_t> homes;
  for (std::int64_t i = first; i < last; ++i) {
    const NodeId home = region_.homes != nullptr ? region_.homes->home(i) : NodeId::none();
    homes.push_back(home.is_none() ? -1 : static_cast<std::int64_t>(home.value()));
  }
  return homes;
}

std::vector<double> LoopView::seconds(const std::vector<ScheduledRange>& schedule) const {
  require_running();
  if (oracle_ == nullptr)
    throw UsageError("no estimates of region '" + label_ + "'; allowed: in a distribution that is registered with estimates=True");
  for (const ScheduledRange& range : schedule)
    if (range.first < 0 || range.first > range.last || range.last > region_.iterations || range.thread.index() >= cores_.size())
      throw UsageError("an estimate of iterations " + std::to_string(range.first) + " to " + std::to_string(range.last) + " by thread " +
                       std::to_string(range.thread.value()) + "; allowed: of 0 to " + std::to_string(region_.iterations) +
                       ", by threads 0 to " + std::to_string(cores_.size() - 1));
  return oracle_->estimate(region_.execution, schedule).thread_seconds;
}

void bind_loop_view(py::module_& module) {
  py::class_<LoopView, std::shared_ptr<LoopView>>(module, "LoopView")
      .def_property_readonly("execution", [](const LoopView& loop) { return loop.execution().value(); })
      .def_property_readonly("iterations", &LoopView::iterations)
      .def_property_readonly("seed", &LoopView::seed)
      .def_property_readonly("tasks", &LoopView::tasks)
      .def_property_readonly("label", &LoopView::label)
      .def_property_readonly("cores", &cores_of)
      .def("homes", &homes_of, "first"_a, "last"_a)
      .def("seconds", &seconds_of, "first"_a, "last"_a, "thread"_a);
}

}  // namespace homenode::python
