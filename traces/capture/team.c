/* OpenMP entry points of our own for gcc objects whose loops were rewritten to schedule(runtime): every iteration is announced.
 * A team's threads are real; exactly one runs at a time. The token moves at barriers, blocked locks and ends, in rank order, so
 * that equal programs give equal streams. Loops: a contiguous share a rank (libgomp's static split), one iteration at a time.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime.h"

enum { MOST_RANKS = 1024 };
struct loop {
  uint64_t next, end, step, number, piece; /* piece: iterations handed out at once */
  bool ordered, running;
};
struct team {
  int ranks, level, arrived;
  uint64_t epoch, constructs, ordered_next, serial;
  void* copied;
  void (*function)(void*);
  void* data;
  struct loop combined; /* of a combined parallel loop: bounds before they are split */
  int sections;
  bool has_combined, user_rank;
  const void* site;
};
struct rank {
  int number, futex;
  struct team* team;
  struct loop loop;
  uint64_t constructs, sequence;
  int section, sections;
  uint64_t task;
  bool live, in_single, in_loop, loop_user_rank;
  int sent_user_rank;
};
static struct rank master;
static struct rank* ranks[MOST_RANKS];
static struct team root = {.ranks = 1};
static int team_setting;
static uint64_t parallels, tasks, idle_turns;
static __thread struct rank* self_ __attribute__((tls_model("initial-exec")));

static struct rank* self(void) {
  if (!self_) {
    self_ = &master;
    master.team = &root;
    ranks[0] = self_;
  }
  return self_;
}
static int team_size(void) {
  if (!team_setting) {
    const char* text = getenv("HOMENODE_TEAM");
    team_setting = text ? atoi(text) : 1;
    if (team_setting < 1) team_setting = 1;
    if (team_setting > MOST_RANKS) team_setting = MOST_RANKS;
  }
  return team_setting;
}
/* Constructs are announced for the outermost parallelism only. */
static bool announced(const struct rank* r) { return r->team->level == 1; }

