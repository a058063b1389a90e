/* Mutual exclusion: only one thread runs, so a word and a predicate do. Objects are numbered in order of first use. */
#include <stdlib.h>
#include <sys/mman.h>

#include "team.h"

static struct lock unnamed_lock = {.number = 0}, fallback_lock = {.number = 1};
static struct lock* locks; /* open addressing by object; nothing is ever removed */
static uint64_t lock_slots, lock_count, renewed;
static struct lock* slot_of(void* object) {
  uint64_t slot = (uintptr_t)object * 0x9E3779B97F4A7C15ul >> 20;
  while (locks[slot &= lock_slots - 1].object && locks[slot].object != object) ++slot;
  return &locks[slot];
}
struct lock* hn_lock_of(void* object) {
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
  if (!found->object) *found = (struct lock){.object = object, .number = 2 + lock_count++ + renewed};
  return found;
}
void hn_renew_lock(void* object) {
  if (!lock_slots || !slot_of(object)->object) return;
  *slot_of(object) = (struct lock){.object = object, .number = 2 + lock_count + renewed++};
}
void hn_sync(int operation, uint64_t object, uint64_t match) {
  if (!hn_on || !hn_started) return;
  hn_control(HN_SYNC);
  hn_u((uint64_t)operation), hn_u(object), hn_u(match);
}
static int unnamed, fallback;
static int owner(void) { return 1 + (int)hn_self()->stack; }
static void acquire(int* word, struct lock* lock, int operation) {
  WAIT_UNTIL(*word == 0);
  *word = owner();
  hn_sync(operation, lock->number, lock->acquired);
}
static void give_up(int* word, struct lock* lock, int operation) {
  hn_sync(operation, lock->number, lock->acquired++);
  *word = 0;
  hn_progress();
}
void GOMP_critical_start(void) { acquire(&unnamed, &unnamed_lock, SYNC_CRITICAL_ENTER); }
void GOMP_critical_end(void) { give_up(&unnamed, &unnamed_lock, SYNC_CRITICAL_LEAVE); }
void GOMP_critical_name_start(void** p) { acquire((int*)p, hn_lock_of(p), SYNC_CRITICAL_ENTER); }
void GOMP_critical_name_end(void** p) { give_up((int*)p, hn_lock_of(p), SYNC_CRITICAL_LEAVE); }
void GOMP_atomic_start(void) { acquire(&fallback, &fallback_lock, SYNC_CRITICAL_ENTER); }
void GOMP_atomic_end(void) { give_up(&fallback, &fallback_lock, SYNC_CRITICAL_LEAVE); }
void omp_init_lock(int* p) { *p = 0; }
void omp_destroy_lock(int* p) { (void)p; }
void omp_set_lock(int* p) { acquire(p, hn_lock_of(p), SYNC_LOCK); }
void omp_unset_lock(int* p) { give_up(p, hn_lock_of(p), SYNC_UNLOCK); }
/* A nest lock: the word, and how often its owner holds it. */
void omp_init_nest_lock(int* p) { p[0] = p[1] = 0; }
void omp_destroy_nest_lock(int* p) { (void)p; }
void omp_set_nest_lock(int* p) {
  if (p[0] != owner()) omp_set_lock(p);
  ++p[1];
}
void omp_unset_nest_lock(int* p) {
  if (--p[1] == 0) omp_unset_lock(p);
}
int omp_test_nest_lock(int* p) {
  if (p[0] && p[0] != owner()) {
    hn_give_way();
    return 0;
  }
  omp_set_nest_lock(p);
  return p[1];
}
int omp_test_lock(int* p) {
  if (*p) {
    hn_give_way();
    return 0;
  }
  omp_set_lock(p);
  return 1;
}
void GOMP_ordered_start(void) {
  struct rank* r = hn_self();
  WAIT_UNTIL(r->team->ordered_next == r->loop.number);
  hn_sync(SYNC_ORDERED_ENTER, 0, r->loop.number);
}
void GOMP_ordered_end(void) { hn_sync(SYNC_ORDERED_LEAVE, 0, hn_self()->loop.number); }
