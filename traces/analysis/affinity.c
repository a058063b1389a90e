#include "affinity.h"

#include <pthread.h>

/* Emitted by the pass. */
extern const struct homenode_thread_kind homenode_kinds[];
extern const uint32_t homenode_fathers[];
extern cpu_set_t homenode_cores_of_kind[];

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct homenode_mapping mapping;
static unsigned processors[CPU_SETSIZE]; /* of each core of the mapping */
static _Thread_local cpu_set_t own;      /* of the creating thread */

/* Before main, when the process has the cores it was started with; a bound thread's children would see its own alone. */
__attribute__((constructor)) static void begin(void) {
  cpu_set_t allowed;
  unsigned cores = 0;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
    for (unsigned processor = 0; processor < CPU_SETSIZE; ++processor)
      if (CPU_ISSET(processor, &allowed)) processors[cores++] = processor;
  if (cores == 0) return; /* a machine with more processors than cpu_set_t holds: nothing is bound */
  mapping.kinds = homenode_kinds;
  mapping.fathers = homenode_fathers;
  mapping.cores_of_kind = homenode_cores_of_kind;
  homenode_mapping_begin(&mapping, cores);
}

void homenode_expect_threads(uint64_t count) {
  pthread_mutex_lock(&mutex);
  mapping.expected += count;
  pthread_mutex_unlock(&mutex);
}

void homenode_cores_of_thread(uint32_t kind, cpu_set_t* cores) {
  CPU_ZERO(cores);
  CPU_ZERO(&own);
  sched_getaffinity(0, sizeof own, &own);
  if (mapping.cores == 0) return; /* pthread_setaffinity_np refuses an empty set, and the thread stays where it is */
  pthread_mutex_lock(&mutex);
  const cpu_set_t mapped = homenode_mapping_next(&mapping, kind);
  pthread_mutex_unlock(&mutex);
  for (unsigned core = 0; core < mapping.cores; ++core)
    if (CPU_ISSET(core, &mapped)) CPU_SET(processors[core], cores);
}

/* Of a thread that has ended already glibc passes the kernel number 0, which is the caller: its cores are then put back. */
void homenode_thread_is_bound(void) {
  cpu_set_t now;
  if (CPU_COUNT(&own) != 0 && sched_getaffinity(0, sizeof now, &now) == 0 && !CPU_EQUAL(&now, &own)) sched_setaffinity(0, sizeof own, &own);
}
