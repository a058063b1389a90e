/* Mutexes, spin locks, reader-writer locks, pthread_once. The C library's own objects are operated, but only where that does not
 * block: the kinds of mutexes, their errors and what libraries do with them stay as they are.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>

#include "program_threads.h"

static bool is_free(void* mutex) { return (((pthread_mutex_t*)mutex)->__data.__lock & 0x3fffffff) == 0; } /* but for its flags */
static bool recursive(const pthread_mutex_t* m) { return (m->__data.__kind & 3) == PTHREAD_MUTEX_RECURSIVE_NP; }
static bool checks_errors(const pthread_mutex_t* m) { return (m->__data.__kind & 3) == PTHREAD_MUTEX_ERRORCHECK_NP; }

/* A worker that comes for its next task at once would take them all, as it holds the token: who had a mutex last lets the others go first.
 * After many turns they come more rarely, so that a mutex around every update costs no more than it must. The twin does the same. */
enum { TURNS = 512 };
static void let_others_go_first(pthread_mutex_t* m) {
  struct thread* me = hn_thread();
  if (m->__data.__owner == me->tid) return; /* it has it: a recursive one */
  const bool goes_on = hn_takes_turns(me, m);
  struct lock* lock = hn_lock_of(m);
  if (lock->last == me && !goes_on && hn_sharers(hn_self()) == 1 && ++lock->in_a_row >> (lock->passed_on / TURNS) != 0) {
    lock->in_a_row = 0;
    const bool passed_on = hn_threads_give_way();
    lock = hn_lock_of(m);
    if (passed_on && lock->passed_on < 31u * TURNS) ++lock->passed_on;
  }
  if (lock->last != me) lock->last = me, lock->in_a_row = 0;
}

static bool got_it(int error) { return error == 0 || error == EOWNERDEAD; }
int hn_mutex_lock(pthread_mutex_t* m, const struct timespec* deadline, clockid_t clock) {
  let_others_go_first(m);
  for (;;) {
    const int error = REAL(pthread_mutex_trylock)(m);
    if (error != EBUSY) {
      if (got_it(error) && !(recursive(m) && m->__data.__count > 1)) {
        hn_sync(SYNC_LOCK, hn_lock_of(m)->number, hn_lock_of(m)->acquired);
        hn_thread()->had = m;
      }
      return error;
    }
    if (checks_errors(m) && hn_thread() && m->__data.__owner == hn_thread()->tid) return EDEADLK;
    if (!hn_block(is_free, m, "pthread_mutex_lock", deadline, clock)) {
      hn_sync(SYNC_TRY_LOCK, hn_lock_of(m)->number, 0);
      return ETIMEDOUT;
    }
  }
}
int hn_mutex_unlock(pthread_mutex_t* m) {
  const bool outermost = !(recursive(m) && m->__data.__count > 1);
  const int error = REAL(pthread_mutex_unlock)(m);
  if (!error && outermost && hn_started) hn_sync(SYNC_UNLOCK, hn_lock_of(m)->number, hn_lock_of(m)->acquired++);
  hn_progress();
  return error;
}
int pthread_mutex_init(pthread_mutex_t* m, const pthread_mutexattr_t* attributes) {
  if (hn_thread()) hn_renew_lock(m);
  return REAL(pthread_mutex_init)(m, attributes);
}
int pthread_mutex_lock(pthread_mutex_t* m) { return hn_thread() ? hn_mutex_lock(m, 0, 0) : REAL(pthread_mutex_lock)(m); }
int pthread_mutex_timedlock(pthread_mutex_t* m, const struct timespec* deadline) {
  return hn_thread() ? hn_mutex_lock(m, deadline, CLOCK_REALTIME) : REAL(pthread_mutex_timedlock)(m, deadline);
}
int pthread_mutex_clocklock(pthread_mutex_t* m, clockid_t clock, const struct timespec* deadline) {
  return hn_thread() ? hn_mutex_lock(m, deadline, clock) : REAL(pthread_mutex_clocklock)(m, clock, deadline);
}
int pthread_mutex_trylock(pthread_mutex_t* m) {
  const int error = REAL(pthread_mutex_trylock)(m);
  if (!hn_thread()) return error;
  if (got_it(error)) {
    if (!(recursive(m) && m->__data.__count > 1)) hn_sync(SYNC_TRY_LOCK, hn_lock_of(m)->number, 1);
    hn_thread()->had = m;
  } else if (error == EBUSY) {
    hn_sync(SYNC_TRY_LOCK, hn_lock_of(m)->number, 0);
    hn_threads_give_way();
  }
  return error;
}
int pthread_mutex_unlock(pthread_mutex_t* m) {
  if (!hn_thread()) return REAL(pthread_mutex_unlock)(m);
  const int error = hn_mutex_unlock(m);
  hn_threads_spin(m);
  return error;
}

