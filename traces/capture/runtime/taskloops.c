/* A taskloop's tasks, cut as libgomp cuts them (GCC 12, libgomp/taskloop.c): with neither grainsize nor num_tasks as many as the team
 * has threads.
 */
#include "tasks.h"
#include "team.h"

struct cut {
  uint64_t tasks, each; /* iterations of a task; */
  uint64_t longer;      /* the first ones have one more */
  uint64_t last;        /* 0, or iterations of the last one */
};
static struct cut cut_of(uint64_t n, unsigned flags, uint64_t count, uint64_t threads) {
  if (flags & TASK_GRAINSIZE) {
    if (count < 1) count = 1;
    if (flags & TASK_STRICT) return (struct cut){n / count + (n % count != 0), count, 0, n % count};
    const uint64_t tasks = n / count;
    if (tasks <= 1) return (struct cut){1, n, 0, 0};
    if (tasks >= count) return (struct cut){tasks, count, n - tasks * count, 0};
    return (struct cut){tasks, n / tasks, n % tasks, 0};
  }
  uint64_t tasks = count ? count : threads;
  if (tasks > n) tasks = n;
  return (struct cut){tasks, n / tasks, n % tasks, 0};
}
static const char* const one_task = "taskloop without grainsize or num_tasks: one task for each of the one thread at capture";
static void taskloop(void (*function)(void*), void* data, void (*copy)(void*, void*), long size, long align, unsigned flags, uint64_t count,
                     uint64_t start, uint64_t n, uint64_t step, struct call call) {
  /* gcc puts the reductions' array behind the bounds; it also looks at it where there is no iteration. */
  const bool grouped = !(flags & TASK_NOGROUP), reduces = grouped && flags & TASK_REDUCTION;
  if (!n && !reduces) return;
  if (grouped) GOMP_taskgroup_start();
  if (reduces) hn_reduce_over_tasks(((uintptr_t**)data)[2], call.site);
  struct rank* r = hn_self();
  const bool condition = flags & TASK_IF;
  const struct cut cut = n ? cut_of(n, flags, count, (uint64_t)r->team->ranks) : (struct cut){0};
  if (!(flags & TASK_GRAINSIZE) && !count && n > 1 && r->team->ranks == 1 && hn_tells_tasks(r, condition))
    hn_lose_counted(call.site, one_task);
  if (align < 1) align = 1;
  for (uint64_t i = 0; i < cut.tasks; ++i) {
    char room[size + align];
    char* argument = (char*)(((uintptr_t)room + (uintptr_t)align - 1) & ~(uintptr_t)(align - 1));
    if (copy)
      copy(argument, data);
    else
      hn_copy(argument, data, (size_t)size);
    const uint64_t iterations = cut.last && i + 1 == cut.tasks ? cut.last : cut.each + (i < cut.longer);
    ((uint64_t*)argument)[0] = start, ((uint64_t*)argument)[1] = start += iterations * step;
    hn_run_task(function, argument, condition, flags & (TASK_FINAL | TASK_DETACH), 0, call);
  }
  if (grouped) GOMP_taskgroup_end();
}
void GOMP_taskloop(void (*f)(void*), void* d, void (*copy)(void*, void*), long size, long align, unsigned flags, unsigned long count,
                   int priority, long s, long e, long step) {
  (void)priority;
  const uint64_t n = step > 0 ? (s < e ? ((uint64_t)(e - s) + (uint64_t)step - 1) / (uint64_t)step : 0)
                              : (s > e ? ((uint64_t)(s - e) + (uint64_t)-step - 1) / (uint64_t)-step : 0);
  taskloop(f, d, copy, size, align, flags, count, (uint64_t)s, n, (uint64_t)step, THIS_CALL);
}
void GOMP_taskloop_ull(void (*f)(void*), void* d, void (*copy)(void*, void*), long size, long align, unsigned flags, unsigned long count,
                       int priority, uint64_t s, uint64_t e, uint64_t step) {
  (void)priority;
  const uint64_t n = flags & TASK_UP ? (s < e ? (e - s + step - 1) / step : 0) : (s > e ? (s - e + -step - 1) / -step : 0);
  taskloop(f, d, copy, size, align, flags, count, s, n, step, THIS_CALL);
}
