/* heap_sort.h: a sort in place without memory of its own and without the C library's, which a traced program may have from us
 * (library/qsort.c). Not stable. */
#ifndef HN_HEAP_SORT_H
#define HN_HEAP_SORT_H

#include <stddef.h>

typedef int hn_compare(const void*, const void*, void* context);

static inline void hn_swap(char* a, char* b, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    const char byte = a[i];
    a[i] = b[i], b[i] = byte;
  }
}
/* Puts element `at` of a heap of `number` in its place below. */
static inline void hn_sift(char* base, size_t at, size_t number, size_t size, hn_compare* compare, void* context) {
  for (size_t child; (child = 2 * at + 1) < number; at = child) {
    if (child + 1 < number && compare(base + child * size, base + (child + 1) * size, context) < 0) ++child;
    if (compare(base + at * size, base + child * size, context) >= 0) return;
    hn_swap(base + at * size, base + child * size, size);
  }
}
static inline void hn_heap_sort(void* elements, size_t number, size_t size, hn_compare* compare, void* context) {
  char* base = elements;
  for (size_t at = number / 2; at-- > 0;) hn_sift(base, at, number, size, compare, context);
  for (size_t left = number; left > 1;) {
    --left;
    hn_swap(base, base + left * size, size);
    hn_sift(base, 0, left, size, compare, context);
  }
}

#endif
