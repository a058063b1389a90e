/* Chains through memory whose links are 16 bits wide: next places (as zlib's prev), and how far back the next place is (as the chains of
 * lz4); and a gather by such indices, which is no chain. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
enum { N = 32768, STEPS = 20000 };
int main(void) {
  uint16_t* next = malloc(N * sizeof *next);
  uint16_t* back = malloc(2 * N * sizeof *back);
  double* x = calloc(N, sizeof *x);
  unsigned state = 12345;
  for (int i = 0; i < N; i++) next[i] = (uint16_t)i;
  for (int i = N - 1; i > 0; i--) { /* Sattolo: one cycle */
    state = state * 1664525u + 1013904223u;
    const int j = (int)((state >> 8) % (unsigned)i);
    const uint16_t t = next[i];
    next[i] = next[j];
    next[j] = t;
  }
  for (int i = 0; i < 2 * N; i++) {
    state = state * 1664525u + 1013904223u;
    back[i] = (uint16_t)(64 + (state >> 8) % 500);
  }
  unsigned at = 0, place = 2 * N - 1;
  double sum = 0;
#pragma omp parallel for
  for (int k = 0; k < 1; k++)
    for (int i = 0; i < STEPS; i++) at = next[at];
#pragma omp parallel for
  for (int k = 0; k < 1; k++)
    for (int round = 0; round < 200; round++)
      for (place = 2 * N - 1 - (unsigned)round; place > 1000;) place -= back[place];
#pragma omp parallel for reduction(+ : sum)
  for (int k = 0; k < 1; k++)
    for (int i = 0; i < STEPS; i++) sum += x[next[i]];
  printf("%u %u %g\n", at, place, sum);
  return 0;
}
