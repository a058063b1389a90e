/* histogram: how often each of `bins` keys occurs, all threads adding to one table.
 * Source: the textbook's; the table of HPCC RandomAccess is updated alike (P. Luszczek et al., The HPC Challenge Benchmark Suite, SC 2006).
 * Keys: uniform; or skewed, low bins more often, with a density as 1 / bin^(3/4), so that a few lines are wanted by all threads.
 * Self-check: each count equals the one made from the keys' formula alone, and all of them add up to the number of keys.
 */
#include "kernel.h"
#include "mixed.h"

KERNEL_INLINE static uint32_t key_of(int64_t i, int64_t bins, int skewed) {
  double fraction = mixed_fraction((uint64_t)i);
  if (skewed) fraction *= fraction, fraction *= fraction;
  return (uint32_t)(fraction * (double)bins);
}

KERNEL_UNTRACED static int64_t differing(const int64_t* count, int64_t bins, int64_t keys, int64_t repeats, int skewed) {
  int64_t* expected = calloc((size_t)bins, sizeof *expected);
  if (!expected) return 1;
  for (int64_t i = 0; i < keys; ++i) expected[key_of(i, bins, skewed)] += repeats;
  int64_t wrong = 0, sum = 0;
  for (int64_t bin = 0; bin < bins; ++bin) wrong += count[bin] != expected[bin], sum += count[bin];
  free(expected);
  return wrong + (sum != keys * repeats);
}

int main(int argc, char** argv) {
  enum { BINS, KEYS, DRAWN, REPEATS, CHECK, COUNT };
  struct kernel_parameter p[COUNT] = {{"bins", 4096, 1, (int64_t)1 << 32, NULL},
                                      {"keys", 100000, 1, (int64_t)1 << 34, NULL},
                                      {"drawn", 0, 0, 0, "uniform|skewed"},
                                      {"repeats", 1, 1, 1 << 20, NULL},
                                      {"check", 1, 0, 1, NULL}};
  kernel_parameters(argc, argv, "histogram", p, COUNT);
  const int64_t bins = p[BINS].value, keys = p[KEYS].value;
  const int skewed = (int)p[DRAWN].value;
  uint32_t* key = kernel_allocate("histogram", (size_t)keys, sizeof(uint32_t));
  int64_t* count = kernel_allocate("histogram", (size_t)bins, sizeof(int64_t));

  double begin = KERNEL_REGION("init");
#pragma omp parallel for schedule(static)
  for (int64_t bin = 0; bin < bins; ++bin) count[bin] = 0;
  kernel_time("init", begin);

  begin = KERNEL_REGION("keys");
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < keys; ++i) key[i] = key_of(i, bins, skewed);
  kernel_time("keys", begin);

  for (int64_t repeat = 0; repeat < p[REPEATS].value; ++repeat) {
    begin = KERNEL_REGION("count");
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < keys; ++i) {
#pragma omp atomic
      ++count[key[i]];
    }
    kernel_time("count", begin);
  }

  const int code = p[CHECK].value ? kernel_verdict("histogram", differing(count, bins, keys, p[REPEATS].value, skewed),
                                                   "counts differ from the formula's")
                                  : 0;
  free(key);
  free(count);
  return code;
}
