#line 2 "qsort.c"
/* qsort, qsort_r and bsearch for traced programs, whose call-backs make them a part of the program: the comparisons, the elements
 * they move and the branches that their results decide. The C library's own can be neither recorded nor counted, for program and
 * library take turns. The drop-in compiler compiles this file as it does the program's sources and links it with programs that call
 * them (bindings/python/homenode/compiler/stand_ins.py).
 *
 * As glibc 2.36 does it (the order of comparisons and moves, not its text): a merge sort from the top, through a copy on the stack
 * below 1024 bytes and from malloc above; elements of more than 32 bytes are sorted by pointers and then moved once. Without
 * memory: in place, and then not stable.
 */
#include <alloca.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "heap_sort.h"

enum { LARGEST_MOVED = 32, MOST_ON_THE_STACK = 1024 };
enum kind { FOUR_BYTES, EIGHT_BYTES, WORDS, BYTES, POINTERS };

struct sorting {
  size_t size; /* of what is moved */
  enum kind kind;
  hn_compare* compare;
  void* context;
  char* copy;
};

static inline __attribute__((always_inline)) void merge(const struct sorting* sorting, char* left, size_t n_left, char* right,
                                                        size_t n_right, const enum kind kind) {
  char* to = sorting->copy;
  char* const begin = left;
  const size_t size = sorting->size, number = n_left + n_right;
  hn_compare* const compare = sorting->compare;
  void* const context = sorting->context;
  while (n_left > 0 && n_right > 0) {
    const int order = kind == POINTERS ? compare(*(const void**)left, *(const void**)right, context) : compare(left, right, context);
    char** from = order <= 0 ? &left : &right;
    if (order <= 0)
      --n_left;
    else
      --n_right;
    if (kind == FOUR_BYTES)
      *(uint32_t*)to = *(uint32_t*)*from;
    else if (kind == EIGHT_BYTES || kind == POINTERS)
      *(uint64_t*)to = *(uint64_t*)*from;
    else if (kind == WORDS)
      for (size_t i = 0; i < size; i += sizeof(unsigned long)) *(unsigned long*)(to + i) = *(unsigned long*)(*from + i);
    else
      memcpy(to, *from, size);
    to += size, *from += size;
  }
  if (n_left > 0) memcpy(to, left, n_left * size);
  memcpy(begin, sorting->copy, (number - n_right) * size);
}
static void sort(const struct sorting* sorting, char* base, size_t number) {
  if (number <= 1) return;
  const size_t n_left = number / 2, n_right = number - n_left;
  char* right = base + n_left * sorting->size;
  sort(sorting, base, n_left);
  sort(sorting, right, n_right);
  switch (sorting->kind) {
    case FOUR_BYTES: merge(sorting, base, n_left, right, n_right, FOUR_BYTES); break;
    case EIGHT_BYTES: merge(sorting, base, n_left, right, n_right, EIGHT_BYTES); break;
    case WORDS: merge(sorting, base, n_left, right, n_right, WORDS); break;
    case BYTES: merge(sorting, base, n_left, right, n_right, BYTES); break;
    case POINTERS: merge(sorting, base, n_left, right, n_right, POINTERS); break;
  }
}
static enum kind kind_of(const void* base, size_t size) {
  if (size > LARGEST_MOVED) return POINTERS;
  const uintptr_t both = (uintptr_t)base | size;
  if (size == sizeof(uint32_t) && both % sizeof(uint32_t) == 0) return FOUR_BYTES;
  if (both % sizeof(unsigned long) != 0) return BYTES;
  return size == sizeof(uint64_t) ? EIGHT_BYTES : WORDS;
}
/* Elements to where the sorted pointers say, a cycle at a time. */
static void move_as(char** pointers, char* base, size_t number, size_t size, char* spare) {
  for (size_t i = 0; i < number; ++i) {
    char* const place = base + i * size;
    if (pointers[i] == place) continue;
    memcpy(spare, place, size);
    size_t hole = i;
    for (char* from = pointers[i]; from != place; from = pointers[hole]) {
      memcpy(base + hole * size, from, size);
      pointers[hole] = base + hole * size;
      hole = (size_t)(from - base) / size;
    }
    memcpy(base + hole * size, spare, size);
    pointers[hole] = base + hole * size;
  }
}

static void sort_elements(void* base, size_t number, size_t size, hn_compare* compare, void* context) {
  struct sorting sorting = {size, kind_of(base, size), compare, context, 0};
  const int by_pointers = sorting.kind == POINTERS;
  const size_t bytes = by_pointers ? 2 * number * sizeof(char*) + size : number * size;
  const int error = errno;
  void* const memory = bytes < MOST_ON_THE_STACK ? 0 : malloc(bytes);
  errno = error;
  char* const room = bytes < MOST_ON_THE_STACK ? alloca(bytes) : memory;
  if (!room) {
    hn_heap_sort(base, number, size, compare, context);
    return;
  }
  sorting.copy = room;
  if (by_pointers) {
    char** const pointers = (char**)room + number;
    for (size_t i = 0; i < number; ++i) pointers[i] = (char*)base + i * size;
    sorting.size = sizeof(char*);
    sort(&sorting, (char*)pointers, number);
    move_as(pointers, base, number, size, (char*)(pointers + number));
  } else {
    sort(&sorting, base, number);
  }
  free(memory);
}
/* Weak: a program's own function of one of these names goes first, and the others do not call it. */
#define WEAK __attribute__((weak))
WEAK void qsort_r(void* base, size_t number, size_t size, hn_compare* compare, void* context) {
  sort_elements(base, number, size, compare, context);
}
/* A function of two arguments finds them in the same registers. */
WEAK void qsort(void* base, size_t number, size_t size, int (*compare)(const void*, const void*)) {
  sort_elements(base, number, size, (hn_compare*)(void (*)(void))compare, 0);
}
WEAK void* bsearch(const void* key, const void* base, size_t number, size_t size, int (*compare)(const void*, const void*)) {
  size_t low = 0, high = number;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    const char* const element = (const char*)base + middle * size;
    const int order = compare(key, element);
    if (order == 0) return (void*)element;
    if (order < 0)
      high = middle;
    else
      low = middle + 1;
  }
  return 0;
}
