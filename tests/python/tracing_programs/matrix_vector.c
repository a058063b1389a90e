/* y = A x, n x n: a row reads n of A and n of x; its sum is written once. */
#include <homenode.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  const long n = argc > 1 ? atol(argv[1]) : 24;
  double* a = calloc((size_t)(n * n), sizeof *a);
  double* x = calloc((size_t)n, sizeof *x);
  double* y = calloc((size_t)n, sizeof *y);
  HOMENODE_LABEL("multiply");
#pragma omp parallel for
  for (long i = 0; i < n; ++i) {
    double sum = 0;
    for (long j = 0; j < n; ++j) sum += a[i * n + j] * x[j];
    y[i] = sum;
  }
  printf("%g\n", y[n - 1]);
  free(a), free(x), free(y);
  return 0;
}
