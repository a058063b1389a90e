#include "owner_cache.h"

/* gperftools 2.10, src/common.h and src/thread_cache.cc: kMaxThreadCacheSize, kMaxDynamicFreeListLength, kMaxOverages. */
enum { MOST_CACHED_BYTES = 4 << 20, MOST_CACHED_BLOCKS = 8192, MOST_OVERFLOWS = 3 };

void owner_cache_init(struct owner_cache* cache, int node) {
  pthread_mutex_init(&cache->lock, NULL);
  cache->node = node;
  cache->bytes = 0;
  for (int index = 0; index < MOST_CLASSES; ++index) cache->lists[index] = (struct cached_list){NULL, 0, 1, 0};
}

int owner_cache_node(struct owner_cache* cache) {
  pthread_mutex_lock(&cache->lock);
  const int node = cache->node;
  pthread_mutex_unlock(&cache->lock);
  return node;
}

/* Sends `count` blocks of a list, or all it has, back to their node. */
static void send_back(struct owner_cache* cache, int size_class, int count) {
  struct cached_list* list = &cache->lists[size_class];
  if (count > list->length) count = list->length;
  if (count == 0) return;
  void* chain = list->first;
  void* last = chain;
  for (int i = 1; i < count; ++i) last = *(void**)last;
  list->first = *(void**)last;
  *(void**)last = NULL;
  list->length -= count;
  cache->bytes -= (size_t)count * size_class_at(size_class)->bytes;
  node_heap_give_back(node_heap_at(cache->node), size_class, chain);
}

void owner_cache_move(struct owner_cache* cache, int node) {
  pthread_mutex_lock(&cache->lock);
  if (node != cache->node) {
    for (int index = 0; index < size_classes_count(); ++index) send_back(cache, index, cache->lists[index].length);
    cache->node = node;
  }
  pthread_mutex_unlock(&cache->lock);
}

/* After a fetch: one more up to a batch, then a batch more. */
static void raise_limit(struct cached_list* list, int batch) {
  if (list->limit < batch) {
    ++list->limit;
  } else if (list->limit + batch <= MOST_CACHED_BLOCKS) {
    list->limit += batch;
  }
}

void* owner_cache_take(struct owner_cache* cache, int size_class) {
  const struct size_class* shape = size_class_at(size_class);
  pthread_mutex_lock(&cache->lock);
  struct cached_list* list = &cache->lists[size_class];
  if (!list->first) {
    struct node_heap* heap = node_heap_at(cache->node);
    const int wanted = list->limit < shape->batch ? list->limit : shape->batch;
    int taken = 0;
    if (heap) list->first = node_heap_take(heap, size_class, wanted, &taken);
    list->length = taken;
    cache->bytes += (size_t)taken * shape->bytes;
    raise_limit(list, shape->batch);
  }
  void* block = list->first;
  if (block) {
    list->first = *(void**)block;
    --list->length;
    cache->bytes -= shape->bytes;
  }
  pthread_mutex_unlock(&cache->lock);
  return block;
}

/* A list is longer than its limit: a batch goes. A limit over a batch that is passed again and again was too high. */
static void overflow(struct owner_cache* cache, int size_class) {
  const int batch = size_class_at(size_class)->batch;
  struct cached_list* list = &cache->lists[size_class];
  send_back(cache, size_class, batch);
  if (list->limit < batch) {
    ++list->limit;
  } else if (list->limit > batch && ++list->overflows > MOST_OVERFLOWS) {
    list->limit -= batch;
    list->overflows = 0;
  }
}

int owner_cache_keep(struct owner_cache* cache, int size_class, void* block, int node) {
  const struct size_class* shape = size_class_at(size_class);
  pthread_mutex_lock(&cache->lock);
  const int keeps = node == cache->node;
  if (keeps) {
    struct cached_list* list = &cache->lists[size_class];
    *(void**)block = list->first;
    list->first = block;
    ++list->length;
    cache->bytes += shape->bytes;
    if (list->length > list->limit) overflow(cache, size_class);
    /* Half of every list goes: gperftools scavenges by low-water marks, which this leaves out. */
    for (int index = 0; cache->bytes > MOST_CACHED_BYTES && index < size_classes_count(); ++index) {
      send_back(cache, index, (cache->lists[index].length + 1) / 2);
    }
  }
  pthread_mutex_unlock(&cache->lock);
  return keeps;
}
