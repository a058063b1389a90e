/* advection3d_messages: advection3d whose patches exchange their borders through buffers that are allocated in every step (messages.h).
 * Source: as advection3d's; S1 names frameworks for patches and prints none of their buffers.
 * A step: "exchange_pack" allocates the buffers and fills them, "exchange_unpack" fills the ghost cells from the neighbours' messages,
 * "exchange_release" frees the buffers, "compute" is advection3d's. Self-check: advection3d's.
 */
#define main advection3d_main
#include "advection3d.c" /* NOLINT(bugprone-suspicious-include): the patch, its fluxes, the self-check */
#undef main
#include "messages.h"

KERNEL_INLINE static void pack_patch(double* const* message, const double* field, int64_t n) {
  const int64_t row = n + 2, layer = row * row, first = layer + row + 1, last = n - 1;
  pack(message[WEST], field + first, n, n, layer, row);
  pack(message[EAST], field + first + last, n, n, layer, row);
  pack(message[SOUTH], field + first, n, n, layer, 1);
  pack(message[NORTH], field + first + last * row, n, n, layer, 1);
  pack(message[BELOW], field + first, n, n, row, 1);
  pack(message[ABOVE], field + first + last * layer, n, n, row, 1);
}

/* A ghost layer on each side, from the message that the neighbour sent the other way. */
KERNEL_INLINE static void unpack_patch(double* field, double* const* const* from, int64_t n) {
  const int64_t row = n + 2, layer = row * row, first = layer + row + 1;
  unpack(field + first - 1, from[WEST][EAST], n, n, layer, row);
  unpack(field + first + n, from[EAST][WEST], n, n, layer, row);
  unpack(field + first - row, from[SOUTH][NORTH], n, n, layer, 1);
  unpack(field + first + n * row, from[NORTH][SOUTH], n, n, layer, 1);
  unpack(field + first - layer, from[BELOW][ABOVE], n, n, row, 1);
  unpack(field + first + n * layer, from[ABOVE][BELOW], n, n, row, 1);
}

/* The messages of a patch's neighbour on a side. */
static inline double* const* sent_by(double* const* messages, const int64_t* neighbour, int64_t patch, int side) {
  return messages + neighbour[patch * SIDES + side] * SIDES;
}

int main(int argc, char** argv) {
  enum { PATCH, PATCHES, STEPS, TEMPORARIES, LAYOUT, BUFFERS, CHECK, COUNT };
  struct kernel_parameter p[COUNT] = {{"patch", 12, 2, 1 << 10, NULL},
                                      {"patches", 4, 1, 1 << 20, NULL},
                                      {"steps", 2, 1, 1 << 20, NULL},
                                      {"temporaries", 0, 0, 0, "reuse|scratch"},
                                      {"layout", 0, 0, 0, "strip|compact"},
                                      {"buffers", 0, 0, 0, "thread|message"},
                                      {"check", 1, 0, 1, NULL}};
  kernel_parameters(argc, argv, "advection3d_messages", p, COUNT);
  const int64_t n = p[PATCH].value, of_thread = p[PATCHES].value, steps = p[STEPS].value, threads = patch_threads();
  const int scratch = p[TEMPORARIES].value == 1;
  const enum buffers buffers = (enum buffers)p[BUFFERS].value;
  const struct patch_box box = patch_box(threads, of_thread, 3, (enum patch_layout)p[LAYOUT].value);
  const struct advected_mode mode = {3, {n * patch_extent(&box, 0), n * patch_extent(&box, 1), n * patch_extent(&box, 2)}};
  const int64_t count = threads * of_thread;
  struct patch* patches = kernel_allocate("advection3d_messages", (size_t)count, sizeof(struct patch));
  double** messages = kernel_allocate("advection3d_messages", (size_t)(count * SIDES), sizeof(double*));
  int64_t* neighbour = kernel_allocate("advection3d_messages", (size_t)(count * SIDES), sizeof(int64_t));

  double begin = KERNEL_REGION("init");
#pragma omp parallel
  {
    const int64_t rank = omp_get_thread_num();
    for (int64_t number = rank * of_thread; number < (rank + 1) * of_thread; ++number) {
      struct patch* patch = &patches[number];
      patch_place(&box, number, patch->first);
      for (int d = 0; d < DIRECTIONS; ++d) patch->first[d] *= n;
      patch->field = patch_block("advection3d_messages", field_cells(n), rank);
      initialise_patch(patch->field, &mode, patch->first[0], patch->first[1], patch->first[2], n);
      if (!scratch) allocate_temporaries(patch, n, rank);
      for (int side = 0; side < SIDES; ++side)
        neighbour[number * SIDES + side] = patch_neighbour(&box, number, side / 2, side % 2 ? 1 : -1);
    }
  }
  kernel_time("init", begin);

  for (int64_t step = 0; step < steps; ++step) {
    HOMENODE_STEP(step);
    begin = KERNEL_REGION("exchange_pack");
#pragma omp parallel
    {
      const int64_t rank = omp_get_thread_num(), first = rank * of_thread;
      allocate_messages("advection3d_messages", messages + first * SIDES, of_thread * SIDES, n * n, rank, buffers);
      for (int64_t number = first; number < first + of_thread; ++number) pack_patch(messages + number * SIDES, patches[number].field, n);
    }
    kernel_time("exchange_pack", begin);

    begin = KERNEL_REGION("exchange_unpack");
#pragma omp parallel
    {
      const int64_t first = omp_get_thread_num() * of_thread;
      for (int64_t number = first; number < first + of_thread; ++number) {
        double* const* from[SIDES];
        for (int side = 0; side < SIDES; ++side) from[side] = sent_by(messages, neighbour, number, side);
        unpack_patch(patches[number].field, from, n);
      }
    }
    kernel_time("exchange_unpack", begin);

    begin = KERNEL_REGION("exchange_release");
#pragma omp parallel
    free_messages(messages + omp_get_thread_num() * of_thread * SIDES, of_thread * SIDES, buffers);
    kernel_time("exchange_release", begin);

    begin = KERNEL_REGION("compute");
#pragma omp parallel
    {
      const int rank = omp_get_thread_num();
      struct patch* mine = patches + rank * of_thread;
      struct patch shared = {0};
      if (scratch) allocate_temporaries(&shared, n, rank);
      for (struct patch* patch = mine; patch < mine + of_thread; ++patch) {
        double* const* flux = scratch ? shared.flux : patch->flux;
        compute_patch(patch->field, flux[0], flux[1], flux[2], n, courant[0], courant[1], courant[2]);
      }
      if (scratch) free_temporaries(&shared);
    }
    kernel_time("compute", begin);
  }
  HOMENODE_STEP(-1);

  const int code = p[CHECK].value ? kernel_verdict("advection3d_messages", wrong_cells(patches, count, &mode, n, steps),
                                                   "cells or sums differ from the solution")
                                  : 0;
  for (int64_t number = 0; number < count; ++number) {
    free(patches[number].field);
    if (!scratch) free_temporaries(&patches[number]);
  }
  free(patches);
  free(messages);
  free(neighbour);
  return code;
}
