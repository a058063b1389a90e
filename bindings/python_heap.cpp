#include "bindings/python_heap.hpp"

#include <pybind11/numpy.h>

#include <optional>

#include "bindings/returned_numbers.hpp"

namespace homenode::python {
namespace py = pybind11;

namespace {

py::tuple arguments_of(const AllocationRequest& request, const Place& place) {
  return py::make_tuple(request.object.value(), request.bytes, request.alignment, request.site.value(), request.owner_hint,
                        tuple_of(place));
}

py::array_t<std::int64_t> cores_of(const std::vector<CoreId>& cores) {
  py::array_t<std::int64_t> numbers(static_cast<py::ssize_t>(cores.size()));
  for (std::size_t t = 0; t < cores.size(); ++t) numbers.mutable_data()[t] = cores[t].value();
  return numbers;
}

// A number that is no less than 0.
std::uint64_t number_from(const std::string& who, const char* what, const py::object& answer) {
  const std::optional<std::int64_t> number = whole_number_from(answer);
  if (number && *number >= 0) return static_cast<std::uint64_t>(*number);
  throw PolicyError(who + " returned " + std::string(py::repr(answer)) + " for " + what + "; allowed: a whole number of at least 0");
}

}  // namespace

void PythonHeap::end_run() {
  if (pages_) pages_->end();
}

void PythonHeap::prepare(const HeapSetting& setting) {
  const py::gil_scoped_acquire gil;
  end_run();
  pages_ = std::make_shared<HeapPages>(policy_.who(), setting.addresses);
  const py::object made = policy_.made_for(setting.machine).get();
  const auto method = [&](const char* name) {
    const py::object found = made.attr(name);
    return found.is_none() ? KeptObject{} : KeptObject{found};
  };
  methods_ = {method("allocate"), method("release"), method("lock_to_allocate"), method("lock_to_release")};
  call_user(
      policy_.who(), [&] { made.attr("prepare")(pages_, cores_of(setting.core), setting.seed); }, MayRefuse::yes);
}

HeapLock PythonHeap::lock_from(const py::object& answer) const {
  if (answer.is_none()) return {};
  return {LockId{number_from(policy_.who(), "a lock", answer)}};
}

HeapLock PythonHeap::lock_to_allocate(const AllocationRequest& request, const Place& place) {
  if (!methods_.lock_to_allocate) return {};
  const py::gil_scoped_acquire gil;
  return lock_from(call_user(policy_.who(), [&] { return methods_.lock_to_allocate.get()(*arguments_of(request, place)); }));
}

HeapLock PythonHeap::lock_to_release(Address address, const Place& place) {
  if (!methods_.lock_to_release) return {};
  const py::gil_scoped_acquire gil;
  return lock_from(call_user(policy_.who(), [&] {
    return methods_.lock_to_release.get()(address.value(), pages_->bytes_of_block(address.value()), tuple_of(place));
  }));
}

HeapEffect PythonHeap::allocate(const AllocationRequest& request, const Place& place) {
  const py::gil_scoped_acquire gil;
  const std::string& who = policy_.who();
  const auto answer = call_user(who, [&] { return py::tuple(methods_.allocate.get()(*arguments_of(request, place))); });
  HeapEffect effect;
  effect.range = pages_->add_block(number_from(who, "the address of a block", answer[0]), request);
  effect.cost = time_from(who, answer[1]);
  effect.held = time_from(who, answer[2]);
  effect.operations = pages_->take_operations();
  return effect;
}

HeapEffect PythonHeap::release(ObjectId object, Address address, const Place& place) {
  const py::gil_scoped_acquire gil;
  const std::string& who = policy_.who();
  const std::uint64_t bytes = pages_->remove_block(address.value());
  const auto answer =
      call_user(who, [&] { return py::tuple(methods_.release.get()(object.value(), address.value(), bytes, tuple_of(place))); });
  HeapEffect effect;
  effect.cost = time_from(who, answer[0]);
  effect.held = time_from(who, answer[1]);
  effect.operations = pages_->take_operations();
  return effect;
}

}  // namespace homenode::python
