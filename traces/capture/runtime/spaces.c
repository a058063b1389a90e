/* Places, memory spaces and allocators of OpenMP 5: one place that nobody chose, one memory space. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "team.h"

enum { DEFAULT_ALLOCATOR = 1 }; /* omp_default_mem_alloc */

static void* obtained(size_t align, size_t bytes) {
  void* p = 0;
  if (align <= 16) return malloc(bytes);
  return posix_memalign(&p, align, bytes) ? 0 : p;
}
static void* zeroed(size_t align, size_t number, size_t bytes) {
  size_t all;
  if (align <= 16) return calloc(number, bytes);
  if (__builtin_mul_overflow(number, bytes, &all)) return 0;
  void* p = obtained(align, all);
  return p ? memset(p, 0, all) : 0;
}
void* omp_alloc(size_t bytes, uintptr_t allocator) { return (void)allocator, obtained(1, bytes); }
void* omp_aligned_alloc(size_t align, size_t bytes, uintptr_t allocator) { return (void)allocator, obtained(align, bytes); }
void* omp_calloc(size_t number, size_t bytes, uintptr_t allocator) { return (void)allocator, zeroed(1, number, bytes); }
void* omp_aligned_calloc(size_t align, size_t number, size_t bytes, uintptr_t allocator) {
  return (void)allocator, zeroed(align, number, bytes);
}
void* omp_realloc(void* p, size_t bytes, uintptr_t allocator, uintptr_t old) { return (void)allocator, (void)old, realloc(p, bytes); }
void omp_free(void* p, uintptr_t allocator) { (void)allocator, free(p); }
void* GOMP_alloc(size_t align, size_t bytes, uintptr_t allocator) { return (void)allocator, obtained(align, bytes); }
void GOMP_free(void* p, uintptr_t allocator) { (void)allocator, free(p); }
uintptr_t omp_init_allocator(uintptr_t space, int traits, const void* list) {
  return (void)space, (void)traits, (void)list, DEFAULT_ALLOCATOR;
}
void omp_destroy_allocator(uintptr_t allocator) { (void)allocator; }
static uintptr_t default_allocator = DEFAULT_ALLOCATOR;
void omp_set_default_allocator(uintptr_t allocator) { default_allocator = allocator ? allocator : DEFAULT_ALLOCATOR; }
uintptr_t omp_get_default_allocator(void) { return default_allocator; }

int omp_get_num_places(void) { return 0; }
int omp_get_place_num(void) { return -1; }
int omp_get_place_num_procs(int place) { return (void)place, 0; }
void omp_get_place_proc_ids(int place, int* ids) { (void)place, (void)ids; }
int omp_get_partition_num_places(void) { return 0; }
void omp_get_partition_place_nums(int* places) { (void)places; }
int omp_get_max_task_priority(void) { return 0; }
void omp_display_env(int verbose) { (void)verbose; }
void omp_display_affinity(const char* format) { (void)format; }
