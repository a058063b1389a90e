/* Patches of a structured grid, dealt out to threads: what the programs after JArena (S1) share.
 * A box of patches fills the domain; thread r of T owns a contiguous group of them, numbered r * P to (r + 1) * P - 1 where P is
 * the number of patches of a thread. Only the owner computes a patch ("owner-compute", S1, section 2), so that all code here is
 * bound to thread numbers. Two layouts:
 *   strip    the threads stand side by side in the first direction, each with a column of patches in the second
 *   compact  threads, and patches within a thread, are arranged as near to a square or a cube as their numbers allow
 * Every direction wraps around.
 */
#ifndef HOMENODE_PATCHES_H
#define HOMENODE_PATCHES_H

#include "kernel.h"

#ifdef _OPENMP
#include <omp.h>
#endif

enum { DIRECTIONS = 3 };
enum patch_layout { STRIP, COMPACT };

struct patch_box {
  int64_t threads[DIRECTIONS]; /* groups in each direction */
  int64_t group[DIRECTIONS];   /* patches of a group in each direction */
};

/* Threads that a parallel region of this program has. */
KERNEL_UNTRACED static int64_t patch_threads(void) {
#ifdef _OPENMP
  return omp_get_max_threads();
#else
  return 1;
#endif
}

/* `number` as a product of `directions` factors, the first the largest, as equal as can be. */
KERNEL_UNTRACED static void equal_factors(int64_t number, int directions, int64_t* factor) {
  for (int direction = directions - 1; direction > 0; --direction) {
    int64_t best = 1;
    for (int64_t candidate = 2; candidate <= number; ++candidate) {
      int64_t power = 1;
      for (int i = 0; i <= direction; ++i) power *= candidate;
      if (power > number) break;
      if (number % candidate == 0) best = candidate;
    }
    factor[direction] = best;
    number /= best;
  }
  factor[0] = number;
}

KERNEL_UNTRACED static struct patch_box patch_box(int64_t threads, int64_t patches_of_thread, int directions, enum patch_layout layout) {
  struct patch_box box = {{threads, 1, 1}, {1, patches_of_thread, 1}};
  if (layout == COMPACT) {
    box.group[1] = 1;
    equal_factors(threads, directions, box.threads);
    equal_factors(patches_of_thread, directions, box.group);
  }
  return box;
}

/* Patches of the box in one direction. */
KERNEL_UNTRACED static int64_t patch_extent(const struct patch_box* box, int direction) {
  return box->threads[direction] * box->group[direction];
}

/* The number of the patch at `place`, which may be one step outside the box. */
KERNEL_UNTRACED static int64_t patch_number(const struct patch_box* box, const int64_t* place) {
  int64_t rank = 0, within = 0, patches_of_thread = 1;
  for (int direction = 0; direction < DIRECTIONS; ++direction) {
    const int64_t extent = patch_extent(box, direction), at = (place[direction] + extent) % extent;
    rank = rank * box->threads[direction] + at / box->group[direction];
    within = within * box->group[direction] + at % box->group[direction];
    patches_of_thread *= box->group[direction];
  }
  return rank * patches_of_thread + within;
}

/* Where the patch of this number stands: the inverse of patch_number. */
KERNEL_UNTRACED static void patch_place(const struct patch_box* box, int64_t number, int64_t* place) {
  const int64_t patches_of_thread = box->group[0] * box->group[1] * box->group[2];
  int64_t rank = number / patches_of_thread, within = number % patches_of_thread;
  for (int direction = DIRECTIONS - 1; direction >= 0; --direction) {
    place[direction] = rank % box->threads[direction] * box->group[direction] + within % box->group[direction];
    rank /= box->threads[direction];
    within /= box->group[direction];
  }
}

/* The number of the neighbour of patch `number`, `step` = 1 or -1 further in one direction. */
KERNEL_UNTRACED static int64_t patch_neighbour(const struct patch_box* box, int64_t number, int direction, int64_t step) {
  int64_t place[DIRECTIONS];
  patch_place(box, number, place);
  place[direction] += step;
  return patch_number(box, place);
}

/* A block of `count` doubles that belongs to thread `owner`: one heap block per patch and variable, as S1 allocates them. */
KERNEL_UNTRACED static double* patch_block(const char* kernel, int64_t count, int64_t owner) {
  double* block = kernel_allocate(kernel, (size_t)count, sizeof(double));
  HOMENODE_OWNER(block, (int)owner);
  return block;
}

#endif
