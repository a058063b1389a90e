// Work in stages: accesses -> lines that leave the core (CacheModel) -> home nodes (AddressSpace) -> one Activity, whose
// progress the shared resources decide (BandwidthSharing). `flow` and `simgrid` differ in the last stage only.
//
// An activity's private minimum is what its core needs when nothing else runs:
//   overhead + page faults (system.hpp) + page walks + work on pages + max(core time, memory time)  (their sum for Overlap::none)
//   memory time = sum over levels of max(hit lines / parallelism x latency, hit bytes / the level's bandwidth to one core)
//               + sum over homes of lines / parallelism x latency(node, home) under load     (Little's law, line by line)
//               + transferred lines / parallelism x core-to-core latency
// Work on pages that a placement watches: hinting faults, scanned pages and migrations at the system's costs. A migrated page's lines
// leave all caches, modified ones to the old home; the page is read there and written at its new home.
// Shared: each controller for read bytes / B_read + write bytes / B_write, with B_write from 1/B_1:1 = (1/B_read + 1/B_write)/2;
// each directed link for the bytes of its messages over its raw bandwidth.
//
// Latency under load: the controllers' curves are taken at the equilibrium of a closed system. If the running activities would
// use a share r0 of a controller at idle latency L0, they use r = r0 L0 / (L0 + extra(r)), at most 1 (a fixed point; extra
// grows, so there is one). It is taken when an activity starts and holds for its life, which a quantum bounds.
#pragma once

#include <map>
#include <memory>

#include "models/engines/parts/bandwidth_sharing.hpp"
#include "models/engines/parts/bottlenecks.hpp"
#include "models/engines/parts/cache_stage.hpp"
#include "models/engines/parts/controller_load.hpp"
#include "models/engines/parts/core_times.hpp"
#include "models/engines/parts/message_costs.hpp"
#include "models/optimum/lower_bound.hpp"
#include "models/optimum/page_demand.hpp"
#include "sim/hardware/memory_model.hpp"
#include "sim/machine/machine.hpp"
#include "sim/machine/physical_memory.hpp"
#include "sim/machine/system.hpp"
#include "sim/machine/topology.hpp"
#include "sim/memory/address_space.hpp"
#include "sim/report/timeline.hpp"

namespace homenode {

struct StagedOptions {
  StoreTreatment stores = StoreTreatment::regular;  // of streamable stores
  OperatingSystem system{};
  Bytes page{4096};                   // as of the address space
  PageDemand* page_demand = nullptr;  // if there, it is told what each slice asks of its pages
  // To be filled, or read if it is: of the caches' part of `recorded` (cache_record.hpp). Not for transparent huge pages, nor where
  // pages move: there the caches' part depends on the placement.
  std::shared_ptr<CacheRecord> record;
  std::string recorded;
  std::uint64_t seed = 0;                         // of frames: of caches that the engine makes itself, and of a ring's memory
  std::optional<PhysicalMemory> physical_memory;  // of a ring; else its frames are drawn by the seed
  Timeline* timeline = nullptr;                   // told what is used when
};

class StagedMemoryModel final : public MemoryModel {
public:
  // Workload, machine and topology must outlive the model.
  StagedMemoryModel(const Workload&, const Machine&, const Topology&, std::unique_ptr<CacheModel>, std::unique_ptr<BandwidthSharing>,
                    StagedOptions);

