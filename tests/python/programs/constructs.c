/* Every construct that the shims stand for; prints what must come out for any team. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
enum { N = 40 };
static double grid[N][N];
static int private_rank;
#pragma omp threadprivate(private_rank)
int main(void) {
  double* a = malloc(N * N * sizeof *a);
  double sum = 0;
  int ranks = 0, order[N], position = 0, sections = 0;
  long named = 0, singles = 0, digits = 0;
#pragma omp parallel for collapse(2) schedule(dynamic, 3)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) a[i * N + j] = i + j, grid[i][j] = 1;
#pragma omp parallel for schedule(guided) reduction(+ : sum)
  for (size_t i = 0; i < N * N; i++) sum += a[i];
#pragma omp parallel
  {
    const int rank = omp_get_thread_num(), team = omp_get_num_threads(), low = N * rank / team, high = N * (rank + 1) / team;
    private_rank = rank;
    for (int i = low; i < high; i++)
      for (int j = 0; j < N; j++) grid[i][j] += a[i * N + j];
#pragma omp barrier
    for (int i = low; i < high; i++) grid[i][0] += grid[(i + 1) % N][1];
#pragma omp critical
    ranks += private_rank;
#pragma omp critical(other)
    named++;
#pragma omp single
    singles++;
#pragma omp for schedule(static, 2) nowait
    for (unsigned long i = 0; i < N; i++) a[i] += 1;
#pragma omp for schedule(auto)
    for (int i = 0; i < N; i++) a[N + i] += 1;
#pragma omp master
    singles += 10;
  }
#pragma omp parallel for ordered schedule(dynamic)
  for (int i = N - 1; i >= 0; i--) {
#pragma omp ordered
    order[position++] = i;
  }
  static int chain[N + 1];
  chain[0] = 1;
#pragma omp parallel for ordered(1)
  for (int i = 1; i <= N; i++) {
#pragma omp ordered depend(sink : i - 1)
    chain[i] = (chain[i - 1] * 5 + i) & 0xffff;
#pragma omp ordered depend(source)
  }
#pragma omp parallel
#pragma omp single
  {
    for (int i = 1; i < 5; i++)
#pragma omp task firstprivate(i) depend(inout : digits)
      digits = digits * 10 + i;
#pragma omp taskwait
#pragma omp taskloop
    for (int i = 0; i < 6; i++) a[2 * N + i] = i;
  }
#pragma omp parallel sections reduction(+ : sections)
  {
#pragma omp section
    sections += 1;
#pragma omp section
    sections += 10;
#pragma omp section
    sections += 100;
  }
  omp_lock_t lock;
  omp_nest_lock_t nested;
  omp_init_lock(&lock);
  omp_init_nest_lock(&nested);
  int locked = 0;
#pragma omp parallel
  {
    omp_set_lock(&lock);
    locked++;
    omp_unset_lock(&lock);
    while (!omp_test_lock(&lock)) {}
    omp_unset_lock(&lock);
    omp_set_nest_lock(&nested);
    omp_set_nest_lock(&nested);
    locked++;
    omp_unset_nest_lock(&nested);
    omp_unset_nest_lock(&nested);
  }
  int ordered = 1, expected = 1;
  for (int i = 0; i < N; i++) ordered &= order[i] == N - 1 - i;
  for (int i = 1; i <= N; i++) expected = (expected * 5 + i) & 0xffff;
  const int team = omp_get_max_threads();
  printf("sum %g ranks %d named %d singles %ld ordered %d doacross %d tasks %ld sections %d locked %d\n", sum,
         ranks - team * (team - 1) / 2, (int)named - team, singles, ordered, expected == chain[N], digits, sections, locked - 2 * team);
  return 0;
}
