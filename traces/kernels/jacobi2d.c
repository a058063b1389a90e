/* jacobi2d: five-point Jacobi sweep over rows, the reference work of homenode's speed figures (n = 2048, 2 sweeps).
 * Source: the textbook method; the access pattern (5 loads, 1 store a point, double) is that of the stencil codes of S0 and S4.
 * Self-check: with weights 0.2 u = i*i - j*j + i*j is a fixed point (its discrete Laplacian is zero), so every sweep must turn
 * the target grid, zero inside at first, into u.
 */
#include "kernel.h"

static inline double fixed_point(int64_t i, int64_t j) { return (double)(i * i - j * j + i * j); }

KERNEL_UNTRACED static int64_t wrong_points(const double* a, int64_t n) {
  const double tolerance = 1e-12 * (double)(n * n);
  int64_t wrong = 0;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) {
      const double error = a[i * n + j] - fixed_point(i, j);
      if (!(error <= tolerance && error >= -tolerance)) ++wrong;
    }
  return wrong;
}

int main(int argc, char** argv) {
  enum { N, SWEEPS, CHECK, COUNT };
  struct kernel_parameter p[COUNT] = {{"n", 256, 3, 1 << 20, NULL}, {"sweeps", 2, 1, 1 << 20, NULL}, {"check", 1, 0, 1, NULL}};
  kernel_parameters(argc, argv, "jacobi2d", p, COUNT);
  const int64_t n = p[N].value;
  double* a = kernel_allocate("jacobi2d", (size_t)(n * n), sizeof(double));
  double* b = kernel_allocate("jacobi2d", (size_t)(n * n), sizeof(double));

  double begin = KERNEL_REGION("init");
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) {
      const int inside = i > 0 && i < n - 1 && j > 0 && j < n - 1;
      a[i * n + j] = fixed_point(i, j);
      b[i * n + j] = inside ? 0.0 : fixed_point(i, j);
    }
  kernel_time("init", begin);

  for (int64_t sweep = 0; sweep < p[SWEEPS].value; ++sweep) {
    HOMENODE_STEP(sweep);
    const double* restrict from = a;
    double* restrict to = b;
    begin = KERNEL_REGION("sweep");
#pragma omp parallel for schedule(static)
    for (int64_t i = 1; i < n - 1; ++i)
      for (int64_t j = 1; j < n - 1; ++j)
        to[i * n + j] = 0.2 * (from[i * n + j] + from[i * n + j - 1] + from[i * n + j + 1] + from[(i - 1) * n + j] + from[(i + 1) * n + j]);
    kernel_time("sweep", begin);
    double* swap = a;
    a = b;
    b = swap;
  }
  HOMENODE_STEP(-1);

  const int code = p[CHECK].value ? kernel_verdict("jacobi2d", wrong_points(a, n), "points differ from the fixed point") : 0;
  free(a);
  free(b);
  return code;
}
