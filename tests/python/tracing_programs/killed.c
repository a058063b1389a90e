/* Dies in its second loop. */
#include <signal.h>
#include <stdlib.h>
int main(void) {
  double* a = malloc(1000 * sizeof *a);
#pragma omp parallel for
  for (int i = 0; i < 1000; ++i) a[i] = i;
#pragma omp parallel for
  for (int i = 0; i < 1000; ++i)
    if (a[i] == 500) raise(SIGKILL);
  return 0;
}
