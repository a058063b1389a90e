/* A loop of each schedule clause. */
#include <stdlib.h>

int main(int argc, char** argv) {
  enum { N = 256 };
  int* a = malloc(N * sizeof *a);

#pragma omp parallel for
  for (int i = 0; i < N; ++i) a[i] = i;
#pragma omp parallel for schedule(static, 3)
  for (int i = 0; i < N; ++i) a[i] += i;
#pragma omp parallel for schedule(dynamic)
  for (int i = 0; i < N; ++i) a[i] += i;
#pragma omp parallel for schedule(nonmonotonic : dynamic, 4)
  for (int i = 0; i < N; ++i) a[i] += i;
#pragma omp parallel for schedule(guided, argc)
  for (int i = 0; i < N; ++i) a[i] += i;
#pragma omp parallel for schedule(auto)
  for (int i = 0; i < N; ++i) a[i] += i;
#pragma omp parallel for schedule(runtime)
  for (int i = 0; i < N; ++i) a[i] += i;
  return a[1] != 7;
}
