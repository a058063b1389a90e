/* From a page's number to its span: two levels, as S1 (section 4.2) and tcmalloc have it. Read without a lock. */
#ifndef HOMENODE_PSM_PAGE_MAP_H
#define HOMENODE_PSM_PAGE_MAP_H

#include <stddef.h>
#include <stdint.h>

struct span;

/* Makes the map ready for pages [first, first + count). Returns -1 for want of memory. */
int page_map_reserve(uintptr_t first, size_t count, int node);
/* Only for reserved pages, and only by who holds the lock of the page's node. */
void page_map_set(uintptr_t page, struct span*);
struct span* page_map_get(uintptr_t page);

#endif
