/* Every thread allocates blocks of many sizes for every owner by psm_alloc, writes them, and frees blocks of others, in rounds; then the
 * kernel is asked for the node of every page of every block.
 *
 * psm_pages name=NAME rounds=N
 *
 * Prints "@@ psm NAME binding=B blocks=N pages=N remote=N": blocks that live at the end, their pages, and those not on their owner's node.
 */
#include "locate.h"

#include <omp.h>
#include <pthread.h>

#include "psm.h"

enum { SLOTS = 512 };

struct slot {
  pthread_mutex_t lock;
  char* block;
  size_t bytes;
  int owner;
};
static struct slot slots[SLOTS];

static uint32_t next(uint32_t* state) { return (*state = *state * 1664525U + 1013904223U) >> 8; }

int main(int argc, char** argv) {
  const int64_t rounds = number(argc, argv, "rounds", "2000");
  const int threads = omp_get_max_threads();
  int node_of_owner[PSM_MAX_OWNERS];
  for (int i = 0; i < SLOTS; ++i) pthread_mutex_init(&slots[i].lock, NULL);
#pragma omp parallel
  {
    const int rank = omp_get_thread_num();
    unsigned here = 0;
    syscall(SYS_getcpu, NULL, &here, NULL);
    node_of_owner[rank] = (int)here; /* the kernel's word, not the library's */
    if (psm_register_thread(rank) != 0) exit(1);
    uint32_t state = (uint32_t)rank + 1;
#pragma omp barrier
    for (int64_t round = 0; round < rounds; ++round) {
      const int owner = (int)(next(&state) % (uint32_t)threads);
      const size_t magnitude = (size_t)1 << (next(&state) % 19), bytes = magnitude + next(&state) % magnitude;
      char* block = psm_alloc(bytes, owner);
      if (!block) exit(1);
      memset(block, rank, bytes);
      struct slot* slot = &slots[next(&state) % SLOTS];
      pthread_mutex_lock(&slot->lock);
      char* old = slot->block;
      slot->block = block;
      slot->bytes = bytes;
      slot->owner = owner;
      pthread_mutex_unlock(&slot->lock);
      psm_free(old);
    }
  }
  int64_t blocks = 0, pages = 0, remote = 0;
  for (int i = 0; i < SLOTS; ++i) {
    if (!slots[i].block) continue;
    ++blocks;
    char* first = (char*)((uintptr_t)slots[i].block / PAGE * PAGE);
    for (char* page = first; page < slots[i].block + slots[i].bytes; page += PAGE) {
      int node = -1;
      locate(page, 1, &node);
      ++pages;
      remote += node != node_of_owner[slots[i].owner];
    }
  }
  printf("@@ psm %s binding=%d blocks=%lld pages=%lld remote=%lld\n", argument(argc, argv, "name", "unnamed"), (int)psm_binding(),
         (long long)blocks, (long long)pages, (long long)remote);
  return 0;
}
