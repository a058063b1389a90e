/* srad_v1: speckle-reducing anisotropic diffusion of an image, with neighbour indices calculated in advance.
 * Source: S. Che et al., "Rodinia: A benchmark suite for heterogeneous computing" (IISWC 2009), SRAD, OpenMP version 1: single
 * precision, columns one after the other in memory, four arrays of neighbour indices that every thread reads, the whole image as the
 * region of interest. Written anew from the equations (srad.h). In the order of the program:
 *   extraction, image = exp(image / 255), serial; then each step: statistics of the image, serial and, as Rodinia has it, across
 *   the columns, so that they come to the master line by line; "derive": differences to four neighbours and the diffusion
 *   coefficient of each cell; "update": the divergence of the flow is added to the image; both share out columns with
 *   schedule(static); at the end compression, image = 255 log(image), serial.
 * Rodinia reads a picture (rows=502 cols=458 steps=100 are its figures); here a formula makes one. init=parallel shares out the
 * input and the extraction as the sweeps are. The sums of the statistics are in double precision, as single precision is off
 * by more than their purpose bears from some 10^6 cells on; it changes no access.
 * Self-check: extraction and compression cell by cell; of the last step the statistics, in two passes, and each cell from an
 * independent evaluation in double precision as a sum of flows, within the rounding of single precision.
 */
#include "srad.h"

/* A speckled checkerboard of grey values from 0 to 255, in place of Rodinia's input. */
KERNEL_UNTRACED static float pixel(int64_t row, int64_t column) {
  const uint32_t noise = ((uint32_t)row * 2654435761u ^ (uint32_t)column * 40503u) * 2246822519u;
  return (float)(((row / 8 + column / 8) % 2 ? 160 : 64) + (int)(noise >> 25) - 64);
}

KERNEL_INLINE static void read_column(float* image, int64_t rows, int64_t column) {
  for (int64_t i = 0; i < rows; ++i) image[column * rows + i] = pixel(i, column);
}

KERNEL_INLINE static void extract_column(float* image, int64_t rows, int64_t column) {
  for (int64_t k = column * rows; k < (column + 1) * rows; ++k) image[k] = expf(image[k] / 255.0f);
}

KERNEL_INLINE static void derive_column(const float* restrict image, float* restrict north, float* restrict south, float* restrict west,
                                        float* restrict east, float* restrict coefficient, const int32_t* restrict row_north,
                                        const int32_t* restrict row_south, int64_t column_west, int64_t column_east, int64_t rows,
                                        int64_t column, float speckle) {
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t k = column * rows + i;
    const float here = image[k];
    const float n = image[column * rows + row_north[i]] - here, s = image[column * rows + row_south[i]] - here;
    const float w = image[column_west * rows + i] - here, e = image[column_east * rows + i] - here;
    north[k] = n;
    south[k] = s;
    west[k] = w;
    east[k] = e;
    coefficient[k] = srad_coefficient(here, n, s, w, e, speckle);
  }
}

KERNEL_INLINE static void update_column(float* restrict image, const float* restrict north, const float* restrict south,
                                        const float* restrict west, const float* restrict east, const float* restrict coefficient,
                                        const int32_t* restrict row_south, int64_t column_east, int64_t rows, int64_t column) {
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t k = column * rows + i;
    const float here = coefficient[k];
    const float divergence = here * north[k] + coefficient[column * rows + row_south[i]] * south[k] + here * west[k] +
                             coefficient[column_east * rows + i] * east[k];
    image[k] += SRAD_STEP * divergence;
  }
}

KERNEL_UNTRACED static int64_t wrong_extractions(const float* image, int64_t rows, int64_t columns) {
  int64_t wrong = 0;
  for (int64_t k = 0; k < rows * columns; ++k)
    wrong += !(fabs((double)image[k] - exp((double)pixel(k % rows, k / rows) / 255)) <= 4e-7 * (double)image[k]);
  return wrong;
}

/* The logarithm of a single-precision number near 1 is off by its rounding; hence the absolute tolerance. */
KERNEL_UNTRACED static int64_t wrong_compressions(const float* compressed, const float* image, int64_t cells) {
  int64_t wrong = 0;
  for (int64_t k = 0; k < cells; ++k) wrong += !(fabs((double)compressed[k] - 255 * log((double)image[k])) <= 1e-4);
  return wrong;
}

