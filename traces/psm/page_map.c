#include "page_map.h"

#include <stdatomic.h>

#include "page_allocator.h"
#include "size_classes.h"

/* User addresses have 47 bits on x86-64 and up to 48 on AArch64: 35 bits number pages of 8 KiB. A leaf covers 1 GiB. */
enum { LEAF_BITS = 17, ROOT_BITS = 48 - PAGE_SHIFT - LEAF_BITS };

struct leaf {
  struct span* _Atomic spans[1 << LEAF_BITS];
};
static struct leaf* _Atomic root[1 << ROOT_BITS];

int page_map_reserve(uintptr_t first, size_t count, int node) {
  for (uintptr_t index = first >> LEAF_BITS; index <= (first + count - 1) >> LEAF_BITS; ++index) {
    if (index >> ROOT_BITS != 0) return -1;
    if (atomic_load_explicit(&root[index], memory_order_acquire)) continue;
    struct leaf* fresh = page_allocator_records(sizeof *fresh, node);
    if (!fresh) return -1;
    struct leaf* expected = NULL;
    /* Where another node was faster, its leaf serves both; ours, never touched, costs address space alone. */
    atomic_compare_exchange_strong_explicit(&root[index], &expected, fresh, memory_order_acq_rel, memory_order_acquire);
  }
  return 0;
}

void page_map_set(uintptr_t page, struct span* span) {
  struct leaf* leaf = atomic_load_explicit(&root[page >> LEAF_BITS], memory_order_acquire);
  atomic_store_explicit(&leaf->spans[page & ((1U << LEAF_BITS) - 1)], span, memory_order_release);
}

struct span* page_map_get(uintptr_t page) {
  if (page >> LEAF_BITS >> ROOT_BITS != 0) return NULL;
  struct leaf* leaf = atomic_load_explicit(&root[page >> LEAF_BITS], memory_order_acquire);
  return leaf ? atomic_load_explicit(&leaf->spans[page & ((1U << LEAF_BITS) - 1)], memory_order_acquire) : NULL;
}
