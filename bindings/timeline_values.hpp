// A run's timeline as plain Python values.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include "sim/report/timeline.hpp"

namespace homenode::python {

// Columns thread, doing, label, execution, begin and end in picoseconds, first and last iteration, how many spans are joined in it.
inline pybind11::array_t<std::int64_t> spans_of(Timeline& timeline) {
  const auto& spans = timeline.spans();
  pybind11::array_t<std::int64_t> result({static_cast<pybind11::ssize_t>(spans.size()), pybind11::ssize_t{9}});
  auto values = result.mutable_unchecked<2>();
  for (pybind11::ssize_t i = 0; i < values.shape(0); ++i) {
    const Timeline::Span& span = spans[static_cast<std::size_t>(i)];
    values(i, 0) = span.thread.value();
    values(i, 1) = static_cast<std::int64_t>(span.doing);
    values(i, 2) = span.label;
    values(i, 3) = span.execution;
    values(i, 4) = span.from.count();
    values(i, 5) = span.to.count();
    values(i, 6) = span.first;
    values(i, 7) = span.last;
    values(i, 8) = span.joined;
  }
  return result;
}

inline pybind11::dict timeline_of(Timeline& timeline) {
  namespace py = pybind11;
  py::list doings, use;
  for (std::size_t doing = 0; doing < static_cast<std::size_t>(ThreadActivity::count); ++doing)
    doings.append(name_of(static_cast<ThreadActivity>(doing)));
  for (std::size_t resource = 0; resource < timeline.use().resources(); ++resource) {
    const auto& seconds = timeline.use().of(resource);
    use.append(py::array_t<double>(static_cast<py::ssize_t>(seconds.size()), seconds.data()));
  }
  py::dict result;
  result["spans"] = spans_of(timeline);
  result["doings"] = doings;
  result["labels"] = timeline.labels();
  result["resources"] = timeline.resources();
  result["bandwidths"] = timeline.bandwidths();
  result["interval_ps"] = timeline.use().interval().count();
  result["use_seconds"] = use;
  result["least_ps"] = timeline.least().count();
  result["left_out"] = timeline.left_out();
  return result;
}

}  // namespace homenode::python
