#include "bindings/python_distribution.hpp"

#include <pybind11/numpy.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "bindings/asked_chunks.hpp"
#include "bindings/planned_chunks.hpp"
#include "bindings/returned_arrays.hpp"
#include "bindings/returned_numbers.hpp"

namespace homenode::python {
namespace py = pybind11;

namespace {

constexpr const char* allowed_answers =
    "a plan (three arrays: first, last, thread; perhaps a fourth, overhead_ns), or an object with a method next(thread, time_ps)";

// What decides in one replay, by registration and settings.
struct Deciders {
  std::map<std::pair<KeptObject, std::map<std::string, std::int64_t>>, KeptObject> made;
};

std::string range_text(std::int64_t first, std::int64_t last) { return std::to_string(first) + " to " + std::to_string(last); }

std::vector<double> overheads_from(const std::string& who, const py::object& returned, std::size_t chunks) {
  const auto values = py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(returned);
  if (!values) PyErr_Clear();
  if (!values || values.ndim() != 1 || static_cast<std::size_t>(values.size()) != chunks)
    throw PolicyError(who + " returned overheads that are no array of " + std::to_string(chunks) +
                      " numbers; allowed: nanoseconds for each chunk");
  return {values.data(), values.data() + values.size()};
}

// The parts of a plan, checked one by one.
struct Plan {
  std::vector<std::int64_t> first, last, thread;
  std::vector<double> overhead_ns;  // empty: none
};

Plan plan_from(const std::string& who, const py::sequence& parts) {
  const auto part = [&](std::size_t number, const char* meaning, std::optional<std::size_t> count) {
    return integers_from(
        parts[number],
        {.who = who, .of = "a plan", .allowed = "three arrays of one length: first, last, thread", .meaning = meaning, .count = count});
  };
  Plan plan;
  plan.first = part(0, "first iterations", std::nullopt);
  plan.last = part(1, "last iterations, exclusive", plan.first.size());
  plan.thread = part(2, "threads", plan.first.size());
  if (py::len(parts) == 4) plan.overhead_ns = overheads_from(who, parts[3], plan.first.size());
  return plan;
}

// Throws PolicyError unless each iteration is in one chunk.
void require_each_once(const std::string& who, std::vector<std::pair<std::int64_t, std::int64_t>> chunks, std::int64_t iterations) {
  std::sort(chunks.begin(), chunks.end());
  std::int64_t reached = 0;
  for (const auto& [first, last] : chunks) {
    if (first != reached)
      throw PolicyError(who +
                        (first < reached ? " plans iteration " + std::to_string(first) + " twice"
                                         : " plans no thread for iterations " + range_text(reached, first)) +
                        "; allowed: each of the " + std::to_string(iterations) + " iterations once");
    reached = last;
  }
  if (reached != iterations)
    throw PolicyError(who + " plans no thread for iterations " + range_text(reached, iterations) + "; allowed: each of the " +
                      std::to_string(iterations) + " iterations once");
}

PlannedChunks chunks_of(const std::string& who, const Plan& plan, const LoopView& loop) {
  const std::size_t threads = loop.cores().size();
  std::vector<std::vector<PlannedChunks::Chunk>> by_thread(threads);
  std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
  for (std::size_t i = 0; i < plan.first.size(); ++i) {
    const std::int64_t first = plan.first[i], last = plan.last[i], thread = plan.thread[i];
    if (thread < 0 || thread >= static_cast<std::int64_t>(threads))
      throw PolicyError(who + " plans thread " + std::to_string(thread) + "; allowed: 0 to " + std::to_string(threads - 1));
    if (first < 0 || first > last || last > loop.iterations())
      throw PolicyError(who + " plans iterations " + range_text(first, last) + "; there are 0 to " + std::to_string(loop.iterations()));
    if (first == last) continue;
    ranges.emplace_back(first, last);
    by_thread[static_cast<std::size_t>(thread)].push_back(
        {first, last, plan.overhead_ns.empty() ? Time{} : time_of(who, plan.overhead_ns[i])});
  }
  require_each_once(who, std::move(ranges), loop.iterations());
  return {loop.execution(), std::move(by_thread)};
}

bool is_plan(const py::object& answer) {
  if (!py::isinstance<py::tuple>(answer) && !py::isinstance<py::list>(answer) && !py::isinstance<py::array>(answer)) return false;
  if (py::isinstance<py::array>(answer) && py::reinterpret_borrow<py::array>(answer).ndim() != 2) return false;
  return py::len(answer) == 3 || py::len(answer) == 4;
}

}  // namespace

KeptObject PythonDistribution::decider(LoopMemory* memory, const Machine& machine) {
  KeptObject& made = memory != nullptr ? memory->of<Deciders>().made[{policy_.registration(), policy_.settings()}] : own_;
  if (!made) made = policy_.made_for(machine);
  return made;
}

void PythonDistribution::end_loop() {
  if (loop_) loop_->end();
}

void PythonDistribution::prepare(const RegionView& region, const Team& team, const CostOracle* oracle) {
  const py::gil_scoped_acquire gil;
  end_loop();
  loop_ = std::make_shared<LoopView>(region, team, oracle);
  const std::string& who = policy_.who();
  const py::object decide = decider(region.memory, *team.machine).get();
  const py::object answer = call_user(
      who, [&] { return decide(loop_); }, MayRefuse::yes);
  if (is_plan(answer) && !loop_->tasks()) {
    chunks_ = std::make_unique<PlannedChunks>(chunks_of(who, plan_from(who, answer), *loop_));
  } else if (py::hasattr(answer, "next")) {
    chunks_ = std::make_unique<AskedChunks>(who, answer, region);
  } else {
    throw PolicyError(who + " returned " + std::string(py::str(py::type::of(answer).attr("__name__"))) + "; allowed: " + allowed_answers);
  }
}

}  // namespace homenode::python
