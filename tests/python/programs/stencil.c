/* 5-point Jacobi on an n x n grid. Per inner point: 5 reads, 1 write. */
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 16;
  double* a = malloc(sizeof(double) * n * n);
  double* b = malloc(sizeof(double) * n * n);
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) a[i * n + j] = i + j;
#pragma omp parallel for schedule(static, 1)
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      b[i * n + j] = 0.2 * (a[i * n + j] + a[(i - 1) * n + j] + a[(i + 1) * n + j] + a[i * n + j - 1] + a[i * n + j + 1]);
  printf("%g\n", b[n + 1]);
  return 0;
}
