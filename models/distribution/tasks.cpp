// OpenMP tasks as runtime systems queue them. icc 11.1: "the submitting thread is used for processing tasks" once about 256 are queued
// (Wittmann and Hager 2010, section 2.1). libgomp runs a new task at once above 64 tasks a thread (GCC 12, libgomp/task.c). Both keep one
// queue for the team, first in, first out. libomp has a deque of 256 for each thread, whose owner takes the youngest and others steal
// the oldest (LLVM 16, openmp/runtime/src/kmp_tasking.cpp); icc's order within its queue is not published, oldest first is assumed. A queue
// is behind a lock that is held for one update of a shared word.
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <utility>

#include "models/distribution/register.hpp"
#include "models/distribution/shared_counter.hpp"
#include "models/distribution/task_production.hpp"

namespace homenode {
namespace {

enum class Runtime { icc11, libgomp, libomp };
enum class Take { oldest, any };

class TaskQueues final : public WorkDistribution {
public:
  explicit TaskQueues(const Parameters& parameters)
      : runtime_{static_cast<Runtime>(parameters.get("runtime"))},
        limit_{parameters.get("queue")},
        take_{static_cast<Take>(parameters.get("take"))},
        production_{parameters} {}

  void prepare(const RegionView& region, const Team& team, const CostOracle*) override {
    constexpr std::int64_t of_icc = 256, of_libomp = 256, of_libgomp_a_thread = 64;
    const std::array<std::int64_t, 3> own{of_icc, of_libgomp_a_thread * static_cast<std::int64_t>(team.size()), of_libomp};
    execution_ = region.execution;
    most_ = static_cast<std::size_t>(limit_ > 0 ? limit_ : own.at(static_cast<std::size_t>(runtime_)));
    queues_.assign(runtime_ == Runtime::libomp ? team.size() : 1, {});
    place_.clear();
    update_time_ = shared_counter_time(team);
    random_.seed(region.seed);
    const bool loop = region.region == nullptr || region.region->kind != RegionKind::task;
    production_.prepare(loop ? region.iterations : 0, team.size());
  }

  bool can_run_tasks() const override { return true; }

  Submit submit(const ItemRange& task, ThreadId creator, Time now) override {
    if (full(creator)) return {Submit::Kind::producer_must_run_it, Time{}};
    put(task.first, creator);
    return {Submit::Kind::queued, of(creator).lock.use(now, update_time_)};
  }

  void queue(const ItemRange& task, ThreadId creator, Time) override { put(task.first, creator); }

  bool withdraw(const ItemRange& task, ThreadId) override {
    const auto found = place_.find(task.first);
    queues_[found->second.first].tasks.erase(found->second.second);
    place_.erase(found);
    return true;
  }

  Decision next(ThreadId thread, Time now) override {
    Time spent;
    if (const auto created = production_.take_created(thread)) {
      if (full(thread)) return run(*created, Time{});
      put(*created, thread);
      spent = of(thread).lock.use(now, update_time_);
    }
    if (production_.begin_next(thread)) return {Decision::Kind::busy, {}, spent + production_.create_time()};
    if (const auto from = queue_for(thread)) {
      Queue& queue = queues_[*from];
      const bool own = runtime_ == Runtime::libomp && *from == thread.index();
      auto taken = own ? std::prev(queue.tasks.end()) : queue.tasks.begin();
      if (take_ == Take::any) taken = std::next(queue.tasks.begin(), static_cast<std::ptrdiff_t>(random_() % queue.tasks.size()));
      const std::int64_t task = taken->second;
      queue.tasks.erase(taken);
      place_.erase(task);
      return run(task, spent + queue.lock.use(now, update_time_));
    }
    return {production_.over() ? Decision::Kind::finished : Decision::Kind::wait, {}, Time{}};
  }

private:
  struct Queue {
    std::map<std::uint64_t, std::int64_t> tasks;  // by when they came
    SerialPart lock;
  };

  std::size_t index_of(ThreadId thread) const { return queues_.size() == 1 ? 0 : thread.index(); }
  Queue& of(ThreadId thread) { return queues_[index_of(thread)]; }
  bool full(ThreadId thread) { return of(thread).tasks.size() >= most_; }
  Decision run(std::int64_t task, Time overhead) const { return {Decision::Kind::run, {execution_, task, task + 1}, overhead}; }

  void put(std::int64_t task, ThreadId creator) {
    place_[task] = {index_of(creator), came_};
    of(creator).tasks[came_++] = task;
  }

  // Its own first, then others from a random one on.
  std::optional<std::size_t> queue_for(ThreadId thread) {
    if (const std::size_t own = index_of(thread); !queues_[own].tasks.empty()) return own;
    const std::size_t start = queues_.size() == 1 ? 0 : random_() % queues_.size();
    for (std::size_t i = 0; i < queues_.size(); ++i) {
      const std::size_t victim = (start + i) % queues_.size();
      if (!queues_[victim].tasks.empty()) return victim;
    }
    return std::nullopt;
  }

  Runtime runtime_;
  std::int64_t limit_;
  Take take_;
  TaskProduction production_;
  ExecutionId execution_;
  std::size_t most_ = 0;
  Time update_time_;
  std::uint64_t came_ = 0;
  std::vector<Queue> queues_;                                            // one, or one a thread
  std::map<std::int64_t, std::pair<std::size_t, std::uint64_t>> place_;  // of a task in them
  std::mt19937_64 random_;
};

}  // namespace

PolicyEntry<WorkDistribution> task_queue() {
  std::vector<ParameterSpec> parameters{
      integer_parameter("queue", "tasks", "queue limit: at this length the producer runs a task itself; 0 = that of the runtime", 0, 0),
      word_parameter("runtime", "queues to imitate: one of 256 tasks (icc11), one of 64 x threads (libgomp), 256 for each thread (libomp)",
                     {"icc11", "libgomp", "libomp"}),
      word_parameter("take", "which queued task a thread gets: the oldest, or a random one", {"oldest", "any"})};
  for (ParameterSpec& parameter : production_parameters()) parameters.push_back(std::move(parameter));
  return {.name = "tasks",
          .description = "OpenMP tasks: those of the program, or one for each iteration of a loop",
          .parameters = std::move(parameters),
          .make = [](const Parameters& given) { return std::make_unique<TaskQueues>(given); },
          .examples = {"tasks:take=any", "tasks:queue=1", "tasks:runtime=libgomp", "tasks:runtime=libomp",
                       "tasks:runtime=libomp,queue=1,producers=0", "tasks:stride=5", "tasks:producers=3,stride=4,queue=2"}};
}

}  // namespace homenode
