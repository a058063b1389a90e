#include "traces/format/invariants.hpp"

#include <algorithm>
#include <limits>

#include "sim/base/text.hpp"
#include "traces/format/invariants_of_tasks.hpp"

namespace homenode {
namespace {

// An object that nobody announced is as long as was seen: an access may begin in it and reach beyond by its own width.
constexpr std::int64_t widest_access = std::numeric_limits<decltype(AccessRun::width)>::max();
constexpr std::uint64_t overflown = std::numeric_limits<std::uint64_t>::max();

std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? overflown : product;
}
std::uint64_t plus(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? overflown : sum;
}

}  // namespace

void InvariantChecker::report(const std::string& text) {
  if (problems_.size() < most_problems) problems_.push_back(where_ + text);
}

// Returns how many accesses it stands for.
std::uint64_t InvariantChecker::check_run(const AccessRun& run, const ItemPattern& pattern, std::uint64_t last) {
  if (run.slot >= pattern.slots) report("a run uses slot " + std::to_string(run.slot) + " of " + std::to_string(pattern.slots));
  if (run.dimensions > AccessRun::max_dimensions) {
    report("a run has " + std::to_string(run.dimensions) + " dimensions; at most " + std::to_string(AccessRun::max_dimensions) +
           " are allowed");
    return 0;
  }
  if (run.sequence < last) report("runs are not in order of their sequence numbers");
  std::uint64_t accesses = 1;
  for (unsigned d = 0; d < run.dimensions; ++d) accesses = times(accesses, run.dimension[d].count);
  if (accesses == 0) report("a run has no accesses");
  return accesses;
}

void InvariantChecker::check_stream(const IrregularStream& stream, const ItemPattern& pattern) {
  const std::size_t size = stream.slot.size();
  if (stream.offset.size() != size || stream.sequence.size() != size || stream.producer_distance.size() != size)
    report("columns of a stream differ in length");
  if (std::any_of(stream.slot.begin(), stream.slot.end(), [&](SlotNumber slot) { return slot >= pattern.slots; }))
    report("a stream uses a slot beyond its " + std::to_string(pattern.slots));
  bool in_order = true;
  for (std::size_t i = 1; i < stream.sequence.size(); ++i) in_order &= stream.sequence[i - 1] <= stream.sequence[i];
  if (!in_order) report("a stream is not in order of its sequence numbers");
}

void InvariantChecker::check_pattern(std::size_t number) {
  const ItemPattern& pattern = workload_.patterns[number];
  where_ = "pattern " + std::to_string(number) + ": ";
  std::uint64_t accesses = 0, last = 0;
  for (const AccessRun& run : pattern.runs) {
    accesses = plus(accesses, check_run(run, pattern, last));
    last = run.sequence;
  }
  for (const IrregularStream& stream : pattern.streams) {
    check_stream(stream, pattern);
    accesses = plus(accesses, stream.slot.size());
  }
  if (accesses == overflown)
    report("has more accesses than 64 bits count");
  else if (accesses != pattern.accesses)
    report("says " + std::to_string(pattern.accesses) + " accesses, has " + std::to_string(accesses));
}

void InvariantChecker::check_execution(std::size_t number, const ExecutionBody& body) {
  const Execution& execution = workload_.executions[number];
  where_ = "execution " + std::to_string(number) + ": ";
  if (execution.region.index() >= workload_.regions.size()) {
    report("of region " + std::to_string(execution.region.value()) + ", which does not exist");
    return;
  }
  std::int64_t next = 0;
  std::uint64_t accesses = 0, reads = 0, writes = 0;
  for (const ItemBlock& block : body.blocks) {
    if (block.first != next || block.last <= block.first)
      report("a block of iterations begins at " + std::to_string(block.first) + " where " + std::to_string(next) + " is next");
    next = block.last;
    if (block.pattern.index() >= workload_.patterns.size()) {
      report("uses pattern " + std::to_string(block.pattern.value()) + ", which does not exist");
      continue;
    }
    const ItemPattern& pattern = workload_.patterns[block.pattern.index()];
    if (block.slots.size() != pattern.slots)
      report("binds " + std::to_string(block.slots.size()) + " slots of " + std::to_string(pattern.slots));
    const auto iterations = static_cast<std::uint64_t>(std::max<std::int64_t>(block.last - block.first, 0));
    accesses = plus(accesses, times(pattern.accesses, iterations));
    reads = plus(reads, times(pattern.reads, iterations));
    writes = plus(writes, times(pattern.writes, iterations));
    check_bounds(block);
  }
  if (next != execution.iterations)
    report("has " + std::to_string(execution.iterations) + " iterations, blocks for " + std::to_string(next));
  check_sum("accesses", execution.accesses, accesses);
  check_sum("reads", execution.reads, reads);
  check_sum("writes", execution.writes, writes);
}

void InvariantChecker::check_sum(const char* what, std::uint64_t said, std::uint64_t found) {
  if (found == overflown)
    report(std::string{"has more "} + what + " than 64 bits count");
  else if (said != found)
    report("says " + std::to_string(said) + " " + what + ", has " + std::to_string(found));
}

void InvariantChecker::check_bounds(const ItemBlock& block) {
  extents_.for_each(block, [&](ObjectId object_id, const ByteExtent& bytes) {
    if (object_id.index() >= workload_.objects.size()) {
      report("binds object " + std::to_string(object_id.value()) + ", which does not exist");
      return;
    }
    const TracedObject& object = workload_.objects[object_id.index()];
    const std::int64_t beyond = object.kind == ObjectKind::unknown ? widest_access : 0;
    if (bytes.first < 0 || static_cast<std::uint64_t>(std::max<std::int64_t>(bytes.last - beyond, 0)) > object.bytes)
      report("touches bytes " + std::to_string(bytes.first) + " to " + std::to_string(bytes.last) + " of object " +
             std::to_string(object_id.value()) + " ('" + brief(object.symbol) + "'), which has " + std::to_string(object.bytes));
  });
}

std::vector<std::string> broken_invariants(const Workload& workload) {
  InvariantChecker checker{workload};
  for (std::size_t p = 0; p < workload.patterns.size(); ++p) checker.check_pattern(p);
  for (std::size_t e = 0; e < workload.executions.size(); ++e) {
    const bool has_region = workload.executions[e].region.index() < workload.regions.size();
    checker.check_execution(e, has_region ? *workload.body(ExecutionId{e}) : ExecutionBody{});
  }
  std::vector<std::string> problems = checker.problems();
  for (const std::string& problem : broken_invariants_of_tasks(workload)) {
    if (problems.size() < most_problems) problems.push_back(problem);
  }
  return problems;
}

}  // namespace homenode
