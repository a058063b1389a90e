#include "tasks.h"

#include <stdlib.h>
#include <unistd.h>

#include "team.h"

struct task* hn_task(struct rank* r) {
  return r->task ? r->task : &r->implicit;
}

static struct {
  const void* site;
  const char* reason;
  uint64_t more;
} losses[256];
static void lose(const void* site, const char* reason, uint64_t count) {
  hn_control(HN_LOSS);
  hn_u(count), hn_site(site), hn_s(reason);
}
void hn_lose_counted(const void* site, const char* reason) {
  if (!hn_on) return;
  for (unsigned i = 0; i < sizeof losses / sizeof *losses; ++i) {
    if (losses[i].site == site && losses[i].reason == reason) {
      ++losses[i].more;
      return;
    }
    if (!losses[i].site) {
      losses[i].site = site, losses[i].reason = reason;
      break;
    }
  }
  lose(site, reason, 1);
}
#ifndef HOMENODE_TWIN
void hn_task_losses(void) {
  for (unsigned i = 0; i < sizeof losses / sizeof *losses && losses[i].site; ++i)
    if (losses[i].more) lose(losses[i].site, losses[i].reason, losses[i].more);
}
#endif

/* The addresses of a depend clause, as gcc-12 lays them out: [0] how many, [1] how many of them exclude others, addresses; or, if [0]
 * is 0: [1] how many, [2] out and inout, [3] mutexinoutset, [4] in, addresses; those after the in's are depend objects: the address and
 * its kind. */
enum { DEPEND_IN = 1, DEPEND_EXCLUDES = 2, DEPEND_KIND_IN = 1 };
static void depends_on(void** depend) {
  const uintptr_t* number = (const uintptr_t*)depend;
  const bool short_form = number[0] != 0;
  const uintptr_t all = short_form ? number[0] : number[1], exclude = short_form ? number[1] : number[2] + number[3],
                  plain = short_form ? all : exclude + number[4];
  void** address = depend + (short_form ? 2 : 5);
  for (uintptr_t i = 0; i < all; ++i) {
    void** object = i < plain ? 0 : address[i];
    const bool reads = object ? (uintptr_t)object[1] == DEPEND_KIND_IN : i >= exclude;
    hn_sync(SYNC_DEPEND, hn_lock_of(object ? object[0] : address[i])->number, reads ? DEPEND_IN : DEPEND_EXCLUDES);
  }
}
static void tell_groups(struct group* group) {
  if (!group || group->told) return;
  tell_groups(group->outer);
  hn_sync(SYNC_TASK_GROUP_BEGIN, 0, 0);
  group->told = true;
}

bool hn_tells_tasks(struct rank* r, bool condition) { return hn_announced(r) && condition && !hn_task(r)->final; }

static const char* const merged = "tasks of an undeferred task: recorded as its creator's";
void hn_run_task(void (*function)(void*), void* argument, bool condition, unsigned flags, void** depend, struct call call) {
  struct rank* r = hn_self();
  struct task* creator = hn_task(r);
  if (flags & TASK_DETACH) {
    static const char text[] =
        "homenode capture: a task has a detach clause, which cannot be recorded; allowed: tasks that are over when their code is\n";
    if (write(2, text, sizeof text - 1) < 0) _exit(1);
    abort();
  }
  struct task task = {.creator = creator, .group = creator->group, .final = creator->final || (flags & TASK_FINAL)};
  task.told = hn_tells_tasks(r, condition);
  if (task.told) {
    /* Undeferred tasks between this one and an item: the trace does not know them. */
    for (struct task* t = creator; t->creator && !t->told; t = t->creator)
      if (t->creator->unwaited) hn_lose_counted(call.site, merged);
    tell_groups(creator->group);
  }
  if (flags & TASK_DEPEND && (task.told || creator->unwaited)) {
    depends_on(depend);
    if (!task.told) hn_sync(SYNC_TASK_WAIT, 0, 1); /* it runs at once, but not before these */
  }
  r->task = &task;
  if (!task.told) {
    function(argument);
    if (task.unwaited) hn_lose_counted(call.site, merged);
    creator->unwaited += task.unwaited;
  } else {
    const uint64_t sequence = hn_sequence;
    if (hn_on) {
      hn_forget_frames();
      hn_control(HN_TASK_BEGIN);
      hn_site(call.site), hn_u(call.stack);
      hn_new_item();
    }
    function(argument);
    if (hn_on) hn_control(HN_TASK_END);
    hn_forget_frames();
    hn_sequence = sequence;
    ++creator->unwaited;
  }
  r->task = creator;
}
void GOMP_task(void (*function)(void*), void* data, void (*copy)(void*, void*), long size, long align, bool condition, unsigned flags,
               void** depend, int priority, void* detach) {
  (void)priority, (void)detach; /* of no effect in libgomp unless OMP_MAX_TASK_PRIORITY is set */
  const struct call call = THIS_CALL;
  if (!copy && !hn_tells_tasks(hn_self(), condition)) {
    hn_run_task(function, data, condition, flags, depend, call);
    return;
  }
  if (align < 1) align = 1;
  char room[size + align];
  char* argument = (char*)(((uintptr_t)room + (uintptr_t)align - 1) & ~(uintptr_t)(align - 1));
  if (copy)
    copy(argument, data);
  else
    hn_copy(argument, data, (size_t)size);
  hn_run_task(function, argument, condition, flags, depend, call);
}

/* A wait for nothing says nothing. */
static void wait_for_children(void** depend) {
  struct task* task = hn_task(hn_self());
  if (!task->unwaited) return;
  if (depend) depends_on(depend);
  hn_sync(SYNC_TASK_WAIT, 0, depend ? 1 : 0);
  if (depend) return;
  for (const struct task* t = task; t->creator && !t->told; t = t->creator)
    if (t->creator->unwaited) hn_lose_counted(RA, merged);
  task->unwaited = 0;
}
void GOMP_taskwait(void) { wait_for_children(0); }
void GOMP_taskwait_depend(void** depend) { wait_for_children(depend); }
void GOMP_taskyield(void) {} /* as in libgomp */

static struct group* spare_groups;
void GOMP_taskgroup_start(void) {
  if (!spare_groups) {
    enum { SOME = 128 };
    struct group* groups = hn_pages(SOME * sizeof *groups);
    if (!groups) abort();
    for (unsigned i = 0; i < SOME; ++i) groups[i].outer = spare_groups, spare_groups = &groups[i];
  }
  struct task* task = hn_task(hn_self());
  struct group* group = spare_groups;
  spare_groups = group->outer;
  *group = (struct group){.outer = task->group, .reductions = task->group ? task->group->reductions : 0};
  task->group = group;
}
void GOMP_taskgroup_end(void) {
  struct task* task = hn_task(hn_self());
  struct group* group = task->group;
  if (!group) return;
  if (group->told) hn_sync(SYNC_TASK_GROUP_END, 0, 0);
  task->group = group->outer;
  group->outer = spare_groups;
  spare_groups = group;
}
int omp_in_final(void) { return hn_task(hn_self())->final; }
bool GOMP_cancel(int which, bool condition) { return (void)which, (void)condition, false; } /* OMP_CANCELLATION=false is the default */
bool GOMP_cancellation_point(int which) { return (void)which, false; }
