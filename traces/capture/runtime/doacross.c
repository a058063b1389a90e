/* doacross: one bit an iteration of the whole nest. */
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "team.h"

static uint64_t nest[16], posted_bits;
static unsigned nest_dimensions;
static uint64_t* posted;
static bool doacross_start(unsigned n, const uint64_t* counts, uint64_t* a, uint64_t* b, bool is_unsigned, const void* site) {
  struct rank* r = hn_self();
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
  hn_split(0, counts[0], 1, true, is_unsigned, false, site);
  return hn_next(a, b);
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
  hn_progress();
  hn_sync(SYNC_SIGNAL, x, 0);
}
void GOMP_doacross_ull_post(uint64_t* c) { GOMP_doacross_post((long*)c); }
static void doacross_wait(uint64_t x) {
  hn_sync(SYNC_WAIT, x, 0);
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
