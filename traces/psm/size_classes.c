#include "size_classes.h"

#include <stdint.h>

static struct size_class classes[MOST_CLASSES];
static int class_count;
/* Class by size: steps of 16 bytes up to 1024, of 128 bytes beyond; class sizes are multiples of the step. */
enum { FINE_LIMIT = 1024, FINE_STEP = 16, COARSE_STEP = 128 };
enum { FINE_ENTRIES = FINE_LIMIT / FINE_STEP + 1, COARSE_ENTRIES = LARGEST_SMALL / COARSE_STEP + 1 };
static uint8_t fine[FINE_ENTRIES], coarse[COARSE_ENTRIES];

/* The distance to the next candidate: an eighth of the power of two below, at least 16 bytes, at most a page. */
static size_t alignment_for(size_t bytes) {
  if (bytes < 128) return 16;
  size_t power = 128;
  while (power * 2 <= bytes) power *= 2;
  const size_t eighth = power / 8;
  return eighth > PAGE_BYTES ? PAGE_BYTES : eighth;
}

/* Blocks of 64 KiB in all, from 2 to 32 (SizeMap::NumMoveSize). */
static int batch_for(size_t bytes) {
  const size_t blocks = (size_t)64 * 1024 / bytes;
  if (blocks < 2) return 2;
  return blocks > 32 ? 32 : (int)blocks;
}

/* Pages of a span: at most an eighth left over, and at least a quarter of a batch in it. */
static size_t pages_for(size_t bytes, int batch) {
  size_t span = 0;
  do {
    span += PAGE_BYTES;
    while (span % bytes > span >> 3) span += PAGE_BYTES;
  } while (span / bytes < (size_t)batch / 4);
  return span >> PAGE_SHIFT;
}

void size_classes_init(void) {
  class_count = 0;
  for (size_t bytes = 16; bytes <= LARGEST_SMALL; bytes += alignment_for(bytes)) {
    const int batch = batch_for(bytes);
    const size_t pages = pages_for(bytes, batch);
    if (class_count > 0) {
      struct size_class* last = &classes[class_count - 1];
      /* Two sizes of which a span holds equally many blocks are one: the larger. */
      if (pages == last->pages && (pages << PAGE_SHIFT) / bytes == (pages << PAGE_SHIFT) / last->bytes) {
        last->bytes = bytes;
        continue;
      }
    }
    classes[class_count++] = (struct size_class){bytes, pages, batch};
  }
  for (int index = 0; index < class_count; ++index) classes[index].batch = batch_for(classes[index].bytes);

  int index = 0;
  for (size_t entry = 0; entry < FINE_ENTRIES; ++entry) {
    while (classes[index].bytes < entry * FINE_STEP) ++index;
    fine[entry] = (uint8_t)index;
  }
  index = 0;
  for (size_t entry = 0; entry < COARSE_ENTRIES; ++entry) {
    while (classes[index].bytes < entry * COARSE_STEP) ++index;
    coarse[entry] = (uint8_t)index;
  }
}

int size_classes_count(void) { return class_count; }

const struct size_class* size_class_at(int index) { return &classes[index]; }

int size_class_of(size_t bytes) {
  if (bytes <= FINE_LIMIT) return fine[(bytes + FINE_STEP - 1) / FINE_STEP];
  return coarse[(bytes + COARSE_STEP - 1) / COARSE_STEP];
}
