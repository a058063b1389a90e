// The event loop in simulated time: threads ask for iterations, slices of them go to the memory model, completions move
// the clock. It knows contracts only: no machine, policy or engine by name.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "sim/hardware/cost_oracle.hpp"
#include "sim/machine/machine.hpp"
#include "sim/machine/scheduler_settings.hpp"
#include "sim/machine/system.hpp"
#include "sim/memory/address_space.hpp"
#include "sim/policy/heap_manager.hpp"
#include "sim/policy/thread_mapping.hpp"
#include "sim/policy/work_distribution.hpp"
#include "sim/program/workload.hpp"
#include "sim/report/report.hpp"
#include "sim/report/timeline.hpp"

namespace homenode {

struct SimulationInput {
  const Workload& workload;
  const Machine& machine;
  ThreadMapping& mapping;
  // A fresh distribution for the region with this label; one that runs tasks for a region of tasks.
  std::function<std::unique_ptr<WorkDistribution>(const std::string& label)> make_distribution;
  MemoryModel& memory;
  AddressSpace& addresses;
  unsigned threads = 1;
  bool oversubscribe = false;
  // Work is cut so that one slice touches at most this much (contracts.md: at most 1/16 of the shared cache); an iteration
  // that touches more is cut inside, as it is at its heap calls.
  Bytes quantum{1 << 20};
  bool keep_log = false;
  HeapManager* heap = nullptr;  // null: PackedHeap
  std::uint64_t seed = 0;       // of who gets a spin lock, and of what the scheduler leaves to chance
  SchedulerSettings scheduler{};
  MappingCost map_costs{};             // of what heaps ask of the system
  TaskCost task_costs{};               // none where nothing is said
  CostOracle* oracle = nullptr;        // for distributions that want estimates; told how every execution ran
  const ThreadGraph* graph = nullptr;  // for mappings that want it
  Timeline* timeline = nullptr;        // told what each thread does
};

// Throws UsageError (threads and cores do not fit, code bound to another team size), PolicyError (a distribution
// that hands an iteration out twice or never), DeadlockError.
RunReport simulate(const SimulationInput&);

// 1/16 of the smallest last-level cache that a thread uses.
Bytes default_quantum(const Machine&);

}  // namespace homenode
