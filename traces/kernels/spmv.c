/* spmv: y = A x with a sparse matrix in compressed rows.
 * Source: the compressed row format and its product, Y. Saad, Iterative Methods for Sparse Linear Systems (2003).
 * Matrices: uniform, `width` entries a row in random columns; skewed, after the degrees of real graphs: row i has about
 * width / 2 x sqrt(rows / (i + 1)) entries (somewhat less than `width` on average), and low columns are drawn more often, with a density as
 * 1 / sqrt(column). Self-check: entries and elements are small integers, so each sum is exact, and equals the one made from the formulas
 * alone.
 */
#include "kernel.h"
#include "mixed.h"

#include <math.h>

struct shape {
  int64_t rows, width;
  int skewed;
};

static inline double element(int64_t i) { return (double)(i % 1021); }
static inline double entry(int64_t k) { return (double)(1 + k % 7); }

KERNEL_INLINE static int64_t length_of(const struct shape* of, int64_t row) {
  if (!of->skewed) return of->width;
  const double length = 0.5 * (double)of->width * sqrt((double)of->rows / (double)(row + 1));
  return length < 1 ? 1 : length > (double)of->rows ? of->rows : (int64_t)length;
}
KERNEL_INLINE static uint32_t column_of(const struct shape* of, int64_t k) {
  const double fraction = mixed_fraction((uint64_t)k);
  return (uint32_t)((of->skewed ? fraction * fraction : fraction) * (double)of->rows);
}

KERNEL_UNTRACED static double expected(const struct shape* of, int64_t first, int64_t end) {
  double sum = 0;
  for (int64_t k = first; k < end; ++k) sum += entry(k) * element(column_of(of, k));
  return sum;
}

int main(int argc, char** argv) {
  enum { ROWS, WIDTH, MATRIX, REPEATS, CHECK, COUNT };
  struct kernel_parameter p[COUNT] = {{"rows", 10000, 1, ((int64_t)1 << 31) - 1, NULL},
                                      {"width", 8, 1, 1 << 16, NULL},
                                      {"matrix", 0, 0, 0, "uniform|skewed"},
                                      {"repeats", 1, 1, 1 << 20, NULL},
                                      {"check", 1, 0, 1, NULL}};
  kernel_parameters(argc, argv, "spmv", p, COUNT);
  const struct shape of = {p[ROWS].value, p[WIDTH].value, (int)p[MATRIX].value};
  const int64_t rows = of.rows;
  int64_t* first = kernel_allocate("spmv", (size_t)rows + 1, sizeof(int64_t));

  double begin = KERNEL_REGION("lengths");
  int64_t entries = 0;
  for (int64_t i = 0; i < rows; ++i) {
    first[i] = entries;
    entries += length_of(&of, i);
  }
  first[rows] = entries;
  kernel_time("lengths", begin);

  uint32_t* column = kernel_allocate("spmv", (size_t)entries, sizeof(uint32_t));
  double* value = kernel_allocate("spmv", (size_t)entries, sizeof(double));
  double* x = kernel_allocate("spmv", (size_t)rows, sizeof(double));
  double* y = kernel_allocate("spmv", (size_t)rows, sizeof(double));

  begin = KERNEL_REGION("fill");
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < rows; ++i) {
    x[i] = element(i);
    for (int64_t k = first[i]; k < first[i + 1]; ++k) {
      column[k] = column_of(&of, k);
      value[k] = entry(k);
    }
  }
  kernel_time("fill", begin);

  for (int64_t repeat = 0; repeat < p[REPEATS].value; ++repeat) {
    begin = KERNEL_REGION("multiply");
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < rows; ++i) {
      double sum = 0;
      for (int64_t k = first[i]; k < first[i + 1]; ++k) sum += value[k] * x[column[k]];
      y[i] = sum;
    }
    kernel_time("multiply", begin);
  }

  int code = 0;
  if (p[CHECK].value) {
    int64_t wrong = 0, at = 0;
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t end = at + length_of(&of, i);
      if (y[i] != expected(&of, at, end)) ++wrong;
      at = end;
    }
    code = kernel_verdict("spmv", wrong, "rows differ from the formula's");
  }
  free(first);
  free(column);
  free(value);
  free(x);
  free(y);
  return code;
}
