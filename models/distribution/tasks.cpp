// One queue of tasks for the whole team, first in, first out; whoever is idle takes the oldest one. Runtime systems bound it: "the
// submitting thread is used for processing tasks" once about 256 are queued (Wittmann and Hager 2010, section 2.1, of icc 11.1 and gcc);
// libgomp runs a new task at once above 64 tasks a thread (GCC 12, libgomp/task.c). Putting in and taking out are one atomic update
// of a shared word each.
#include <cstdint>
#include <map>

#include "models/distribution/register.hpp"

namespace homenode {
namespace {

class CentralQueue final : public WorkDistribution {
public:
  explicit CentralQueue(std::int64_t limit) : limit_{limit} {}

  void prepare(const RegionView& region, const Team& team, const CostOracle*) override {
    constexpr std::int64_t libgomp_tasks_a_thread = 64;
    execution_ = region.execution;
    most_ = static_cast<std::size_t>(limit_ > 0 ? limit_ : libgomp_tasks_a_thread * static_cast<std::int64_t>(team.size()));
    queue_.clear();
    place_.clear();
    update_time_ = shared_counter_time(team);
  }

  bool runs_tasks() const override { return true; }

  Submit submit(const ItemRange& task, ThreadId creator, Time now) override {
    if (queue_.size() >= most_) return {Submit::Kind::producer_must_run_it, Time{}};
    queue(task, creator, now);
    return {Submit::Kind::queued, update_time_};
  }

  void queue(const ItemRange& task, ThreadId, Time) override {
    place_[task.first] = came_;
    queue_[came_++] = task.first;
  }

  bool withdraw(const ItemRange& task, ThreadId) override {
    const auto found = place_.find(task.first);
    queue_.erase(found->second);
    place_.erase(found);
    return true;
  }

  Decision next(ThreadId, Time) override {
    if (queue_.empty()) return {Decision::Kind::wait, {}, Time{}};
    const std::int64_t task = queue_.begin()->second;
    queue_.erase(queue_.begin());
    place_.erase(task);
    return {Decision::Kind::run, {execution_, task, task + 1}, update_time_};
  }

private:
  std::int64_t limit_;
  ExecutionId execution_;
  std::size_t most_ = 0;
  Time update_time_;
  std::uint64_t came_ = 0;
  std::map<std::uint64_t, std::int64_t> queue_;  // by when they came
  std::map<std::int64_t, std::uint64_t> place_;  // of a task in it
};

}  // namespace

PolicyEntry<WorkDistribution> task_queue() {
  return {
      "tasks",
      "regions of tasks: one queue for all threads, first in, first out",
      {{"queue", "tasks", "how many may be queued before their producer runs the next one itself; 0 = 64 a thread, as libgomp", 256, 0}},
      [](const Parameters& parameters) { return std::make_unique<CentralQueue>(parameters.get("queue")); }};
}

}  // namespace homenode
