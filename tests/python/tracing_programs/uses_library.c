/* COUNT is given by -D, library.h by -I. */
#include <homenode.h>
#include <library.h>
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  double* values = calloc(COUNT, sizeof *values);
  double total = 0;
  HOMENODE_LABEL("call");
#pragma omp parallel for reduction(+ : total)
  for (int k = 0; k < 1; ++k) total += twice(values, COUNT);
  printf("%g\n", total);
  free(values);
  return 0;
}