int main(int argc, char** argv) {
  enum { ROWS, COLS, STEPS, INIT, CHECK, COUNT };
  struct kernel_parameter p[COUNT] = {{"rows", 128, 2, 1 << 16, NULL},
                                      {"cols", 96, 2, 1 << 16, NULL},
                                      {"steps", 2, 1, 1 << 20, NULL},
                                      {"init", 0, 0, 0, "serial|parallel"},
                                      {"check", 1, 0, 1, NULL}};
  kernel_parameters(argc, argv, "srad_v1", p, COUNT);
  const int64_t rows = p[ROWS].value, columns = p[COLS].value, cells = rows * columns, steps = p[STEPS].value;
  const int in_parallel = p[INIT].value == 1;
  float* image = kernel_allocate("srad_v1", (size_t)cells, sizeof(float));
  float* north = kernel_allocate("srad_v1", (size_t)cells, sizeof(float));
  float* south = kernel_allocate("srad_v1", (size_t)cells, sizeof(float));
  float* west = kernel_allocate("srad_v1", (size_t)cells, sizeof(float));
  float* east = kernel_allocate("srad_v1", (size_t)cells, sizeof(float));
  float* coefficient = kernel_allocate("srad_v1", (size_t)cells, sizeof(float));
  int32_t* row_north = kernel_allocate("srad_v1", (size_t)rows, sizeof(int32_t));
  int32_t* row_south = kernel_allocate("srad_v1", (size_t)rows, sizeof(int32_t));
  int32_t* column_west = kernel_allocate("srad_v1", (size_t)columns, sizeof(int32_t));
  int32_t* column_east = kernel_allocate("srad_v1", (size_t)columns, sizeof(int32_t));
  float* kept = p[CHECK].value ? kernel_allocate("srad_v1", (size_t)cells, sizeof(float)) : NULL;
  int64_t wrong = 0;

  double begin = KERNEL_REGION("init");
  if (in_parallel) {
#pragma omp parallel for schedule(static)
    for (int64_t j = 0; j < columns; ++j) read_column(image, rows, j);
  } else {
    for (int64_t j = 0; j < columns; ++j) read_column(image, rows, j);
  }
  kernel_time("init", begin);

  begin = KERNEL_REGION("indices");
  srad_neighbours(row_north, row_south, rows);
  srad_neighbours(column_west, column_east, columns);
  kernel_time("indices", begin);

  begin = KERNEL_REGION("extract");
  if (in_parallel) {
#pragma omp parallel for schedule(static)
    for (int64_t j = 0; j < columns; ++j) extract_column(image, rows, j);
  } else {
    for (int64_t j = 0; j < columns; ++j) extract_column(image, rows, j);
  }
  kernel_time("extract", begin);
  if (kept) wrong += wrong_extractions(image, rows, columns);

  float speckle = 0;
  for (int64_t step = 0; step < steps; ++step) {
    if (kept) srad_keep(kept, image, cells);
    HOMENODE_LABEL("statistics"); /* before the step, so that the serial code before keeps its own label */
    HOMENODE_STEP(step);
    begin = kernel_clock();
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) {
        const double value = (double)image[j * rows + i];
        sum += value;
        squares += value * value;
      }
    const double mean = sum / (double)cells;
    speckle = (float)((squares / (double)cells - mean * mean) / (mean * mean));
    kernel_time("statistics", begin);

    begin = KERNEL_REGION("derive");
#pragma omp parallel for schedule(static)
    for (int64_t j = 0; j < columns; ++j)
      derive_column(image, north, south, west, east, coefficient, row_north, row_south, column_west[j], column_east[j], rows, j, speckle);
    kernel_time("derive", begin);

    begin = KERNEL_REGION("update");
#pragma omp parallel for schedule(static)
    for (int64_t j = 0; j < columns; ++j) update_column(image, north, south, west, east, coefficient, row_south, column_east[j], rows, j);
    kernel_time("update", begin);
  }
  HOMENODE_STEP(-1);
  if (kept) {
    wrong += srad_wrong_speckle(speckle, kept, rows, 0, columns, 0, rows) + srad_wrong_cells(image, kept, columns, rows, (double)speckle);
    srad_keep(kept, image, cells);
  }

  begin = KERNEL_REGION("compress");
  for (int64_t k = 0; k < cells; ++k) image[k] = logf(image[k]) * 255.0f;
  kernel_time("compress", begin);
  if (kept) wrong += wrong_compressions(image, kept, cells);

  const int code = kept ? kernel_verdict("srad_v1", wrong, "cells or statistics differ from the equations") : 0;
  free(image);
  free(north);
  free(south);
  free(west);
  free(east);
  free(coefficient);
  free(row_north);
  free(row_south);
  free(column_west);
  free(column_east);
  free(kept);
  return code;
}
