// What a thread does at the synchronisation of its iterations, and whom it wakes: those that it releases have passed the event that they
// waited at, and hear of it over the caches. The rules of who waits for whom are in synchronisation.hpp.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/loop/synchronisation.hpp"
#include "sim/loop/threads.hpp"
#include "sim/loop/time_accounts.hpp"

namespace homenode {

class SyncEvents {
public:
  // Both must outlive it.
  SyncEvents(Threads& threads, TimeAccounts& accounts) : threads_{threads}, accounts_{accounts} {}

  // The thread, which is deciding, comes to the event: true if it passes at once. Else it waits, or it is ready again when the
  // scheduler's charges are paid.
  // Throws PolicyError for an event that makes no sense.
  bool pass(std::size_t t, SyncEvent);
  // The thread's iteration of an ordered region is over.
  void end_turn(std::size_t t, std::int64_t iteration);
  // The thread, which the program created, has nothing more to do.
  void end_thread(std::size_t t);

  const Synchronisation& synchronisation() const { return synchronisation_; }

private:
  void create(const SyncEvent&);
  void wake_released(std::size_t by);
  void wake(std::size_t t, Time);
  bool pays_charges(std::size_t t);

  Threads& threads_;
  TimeAccounts& accounts_;
  Synchronisation synchronisation_;
  std::vector<ThreadId> released_;  // scratch
};

}  // namespace homenode
