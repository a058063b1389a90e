/* Threads of four pretended nodes allocate for one another and free each other's blocks. Built with the thread sanitizer, which reports
 * what races; this checks that every block keeps what its writer wrote and comes from its owner's node. Exit code 0: nothing found.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/psm/page_allocator.h"
#include "traces/psm/psm.h"

enum { THREADS = 8, NODES = 4, SLOTS = 64, ROUNDS = 20000 };

struct slot {
  pthread_mutex_t lock;
  unsigned char* block;
  size_t bytes;
  unsigned char content;
};
static struct slot slots[SLOTS];
static pthread_barrier_t all_placed;

static uint32_t next(uint32_t* state) { return *state = *state * 1664525U + 1013904223U; }

static void check(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "psm stress: %s\n", what);
  exit(1);
}

static void* work(void* argument) {
  const int rank = (int)(intptr_t)argument;
  uint32_t state = (uint32_t)rank + 1;
  check(psm_register_thread(rank) == 0, "cannot register");
  /* The machine may have one node: owners are placed as if it had four. */
  check(psm_place_owner(rank, rank % NODES) == 0, "cannot place");
  pthread_barrier_wait(&all_placed);
  for (int round = 0; round < ROUNDS; ++round) {
    const int owner = (int)(next(&state) >> 8) % THREADS;
    const size_t magnitude = (size_t)1 << ((next(&state) >> 8) % 19), bytes = magnitude + (next(&state) >> 8) % magnitude;
    unsigned char* block = psm_alloc(bytes, owner);
    check(block != NULL, "no memory");
    check(psm_node_of(block) == owner % NODES, "a block of another node");
    const unsigned char content = (unsigned char)(next(&state) >> 8);
    block[0] = block[bytes - 1] = content;
    struct slot* slot = &slots[(next(&state) >> 8) % SLOTS];
    pthread_mutex_lock(&slot->lock);
    const struct slot old = *slot;
    slot->block = block;
    slot->bytes = bytes;
    slot->content = content;
    pthread_mutex_unlock(&slot->lock);
    if (old.block) {
      check(old.block[0] == old.content && old.block[old.bytes - 1] == old.content, "a block was overwritten");
      psm_free(old.block);
    }
    if (round % 500 == 499) check(psm_place_owner(rank, rank % NODES) == 0, "cannot place again");
  }
  return NULL;
}

int main(void) {
  page_allocator_pretend(NODES);
  pthread_barrier_init(&all_placed, NULL, THREADS);
  for (int i = 0; i < SLOTS; ++i) pthread_mutex_init(&slots[i].lock, NULL);
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i) check(pthread_create(&threads[i], NULL, work, (void*)(intptr_t)i) == 0, "cannot create a thread");
  for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
  for (int i = 0; i < SLOTS; ++i) psm_free(slots[i].block);
  return 0;
}
