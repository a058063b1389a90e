// Every mapping by name.
#pragma once

#include "sim/base/registry.hpp"
#include "sim/policy/thread_mapping.hpp"
#include "sim/program/thread_graph.hpp"

namespace homenode {

Registry<ThreadMapping>& thread_mappings();

// Of the threads that will run, for a mapping that wants it; null for others. Throws UsageError if the trace does not tell.
std::shared_ptr<const ThreadGraph> graph_for(const ThreadMapping&, const Workload&, const std::string& name, unsigned threads);

}  // namespace homenode
