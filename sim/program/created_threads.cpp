#include "sim/program/created_threads.hpp"

#include <algorithm>
#include <utility>

#include "sim/program/thread_stages.hpp"

namespace homenode {
namespace {

bool is_routine(const Workload& workload, const Execution& execution) {
  return execution.parallel == 0 && workload.regions[execution.region.index()].kind == RegionKind::thread;
}

// Tells the stages of the creations and joins of what the thread runs, and which threads with which routines it creates.
class Events {
public:
  Events(const Workload& workload, ThreadStages& stages) : workload_{workload}, stages_{stages} {}

  void read_all() {
    for (std::size_t e = 0; e < workload_.executions.size(); ++e)
      if (!is_routine(workload_, workload_.executions[e])) read(0, e);
    for (; !created_.empty(); created_.erase(created_.begin())) read(created_.front().first, created_.front().second);
  }

private:
  void read(std::size_t thread, std::size_t execution) {
    const auto body = workload_.body(ExecutionId{execution});
    for (const ItemBlock& block : body->blocks) {
      for (const SyncEvent& event : workload_.patterns[block.pattern.index()].sync_events) {
        const auto other = static_cast<std::size_t>(event.object);
        if (other == 0 || other >= workload_.threads.size()) continue;
        if (event.operation == SyncOperation::join) stages_.joins(thread, other);
        if (event.operation != SyncOperation::create || event.match >= workload_.executions.size()) continue;
        stages_.creates(thread, other);
        created_.emplace_back(other, static_cast<std::size_t>(event.match));
      }
    }
  }

  const Workload& workload_;
  ThreadStages& stages_;
  std::vector<std::pair<std::size_t, std::size_t>> created_;  // thread, its execution; not read yet
};

}  // namespace

CreatedThreads created_threads(const Workload& workload) {
  CreatedThreads result;
  const auto is_created = [&](const Execution& execution) { return is_routine(workload, execution); };
  if (std::none_of(workload.executions.begin(), workload.executions.end(), is_created)) return result;
  const std::size_t threads = workload.threads.size();
  ThreadStages stages{threads};
  Events{workload, stages}.read_all();
  stages.settle();
  std::vector<std::size_t> last;  // by place: the thread that had it last
  for (std::size_t thread = 0; thread < threads; ++thread) {
    const auto free = std::find_if(last.begin(), last.end(), [&](std::size_t other) { return stages.is_over_before(other, thread); });
    result.place.push_back(static_cast<std::size_t>(free - last.begin()));
    if (free == last.end()) {
      last.push_back(thread);
    } else {
      *free = thread;
    }
  }
  result.at_once = last.size();
  return result;
}

}  // namespace homenode
