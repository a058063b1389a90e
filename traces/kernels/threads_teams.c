/* threads_teams: teams of 1, 2 and 4 threads in turn, on floating-point numbers and then on integers; no data is shared.
 * Source: the CPU benchmark that S3 measures (I. Stirb, section 4, "CPU") and cites (pdpriyanka/CPU-Benchmarking, cpuBenchmark.cpp,
 * compiled with -O0), written anew: each of the 14 threads repeats fifteen statements on variables in memory 1,500,000 times, and leaves
 * its result in a block of its own, which the first thread reads and frees once it has joined it. Four of the statements go on from what
 * they made before, the others start from constants. Self-check: every variable has a closed form.
 */
#include "thread_work.h"

enum { MADE = 15, CONSTANTS = 6 };

static int64_t iterations;

struct result {
  double made[MADE];
};

/* Fifteen statements; `volatile` leaves the variables in memory, as -O0 does. `minus_one` in the number's own type. */
#define WORK(name, number, minus_one)                                             \
  static void* name(void* unused) {                                               \
    (void)unused;                                                                 \
    HOMENODE_THREAD_TYPE("autonomous");                                           \
    volatile number c[CONSTANTS] = {3, 5, 7, 11, 2, minus_one}, made[MADE] = {0}; \
    made[14] = 1;                                                                 \
    for (volatile number i = 0; i < (number)iterations; i = i + 1) {              \
      FOURTEEN_STATEMENTS(made, c)                                                \
      made[14] = made[14] * c[5];                                                 \
    }                                                                             \
    struct result* result = kernel_allocate("threads_teams", 1, sizeof *result);  \
    for (int k = 0; k < MADE; ++k) result->made[k] = (double)made[k];             \
    return result;                                                                \
  }
WORK(work_on_numbers, double, -1)
WORK(work_on_integers, int32_t, -1)

KERNEL_UNTRACED static int64_t wrong_results(const struct result* result) {
  const double n = (double)iterations, odd = iterations % 2 ? -1 : 1;
  const double expected[MADE] = {2 * n, 8, 35, 3 * n, 77, 13, 5 * n, 33, 18, 21, 14, 55, 49, 121, odd};
  int64_t wrong = 0;
  for (int k = 0; k < MADE; ++k) wrong += result->made[k] != expected[k];
  return wrong;
}

int main(int argc, char** argv) {
  enum { ITERATIONS, CHECK, COUNT };
  /* five times the iterations fit the integers */
  struct kernel_parameter p[COUNT] = {{"iterations", 1000, 1, 400000000, NULL}, {"check", 1, 0, 1, NULL}};
  kernel_parameters(argc, argv, "threads_teams", p, COUNT);
  iterations = p[ITERATIONS].value;

  int64_t wrong = 0;
  volatile double last = 0; /* what a thread leaves is looked at */
  const double begin = KERNEL_REGION("threads");
  for (int integers = 0; integers < 2; ++integers)
    for (int team = 1; team <= 4; team *= 2) {
      pthread_t thread[4];
      for (int k = 0; k < team; ++k) start_thread("threads_teams", &thread[k], integers ? work_on_integers : work_on_numbers, NULL);
      for (int k = 0; k < team; ++k) {
        void* result;
        must_work("threads_teams", "a thread cannot be joined", pthread_join(thread[k], &result));
        last = ((const struct result*)result)->made[0];
        if (p[CHECK].value) wrong += wrong_results(result);
        free(result);
      }
    }
  kernel_time("threads", begin);
  (void)last;
  return p[CHECK].value ? kernel_verdict("threads_teams", wrong, "variables differ from the closed form") : 0;
}
