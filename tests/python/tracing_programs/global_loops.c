/* Loops over global arrays with constant bounds: nothing is passed to their bodies. */
#include <stdio.h>

enum { N = 4096 };
static double a[N], b[N];

int main(void) {
  for (int i = 0; i < N; i++) b[i] = i;

#pragma omp parallel for schedule(static, 100)
  for (int i = 0; i < N; i++) a[i] = 2 * b[i];

#pragma omp parallel for schedule(dynamic, 50)
  for (int i = 0; i < N; i++) b[i] = a[i] + 1;

  printf("%g\n", b[N - 1]);
  return 0;
}
