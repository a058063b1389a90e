/* Tasks run at their creation: creation order satisfies every dependence. */
#include "team.h"

static uint64_t tasks;
void GOMP_task(void (*f)(void*), void* d, void (*copy)(void*, void*), long size, long align, bool condition, unsigned flags, void** depend,
               int priority, void* detach) {
  (void)condition, (void)priority, (void)detach;
  struct rank* r = hn_self();
  const uint64_t parent = r->task;
  r->task = ++tasks;
  if (flags & 8 && (uintptr_t)depend[0])
    for (uint64_t i = 0; i < (uintptr_t)depend[0]; ++i) hn_sync(SYNC_DEPEND, hn_lock_of(depend[2 + i])->number, r->task);
  hn_sync(SYNC_TASK_SUBMIT, r->task, parent);
  if (align < 1) align = 1;
  char room[size + align + 16];
  char* argument = (char*)(((uintptr_t)room + (uintptr_t)align - 1) & ~(uintptr_t)(align - 1));
  if (copy)
    copy(argument, d);
  else if (size)
    hn_copy(argument, d, (size_t)size);
  else
    argument = d;
  f(argument);
  r->task = parent;
}
/* Chunks of a taskloop as libgomp cuts them with neither grainsize nor num_tasks: here one task an iteration, so that any cut can be
 * replayed. The argument block begins with the bounds of the chunk. */
static void taskloop(void (*f)(void*), void* d, void (*copy)(void*, void*), long size, long align, uint64_t start, uint64_t n,
                     uint64_t step) {
  if (align < 1) align = 1;
  for (uint64_t i = 0; i < n; ++i, start += step) {
    char room[size + align + 16];
    char* argument = (char*)(((uintptr_t)room + (uintptr_t)align - 1) & ~(uintptr_t)(align - 1));
    if (copy)
      copy(argument, d);
    else
      hn_copy(argument, d, (size_t)size);
    ((uint64_t*)argument)[0] = start, ((uint64_t*)argument)[1] = start + step;
    GOMP_task(f, argument, 0, 0, 1, true, 0, 0, 0, 0);
  }
}
void GOMP_taskloop(void (*f)(void*), void* d, void (*copy)(void*, void*), long size, long align, unsigned flags, unsigned long count,
                   int priority, long s, long e, long step) {
  (void)flags, (void)count, (void)priority;
  const uint64_t n = step > 0 ? (s < e ? ((uint64_t)(e - s) + (uint64_t)step - 1) / (uint64_t)step : 0)
                              : (s > e ? ((uint64_t)(s - e) + (uint64_t)-step - 1) / (uint64_t)-step : 0);
  taskloop(f, d, copy, size, align, (uint64_t)s, n, (uint64_t)step);
}
void GOMP_taskloop_ull(void (*f)(void*), void* d, void (*copy)(void*, void*), long size, long align, unsigned flags, unsigned long count,
                       int priority, uint64_t s, uint64_t e, uint64_t step) {
  (void)count, (void)priority;
  const bool up = flags & 1u << 8;
  const uint64_t n = up ? (s < e ? (e - s + step - 1) / step : 0) : (s > e ? (s - e + -step - 1) / -step : 0);
  taskloop(f, d, copy, size, align, s, n, step);
}
void GOMP_taskwait(void) { hn_sync(SYNC_TASK_WAIT, hn_self()->task, 0); }
void GOMP_taskyield(void) {}
void GOMP_taskwait_depend(void** depend) { (void)depend, GOMP_taskwait(); }
bool GOMP_cancel(int which, bool condition) { return (void)which, (void)condition, false; } /* OMP_CANCELLATION=false is the default */
bool GOMP_cancellation_point(int which) { return (void)which, false; }
void GOMP_taskgroup_start(void) {}
void GOMP_taskgroup_end(void) { GOMP_taskwait(); }
