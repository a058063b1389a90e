/* diffusion2d: explicit Euler steps of the diffusion equation in two dimensions, second-order differences, two grids in turn.
 * Source: C. Bauer, Julia for High-Performance Computing (HLRS 2024), exercise "2D Diffusion - Multithreading": its equations and the order
 * of its accesses (the fluxes are differences of neighbours, computed where they are needed; 5 loads and 1 store a point, double), its
 * time step of dx * dx / 4.1, threads over the outer index. init=parallel initialises both grids by the schedule of the steps, as its
 * parallel_init does; serial by one thread.
 * Self-check: u = i*i - j*j + i*j has a discrete Laplacian of zero, so every step must turn the target grid, zero inside at first, into u.
 */
#include "kernel.h"

static inline double fixed_point(int64_t i, int64_t j) { return (double)(i * i - j * j + i * j); }

KERNEL_INLINE static void initialise(double* a, double* b, int64_t n, int64_t i) {
  for (int64_t j = 0; j < n; ++j) {
    const int inside = i > 0 && i < n - 1 && j > 0 && j < n - 1;
    a[i * n + j] = fixed_point(i, j);
    b[i * n + j] = inside ? 0.0 : fixed_point(i, j);
  }
}

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
  enum { N, STEPS, INIT, CHECK, COUNT };
  enum { SERIAL };
  struct kernel_parameter p[COUNT] = {
      {"n", 256, 3, 1 << 20, NULL}, {"steps", 2, 1, 1 << 20, NULL}, {"init", 1, 0, 0, "serial|parallel"}, {"check", 1, 0, 1, NULL}};
  kernel_parameters(argc, argv, "diffusion2d", p, COUNT);
  const int64_t n = p[N].value;
  double* a = kernel_allocate("diffusion2d", (size_t)(n * n), sizeof(double));
  double* b = kernel_allocate("diffusion2d", (size_t)(n * n), sizeof(double));

  double begin = KERNEL_REGION("init");
  if (p[INIT].value == SERIAL) {
    for (int64_t i = 0; i < n; ++i) initialise(a, b, n, i);
  } else {
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; ++i) initialise(a, b, n, i);
  }
  kernel_time("init", begin);

  /* Grid spacing 1 and diffusion coefficient 1; volatile, so that no factor is folded away that the source's program has. */
  volatile const double coefficient = 1.0, spacing = 1.0;
  const double d = coefficient, inverse = 1 / spacing, dt = spacing * spacing / d / 4.1;
  for (int64_t step = 0; step < p[STEPS].value; ++step) {
    HOMENODE_STEP(step);
    const double* restrict from = a;
    double* restrict to = b;
    begin = KERNEL_REGION("step");
#pragma omp parallel for schedule(static)
    for (int64_t i = 1; i < n - 1; ++i)
      for (int64_t j = 1; j < n - 1; ++j) {
        const double here = from[i * n + j];
        const double right = -d * (from[i * n + j + 1] - here) * inverse, left = -d * (here - from[i * n + j - 1]) * inverse;
        const double above = -d * (from[(i + 1) * n + j] - here) * inverse, below = -d * (here - from[(i - 1) * n + j]) * inverse;
        to[i * n + j] = here - dt * ((right - left) * inverse + (above - below) * inverse);
      }
    kernel_time("step", begin);
    double* swap = a;
    a = b;
    b = swap;
  }
  HOMENODE_STEP(-1);

  const int code = p[CHECK].value ? kernel_verdict("diffusion2d", wrong_points(a, n), "points differ from the fixed point") : 0;
  free(a);
  free(b);
  return code;
}