static void sleep_until_posted(struct rank* r) {
  while (!__atomic_exchange_n(&r->futex, 0, __ATOMIC_ACQUIRE)) syscall(SYS_futex, &r->futex, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0);
}
static void post(struct rank* r) {
  __atomic_store_n(&r->futex, 1, __ATOMIC_RELEASE);
  syscall(SYS_futex, &r->futex, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}
static void take_over(struct rank* r) {
  hn_runs_on_rank((unsigned)r->number);
  hn_sequence = r->sequence;
  if (hn_on && announced(r)) {
    hn_control(HN_RANK);
    hn_u((uint64_t)r->number);
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
  for (int i = 1; i <= r->team->ranks; ++i) {
    struct rank* n = ranks[(r->number + i) % r->team->ranks];
    if (n->live) return n;
  }
  return r;
}
static void progress(void) { idle_turns = 0; }
static void give_way(void) {
  struct rank* r = self();
  if (r->team->ranks == 1 || ++idle_turns > 3ul * (uint64_t)r->team->ranks) {
    static const char text[] = "homenode capture: deadlock: no thread of the team can go on\n";
    if (write(2, text, sizeof text - 1) < 0) _exit(1);
    abort();
  }
  hand_over(r, next_live(r));
}
#define WAIT_UNTIL(condition)        \
  do {                               \
    while (!(condition)) give_way(); \
    progress();                      \
  } while (0)

static void message(int opcode) {
  if (hn_on) hn_control(opcode);
}
static void end_single(struct rank* r) {
  if (!r->in_single) return;
  r->in_single = false;
  if (hn_on && announced(r)) hn_control(HN_SINGLE_END), hn_new_item();
}
static void barrier(bool explicit_one) {
  struct rank* r = self();
  struct team* t = r->team;
  end_single(r);
  if (explicit_one && hn_on && announced(r)) hn_control(HN_BARRIER), hn_u(t->epoch), hn_new_item();
  const uint64_t epoch = t->epoch;
  if (++t->arrived == t->ranks) {
    t->arrived = 0;
    ++t->epoch;
    progress();
    if (r->number) hand_over(r, ranks[0]);
  } else {
    struct rank* n = next_live(r);
    progress();
    if (n != r) hand_over(r, n);
    while (t->epoch == epoch) give_way();
    progress();
  }
}

static void split(uint64_t start, uint64_t end, uint64_t step, bool up, bool is_unsigned, bool ordered, const void* site) {
  struct rank* r = self();
  struct team* t = r->team;
  end_single(r);
  ++r->constructs;
  const bool some =
      up ? (is_unsigned ? start < end : (int64_t)start < (int64_t)end) : (is_unsigned ? start > end : (int64_t)start > (int64_t)end);
  const uint64_t n = !some ? 0 : up ? (end - start + step - 1) / step : (start - end + (-step) - 1) / (-step);
  const uint64_t each = n / (uint64_t)t->ranks, rest = n % (uint64_t)t->ranks, k = (uint64_t)r->number;
  const uint64_t low = k < rest ? k * (each + 1) : k * each + rest, count = each + (k < rest);
  if (ordered && r->constructs > t->constructs) t->constructs = r->constructs, t->ordered_next = 0;
  r->loop = (struct loop){start + low * step, start + (low + count) * step, step, low, 1, ordered, false};
  r->in_loop = true;
  r->loop_user_rank = false;
  if (hn_on && announced(r)) {
    hn_control(HN_LOOP_BEGIN);
    hn_site(site);
    hn_z((int64_t)start), hn_z((int64_t)end), hn_z((int64_t)step);
    hn_u((ordered ? HN_LOOP_ORDERED : 0u) | (is_unsigned ? HN_LOOP_UNSIGNED : 0u));
    hn_u(n);
    hn_new_item();
  }
}
/* A recording takes iterations one by one. The twin follows the program's own chunks, so that it counts what the program does;
 * an ordered loop goes one by one in both. */
static void piece_of(struct loop* l, uint64_t chunk) {
#ifdef HOMENODE_TWIN
  l->piece = l->ordered || chunk < 1 ? 1 : chunk;
#else
  (void)l, (void)chunk;
#endif
}
static bool next(uint64_t* low, uint64_t* high) {
  struct rank* r = self();
  struct loop* l = &r->loop;
  if (l->running && l->ordered) {
    WAIT_UNTIL(r->team->ordered_next == l->number);
    ++r->team->ordered_next;
  }
  if (l->running) ++l->number;
  if (l->next == l->end) {
    l->running = false;
    return false;
  }
  l->running = true;
  hn_bound_low = (uintptr_t)low, hn_bound_high = (uintptr_t)high;
  *low = l->next;
  uint64_t taken = 1;
  if (l->piece > 1) { /* steps down are negative */
    const uint64_t left = (uint64_t)((int64_t)(l->end - l->next) / (int64_t)l->step);
    taken = left < l->piece ? left : l->piece;
  }
  *high = l->next += taken * l->step;
  if (hn_on && announced(r)) hn_control(HN_ITEM), hn_u(l->number), hn_new_item();
  return true;
}
static bool pieces(uint64_t chunk, uint64_t* low, uint64_t* high) {
  piece_of(&self()->loop, chunk);
  return next(low, high);
}
static void loop_end(bool nowait) {
  struct rank* r = self();
  r->in_loop = false;
  if (hn_on && announced(r)) hn_control(HN_LOOP_END), hn_u(nowait), hn_new_item();
  if (!nowait) barrier(true);
}

static void run_rank(struct rank* r) {
  struct team* t = r->team;
  take_over(r);
  hn_new_item();
  if (t->has_combined) {
    const struct loop c = t->combined;
    split(c.next, c.end, c.step, (int64_t)c.step > 0, false, false, t->site);
    piece_of(&r->loop, c.piece);
  }
  if (t->sections && hn_on && announced(r)) {
    hn_control(HN_SECTIONS_BEGIN);
    hn_site(t->site);
    hn_u((uint64_t)t->sections);
    hn_new_item();
  }
  t->function(t->data);
  end_single(r);
  barrier(false);
}
static void* body(void* argument) {
  struct rank* r = argument;
  self_ = r;
  for (;;) {
    sleep_until_posted(r);
    if (!hn_on && hn_recording) {
      hn_on = true;
      hn_tls_block((unsigned)r->number);
    }
    r->constructs = 0;
    r->sequence = 0;
    hn_stack_base((unsigned)r->number, (uintptr_t)__builtin_frame_address(0));
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
  r->number = number;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 8 << 20);
  if (pthread_create(&id, &attributes, body, r)) abort();
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
  extern void* __libc_stack_end;
  const uintptr_t top = (uintptr_t)__libc_stack_end;
  if (low < top && end > top) end = top;
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
static void parallel(void (*function)(void*), void* data, unsigned wanted, int sections, const void* site, const struct loop* combined) {
  struct rank* r = self();
  struct team* outer = r->team;
  struct team t = {0};
  const struct rank saved = *r;
  hn_open();
  const bool was_on = hn_on;
  hn_on = false; /* threads and their bookkeeping are not the program's */
  if (combined) t.combined = *combined, t.has_combined = true;
  t.ranks = outer->level ? 1 : wanted ? (int)wanted : team_size();
  if (t.ranks > MOST_RANKS) t.ranks = MOST_RANKS;
  t.level = outer->level + 1;
  t.function = function, t.data = data, t.site = site, t.sections = sections;
  hn_on = was_on;
  if (hn_on && t.level > 1 && wanted != 1) note_serialised(site);
  if (hn_on && t.level == 1) {
    for (int i = 1; i < t.ranks; ++i)
      if (!ranks[i]) hn_on = false, start_rank(i, was_on), hn_on = was_on;
    hn_control(HN_PARALLEL_BEGIN);
    hn_u(parallels++), hn_u((uint64_t)t.ranks), hn_site(site);
    hn_new_item();
  }
  for (int i = 1; i < t.ranks; ++i) {
    if (!ranks[i]) start_rank(i, false);
    struct rank* p = ranks[i];
    p->team = &t, p->live = true, p->section = i, p->sections = sections, p->loop = (struct loop){0}, p->in_single = p->in_loop = false;
    p->sent_user_rank = 0;
  }
#ifdef HOMENODE_TWIN
  const uint64_t serial = t.level == 1 ? parallels++ : 0;
  if (t.level == 1) hn_work_parallel(serial, true);
#endif
  r->team = &t, r->number = 0, r->constructs = 0, r->live = true, r->section = 0, r->sections = sections, r->in_single = r->in_loop = false,
  r->sent_user_rank = 0;
  const uintptr_t low = hn_closure_low, high = hn_closure_high;
  hn_closure_low = (uintptr_t)data, hn_closure_high = closure_end(data);
  const uint64_t sequence = hn_sequence;
  run_rank(r);
  if (t.ranks > 1) {
    for (int i = 1; i < t.ranks; ++i)
      while (ranks[i]->live) hand_over(r, ranks[i]);
  }
#ifdef HOMENODE_TWIN
  if (t.level == 1) hn_work_parallel(serial, false);
#endif
  hn_closure_low = low, hn_closure_high = high;
  const uint64_t s = r->sequence;
  *r = saved;
  r->sequence = s;
  if (hn_on && t.level == 1) {
    hn_control(HN_PARALLEL_END), hn_u(parallels - 1), hn_new_item();
  } else {
    hn_sequence = sequence > hn_sequence ? sequence : hn_sequence;
  }
}
#define RA __builtin_return_address(0)
void GOMP_parallel(void (*f)(void*), void* d, unsigned n, unsigned flags) { (void)flags, parallel(f, d, n, 0, RA, 0); }
void GOMP_parallel_sections(void (*f)(void*), void* d, unsigned n, unsigned count, unsigned flags) {
  (void)flags, parallel(f, d, n, (int)count, RA, 0);
}
void GOMP_barrier(void) { barrier(true); }
#define LOOP(name, ordered)                                                                                  \
  bool GOMP_loop_##name##_start(long s, long e, long i, long* a, long* b) {                                  \
    split((uint64_t)s, (uint64_t)e, (uint64_t)i, i > 0, false, ordered, RA);                                 \
    return next((uint64_t*)a, (uint64_t*)b);                                                                 \
  }                                                                                                          \
  bool GOMP_loop_##name##_next(long* a, long* b) { return next((uint64_t*)a, (uint64_t*)b); }                \
  bool GOMP_loop_ull_##name##_start(bool up, uint64_t s, uint64_t e, uint64_t i, uint64_t* a, uint64_t* b) { \
    split(s, e, i, up, true, ordered, RA);                                                                   \
    return next(a, b);                                                                                       \
  }                                                                                                          \
  bool GOMP_loop_ull_##name##_next(uint64_t* a, uint64_t* b) { return next(a, b); }
LOOP(runtime, false)
LOOP(nonmonotonic_runtime, false)
LOOP(maybe_nonmonotonic_runtime, false)
LOOP(ordered_runtime, true)
/* Schedules that were not rewritten: those of the twin, and of objects that another compiler command made. */
#define SCHEDULED(name, ordered, at_once)                                                                                     \
  bool GOMP_loop_##name##_start(long s, long e, long i, long chunk, long* a, long* b) {                                       \
    split((uint64_t)s, (uint64_t)e, (uint64_t)i, i > 0, false, ordered, RA);                                                  \
    (void)chunk;                                                                                                              \
    return pieces((uint64_t)(at_once), (uint64_t*)a, (uint64_t*)b);                                                           \
  }                                                                                                                           \
  bool GOMP_loop_##name##_next(long* a, long* b) { return next((uint64_t*)a, (uint64_t*)b); }                                 \
  bool GOMP_loop_ull_##name##_start(bool up, uint64_t s, uint64_t e, uint64_t i, uint64_t chunk, uint64_t* a, uint64_t* b) {  \
    split(s, e, i, up, true, ordered, RA);                                                                                    \
    (void)chunk;                                                                                                              \
    return pieces((uint64_t)(at_once), a, b);                                                                                 \
  }                                                                                                                           \
  bool GOMP_loop_ull_##name##_next(uint64_t* a, uint64_t* b) { return next(a, b); }                                           \
  void GOMP_parallel_loop_##name(void (*f)(void*), void* d, unsigned n, long s, long e, long i, long chunk, unsigned flags) { \
    (void)flags;                                                                                                              \
    const struct loop l = {.next = (uint64_t)s, .end = (uint64_t)e, .step = (uint64_t)i, .piece = (uint64_t)(at_once)};       \
    (void)chunk;                                                                                                              \
    parallel(f, d, n, 0, RA, &l);                                                                                             \
  }
