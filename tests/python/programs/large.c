/* Two 4 GB arrays, one access a page; says how much memory it really took. */
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  const size_t bytes = 4ul << 30;
  char *a = malloc(bytes), *b = malloc(bytes);
#pragma omp parallel for
  for (int k = 0; k < 16; k++)
    for (size_t i = 0; i < bytes / 16; i += 65536) b[k * (bytes / 16) + i] = a[k * (bytes / 16) + i];
  FILE* rollup = fopen("/proc/self/smaps_rollup", "r");
  char line[200];
  long kilobytes = -1;
  while (rollup && fgets(line, sizeof line, rollup))
    if (sscanf(line, "Pss: %ld", &kilobytes) == 1) break;
  printf("%ld\n", kilobytes);
  return 0;
}
