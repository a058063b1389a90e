#define _GNU_SOURCE
#include "psm.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "node_heap.h"
#include "owner_cache.h"
#include "page_allocator.h"

static struct owner_cache* _Atomic caches[PSM_MAX_OWNERS];
static pthread_mutex_t registering = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Thread_local struct owner_cache* own_cache; /* of the calling thread's owner */

static void init(void) {
  size_classes_init();
  page_allocator_init();
}

static void need_init(void) { pthread_once(&once, init); }

static struct owner_cache* cache_of(int owner) {
  if (owner < 0 || owner >= PSM_MAX_OWNERS) return NULL;
  return atomic_load_explicit(&caches[owner], memory_order_acquire);
}

int psm_place_owner(int owner, int node) {
  need_init();
  if (owner < 0 || owner >= PSM_MAX_OWNERS || node < 0 || node >= page_allocator_nodes()) {
    errno = EINVAL;
    return -1;
  }
  pthread_mutex_lock(&registering);
  struct owner_cache* cache = cache_of(owner);
  if (cache) {
    owner_cache_move(cache, node);
  } else {
    cache = page_allocator_records(sizeof *cache, node);
    if (cache) owner_cache_init(cache, node);
    atomic_store_explicit(&caches[owner], cache, memory_order_release);
  }
  pthread_mutex_unlock(&registering);
  if (cache) return 0;
  errno = ENOMEM;
  return -1;
}

int psm_register_thread(int owner) {
  unsigned node = 0;
  if (syscall(SYS_getcpu, NULL, &node, NULL) != 0) node = 0; /* a kernel without it knows no nodes */
  if (psm_place_owner(owner, (int)node) != 0) return -1;
  own_cache = cache_of(owner);
  return 0;
}

static void* alloc_whole(struct owner_cache* cache, size_t bytes) {
  if (bytes > (size_t)-1 - PAGE_BYTES) return NULL;
  struct node_heap* heap = node_heap_at(owner_cache_node(cache));
  struct span* span = heap ? page_heap_take(&heap->pages, (bytes + PAGE_BYTES - 1) >> PAGE_SHIFT, WHOLE_BLOCK) : NULL;
  return span ? (void*)(span->first_page << PAGE_SHIFT) : NULL; /* NOLINT(performance-no-int-to-ptr) */
}

void* psm_alloc(size_t bytes, int owner) {
  need_init();
  struct owner_cache* cache = cache_of(owner);
  if (!cache) {
    errno = EINVAL;
    return NULL;
  }
  void* block = bytes > LARGEST_SMALL ? alloc_whole(cache, bytes) : owner_cache_take(cache, size_class_of(bytes ? bytes : 1));
  if (!block) errno = ENOMEM;
  return block;
}

void psm_free(void* block) {
  if (!block) return;
  struct span* span = span_of(block);
  if (!span) abort();
  struct node_heap* heap = node_heap_at(span->node);
  const int size_class = span->size_class;
  if (size_class == WHOLE_BLOCK) {
    page_heap_give_back(&heap->pages, span);
  } else if (!own_cache || !owner_cache_keep(own_cache, size_class, block, span->node)) {
    *(void**)block = NULL;
    node_heap_give_back(heap, size_class, block); /* of another node, or by a thread that is no owner */
  }
}

size_t psm_usable_size(const void* block) {
  const struct span* span = block ? span_of(block) : NULL;
  if (!span) return 0;
  return span->size_class == WHOLE_BLOCK ? span->pages << PAGE_SHIFT : size_class_at(span->size_class)->bytes;
}

int psm_node_of(const void* block) {
  const struct span* span = block ? span_of(block) : NULL;
  return span ? span->node : -1;
}

int psm_node_of_owner(int owner) {
  struct owner_cache* cache = cache_of(owner);
  return cache ? owner_cache_node(cache) : -1;
}

int psm_nodes(void) {
  need_init();
  return page_allocator_nodes();
}

enum psm_binding psm_binding(void) {
  need_init();
  return page_allocator_binding();
}