/* ---- spin locks ---- */
static bool spin_is_free(void* lock) { return *(volatile int*)lock == 1; } /* x86-64: 1 = free */
int pthread_spin_init(pthread_spinlock_t* lock, int shared) {
  if (hn_thread()) hn_renew_lock((void*)lock);
  return REAL(pthread_spin_init)(lock, shared);
}
int pthread_spin_lock(pthread_spinlock_t* lock) {
  if (!hn_thread()) return REAL(pthread_spin_lock)(lock);
  while (REAL(pthread_spin_trylock)(lock) != 0) hn_block(spin_is_free, (void*)lock, "pthread_spin_lock", 0, 0);
  hn_sync(SYNC_LOCK, hn_lock_of((void*)lock)->number, hn_lock_of((void*)lock)->acquired);
  return 0;
}
int pthread_spin_trylock(pthread_spinlock_t* lock) {
  const int error = REAL(pthread_spin_trylock)(lock);
  if (!hn_thread()) return error;
  hn_sync(SYNC_TRY_LOCK, hn_lock_of((void*)lock)->number, error == 0);
  if (error) hn_threads_give_way();
  return error;
}
int pthread_spin_unlock(pthread_spinlock_t* lock) {
  const int error = REAL(pthread_spin_unlock)(lock);
  if (!hn_thread()) return error;
  hn_sync(SYNC_UNLOCK, hn_lock_of((void*)lock)->number, hn_lock_of((void*)lock)->acquired++);
  hn_progress();
  hn_threads_spin((const void*)lock);
  return error;
}

