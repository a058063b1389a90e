// tbb::parallel_for of TBB 3.0 (Wittmann and Hager 2010, section 3.1): ranges are halved, second halves go to the thread's own deque;
// a thread takes its youngest task, else what was mailed to it, else the oldest of a random other one (scheduler.cpp). With
// affinity_partitioner a range is also mailed to the thread that took it the last time such a loop ran, and a thief leaves it alone while
// that thread is idle.
#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <vector>

#include "models/distribution/register.hpp"
#include "models/distribution/shared_counter.hpp"
#include "models/distribution/tbb_range.hpp"

namespace homenode {
namespace {

// By the number of iterations: who ran each part of the last such loop, as TBB's affinity_partitioner notes it.
struct RunnersOfParts : std::map<std::int64_t, std::vector<ThreadId>> {};

class ParallelFor final : public WorkDistribution {
public:
  ParallelFor(const Parameters& parameters, bool affinity)
      : columns_option_{parameters.get("columns")}, spawn_time_{parameters.time("spawn")}, affinity_{affinity} {}

  void prepare(const RegionView& region, const Team& team, const CostOracle*) override {
    region_ = region;
    steal_time_ = shared_counter_time(team);
    random_.seed(region.seed);
    workers_.assign(team.size(), {});
    tasks_.clear();
    left_ = region.iterations;
    if (left_ == 0) return;
    // The last row may be shorter.
    columns_ = std::min(columns_option_ == 0 ? 1 : columns_option_, region.iterations);
    TbbRange all;
    all.last_row = (region.iterations + columns_ - 1) / columns_;
    all.last_column = columns_;
    constexpr std::uint64_t chunks_a_thread = 4;
    all.chunks = chunks_a_thread * team.size();
    if (affinity_) {
      all.last_part = TbbRange::parts_a_thread * team.size();
      std::vector<ThreadId>& map = region.memory != nullptr ? region.memory->of<RunnersOfParts>()[region.iterations] : own_map_;
      map.resize(all.last_part, ThreadId::none());
      runner_of_part_ = &map;
    }
    workers_[0].current = all;
    workers_[0].has_current = true;
  }

  Decision next(ThreadId thread, Time) override {
    Worker& worker = workers_[thread.index()];
    worker.idle = false;
    Time spent;
    while (true) {
      if (worker.runs) {
        if (const ItemRange items = next_row(worker); items.size() > 0) {
          left_ -= items.size();
          return {Decision::Kind::run, items, spent};
        }
        worker.runs = false;
        for (std::size_t i = 1; i < worker.delayed.size(); ++i) spawn(worker.delayed[i], thread);
        if (!worker.delayed.empty()) {  // the first of them follows at once
          worker.current = worker.delayed.front();
          worker.has_current = true;
          worker.delayed.clear();
        }
      }
      if (!worker.has_current && !take(thread, spent)) {
        worker.idle = true;
        return {left_ == 0 ? Decision::Kind::finished : Decision::Kind::wait, {}, Time{}};
      }
      if (worker.current.whole()) {
        worker.runs = true;
        worker.has_current = false;
        worker.row = worker.current.first_row;
        continue;
      }
      const bool delays = affinity_ && worker.current.delays();
      const TbbRange second = worker.current.split();
      if (delays) {
        worker.delayed.push_back(second);
        spent += spawn_time_;
        continue;
      }
      spawn(second, thread);
      return {Decision::Kind::busy, {}, spent + spawn_time_};
    }
  }

private:
  struct Task {
    TbbRange range;
    ThreadId mailed_to = ThreadId::none();
    bool taken = false;
  };
  struct Worker {
    std::deque<std::size_t> own, mail;  // of tasks_
    std::vector<TbbRange> delayed;
    TbbRange current;
    std::int64_t row = 0;  // next one of a current range that runs
    bool has_current = false, runs = false, idle = true;
  };

  ItemRange next_row(Worker& worker) const {
    const TbbRange& range = worker.current;
    while (worker.row < range.last_row) {
      // Rows that are whole lie one behind the other.
      const bool rows = range.first_column == 0 && range.last_column == columns_;
      const std::int64_t first = worker.row * columns_ + range.first_column;
      const std::int64_t last = (rows ? range.last_row - 1 : worker.row) * columns_ + range.last_column;
      worker.row = rows ? range.last_row : worker.row + 1;
      const ItemRange items{region_.execution, std::min(first, region_.iterations), std::min(last, region_.iterations)};
      if (items.size() > 0) return items;
    }
    return {};
  }

