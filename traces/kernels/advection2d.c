/* advection2d: linear advection in two dimensions on patches, first-order upwind, owner-compute by thread.
 * Source: the linear advection sample of Z. Yang, A. Zhang, Z. Mo, "JArena: Partitioned Shared Memory for NUMA-awareness in
 * Multi-threaded Scientific Applications" (S1), section 5.2, in the structure that section 2 gives it: locksteps of an exchange
 * phase and an owner-computation phase. S1 prints neither scheme nor grid; the scheme is in advection.h.
 * A patch has `patch` cells in each direction; each of its variables is a heap block of its own: the field with a border of one
 * ghost cell, and two temporaries, the fluxes through the faces in either direction. temporaries=anew allocates them in each step
 * and frees them after it, as the frameworks that S1 names do with scratch data; temporaries=reuse keeps them; temporaries=scratch
 * allocates in each step one pair for each thread, which all its patches use one after the other.
 * "exchange" fills all ghost cells from the four neighbours; "compute" takes the fluxes of all patches, then updates them.
 * Self-check (advection.h): the initial wave is an eigenfunction of the scheme, so every cell and ghost cell has a closed form,
 * met to rounding; it lies as near to the translated wave, the solution of the equation, as the scheme's error bound says; and
 * the mass is conserved.
 */
#include "advection.h"

enum { WEST, EAST, SOUTH, NORTH, SIDES };
enum temporaries { REUSE, ANEW, SCRATCH };

struct patch {
  double *field, *flux_x, *flux_y;
  const double* neighbour[SIDES]; /* their fields */
  int64_t x, y;                   /* the patch's first cell in the domain */
};

static inline int64_t field_cells(int64_t n) { return (n + 2) * (n + 2); }
static inline int64_t face_cells(int64_t n) { return (n + 1) * n; }

KERNEL_INLINE static void initialise_patch(double* field, const struct advected_mode* mode, int64_t x, int64_t y, int64_t n) {
  for (int64_t j = 0; j < n + 2; ++j)
    for (int64_t i = 0; i < n + 2; ++i) field[j * (n + 2) + i] = initial_profile(mode, (const int64_t[]){x + i - 1, y + j - 1, 0});
}

KERNEL_INLINE static void exchange_patch(double* restrict field, const double* west, const double* east, const double* south,
                                         const double* north, int64_t n) {
  const int64_t row = n + 2;
  for (int64_t j = 1; j <= n; ++j) field[j * row] = west[j * row + n];
  for (int64_t j = 1; j <= n; ++j) field[j * row + n + 1] = east[j * row + 1];
  for (int64_t i = 1; i <= n; ++i) field[i] = south[n * row + i];
  for (int64_t i = 1; i <= n; ++i) field[(n + 1) * row + i] = north[row + i];
}

KERNEL_INLINE static void compute_patch(double* restrict field, double* restrict flux_x, double* restrict flux_y, int64_t n, double c_x,
                                        double c_y) {
  const int64_t row = n + 2;
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i <= n; ++i) flux_x[j * (n + 1) + i] = c_x * field[(j + 1) * row + i];
  for (int64_t j = 0; j <= n; ++j)
    for (int64_t i = 0; i < n; ++i) flux_y[j * n + i] = c_y * field[j * row + i + 1];
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < n; ++i)
      field[(j + 1) * row + i + 1] -= flux_x[j * (n + 1) + i + 1] - flux_x[j * (n + 1) + i] + flux_y[(j + 1) * n + i] - flux_y[j * n + i];
}

KERNEL_INLINE static void allocate_temporaries(struct patch* patch, int64_t n, int64_t owner) {
  patch->flux_x = patch_block("advection2d", face_cells(n), owner);
  patch->flux_y = patch_block("advection2d", face_cells(n), owner);
}

KERNEL_INLINE static void free_temporaries(struct patch* patch) {
  free(patch->flux_x);
  free(patch->flux_y);
}

KERNEL_UNTRACED static int64_t wrong_cells(const struct patch* patches, int64_t count, const struct advected_mode* mode, int64_t n,
                                           int64_t steps) {
  struct advection_check check = advection_check(mode, steps);
  for (const struct patch* patch = patches; patch < patches + count; ++patch)
    for (int64_t j = 0; j < n + 2; ++j)
      for (int64_t i = 0; i < n + 2; ++i) {
        const int64_t cell[] = {patch->x + i - 1, patch->y + j - 1, 0};
        const double value = patch->field[j * (n + 2) + i];
        const int beside = i == 0 || i == n + 1, above = j == 0 || j == n + 1;
        if (!beside && !above)
          check_cell(&check, cell, value);
        else if (beside != above)
          check_ghost(&check, cell, value);
      }
  return advection_wrong(&check);
}

