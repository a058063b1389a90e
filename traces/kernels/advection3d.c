/* advection3d: linear advection in three dimensions on patches, first-order upwind, owner-compute by thread.
 * Source, structure and self-check are advection2d's, with one direction more: six neighbours, and three fluxes as temporaries.
 */
#include "advection.h"

enum { WEST, EAST, SOUTH, NORTH, BELOW, ABOVE, SIDES };
enum temporaries { REUSE, ANEW, SCRATCH };

struct patch {
  double *field, *flux[DIRECTIONS];
  const double* neighbour[SIDES]; /* their fields */
  int64_t first[DIRECTIONS];      /* the patch's first cell in the domain */
};

static inline int64_t field_cells(int64_t n) { return (n + 2) * (n + 2) * (n + 2); }
static inline int64_t face_cells(int64_t n) { return (n + 1) * n * n; }

KERNEL_INLINE static void initialise_patch(double* field, const struct advected_mode* mode, int64_t x, int64_t y, int64_t z, int64_t n) {
  for (int64_t k = 0; k < n + 2; ++k)
    for (int64_t j = 0; j < n + 2; ++j)
      for (int64_t i = 0; i < n + 2; ++i)
        field[(k * (n + 2) + j) * (n + 2) + i] = initial_profile(mode, (const int64_t[]){x + i - 1, y + j - 1, z + k - 1});
}

/* Copies n x n cells of a neighbour's border to a layer of ghost cells; strides are those of the layer's two directions. */
KERNEL_INLINE static void copy_layer(double* restrict ghost, const double* border, int64_t n, int64_t outer, int64_t inner) {
  for (int64_t a = 1; a <= n; ++a)
    for (int64_t b = 1; b <= n; ++b) ghost[a * outer + b * inner] = border[a * outer + b * inner];
}

KERNEL_INLINE static void exchange_patch(double* field, const double* const* neighbour, int64_t n) {
  const int64_t row = n + 2, layer = (n + 2) * (n + 2), far = n + 1;
  copy_layer(field, neighbour[WEST] + n, n, layer, row);
  copy_layer(field + far, neighbour[EAST] + 1, n, layer, row);
  copy_layer(field, neighbour[SOUTH] + n * row, n, layer, 1);
  copy_layer(field + far * row, neighbour[NORTH] + row, n, layer, 1);
  copy_layer(field, neighbour[BELOW] + n * layer, n, row, 1);
  copy_layer(field + far * layer, neighbour[ABOVE] + layer, n, row, 1);
}

KERNEL_INLINE static void compute_patch(double* restrict field, double* restrict flux_x, double* restrict flux_y, double* restrict flux_z,
                                        int64_t n, double c_x, double c_y, double c_z) {
  const int64_t row = n + 2, layer = (n + 2) * (n + 2);
  double* inside = field + layer + row + 1; /* the patch's own first cell */
  for (int64_t k = 0; k < n; ++k)
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = 0; i <= n; ++i) flux_x[(k * n + j) * (n + 1) + i] = c_x * inside[k * layer + j * row + i - 1];
  for (int64_t k = 0; k < n; ++k)
    for (int64_t j = 0; j <= n; ++j)
      for (int64_t i = 0; i < n; ++i) flux_y[(k * (n + 1) + j) * n + i] = c_y * inside[k * layer + (j - 1) * row + i];
  for (int64_t k = 0; k <= n; ++k)
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = 0; i < n; ++i) flux_z[(k * n + j) * n + i] = c_z * inside[(k - 1) * layer + j * row + i];
  for (int64_t k = 0; k < n; ++k)
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = 0; i < n; ++i) {
        const double* x = flux_x + (k * n + j) * (n + 1) + i;
        const double* y = flux_y + (k * (n + 1) + j) * n + i;
        const double* z = flux_z + (k * n + j) * n + i;
        inside[k * layer + j * row + i] -= x[1] - x[0] + y[n] - y[0] + z[n * n] - z[0];
      }
}

KERNEL_INLINE static void allocate_temporaries(struct patch* patch, int64_t n, int64_t owner) {
  for (int d = 0; d < DIRECTIONS; ++d) patch->flux[d] = patch_block("advection3d", face_cells(n), owner);
}

