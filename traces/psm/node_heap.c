#include "node_heap.h"

#include <stdatomic.h>

#include "page_allocator.h"

static struct node_heap* _Atomic heaps[MOST_NODES];
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

static struct node_heap* made(int node) {
  struct node_heap* heap = page_allocator_records(sizeof *heap, node);
  if (!heap) return NULL;
  page_heap_init(&heap->pages, node);
  for (int index = 0; index < size_classes_count(); ++index) {
    pthread_mutex_init(&heap->central[index].lock, NULL);
    ring_init(&heap->central[index].with_blocks);
    ring_init(&heap->central[index].exhausted);
  }
  return heap;
}

struct node_heap* node_heap_at(int node) {
  struct node_heap* heap = atomic_load_explicit(&heaps[node], memory_order_acquire);
  if (heap) return heap;
  pthread_mutex_lock(&making);
  heap = atomic_load_explicit(&heaps[node], memory_order_relaxed);
  if (!heap) {
    heap = made(node);
    atomic_store_explicit(&heaps[node], heap, memory_order_release);
  }
  pthread_mutex_unlock(&making);
  return heap;
}

static int has_blocks(const struct span* span, size_t bytes) { return span->freed || span->uncut + bytes <= span->pages << PAGE_SHIFT; }

/* Blocks are cut when they are wanted, so that no page is touched before. */
static void* take_one(struct span* span, size_t bytes) {
  void* block = span->freed;
  if (block) {
    span->freed = *(void**)block;
  } else {
    block = (char*)(span->first_page << PAGE_SHIFT) + span->uncut;
    span->uncut += bytes;
  }
  ++span->in_use;
  return block;
}

void* node_heap_take(struct node_heap* heap, int size_class, int count, int* taken) {
  const struct size_class* shape = size_class_at(size_class);
  struct central_list* list = &heap->central[size_class];
  void* chain = NULL;
  *taken = 0;
  pthread_mutex_lock(&list->lock);
  while (*taken < count) {
    if (ring_is_empty(&list->with_blocks)) {
      if (*taken > 0) break; /* enough for now; a new span when nothing is left */
      struct span* fresh = page_heap_take(&heap->pages, shape->pages, size_class);
      if (!fresh) break;
      ring_insert(&list->with_blocks, fresh);
    }
    struct span* span = list->with_blocks.next;
    void* block = take_one(span, shape->bytes);
    *(void**)block = chain;
    chain = block;
    ++*taken;
    if (!has_blocks(span, shape->bytes)) {
      ring_remove(span);
      ring_insert(&list->exhausted, span);
    }
  }
  pthread_mutex_unlock(&list->lock);
  return chain;
}

void node_heap_give_back(struct node_heap* heap, int size_class, void* chain) {
  const size_t bytes = size_class_at(size_class)->bytes;
  struct central_list* list = &heap->central[size_class];
  pthread_mutex_lock(&list->lock);
  while (chain) {
    void* block = chain;
    chain = *(void**)block;
    struct span* span = span_of(block);
    const int had_blocks = has_blocks(span, bytes);
    *(void**)block = span->freed;
    span->freed = block;
    if (--span->in_use == 0) {
      ring_remove(span);
      page_heap_give_back(&heap->pages, span);
    } else if (!had_blocks) {
      ring_remove(span);
      ring_insert(&list->with_blocks, span);
    }
  }
  pthread_mutex_unlock(&list->lock);
}
