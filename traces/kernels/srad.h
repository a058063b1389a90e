/* What srad_v1 and srad_v2 share: the equations of speckle-reducing anisotropic diffusion at one cell, and an independent
 * evaluation of a step for the self-checks.
 * Source: Y. Yu, S. T. Acton, "Speckle reducing anisotropic diffusion", IEEE Transactions on Image Processing 11 (2002);
 * equation numbers are that paper's. An image has `lines` of `length` cells each, one after the other; a missing neighbour
 * is the cell itself.
 */
#ifndef HOMENODE_SRAD_H
#define HOMENODE_SRAD_H

#include "kernel.h"

#include <math.h>

/* Rodinia's step: lambda / 4 with lambda = 0.5. */
#define SRAD_STEP 0.125f

/* The diffusion coefficient, equations 31, 33 and 35: of a cell's value, the differences to its neighbours, and the squared
 * coefficient of variation of the speckle. */
KERNEL_INLINE static float srad_coefficient(float here, float north, float south, float west, float east, float speckle) {
  const float gradient = (north * north + south * south + west * west + east * east) / (here * here);
  const float laplacian = (north + south + west + east) / here;
  const float denominator = 1.0f + 0.25f * laplacian;
  const float variation = (0.5f * gradient - 0.0625f * laplacian * laplacian) / (denominator * denominator);
  const float coefficient = 1.0f / (1.0f + (variation - speckle) / (speckle * (1.0f + speckle)));
  return coefficient < 0.0f ? 0.0f : coefficient > 1.0f ? 1.0f : coefficient;
}

/* The indices before and after each index; at the ends the index itself. */
KERNEL_INLINE static void srad_neighbours(int32_t* before, int32_t* after, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    before[i] = (int32_t)(i - 1);
    after[i] = (int32_t)(i + 1);
  }
  before[0] = 0;
  after[count - 1] = (int32_t)(count - 1);
}

KERNEL_UNTRACED static void srad_keep(float* kept, const float* image, int64_t cells) {
  for (int64_t cell = 0; cell < cells; ++cell) kept[cell] = image[cell];
}

KERNEL_UNTRACED static double srad_expected_coefficient(const float* image, int64_t lines, int64_t length, int64_t cell, double speckle) {
  const int64_t line = cell / length, element = cell % length;
  const int64_t neighbour[4] = {line > 0 ? cell - length : cell, line < lines - 1 ? cell + length : cell, element > 0 ? cell - 1 : cell,
                                element < length - 1 ? cell + 1 : cell};
  double squares = 0, sum = 0;
  for (int side = 0; side < 4; ++side) {
    const double relative = (double)image[neighbour[side]] / (double)image[cell] - 1.0;
    squares += relative * relative;
    sum += relative;
  }
  const double variation = (squares / 2 - sum * sum / 16) / ((1 + sum / 4) * (1 + sum / 4));
  return fmin(1.0, fmax(0.0, 1 / (1 + (variation - speckle) / (speckle * (1 + speckle)))));
}

/* Cells that one step did not take from `before` to `after`, as a sum of flows to and from the neighbours in double precision. The
 * coefficient between two cells is that of the one with the higher index. */
KERNEL_UNTRACED static int64_t srad_wrong_cells(const float* after, const float* before, int64_t lines, int64_t length, double speckle) {
  const int64_t cells = lines * length;
  int64_t wrong = 0;
  double* coefficient = kernel_allocate("srad", (size_t)cells, sizeof(double));
  for (int64_t cell = 0; cell < cells; ++cell) coefficient[cell] = srad_expected_coefficient(before, lines, length, cell, speckle);
  for (int64_t cell = 0; cell < cells; ++cell) {
    const double here = (double)before[cell];
    double flow = 0, flows = 0;
    for (int side = 0; side < 4; ++side) {
      const int64_t offset = side / 2 ? 1 : length, other = side % 2 ? cell + offset : cell - offset;
      const int inside = side / 2 ? other >= 0 && other / length == cell / length : other >= 0 && other < cells;
      if (!inside) continue;
      const double difference = coefficient[other > cell ? other : cell] * ((double)before[other] - here);
      flow += difference;
      flows += fabs(difference);
    }
    /* Roundings of single precision: of the result once, of each flow a few of its own size, of its coefficient relatively. */
    const double step = (double)SRAD_STEP, tolerance = 1.2e-7 * here + step * 4e-6 * flows;
    if (!(fabs((double)after[cell] - (here + step * flow)) <= tolerance)) ++wrong;
  }
  free(coefficient);
  return wrong;
}

/* The squared coefficient of variation of a rectangle of `before`, as mean square deviation over squared mean. */
KERNEL_UNTRACED static int srad_wrong_speckle(float speckle, const float* before, int64_t length, int64_t line_low, int64_t line_high,
                                              int64_t low, int64_t high) {
  const double count = (double)((line_high - line_low) * (high - low));
  double sum = 0, deviations = 0;
  for (int64_t line = line_low; line < line_high; ++line)
    for (int64_t element = low; element < high; ++element) sum += (double)before[line * length + element];
  for (int64_t line = line_low; line < line_high; ++line)
    for (int64_t element = low; element < high; ++element) deviations += pow((double)before[line * length + element] - sum / count, 2);
  const double expected = deviations / count / (sum / count * (sum / count));
  return !(fabs((double)speckle - expected) <= 1e-6 * expected);
}

#endif
