// A thread mapping whose cores a Python function chooses, one call for all threads.
#pragma once

#include <vector>

#include "bindings/python_policy.hpp"
#include "sim/policy/thread_mapping.hpp"

namespace homenode::python {

// The function gets the number of threads and, if it wants it, their graph as arrays. It returns a core for each thread, or a truth value
// for each thread (row) and core (column). Anything else, and every exception, becomes a PolicyError; a UsageError of the function refuses
// the machine or the threads.
class PythonMapping final : public ThreadMapping {
public:
  PythonMapping(PythonPolicy policy, bool wants_graph) : policy_{std::move(policy)}, wants_graph_{wants_graph} {}
  bool wants_graph() const override { return wants_graph_; }
  void prepare(const ThreadGraph*, const Machine& machine, std::size_t threads) override;
  std::vector<CoreId> affinity(ThreadId thread, Time) override { return cores_.at(thread.index()); }

private:
  PythonPolicy policy_;
  bool wants_graph_;
  std::vector<std::vector<CoreId>> cores_;  // by thread
};

}  // namespace homenode::python
