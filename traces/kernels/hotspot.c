/* hotspot: transient temperature of a chip on a grid, a two-dimensional five-point stencil with a power map.
 * Source: S. Che et al., "Rodinia: A benchmark suite for heterogeneous computing" (IISWC 2009), HotSpot in its OpenMP
 * version: single precision, chip constants as below, worksharing with schedule(static) over square blocks of 16 x 16 cells
 * (not over rows), the outermost blocks testing each cell for the edge of the chip. Written anew from the equations:
 *   T' = T + step/Cap * (P + (E + W - 2T)/Rx + (N + S - 2T)/Ry + (ambient - T)/Rz), a missing neighbour exchanging no heat.
 * Rodinia reads temperature and power from files, serially; here a formula fills them, serially (init=serial, Rodinia's
 * placement) or over the same blocks as the stencil (init=parallel). Rodinia's calloc of fresh pages touches nothing and is
 * malloc here: temperature and power are first written by the initialisation, the result by the first step.
 * Self-check: the last step, cell by cell, against an independent serial evaluation in double precision as a sum of heat
 * flows between cells, within the rounding of single precision. Rodinia's time step changes a cell of the default size by
 * about 1e-3 degrees, some 200 times that rounding, as neighbours differ by tens of degrees here.
 */
#include "kernel.h"

enum { BLOCK = 16 };

static const float ambient = 80.0f;

/* Of one cell: time step by heat capacity, and conductances towards its neighbours in a row, in a column, and to the package. */
struct chip {
  float step_per_capacity, row, column, package;
};

/* Rodinia's chip: 16 mm x 16 mm x 0.5 mm of silicon, at most 300 W/cm2, precision 0.001 degrees. */
KERNEL_UNTRACED static struct chip chip_constants(int64_t size) {
  const float t_chip = 0.0005f, chip_height = 0.016f, chip_width = 0.016f, factor_chip = 0.5f, specific_heat = 1.75e6f;
  const float conductivity = 100.0f, max_power_density = 3.0e6f, precision = 0.001f;
  const float cell_height = chip_height / (float)size, cell_width = chip_width / (float)size;
  const float capacity = factor_chip * specific_heat * t_chip * cell_width * cell_height;
  const float max_slope = max_power_density / (factor_chip * t_chip * specific_heat);
  const float step = precision / max_slope / 1000.0f;
  return (struct chip){.step_per_capacity = step / capacity,
                       .row = 2.0f * conductivity * t_chip * cell_height / cell_width,
                       .column = 2.0f * conductivity * t_chip * cell_width / cell_height,
                       .package = conductivity * cell_height * cell_width / t_chip};
}

KERNEL_INLINE static void initialise_block(float* temperature, float* power, int64_t size, int64_t block) {
  const int64_t blocks = size / BLOCK, row = block / blocks * BLOCK, column = block % blocks * BLOCK;
  for (int64_t r = row; r < row + BLOCK; ++r)
    for (int64_t c = column; c < column + BLOCK; ++c) {
      const uint64_t cell = (uint64_t)(r * size + c);
      temperature[cell] = 20.0f + (float)(cell * 2654435761u % 2048u) * (13.0f / 256.0f);
      power[cell] = (float)(cell * 40503u % 1024u) * 1e-6f;
    }
}

KERNEL_INLINE static void inner_block(float* restrict result, const float* restrict temperature, const float* restrict power, int64_t size,
                                      struct chip chip, int64_t row, int64_t column) {
  for (int64_t r = row; r < row + BLOCK; ++r)
    for (int64_t c = column; c < column + BLOCK; ++c) {
      const float* cell = temperature + r * size + c;
      const float here = cell[0];
      result[r * size + c] =
          here + chip.step_per_capacity * (power[r * size + c] + (cell[size] + cell[-size] - 2.0f * here) * chip.column +
                                           (cell[1] + cell[-1] - 2.0f * here) * chip.row + (ambient - here) * chip.package);
    }
}

KERNEL_INLINE static void edge_block(float* restrict result, const float* restrict temperature, const float* restrict power, int64_t size,
                                     struct chip chip, int64_t row, int64_t column) {
  for (int64_t r = row; r < row + BLOCK; ++r)
    for (int64_t c = column; c < column + BLOCK; ++c) {
      const float* cell = temperature + r * size + c;
      const float here = cell[0];
      float vertical = 0, horizontal = 0;
      if (r > 0) vertical += cell[-size] - here;
      if (r < size - 1) vertical += cell[size] - here;
      if (c > 0) horizontal += cell[-1] - here;
      if (c < size - 1) horizontal += cell[1] - here;
      result[r * size + c] = here + chip.step_per_capacity * (power[r * size + c] + vertical * chip.column + horizontal * chip.row +
                                                              (ambient - here) * chip.package);
    }
}

