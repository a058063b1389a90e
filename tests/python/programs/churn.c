/* A vector of 2 MB, allocated, filled and freed twenty times. */
#include <stdlib.h>

int main(void) {
  const long n = 250000;
  double sum = 0;
  for (int time = 0; time < 20; ++time) {
    double* a = malloc(n * sizeof *a);
#pragma omp parallel for
    for (long i = 0; i < n; ++i) a[i] = i + time;
    sum += a[n / 2];
    free(a);
  }
  return sum < 0;
}
