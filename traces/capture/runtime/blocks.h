/* The blocks that were announced, by address: any number, also when most are long gone. */
#ifndef HOMENODE_BLOCKS_H
#define HOMENODE_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct block {
  uintptr_t address;
  size_t bytes, mapped; /* mapped: bytes of windows, 0 = libc's memory */
};
void hn_blocks_add(uintptr_t address, size_t bytes, size_t mapped);
bool hn_blocks_find(uintptr_t address, struct block* found);
bool hn_blocks_take(uintptr_t address, struct block* taken); /* finds and removes */

/* heap.c: malloc and free on behalf of a place in the program. */
void* hn_obtain(size_t bytes, size_t align, const void* site);
bool hn_is_own_heap(void); /* whether malloc is the runtime's, and not the program's own */
void hn_give_back(void* p, const void* site);

/* bulk.c */
void hn_mapped_file(void* at, size_t bytes, int file, off_t offset, const void* site);

#endif
