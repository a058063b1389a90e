/* C11's threads: glibc makes them of its own pthread functions without calling them by name. */
#include <errno.h>
#include <stdint.h>
#include <threads.h>

#include "program_threads.h"

static int as_c11(int error) {
  switch (error) {
    case 0: return thrd_success;
    case EBUSY: return thrd_busy;
    case ENOMEM: return thrd_nomem;
    case ETIMEDOUT: return thrd_timedout;
    default: return thrd_error;
  }
}
typedef void* (*pthread_routine)(void*);
int thrd_create(thrd_t* id, thrd_start_t routine, void* argument) {
  /* As glibc does: the result of type int comes back in the low half of the pointer's register. */
  return as_c11(hn_create(id, 0, (pthread_routine)(uintptr_t)routine, argument, RA));
}
int thrd_join(thrd_t id, int* result) {
  void* value = 0;
  const int error = pthread_join(id, &value);
  if (result) *result = (int)(intptr_t)value;
  return as_c11(error);
}
void thrd_exit(int result) { pthread_exit((void*)(intptr_t)result); }
void thrd_yield(void) { sched_yield(); }
int thrd_sleep(const struct timespec* time, struct timespec* rest) { return nanosleep(time, rest) ? (errno == EINTR ? -1 : -2) : 0; }
int mtx_init(mtx_t* m, int type) {
  if (hn_thread()) hn_renew_lock(m);
  return REAL(mtx_init)(m, type);
}
int mtx_lock(mtx_t* m) { return as_c11(pthread_mutex_lock((pthread_mutex_t*)m)); }
int mtx_trylock(mtx_t* m) { return as_c11(pthread_mutex_trylock((pthread_mutex_t*)m)); }
int mtx_timedlock(mtx_t* m, const struct timespec* end) { return as_c11(pthread_mutex_timedlock((pthread_mutex_t*)m, end)); }
int mtx_unlock(mtx_t* m) { return as_c11(pthread_mutex_unlock((pthread_mutex_t*)m)); }
int cnd_init(cnd_t* c) { return as_c11(pthread_cond_init((pthread_cond_t*)c, 0)); }
int cnd_wait(cnd_t* c, mtx_t* m) { return as_c11(pthread_cond_wait((pthread_cond_t*)c, (pthread_mutex_t*)m)); }
int cnd_timedwait(cnd_t* c, mtx_t* m, const struct timespec* end) {
  return as_c11(pthread_cond_timedwait((pthread_cond_t*)c, (pthread_mutex_t*)m, end));
}
int cnd_signal(cnd_t* c) { return as_c11(pthread_cond_signal((pthread_cond_t*)c)); }
int cnd_broadcast(cnd_t* c) { return as_c11(pthread_cond_broadcast((pthread_cond_t*)c)); }
void call_once(once_flag* flag, void (*routine)(void)) { pthread_once((pthread_once_t*)flag, routine); }
