/* ft_c: the NAS Parallel Benchmark FT as the C versions have it (NPB 2.3 for OpenMP in C by the Omni project; NPB 3.0 of the same).
 * Source: D. Bailey et al., "The NAS Parallel Benchmarks" (RNR-94-007), sections 2.3 and 3.5; what differs from ft, which follows
 * NPB 3.3-OMP, was looked up in NPB 3.0's FT/ft.c (benchmark-subsetting/NPB3.0-omp-C). Written anew on ft's transforms:
 *   three complex arrays: u0 (the transformed numbers), u1 (worked on in place) and u2 (the result), an index |k|^2 for each point,
 *   and a table of exp(-4 alpha pi^2)^i that it is looked up in;
 *   u1 is filled by one thread, which so touches all of its pages; u0 is first written by the transform along z (by planes of y),
 *   u2 by that along x (by planes of z), the indices by threads that share out x;
 *   16 lines at a time, 18 elements apart in the private arrays; no unused column;
 *   everything down to the first transform is done twice, once to touch the data (warmup=1).
 *   u1 = u0 exp(-4 alpha pi^2 |k|^2 t), alpha = 1e-6; inverse transform to u2; checksum of 1024 points of u2.
 * Array bytes: nx * ny * nz * (3 * 16 + 4), and 8 * (iterations of the class * (nx^2 + ny^2 + nz^2) / 4 + 1).
 * Self-check: ft's, the checksums that NPB publishes for the class.
 */
#define FT_LINES 16
#define FT_LINE_STRIDE 18
#define main ft_main
#include "ft.c" /* NOLINT(bugprone-suspicious-include): classes, random numbers, transforms */
#undef main

/* |k|^2 for wave numbers from -n/2 to n/2 - 1. */
static void index_map(struct box box, int32_t* index) {
  const int64_t nx = box.nx, ny = box.ny, nz = box.nz;
  const double begin = KERNEL_REGION("index_map");
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < nx; ++i) {
    const int64_t wave_x = i < nx / 2 ? i : i - nx;
    for (int64_t j = 0; j < ny; ++j) {
      const int64_t wave_y = j < ny / 2 ? j : j - ny;
      for (int64_t k = 0; k < nz; ++k) {
        const int64_t wave_z = k < nz / 2 ? k : k - nz;
        index[(k * ny + j) * nx + i] = (int32_t)(wave_x * wave_x + wave_y * wave_y + wave_z * wave_z);
      }
    }
  }
  kernel_time("index_map", begin);
}

/* exponential[i] = exp(-4 alpha pi^2)^i, each from the one before. */
static void exponentials(double* exponential, int64_t largest) {
  const double base = decay(1), begin = KERNEL_REGION("exponentials");
  exponential[0] = 1.0;
  for (int64_t i = 1; i <= largest; ++i) exponential[i] = exponential[i - 1] * base;
  kernel_time("exponentials", begin);
}

/* One thread: a plane of random numbers, then its copy in u1. */
static void initial_conditions(struct box box, struct complex_number* u1, double* plane) {
  const int64_t points = box.nx * box.ny, nz = box.nz;
  const uint64_t mask = ((uint64_t)1 << 46) - 1;
  uint64_t state = 314159265u;
  const double begin = KERNEL_REGION("initial");
  for (int64_t k = 0; k < nz; ++k) {
    for (int64_t number = 0; number < 2 * points; ++number) {
      state = state * 1220703125u & mask;
      plane[number] = (double)state * 0x1p-46;
    }
    for (int64_t point = 0; point < points; ++point)
      u1[k * points + point] = (struct complex_number){plane[2 * point], plane[2 * point + 1]};
  }
  kernel_time("initial", begin);
}

