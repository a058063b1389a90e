/* The heap of one node: central lists of small blocks by class over a page heap. Every lock in it is this node's alone. */
#ifndef HOMENODE_PSM_NODE_HEAP_H
#define HOMENODE_PSM_NODE_HEAP_H

#include <pthread.h>

#include "page_heap.h"
#include "size_classes.h"

struct central_list {
  pthread_mutex_t lock;
  struct span with_blocks; /* ring of spans that have blocks to give */
  struct span exhausted;   /* ring of spans that have none */
};

struct node_heap {
  struct page_heap pages;
  struct central_list central[MOST_CLASSES];
};

/* The node's heap, made at its first use. Null for want of memory. */
struct node_heap* node_heap_at(int node);

/* Up to `count` blocks of a class, linked through their first word; `taken` says how many. Null for want of memory. */
void* node_heap_take(struct node_heap*, int size_class, int count, int* taken);
/* Takes a chain of linked blocks of a class back. A span whose last block comes back returns to the page heap. */
void node_heap_give_back(struct node_heap*, int size_class, void* chain);

#endif
