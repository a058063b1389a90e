/* Reductions over the tasks of a group (OpenMP 5.2, sections 5.5.9 to 5.5.11), by the arrays that gcc-12 passes (libgomp/task.c,
 * gomp_reduction_register): [0] variables; [1] bytes of one thread's copies; [2] their alignment, afterwards where all threads' copies
 * begin; [4] the next array; [5] not 0 in the first one; [6] where the copies end; then for each variable its address, where its copy lies
 * among a thread's, and a word of the library's own. A task takes the copies of the thread that runs it: here, of its creator.
 */
#include <stdlib.h>
#include <unistd.h>

#include "tasks.h"
#include "team.h"

enum { VARIABLES, BYTES, COPIES, NEXT = 4, HEAD, END, FIRST, ADDRESS = 0, OFFSET, OF_A_VARIABLE = 3 };

void hn_reduce_over_tasks(uintptr_t* data, const void* site) {
  struct rank* r = hn_self();
  struct group* group = hn_task(r)->group;
  for (uintptr_t* d = data;; d = (uintptr_t*)d[NEXT]) {
    const size_t bytes = d[BYTES] * (size_t)r->team->ranks, least = sizeof(void*);
    void* copies;
    if (posix_memalign(&copies, d[COPIES] < least ? least : d[COPIES], bytes)) abort();
    for (size_t i = 0; i < bytes; ++i) ((volatile char*)copies)[i] = 0;
    d[COPIES] = (uintptr_t)copies;
    d[END] = d[COPIES] + bytes;
    d[HEAD] = d == data;
    if (d[NEXT]) continue;
    d[NEXT] = (uintptr_t)group->reductions;
    break;
  }
  group->reductions = data;
  if (hn_announced(r)) hn_lose_counted(site, "task reduction: each task adds to the copy of the thread that created it");
}
void GOMP_taskgroup_reduction_register(uintptr_t* data) { hn_reduce_over_tasks(data, RA); }
void GOMP_taskgroup_reduction_unregister(uintptr_t* data) {
  uintptr_t* d = data;
  do {
    free((void*)d[COPIES]);
    d = (uintptr_t*)d[NEXT];
  } while (d && !d[HEAD]);
}
/* Of variables, or of copies of them that another thread has, the running thread's; behind them, for the first `originals`, the
 * variables. */
void GOMP_task_reduction_remap(size_t count, size_t originals, void** pointers) {
  struct rank* r = hn_self();
  const struct group* group = hn_task(r)->group;
  for (size_t i = 0; i < count; ++i) {
    const uintptr_t wanted = (uintptr_t)pointers[i];
    const uintptr_t *found = 0, *variable = 0;
    uintptr_t offset = 0;
    for (const uintptr_t* d = group ? group->reductions : 0; d && !found; d = (const uintptr_t*)d[NEXT]) {
      const bool is_copy = wanted >= d[COPIES] && wanted < d[END];
      if (is_copy) found = d, offset = (wanted - d[COPIES]) % d[BYTES];
      for (uintptr_t v = 0; v < d[VARIABLES]; ++v) {
        const uintptr_t* at = d + FIRST + v * OF_A_VARIABLE;
        if (is_copy ? at[OFFSET] != offset : at[ADDRESS] != wanted) continue;
        found = d, offset = at[OFFSET], variable = at;
        break;
      }
    }
    if (!found) {
      static const char text[] = "homenode capture: a task takes part in a reduction that no taskgroup around it has\n";
      if (write(2, text, sizeof text - 1) < 0) _exit(1);
      abort();
    }
    pointers[i] = (void*)(found[COPIES] + (uintptr_t)r->number * found[BYTES] + offset);
    if (i < originals) pointers[count + i] = variable ? (void*)variable[ADDRESS] : 0;
  }
}
