/* NUMA-BTDM (S3, section 3) while the program runs: which cores a thread gets that has just been created, from what the pass
 * NUMA-BTLP found and from the cores that the process may use. Linked into instrumented programs; the pass emits the tables.
 */
#ifndef HOMENODE_AFFINITY_H
#define HOMENODE_AFFINITY_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sched.h>
#include <stdint.h>

enum homenode_thread_type { HOMENODE_MAIN, HOMENODE_AUTONOMOUS, HOMENODE_SIDE_BY_SIDE, HOMENODE_POSTPONED };

/* One creation of the generation tree; kind 0 is the main thread. Its fathers in the communication tree are
 * homenode_fathers[fathers_begin .. fathers_end). */
struct homenode_thread_kind {
  uint32_t type, fathers_begin, fathers_end;
};

/* The tables of one program, and the state of its mapping: cores are numbered from 0 among those the process may use. */
struct homenode_mapping {
  const struct homenode_thread_kind* kinds;
  const uint32_t* fathers;
  cpu_set_t* cores_of_kind; /* what threads of the kind have got so far; empty before the first */
  unsigned cores;
  uint64_t expected, autonomous; /* autonomous threads that the loops met so far create; created so far */
  unsigned next_core;            /* for the next group of side-by-side threads that has no core yet */
  uint64_t load[CPU_SETSIZE];    /* threads mapped to each core */
};

/* The i-th of `threads` autonomous threads: with k = cores / threads, floor(i k) modulo cores, exactly (i below 2^54). */
static inline unsigned homenode_autonomous_core(uint64_t i, uint64_t threads, unsigned cores) {
  return (unsigned)(i * cores / threads % cores);
}

/* The main thread stands on core 0, where S3 begins; it is not bound. */
void homenode_mapping_begin(struct homenode_mapping* mapping, unsigned cores);
/* Maps one more thread of a kind:
 *  - autonomous: as above, among all that are expected; where no loop's count was known ahead, k is 1;
 *  - side by side: the union of what its kind and its fathers in the communication tree have; where none has any, the next core;
 *  - postponed: the core with the fewest threads. */
cpu_set_t homenode_mapping_next(struct homenode_mapping* mapping, uint32_t kind);

/* What instrumented programs call: before a loop that creates `count` autonomous threads; after each creation, before
 * pthread_setaffinity_np; and after that. */
void homenode_expect_threads(uint64_t count);
void homenode_cores_of_thread(uint32_t kind, cpu_set_t* cores);
void homenode_thread_is_bound(void);

#endif
