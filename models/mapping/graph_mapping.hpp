// Base of mappings by the graph of threads (who creates whom, who exchanges data): affinity is decided before the run.
#pragma once

#include <string>
#include <vector>

#include "sim/base/errors.hpp"
#include "sim/base/parameters.hpp"
#include "sim/policy/thread_mapping.hpp"
#include "sim/program/thread_graph.hpp"

namespace homenode {

// Assumed: a system call that takes a run queue's lock, about a microsecond.
inline ParameterSpec affinity_call_parameter() {
  return time_parameter("call", "time that the creator of a thread spends on binding it (pthread_setaffinity_np; assumed)",
                        Time::from_seconds(1e-6), Time{});
}

class GraphMapping : public ThreadMapping {
public:
  explicit GraphMapping(const Parameters& parameters) : call_{parameters.time("call")} {}
  bool wants_graph() const final { return true; }
  void prepare(const ThreadGraph* graph, const Machine& machine, std::size_t threads) final {
    if (graph == nullptr || graph->threads.size() != threads)
      throw UsageError("a mapping by the graph of " + std::to_string(graph == nullptr ? 0 : graph->threads.size()) +
                       " threads; allowed: of the " + std::to_string(threads) + " that run");
    affinity_.assign(threads, {});
    map(*graph, machine);
  }
  std::vector<CoreId> affinity(ThreadId thread, Time) final { return affinity_.at(thread.index()); }
  Time pinning_cost() const final { return call_; }

protected:
  virtual void map(const ThreadGraph&, const Machine&) = 0;
  std::vector<std::vector<CoreId>> affinity_;  // by thread; each sorted

private:
  Time call_;
};

}  // namespace homenode
