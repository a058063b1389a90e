#include "models/run/pilot.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "models/mapping/register.hpp"
#include "models/systems/page_sizes.hpp"
#include "sim/loop/simulation.hpp"
#include "sim/memory/address_space.hpp"
#include "sim/program/core_time.hpp"
#include "sim/program/current_body.hpp"

namespace homenode {
namespace {

constexpr double seconds_per_access = 1e-9;

// Nothing is placed in a pilot run; it only needs addresses.
class AnyNode final : public PagePlacement {
public:
  void fault(std::span<const PageFault>, std::span<NodeId> home) override { std::fill(home.begin(), home.end(), NodeId{0}); }
};

class RecordingMemory final : public MemoryModel {
public:
  RecordingMemory(const Workload& workload, const Machine& machine, std::uint64_t page_bytes)
      : workload_{workload},
        machine_{machine},
        page_bytes_{page_bytes},
        recorder_{workload, page_bytes},
        allocated_(workload.objects.size(), Allocated::never),
        body_{workload} {}

  Started start(const Work& work, AddressSpace& addresses) override {
    const Execution& execution = workload_.executions[work.items.execution.index()];
    started_team_ |= execution.parallel != 0 || workload_.regions[execution.region.index()].kind == RegionKind::thread;
    double seconds = 0;
    if (!work.stretch || work.stretch->first == 0) seconds = record(work, addresses);
    pending_.emplace(now_ + work.overhead + Time::from_seconds(seconds), work.place.thread);
    return {WorkId{0}, work.stretch ? work.stretch->last : Stretch::to_the_end};
  }
  std::optional<Time> next_event() override { return pending_.empty() ? std::nullopt : std::optional{pending_.begin()->first}; }
  void advance(Time to, std::vector<Completion>& done) override {
    now_ = to;
    for (; !pending_.empty() && pending_.begin()->first <= to; pending_.erase(pending_.begin()))
      done.push_back({WorkId{0}, pending_.begin()->second, pending_.begin()->first});
  }
  EventCounts counts() const override { return {}; }
  std::vector<std::vector<BottleneckTime>> bottlenecks() const override { return {}; }
  void drop(AddressRange, bool) override {}
  void flush(AddressSpace&) override {}

  AccessSummary summary(std::vector<NodeId> node_of_thread) {
    for (std::size_t object = 0; object < allocated_.size(); ++object)
      if (allocated_[object] != Allocated::later) recorder_.mark_at_start(ObjectId{object});
    return recorder_.summary(std::move(node_of_thread));
  }

private:
  enum class Allocated : std::uint8_t { never, before_a_team, later };

  double record(const Work& work, AddressSpace& addresses) {
    double seconds = 0;
    const std::vector<ItemBlock>& blocks = body_.of(work.items.execution)->blocks;
    auto block = std::upper_bound(blocks.begin(), blocks.end(), work.items.first,
                                  [](std::int64_t iteration, const ItemBlock& b) { return iteration < b.last; });
    for (; block != blocks.end() && block->first < work.items.last; ++block) {
      const ItemPattern& pattern = workload_.patterns[block->pattern.index()];
      for (const HeapEvent& event : pattern.heap_events) note(event.operation, block->slots[event.slot].object);
      for (const SlotBinding& slot : block->slots) {
        if (workload_.objects[slot.object.index()].thread_private || recorder_.known(slot.object)) continue;
        recorder_.introduce(slot.object, addresses.address(slot.object, work.place.thread).value() % page_bytes_);
      }
      const std::int64_t first = std::max(work.items.first, block->first), last = std::min(work.items.last, block->last);
      recorder_.add(*block, first, last, work.place.thread);
      const double each = core_seconds(pattern.work, machine_.core, machine_.clock);
      seconds += static_cast<double>(last - first) * (each + static_cast<double>(pattern.accesses) * seconds_per_access);
    }
    return seconds;
  }

  void note(HeapOperation operation, ObjectId object) {
    if (operation == HeapOperation::release || operation == HeapOperation::unmap) return;
    Allocated& allocated = allocated_[object.index()];
    if (allocated == Allocated::never) allocated = started_team_ ? Allocated::later : Allocated::before_a_team;
  }

  const Workload& workload_;
  const Machine& machine_;
  std::uint64_t page_bytes_;
  AccessRecorder recorder_;
  std::vector<Allocated> allocated_;  // by object
  bool started_team_ = false;
  CurrentBody body_;
  std::set<std::pair<Time, ThreadId>> pending_;
  Time now_;
};

}  // namespace

AccessSummary pilot_summary(const PilotInput& input) {
  AnyNode placement;
  const Bytes page = page_sizes(input.spec.pages).page;
  AddressSpace addresses{input.machine, input.workload, placement, page};
  RecordingMemory memory{input.workload, input.machine, static_cast<std::uint64_t>(page.count())};
  const auto mapping = thread_mappings().make(input.spec.mapping);
  const Bytes uncut{std::numeric_limits<std::int64_t>::max() / (2 * Stretch::passes)};
  const RunReport report = simulate({.workload = input.workload,
                                     .machine = input.machine,
                                     .mapping = *mapping,
                                     .make_distribution = input.make_distribution,
                                     .memory = memory,
                                     .addresses = addresses,
                                     .threads = input.spec.threads,
                                     .oversubscribe = input.spec.oversubscribe,
                                     .quantum = uncut,
                                     .seed = input.spec.seed,
                                     .scheduler = system_of(input.machine, input.extras).scheduler,
                                     .graph = input.graph});
  std::vector<NodeId> node_of_thread;
  for (const ThreadReport& thread : report.threads) node_of_thread.push_back(thread.node);
  return memory.summary(std::move(node_of_thread));
}

}  // namespace homenode
