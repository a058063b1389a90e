/* threads_counters: workers that each keep a count of their own in one line of their creator's stack, which the creator reads now and then.
 * Source: the Flops and Iops benchmarks that S3 measures (I. Stirb, section 4) and cites (pdpriyanka/CPU-Benchmarking, the two programs of
 * "EXP" in their names, compiled with -O0), written anew: four threads repeat fifteen statements on variables in memory and then store
 * how many operations that makes in all, while the first thread sleeps a second, reads the four counts, and that 600 times; the program's
 * end stops the workers. So S3's 600 s are the sleeps, and its 2400 threads 600 samples of four. Here the workers end after so many
 * iterations, and a trace gives sleeping no time. The counts lie in one line, which the original leaves to chance; reading them while they
 * are written is a data race in C's words, as there.
 * Self-check: the counts, and the variables, which have a closed form.
 */
#include "thread_work.h"

#include <time.h>

enum { WORKERS = 4, MADE = 15, CONSTANTS = 5, OPERATIONS = 33, SAMPLES = 1000 };

/* What each worker made in the end; written after its last count. */
static double last[WORKERS][MADE];
static int64_t sampled[SAMPLES][WORKERS];
static int64_t iterations;

struct order {
  volatile int64_t* count; /* on the creator's stack, beside the others */
  int64_t worker;
};

/* Fifteen statements and the count; `volatile` leaves the variables in memory, as -O0 does. */
#define WORK(name, number)                                                   \
  static void* name(void* argument) {                                        \
    const struct order* order = argument;                                    \
    volatile int64_t* count = order->count;                                  \
    HOMENODE_THREAD_TYPE("postponed");                                       \
    volatile number c[CONSTANTS] = {3, 5, 7, 11, 2}, made[MADE] = {0};       \
    volatile int64_t operations = 0;                                         \
    for (int64_t i = 0; i < iterations; ++i) {                               \
      FOURTEEN_STATEMENTS(made, c)                                           \
      made[14] = c[4] * c[3];                                                \
      operations = operations + OPERATIONS;                                  \
      *count = operations;                                                   \
    }                                                                        \
    for (int k = 0; k < MADE; ++k) last[order->worker][k] = (double)made[k]; \
    return NULL;                                                             \
  }
WORK(work_on_numbers, double)
WORK(work_on_integers, int32_t)

KERNEL_UNTRACED static int64_t wrong_values(const volatile int64_t* count, int64_t samples) {
  const double n = (double)iterations, expected[MADE] = {2 * n, 8, 35, 3 * n, 77, 13, 5 * n, 33, 18, 21, 14, 55, 49, 121, 22};
  int64_t wrong = 0;
  for (int worker = 0; worker < WORKERS; ++worker) {
    wrong += count[worker] != OPERATIONS * iterations;
    for (int k = 0; k < MADE; ++k) wrong += last[worker][k] != expected[k];
    /* a sample is a count that the worker has had, and no later one is less */
    for (int64_t sample = 0; sample < samples; ++sample) {
      const int64_t later = sample + 1 < samples ? sampled[sample + 1][worker] : count[worker];
      wrong += sampled[sample][worker] % OPERATIONS != 0 || sampled[sample][worker] > later;
    }
  }
  return wrong;
}

int main(int argc, char** argv) {
  enum { KIND, ITERATIONS, SAMPLED, CHECK, COUNT };
  /* five times the iterations fit the integers */
  struct kernel_parameter p[COUNT] = {{"kind", 0, 0, 0, "floating|integer"},
                                      {"iterations", 1000, 1, 400000000, NULL},
                                      {"samples", 2, 1, SAMPLES, NULL},
                                      {"check", 1, 0, 1, NULL}};
  kernel_parameters(argc, argv, "threads_counters", p, COUNT);
  iterations = p[ITERATIONS].value;
  const int64_t samples = p[SAMPLED].value;
  _Alignas(64) volatile int64_t count[WORKERS] = {0};
  struct order order[WORKERS];
  pthread_t thread[WORKERS];

  const double begin = KERNEL_REGION("threads");
  for (int k = 0; k < WORKERS; ++k) {
    order[k] = (struct order){&count[k], k};
    start_thread("threads_counters", &thread[k], p[KIND].value ? work_on_integers : work_on_numbers, &order[k]);
  }
  for (int64_t sample = 0; sample < samples; ++sample) {
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    for (int k = 0; k < WORKERS; ++k) sampled[sample][k] = count[k];
  }
  for (int k = 0; k < WORKERS; ++k) join_thread("threads_counters", thread[k]);
  kernel_time("threads", begin);
  return p[CHECK].value
             ? kernel_verdict("threads_counters", wrong_values(count, samples), "counts or variables differ from the closed form")
             : 0;
}
