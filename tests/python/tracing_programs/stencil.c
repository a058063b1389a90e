/* 5-point stencil on an n x n grid, s sweeps. The labels tell its loops apart. */
#include <homenode.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  const long n = argc > 1 ? atol(argv[1]) : 18;
  double* restrict a = malloc((size_t)(n * n) * sizeof *a);
  double* restrict b = malloc((size_t)(n * n) * sizeof *b);
  HOMENODE_LABEL("init");
#pragma omp parallel for schedule(static, 1)
  for (long i = 0; i < n; ++i)
    for (long j = 0; j < n; ++j) a[i * n + j] = (double)(i ^ j), b[i * n + j] = 0;
  HOMENODE_LABEL("sweep");
#pragma omp parallel for schedule(dynamic, 3)
  for (long i = 1; i < n - 1; ++i)
    for (long j = 1; j < n - 1; ++j)
      b[i * n + j] = 0.2 * (a[i * n + j] + a[(i - 1) * n + j] + a[(i + 1) * n + j] + a[i * n + j - 1] + a[i * n + j + 1]);
  printf("%g\n", b[n + 1]);
  free(a), free(b);
  return 0;
}
