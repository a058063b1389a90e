/* srad_v2: speckle-reducing anisotropic diffusion of an image, two sweeps a step and serial statistics.
 * Source: S. Che et al., "Rodinia: A benchmark suite for heterogeneous computing" (IISWC 2009), SRAD, OpenMP version 2: single
 * precision, rows one after the other in memory. Written anew from the equations (srad.h). In the order of the program:
 *   random numbers in (0, 1) and their exponentials in a second array, serial; then each step: statistics of the region of
 *   interest, serial: its cells, which the threads have just written, come to the master; "derive": differences to four neighbours
 *   and the diffusion coefficient of each cell; "update": the divergence of the flow is added to the image; both share out rows with
 *   schedule(static).
 * Rodinia's problem: rows=2048 cols=2048 roi=128. init=parallel shares out the input and its exponentials as the sweeps are. The sums of
 * the statistics are in double precision, see srad_v1.
 * Array bytes: 7 * 4 * rows * cols, and 8 * (rows + cols) of indices.
 * Self-check: the exponentials; of the last step the statistics, in two passes, and each cell from an independent evaluation in
 * double precision as a sum of flows, within the rounding of single precision.
 */
#include "srad.h"

/* A random number in (0, 1) from a cell's index. */
KERNEL_UNTRACED static float random_number(int64_t cell) {
  uint64_t x = (uint64_t)cell * 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
  return ((float)(x >> 41) + 0.5f) * 0x1p-23f;
}

KERNEL_INLINE static void random_row(float* random, int64_t columns, int64_t row) {
  for (int64_t k = row * columns; k < (row + 1) * columns; ++k) random[k] = random_number(k);
}

KERNEL_INLINE static void extract_row(float* restrict image, const float* restrict random, int64_t columns, int64_t row) {
  for (int64_t k = row * columns; k < (row + 1) * columns; ++k) image[k] = expf(random[k]);
}

KERNEL_INLINE static void derive_row(const float* restrict image, float* restrict north, float* restrict south, float* restrict west,
                                     float* restrict east, float* restrict coefficient, int64_t row_north, int64_t row_south,
                                     const int32_t* restrict column_west, const int32_t* restrict column_east, int64_t columns, int64_t row,
                                     float speckle) {
  for (int64_t j = 0; j < columns; ++j) {
    const int64_t k = row * columns + j;
    const float here = image[k];
    const float n = image[row_north * columns + j] - here, s = image[row_south * columns + j] - here;
    const float w = image[row * columns + column_west[j]] - here, e = image[row * columns + column_east[j]] - here;
    north[k] = n;
    south[k] = s;
    west[k] = w;
    east[k] = e;
    coefficient[k] = srad_coefficient(here, n, s, w, e, speckle);
  }
}

KERNEL_INLINE static void update_row(float* restrict image, const float* restrict north, const float* restrict south,
                                     const float* restrict west, const float* restrict east, const float* restrict coefficient,
                                     int64_t row_south, const int32_t* restrict column_east, int64_t columns, int64_t row) {
  for (int64_t j = 0; j < columns; ++j) {
    const int64_t k = row * columns + j;
    const float here = coefficient[k];
    const float divergence = here * north[k] + coefficient[row_south * columns + j] * south[k] + here * west[k] +
                             coefficient[row * columns + column_east[j]] * east[k];
    image[k] += SRAD_STEP * divergence;
  }
}

KERNEL_UNTRACED static int64_t wrong_exponentials(const float* image, const float* random, int64_t cells) {
  int64_t wrong = 0;
  for (int64_t k = 0; k < cells; ++k)
    wrong += random[k] != random_number(k) || !(fabs((double)image[k] - exp((double)random[k])) <= 4e-7 * (double)image[k]);
  return wrong;
}

