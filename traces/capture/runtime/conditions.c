/* Condition variables, barriers, semaphores. A signal has a number of its own, which the wait that it ends carries. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>

#include "program_threads.h"

int hn_mutex_lock(pthread_mutex_t* m, const struct timespec* deadline, clockid_t clock);
int hn_mutex_unlock(pthread_mutex_t* m);

/* ---- conditions: waiters in the order of their coming ---- */

/* By threads that are none of the program's: a library's. Whom they mean is not looked for, so that all waiters wake up and wait again
 * where it was not them, as the standard allows.
 */
static unsigned outside;
static bool is_signalled(void* waiter) {
  const struct waiter* w = waiter;
  return w->signalled || __atomic_load_n(&outside, __ATOMIC_ACQUIRE) != w->outside;
}
static void forget(struct object* o, const struct waiter* gone) {
  struct waiter* before = 0;
  for (struct waiter* w = o->condition.first; w; before = w, w = w->next) {
    if (w != gone) continue;
    *(before ? &before->next : &o->condition.first) = w->next;
    if (o->condition.last == w) o->condition.last = before;
    return;
  }
}
/* A thread signals a condition, locks the same mutex again, and waits because it is another's turn. If the others went first at that lock,
 * it would be its turn again, and the trace would have no wait. So after a signal the thread keeps the token at its next lock of that
 * mutex, if several threads signal with it, and if threads that kept the token have waited at least as often as not. Workers of a pool do
 * not wait: they keep it once. */
enum { MOST_TURNS = 8 };
bool hn_takes_turns(struct thread* me, void* mutex) {
  struct lock* lock = hn_lock_of(mutex);
  if (me->went_on == mutex) --lock->turns, me->went_on = 0;
  if (me->signalled != mutex) return false;
  me->signalled = 0;
  if (lock->turns < 0) return false;
  me->went_on = mutex;
  return true;
}
static void note_signaller(struct thread* me) {
  if (!me->had) return;
  struct lock* lock = hn_lock_of(me->had);
  lock->by_several |= lock->signaller && lock->signaller != me;
  lock->signaller = me;
  if (lock->by_several) me->signalled = me->had;
}
static void note_wait(struct thread* me, void* mutex) {
  if (me->went_on == mutex) {
    struct lock* lock = hn_lock_of(mutex);
    lock->turns += lock->turns < MOST_TURNS;
  }
  me->went_on = me->signalled = 0;
}
static int wait(pthread_cond_t* c, pthread_mutex_t* m, const struct timespec* deadline, clockid_t clock) {
  struct object* o = hn_object(c, OBJECT_CONDITION);
  struct thread* me = hn_thread();
  note_wait(me, m);
  struct waiter w = {.outside = __atomic_load_n(&outside, __ATOMIC_ACQUIRE)}; /* before the mutex is free */
  const int error = hn_mutex_unlock(m);
  if (error) return error;
  *(o->condition.last ? &o->condition.last->next : &o->condition.first) = &w;
  o->condition.last = &w;
  me->cancellable = hn_sharers(hn_self()) == 1;
  const bool in_time = hn_block(is_signalled, &w, "pthread_cond_wait", deadline, clock);
  me->cancellable = false;
  if (!w.signalled) forget(o, &w);
  hn_sync(SYNC_WAIT, hn_lock_of(c)->number, w.match);
  const int relocked = hn_mutex_lock(m, 0, 0);
  hn_test_cancel();
  return relocked ? relocked : in_time ? 0 : ETIMEDOUT;
}
int pthread_cond_init(pthread_cond_t* c, const pthread_condattr_t* attributes) {
  if (hn_thread()) {
    hn_renew_lock(c);
    struct object* o = hn_object(c, OBJECT_CONDITION);
    o->condition.first = o->condition.last = 0;
  }
  return REAL(pthread_cond_init)(c, attributes);
}
int pthread_cond_wait(pthread_cond_t* c, pthread_mutex_t* m) { return hn_thread() ? wait(c, m, 0, 0) : REAL(pthread_cond_wait)(c, m); }
int pthread_cond_timedwait(pthread_cond_t* c, pthread_mutex_t* m, const struct timespec* deadline) {
  if (!hn_thread()) return REAL(pthread_cond_timedwait)(c, m, deadline);
  const bool monotonic = c->__data.__wrefs & 2; /* glibc's: what its attributes chose */
  return wait(c, m, deadline, monotonic ? CLOCK_MONOTONIC : CLOCK_REALTIME);
}
int pthread_cond_clockwait(pthread_cond_t* c, pthread_mutex_t* m, clockid_t clock, const struct timespec* deadline) {
  return hn_thread() ? wait(c, m, deadline, clock) : REAL(pthread_cond_clockwait)(c, m, clock, deadline);
}
static void wake(struct object* o, bool all, uint64_t number) {
  while (o->condition.first) {
    struct waiter* w = o->condition.first;
    o->condition.first = w->next;
    w->match = number, w->signalled = true;
    if (!all) break;
  }
  if (!o->condition.first) o->condition.last = 0;
  hn_progress();
}
static void signal(pthread_cond_t* c, bool all) {
  const uint64_t number = hn_next_signal();
  hn_sync(all ? SYNC_BROADCAST : SYNC_SIGNAL, hn_lock_of(c)->number, number);
  note_signaller(hn_thread());
  wake(hn_object(c, OBJECT_CONDITION), all, number);
}
/* Threads that are none of the program's wait in the C library's own. */
static void signal_any(pthread_cond_t* c, bool all) {
  if (hn_thread())
    signal(c, all);
  else
    __atomic_add_fetch(&outside, 1, __ATOMIC_RELEASE);
}
int pthread_cond_signal(pthread_cond_t* c) {
  signal_any(c, false);
  return REAL(pthread_cond_signal)(c);
}
int pthread_cond_broadcast(pthread_cond_t* c) {
  signal_any(c, true);
  return REAL(pthread_cond_broadcast)(c);
}

