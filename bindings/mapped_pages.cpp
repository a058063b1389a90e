#include "bindings/mapped_pages.hpp"

#include <pybind11/numpy.h>

#include <memory>

#include "bindings/returned_arrays.hpp"

namespace homenode::python {
namespace py = pybind11;
using namespace pybind11::literals;

namespace {

std::vector<std::int64_t> page_numbers(const MappedPages& mapped, const py::object& pages) {
  const std::vector<std::int64_t> numbers = integers_from(pages, {.who = "a placement",
                                                                  .of = "pages",
                                                                  .allowed = "an array of one dimension",
                                                                  .meaning = "the numbers of pages",
                                                                  .count = std::nullopt});
  const auto end = static_cast<std::int64_t>(mapped.actions().pages());
  for (const std::int64_t page : numbers)
    if (page < 0 || page >= end)
      throw PolicyError("it asks for page " + std::to_string(page) + "; allowed: 0 to " + std::to_string(end - 1));
  return numbers;
}

PageNumber page_of(std::int64_t number) { return PageNumber{static_cast<std::uint64_t>(number)}; }

// none() is on no machine, and refused as such.
NodeId node_of(std::int64_t number) {
  return number < 0 || number >= std::int64_t{NodeId::none().value()} ? NodeId::none() : NodeId{static_cast<std::size_t>(number)};
}

py::array_t<std::int64_t> homes(const MappedPages& mapped, const py::object& pages) {
  const std::vector<std::int64_t> numbers = page_numbers(mapped, pages);
  py::array_t<std::int64_t> found(static_cast<py::ssize_t>(numbers.size()));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const NodeId home = mapped.actions().home(page_of(numbers[i]));
    found.mutable_data()[i] = home.is_none() ? -1 : static_cast<std::int64_t>(home.value());
  }
  return found;
}

// `nodes`: one for each page.
void migrate(const MappedPages& mapped, const py::object& pages, const py::object& nodes) {
  const std::vector<std::int64_t> numbers = page_numbers(mapped, pages);
  const std::vector<std::int64_t> to = integers_from(nodes, {.who = "a placement",
                                                             .of = "pages that migrate",
                                                             .allowed = "one node for each",
                                                             .meaning = "the numbers of nodes",
                                                             .count = numbers.size()});
  for (std::size_t i = 0; i < numbers.size(); ++i) mapped.actions().migrate(page_of(numbers[i]), node_of(to[i]));
}

std::size_t unmap(const MappedPages& mapped, const py::object& pages) {
  std::size_t unmapped = 0;
  for (const std::int64_t page : page_numbers(mapped, pages)) unmapped += mapped.actions().unmap(page_of(page)) ? 1 : 0;
  return unmapped;
}

}  // namespace

PageActions& MappedPages::actions() const {
  if (actions_ == nullptr) throw UsageError("a placement asks for pages after the call that gave them; allowed: in observe and wake");
  return *actions_;
}

void bind_mapped_pages(py::module_& module) {
  py::class_<MappedPages, std::shared_ptr<MappedPages>>(module, "MappedPages")
      .def_property_readonly("pages", [](const MappedPages& mapped) { return mapped.actions().pages(); })
      .def_property_readonly("page_bytes", [](const MappedPages& mapped) { return mapped.actions().page_bytes(); })
      .def("homes", &homes, "pages"_a)
      .def("migrate", &migrate, "pages"_a, "nodes"_a)
      .def("unmap", &unmap, "pages"_a);
}

}  // namespace homenode::python
