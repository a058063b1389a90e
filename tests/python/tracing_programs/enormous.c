/* 8 GB, of which each page is touched once. */
#include <homenode.h>
#include <stdlib.h>
int main(void) {
  const size_t n = (size_t)1 << 30;
  double* a = malloc(n * sizeof *a);
  if (!a) return 1;
  HOMENODE_LABEL("touch");
#pragma omp parallel for
  for (size_t i = 0; i < 1024; ++i)
    for (size_t j = 0; j < 1024; ++j) a[i * (n / 1024) + j * 1024] = 1;
  free(a);
  return 0;
}