SCHEDULED(static, false, chunk)
SCHEDULED(dynamic, false, chunk)
SCHEDULED(guided, false, -1) /* shrinking chunks: about the whole share */
SCHEDULED(nonmonotonic_dynamic, false, chunk)
SCHEDULED(nonmonotonic_guided, false, -1) /* shrinking chunks: about the whole share */
SCHEDULED(ordered_static, true, chunk)
SCHEDULED(ordered_dynamic, true, chunk)
SCHEDULED(ordered_guided, true, chunk)
#define COMBINED(name)                                                                                            \
  void GOMP_parallel_loop_##name(void (*f)(void*), void* d, unsigned n, long s, long e, long i, unsigned flags) { \
    (void)flags;                                                                                                  \
    const struct loop l = {.next = (uint64_t)s, .end = (uint64_t)e, .step = (uint64_t)i};                         \
    parallel(f, d, n, 0, RA, &l);                                                                                 \
  }
COMBINED(runtime) COMBINED(nonmonotonic_runtime) COMBINED(maybe_nonmonotonic_runtime) void GOMP_loop_end_nowait(void) { loop_end(true); }
void GOMP_loop_end(void) { loop_end(false); }
bool GOMP_loop_end_cancel(void) {
  loop_end(false);
  return false;
}
static unsigned section_next(void) {
  struct rank* r = self();
  if (r->section >= r->sections) return 0;
  const int section = r->section;
  r->section += r->team->ranks;
  if (hn_on && announced(r)) hn_control(HN_ITEM), hn_u((uint64_t)section), hn_new_item();
  return (unsigned)section + 1;
}
unsigned GOMP_sections_start(unsigned n) {
  struct rank* r = self();
  end_single(r);
  ++r->constructs, r->section = r->number, r->sections = (int)n;
  if (hn_on && announced(r)) hn_control(HN_SECTIONS_BEGIN), hn_site(RA), hn_u(n), hn_new_item();
  return section_next();
}
unsigned GOMP_sections_next(void) { return section_next(); }
void GOMP_sections_end(void) { loop_end(false); }
void GOMP_sections_end_nowait(void) { loop_end(true); }
static bool single(const void* site) {
  struct rank* r = self();
  end_single(r);
  const bool taken = ++r->constructs > r->team->constructs;
  if (taken) r->team->constructs = r->constructs;
  if (hn_on && announced(r)) hn_control(HN_SINGLE), hn_site(site), hn_u(taken), hn_new_item(), r->in_single = taken;
  return taken;
}
bool GOMP_single_start(void) { return single(RA); }
void* GOMP_single_copy_start(void) {
  if (single(RA)) return 0;
  barrier(true);
  void* p = self()->team->copied;
  barrier(true);
  return p;
}
void GOMP_single_copy_end(void* p) { self()->team->copied = p, barrier(true), barrier(true); }

