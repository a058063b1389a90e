/* Small blocks kept for one owner, all of the owner's node. S1 calls it the core cache: threads stay on their cores. It has a lock, since
 * many threads may ask for blocks of one owner (S1, section 4.2). */
#ifndef HOMENODE_PSM_OWNER_CACHE_H
#define HOMENODE_PSM_OWNER_CACHE_H

#include <pthread.h>
#include <stddef.h>

#include "node_heap.h"

struct cached_list {
  void* first;
  int length;
  int limit;     /* of its length; grows with use, from 1 (gperftools' slow start) */
  int overflows; /* since the limit last fell */
};

struct owner_cache {
  pthread_mutex_t lock;
  int node; /* under the lock */
  size_t bytes;
  struct cached_list lists[MOST_CLASSES];
};

void owner_cache_init(struct owner_cache*, int node);
int owner_cache_node(struct owner_cache*);
/* Moves the owner to another node: what is cached goes back to the old one. */
void owner_cache_move(struct owner_cache*, int node);
/* A block of the owner's node. Null for want of memory. */
void* owner_cache_take(struct owner_cache*, int size_class);
/* Keeps a block of `node` if that is still the owner's; returns whether it did. */
int owner_cache_keep(struct owner_cache*, int size_class, void* block, int node);

#endif
