/* Explicit tasks. Each runs at once where it is created, on the thread that creates it: the order of creation satisfies every
 * dependence. In a parallel region that is announced, a task that may be deferred is told to the trace as an item of its own; all others
 * (if(0), descendants of a final task, outside of parallel regions and in inner ones) are part of the code that creates them, as they
 * are when libgomp runs them undeferred.
 */
#ifndef HOMENODE_TASKS_H
#define HOMENODE_TASKS_H

#include <stdbool.h>
#include <stdint.h>

struct group { /* a taskgroup */
  struct group* outer;
  uintptr_t* reductions; /* the innermost ones, task_reductions.c */
  bool told;             /* only once a task of it is: a group without tasks says nothing */
};
struct task {
  struct task* creator; /* null: an implicit task */
  struct group* group;  /* the innermost one, also of its creator */
  uint64_t unwaited;    /* tasks it told and did not wait for */
  bool told, final;
};
struct rank;
/* What this thread runs: an explicit task, or the implicit one. */
struct task* hn_task(struct rank*);

/* What GOMP_task and the taskloops pass on of their call. */
struct call {
  const void* site;
  uintptr_t stack; /* the caller's stack begins here: what lies above is the creator's */
};
#define THIS_CALL ((struct call){__builtin_return_address(0), (uintptr_t)__builtin_frame_address(0) + 2 * sizeof(void*)})
enum { /* of flags that gcc passes (gomp-constants.h) */
       TASK_FINAL = 1 << 1,
       TASK_DEPEND = 1 << 3,
       TASK_UP = 1 << 8,
       TASK_GRAINSIZE = 1 << 9,
       TASK_IF = 1 << 10,
       TASK_NOGROUP = 1 << 11,
       TASK_REDUCTION = 1 << 12,
       TASK_DETACH = 1 << 13,
       TASK_STRICT = 1 << 14
};
/* Whether a task that the running one creates now is told. */
bool hn_tells_tasks(struct rank*, bool condition);
/* The argument block is the task's own already. */
void hn_run_task(void (*function)(void*), void* argument, bool condition, unsigned flags, void** depend, struct call);
void GOMP_taskgroup_start(void);
void GOMP_taskgroup_end(void);
void hn_reduce_over_tasks(uintptr_t* data, const void* site); /* of the innermost group */
/* Noted with its place when it first happens; how often it happened after that, at the end of the program. */
void hn_lose_counted(const void* site, const char* reason);

#endif
