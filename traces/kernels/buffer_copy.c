/* buffer_copy: b = a over long vectors of float, of which only a is initialised beforehand.
 * Source: M. Büttner's benchmark of buffer initialisation for SYCL on NUMA systems (2024): ten copies of 512 000 000 floats by all threads;
 * a is initialised by the main thread (init=serial) or by all (parallel), and b is first touched by the first copy.
 * Self-check: every element of b is a's, to the last bit.
 */
#include "kernel.h"

static inline float element(int64_t i) { return (float)(i % 4093); }

KERNEL_UNTRACED static int64_t wrong_elements(const float* b, int64_t n) {
  int64_t wrong = 0;
  for (int64_t i = 0; i < n; ++i)
    if (b[i] != element(i)) ++wrong;
  return wrong;
}

int main(int argc, char** argv) {
  enum { N, REPEATS, INIT, CHECK, COUNT };
  enum { SERIAL };
  struct kernel_parameter p[COUNT] = {{"n", 100000, 1, (int64_t)1 << 36, NULL},
                                      {"repeats", 2, 1, 1 << 20, NULL},
                                      {"init", 1, 0, 0, "serial|parallel"},
                                      {"check", 1, 0, 1, NULL}};
  kernel_parameters(argc, argv, "buffer_copy", p, COUNT);
  const int64_t n = p[N].value;
  float* restrict a = kernel_allocate("buffer_copy", (size_t)n, sizeof(float));
  float* restrict b = kernel_allocate("buffer_copy", (size_t)n, sizeof(float));

  double begin = KERNEL_REGION("init");
  if (p[INIT].value == SERIAL) {
    for (int64_t i = 0; i < n; ++i) a[i] = element(i);
  } else {
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; ++i) a[i] = element(i);
  }
  kernel_time("init", begin);

  for (int64_t repeat = 0; repeat < p[REPEATS].value; ++repeat) {
    begin = KERNEL_REGION("copy");
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; ++i) b[i] = a[i];
    kernel_time("copy", begin);
  }

  const int code = p[CHECK].value ? kernel_verdict("buffer_copy", wrong_elements(b, n), "elements differ from their source") : 0;
  free(a);
  free(b);
  return code;
}
