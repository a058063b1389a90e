/* threads_mix: three levels of creation, with autonomous, side-by-side and postponed threads.
 * Source: the generation tree of I. Stirb's NUMA-BTLP (S3, section 3), written anew. The main thread (level 1) creates a postponed
 * summariser and the leaders (level 2), which share nothing with each other. Each leader allocates a ring of numbers of its own and creates
 * side-by-side threads (level 3) for its parts, with a barrier between rounds and a mutex around the leader's total. The main
 * thread passes the totals of the leaders that have ended to the summariser, through a semaphore.
 * Self-check: every ring has the closed form of thread_work.h, scaled by its leader's number; the totals, of
 * every number times its place, and their sum agree with it.
 */
#include "thread_work.h"

#include <errno.h>
#include <semaphore.h>

struct leader {
  int64_t number, workers, n, rounds; /* scale of its ring; threads, numbers and rounds */
  uint64_t* ring[2];
  uint64_t total;
  pthread_mutex_t mutex;
  pthread_barrier_t barrier;
};

struct part {
  struct leader* leader;
  int64_t begin, end;
};

struct summary {
  sem_t ready;
  int64_t leaders;
  const uint64_t* totals;
  uint64_t sum;
};

static void* work_on_part(void* argument) {
  const struct part* part = argument;
  struct leader* leader = part->leader;
  HOMENODE_THREAD_TYPE("side-by-side");
  const int64_t n = leader->n, rounds = leader->rounds;
  for (int64_t i = part->begin; i < part->end; ++i) leader->ring[0][i] = ring_start(n, i) * (uint64_t)(leader->number + 1) % prime;
  for (int64_t round = 0; round < rounds; ++round) {
    pthread_barrier_wait(&leader->barrier);
    ring_round(leader->ring[round % 2], leader->ring[(round + 1) % 2], n, part->begin, part->end);
  }
  uint64_t sum = 0;
  for (int64_t i = part->begin; i < part->end; ++i) sum += (uint64_t)(i + 1) * leader->ring[rounds % 2][i];
  pthread_mutex_lock(&leader->mutex);
  leader->total += sum;
  pthread_mutex_unlock(&leader->mutex);
  return NULL;
}

static void* lead(void* argument) {
  struct leader* leader = argument;
  HOMENODE_THREAD_TYPE("autonomous");
  const int64_t workers = leader->workers, n = leader->n;
  for (int i = 0; i < 2; ++i) leader->ring[i] = kernel_allocate("threads_mix", (size_t)n, sizeof(uint64_t));
  leader->total = 0;
  must_work("threads_mix", "no mutex", pthread_mutex_init(&leader->mutex, NULL));
  must_work("threads_mix", "no barrier", pthread_barrier_init(&leader->barrier, NULL, (unsigned)workers));
  struct part* part = kernel_allocate("threads_mix", (size_t)workers, sizeof *part);
  pthread_t* thread = kernel_allocate("threads_mix", (size_t)workers, sizeof *thread);
  for (int64_t i = 0; i < workers; ++i) {
    part[i] = (struct part){leader, i * n / workers, (i + 1) * n / workers};
    start_thread("threads_mix", &thread[i], work_on_part, &part[i]);
  }
  for (int64_t i = 0; i < workers; ++i) join_thread("threads_mix", thread[i]);
  pthread_barrier_destroy(&leader->barrier);
  pthread_mutex_destroy(&leader->mutex);
  free(part);
  free(thread);
  return NULL;
}

static void* summarise(void* argument) {
  struct summary* summary = argument;
  HOMENODE_THREAD_TYPE("postponed");
  uint64_t sum = 0;
  for (int64_t i = 0; i < summary->leaders; ++i) {
    while (sem_wait(&summary->ready) != 0) continue; /* interrupted by a signal */
    sum += summary->totals[i];
  }
  summary->sum = sum;
  return NULL;
}

KERNEL_UNTRACED static int64_t wrong_leader(const struct leader* leader, uint64_t told) {
  const uint64_t* ring = leader->ring[leader->rounds % 2];
  uint64_t total = 0;
  for (int64_t i = 0; i < leader->n; ++i) total += (uint64_t)(i + 1) * ring[i];
  return wrong_ring(ring, leader->n, leader->rounds, (uint64_t)leader->number + 1) + (total != leader->total) + (total != told);
}

int main(int argc, char** argv) {
  enum { LEADERS, WORKERS, LOGARITHM, ROUNDS, CHECK, COUNT };
  struct kernel_parameter p[COUNT] = {{"leaders", 2, 1, 1024, NULL},
                                      {"workers", 3, 1, 1024, NULL},
                                      {"logarithm", 8, 1, 23, NULL},
                                      {"rounds", 3, 1, 1 << 20, NULL},
                                      {"check", 1, 0, 1, NULL}};
  kernel_parameters(argc, argv, "threads_mix", p, COUNT);
  const int64_t leaders = p[LEADERS].value;
  struct leader* leader = kernel_allocate("threads_mix", (size_t)leaders, sizeof *leader);
  uint64_t* totals = kernel_allocate("threads_mix", (size_t)leaders, sizeof *totals);
  pthread_t summariser, *thread = kernel_allocate("threads_mix", (size_t)leaders, sizeof *thread);
  struct summary summary = {.leaders = leaders, .totals = totals};
  must_work("threads_mix", "no semaphore", sem_init(&summary.ready, 0, 0) ? errno : 0);

  const double begin = KERNEL_REGION("threads");
  start_thread("threads_mix", &summariser, summarise, &summary);
  for (int64_t i = 0; i < leaders; ++i) {
    leader[i].number = i;
    leader[i].workers = p[WORKERS].value;
    leader[i].n = (int64_t)1 << p[LOGARITHM].value;
    leader[i].rounds = p[ROUNDS].value;
    start_thread("threads_mix", &thread[i], lead, &leader[i]);
  }
  for (int64_t i = 0; i < leaders; ++i) {
    join_thread("threads_mix", thread[i]);
    totals[i] = leader[i].total;
    sem_post(&summary.ready);
  }
  join_thread("threads_mix", summariser);
  kernel_time("threads", begin);

  int64_t wrong = 0;
  uint64_t sum = 0;
  for (int64_t i = 0; i < leaders && p[CHECK].value; ++i) {
    wrong += wrong_leader(&leader[i], totals[i]);
    sum += totals[i];
  }
  const int code =
      p[CHECK].value ? kernel_verdict("threads_mix", wrong + (sum != summary.sum), "numbers or totals differ from the closed form") : 0;
  for (int64_t i = 0; i < leaders; ++i) {
    free(leader[i].ring[0]);
    free(leader[i].ring[1]);
  }
  sem_destroy(&summary.ready);
  free(leader);
  free(totals);
  free(thread);
  return code;
}
