/* Everything OpenMP that a trace tells apart: critical, atomic, single, ordered, sections, tasks, rank-partitioned code. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
enum { N = 48 };
static double grid[N][N], bins[16];
static long counted;
int main(void) {
  double* a = calloc(N, sizeof *a);
  int order[N], filled = 0, parts[3] = {0, 0, 0};
  long tasks_done = 0;
#pragma omp parallel
  {
    const int me = omp_get_thread_num(), all = omp_get_num_threads();
    double mine = 0;
    for (int i = N * me / all; i < N * (me + 1) / all; ++i)
      for (int j = 0; j < N; ++j) grid[i][j] += i + j, mine += grid[i][j];
#pragma omp critical
    bins[me % 16] += mine;
#pragma omp barrier
#pragma omp single
    counted = all;
#pragma omp for nowait
    for (int i = 0; i < N; ++i) a[i] += grid[i][i];
  }
#pragma omp parallel for ordered
  for (int i = 0; i < N; ++i) {
    a[i] *= 2;
#pragma omp ordered
    order[filled++] = i;
  }
#pragma omp parallel sections
  {
#pragma omp section
    parts[0] = 1;
#pragma omp section
    parts[1] = 2;
#pragma omp section
    parts[2] = 3;
  }
#pragma omp parallel
#pragma omp single
  {
    for (int t = 0; t < 6; ++t)
#pragma omp task firstprivate(t) depend(inout : tasks_done)
      tasks_done = tasks_done * 10 + t;
#pragma omp taskwait
  }
  int in_order = 1;
  for (int i = 0; i < N; ++i) in_order &= order[i] == i;
  printf("team %ld, ordered %d, parts %d%d%d, tasks %ld\n", counted, in_order, parts[0], parts[1], parts[2], tasks_done);
  free(a);
  return 0;
}