/* u1 = u0 times the table's entry of the iteration. */
static void evolve_from(struct box box, const struct complex_number* restrict u0, struct complex_number* restrict u1,
                        const int32_t* restrict index, const double* restrict exponential, int64_t iteration) {
  const int64_t points = box.nx * box.ny, nz = box.nz;
  const double begin = KERNEL_REGION("evolve");
#pragma omp parallel for schedule(static)
  for (int64_t k = 0; k < nz; ++k)
    for (int64_t point = k * points; point < (k + 1) * points; ++point) {
      const double by = exponential[iteration * index[point]];
      u1[point] = (struct complex_number){u0[point].re * by, u0[point].im * by};
    }
  kernel_time("evolve", begin);
}

/* The last transform of an iteration, from one array to another; ft's is in place. */
static void transform_x_to(struct box box, const struct complex_number* from, struct complex_number* to,
                           const struct complex_number* root) {
  const int64_t nx = box.nx, ny = box.ny, nz = box.nz;
  const double begin = KERNEL_REGION("transform_x_to");
#pragma omp parallel for schedule(static)
  for (int64_t k = 0; k < nz; ++k)
    for (int64_t j = 0; j < ny; j += LINES) transform_lines(from + (k * ny + j) * nx, to + (k * ny + j) * nx, nx, 1, nx, root, -1.0);
  kernel_time("transform_x_to", begin);
}

int main(int argc, char** argv) {
  enum { CLASS, ITERATIONS, WARMUP, CHECK, COUNT };
  struct kernel_parameter p[COUNT] = {
      {"class", 0, 0, 0, "S|W|A|B|C"}, {"iterations", 0, 0, MOST_ITERATIONS, NULL}, {"warmup", 1, 0, 1, NULL}, {"check", 1, 0, 1, NULL}};
  kernel_parameters(argc, argv, "ft_c", p, COUNT);
  const struct class_of_problem* problem = &classes[p[CLASS].value];
  kernel_require(p[ITERATIONS].value <= problem->iterations, "ft_c", "'iterations' is at most what the class has: 6 for S, W and A");
  const int64_t iterations = p[ITERATIONS].value ? p[ITERATIONS].value : problem->iterations;
  const struct box box = {problem->nx, problem->ny, problem->nz, problem->nx};
  const size_t points = (size_t)(box.nx * box.ny * box.nz);
  const int64_t largest = problem->iterations * (box.nx * box.nx + box.ny * box.ny + box.nz * box.nz) / 4;
  struct complex_number* u0 = kernel_allocate("ft_c", points, sizeof(struct complex_number));
  struct complex_number* u1 = kernel_allocate("ft_c", points, sizeof(struct complex_number));
  struct complex_number* u2 = kernel_allocate("ft_c", points, sizeof(struct complex_number));
  int32_t* index = kernel_allocate("ft_c", points, sizeof(int32_t));
  double* exponential = kernel_allocate("ft_c", (size_t)largest + 1, sizeof(double));
  double* plane = kernel_allocate("ft_c", (size_t)(2 * box.nx * box.ny), sizeof(double));
  struct complex_number* root = kernel_allocate("ft_c", LONGEST, sizeof(struct complex_number));

  for (int64_t time = -p[WARMUP].value; time <= 0; ++time) {
    index_map(box, index);
    exponentials(exponential, largest);
    initial_conditions(box, u1, plane);
    make_roots(root, LONGEST);
    transform_x(box, u1, root, 1.0);
    transform_y(box, u1, root, 1.0);
    transform_z(box, u1, u0, root, 1.0);
  }
  int64_t wrong = 0;
  for (int64_t iteration = 0; iteration < iterations; ++iteration) {
    HOMENODE_STEP(iteration);
    evolve_from(box, u0, u1, index, exponential, iteration + 1);
    transform_z(box, u1, u1, root, -1.0);
    transform_y(box, u1, root, -1.0);
    transform_x_to(box, u1, u2, root);
    wrong += !is_published(checksum(box, u2), problem->published[iteration]);
  }
  HOMENODE_STEP(-1);

  const int code = p[CHECK].value ? kernel_verdict("ft_c", wrong, "checksums are not NPB's published ones") : 0;
  void* const allocated[] = {u0, u1, u2, index, exponential, plane, root};
  for (size_t i = 0; i < sizeof allocated / sizeof *allocated; ++i) free(allocated[i]);
  return code;
}
