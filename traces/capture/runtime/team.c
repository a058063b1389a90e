/* OpenMP entry points of our own for gcc objects whose loops were rewritten to schedule(runtime): every iteration is announced.
 * A team's threads are real; exactly one runs at a time. The token moves at barriers, blocked locks and ends, in rank order, so
 * that equal programs give equal streams. Loops: a contiguous share a rank (libgomp's static split), one iteration at a time.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "team.h"

#include "system_call.h"

static struct rank master;
static struct rank* ranks[MOST_RANKS];
static struct team root = {.ranks = 1};
static struct rank nobody; /* threads that are none of the program's, or before anything is recorded */
int hn_team_setting;
static uint64_t parallels, idle_turns;
__thread struct rank* hn_self_ __attribute__((tls_model("initial-exec")));

struct rank* hn_first_self(void) {
  if (hn_system_call(SYS_gettid, 0, 0, 0, 0, 0, 0) != getpid()) { /* it is not the program's first thread */
    nobody.team = &root;
    return hn_self_ = &nobody;
  }
  hn_self_ = &master;
  master.team = &root;
  ranks[0] = hn_self_;
  return hn_self_;
}
bool hn_is_first(const struct rank* r) { return r == &master; }
uint64_t hn_next_parallel(void) { return parallels++; }
int hn_team_size(void) {
  if (!hn_team_setting) {
    const char* text = getenv("HOMENODE_TEAM");
    hn_team_setting = text ? atoi(text) : 1;
    if (hn_team_setting < 1) hn_team_setting = 1;
    if (hn_team_setting > MOST_RANKS) hn_team_setting = MOST_RANKS;
  }
  return hn_team_setting;
}
static void sleep_until_posted(struct rank* r) {
  while (!__atomic_exchange_n(&r->futex, 0, __ATOMIC_ACQUIRE)) hn_system_call(SYS_futex, (long)&r->futex, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0);
}
static void post(struct rank* r) {
  __atomic_store_n(&r->futex, 1, __ATOMIC_RELEASE);
  hn_system_call(SYS_futex, (long)&r->futex, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}
static void take_over(struct rank* r) {
  hn_runs_on_rank(r->stack);
  hn_sequence = r->sequence;
  hn_closure_low = r->team->closure_low, hn_closure_high = r->team->closure_high;
  if (hn_on && hn_sharing(r)->level == 1) {
    hn_control(HN_RANK);
    hn_u(r->stack);
  }
}
static void hand_over(struct rank* from, struct rank* to) {
  if (from == to) return;
  hn_close_runs();
  from->sequence = hn_sequence;
  post(to);
  sleep_until_posted(from);
  take_over(from);
}
static struct rank* next_live(struct rank* r) {
  const int all = hn_sharers(r);
  for (int i = 1; i <= all; ++i) {
    struct rank* n = ranks[((int)r->stack + i) % all];
    if (n->live) return n;
  }
  return r;
}
void hn_progress(void) { idle_turns = 0; }
void hn_give_way(void) {
  struct rank* r = hn_self();
  if (r == &nobody || r->beside) { /* it runs beside the others */
    hn_system_call(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
    return;
  }
  const int all = hn_sharers(r);
  if (all == 1 || ++idle_turns > 3ul * (uint64_t)all) {
    if (hn_threads_give_way()) {
      idle_turns = 0;
      return;
    }
    if (hn_recording) {
      static const char text[] = "homenode capture: deadlock: no thread of the team can go on\n";
      if (write(2, text, sizeof text - 1) < 0) _exit(1);
      abort();
    }
    /* Nothing is held back to be recorded: it waits for a thread that runs beside the team. */
    idle_turns = 0;
    hn_system_call(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
  }
  hand_over(r, next_live(r));
}
void hn_end_single(struct rank* r) {
  if (!r->in_single) return;
  r->in_single = false;
  if (hn_on && hn_announced(r)) hn_control(HN_SINGLE_END), hn_new_item();
}
void hn_barrier(const void* site) {
  struct rank* r = hn_self();
  struct team* t = r->team;
  hn_end_single(r);
  r->implicit.unwaited = 0; /* all tasks are over */
  if (site && hn_on && hn_announced(r)) hn_control(HN_BARRIER), hn_site(site), hn_new_item();
  const uint64_t epoch = t->epoch;
  if (++t->arrived == t->ranks) {
    t->arrived = 0;
    ++t->epoch;
    hn_progress();
    if (r->number) hand_over(r, ranks[0]);
  } else {
    struct rank* n = next_live(r);
    hn_progress();
    if (n != r) hand_over(r, n);
    while (t->epoch == epoch) hn_give_way();
    hn_progress();
  }
}

static void run_rank(struct rank* r) {
  struct team* t = r->team;
  if (t->level == 1) take_over(r), hn_new_item(); /* a nested region goes on with its creator's item */
  if (t->has_combined) {
    const struct loop c = t->combined;
    hn_split(c.next, c.end, c.step, (int64_t)c.step > 0, false, false, t->site);
    hn_piece_of(&r->loop, c.piece);
  }
  if (t->sections && hn_on && hn_announced(r)) {
    hn_control(HN_SECTIONS_BEGIN);
    hn_site(t->site);
    hn_u((uint64_t)t->sections);
    hn_new_item();
  }
  t->function(t->data);
  hn_end_single(r);
  hn_barrier(0);
}
static void* body(void* argument) {
  struct rank* r = argument;
  hn_self_ = r;
  hn_faults_on_own_stack();
  for (;;) {
    sleep_until_posted(r);
    hn_threads_act_as_main();
    if (!hn_on && hn_recording) {
      hn_on = true;
      hn_tls_block((unsigned)r->number);
    }
    r->constructs = 0;
    r->sequence = 0;
    hn_stack_base(r->stack, (uintptr_t)__builtin_frame_address(0));
    run_rank(r);
    r->live = false;
    hn_close_runs();
    post(next_live(r));
  }
  return 0;
}
static void start_rank(int number, bool recording) {
  struct rank* r = ranks[number] = calloc(1, sizeof *r);
  pthread_attr_t attributes;
  pthread_t id;
  if (!r) abort();
  r->number = number, r->stack = (unsigned)number;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 8 << 20);
  if (hn_create_real_thread(&id, &attributes, body, r)) abort();
  void* low;
  size_t size;
  pthread_attr_t actual;
  if (recording && !pthread_getattr_np(id, &actual)) {
    hn_on = true;
    pthread_attr_getstack(&actual, &low, &size);
    hn_stack_of((unsigned)number, (uintptr_t)low, (uintptr_t)low + size, (uintptr_t)low + size);
    hn_control(HN_STACK);
    hn_u((uint64_t)number), hn_u((uintptr_t)low), hn_u((uintptr_t)low + size);
    hn_on = false;
    pthread_attr_destroy(&actual);
  }
  pthread_attr_destroy(&attributes);
}
/* The closure's end, which gcc passes to nobody: variables behind it in the frame are shared by reference, so a pointer to the
 * first of them stands in the closure. What lies between belongs to the master alone. */
static uintptr_t closure_end(const void* data) {
  enum { LARGEST = 1024 };
  const uintptr_t low = (uintptr_t)data;
  if (low - hn_stacks_low >= hn_stacks_high - hn_stacks_low) return low;
  uintptr_t end = low + LARGEST;
#ifndef HOMENODE_TWIN
  if (low < hn_stack_begin && end > hn_stack_begin) end = hn_stack_begin;
#endif
  for (uintptr_t at = low; at + sizeof at <= end; at += sizeof at) {
    const uintptr_t word = *(const uintptr_t*)at;
    if (word > low && word < end) end = word;
  }
  return end;
}
/* Nested parallel regions have a team of one. Each place tells so when it first runs, and how often it did when the program ends. */
static struct {
  const void* site;
  uint64_t more;
} serialised[256];
static void lose_team(const void* site, uint64_t count) {
  hn_control(HN_LOSS);
  hn_u(count), hn_site(site), hn_s("nested parallel region: its team was serialised");
}
static void note_serialised(const void* site) {
  for (unsigned i = 0; i < sizeof serialised / sizeof *serialised; ++i) {
    if (serialised[i].site == site) {
      ++serialised[i].more;
      return;
    }
    if (!serialised[i].site) {
      serialised[i].site = site;
      lose_team(site, 1);
      return;
    }
  }
  lose_team(site, 1);
}
#ifndef HOMENODE_TWIN
void hn_nested_losses(void) {
  for (unsigned i = 0; i < sizeof serialised / sizeof *serialised && serialised[i].site; ++i)
    if (serialised[i].more) lose_team(serialised[i].site, serialised[i].more);
}
#endif
/* Where nothing is recorded, the program's threads run beside each other, and locks here are words. So their regions come one by one. */
static int in_region;
static void begin_region(void) {
  int nobody_is_there = 0;
  while (!__atomic_compare_exchange_n(&in_region, &nobody_is_there, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
    nobody_is_there = 0;
    if (!hn_threads_give_way()) hn_system_call(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
  }
}
static void end_region(void) { __atomic_store_n(&in_region, 0, __ATOMIC_RELEASE); }
void hn_parallel(void (*function)(void*), void* data, unsigned wanted, int sections, const void* site, const struct loop* combined) {
  struct rank* r = hn_self();
  struct rank own = nobody;
  const bool beside = r == &nobody; /* several such threads may be in a region at the same time */
  if (beside) own.beside = true, hn_self_ = r = &own;
  struct team* outer = r->team;
  const bool alone = !hn_recording && outer->level == 0;
  if (alone) begin_region();
  struct team t = {0};
  const struct rank saved = *r;
  hn_open();
  const bool was_on = hn_on;
  hn_on = false; /* threads and their bookkeeping are not the program's */
  if (combined) t.combined = *combined, t.has_combined = true;
  t.ranks = outer->level || !hn_is_first(r) ? 1 : wanted ? (int)wanted : hn_team_size();
  if (t.ranks > MOST_RANKS) t.ranks = MOST_RANKS;
  t.level = outer->level + 1;
  if (outer->level) t.outer = outer;
  t.function = function, t.data = data, t.site = site, t.sections = sections;
  hn_on = was_on;
  if (hn_on && t.level > 1 && wanted != 1) note_serialised(site);
  if (hn_on && t.level == 1) {
    for (int i = 1; i < t.ranks; ++i)
      if (!ranks[i]) hn_on = false, start_rank(i, was_on), hn_on = was_on;
    hn_control(HN_PARALLEL_BEGIN);
    hn_u(parallels++), hn_u((uint64_t)t.ranks), hn_site(site), hn_site((const char*)function + 1);
    hn_new_item();
  }
  for (int i = 1; i < t.ranks; ++i) {
    if (!ranks[i]) start_rank(i, false);
    struct rank* p = ranks[i];
    p->team = &t, p->live = true, p->section = i, p->sections = sections, p->loop = (struct loop){0}, p->in_single = p->in_loop = false;
    p->sent_user_rank = 0, p->task = 0, p->implicit = (struct task){0};
  }
#ifdef HOMENODE_TWIN
  const uint64_t serial = t.level == 1 ? parallels++ : 0;
  if (t.level == 1) hn_work_parallel(serial, true);
#endif
  r->team = &t, r->number = 0, r->constructs = 0, r->live = true, r->section = 0, r->sections = sections, r->in_single = r->in_loop = false,
  r->sent_user_rank = 0, r->task = 0, r->implicit = (struct task){0};
  t.closure_low = (uintptr_t)data, t.closure_high = closure_end(data);
  hn_closure_low = t.closure_low, hn_closure_high = t.closure_high;
  run_rank(r);
  if (t.ranks > 1) {
    for (int i = 1; i < t.ranks; ++i)
      while (ranks[i]->live) hand_over(r, ranks[i]);
  }
#ifdef HOMENODE_TWIN
  if (t.level == 1) hn_work_parallel(serial, false);
#endif
  hn_closure_low = outer->closure_low, hn_closure_high = outer->closure_high;
  const uint64_t s = r->sequence;
  *r = saved;
  r->sequence = s;
  if (hn_on && t.level == 1) hn_control(HN_PARALLEL_END), hn_u(parallels - 1), hn_new_item();
  if (beside) hn_self_ = &nobody;
  if (alone) end_region();
}
void GOMP_parallel(void (*f)(void*), void* d, unsigned n, unsigned flags) { (void)flags, hn_parallel(f, d, n, 0, RA, 0); }
void GOMP_parallel_sections(void (*f)(void*), void* d, unsigned n, unsigned count, unsigned flags) {
  (void)flags, hn_parallel(f, d, n, (int)count, RA, 0);
}
void GOMP_barrier(void) { hn_barrier(RA); }
/* Of a region that could be cancelled: nothing is, as GOMP_cancel says. */
bool GOMP_barrier_cancel(void) { return hn_barrier(RA), false; }
void hn_yield(void) {
  struct rank* r = hn_self();
  const int all = hn_sharers(r);
  if (all == 1) {
    hn_threads_give_way();
    return;
  }
  /* Once all of the team had their turn, the program's other threads have theirs. */
  static unsigned turns;
  if (++turns % (2u * (unsigned)all) == 0) hn_threads_give_way();
  idle_turns = 0;
  hand_over(r, next_live(r));
}