/* ---- reader-writer locks: a trace has locks only, which writers take; readers pass ---- */
static uint64_t readers_passed;
static const void* reader_site;
#ifndef HOMENODE_TWIN
void hn_reader_losses(void) {
  if (!readers_passed) return;
  hn_control(HN_LOSS);
  hn_u(readers_passed), hn_site(reader_site), hn_s("read lock of a reader-writer lock: replayed without waiting for writers");
}
#endif
static void note_reader(const void* site) {
  if (!hn_on) return;
  if (!readers_passed++) reader_site = site;
}
static bool may_be_tried(void* lock) { return (void)lock, false; }
/* Its state has no simple test: whoever waits is asked again whenever others have gone on. */
static int take_rwlock(pthread_rwlock_t* lock, bool writes, const struct timespec* deadline, clockid_t clock, const void* site) {
  for (;;) {
    const int error = writes ? REAL(pthread_rwlock_trywrlock)(lock) : REAL(pthread_rwlock_tryrdlock)(lock);
    if (error == 0) {
      hn_object(lock, OBJECT_RWLOCK)->rwlock.writes = writes;
      if (writes)
        hn_sync(SYNC_LOCK, hn_lock_of(lock)->number, hn_lock_of(lock)->acquired);
      else
        note_reader(site);
    }
    if (error != EBUSY) return error;
    if (hn_sharers(hn_self()) > 1)
      hn_give_way();
    else if (!hn_threads_give_way() && !hn_block(may_be_tried, lock, "a reader-writer lock", deadline, clock))
      return ETIMEDOUT;
  }
}
int pthread_rwlock_init(pthread_rwlock_t* lock, const pthread_rwlockattr_t* attributes) {
  if (hn_thread()) hn_renew_lock(lock);
  return REAL(pthread_rwlock_init)(lock, attributes);
}
int pthread_rwlock_rdlock(pthread_rwlock_t* lock) {
  return hn_thread() ? take_rwlock(lock, false, 0, 0, RA) : REAL(pthread_rwlock_rdlock)(lock);
}
int pthread_rwlock_wrlock(pthread_rwlock_t* lock) {
  return hn_thread() ? take_rwlock(lock, true, 0, 0, RA) : REAL(pthread_rwlock_wrlock)(lock);
}
int pthread_rwlock_timedrdlock(pthread_rwlock_t* lock, const struct timespec* deadline) {
  return hn_thread() ? take_rwlock(lock, false, deadline, CLOCK_REALTIME, RA) : REAL(pthread_rwlock_timedrdlock)(lock, deadline);
}
int pthread_rwlock_timedwrlock(pthread_rwlock_t* lock, const struct timespec* deadline) {
  return hn_thread() ? take_rwlock(lock, true, deadline, CLOCK_REALTIME, RA) : REAL(pthread_rwlock_timedwrlock)(lock, deadline);
}
int pthread_rwlock_clockrdlock(pthread_rwlock_t* lock, clockid_t clock, const struct timespec* deadline) {
  return hn_thread() ? take_rwlock(lock, false, deadline, clock, RA) : REAL(pthread_rwlock_clockrdlock)(lock, clock, deadline);
}
int pthread_rwlock_clockwrlock(pthread_rwlock_t* lock, clockid_t clock, const struct timespec* deadline) {
  return hn_thread() ? take_rwlock(lock, true, deadline, clock, RA) : REAL(pthread_rwlock_clockwrlock)(lock, clock, deadline);
}
static int try_rwlock(pthread_rwlock_t* lock, bool writes, int error, const void* site) {
  if (error == 0) {
    hn_object(lock, OBJECT_RWLOCK)->rwlock.writes = writes;
    if (writes)
      hn_sync(SYNC_TRY_LOCK, hn_lock_of(lock)->number, 1);
    else
      note_reader(site);
  } else {
    hn_threads_give_way();
  }
  return error;
}
int pthread_rwlock_tryrdlock(pthread_rwlock_t* lock) {
  const int error = REAL(pthread_rwlock_tryrdlock)(lock);
  return hn_thread() ? try_rwlock(lock, false, error, RA) : error;
}
int pthread_rwlock_trywrlock(pthread_rwlock_t* lock) {
  const int error = REAL(pthread_rwlock_trywrlock)(lock);
  return hn_thread() ? try_rwlock(lock, true, error, RA) : error;
}
int pthread_rwlock_unlock(pthread_rwlock_t* lock) {
  const int error = REAL(pthread_rwlock_unlock)(lock);
  if (!hn_thread() || error) return error;
  struct object* o = hn_object(lock, OBJECT_RWLOCK);
  if (o->rwlock.writes) hn_sync(SYNC_UNLOCK, hn_lock_of(lock)->number, hn_lock_of(lock)->acquired++);
  o->rwlock.writes = false;
  hn_progress();
  hn_threads_spin(lock);
  return error;
}

/* ---- once ---- */
static bool is_done(void* object) { return !((struct object*)object)->once.running; }
static void stop_running(struct object** o) { (*o)->once.running = false, hn_progress(); } /* also when the routine throws */
int pthread_once(pthread_once_t* control, void (*routine)(void)) {
  if (!hn_thread()) return REAL(pthread_once)(control, routine);
  enum { DONE = 2 }; /* glibc's */
  struct object* o = hn_object(control, OBJECT_ONCE);
  while (!(__atomic_load_n(control, __ATOMIC_ACQUIRE) & DONE)) {
    if (o->once.running) {
      hn_block(is_done, o, "pthread_once", 0, 0);
      continue;
    }
    struct object* runs __attribute__((cleanup(stop_running))) = o;
    o->once.running = true;
    routine();
    __atomic_store_n(control, DONE, __ATOMIC_RELEASE);
  }
  return 0;
}
