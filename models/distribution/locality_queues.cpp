// Locality queues (Wittmann and Hager 2010, section 2.2): a queue of blocks for each locality domain beside the runtime's queue of tasks.
// The producer appends each block to the queue of the domain where it lies, then submits a task; a task takes the oldest block of
// the domain of the thread that runs it, or of the next domain that has one: "load balancing priority over strict access locality".
// Each queue has a lock. There never are fewer blocks queued than tasks, so a task always finds one.
#include <algorithm>
#include <deque>

#include "models/distribution/register.hpp"
#include "models/distribution/shared_counter.hpp"
#include "models/distribution/task_production.hpp"

namespace homenode {
namespace {

class LocalityQueues final : public WorkDistribution {
public:
  explicit LocalityQueues(const Parameters& parameters) : limit_{parameters.get("queue")}, production_{parameters} {}

  void prepare(const RegionView& region, const Team& team, const CostOracle*) override {
    region_ = region;
    queued_tasks_ = 0;
    queues_.assign(team.machine->nodes.size(), {});
    domain_.clear();
    for (const CoreId core : team.core) domain_.push_back(team.machine->node_of(core).index());
    hold_ = shared_counter_time(team);
    const bool loop = region.region == nullptr || region.region->kind != RegionKind::task;
    production_.prepare(loop ? region.iterations : 0, team.size());
  }

  bool can_run_tasks() const override { return true; }

  // Of a region of tasks a block is the task itself: a producer that has to run one runs the one that it has just created.
  Submit submit(const ItemRange& task, ThreadId creator, Time now) override {
    if (queued_tasks_ >= limit_) return {Submit::Kind::producer_must_run_it, Time{}};
    ++queued_tasks_;
    return {Submit::Kind::queued, enqueue(task.first, creator, now)};
  }

  void queue(const ItemRange& task, ThreadId creator, Time now) override {
    ++queued_tasks_;
    enqueue(task.first, creator, now);
  }

  bool withdraw(const ItemRange& task, ThreadId) override {
    --queued_tasks_;
    for (Queue& queue : queues_) std::erase(queue.blocks, task.first);
    return true;
  }

  Decision next(ThreadId thread, Time now) override {
    Time spent;
    if (const auto created = production_.take_created(thread)) {
      spent = enqueue(*created, thread, now);
      if (queued_tasks_ >= limit_) return dequeue(thread, now, spent);
      ++queued_tasks_;
    }
    if (production_.begin_next(thread)) return {Decision::Kind::busy, {}, spent + production_.create_time()};
    if (queued_tasks_ > 0) {
      --queued_tasks_;
      return dequeue(thread, now, spent + tasks_.use(now, hold_));
    }
    return {production_.over() ? Decision::Kind::finished : Decision::Kind::wait, {}, Time{}};
  }

private:
  struct Queue {
    std::deque<std::int64_t> blocks;
    SerialPart lock;
  };

  // A block that lies nowhere yet goes to the domain of its producer.
  Time enqueue(std::int64_t block, ThreadId producer, Time now) {
    const NodeId home = region_.homes != nullptr ? region_.homes->home(block) : NodeId::none();
    Queue& queue = queues_[home.is_none() ? domain_[producer.index()] : home.index()];
    queue.blocks.push_back(block);
    return queue.lock.use(now, hold_);
  }

  Decision dequeue(ThreadId thread, Time now, Time overhead) {
    std::size_t domain = domain_[thread.index()];
    while (queues_[domain].blocks.empty()) {
      overhead += hold_;
      domain = (domain + 1) % queues_.size();
    }
    Queue& queue = queues_[domain];
    const std::int64_t block = queue.blocks.front();
    queue.blocks.pop_front();
    return {Decision::Kind::run, {region_.execution, block, block + 1}, overhead + queue.lock.use(now, hold_)};
  }

  std::int64_t limit_;
  TaskProduction production_;
  RegionView region_;
  std::int64_t queued_tasks_ = 0;
  SerialPart tasks_;
  Time hold_;
  std::vector<Queue> queues_;        // by locality domain
  std::vector<std::size_t> domain_;  // of each thread
};

}  // namespace

PolicyEntry<WorkDistribution> locality_queues() {
  std::vector<ParameterSpec> parameters{integer_parameter(
      "queue", "tasks", "queue limit: at this length the producer runs a task itself (256: icc 11.1 and gcc of 2010)", 256, 1)};
  for (ParameterSpec& parameter : production_parameters()) parameters.push_back(std::move(parameter));
  return {.name = "locality-queues",
          .description =
              "a queue of tasks for each node: threads take the oldest task of their own node, else of the next (Wittmann and Hager)",
          .parameters = std::move(parameters),
          .make = [](const Parameters& given) { return std::make_unique<LocalityQueues>(given); },
          .examples = {"locality-queues:queue=1", "locality-queues:stride=6,producers=0"}};
}

}  // namespace homenode
