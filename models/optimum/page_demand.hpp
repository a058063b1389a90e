// Demand on each page by each thread in each phase of a run; it makes the placement problem (placement_problem.hpp).
//
// A phase (lower_bound.hpp) takes at least what each of these needs with the pages where they lie:
//   - a thread: its overheads, cache hits, transfers and reads, each at the idle latency of its home divided by the outstanding misses;
//   - a controller: its lines at the cost of reads and of writes;
//   - a directed link: the bytes of their messages;
// and whatever the placement, the core time of its busiest thread and core (LowerBound). Page faults, latency under load, links' share in
// transfers, and pages that nobody wrote are left out. So T of a placement that moves no page is not above its replayed time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "models/engines/parts/message_costs.hpp"
#include "models/optimum/placement_problem.hpp"
#include "sim/hardware/cache_model.hpp"
#include "sim/machine/machine.hpp"
#include "sim/machine/topology.hpp"

namespace homenode {

class AddressSpace;
struct Place;

class PageDemand {
public:
  // Beyond so many entries the problem is too large, and none is kept.
  static constexpr std::size_t most_entries = 1'000'000;
  static constexpr std::size_t most_seconds = 2'000'000;  // of the problem: pages x rows x nodes

  // One slice: the lines that it exchanges with memory, and what else it takes at least. `least`: with all its lines from the nearest
  // memory; `beside_reads`: without its reads, and without core time that overlaps with them.
  void add(std::uint32_t phase, const Place&, const CacheOutcome&, double least, double beside_reads, const AddressSpace&);

  // None if it is too large.
  std::optional<PlacementProblem> problem(const Machine&, const Topology&, std::uint64_t page_bytes) const;

private:
  struct Use {  // of one page by one thread in one phase
    std::uint32_t phase = 0;
    std::uint32_t thread = 0, node = 0;  // node: of its core
    double read_weight = 0;              // sum of lines / parallelism
    std::uint64_t reads = 0, writebacks = 0, non_temporal = 0;
    auto operator<=>(const Use&) const = default;
  };
  struct Phase {
    std::vector<double> least_of_thread, least_of_core;
    std::map<std::uint32_t, double> beside_reads;  // by thread
  };
  template <typename Add>
  void each_page(const LineRange&, std::uint32_t phase, const Place&, const AddressSpace&, Add);
  Use& use(PageNumber, std::uint32_t phase, const Place&);

  std::vector<Phase> phases_;
  std::map<PageNumber, std::vector<Use>> pages_;
  std::size_t entries_ = 0;
  bool too_large_ = false;
};

}  // namespace homenode