/* Mutual exclusion: only one thread runs, so a word and a predicate do. Objects are numbered in order of first use. */
struct lock {
  void* object;
  uint64_t number, acquired;
};
static struct lock unnamed_lock = {.number = 0}, fallback_lock = {.number = 1};
static struct lock* locks; /* open addressing by object; nothing is ever removed */
static uint64_t lock_slots, lock_count;
static struct lock* slot_of(void* object) {
  uint64_t slot = (uintptr_t)object * 0x9E3779B97F4A7C15ul >> 20;
  while (locks[slot &= lock_slots - 1].object && locks[slot].object != object) ++slot;
  return &locks[slot];
}
static struct lock* lock_of(void* object) {
  if (lock_count * 2 >= lock_slots) {
    struct lock* const old = locks;
    const uint64_t before = lock_slots;
    lock_slots = before ? before * 2 : 1024;
    locks = hn_pages(lock_slots * sizeof *locks);
    if (!locks) abort();
    for (uint64_t i = 0; i < before; ++i)
      if (old[i].object) *slot_of(old[i].object) = old[i];
    if (old) munmap(old, before * sizeof *old);
  }
  struct lock* found = slot_of(object);
  if (!found->object) *found = (struct lock){object, 2 + lock_count++, 0};
  return found;
}
enum {
  SYNC_LOCK = 0,
  SYNC_UNLOCK = 2,
  SYNC_WAIT = 3,
  SYNC_SIGNAL = 4,
  SYNC_TASK_SUBMIT = 9,
  SYNC_TASK_WAIT = 10,
  SYNC_DEPEND = 11,
  SYNC_CRITICAL_ENTER = 12,
  SYNC_CRITICAL_LEAVE = 13,
  SYNC_ORDERED_ENTER = 14,
  SYNC_ORDERED_LEAVE = 15
};
static void sync_message(int operation, uint64_t object, uint64_t match) {
  message(HN_SYNC);
  if (hn_on) hn_u((uint64_t)operation), hn_u(object), hn_u(match);
}
static int unnamed, fallback;
static void acquire(int* word, struct lock* lock, int operation) {
  WAIT_UNTIL(*word == 0);
  *word = 1 + self()->number;
  sync_message(operation, lock->number, lock->acquired);
}
static void give_up(int* word, struct lock* lock, int operation) {
  sync_message(operation, lock->number, lock->acquired++);
  *word = 0;
  progress();
}
void GOMP_critical_start(void) { acquire(&unnamed, &unnamed_lock, SYNC_CRITICAL_ENTER); }
void GOMP_critical_end(void) { give_up(&unnamed, &unnamed_lock, SYNC_CRITICAL_LEAVE); }
void GOMP_critical_name_start(void** p) { acquire((int*)p, lock_of(p), SYNC_CRITICAL_ENTER); }
void GOMP_critical_name_end(void** p) { give_up((int*)p, lock_of(p), SYNC_CRITICAL_LEAVE); }
void GOMP_atomic_start(void) { acquire(&fallback, &fallback_lock, SYNC_CRITICAL_ENTER); }
void GOMP_atomic_end(void) { give_up(&fallback, &fallback_lock, SYNC_CRITICAL_LEAVE); }
void omp_init_lock(int* p) { *p = 0; }
void omp_destroy_lock(int* p) { (void)p; }
void omp_set_lock(int* p) { acquire(p, lock_of(p), SYNC_LOCK); }
void omp_unset_lock(int* p) { give_up(p, lock_of(p), SYNC_UNLOCK); }
/* A nest lock: the word, and how often its owner holds it. */
void omp_init_nest_lock(int* p) { p[0] = p[1] = 0; }
void omp_destroy_nest_lock(int* p) { (void)p; }
void omp_set_nest_lock(int* p) {
  if (p[0] != 1 + self()->number) omp_set_lock(p);
  ++p[1];
}
void omp_unset_nest_lock(int* p) {
  if (--p[1] == 0) omp_unset_lock(p);
}
int omp_test_nest_lock(int* p) {
  if (p[0] && p[0] != 1 + self()->number) {
    give_way();
    return 0;
  }
  omp_set_nest_lock(p);
  return p[1];
}
int omp_test_lock(int* p) {
  if (*p) {
    give_way();
    return 0;
  }
  omp_set_lock(p);
  return 1;
}
void GOMP_ordered_start(void) {
  struct rank* r = self();
  WAIT_UNTIL(r->team->ordered_next == r->loop.number);
  sync_message(SYNC_ORDERED_ENTER, 0, r->loop.number);
}
void GOMP_ordered_end(void) { sync_message(SYNC_ORDERED_LEAVE, 0, self()->loop.number); }

