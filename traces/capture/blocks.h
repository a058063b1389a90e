/* The blocks that were announced, by address: any number, also when most are long gone. */
#ifndef HOMENODE_BLOCKS_H
#define HOMENODE_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct block {
  uintptr_t address;
  size_t bytes, mapped; /* mapped: bytes of windows, 0 = libc's memory */
};
void hn_blocks_add(uintptr_t address, size_t bytes, size_t mapped);
bool hn_blocks_find(uintptr_t address, struct block* found);
bool hn_blocks_take(uintptr_t address, struct block* taken); /* finds and removes */

#endif
