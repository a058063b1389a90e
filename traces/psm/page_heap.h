/* Spans of pages of one node, and the map that leads from an address to its span. */
#ifndef HOMENODE_PSM_PAGE_HEAP_H
#define HOMENODE_PSM_PAGE_HEAP_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/* A run of pages, free or in use. The record stays its node's for ever, so that `node` may be read without a lock. */
struct span {
  struct span *next, *previous; /* in a list of the page heap, or of a central list */
  uintptr_t first_page;
  size_t pages;
  int node;
  int size_class; /* IN_HEAP, WHOLE_BLOCK, or the class that it is cut into */
  /* Of a span that is cut into blocks, under the central list's lock: */
  void* freed;   /* blocks given back */
  size_t uncut;  /* bytes from its start that were handed out once */
  size_t in_use; /* blocks that are in caches or with the program */
};
enum { IN_HEAP = -2, WHOLE_BLOCK = -1 };

enum { MOST_LISTED_PAGES = 128 }; /* gperftools' kMaxPages: longer free spans share one list */

struct page_heap {
  pthread_mutex_t lock;
  int node;
  struct span free[MOST_LISTED_PAGES + 1]; /* heads of rings, by pages; [0] longer ones */
  struct span* unused_records;
};

void page_heap_init(struct page_heap*, int node);
/* A span of `pages` for blocks of `size_class` (or WHOLE_BLOCK), known to the map. Null for want of memory. */
struct span* page_heap_take(struct page_heap*, size_t pages, int size_class);
/* Takes a span back and joins it with its free neighbours. */
void page_heap_give_back(struct page_heap*, struct span*);

/* The span of the page that an address lies in, or null. Exact for addresses of blocks in use. */
struct span* span_of(const void* address);

void ring_init(struct span* head);
int ring_is_empty(const struct span* head);
void ring_insert(struct span* head, struct span*);
void ring_remove(struct span*);

#endif