KERNEL_INLINE static void update_block(float* restrict result, const float* restrict temperature, const float* restrict power, int64_t size,
                                       struct chip chip, int64_t block) {
  const int64_t blocks = size / BLOCK, block_row = block / blocks, block_column = block % blocks;
  if (block_row == 0 || block_row == blocks - 1 || block_column == 0 || block_column == blocks - 1)
    edge_block(result, temperature, power, size, chip, block_row * BLOCK, block_column * BLOCK);
  else
    inner_block(result, temperature, power, size, chip, block_row * BLOCK, block_column * BLOCK);
}

/* Heat that flows from `other` to `here` through a conductance, in double precision. */
KERNEL_UNTRACED static double heat(const float* old, int64_t here, int64_t other, float conductance) {
  return ((double)old[other] - (double)old[here]) * (double)conductance;
}

/* Temperatures stay in 20 .. 128 degrees, where rounding a single-precision result errs by at most 2^-18 = 3.8e-6; the
 * terms themselves are off by a few roundings of their own size. */
KERNEL_UNTRACED static int64_t wrong_cells(const float* new, const float* old, const float* power, int64_t size, struct chip chip) {
  int64_t wrong = 0;
  for (int64_t cell = 0; cell < size * size; ++cell) {
    const int64_t r = cell / size, c = cell % size;
    double flow = (double)power[cell] + ((double)ambient - (double)old[cell]) * (double)chip.package;
    if (c + 1 < size) flow += heat(old, cell, cell + 1, chip.row);
    if (c >= 1) flow += heat(old, cell, cell - 1, chip.row);
    if (r + 1 < size) flow += heat(old, cell, cell + size, chip.column);
    if (r >= 1) flow += heat(old, cell, cell - size, chip.column);
    const double change = (double)chip.step_per_capacity * flow;
    const double error = (double)new[cell] - ((double)old[cell] + change), tolerance = 4e-6 + 1e-5 * (change < 0 ? -change : change);
    if (!(error <= tolerance && error >= -tolerance)) ++wrong;
  }
  return wrong;
}

int main(int argc, char** argv) {
  enum { SIZE, STEPS, INIT, CHECK, COUNT };
  struct kernel_parameter p[COUNT] = {{"size", 256, 2 * BLOCK, 1 << 16, NULL},
                                      {"steps", 2, 1, 1 << 20, NULL},
                                      {"init", 0, 0, 0, "serial|parallel"},
                                      {"check", 1, 0, 1, NULL}};
  kernel_parameters(argc, argv, "hotspot", p, COUNT);
  const int64_t size = p[SIZE].value;
  kernel_require(size % BLOCK == 0, "hotspot", "'size' is a multiple of 16, the edge of Rodinia's blocks");
  const struct chip constants = chip_constants(size);
  const float factor = constants.step_per_capacity, row = constants.row, column = constants.column, package = constants.package;
  const int64_t blocks = (size / BLOCK) * (size / BLOCK);
  const size_t cells = (size_t)size * (size_t)size;
  float* temperature = kernel_allocate("hotspot", cells, sizeof(float));
  float* power = kernel_allocate("hotspot", cells, sizeof(float));
  float* result = kernel_allocate("hotspot", cells, sizeof(float));

  double begin = KERNEL_REGION("init");
  if (p[INIT].value == 1) {
#pragma omp parallel for schedule(static)
    for (int64_t block = 0; block < blocks; ++block) initialise_block(temperature, power, size, block);
  } else {
    for (int64_t block = 0; block < blocks; ++block) initialise_block(temperature, power, size, block);
  }
  kernel_time("init", begin);

  for (int64_t step = 0; step < p[STEPS].value; ++step) {
    HOMENODE_STEP(step);
    begin = KERNEL_REGION("sweep");
#pragma omp parallel for schedule(static)
    for (int64_t block = 0; block < blocks; ++block)
      update_block(result, temperature, power, size, (struct chip){factor, row, column, package}, block);
    kernel_time("sweep", begin);
    float* swap = temperature;
    temperature = result;
    result = swap;
  }
  HOMENODE_STEP(-1);

  const int code = p[CHECK].value ? kernel_verdict("hotspot", wrong_cells(temperature, result, power, size, constants),
                                                   "cells differ from the heat flows")
                                  : 0;
  free(temperature);
  free(power);
  free(result);
  return code;
}
