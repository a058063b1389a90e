/* threads_side_by_side: threads created in a loop that work side by side on shared data.
 * Source: the side-by-side threads of I. Stirb's CPU-X benchmark (S3, sections 3 and 4: fewer or more than 12), written anew. Two
 * threads are "side by side" when one writes what the other reads: here each has a part of a ring of numbers, and in every round
 * reads the last number of the part before it and the first of the part behind it. A barrier separates the rounds.
 * Self-check: the ring's start is an eigenvector of the round, modulo a prime (thread_work.h): every number has a closed form.
 */
#include "thread_work.h"

/* What all threads share. */
struct ring {
  uint64_t* numbers[2];
  int64_t n, rounds;
  pthread_barrier_t barrier;
};

struct part {
  struct ring* ring;
  int64_t begin, end;
};

static void* work_on_part(void* argument) {
  const struct part* part = argument;
  struct ring* ring = part->ring;
  HOMENODE_THREAD_TYPE("side-by-side");
  for (int64_t i = part->begin; i < part->end; ++i) ring->numbers[0][i] = ring_start(ring->n, i);
  for (int64_t round = 0; round < ring->rounds; ++round) {
    pthread_barrier_wait(&ring->barrier);
    ring_round(ring->numbers[round % 2], ring->numbers[(round + 1) % 2], ring->n, part->begin, part->end);
  }
  return NULL;
}

int main(int argc, char** argv) {
  enum { WORKERS, LOGARITHM, ROUNDS, CHECK, COUNT };
  struct kernel_parameter p[COUNT] = {
      {"workers", 4, 1, 4096, NULL}, {"logarithm", 10, 1, 23, NULL}, {"rounds", 4, 1, 1 << 20, NULL}, {"check", 1, 0, 1, NULL}};
  kernel_parameters(argc, argv, "threads_side_by_side", p, COUNT);
  const int64_t threads = p[WORKERS].value, n = (int64_t)1 << p[LOGARITHM].value;
  struct ring ring = {.n = n, .rounds = p[ROUNDS].value};
  for (int i = 0; i < 2; ++i) ring.numbers[i] = kernel_allocate("threads_side_by_side", (size_t)n, sizeof(uint64_t));
  must_work("threads_side_by_side", "no barrier", pthread_barrier_init(&ring.barrier, NULL, (unsigned)threads));
  struct part* part = kernel_allocate("threads_side_by_side", (size_t)threads, sizeof *part);
  pthread_t* thread = kernel_allocate("threads_side_by_side", (size_t)threads, sizeof *thread);

  const double begin = KERNEL_REGION("threads");
  for (int64_t i = 0; i < threads; ++i) {
    part[i] = (struct part){&ring, i * n / threads, (i + 1) * n / threads};
    start_thread("threads_side_by_side", &thread[i], work_on_part, &part[i]);
  }
  for (int64_t i = 0; i < threads; ++i) join_thread("threads_side_by_side", thread[i]);
  kernel_time("threads", begin);

  const int code = p[CHECK].value ? kernel_verdict("threads_side_by_side", wrong_ring(ring.numbers[ring.rounds % 2], n, ring.rounds, 1),
                                                   "numbers differ from the closed form")
                                  : 0;
  pthread_barrier_destroy(&ring.barrier);
  free(ring.numbers[0]);
  free(ring.numbers[1]);
  free(part);
  free(thread);
  return code;
}