/* doacross: one bit an iteration of the whole nest. */
static uint64_t nest[16], posted_bits;
static unsigned nest_dimensions;
static uint64_t* posted;
static bool doacross_start(unsigned n, const uint64_t* counts, uint64_t* a, uint64_t* b, bool is_unsigned, const void* site) {
  struct rank* r = self();
  uint64_t total = 1;
  nest_dimensions = n < 16 ? n : 16;
  for (unsigned i = 0; i < nest_dimensions; ++i) total *= nest[i] = counts[i];
  if (r->constructs + 1 > r->team->constructs) {
    r->team->constructs = r->constructs + 1;
    if (posted) munmap(posted, posted_bits / 8);
    posted_bits = (total / 64 + 1) * 64;
    posted = hn_pages(posted_bits / 8);
    if (!posted) abort();
  }
  split(0, counts[0], 1, true, is_unsigned, false, site);
  return next(a, b);
}
bool GOMP_loop_doacross_runtime_start(unsigned n, long* c, long* a, long* b) {
  return doacross_start(n, (uint64_t*)c, (uint64_t*)a, (uint64_t*)b, false, RA);
}
bool GOMP_loop_ull_doacross_runtime_start(unsigned n, uint64_t* c, uint64_t* a, uint64_t* b) {
  return doacross_start(n, c, a, b, true, RA);
}
#define DOACROSS(name)                                                                                            \
  bool GOMP_loop_doacross_##name##_start(unsigned n, long* c, long chunk, long* a, long* b) {                     \
    (void)chunk;                                                                                                  \
    return doacross_start(n, (uint64_t*)c, (uint64_t*)a, (uint64_t*)b, false, RA);                                \
  }                                                                                                               \
  bool GOMP_loop_ull_doacross_##name##_start(unsigned n, uint64_t* c, uint64_t chunk, uint64_t* a, uint64_t* b) { \
    (void)chunk;                                                                                                  \
    return doacross_start(n, c, a, b, true, RA);                                                                  \
  }