/* ---- barriers ---- */
struct arrival {
  struct object* barrier;
  uint64_t epoch;
};
static bool is_complete(void* arrival) {
  const struct arrival* a = arrival;
  return a->barrier->barrier.epoch != a->epoch;
}
int pthread_barrier_init(pthread_barrier_t* b, const pthread_barrierattr_t* attributes, unsigned count) {
  const int error = REAL(pthread_barrier_init)(b, attributes, count);
  if (error || !hn_thread()) return error;
  hn_renew_lock(b);
  struct object* o = hn_object(b, OBJECT_BARRIER);
  o->known = true, o->barrier.count = count, o->barrier.arrived = 0;
  return 0;
}
int pthread_barrier_wait(pthread_barrier_t* b) {
  struct object* o = hn_thread() ? hn_known_object(b, OBJECT_BARRIER) : 0;
  if (!o || !o->known) return REAL(pthread_barrier_wait)(b);
  hn_sync(SYNC_BARRIER, hn_lock_of(b)->number, o->barrier.count);
  if (++o->barrier.arrived == o->barrier.count) {
    o->barrier.arrived = 0;
    ++o->barrier.epoch;
    hn_progress();
    return PTHREAD_BARRIER_SERIAL_THREAD;
  }
  struct arrival a = {o, o->barrier.epoch};
  while (!is_complete(&a)) hn_block(is_complete, &a, "pthread_barrier_wait", 0, 0);
  return 0;
}

/* ---- semaphores: which post made a unit is told in the order of the posts ---- */

static bool has_unit(void* semaphore) {
  int value = 0;
  sem_getvalue(semaphore, &value);
  return value > 0;
}
static struct object* semaphore_of(sem_t* s) {
  struct object* o = hn_object(s, OBJECT_SEMAPHORE);
  if (!o->known) {
    int value = 0;
    sem_getvalue(s, &value);
    o->known = true, o->semaphore.initial = value > 0 ? (uint64_t)value : 0;
    hn_threads_have_company(); /* a named one: other processes post too */
  }
  return o;
}
static void push(struct object* o, uint64_t number) {
  if (o->semaphore.last - o->semaphore.first == o->semaphore.room) {
    const uint64_t room = o->semaphore.room ? o->semaphore.room * 2 : 512;
    uint64_t* posts = hn_pages(room * sizeof *posts);
    if (!posts) return;
    for (uint64_t i = o->semaphore.first; i < o->semaphore.last; ++i) posts[i % room] = o->semaphore.posts[i % o->semaphore.room];
    if (o->semaphore.posts) munmap(o->semaphore.posts, o->semaphore.room * sizeof *posts);
    o->semaphore.posts = posts, o->semaphore.room = room;
  }
  o->semaphore.posts[o->semaphore.last++ % o->semaphore.room] = number;
}
static void took(struct object* o, sem_t* s) {
  uint64_t match = 0;
  if (o->semaphore.initial)
    --o->semaphore.initial;
  else if (o->semaphore.first < o->semaphore.last)
    match = o->semaphore.posts[o->semaphore.first++ % o->semaphore.room];
  hn_sync(SYNC_WAIT, hn_lock_of(s)->number, match);
}
static int sem_wait_until(sem_t* s, const struct timespec* deadline, clockid_t clock) {
  struct object* o = semaphore_of(s);
  for (;;) {
    const int before = errno;
    if (REAL(sem_trywait)(s) == 0) {
      took(o, s);
      return 0;
    }
    if (errno != EAGAIN) return -1;
    errno = before;
    if (!hn_block_cancellable(has_unit, s, "sem_wait", deadline, clock)) {
      errno = ETIMEDOUT;
      return -1;
    }
  }
}
int sem_init(sem_t* s, int shared, unsigned value) {
  const int result = REAL(sem_init)(s, shared, value);
  if (result || !hn_thread()) return result;
  hn_renew_lock(s);
  if (shared) hn_threads_have_company();
  struct object* o = hn_object(s, OBJECT_SEMAPHORE);
  o->known = true, o->semaphore.initial = value, o->semaphore.first = o->semaphore.last = 0;
  return 0;
}
int sem_wait(sem_t* s) { return hn_thread() ? sem_wait_until(s, 0, 0) : REAL(sem_wait)(s); }
int sem_timedwait(sem_t* s, const struct timespec* deadline) {
  return hn_thread() ? sem_wait_until(s, deadline, CLOCK_REALTIME) : REAL(sem_timedwait)(s, deadline);
}
int sem_clockwait(sem_t* s, clockid_t clock, const struct timespec* deadline) {
  return hn_thread() ? sem_wait_until(s, deadline, clock) : REAL(sem_clockwait)(s, clock, deadline);
}
int sem_trywait(sem_t* s) {
  if (!hn_thread()) return REAL(sem_trywait)(s);
  struct object* o = semaphore_of(s);
  const int result = REAL(sem_trywait)(s);
  if (result == 0) {
    took(o, s);
  } else {
    const int error = errno;
    hn_threads_give_way();
    errno = error;
  }
  return result;
}
int sem_post(sem_t* s) {
  if (!hn_thread()) return REAL(sem_post)(s);
  struct object* o = semaphore_of(s);
  const int result = REAL(sem_post)(s);
  if (result) return result;
  const uint64_t number = hn_next_signal();
  push(o, number);
  hn_sync(SYNC_SIGNAL, hn_lock_of(s)->number, number);
  hn_progress();
  return 0;
}
