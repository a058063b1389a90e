// What page faults, and those who hold the address space's lock against them, take of a slice's time.
#include <algorithm>
#include <vector>

#include "models/engines/parts/held_back.hpp"
#include "models/engines/parts/page_work.hpp"
#include "models/engines/staged/staged_memory_model.hpp"

namespace homenode {

double StagedMemoryModel::fault_time(const Place& place, std::uint64_t faults, std::uint64_t huge, const AddressSpace& addresses) {
  const std::uint64_t all = faults + hinting_faults_ + collapses_;
  if (all == 0) return 0;
  const auto number = static_cast<double>(all);
  const double serial = number * fault_lock_.seconds(machine_.socket_of(place.node));
  use_.add(lock(), serial);
  double seconds = fault_seconds(options_.system.fault, faults, huge, faults == 0 ? 0 : addresses.settled_cold()) + serial;
  if (faults == 0) return seconds;
  for_each_zeroed(addresses, machine_, options_.system.fault, [&](NodeId home, std::uint64_t lines) {
    if (!options_.fresh_pages) demand_.of(home).zeroed = lines;
    seconds += zeroing_seconds(machine_, static_cast<double>(lines), topology_.side_cache_latency(place.node, home).seconds());
  });
  return seconds;
}

// Of hinting faults and pages that collapsed, while they hold the lock.
double StagedMemoryModel::watched_fault_seconds() const {
  double seconds = static_cast<double>(hinting_faults_) * options_.system.balancing.hinting_fault.seconds();
  if (collapses_ != 0) seconds += static_cast<double>(collapses_) * options_.system.fault.parallel.seconds();
  return seconds;
}

void StagedMemoryModel::note_faults(Running& running, const Place& place, double seconds, std::uint64_t faults) const {
  if (faults == 0 || options_.system.mapping.excludes_faults == 0) return;
  const auto number = static_cast<double>(faults);
  running.faults = {seconds / number, std::max(running.parts[0].minimum.seconds(), seconds) / number};
  running.held_back = held_back((faults_held_until_ - place.now).seconds(), running.faults.interval);
}

Time StagedMemoryModel::hold_back_faults(Time now, Time held) {
  std::vector<FaultingSlice> faulting;
  for (const auto& [activity, running] : running_)
    if (running.faults.held > 0) faulting.push_back(running.faults);
  const bool again = now == faults_held_until_ && now > Time{};  // behind another writer
  double wait = again ? 0 : wait_for_faults(faulting);
  for (const FaultingSlice& slice : faulting)
    if (again) wait = std::max(wait, slice.held);
  const double blocked = wait + held.seconds();
  for (auto& [activity, running] : running_)
    if (running.faults.held > 0)
      running.held_back += again ? held_back_again(blocked, running.faults.interval) : held_back(blocked, running.faults.interval);
  faults_held_until_ = now + Time::from_seconds(wait) + held;
  return Time::from_seconds(wait);
}

// The lock is asked for as the running slices leave it; they do not see these few faults.
Time StagedMemoryModel::faults_in_call(const Place& place, std::uint64_t faults, const AddressSpace& addresses) {
  const FaultCost& cost = options_.system.fault;
  counts_.add_thread(place.thread);
  const double lock = fault_lock_.seconds(machine_.socket_of(place.node));
  double seconds = fault_seconds(cost, faults, 0, std::min(faults, addresses.settled_cold())) + static_cast<double>(faults) * lock;
  for_each_zeroed(addresses, machine_, cost, [&](NodeId home, std::uint64_t lines) {
    seconds += zeroing_seconds(machine_, static_cast<double>(lines), topology_.side_cache_latency(place.node, home).seconds());
    if (options_.fresh_pages) return;
    counts_.memory(place.node, place.thread, home, 0, lines);
    counts_.events.zeroed_bytes += lines * line_bytes_;
  });
  if (options_.system.mapping.excludes_faults != 0) seconds += std::max(0.0, (faults_held_until_ - place.now).seconds());
  return Time::from_seconds(seconds);
}

}  // namespace homenode