KERNEL_INLINE static void free_temporaries(struct patch* patch) {
  for (int d = 0; d < DIRECTIONS; ++d) free(patch->flux[d]);
}

KERNEL_UNTRACED static int64_t wrong_cells(const struct patch* patches, int64_t count, const struct advected_mode* mode, int64_t n,
                                           int64_t steps) {
  struct advection_check check = advection_check(mode, steps);
  for (const struct patch* patch = patches; patch < patches + count; ++patch)
    for (int64_t k = 0; k < n + 2; ++k)
      for (int64_t j = 0; j < n + 2; ++j)
        for (int64_t i = 0; i < n + 2; ++i) {
          const int64_t cell[] = {patch->first[0] + i - 1, patch->first[1] + j - 1, patch->first[2] + k - 1};
          const double value = patch->field[(k * (n + 2) + j) * (n + 2) + i];
          const int outside = (i == 0 || i == n + 1) + (j == 0 || j == n + 1) + (k == 0 || k == n + 1);
          if (outside == 0)
            check_cell(&check, cell, value);
          else if (outside == 1) /* edges and corners are never used */
            check_ghost(&check, cell, value);
        }
  return advection_wrong(&check);
}

int main(int argc, char** argv) {
  enum { PATCH, PATCHES, STEPS, TEMPORARIES, LAYOUT, CHECK, COUNT };
  struct kernel_parameter p[COUNT] = {{"patch", 12, 2, 1 << 10, NULL},      {"patches", 4, 1, 1 << 20, NULL},
                                      {"steps", 2, 1, 1 << 20, NULL},       {"temporaries", 0, 0, 0, "reuse|anew|scratch"},
                                      {"layout", 0, 0, 0, "strip|compact"}, {"check", 1, 0, 1, NULL}};
  kernel_parameters(argc, argv, "advection3d", p, COUNT);
  const int64_t n = p[PATCH].value, of_thread = p[PATCHES].value, steps = p[STEPS].value, threads = patch_threads();
  const int kept = p[TEMPORARIES].value == REUSE, anew = p[TEMPORARIES].value == ANEW, scratch = p[TEMPORARIES].value == SCRATCH;
  const struct patch_box box = patch_box(threads, of_thread, 3, (enum patch_layout)p[LAYOUT].value);
  const struct advected_mode mode = {3, {n * patch_extent(&box, 0), n * patch_extent(&box, 1), n * patch_extent(&box, 2)}};
  struct patch* patches = kernel_allocate("advection3d", (size_t)(threads * of_thread), sizeof(struct patch));

  double begin = KERNEL_REGION("init");
#pragma omp parallel
  {
    const int64_t rank = omp_get_thread_num();
    for (int64_t number = rank * of_thread; number < (rank + 1) * of_thread; ++number) {
      struct patch* patch = &patches[number];
      patch_place(&box, number, patch->first);
      for (int d = 0; d < DIRECTIONS; ++d) patch->first[d] *= n;
      patch->field = patch_block("advection3d", field_cells(n), rank);
      initialise_patch(patch->field, &mode, patch->first[0], patch->first[1], patch->first[2], n);
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
      for (struct patch* patch = mine; patch < mine + of_thread; ++patch) exchange_patch(patch->field, patch->neighbour, n);
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
        double* const* flux = scratch ? shared.flux : patch->flux;
        compute_patch(patch->field, flux[0], flux[1], flux[2], n, courant[0], courant[1], courant[2]);
      }
      if (scratch) free_temporaries(&shared);
      if (anew)
        for (struct patch* patch = mine; patch < mine + of_thread; ++patch) free_temporaries(patch);
    }
    kernel_time("compute", begin);
  }
  HOMENODE_STEP(-1);

  const int code = p[CHECK].value ? kernel_verdict("advection3d", wrong_cells(patches, threads * of_thread, &mode, n, steps),
                                                   "cells or sums differ from the solution")
                                  : 0;
  for (int64_t number = 0; number < threads * of_thread; ++number) {
    free(patches[number].field);
    if (kept) free_temporaries(&patches[number]);
  }
  free(patches);
  return code;
}
