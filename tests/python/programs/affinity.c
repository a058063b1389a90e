/* A line for each thread of a team: the CPUs that it may run on, a blank behind each. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>

int main(void) {
#pragma omp parallel for ordered schedule(static, 1)
  for (int thread = 0; thread < 2; ++thread) {
#pragma omp ordered
    {
      cpu_set_t set;
      sched_getaffinity(0, sizeof set, &set);
      for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &set)) printf("%d ", cpu);
      printf("\n");
    }
  }
  return 0;
}
