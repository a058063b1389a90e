#include "traces/format/invariants.hpp"

#include <algorithm>

#include "traces/format/block_extents.hpp"
#include "traces/format/invariants_of_tasks.hpp"

namespace homenode {
namespace {

constexpr std::size_t most_problems = 100;

class Checker {
public:
  explicit Checker(const Workload& workload) : workload_{workload}, extents_{workload} {}

  std::vector<std::string> run() {
    for (std::size_t p = 0; p < workload_.patterns.size(); ++p) check_pattern(p);
    for (std::size_t e = 0; e < workload_.executions.size(); ++e) check_execution(e);
    where_.clear();
    for (const std::string& problem : broken_invariants_of_tasks(workload_)) report(problem);
    return std::move(problems_);
  }

private:
  void report(const std::string& text) {
    if (problems_.size() < most_problems) problems_.push_back(where_ + text);
  }

  void check_pattern(std::size_t number) {
    const ItemPattern& pattern = workload_.patterns[number];
    where_ = "pattern " + std::to_string(number) + ": ";
    std::uint64_t accesses = 0, last = 0;
    for (const AccessRun& run : pattern.runs) {
      if (run.slot >= pattern.slots) report("a run uses slot " + std::to_string(run.slot) + " of " + std::to_string(pattern.slots));
      if (run.dimensions > AccessRun::max_dimensions) {
        report("a run has " + std::to_string(run.dimensions) + " dimensions; at most " + std::to_string(AccessRun::max_dimensions) +
               " are allowed");
        continue;
      }
      if (run.sequence < last) report("runs are not in order of their sequence numbers");
      last = run.sequence;
      accesses += run.accesses();
    }
    for (const IrregularStream& stream : pattern.streams) {
      const std::size_t size = stream.slot.size();
      if (stream.offset.size() != size || stream.sequence.size() != size || stream.producer_distance.size() != size)
        report("columns of a stream differ in length");
      if (std::any_of(stream.slot.begin(), stream.slot.end(), [&](SlotNumber slot) { return slot >= pattern.slots; }))
        report("a stream uses a slot beyond its " + std::to_string(pattern.slots));
      if (!std::is_sorted(stream.sequence.begin(), stream.sequence.end())) report("a stream is not in order of its sequence numbers");
      accesses += size;
    }
    if (accesses != pattern.accesses) report("says " + std::to_string(pattern.accesses) + " accesses, has " + std::to_string(accesses));
  }

  void check_execution(std::size_t number) {
    const Execution& execution = workload_.executions[number];
    where_ = "execution " + std::to_string(number) + ": ";
    if (execution.region.index() >= workload_.regions.size()) {
      report("of region " + std::to_string(execution.region.value()) + ", which does not exist");
      return;
    }
    const auto body = workload_.body(ExecutionId{number});
    std::int64_t next = 0;
    std::uint64_t accesses = 0, reads = 0, writes = 0;
    for (const ItemBlock& block : body->blocks) {
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
      accesses += pattern.accesses * iterations;
      reads += pattern.reads * iterations;
      writes += pattern.writes * iterations;
      check_bounds(block);
    }
    if (next != execution.iterations)
      report("has " + std::to_string(execution.iterations) + " iterations, blocks for " + std::to_string(next));
    check_sum("accesses", execution.accesses, accesses);
    check_sum("reads", execution.reads, reads);
    check_sum("writes", execution.writes, writes);
  }

  void check_sum(const char* what, std::uint64_t said, std::uint64_t found) {
    if (said != found) report("says " + std::to_string(said) + " " + what + ", has " + std::to_string(found));
  }

  void check_bounds(const ItemBlock& block) {
    for (const auto& [object_id, bytes] : extents_.of(block)) {
      if (object_id.index() >= workload_.objects.size()) {
        report("binds object " + std::to_string(object_id.value()) + ", which does not exist");
        continue;
      }
      const TracedObject& object = workload_.objects[object_id.index()];
      if (object.kind == ObjectKind::unknown) continue;  // its bounds were not seen
      if (bytes.first < 0 || bytes.last > static_cast<std::int64_t>(object.bytes))
        report("touches bytes " + std::to_string(bytes.first) + " to " + std::to_string(bytes.last) + " of object " +
               std::to_string(object_id.value()) + " ('" + object.symbol + "'), which has " + std::to_string(object.bytes));
    }
  }

  const Workload& workload_;
  BlockExtents extents_;
  std::string where_;
  std::vector<std::string> problems_;
};

}  // namespace

std::vector<std::string> broken_invariants(const Workload& workload) { return Checker{workload}.run(); }

}  // namespace homenode