int main(int argc, char** argv) {
  enum { PATCH, PATCHES, STEPS, TEMPORARIES, LAYOUT, CHECK, COUNT };
  struct kernel_parameter p[COUNT] = {{"patch", 32, 2, 1 << 14, NULL},      {"patches", 4, 1, 1 << 20, NULL},
                                      {"steps", 2, 1, 1 << 20, NULL},       {"temporaries", 0, 0, 0, "reuse|anew|scratch"},
                                      {"layout", 0, 0, 0, "strip|compact"}, {"check", 1, 0, 1, NULL}};
  kernel_parameters(argc, argv, "advection2d", p, COUNT);
  const int64_t n = p[PATCH].value, of_thread = p[PATCHES].value, steps = p[STEPS].value, threads = patch_threads();
  const int kept = p[TEMPORARIES].value == REUSE, anew = p[TEMPORARIES].value == ANEW, scratch = p[TEMPORARIES].value == SCRATCH;
  const struct patch_box box = patch_box(threads, of_thread, 2, (enum patch_layout)p[LAYOUT].value);
  const struct advected_mode mode = {2, {n * patch_extent(&box, 0), n * patch_extent(&box, 1), 1}};
  struct patch* patches = kernel_allocate("advection2d", (size_t)(threads * of_thread), sizeof(struct patch));

  double begin = KERNEL_REGION("init");
#pragma omp parallel
  {
    const int64_t rank = omp_get_thread_num();
    for (int64_t number = rank * of_thread; number < (rank + 1) * of_thread; ++number) {
      struct patch* patch = &patches[number];
      int64_t place[DIRECTIONS];
      patch_place(&box, number, place);
      patch->x = n * place[0];
      patch->y = n * place[1];
      patch->field = patch_block("advection2d", field_cells(n), rank);
      initialise_patch(patch->field, &mode, patch->x, patch->y, n);
      if (kept) allocate_temporaries(patch, n, rank);
    }
  }
  kernel_time("init", begin);

  for (int64_t number = 0; number < threads * of_thread; ++number)
    for (int side = 0; side < SIDES; ++side)
      patches[number].neighbour[side] = patches[patch_neighbour(&box, number, side / 2, side % 2 ? 1 : -1)].field;

  for (int64_t step = 0; step < steps; ++step) {
    HOMENODE_STEP(step);
    begin = KERNEL_REGION("exchange");
#pragma omp parallel
    {
      struct patch* mine = patches + omp_get_thread_num() * of_thread;
      for (struct patch* patch = mine; patch < mine + of_thread; ++patch)
        exchange_patch(patch->field, patch->neighbour[WEST], patch->neighbour[EAST], patch->neighbour[SOUTH], patch->neighbour[NORTH], n);
    }
    kernel_time("exchange", begin);

    begin = KERNEL_REGION("compute");
#pragma omp parallel
    {
      const int rank = omp_get_thread_num();
      struct patch* mine = patches + rank * of_thread;
      if (anew)
        for (struct patch* patch = mine; patch < mine + of_thread; ++patch) allocate_temporaries(patch, n, rank);
      struct patch shared = {0};
      if (scratch) allocate_temporaries(&shared, n, rank);
      for (struct patch* patch = mine; patch < mine + of_thread; ++patch) {
        const struct patch* temporaries = scratch ? &shared : patch;
        compute_patch(patch->field, temporaries->flux_x, temporaries->flux_y, n, courant[0], courant[1]);
      }
      if (scratch) free_temporaries(&shared);
      if (anew)
        for (struct patch* patch = mine; patch < mine + of_thread; ++patch) free_temporaries(patch);
    }
    kernel_time("compute", begin);
  }
  HOMENODE_STEP(-1);

  const int code = p[CHECK].value ? kernel_verdict("advection2d", wrong_cells(patches, threads * of_thread, &mode, n, steps),
                                                   "cells or sums differ from the solution")
                                  : 0;
  for (int64_t number = 0; number < threads * of_thread; ++number) {
    free(patches[number].field);
    if (kept) free_temporaries(&patches[number]);
  }
  free(patches);
  return code;
}
