// What threads wait for in simulated time. Mutexes and critical sections contend again; what a condition, a semaphore, a join or a spin on
// an atomic waited for at capture is recorded, and they wait for that again.
//
// Who polls for a lock gets it first come, first served. Who sleeps does not, as in glibc (nptl/lowlevellock.c): a lock that is given up is
// free, the first sleeper is woken and asks again, and whoever comes meanwhile has it. Handed over, it would be kept for as long as
// waking takes, and one hand-over would bring the next: all would sleep in turn.
//
// Operations (object, match), as the trace schema has them (contracts.md, SYNC):
//   lock, critical_enter          the mutex is taken, or the thread queues for it; unlock, critical_leave hand it to the next
//   try_lock                      match 1: it succeeded at capture and is a lock; 0: it failed and is nothing
//   ordered_enter, ordered_leave  match = which turn, from 0: turn k enters when all turns before it are done in region `object`
//   signal, broadcast             match = a number of its own; also a semaphore's post and an atomic's store that a spin waits for
//   wait, atomic_wait             match = the number of the signal that ended it; 0: nothing did. A mutex that a condition's wait
//                                 releases shows as unlock before and lock behind it
//   barrier                       match = how many threads it waits for
//   create, join                  object = the thread
// Other operations (tasks) pass: they belong to sim/loop/tasks.hpp.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/ids.hpp"
#include "sim/program/workload.hpp"

namespace homenode {

class Synchronisation {
public:
  // The thread comes to an event: true if it goes on at once. Otherwise it waits, and some later call names it in `released`.
  // `sleeps`: where somebody holds the lock, it does not poll but sleeps; `take_woken` names it when it is to come to the event again.
  // Throws PolicyError for an unlock by a thread that does not hold the lock.
  bool pass(ThreadId, const SyncEvent&, std::vector<ThreadId>& released, bool sleeps = false);
  std::vector<ThreadId> take_woken() { return std::exchange(woken_, {}); }
  void thread_ended(ThreadId, std::vector<ThreadId>& released);
  // Turn left its ordered region, or ended without entering it.
  void turn_done(std::uint64_t object, std::uint64_t turn, std::vector<ThreadId>& released);

  bool anybody_waits() const { return !waits_.empty(); }
  // "thread 1 waits for lock 7, held by thread 2; thread 2 waits for ..."; the cycle first if there is one.
  std::string describe_waits() const;

private:
  struct Lock {
    ThreadId holder = ThreadId::none();
    struct Waiting {
      ThreadId thread;
      bool sleeps = false;
    };
    std::deque<Waiting> queue;
  };
  using Object = std::pair<int, std::uint64_t>;  // kind of object, number: a mutex and a critical section never are the same
  struct Wait {
    std::string what;
    ThreadId holder = ThreadId::none();  // of the lock; the thread to join
  };

  bool acquire(ThreadId, Object, const std::string& what, bool sleeps);
  void give_up(ThreadId, Object, const std::string& what, std::vector<ThreadId>& released);
  bool wait_for(ThreadId, std::map<std::uint64_t, std::vector<ThreadId>>& waiting, std::uint64_t key, Wait);
  void release_all(std::map<std::uint64_t, std::vector<ThreadId>>& waiting, std::uint64_t key, std::vector<ThreadId>& released);

  std::map<Object, Lock> locks_;
  std::vector<ThreadId> woken_;
  std::set<std::uint64_t> signalled_;
  std::map<std::uint64_t, std::vector<ThreadId>> waiting_for_signal_, waiting_for_end_, at_barrier_;
  struct Turns {
    std::uint64_t next = 0;         // all before it are done
    std::set<std::uint64_t> later;  // done as well
    std::map<std::uint64_t, ThreadId> waiting;
  };
  std::map<std::uint64_t, Turns> turns_;  // by ordered region
  std::set<ThreadId> ended_;
  std::map<ThreadId, Wait> waits_;
};

}  // namespace homenode
