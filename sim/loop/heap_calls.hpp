// Heap calls in simulated time: a thread waits for the lock that its call needs, holds it, pays the rest of the call, goes on. The heap
// decides where a block lies when its thread has the lock, so whoever gets it first is served first. Calls of the system that change the
// memory map come in between, with the heap's lock held: their own lock, that of the address space, has a fair queue and keeps out page
// faults (system.hpp, MappingCost).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "sim/hardware/memory_model.hpp"
#include "sim/loop/call_lock.hpp"
#include "sim/machine/system.hpp"
#include "sim/machine/topology.hpp"
#include "sim/memory/address_space.hpp"
#include "sim/memory/packed_heap.hpp"
#include "sim/policy/heap_manager.hpp"
#include "sim/program/workload.hpp"
#include "sim/report/report.hpp"

namespace homenode {

class HeapCalls {
public:
  using Wake = CallLock::Look;  // a thread whose call goes on at this time
  struct Costs {
    MappingCost mapping;
    Time wakeup;  // of a thread that sleeps at a spin lock
  };

  // `heap` null: PackedHeap. All must outlive the calls.
  HeapCalls(HeapManager* heap, const Workload&, AddressSpace&, MemoryModel&, std::uint64_t seed, const Costs& costs = {});
  void prepare(const Machine&, const std::vector<CoreId>& core_of_thread);

  // The thread comes to a heap event: true if it is done at once. Otherwise the thread is in a call, and keeps its core, until
  // `resume`, called at the times that `wakes` names, says that it is done.
  bool begin(const Place&, HeapOperation, ObjectId, std::vector<Wake>& wakes);
  bool resume(const Place&, std::vector<Wake>& wakes);
  bool calling(ThreadId thread) const { return thread.index() < calls_.size() && calls_[thread.index()].phase != Phase::none; }
  HeapReport report() const;

private:
  // waits for the heap's lock, holds it, waits for that of the address space, changes the map, is past both
  enum class Phase : std::uint8_t { none, waiting, holding, waits_for_map, changing_map, paying };
  struct Step {
    bool allocates = false;
    ObjectId object;
  };
  struct Call {
    Phase phase = Phase::none;
    Place place;
    std::deque<Step> steps;  // the first is under way
    LockId lock = LockId::none();
    Time came;
    Time change;  // of the map, that is still to be made
    Time cost;    // behind all locks
  };
  struct Spent {  // by what a call does, in the order in which it does it
    Time held, change, cost;
  };

  bool next_step(Call&, Time now, std::vector<Wake>& wakes);
  void hold(Call&, Time now, std::vector<Wake>& wakes);
  bool without_lock(Call&, Time now, std::vector<Wake>& wakes);
  void change_map(Call&, Time now, std::vector<Wake>& wakes);
  void hold_map(Call&, Time now, std::vector<Wake>& wakes);
  void give_up_map(Time now, std::vector<Wake>& wakes);
  void give_up(const Call&, Time now, std::vector<Wake>& wakes);
  bool pay(Call&, Time now, std::vector<Wake>& wakes);
  Spent perform(const Call&, Time now);
  HeapEffect allocate(const Call&, const Place&);
  void bind(const Call&, const Place&, AddressRange block);
  // `elsewhere`: frames of a block whose pages the placement had touched; the heap's own range has none.
  void drop(const AddressSpace::Released&);
  HeapEffect release(const Call&, const Place&, std::uint64_t& elsewhere);
  Time write(AddressRange header, AddressRange block, const Place&);
  AllocationRequest request(ObjectId) const;
  Address heap_address(ObjectId, ThreadId);
  void apply(const std::vector<PageOperation>&, std::uint64_t elsewhere, Spent&);

  PackedHeap packed_;
  HeapManager& heap_;
  const Workload& workload_;
  AddressSpace& addresses_;
  MemoryModel& memory_;
  std::uint64_t seed_;
  Costs costs_;
  SpinLockTimes spin_;
  std::optional<Topology> topology_;
  std::mt19937_64 random_;
  std::vector<Call> calls_;  // by thread
  std::vector<NodeId> node_of_thread_;
  std::map<LockId, CallLock> locks_;
  CallLock map_{true};        // of the address space
  std::set<Address> blocks_;  // addresses that the heap gave
  // Objects whose pages the placement touched before the run: they lie where they are, and their calls take the heap's time. The address
  // is what the heap gave, once it was asked.
  std::map<ObjectId, Address> placed_before_;
  std::uint64_t requested_ = 0;
  HeapReport report_;
};

}  // namespace homenode
