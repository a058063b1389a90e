/* What is known of the program's synchronisation objects, by address. The runtime's own pages: nothing of it is the program's. */
#include <stdlib.h>
#include <sys/mman.h>

#include "program_threads.h"

static struct object** buckets;
static uint64_t bucket_count, object_count;
static struct object* room;
static unsigned left;
static uint64_t signals;

static uint64_t bucket_of(uintptr_t address, enum hn_object_kind kind) {
  return ((address ^ (uintptr_t)kind) * 0x9E3779B97F4A7C15ul >> 20) & (bucket_count - 1);
}
static void grow(void) {
  struct object** const old = buckets;
  const uint64_t before = bucket_count;
  bucket_count = before ? before * 2 : 1024;
  buckets = hn_pages(bucket_count * sizeof *buckets);
  if (!buckets) abort();
  for (uint64_t i = 0; i < before; ++i)
    for (struct object *o = old[i], *next; o; o = next) {
      next = o->chain;
      struct object** to = &buckets[bucket_of(o->address, o->kind)];
      o->chain = *to, *to = o;
    }
  if (old) munmap(old, before * sizeof *old);
}
struct object* hn_known_object(const void* address, enum hn_object_kind kind) {
  if (!bucket_count) return 0;
  struct object* o = buckets[bucket_of((uintptr_t)address, kind)];
  while (o && (o->address != (uintptr_t)address || o->kind != kind)) o = o->chain;
  return o;
}
struct object* hn_object(const void* address, enum hn_object_kind kind) {
  struct object* o = hn_known_object(address, kind);
  if (o) return o;
  if (++object_count > bucket_count) grow();
  if (!left) {
    left = 256;
    room = hn_pages(left * sizeof *room);
    if (!room) abort();
  }
  o = &room[--left];
  o->address = (uintptr_t)address, o->kind = kind;
  struct object** to = &buckets[bucket_of(o->address, kind)];
  o->chain = *to, *to = o;
  return o;
}
uint64_t hn_next_signal(void) { return ++signals; }
