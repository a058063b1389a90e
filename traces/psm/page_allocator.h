/* The location-aware page allocator: fresh memory of one node. Its lock is the only one that nodes share (S1, section
 * 4.1), besides those that a heap's or an owner's first use takes. */
#ifndef HOMENODE_PSM_PAGE_ALLOCATOR_H
#define HOMENODE_PSM_PAGE_ALLOCATOR_H

#include <stddef.h>

#include "psm.h"

/* Memory comes in multiples of this and on such a boundary, so that not even a huge page is shared by two nodes. */
enum { CHUNK_BYTES = 2 * 1024 * 1024 };
enum { MOST_NODES = 1024 }; /* the kernel's CONFIG_NODES_SHIFT is at most 10 */

/* Asks the kernel for its nodes; called once, before all else. */
void page_allocator_init(void);
int page_allocator_nodes(void);
enum psm_binding page_allocator_binding(void);

/* Zeroed memory on `node`; bytes are a multiple of CHUNK_BYTES. Null if the system has none. Never given back. */
void* page_allocator_chunk(size_t bytes, int node);
/* Zeroed memory on `node` for the library's own records, in whole pages of the machine. Null if the system has none. */
void* page_allocator_records(size_t bytes, int node);

/* For tests on machines of one node: from now on there are `nodes`, and nothing is bound. Before the first other call only. */
void page_allocator_pretend(int nodes);

/* The highest number in a list such as "0-3,8", plus one; 1 if there is none. */
int nodes_in_list(const char* list);

#endif