  Started start(const Work&, AddressSpace&) override;
  bool can_filter_ahead(AddressSpace& addresses) const override { return addresses.watch().watches() == Watch::nothing; }
  std::uint64_t filter_ahead(const Work& work, AddressSpace& addresses) override { return caches_.filter_ahead(work, addresses); }
  void order_by_time() override { caches_.order_by_time(); }
  std::optional<Time> next_event() override { return sharing_->next_event(); }
  void advance(Time to, std::vector<Completion>& done) override;
  EventCounts counts() const override { return counts_; }
  std::vector<std::vector<BottleneckTime>> bottlenecks() const override { return causes_.ranked(); }
  std::optional<LeastTime> least_time() const override { return bound_.result(); }
  void drop(std::uint64_t first_address, std::uint64_t last_address, bool discard) override;
  void flush(AddressSpace&) override;

private:
  // Lines that one slice exchanges with the memory of one node.
  struct HomeDemand {
    double read_weight = 0;  // sum of lines / parallelism
    std::uint64_t reads = 0, writebacks = 0, non_temporal = 0;
    std::uint64_t zeroed = 0;  // written by the kernel
    std::uint64_t writes() const { return writebacks + non_temporal + zeroed; }
  };
  struct Running {
    ActivityId activity;
    ThreadId thread;
    RegionId region;
    Time begin, minimum;
    std::size_t private_cause = 0;      // of the model
    std::optional<SocketId> faults_on;  // it holds up other threads' page faults from there
    std::vector<ResourceUse> uses;
    double share_of_second = 0;       // 1 / its time at idle latency, for the offered load
    std::vector<double> load_before;  // by use: load_ when it began
  };

  std::size_t lock() const { return offered_.size() - 1; }  // the resource

  std::uint64_t line_bytes() const;
  void work_on_pages(const Place&, AddressSpace&);
  void tell_traffic(const Place&, AddressSpace&);
  // Kernel seconds; adds the zeroed lines to the demand and the lock to the resources.
  double fault_seconds(const Place&, std::uint64_t faults, const AddressSpace&);
  double lock_seconds(SocketId) const;
  Time lock_transfer(SocketId, SocketId) const;  // of the lock's line between two cores
  Time transfers_from_others(SocketId) const;    // summed over the running slices that fault
  void collect_demand(NodeId reader, const AddressSpace&);
  void use_link_bytes(const std::vector<LinkBytes>&, std::uint64_t lines);
  void note_bound(const Work&, double least_seconds, std::uint64_t faults);
  void use_resources(const Place&);
  double transfer_seconds(const Place&, const AddressSpace&);
  void count_traffic(const Place&);
  void count_latency(const char* source, Time latency, std::uint64_t lines);
  const char* memory_source(NodeId reader, NodeId home) const;
  void remember(ResourceId resource, double seconds);

  const Workload& workload_;
  const Machine& machine_;
  const Topology& topology_;
  CacheStage caches_;
  std::unique_ptr<BandwidthSharing> sharing_;
  StagedOptions options_;
  MessageCosts messages_;
  LowerBound bound_;
  std::vector<double> nearest_;                           // by node: seconds to the nearest memory
  std::vector<unsigned> faulting_;                        // by socket: running slices that fault
  std::int64_t faulting_slices_ = 0;                      // their sum
  Time faulting_pairs_;                                   // transfers between them, summed over ordered pairs
  std::vector<std::vector<std::size_t>> controllers_of_;  // by node
  std::vector<double> read_cost_, write_cost_;            // seconds a line, by controller
  CoreTimes core_times_;

  // Scratch of one slice.
  const CacheOutcome* outcome_ = nullptr;  // of the accesses
  CacheOutcome moved_;                     // of pages that moved, or went
  double kernel_seconds_ = 0;              // of work on pages
  std::vector<HomeDemand> demand_;
  std::vector<HomeShare> shares_;
  std::vector<double> use_;  // seconds by resource
  std::vector<std::uint32_t> used_;

  std::map<ActivityId, Running> running_;
  std::vector<double> offered_;  // by resource: seconds a second that running activities would use at idle latency
  std::vector<double> load_;     // by resource: the integral of offered_ over time
  Time now_;
  BindingCauses causes_;
  std::vector<ActivityEnd> ended_;
  ExecutionId body_of_ = ExecutionId::none();
  std::shared_ptr<const ExecutionBody> body_;
  EventCounts counts_;
  std::vector<std::pair<const char*, std::map<std::int64_t, std::uint64_t>*>> sources_;  // into counts_.latency_ns, by literal
};

}  // namespace homenode
