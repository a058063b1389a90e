/* a = a + 3 b, eight times, by a team, on vectors that one thread fills. */
#include <stdlib.h>

int main(int argc, char** argv) {
  const long n = argc > 1 ? atol(argv[1]) : 100000;
  double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
  for (long i = 0; i < n; ++i) {
    a[i] = i;  // serial initialisation
    b[i] = 2 * i;
  }
  for (int sweep = 0; sweep < 8; ++sweep) {
#pragma omp parallel for
    for (long i = 0; i < n; ++i) a[i] += 3 * b[i];
  }
  const int wrong = a[n - 1] != 49.0 * (n - 1);
  free(a);
  free(b);
  return wrong;
}