  void spawn(const TbbRange& range, ThreadId by) {
    Task task{range};
    if (affinity_ && range.first_part < range.last_part) task.mailed_to = (*runner_of_part_)[range.first_part];
    if (task.mailed_to == by) task.mailed_to = ThreadId::none();
    tasks_.push_back(task);
    workers_[by.index()].own.push_back(tasks_.size() - 1);
    if (!task.mailed_to.is_none()) workers_[task.mailed_to.index()].mail.push_back(tasks_.size() - 1);
  }

  bool take(ThreadId thread, Time& spent) {
    Worker& worker = workers_[thread.index()];
    while (!worker.own.empty()) {
      Task& task = tasks_[worker.own.back()];
      worker.own.pop_back();
      if (task.taken) continue;
      if (!task.mailed_to.is_none()) note_runner(task.range, thread);
      begin(worker, task);
      return true;
    }
    while (!worker.mail.empty()) {
      Task& task = tasks_[worker.mail.front()];
      worker.mail.pop_front();
      if (task.taken) continue;
      spent += steal_time_;
      begin(worker, task);
      return true;
    }
    const std::size_t others = workers_.size() - 1;
    if (others == 0) return false;
    const std::size_t start = random_() % others;
    for (std::size_t i = 0; i < others; ++i) {
      const std::size_t victim = (start + i) % others;
      if (steal(workers_[victim < thread.index() ? victim : victim + 1], thread, spent)) return true;
    }
    return false;
  }

  bool steal(Worker& victim, ThreadId thief, Time& spent) {
    for (auto place = victim.own.begin(); place != victim.own.end(); ++place) {
      Task& task = tasks_[*place];
      const bool leave_alone = !task.taken && !task.mailed_to.is_none() && task.mailed_to != thief && workers_[task.mailed_to.index()].idle;
      if (task.taken || leave_alone) continue;
      victim.own.erase(place);
      spent += steal_time_ + steal_time_;  // the victim's lock, the task
      task.range.stolen = true;
      note_runner(task.range, thief);
      begin(workers_[thief.index()], task);
      return true;
    }
    return false;
  }

  void begin(Worker& worker, Task& task) {
    task.taken = true;
    worker.current = task.range;
    worker.has_current = true;
  }

  void note_runner(const TbbRange& range, ThreadId thread) {
    if (affinity_ && range.first_part < range.last_part) (*runner_of_part_)[range.first_part] = thread;
  }

  std::int64_t columns_option_;
  Time spawn_time_, steal_time_;
  bool affinity_;
  RegionView region_;
  std::int64_t columns_ = 1, left_ = 0;
  std::vector<Worker> workers_;
  std::deque<Task> tasks_;  // all of the loop
  std::vector<ThreadId> own_map_;
  std::vector<ThreadId>* runner_of_part_ = nullptr;
  std::mt19937_64 random_;
};

std::vector<ParameterSpec> parameters_of_tbb() {
  return {integer_parameter("columns", "iterations", "columns of a two-dimensional range; 0 = one dimension", 0, 0),
          time_parameter("spawn", "time to split a range and spawn its second half (assumed)", Time::picoseconds(100'000), Time{})};
}

}  // namespace

PolicyEntry<WorkDistribution> tbb() {
  return {.name = "tbb",
          .description = "TBB parallel_for: ranges are halved recursively; idle threads steal the oldest range of a random thread",
          .parameters = parameters_of_tbb(),
          .make = [](const Parameters& parameters) { return std::make_unique<ParallelFor>(parameters, false); },
          .examples = {"tbb:columns=4"}};
}

PolicyEntry<WorkDistribution> tbb_affinity() {
  return {.name = "tbb-affinity",
          .description = "TBB parallel_for with affinity_partitioner: ranges return to the thread that ran them last time",
          .parameters = parameters_of_tbb(),
          .make = [](const Parameters& parameters) { return std::make_unique<ParallelFor>(parameters, true); },
          .examples = {"tbb-affinity:columns=7"}};
}

}  // namespace homenode
