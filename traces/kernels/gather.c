/* gather: the sum of x[index[i]] over random indices, independent irregular reads.
 * Source: the indirect read of sparse kernels, "gather" of J. J. Dongarra et al., Solving Linear Systems on Vector and Shared
 * Memory Computers (SIAM 1991); the indices are a mixed counter (mixed.h).
 * Self-check: the elements are small integers, so the sum is exact in any order, and equals the sum of the formula's values.
 */
#include "kernel.h"
#include "mixed.h"

static inline uint32_t index_of(int64_t i, int64_t n) { return (uint32_t)(mixed((uint64_t)i) % (uint64_t)n); }
static inline double element(int64_t i) { return (double)(i % 1021); }

KERNEL_UNTRACED static double expected_sum(int64_t n, int64_t reads) {
  double sum = 0;
  for (int64_t i = 0; i < reads; ++i) sum += element(index_of(i, n));
  return sum;
}

int main(int argc, char** argv) {
  enum { N, READS, REPEATS, CHECK, COUNT };
  struct kernel_parameter p[COUNT] = {{"n", 100000, 1, ((int64_t)1 << 32) - 1, NULL},
                                      {"reads", 100000, 1, (int64_t)1 << 34, NULL},
                                      {"repeats", 1, 1, 1 << 20, NULL},
                                      {"check", 1, 0, 1, NULL}};
  kernel_parameters(argc, argv, "gather", p, COUNT);
  const int64_t n = p[N].value, reads = p[READS].value;
  double* x = kernel_allocate("gather", (size_t)n, sizeof(double));
  uint32_t* index = kernel_allocate("gather", (size_t)reads, sizeof(uint32_t));

  double begin = KERNEL_REGION("init");
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < n; ++i) x[i] = element(i);
  kernel_time("init", begin);

  begin = KERNEL_REGION("index");
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < reads; ++i) index[i] = index_of(i, n);
  kernel_time("index", begin);

  int64_t wrong = 0;
  for (int64_t repeat = 0; repeat < p[REPEATS].value; ++repeat) {
    double sum = 0;
    begin = KERNEL_REGION("gather");
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (int64_t i = 0; i < reads; ++i) sum += x[index[i]];
    kernel_time("gather", begin);
    if (p[CHECK].value && sum != expected_sum(n, reads)) ++wrong;
  }

  const int code = p[CHECK].value ? kernel_verdict("gather", wrong, "sums differ from the formula's") : 0;
  free(x);
  free(index);
  return code;
}