DOACROSS(static)
DOACROSS(dynamic)
DOACROSS(guided)
void GOMP_doacross_post(long* c) {
  uint64_t x = 0;
  for (unsigned i = 0; i < nest_dimensions; ++i) x = x * nest[i] + (uint64_t)c[i];
  posted[x / 64] |= 1ul << x % 64;
  progress();
  sync_message(SYNC_SIGNAL, x, 0);
}
void GOMP_doacross_ull_post(uint64_t* c) { GOMP_doacross_post((long*)c); }
static void doacross_wait(uint64_t x) {
  sync_message(SYNC_WAIT, x, 0);
  WAIT_UNTIL(posted[x / 64] >> x % 64 & 1);
}
void GOMP_doacross_wait(long first, ...) {
  va_list list;
  va_start(list, first);
  uint64_t x = (uint64_t)first;
  for (unsigned i = 1; i < nest_dimensions; ++i) x = x * nest[i] + (uint64_t)va_arg(list, long);
  va_end(list);
  doacross_wait(x);
}
void GOMP_doacross_ull_wait(uint64_t first, ...) {
  va_list list;
  va_start(list, first);
  uint64_t x = first;
  for (unsigned i = 1; i < nest_dimensions; ++i) x = x * nest[i] + va_arg(list, uint64_t);
  va_end(list);
  doacross_wait(x);
}

