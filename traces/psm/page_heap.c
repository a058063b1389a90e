#include "page_heap.h"

#include "page_allocator.h"
#include "page_map.h"
#include "size_classes.h"

enum { RECORDS_BYTES = 64 * 1024 };

void ring_init(struct span* head) { head->next = head->previous = head; }

int ring_is_empty(const struct span* head) { return head->next == head; }

void ring_insert(struct span* head, struct span* span) {
  span->next = head->next;
  span->previous = head;
  head->next->previous = span;
  head->next = span;
}

void ring_remove(struct span* span) {
  span->previous->next = span->next;
  span->next->previous = span->previous;
  span->next = span->previous = NULL;
}

void page_heap_init(struct page_heap* heap, int node) {
  pthread_mutex_init(&heap->lock, NULL);
  heap->node = node;
  for (int pages = 0; pages <= MOST_LISTED_PAGES; ++pages) ring_init(&heap->free[pages]);
  heap->unused_records = NULL;
}

static struct span* new_record(struct page_heap* heap, uintptr_t first_page, size_t pages) {
  if (!heap->unused_records) {
    struct span* records = page_allocator_records(RECORDS_BYTES, heap->node);
    if (!records) return NULL;
    for (size_t i = 0; i < RECORDS_BYTES / sizeof *records; ++i) {
      records[i].node = heap->node;
      records[i].next = heap->unused_records;
      heap->unused_records = &records[i];
    }
  }
  struct span* span = heap->unused_records;
  heap->unused_records = span->next;
  span->next = span->previous = NULL;
  span->first_page = first_page;
  span->pages = pages;
  return span;
}

static void drop_record(struct page_heap* heap, struct span* span) {
  span->next = heap->unused_records;
  heap->unused_records = span;
}

/* Free spans are found by their neighbours through their first and last page. */
static void list_free(struct page_heap* heap, struct span* span) {
  span->size_class = IN_HEAP;
  page_map_set(span->first_page, span);
  page_map_set(span->first_page + span->pages - 1, span);
  ring_insert(&heap->free[span->pages <= MOST_LISTED_PAGES ? span->pages : 0], span);
}

/* The shortest free span that suffices; among equals the one freed last. */
static struct span* best_free(struct page_heap* heap, size_t pages) {
  for (size_t length = pages; length <= MOST_LISTED_PAGES; ++length) {
    if (!ring_is_empty(&heap->free[length])) return heap->free[length].next;
  }
  struct span* best = NULL;
  for (struct span* span = heap->free[0].next; span != &heap->free[0]; span = span->next) {
    if (span->pages >= pages && (!best || span->pages < best->pages)) best = span;
  }
  return best;
}

/* Lets [first, first + pages) become free, joined with its free neighbours of the same node. */
static void add_free(struct page_heap* heap, struct span* span) {
  /* A neighbour of another node is told by its record's node, which never changes; all else is under this heap's lock. */
  struct span* before = page_map_get(span->first_page - 1);
  if (before && before->node == heap->node && before->size_class == IN_HEAP) {
    ring_remove(before);
    span->first_page = before->first_page;
    span->pages += before->pages;
    drop_record(heap, before);
  }
  struct span* after = page_map_get(span->first_page + span->pages);
  if (after && after->node == heap->node && after->size_class == IN_HEAP) {
    ring_remove(after);
    span->pages += after->pages;
    drop_record(heap, after);
  }
  list_free(heap, span);
}

static int grow(struct page_heap* heap, size_t pages) {
  if (pages > (SIZE_MAX - CHUNK_BYTES) >> PAGE_SHIFT) return -1;
  const size_t bytes = ((pages << PAGE_SHIFT) + CHUNK_BYTES - 1) / CHUNK_BYTES * CHUNK_BYTES;
  void* memory = page_allocator_chunk(bytes, heap->node);
  if (!memory) return -1;
  const uintptr_t first = (uintptr_t)memory >> PAGE_SHIFT;
  if (page_map_reserve(first, bytes >> PAGE_SHIFT, heap->node) != 0) return -1;
  struct span* span = new_record(heap, first, bytes >> PAGE_SHIFT);
  if (!span) return -1;
  add_free(heap, span);
  return 0;
}

static struct span* take(struct page_heap* heap, size_t pages, int size_class) {
  struct span* span = best_free(heap, pages);
  if (!span) {
    if (grow(heap, pages) != 0) return NULL;
    span = best_free(heap, pages);
  }
  struct span* rest = NULL;
  if (span->pages > pages) {
    rest = new_record(heap, span->first_page + pages, span->pages - pages);
    if (!rest) return NULL;
  }
  ring_remove(span);
  span->pages = pages;
  span->size_class = size_class;
  span->freed = NULL;
  span->uncut = span->in_use = 0;
  if (rest) list_free(heap, rest);
  for (size_t page = 0; page < pages; ++page) page_map_set(span->first_page + page, span);
  return span;
}

struct span* page_heap_take(struct page_heap* heap, size_t pages, int size_class) {
  pthread_mutex_lock(&heap->lock);
  struct span* span = take(heap, pages, size_class);
  pthread_mutex_unlock(&heap->lock);
  return span;
}

void page_heap_give_back(struct page_heap* heap, struct span* span) {
  pthread_mutex_lock(&heap->lock);
  add_free(heap, span);
  pthread_mutex_unlock(&heap->lock);
}

struct span* span_of(const void* address) {
  return page_map_get((uintptr_t)address >> PAGE_SHIFT);
}