int main(int argc, char** argv) {
  enum { ROWS, COLS, ROI, STEPS, INIT, CHECK, COUNT };
  struct kernel_parameter p[COUNT] = {{"rows", 128, 2, 1 << 16, NULL}, {"cols", 128, 2, 1 << 16, NULL},      {"roi", 32, 2, 1 << 16, NULL},
                                      {"steps", 2, 1, 1 << 20, NULL},  {"init", 0, 0, 0, "serial|parallel"}, {"check", 1, 0, 1, NULL}};
  kernel_parameters(argc, argv, "srad_v2", p, COUNT);
  const int64_t rows = p[ROWS].value, columns = p[COLS].value, cells = rows * columns, roi = p[ROI].value, steps = p[STEPS].value;
  const int in_parallel = p[INIT].value == 1;
  kernel_require(roi <= rows && roi <= columns, "srad_v2", "'roi' is at most 'rows' and 'cols'");
  float* random = kernel_allocate("srad_v2", (size_t)cells, sizeof(float));
  float* image = kernel_allocate("srad_v2", (size_t)cells, sizeof(float));
  float* coefficient = kernel_allocate("srad_v2", (size_t)cells, sizeof(float));
  int32_t* row_north = kernel_allocate("srad_v2", (size_t)rows, sizeof(int32_t));
  int32_t* row_south = kernel_allocate("srad_v2", (size_t)rows, sizeof(int32_t));
  int32_t* column_west = kernel_allocate("srad_v2", (size_t)columns, sizeof(int32_t));
  int32_t* column_east = kernel_allocate("srad_v2", (size_t)columns, sizeof(int32_t));
  float* north = kernel_allocate("srad_v2", (size_t)cells, sizeof(float));
  float* south = kernel_allocate("srad_v2", (size_t)cells, sizeof(float));
  float* west = kernel_allocate("srad_v2", (size_t)cells, sizeof(float));
  float* east = kernel_allocate("srad_v2", (size_t)cells, sizeof(float));
  float* kept = p[CHECK].value ? kernel_allocate("srad_v2", (size_t)cells, sizeof(float)) : NULL;

  double begin = KERNEL_REGION("indices");
  srad_neighbours(row_north, row_south, rows);
  srad_neighbours(column_west, column_east, columns);
  kernel_time("indices", begin);

  begin = KERNEL_REGION("init");
  if (in_parallel) {
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < rows; ++i) random_row(random, columns, i);
  } else {
    for (int64_t i = 0; i < rows; ++i) random_row(random, columns, i);
  }
  kernel_time("init", begin);

  begin = KERNEL_REGION("extract");
  if (in_parallel) {
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < rows; ++i) extract_row(image, random, columns, i);
  } else {
    for (int64_t i = 0; i < rows; ++i) extract_row(image, random, columns, i);
  }
  kernel_time("extract", begin);
  int64_t wrong = kept ? wrong_exponentials(image, random, cells) : 0;

  float speckle = 0;
  for (int64_t step = 0; step < steps; ++step) {
    if (kept) srad_keep(kept, image, cells);
    HOMENODE_LABEL("statistics"); /* before the step, so that the serial code before keeps its own label */
    HOMENODE_STEP(step);
    begin = kernel_clock();
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < roi; ++i)
      for (int64_t j = 0; j < roi; ++j) {
        const double value = (double)image[i * columns + j];
        sum += value;
        squares += value * value;
      }
    const double mean = sum / (double)(roi * roi);
    speckle = (float)((squares / (double)(roi * roi) - mean * mean) / (mean * mean));
    kernel_time("statistics", begin);

    begin = KERNEL_REGION("derive");
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < rows; ++i)
      derive_row(image, north, south, west, east, coefficient, row_north[i], row_south[i], column_west, column_east, columns, i, speckle);
    kernel_time("derive", begin);

    begin = KERNEL_REGION("update");
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < rows; ++i) update_row(image, north, south, west, east, coefficient, row_south[i], column_east, columns, i);
    kernel_time("update", begin);
  }
  HOMENODE_STEP(-1);
  if (kept)
    wrong += srad_wrong_speckle(speckle, kept, columns, 0, roi, 0, roi) + srad_wrong_cells(image, kept, rows, columns, (double)speckle);

  const int code = kept ? kernel_verdict("srad_v2", wrong, "cells or statistics differ from the equations") : 0;
  free(random);
  free(image);
  free(coefficient);
  free(row_north);
  free(row_south);
  free(column_west);
  free(column_east);
  free(north);
  free(south);
  free(west);
  free(east);
  free(kept);
  return code;
}
