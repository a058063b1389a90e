// A lock of a heap. Fair: first come, first served. A spin lock (gperftools 2.x, src/base/spinlock.cc) is not: given up, it is free, and
// whoever finds it so first has it. Its line is at the core that gave it up, so that this core takes it again at once; a core that spins
// finds it after the line's way, one of them first with a chance in proportion to 1 / way (as if each way were exponential around its
// mean). Who has spun for too long sleeps until it is woken: each release wakes the one that has slept longest, which spins again when it
// is awake.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <random>
#include <vector>

#include "sim/base/ids.hpp"
#include "sim/base/place.hpp"
#include "sim/base/units.hpp"

namespace homenode {

struct SpinLockTimes {
  Time wakeup;                                      // of a sleeper, from the release on
  std::function<Time(CoreId from, CoreId to)> way;  // of the lock's line
};

class CallLock {
public:
  struct Look {  // a thread that waits, and when it looks at the lock again
    ThreadId thread;
    Time time;
  };

  // `spins`: of a spin lock, how long a thread looks for it before it sleeps.
  explicit CallLock(bool fair, Time spins = Time::max()) : fair_{fair}, spins_{spins} {}

  bool fair() const { return fair_; }
  // At `place.now`. True: the thread has the lock; else it waits.
  bool ask(const Place&);
  // A thread that was named in a Look comes at that time. True: it has the lock.
  bool look(const Place&);
  // Fair: the thread that has the lock next, none if nobody waits.
  std::optional<ThreadId> pass_on();
  // Spin lock: who looks at it again, and when.
  std::vector<Look> give_up(const Place&, const SpinLockTimes&, std::mt19937_64&);

private:
  struct Waiting {
    Place place;
    Time since;          // it spins
    bool looks = false;  // will look at a time already named
    bool sleeps = false;
  };
  std::optional<Look> winner(const Place&, const SpinLockTimes&, std::mt19937_64&);
  std::optional<Look> woken(const Place&, const SpinLockTimes&);

  bool fair_;
  Time spins_;
  bool held_ = false;
  std::deque<Waiting> waiting_;  // in the order in which they came
};

}  // namespace homenode
