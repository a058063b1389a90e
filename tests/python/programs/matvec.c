/* y = A x with n x n doubles. Per row: n reads of A, n of x, and one write of y once the sum is in a register. */
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 16;
  double* a = calloc((size_t)n * n, sizeof *a);
  double* x = calloc(n, sizeof *x);
  double* y = calloc(n, sizeof *y);
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int j = 0; j < n; j++) sum += a[i * n + j] * x[j];
    y[i] = sum;
  }
  printf("%g\n", y[n - 1]);
  return 0;
}
