// Work in stages: accesses -> lines that leave the core (CacheModel) -> home nodes (AddressSpace) -> an activity, or two, whose
// progress the shared resources decide (BandwidthSharing). `flow` and `simgrid` differ in the last stage only.
//
// An activity's private minimum is what its core needs when nothing else runs:
//   overhead + page faults (system.hpp) + page walks + work on pages + max(core time, memory time)  (their sum for Overlap::none)
//   memory time = sum over levels of max(hit lines / parallelism x latency, hit bytes / the level's bandwidth to one core)
//               + sum over homes of lines / parallelism x latency(node, home) under load     (Little's law, line by line)
//               + transferred lines / parallelism x core-to-core latency
//               + lines to own / parallelism x (latency to the farthest copy - that of the level which has the line, 0 of the first)
// and the reads at least what the core's exchange with memory takes, all of it at least what non-temporal stores wait, and what loads and
// lines that take turns in the first level take together (slice_cost.hpp).
// Work on pages that a placement watches: hinting faults, scanned pages and migrations at the system's costs. A migrated page's lines
// leave all caches, modified ones to the old home; the page is read there and written at its new home. Likewise a replicated page's, once
// for each copy. Lines of a page that collapses leave all caches, too: most were copies of frames that are given back.
// Where phases of the slice differ (phases.hpp, SliceParts), it is two activities, one after the other: the denser part first, whatever the
// program's order.
// Page faults, hinting faults and writes to replicated pages take the lock of the address space for reading (fault_lock.hpp). While a heap
// call holds it for writing, or waits for it, no fault begins: a slice with faults goes on later by what held_back.hpp expects, behind the
// part in which it faults. Shared: each controller for read bytes / B_read + write bytes / B_write, with B_write from 1/B_1:1 = (1/B_read +
// 1/B_write)/2; each directed link for the bytes of its messages over its raw bandwidth; memory-side caches as memory_side.hpp has it, and
// ports of outermost caches for the lines that come in and go out.
//
// Pages that alternate among nodes: a core's stream is on one page at a time, and while one node serves it, the others do not. Threads and
// nodes are a closed queueing network. T threads, each U seconds at the busiest resource and D at all nodes together, make at least
// T / (D + (T - 1) U) rounds a second (balanced job bounds: Zahorjan et al., CACM 25(2), 1982): a round takes the busiest resource
// U + (D - U) / T. That is for exponential times. Pages are equally long, so half of the addition is taken, by analogy with a queue of
// equal customers (M/D/1). So a slice shares its resources as if it asked for 1 + (D / U - 1) / 2T times as much. A thread whose accesses
// are irregular is as many customers as it has misses in flight. A core's streams count as one; lines from other cores visit no node.
//
// Latency under load: the controllers' curves are taken at the equilibrium of a closed system. If the running activities would
// use a share r0 of a controller at idle latency L0, they use r = r0 L0 / (L0 + extra(r)), at most 1 (a fixed point; extra
// grows, so there is one). It is taken when a slice starts and holds for both its parts; a quantum bounds them.
#pragma once

#include <array>
#include <map>
#include <memory>

#include "models/engines/parts/bandwidth_sharing.hpp"
#include "models/engines/parts/bottlenecks.hpp"
#include "models/engines/parts/cache_stage.hpp"
#include "models/engines/parts/contention_cost.hpp"
#include "models/engines/parts/controller_costs.hpp"
#include "models/engines/parts/core_clocks.hpp"
#include "models/engines/parts/core_times.hpp"
#include "models/engines/parts/engine_options.hpp"
#include "models/engines/parts/held_back.hpp"
#include "models/engines/parts/memory_side.hpp"
#include "models/engines/parts/message_costs.hpp"
#include "models/engines/parts/slice_cost.hpp"
#include "models/engines/parts/traffic_counts.hpp"
#include "models/engines/staged/fault_lock.hpp"
#include "models/engines/staged/slice_demand.hpp"
#include "models/optimum/lower_bound.hpp"
#include "sim/machine/cache_domains.hpp"

namespace homenode {

class StagedMemoryModel final : public MemoryModel {
public:
  // Workload, machine and topology must outlive the model.
  StagedMemoryModel(const Workload&, const Machine&, const Topology&, std::unique_ptr<CacheModel>, std::unique_ptr<BandwidthSharing>,
                    EngineOptions);

  Started start(const Work&, AddressSpace&) override;
  bool can_filter_ahead(AddressSpace& addresses) const override { return addresses.watch().watches() == Watch::nothing; }
  std::uint64_t filter_ahead(const Work& work, AddressSpace& addresses) override { return caches_.filter_ahead(work, addresses); }
  std::uint64_t end_round(std::span<const Work> round, std::uint64_t most, AddressSpace& addresses) override {
    return caches_.end_round(round, most, addresses);
  }
  void order_by_time() override { caches_.order_by_time(); }
  std::optional<Time> next_event() override { return sharing_->next_event(); }
  void advance(Time to, std::vector<Completion>& done) override;
  EventCounts counts() const override { return counts_.events; }
  std::vector<std::vector<BottleneckTime>> bottlenecks() const override { return causes_.ranked(); }
  // What a memory-side cache serves is bound by no controller.
  std::optional<LeastTime> least_time() const override {
    return machine_.has_side_caches() ? std::nullopt : std::optional{bound_.result()};
  }
  void drop(AddressRange, bool discard) override;
  void give_back(AddressRange pages) override { caches_.give_back(lines_of(pages, line_bytes_)); }
  Time hold_back_faults(Time now, Time held) override;
  Time faults_in_call(const Place&, std::uint64_t faults, const AddressSpace&) override;
  void flush(AddressSpace&) override;

private:
  struct Part {
    Time minimum;
    double alone = 0;  // seconds at idle latency, for the offered load
    double share = 1;  // of the slice's uses, but for the lock of page faults
    PrivateCause private_cause = PrivateCause::core;
  };
  struct Running {
    WorkId work;
    ThreadId thread;
    RegionId region;
    Time begin;
    std::array<Part, 2> parts;  // one after the other
    std::size_t part = 0;       // that runs
    std::size_t last_part = 0;
    std::optional<SocketId> faults_on;  // it holds up other threads' page faults from there
    std::vector<ResourceUse> uses;      // seconds that its lines, messages and page faults need
    FaultingSlice faults;               // while its first part runs, `held` 0 without
    double held_back = 0;               // seconds, still to be waited for
    bool waiting = false;               // it does so now
    double crowding = 1;                // lines and messages count so often in the sharing
    std::vector<double> load_before;    // by use: load_ when the part began