/* Tasks run at their creation: creation order satisfies every dependence. */
void GOMP_task(void (*f)(void*), void* d, void (*copy)(void*, void*), long size, long align, bool condition, unsigned flags, void** depend,
               int priority, void* detach) {
  (void)condition, (void)priority, (void)detach;
  struct rank* r = self();
  const uint64_t parent = r->task;
  r->task = ++tasks;
  if (flags & 8 && (uintptr_t)depend[0])
    for (uint64_t i = 0; i < (uintptr_t)depend[0]; ++i) sync_message(SYNC_DEPEND, lock_of(depend[2 + i])->number, r->task);
  sync_message(SYNC_TASK_SUBMIT, r->task, parent);
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
void GOMP_taskwait(void) { sync_message(SYNC_TASK_WAIT, self()->task, 0); }
void GOMP_taskyield(void) {}
void GOMP_taskwait_depend(void** depend) { (void)depend, GOMP_taskwait(); }
bool GOMP_cancel(int which, bool condition) { return (void)which, (void)condition, false; } /* OMP_CANCELLATION=false is the default */
bool GOMP_cancellation_point(int which) { return (void)which, false; }
void GOMP_taskgroup_start(void) {}
void GOMP_taskgroup_end(void) { GOMP_taskwait(); }

/* Queries. The wrapper compiles the program's own omp_get_thread_num to the first name; gcc's own calls keep the second. */
static void user_asked(void) {
  struct rank* r = self();
  if (!hn_on || !announced(r)) return;
  if (r->in_loop ? r->loop_user_rank : r->sent_user_rank) return;
  if (r->in_loop)
    r->loop_user_rank = true;
  else
    r->sent_user_rank = 1;
  hn_control(HN_USER_RANK);
}
int homenode_user_thread_num(void) {
  user_asked();
  return self()->number;
}
int omp_get_thread_num(void) { return self()->number; }
int omp_get_num_threads(void) { return self()->team->ranks; }
int omp_get_max_threads(void) { return self()->team->level ? 1 : team_size(); }
int omp_get_num_procs(void) { return team_size(); }
void omp_set_num_threads(int n) { team_setting = n < 1 ? 1 : n > MOST_RANKS ? MOST_RANKS : n; }
int omp_in_parallel(void) { return self()->team->ranks > 1; }
int omp_get_level(void) { return self()->team->level; }
int omp_get_active_level(void) { return omp_in_parallel(); }
int omp_get_max_active_levels(void) { return 1; }
int omp_get_supported_active_levels(void) { return 1; }
int omp_get_team_size(int level) { return level == self()->team->level ? self()->team->ranks : level == 0 ? 1 : -1; }
int omp_get_ancestor_thread_num(int level) { return level == self()->team->level ? homenode_user_thread_num() : level == 0 ? 0 : -1; }
int omp_get_num_teams(void) { return 1; }
int omp_get_team_num(void) { return 0; }
int omp_get_num_devices(void) { return 0; }
int omp_get_default_device(void) { return 0; }
int omp_is_initial_device(void) { return 1; }
int omp_get_cancellation(void) { return 0; }
int omp_get_proc_bind(void) { return 0; }
int omp_in_final(void) { return 0; }
int omp_get_thread_limit(void) { return MOST_RANKS; }
void omp_set_dynamic(int d) { (void)d; }
int omp_get_dynamic(void) { return 0; }
void omp_set_nested(int n) { (void)n; }
int omp_get_nested(void) { return 0; }
void omp_set_max_active_levels(int n) { (void)n; }
void omp_set_schedule(int k, int c) { (void)k, (void)c; }
void omp_get_schedule(int* k, int* c) { *k = 2, *c = 1; }
static double clock_time;
double omp_get_wtime(void) { return clock_time += 1e-6; } /* deterministic, strictly growing */
double omp_get_wtick(void) { return 1e-6; }
void hn_yield(void) {
  struct rank* r = self();
  if (r->team->ranks > 1) idle_turns = 0, hand_over(r, next_live(r));
}
