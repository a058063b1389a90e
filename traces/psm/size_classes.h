/* Sizes that small blocks are rounded up to, as gperftools 2.10 makes them (src/common.cc, SizeMap::Init): a span holds
 * as many as if blocks were an eighth larger at most. */
#ifndef HOMENODE_PSM_SIZE_CLASSES_H
#define HOMENODE_PSM_SIZE_CLASSES_H

#include <stddef.h>

enum {
  PAGE_SHIFT = 13, /* pages of the heaps, not of the machine: gperftools' default */
  PAGE_BYTES = 1 << PAGE_SHIFT,
  LARGEST_SMALL = 256 * 1024, /* larger blocks are whole spans */
  MOST_CLASSES = 96,
};

struct size_class {
  size_t bytes; /* of a block */
  size_t pages; /* of a span that blocks of this class are cut from */
  int batch;    /* blocks that move between an owner's cache and a central list at once */
};

/* Fills the table; called once, before all else. */
void size_classes_init(void);
int size_classes_count(void);
const struct size_class* size_class_at(int index);
/* Index of the smallest class that holds `bytes`, which are at most LARGEST_SMALL. */
int size_class_of(size_t bytes);

#endif
