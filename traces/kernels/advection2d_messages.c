/* advection2d_messages: advection2d whose patches exchange their borders through buffers that are allocated in every step (messages.h).
 * Source: as advection2d's; S1 names frameworks for patches and prints none of their buffers.
 * A step: "exchange_pack" allocates the buffers and fills them, "exchange_unpack" fills the ghost cells from the neighbours' messages,
 * "exchange_release" frees the buffers, "compute" is advection2d's. Self-check: advection2d's.
 */
#define main advection2d_main
#include "advection2d.c" /* NOLINT(bugprone-suspicious-include): the patch, its fluxes, the self-check */
#undef main
#include "messages.h"

KERNEL_INLINE static void pack_patch(double* const* message, const double* field, int64_t n) {
  const int64_t row = n + 2;
  pack(message[WEST], field + row + 1, 1, n, 0, row);
  pack(message[EAST], field + row + n, 1, n, 0, row);
  pack(message[SOUTH], field + row + 1, 1, n, 0, 1);
  pack(message[NORTH], field + n * row + 1, 1, n, 0, 1);
}

/* From the messages that the neighbours sent the other way. */
KERNEL_INLINE static void unpack_patch(double* field, double* const* west, double* const* east, double* const* south, double* const* north,
                                       int64_t n) {
  const int64_t row = n + 2;
  unpack(field + row, west[EAST], 1, n, 0, row);
  unpack(field + row + n + 1, east[WEST], 1, n, 0, row);
  unpack(field + 1, south[NORTH], 1, n, 0, 1);
  unpack(field + (n + 1) * row + 1, north[SOUTH], 1, n, 0, 1);
}

/* The messages of a patch's neighbour on a side. */
static inline double* const* sent_by(double* const* messages, const int64_t* neighbour, int64_t patch, int side) {
  return messages + neighbour[patch * SIDES + side] * SIDES;
}

int main(int argc, char** argv) {
  enum { PATCH, PATCHES, STEPS, TEMPORARIES, LAYOUT, BUFFERS, CHECK, COUNT };
  struct kernel_parameter p[COUNT] = {{"patch", 32, 2, 1 << 14, NULL},
                                      {"patches", 4, 1, 1 << 20, NULL},
                                      {"steps", 2, 1, 1 << 20, NULL},
                                      {"temporaries", 0, 0, 0, "reuse|scratch"},
                                      {"layout", 0, 0, 0, "strip|compact"},
                                      {"buffers", 0, 0, 0, "thread|message"},
                                      {"check", 1, 0, 1, NULL}};
  kernel_parameters(argc, argv, "advection2d_messages", p, COUNT);
  const int64_t n = p[PATCH].value, of_thread = p[PATCHES].value, steps = p[STEPS].value, threads = patch_threads();
  const int scratch = p[TEMPORARIES].value == 1;
  const enum buffers buffers = (enum buffers)p[BUFFERS].value;
  const struct patch_box box = patch_box(threads, of_thread, 2, (enum patch_layout)p[LAYOUT].value);
  const struct advected_mode mode = {2, {n * patch_extent(&box, 0), n * patch_extent(&box, 1), 1}};
  const int64_t count = threads * of_thread;
  struct patch* patches = kernel_allocate("advection2d_messages", (size_t)count, sizeof(struct patch));
  double** messages = kernel_allocate("advection2d_messages", (size_t)(count * SIDES), sizeof(double*));
  int64_t* neighbour = kernel_allocate("advection2d_messages", (size_t)(count * SIDES), sizeof(int64_t));

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
      patch->field = patch_block("advection2d_messages", field_cells(n), rank);
      initialise_patch(patch->field, &mode, patch->x, patch->y, n);
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
      allocate_messages("advection2d_messages", messages + first * SIDES, of_thread * SIDES, n, rank, buffers);
      for (int64_t number = first; number < first + of_thread; ++number) pack_patch(messages + number * SIDES, patches[number].field, n);
    }
    kernel_time("exchange_pack", begin);

    begin = KERNEL_REGION("exchange_unpack");
#pragma omp parallel
    {
      const int64_t first = omp_get_thread_num() * of_thread;
      for (int64_t number = first; number < first + of_thread; ++number)
        unpack_patch(patches[number].field, sent_by(messages, neighbour, number, WEST), sent_by(messages, neighbour, number, EAST),
                     sent_by(messages, neighbour, number, SOUTH), sent_by(messages, neighbour, number, NORTH), n);
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
        const struct patch* temporaries = scratch ? &shared : patch;
        compute_patch(patch->field, temporaries->flux_x, temporaries->flux_y, n, courant[0], courant[1]);
      }
      if (scratch) free_temporaries(&shared);
    }
    kernel_time("compute", begin);
  }
  HOMENODE_STEP(-1);

  const int code = p[CHECK].value ? kernel_verdict("advection2d_messages", wrong_cells(patches, count, &mode, n, steps),
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
