/* threads_autonomous: independent workers, some on integers, some on floating-point numbers; no data is shared.
 * Source: the kinds of I. Stirb's CPU benchmark (S3, section 4: Flops and Iops, up to 2400 threads), written anew. An "autonomous"
 * thread neither reads what another writes nor the reverse. Each worker allocates and fills its own numbers.
 * Self-check: integers x -> 6364136223846793005 x + 1442695040888963407 (D. Knuth's generator) against the map's power by squaring;
 * numbers y -> y / 2 + 1 against 2 + (y - 2) / 2^rounds, whose rounding errors halve with each round.
 */
#include "thread_work.h"

#include <math.h>

static const struct affine knuth = {6364136223846793005u, 1442695040888963407u};

/* What a worker is told and what it makes; a line of its own for each. */
struct worker {
  int64_t elements, rounds;
  uint64_t* integers;
  double* numbers;
  int floating;
  char unused[28];
};
_Static_assert(sizeof(struct worker) == 64, "workers share no line");

static void* work_on_integers(void* argument) {
  struct worker* worker = argument;
  HOMENODE_THREAD_TYPE("autonomous");
  const int64_t elements = worker->elements, rounds = worker->rounds;
  uint64_t* x = kernel_allocate("threads_autonomous", (size_t)elements, sizeof *x);
  for (int64_t i = 0; i < elements; ++i) x[i] = (uint64_t)i;
  for (int64_t round = 0; round < rounds; ++round)
    for (int64_t i = 0; i < elements; ++i) x[i] = affine_value(knuth, x[i]);
  worker->integers = x;
  return NULL;
}

static void* work_on_numbers(void* argument) {
  struct worker* worker = argument;
  HOMENODE_THREAD_TYPE("autonomous");
  const int64_t elements = worker->elements, rounds = worker->rounds;
  double* y = kernel_allocate("threads_autonomous", (size_t)elements, sizeof *y);
  for (int64_t i = 0; i < elements; ++i) y[i] = (double)i;
  for (int64_t round = 0; round < rounds; ++round)
    for (int64_t i = 0; i < elements; ++i) y[i] = 0.5 * y[i] + 1;
  worker->numbers = y;
  return NULL;
}

KERNEL_UNTRACED static int64_t wrong_elements(const struct worker* worker) {
  const struct affine all = affine_power(knuth, (uint64_t)worker->rounds);
  int64_t wrong = 0;
  for (int64_t i = 0; i < worker->elements; ++i) {
    if (worker->floating) {
      const double expected = 2 + ldexp((double)i - 2, worker->rounds < 2000 ? -(int)worker->rounds : -2000);
      wrong += !(fabs(worker->numbers[i] - expected) <= 4.5e-16 * (fabs(expected) + 2));
    } else {
      wrong += worker->integers[i] != affine_value(all, (uint64_t)i);
    }
  }
  return wrong;
}

int main(int argc, char** argv) {
  enum { INTEGER, FLOATING, ELEMENTS, ROUNDS, CHECK, COUNT };
  struct kernel_parameter p[COUNT] = {{"integer", 2, 0, 4096, NULL},
                                      {"floating", 2, 0, 4096, NULL},
                                      {"elements", 1000, 1, (int64_t)1 << 40, NULL},
                                      {"rounds", 10, 1, 1 << 20, NULL},
                                      {"check", 1, 0, 1, NULL}};
  kernel_parameters(argc, argv, "threads_autonomous", p, COUNT);
  const int64_t workers = p[INTEGER].value + p[FLOATING].value;
  kernel_require(workers > 0, "threads_autonomous", "at least one of 'integer' and 'floating' is not 0");
  struct worker* worker = kernel_allocate("threads_autonomous", (size_t)workers, sizeof *worker);
  pthread_t* thread = kernel_allocate("threads_autonomous", (size_t)workers, sizeof *thread);
  for (int64_t i = 0; i < workers; ++i)
    worker[i] = (struct worker){.elements = p[ELEMENTS].value, .rounds = p[ROUNDS].value, .floating = i >= p[INTEGER].value};

  const double begin = KERNEL_REGION("threads");
  for (int64_t i = 0; i < workers; ++i)
    start_thread("threads_autonomous", &thread[i], worker[i].floating ? work_on_numbers : work_on_integers, &worker[i]);
  for (int64_t i = 0; i < workers; ++i) join_thread("threads_autonomous", thread[i]);
  kernel_time("threads", begin);

  int64_t wrong = 0;
  if (p[CHECK].value)
    for (int64_t i = 0; i < workers; ++i) wrong += wrong_elements(&worker[i]);
  const int code = p[CHECK].value ? kernel_verdict("threads_autonomous", wrong, "numbers differ from the closed form") : 0;
  for (int64_t i = 0; i < workers; ++i) {
    free(worker[i].integers);
    free(worker[i].numbers);
  }
  free(worker);
  free(thread);
  return code;
}
