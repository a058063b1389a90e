/* stream: copy c = a and triad a = b + s * c, the memory bandwidth of long vectors.
 * Source: J. D. McCalpin, "Memory Bandwidth and Machine Balance in Current High Performance Computers" (IEEE TCCA Newsletter,
 * December 1995): copy counts 16 bytes an element, triad 24. Initialised in parallel by the same schedule as the loops.
 * The stores of both loops may bypass the caches. s = 0.5, so that no number of repeats overflows.
 * Self-check: every element equals the recurrence c' = a, a' = b + s * c', carried out once on scalars, to the last bit.
 */
#include "kernel.h"

static const double factor = 0.5;

KERNEL_UNTRACED static int64_t wrong_elements(const double* a, const double* b, const double* c, int64_t n, int64_t repeats) {
  double expected_a = 1, expected_c = 0;
  for (int64_t repeat = 0; repeat < repeats; ++repeat) {
    expected_c = expected_a;
    expected_a = 2 + factor * expected_c;
  }
  int64_t wrong = 0;
  for (int64_t i = 0; i < n; ++i)
    if (a[i] != expected_a || b[i] != 2 || c[i] != expected_c) ++wrong;
  return wrong;
}

int main(int argc, char** argv) {
  enum { N, REPEATS, CHECK, COUNT };
  struct kernel_parameter p[COUNT] = {{"n", 100000, 1, (int64_t)1 << 36, NULL}, {"repeats", 2, 1, 1 << 20, NULL}, {"check", 1, 0, 1, NULL}};
  kernel_parameters(argc, argv, "stream", p, COUNT);
  const int64_t n = p[N].value;
  double* restrict a = kernel_allocate("stream", (size_t)n, sizeof(double));
  double* restrict b = kernel_allocate("stream", (size_t)n, sizeof(double));
  double* restrict c = kernel_allocate("stream", (size_t)n, sizeof(double));

  double begin = KERNEL_REGION("init");
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < n; ++i) {
    a[i] = 1;
    b[i] = 2;
    c[i] = 0;
  }
  kernel_time("init", begin);

  homenode_streamable(a, (size_t)n * sizeof(double));
  homenode_streamable(c, (size_t)n * sizeof(double));
  for (int64_t repeat = 0; repeat < p[REPEATS].value; ++repeat) {
    begin = KERNEL_REGION("copy");
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; ++i) c[i] = a[i];
    kernel_time("copy", begin);

    begin = KERNEL_REGION("triad");
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; ++i) a[i] = b[i] + factor * c[i];
    kernel_time("triad", begin);
  }

  const int code =
      p[CHECK].value ? kernel_verdict("stream", wrong_elements(a, b, c, n, p[REPEATS].value), "elements differ from the recurrence") : 0;
  free(a);
  free(b);
  free(c);
  return code;
}