    const Part& now() const { return parts[part]; }
  };

  ResourceId lock() const { return ResourceId{causes_.page_faults()}; }
  ResourceId contended_line() const { return ResourceId{causes_.contended_line()}; }
  // Of those, what one slice does comes behind what another does; they know no crowd, and are asked for in the first part.
  bool is_serial(ResourceId resource) const { return resource == lock() || resource == contended_line(); }

  // The phases of a slice's start, in their order.
  CacheStage::Passed pass_caches(const Work&, AddressSpace&, double& kernel_seconds);
  void work_on_pages(const Place&, AddressSpace&, double& kernel_seconds);
  void note_written_earlier(const CacheOutcome&, const AddressSpace&);
  void tell_traffic(const CacheOutcome&, const Place&, AddressSpace&);
  double from_memory(const CacheOutcome&) const;  // share of reads in all that the outermost cache was asked for
  double hit_time(const CacheOutcome&) const;
  double transfer_time(const CacheOutcome&, const Place&, const AddressSpace&);
  double ownership_time(const CacheOutcome&, const Place&);
  double contention_time(const Contention&, const Place&, double alone);
  double streaming_time(NodeId writer) const;
  // Kernel seconds of page faults; adds the zeroed lines to the demand and the lock, for these and for hinting faults, to the resources.
  double fault_time(const Place&, std::uint64_t faults, std::uint64_t huge, const AddressSpace&);
  double watched_fault_seconds() const;
  void note_faults(Running&, const Place&, double seconds, std::uint64_t faults) const;
  void go_on(Running&&, Time now, std::vector<Completion>& done);  // behind a part that has ended
  void use_resources(const Place&, const CacheOutcome&);
  void use_port(CoreId, const CacheOutcome&);
  double exchange_time() const;  // of the lines that the core exchanges with all memory
  double idle_read_time(NodeId reader) const;
  double loaded_read_time(NodeId reader);  // under the load that is offered now
  void note_bound(const Work&, const FilteredSlice&, CoreSeconds<double>, double around, std::uint64_t faults, const AddressSpace&);
  void count(const CacheOutcome&, const Place&);
  void list_uses(const Work&, const CacheOutcome&, Running&);
  std::size_t threads_of(ExecutionId) const;
  double customers(const Work&, const CacheOutcome&) const;  // of the closed queueing network
  WorkId begin(Running);
  void run(Running);                                             // its part
  double seconds_now(const Running&, const ResourceUse&) const;  // of a resource, that its part uses

  void use_links(const std::vector<LinkBytes>&, std::uint64_t lines);
  void count_latency(const char* source, Time latency, std::uint64_t lines);
  std::size_t cause_of(const Running&, Time duration) const;

  const Workload& workload_;
  const Machine& machine_;
  const Topology& topology_;
  std::uint64_t line_bytes_;
  CacheStage caches_;
  std::unique_ptr<BandwidthSharing> sharing_;
  EngineOptions options_;
  MessageCosts messages_;
  CacheDomains domains_;
  LowerBound bound_;
  FaultLock fault_lock_;
  MemorySide side_;
  LineCosts port_costs_;  // 0 without ports
  std::size_t first_side_cache_, first_port_;
  std::vector<LineCosts> side_costs_;                     // by node; 0 without a memory-side cache
  std::vector<double> nearest_;                           // by node: seconds to the nearest memory
  std::vector<std::vector<std::size_t>> controllers_of_;  // by node
  std::vector<LineCosts> line_costs_;                     // by controller
  CoreTimes core_times_;
  CoreClocks core_clocks_;
  Bottlenecks causes_;

  // Of the slice that starts.
  double cycle_ = 1;  // of its core (CoreClocks)
  SliceDemand demand_;
  ResourceDemand use_;
  std::uint64_t hinting_faults_ = 0, collapses_ = 0;
  double visits_ = 0;                  // sum over homes: seconds of what serves its lines for the longest, a controller or a link
  std::vector<double> visited_links_;  // of one home: seconds, by link
  std::vector<HomeShare> shares_;      // scratch
  CacheOutcome moved_;                 // scratch: of pages that moved, or went

  std::map<ActivityId, Running> running_;
  std::uint64_t begun_ = 0;      // slices
  std::vector<double> offered_;  // by resource: seconds a second that running activities would use at idle latency
  std::vector<double> load_;     // by resource: the integral of offered_ over time
  Time now_;
  Time faults_held_until_;
  std::vector<ActivityEnd> ended_;
  TrafficCounts counts_;
  std::vector<std::pair<const char*, std::map<std::int64_t, std::uint64_t>*>> sources_;  // into its latencies, by literal
};

}  // namespace homenode
