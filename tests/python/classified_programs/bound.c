/* Workers on numbers of their own, which say at their ends where they were allowed to run: "worker core core ...". */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

struct worker {
  long number, sum;
  cpu_set_t cores;
  pthread_mutex_t begin; /* held by main until the worker has been bound */
};

static void* work(void* argument) {
  struct worker* worker = argument;
  pthread_mutex_lock(&worker->begin);
  for (long i = 0; i < 1000; ++i) worker->sum += i * worker->number;
  cpu_set_t cores;
  sched_getaffinity(0, sizeof cores, &cores);
  worker->cores = cores;
  return NULL;
}

int main(int argc, char** argv) {
  const long workers = argc > 1 ? atol(argv[1]) : 4;
  struct worker* worker = calloc((size_t)workers, sizeof *worker);
  pthread_t* thread = calloc((size_t)workers, sizeof *thread);
  for (long i = 0; i < workers; ++i) {
    worker[i].number = i;
    pthread_mutex_init(&worker[i].begin, NULL);
    pthread_mutex_lock(&worker[i].begin);
  }
  for (long i = 0; i < workers; ++i) {
    pthread_create(&thread[i], NULL, work, &worker[i]); /* followed by the binding */
    pthread_mutex_unlock(&worker[i].begin);
  }
  for (long i = 0; i < workers; ++i) pthread_join(thread[i], NULL);
  for (long i = 0; i < workers; ++i) {
    printf("%ld", i);
    for (int core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, &worker[i].cores)) printf(" %d", core);
    printf("\n");
  }
  free(worker);
  free(thread);
  return 0;
}
