/* Worksharing: each rank gets a contiguous share of a loop, handed out one iteration at a time, so that every iteration is announced;
 * sections and single constructs.
 */
#include "team.h"

void hn_split(uint64_t start, uint64_t end, uint64_t step, bool up, bool is_unsigned, bool ordered, const void* site) {
  struct rank* r = hn_self();
  struct team* t = r->team;
  hn_end_single(r);
  ++r->constructs;
  const bool some =
      up ? (is_unsigned ? start < end : (int64_t)start < (int64_t)end) : (is_unsigned ? start > end : (int64_t)start > (int64_t)end);
  const uint64_t n = !some ? 0 : up ? (end - start + step - 1) / step : (start - end + (-step) - 1) / (-step);
  const uint64_t each = n / (uint64_t)t->ranks, rest = n % (uint64_t)t->ranks, k = (uint64_t)r->number;
  const uint64_t low = k < rest ? k * (each + 1) : k * each + rest, count = each + (k < rest);
  if (ordered && r->constructs > t->constructs) t->constructs = r->constructs, t->ordered_next = 0;
  r->loop = (struct loop){start + low * step, start + (low + count) * step, step, low, 1, ordered, false};
  r->in_loop = true;
  if (hn_on && hn_announced(r)) {
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
void hn_piece_of(struct loop* l, uint64_t chunk) {
#ifdef HOMENODE_TWIN
  l->piece = l->ordered || chunk < 1 ? 1 : chunk;
#else
  (void)l, (void)chunk;
#endif
}
bool hn_next(uint64_t* low, uint64_t* high) {
  struct rank* r = hn_self();
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
  if (hn_on && hn_announced(r)) hn_control(HN_ITEM), hn_u(l->number), hn_new_item();
  return true;
}
static bool pieces(uint64_t chunk, uint64_t* low, uint64_t* high) {
  hn_piece_of(&hn_self()->loop, chunk);
  return hn_next(low, high);
}
static void loop_end(bool nowait, const void* site) {
  struct rank* r = hn_self();
  r->in_loop = false;
  if (hn_on && hn_announced(r)) hn_control(HN_LOOP_END), hn_u(nowait), hn_new_item();
  if (!nowait) hn_barrier(site);
}

#define LOOP(name, ordered)                                                                                  \
  bool GOMP_loop_##name##_start(long s, long e, long i, long* a, long* b) {                                  \
    hn_split((uint64_t)s, (uint64_t)e, (uint64_t)i, i > 0, false, ordered, RA);                              \
    return hn_next((uint64_t*)a, (uint64_t*)b);                                                              \
  }                                                                                                          \
  bool GOMP_loop_##name##_next(long* a, long* b) { return hn_next((uint64_t*)a, (uint64_t*)b); }             \
  bool GOMP_loop_ull_##name##_start(bool up, uint64_t s, uint64_t e, uint64_t i, uint64_t* a, uint64_t* b) { \
    hn_split(s, e, i, up, true, ordered, RA);                                                                \
    return hn_next(a, b);                                                                                    \
  }                                                                                                          \
  bool GOMP_loop_ull_##name##_next(uint64_t* a, uint64_t* b) { return hn_next(a, b); }
LOOP(runtime, false)
LOOP(nonmonotonic_runtime, false)
LOOP(maybe_nonmonotonic_runtime, false)
LOOP(ordered_runtime, true)
/* Schedules that were not rewritten: those of the twin, and of objects that another compiler command made. */
#define SCHEDULED(name, ordered, at_once)                                                                                     \
  bool GOMP_loop_##name##_start(long s, long e, long i, long chunk, long* a, long* b) {                                       \
    hn_split((uint64_t)s, (uint64_t)e, (uint64_t)i, i > 0, false, ordered, RA);                                               \
    (void)chunk;                                                                                                              \
    return pieces((uint64_t)(at_once), (uint64_t*)a, (uint64_t*)b);                                                           \
  }                                                                                                                           \
  bool GOMP_loop_##name##_next(long* a, long* b) { return hn_next((uint64_t*)a, (uint64_t*)b); }                              \
  bool GOMP_loop_ull_##name##_start(bool up, uint64_t s, uint64_t e, uint64_t i, uint64_t chunk, uint64_t* a, uint64_t* b) {  \
    hn_split(s, e, i, up, true, ordered, RA);                                                                                 \
    (void)chunk;                                                                                                              \
    return pieces((uint64_t)(at_once), a, b);                                                                                 \
  }                                                                                                                           \
  bool GOMP_loop_ull_##name##_next(uint64_t* a, uint64_t* b) { return hn_next(a, b); }                                        \
  void GOMP_parallel_loop_##name(void (*f)(void*), void* d, unsigned n, long s, long e, long i, long chunk, unsigned flags) { \
    (void)flags;                                                                                                              \
    const struct loop l = {.next = (uint64_t)s, .end = (uint64_t)e, .step = (uint64_t)i, .piece = (uint64_t)(at_once)};       \
    (void)chunk;                                                                                                              \
    hn_parallel(f, d, n, 0, RA, &l);                                                                                          \
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
    hn_parallel(f, d, n, 0, RA, &l);                                                                              \
  }
COMBINED(runtime) COMBINED(nonmonotonic_runtime) COMBINED(maybe_nonmonotonic_runtime) void GOMP_loop_end_nowait(void) {
  loop_end(true, RA);
}
void GOMP_loop_end(void) { loop_end(false, RA); }
bool GOMP_loop_end_cancel(void) {
  loop_end(false, RA);
  return false;
}
static unsigned section_next(void) {
  struct rank* r = hn_self();
  if (r->section >= r->sections) return 0;
  const int section = r->section;
  r->section += r->team->ranks;
  if (hn_on && hn_announced(r)) hn_control(HN_ITEM), hn_u((uint64_t)section), hn_new_item();
  return (unsigned)section + 1;
}
unsigned GOMP_sections_start(unsigned n) {
  struct rank* r = hn_self();
  hn_end_single(r);
  ++r->constructs, r->section = r->number, r->sections = (int)n;
  if (hn_on && hn_announced(r)) hn_control(HN_SECTIONS_BEGIN), hn_site(RA), hn_u(n), hn_new_item();
  return section_next();
}
unsigned GOMP_sections_next(void) { return section_next(); }
void GOMP_sections_end(void) { loop_end(false, RA); }
void GOMP_sections_end_nowait(void) { loop_end(true, RA); }
static bool single(const void* site) {
  struct rank* r = hn_self();
  hn_end_single(r);
  const bool taken = ++r->constructs > r->team->constructs;
  if (taken) r->team->constructs = r->constructs;
  if (hn_on && hn_announced(r)) hn_control(HN_SINGLE), hn_site(site), hn_u(taken), hn_new_item(), r->in_single = taken;
  return taken;
}
bool GOMP_single_start(void) { return single(RA); }
void* GOMP_single_copy_start(void) {
  if (single(RA)) return 0;
  hn_barrier(RA);
  void* p = hn_self()->team->copied;
  hn_barrier(RA);
  return p;
}
void GOMP_single_copy_end(void* p) { hn_self()->team->copied = p, hn_barrier(RA), hn_barrier(RA); }
