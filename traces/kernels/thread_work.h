/* What the programs with POSIX threads share: starting threads, and work whose result is known in closed form.
 * They stand for the kinds of threads that I. Stirb's NUMA-BTLP tells apart (thesis abstract, S3, section 3): autonomous threads share
 * no data that any of them writes, side-by-side threads do, a postponed thread depends on nobody but its creator.
 */
#ifndef HOMENODE_THREAD_WORK_H
#define HOMENODE_THREAD_WORK_H

#include "kernel.h"

#include <pthread.h>

KERNEL_UNTRACED static void must_work(const char* kernel, const char* what, int error) {
  if (!error) return;
  fprintf(stderr, "%s: %s: %s\n", kernel, what, strerror(error));
  exit(1);
}

static void start_thread(const char* kernel, pthread_t* thread, void* (*routine)(void*), void* argument) {
  must_work(kernel, "a thread cannot be created", pthread_create(thread, NULL, routine, argument));
}

__attribute__((unused)) static void join_thread(const char* kernel, pthread_t thread) {
  must_work(kernel, "a thread cannot be joined", pthread_join(thread, NULL));
}

/* ---- affine maps of 64-bit words: x -> factor x + offset, modulo 2^64 ---- */

struct affine {
  uint64_t factor, offset;
};

static inline uint64_t affine_value(struct affine map, uint64_t x) { return map.factor * x + map.offset; }

/* First `first`, then `then`. */
KERNEL_UNTRACED static struct affine affine_after(struct affine first, struct affine then) {
  return (struct affine){then.factor * first.factor, affine_value(then, first.offset)};
}

/* The map applied `times` times, by squaring. */
KERNEL_UNTRACED static struct affine affine_power(struct affine map, uint64_t times) {
  struct affine result = {1, 0};
  for (; times; times /= 2) {
    if (times % 2) result = affine_after(result, map);
    map = affine_after(map, map);
  }
  return result;
}

/* ---- a ring of numbers modulo a prime, each made of itself and its two neighbours ----
 * to[i] = from[i - 1] + 2 from[i] + 4 from[i + 1]. Where w^n = 1, the ring from[i] = w^i is turned into (1 / w + 2 + 4 w) w^i:
 * every round multiplies it by a number, and left and right are told apart. 998244353 - 1 is divisible by 2^23; 3 generates all.
 */
static const uint64_t prime = 998244353;

static inline uint64_t ring_value(uint64_t left, uint64_t here, uint64_t right) { return (left + 2 * here + 4 * right) % prime; }

KERNEL_INLINE static void ring_round(const uint64_t* from, uint64_t* to, int64_t n, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) to[i] = ring_value(from[i ? i - 1 : n - 1], from[i], from[i < n - 1 ? i + 1 : 0]);
}

KERNEL_UNTRACED static uint64_t prime_power(uint64_t base, uint64_t exponent) {
  uint64_t result = 1;
  for (; exponent; exponent /= 2) {
    if (exponent % 2) result = result * base % prime;
    base = base * base % prime;
  }
  return result;
}

/* w^index on a ring of n numbers, n a power of two. */
KERNEL_UNTRACED static uint64_t ring_start(int64_t n, int64_t index) {
  return prime_power(prime_power(3, (prime - 1) / (uint64_t)n), (uint64_t)index);
}

/* Numbers of the ring that are not what `rounds` rounds make of its start, multiplied by `scale`. */
KERNEL_UNTRACED static int64_t wrong_ring(const uint64_t* ring, int64_t n, int64_t rounds, uint64_t scale) {
  const uint64_t root = ring_start(n, 1), factor = ring_value(prime_power(root, prime - 2), 1, root);
  uint64_t expected = prime_power(factor, (uint64_t)rounds) * (scale % prime) % prime;
  int64_t wrong = 0;
  for (int64_t i = 0; i < n; ++i, expected = expected * root % prime) wrong += ring[i] != expected;
  return wrong;
}

/* ---- statements on variables in memory, as the programs that S3 cites repeat them (pdpriyanka/CPU-Benchmarking): three go on from what
 * they made before, the others start from constants ---- */
#define FOURTEEN_STATEMENTS(made, c) \
  (made)[0] = (made)[0] + (c)[4];    \
  (made)[1] = (c)[0] + (c)[1];       \
  (made)[2] = (c)[1] * (c)[2];       \
  (made)[3] = (made)[3] + (c)[0];    \
  (made)[4] = (c)[2] * (c)[3];       \
  (made)[5] = (c)[3] + (c)[4];       \
  (made)[6] = (made)[6] + (c)[1];    \
  (made)[7] = (c)[0] * (c)[3];       \
  (made)[8] = (c)[2] + (c)[3];       \
  (made)[9] = (c)[0] * (c)[2];       \
  (made)[10] = (c)[0] + (c)[3];      \
  (made)[11] = (c)[1] * (c)[3];      \
  (made)[12] = (c)[2] * (c)[2];      \
  (made)[13] = (c)[3] * (c)[3];

#endif
