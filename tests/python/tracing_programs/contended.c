/* Threads that share what only one may have at a time, one way by name on the command line; their work is in memory. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, ROUNDS = 6, WORDS = 1 << 15 };
static double* data[THREADS];
static long total;
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t together;
static sem_t places, turn[THREADS];
static int next;

static void work(int of, int times) {
  double* d = data[of];
  for (int t = 0; t < times; ++t)
    for (int i = 0; i < WORDS; ++i) d[i] += t + 1;
}

static void* locked(void* rank) { /* half of the work under one lock */
  const int r = (int)(long)rank;
  for (int k = 0; k < ROUNDS; ++k) {
    work(r, 1);
    pthread_mutex_lock(&first);
    work(r, 1), total += r;
    pthread_mutex_unlock(&first);
  }
  return 0;
}
static void* in_turn(void* rank) { /* a condition for each turn */
  const int r = (int)(long)rank;
  for (int k = 0; k < ROUNDS; ++k) {
    pthread_mutex_lock(&first);
    while (next % THREADS != r) pthread_cond_wait(&changed, &first);
    work(r, 1), ++next, total += r;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&first);
    work(r, 1);
  }
  return 0;
}
static void* by_steps(void* rank) { /* unequal shares between barriers */
  const int r = (int)(long)rank;
  for (int k = 0; k < ROUNDS; ++k) {
    work(r, 1 + (r + k) % THREADS);
    pthread_barrier_wait(&together);
  }
  pthread_mutex_lock(&first), total += r, pthread_mutex_unlock(&first);
  return 0;
}
static void* two_at_a_time(void* rank) { /* a semaphore of two places, and a ring of semaphores */
  const int r = (int)(long)rank;
  for (int k = 0; k < ROUNDS; ++k) {
    sem_wait(&places);
    work(r, 2);
    sem_post(&places);
    sem_wait(&turn[r]);
    work(r, 1), total += r;
    sem_post(&turn[(r + 1) % THREADS]);
  }
  return 0;
}
static void* crossed(void* rank) { /* two locks in either order: nothing is wrong as long as the threads run one after the other */
  const int r = (int)(long)rank;
  pthread_mutex_lock(r % 2 ? &second : &first);
  work(r, 4), total += r;
  pthread_mutex_lock(r % 2 ? &first : &second);
  work(r, 1);
  pthread_mutex_unlock(&first), pthread_mutex_unlock(&second);
  return 0;
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void* (*run)(void*);
  } ways[] = {{"locked", locked}, {"in_turn", in_turn}, {"by_steps", by_steps}, {"two_at_a_time", two_at_a_time}, {"crossed", crossed}};
  pthread_t id[THREADS];
  pthread_barrier_init(&together, 0, THREADS);
  sem_init(&places, 0, 2);
  for (int r = 0; r < THREADS; ++r) sem_init(&turn[r], 0, r == 0), data[r] = calloc(WORDS, sizeof(double));
  for (unsigned w = 0; argc > 1 && w < sizeof ways / sizeof *ways; ++w) {
    if (strcmp(argv[1], ways[w].name) != 0) continue;
    for (long r = 0; r < THREADS; ++r)
      if (pthread_create(&id[r], 0, ways[w].run, (void*)r)) return 9;
    for (int r = 0; r < THREADS; ++r) pthread_join(id[r], 0);
  }
  printf("%ld\n", total);
  return 0;
}
