/* One way to make tasks for each name given as the first argument; the second is a number of its own. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { TASKS = 16, EACH = 2048 };
static double a[TASKS * EACH], extra[64];

static void independent(void) {
#pragma omp parallel
#pragma omp single
  for (int t = 0; t < TASKS; ++t)
#pragma omp task firstprivate(t)
    for (int i = 0; i < EACH; ++i) a[t * EACH + i] += t;
}
static void chain(void) {
#pragma omp parallel
#pragma omp single
  for (int t = 0; t < TASKS; ++t)
#pragma omp task firstprivate(t) depend(inout : a)
    for (int i = 0; i < EACH; ++i) a[t * EACH + i] = t ? a[t * EACH + i - 1] + 1 : i;
}
/* Two readers of what one wrote; who writes next follows both. */
static void diamonds(int n) {
#pragma omp parallel
#pragma omp single
  for (int k = 0; k < n; ++k) {
#pragma omp task depend(out : a[0])
    a[0] += 1;
#pragma omp task depend(in : a[0]) depend(out : a[1])
    a[1] = a[0] * 2;
#pragma omp task depend(in : a[0]) depend(out : a[2])
    a[2] = a[0] * 3;
#pragma omp task depend(in : a[1], a[2])
    extra[k % 64] = a[1] + a[2];
  }
}
static int fib(int n) {
  if (n < 2) return n;
  int x, y;
#pragma omp task shared(x)
  x = fib(n - 1);
#pragma omp task shared(y)
  y = fib(n - 2);
#pragma omp taskwait
  return x + y;
}
static int nested(int n) {
  int result = 0;
#pragma omp parallel
#pragma omp single
  result = fib(n);
  return result;
}
static void producers(void) {
#pragma omp parallel
  for (int t = 0; t < 3; ++t)
#pragma omp task
#pragma omp atomic
    a[0] += 1;
}
static void in_a_loop(void) {
#pragma omp parallel for schedule(dynamic)
  for (int i = 0; i < TASKS; ++i) {
#pragma omp task firstprivate(i)
    a[i] = i;
  }
}
static void loops(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop grainsize(5)
    for (int i = 0; i < 32; ++i) a[i] = i;
#pragma omp taskloop num_tasks(3)
    for (long i = 40; i > 20; i -= 2) a[i] += i;
#pragma omp taskloop
    for (unsigned long i = 0; i < 20; ++i) a[i] += 1;
#pragma omp taskloop nogroup grainsize(64)
    for (int i = 0; i < 0; ++i) a[i] += 1;
  }
}
static void groups(void) {
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskwait
#pragma omp taskgroup
    {
#pragma omp task
      {
#pragma omp task
        a[0] = 4;
      }
#pragma omp taskgroup
      {}
    }
    a[1] = a[0] * 2;
#pragma omp task depend(out : a[2])
    a[2] = 5;
#pragma omp taskwait depend(in : a[2])
    a[3] = a[2] + 1;
#pragma omp taskyield
  }
}
/* None of these may be run by anybody else. */
static int undeferred(void) {
  int in_final = 0;
#pragma omp task
  a[0] = 1;
#pragma omp parallel
#pragma omp single
  {
#pragma omp task if (0)
    a[1] = 2;
#pragma omp task final(1) shared(in_final)
    {
#pragma omp task shared(in_final)
      in_final = omp_in_final();
    }
#pragma omp taskwait
  }
  return in_final;
}
static int reductions(void) {
  int sum = 1, most = 0, both[2] = {0, 0}, none = 7;
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskgroup task_reduction(+ : sum, both)
    {
      for (int i = 0; i < 10; ++i)
#pragma omp task in_reduction(+ : sum, both) firstprivate(i)
      {
        sum += i;
        both[i % 2] += i;
#pragma omp task in_reduction(+ : both) firstprivate(i)
        both[0] += i;
      }
    }
#pragma omp taskloop reduction(max : most) grainsize(3)
    for (int i = 0; i < 20; ++i) most = i * (19 - i) > most ? i * (19 - i) : most;
#pragma omp taskloop reduction(+ : none)
    for (int i = 0; i < both[0] - 65; ++i) none += i;
  }
  return sum * 1000000 + most * 10000 + both[0] * 100 + both[1] + none;
}
static void asks(void) {
#pragma omp parallel
#pragma omp single
#pragma omp task
  a[omp_get_thread_num() % 64] += 1;
}

int main(int argc, char** argv) {
  const char* name = argc > 1 ? argv[1] : "";
  const int number = argc > 2 ? atoi(argv[2]) : 0;
  int result = 0;
  if (!strcmp(name, "independent")) independent();
  if (!strcmp(name, "chain")) chain();
  if (!strcmp(name, "diamonds")) diamonds(number);
  if (!strcmp(name, "nested")) result = nested(number);
  if (!strcmp(name, "producers")) producers();
  if (!strcmp(name, "in_a_loop")) in_a_loop();
  if (!strcmp(name, "loops")) loops();
  if (!strcmp(name, "groups")) groups();
  if (!strcmp(name, "undeferred")) result = undeferred();
  if (!strcmp(name, "reductions")) result = reductions();
  if (!strcmp(name, "asks")) asks();
  double sum = 0;
  for (int i = 0; i < TASKS * EACH; ++i) sum += a[i] * (1 + i % 7);
  printf("%s %d: %d %.17g %g\n", name, number, result, sum, extra[0]);
  return 0;
}
