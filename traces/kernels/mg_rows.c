/* mg_rows: the NAS Parallel Benchmark MG as the C versions have it, each row of a grid a block of its own.
 * Source: D. Bailey et al., "The NAS Parallel Benchmarks" (RNR-94-007), sections 2.3 and 3.3; what differs from mg, which follows
 * NPB 3.3-OMP, was looked up in NPB 3.0's MG/mg.c (benchmark-subsetting/NPB3.0-omp-C). Written anew on mg's classes and charges:
 *   a grid is an array of planes, a plane an array of rows, a row a malloc of its own; one thread allocates all of them, u's levels
 *   from the finest down, then v, then r's levels;
 *   one thread makes the random numbers and looks for their extremes.
 * A heap manager writes a header before each block that it hands out, so that who allocates rows shorter than a page touches
 * every page. A trace has no addresses, hence no headers: headers=touched writes the first element of each row in their place, and
 * headers=left leaves that to the loops (and to heap managers that touch headers themselves).
 * NPB's untimed warm-up cycle is left out, as in mg: arrays are first touched by the same loops without it.
 * Row bytes: 8 * (2 * sum over k = 1 .. levels of (2^k + 2)^3 + (n + 2)^3), and a pointer for each row and plane.
 * Self-check: mg's, the residual norm that NPB publishes for the class.
 */
#define main mg_main
#include "mg.c" /* NOLINT(bugprone-suspicious-include): classes, smoothers, random numbers, charges' candidates */
#undef main

typedef double** plane;
typedef double*** rows_grid;

/* Every level, from 1 for the coarsest. */
static rows_grid solution[MOST_LEVELS + 1], residuals[MOST_LEVELS + 1];

static rows_grid allocate_rows(int64_t m, int touched) {
  rows_grid grid = kernel_allocate("mg_rows", (size_t)m, sizeof(plane));
  for (int64_t i3 = 0; i3 < m; ++i3) {
    grid[i3] = kernel_allocate("mg_rows", (size_t)m, sizeof(double*));
    for (int64_t i2 = 0; i2 < m; ++i2) {
      grid[i3][i2] = malloc((size_t)m * sizeof(double));
      kernel_require(grid[i3][i2] != NULL, "mg_rows", "no memory for the rows");
      if (touched) grid[i3][i2][0] = 0.0;
    }
  }
  return grid;
}

static void free_rows(rows_grid grid, int64_t m) {
  for (int64_t i3 = 0; i3 < m; ++i3) {
    for (int64_t i2 = 0; i2 < m; ++i2) free(grid[i3][i2]);
    free(grid[i3]);
  }
  free(grid);
}

static void zero_rows(rows_grid grid, int64_t m) {
  const double begin = KERNEL_REGION("zero");
#pragma omp parallel for schedule(static)
  for (int64_t i3 = 0; i3 < m; ++i3)
    for (int64_t i2 = 0; i2 < m; ++i2) {
      double* row = grid[i3][i2];
      for (int64_t i1 = 0; i1 < m; ++i1) row[i1] = 0.0;
    }
  kernel_time("zero", begin);
}

/* Fills the ghost layers from the opposite sides, as mg's exchange does. */
static void exchange_rows(rows_grid grid, int64_t m) {
  const double begin = KERNEL_REGION("exchange");
#pragma omp parallel
  {
#pragma omp for schedule(static)
    for (int64_t i3 = 1; i3 < m - 1; ++i3) {
      const plane here = grid[i3];
      for (int64_t i2 = 1; i2 < m - 1; ++i2) {
        double* row = here[i2];
        row[0] = row[m - 2];
        row[m - 1] = row[1];
      }
      double *first = here[0], *last = here[m - 1];
      const double *above = here[m - 2], *below = here[1];
      for (int64_t i1 = 0; i1 < m; ++i1) {
        first[i1] = above[i1];
        last[i1] = below[i1];
      }
    }
#pragma omp for schedule(static)
    for (int64_t i2 = 0; i2 < m; ++i2) {
      double *first = grid[0][i2], *last = grid[m - 1][i2];
      const double *above = grid[m - 2][i2], *below = grid[1][i2];
      for (int64_t i1 = 0; i1 < m; ++i1) {
        first[i1] = above[i1];
        last[i1] = below[i1];
      }
    }
  }
  kernel_time("exchange", begin);
}

/* The nine rows around one: [0] the one itself, [1 .. 4] across faces, [5 .. 8] across edges. */
struct around {
  const double *here, *face[4], *edge[4];
};

KERNEL_INLINE static struct around rows_around(const plane below, const plane here, const plane above, int64_t i2) {
  return (struct around){
      here[i2], {here[i2 - 1], here[i2 + 1], below[i2], above[i2]}, {below[i2 - 1], below[i2 + 1], above[i2 - 1], above[i2 + 1]}};
}

KERNEL_INLINE static double sum_of(const double* const* rows, int64_t at) { return rows[0][at] + rows[1][at] + rows[2][at] + rows[3][at]; }

KERNEL_INLINE static void sums_of_rows(double* restrict faces, double* restrict edges, const struct around* rows, int64_t m) {
  for (int64_t i1 = 0; i1 < m; ++i1) {
    faces[i1] = sum_of(rows->face, i1);
    edges[i1] = sum_of(rows->edge, i1);
  }
}

KERNEL_INLINE static void residual_rows(const plane* u, const plane v, const plane r, int64_t m) {
  const double centre = -8.0 / 3.0, edge = 1.0 / 6.0, corner = 1.0 / 12.0;
  double of_faces[LONGEST], of_edges[LONGEST];
  double *faces = kernel_opaque(of_faces), *edges = kernel_opaque(of_edges);
  for (int64_t i2 = 1; i2 < m - 1; ++i2) {
    const struct around rows = rows_around(u[-1], u[0], u[1], i2);
    const double* right = v[i2];
    double* to = r[i2];
    sums_of_rows(faces, edges, &rows, m);
    for (int64_t i1 = 1; i1 < m - 1; ++i1)
      to[i1] = right[i1] - centre * rows.here[i1] - edge * (edges[i1] + faces[i1 - 1] + faces[i1 + 1]) -
               corner * (edges[i1 - 1] + edges[i1 + 1]);
  }
}

/* r = v - A u; v may be r. */
static void residual_of(rows_grid u, rows_grid v, rows_grid r, int64_t m) {
  const double begin = KERNEL_REGION("residual");
#pragma omp parallel for schedule(static)
  for (int64_t i3 = 1; i3 < m - 1; ++i3) residual_rows(u + i3, v[i3], r[i3], m);
  kernel_time("residual", begin);
  exchange_rows(r, m);
}

KERNEL_INLINE static void smooth_rows(const plane* r, const plane u, int64_t m, double centre, double face, double edge) {
  double of_faces[LONGEST], of_edges[LONGEST];
  double *faces = kernel_opaque(of_faces), *edges = kernel_opaque(of_edges);
  for (int64_t i2 = 1; i2 < m - 1; ++i2) {
    const struct around rows = rows_around(r[-1], r[0], r[1], i2);
    double* to = u[i2];
    sums_of_rows(faces, edges, &rows, m);
    for (int64_t i1 = 1; i1 < m - 1; ++i1)
      to[i1] += centre * rows.here[i1] + face * (rows.here[i1 - 1] + rows.here[i1 + 1] + faces[i1]) +
                edge * (edges[i1] + faces[i1 - 1] + faces[i1 + 1]);
  }
}

/* u = u + S r */
static void smooth_of(rows_grid r, rows_grid u, int64_t m, const double* coefficients) {
  const double centre = coefficients[0], face = coefficients[1], edge = coefficients[2];
  const double begin = KERNEL_REGION("smooth");
#pragma omp parallel for schedule(static)
  for (int64_t i3 = 1; i3 < m - 1; ++i3) smooth_rows(r + i3, u[i3], m, centre, face, edge);
  kernel_time("smooth", begin);
  exchange_rows(u, m);
}

/* One plane of the coarse grid: point j of it lies on point 2 j of the fine one. */
KERNEL_INLINE static void project_rows(const plane* fine, const plane coarse, int64_t m, int64_t coarse_m) {
  double of_faces[LONGEST], of_edges[LONGEST]; /* of the fine points between the coarse ones */
  double *faces = kernel_opaque(of_faces), *edges = kernel_opaque(of_edges);
  for (int64_t j2 = 1; j2 < coarse_m - 1; ++j2) {
    const struct around rows = rows_around(fine[-1], fine[0], fine[1], 2 * j2);
    double* to = coarse[j2];
    for (int64_t i1 = 1; i1 < m; i1 += 2) {
      faces[i1] = sum_of(rows.face, i1);
      edges[i1] = sum_of(rows.edge, i1);
    }
    for (int64_t j1 = 1; j1 < coarse_m - 1; ++j1) {
      const int64_t i1 = 2 * j1;
      to[j1] = 0.5 * rows.here[i1] + 0.25 * (rows.here[i1 - 1] + rows.here[i1 + 1] + sum_of(rows.face, i1)) +
               0.125 * (faces[i1 - 1] + faces[i1 + 1] + sum_of(rows.edge, i1)) + 0.0625 * (edges[i1 - 1] + edges[i1 + 1]);
    }
  }
}

/* coarse = P fine */
static void project_of(rows_grid fine, rows_grid coarse, int64_t m, int64_t coarse_m) {
  const double begin = KERNEL_REGION("project");
#pragma omp parallel for schedule(static)
  for (int64_t j3 = 1; j3 < coarse_m - 1; ++j3) project_rows(fine + 2 * j3, coarse[j3], m, coarse_m);
  kernel_time("project", begin);
  exchange_rows(coarse, coarse_m);
}

/* Two neighbouring fine rows' points: on the sums of coarse points, and between two of them. */
KERNEL_INLINE static void add_between(double* restrict to, const double* sums, double weight, int64_t coarse_m) {
  for (int64_t j1 = 0; j1 < coarse_m - 1; ++j1) {
    to[2 * j1] += weight * sums[j1];
    to[2 * j1 + 1] += 0.5 * weight * (sums[j1] + sums[j1 + 1]);
  }
}

/* The two fine planes that start at coarse plane j3: points on coarse ones, between two, between four and between eight. */
KERNEL_INLINE static void interpolate_rows(const plane* coarse, const plane* fine, int64_t coarse_m) {
  double of_across[LONGEST], of_up[LONGEST], of_diagonal[LONGEST]; /* sums over 2, 2 and 4 coarse points */
  double *across = kernel_opaque(of_across), *up = kernel_opaque(of_up), *diagonal = kernel_opaque(of_diagonal);
  for (int64_t j2 = 0; j2 < coarse_m - 1; ++j2) {
    const double *here = coarse[0][j2], *beside = coarse[0][j2 + 1], *above = coarse[1][j2], *corner = coarse[1][j2 + 1];
    for (int64_t j1 = 0; j1 < coarse_m; ++j1) {
      across[j1] = beside[j1] + here[j1];
      up[j1] = above[j1] + here[j1];
      diagonal[j1] = corner[j1] + above[j1] + across[j1];
    }
    add_between(fine[0][2 * j2], here, 1.0, coarse_m);
    add_between(fine[0][2 * j2 + 1], across, 0.5, coarse_m);
    add_between(fine[1][2 * j2], up, 0.5, coarse_m);
    add_between(fine[1][2 * j2 + 1], diagonal, 0.25, coarse_m);
  }
}

/* fine = fine + Q coarse */
static void interpolate_of(rows_grid coarse, rows_grid fine, int64_t coarse_m) {
  const double begin = KERNEL_REGION("interpolate");
#pragma omp parallel for schedule(static)
  for (int64_t j3 = 0; j3 < coarse_m - 1; ++j3) interpolate_rows(coarse + j3, fine + 2 * j3, coarse_m);
  kernel_time("interpolate", begin);
}

/* u = u + M r, then r = v - A u; u[level] and r[level] from 1 to `levels`. */
static void cycle_of(rows_grid* u, rows_grid v, rows_grid* r, int64_t levels, const double* smoother) {
  for (int64_t level = levels; level > 1; --level) project_of(r[level], r[level - 1], points_of(level), points_of(level - 1));
  zero_rows(u[1], points_of(1));
  smooth_of(r[1], u[1], points_of(1), smoother);
  for (int64_t level = 2; level <= levels; ++level) {
    const int64_t m = points_of(level);
    if (level < levels) zero_rows(u[level], m);
    interpolate_of(u[level - 1], u[level], points_of(level - 1));
    residual_of(u[level], level < levels ? r[level] : v, r[level], m);
    smooth_of(r[level], u[level], m, smoother);
  }
  residual_of(u[levels], v, r[levels], points_of(levels));
}

static double norm_of(rows_grid grid, int64_t m) {
  double sum = 0;
  const double begin = KERNEL_REGION("norm");
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (int64_t i3 = 1; i3 < m - 1; ++i3)
    for (int64_t i2 = 1; i2 < m - 1; ++i2) {
      const double* row = grid[i3][i2];
      for (int64_t i1 = 1; i1 < m - 1; ++i1) sum += row[i1] * row[i1];
    }
  kernel_time("norm", begin);
  return sqrt(sum / (double)((m - 2) * (m - 2) * (m - 2)));
}

KERNEL_INLINE static void extremes_of_plane(const plane grid, int64_t m, int64_t i3, struct candidate* best) {
  for (int64_t i2 = 1; i2 < m - 1; ++i2) {
    const double* row = grid[i2];
    for (int64_t i1 = 1; i1 < m - 1; ++i1) {
      const int64_t point = (i3 * m + i2) * m + i1;
      offer(best, row[i1], point);
      offer(best + CHARGES, -row[i1], point);
    }
  }
}

/* The right-hand side: charges of +1 and -1 at the extremes of random numbers, both by one thread. */
static void place_charges_in(rows_grid v, int64_t n) {
  const int64_t m = n + 2;
  struct candidate best[2 * CHARGES];
  zero_rows(v, m);
  double begin = KERNEL_REGION("random");
  uint64_t state = 314159265u;
  for (int64_t i3 = 1; i3 <= n; ++i3)
    for (int64_t i2 = 1; i2 <= n; ++i2) state = random_row(v[i3][i2], n, state);
  kernel_time("random", begin);

  begin = KERNEL_REGION("extremes");
  for (int64_t place = 0; place < 2 * CHARGES; ++place) best[place] = (struct candidate){-2.0, 0};
  for (int64_t i3 = 1; i3 <= n; ++i3) extremes_of_plane(v[i3], m, i3, best);
  kernel_time("extremes", begin);

  zero_rows(v, m);
  begin = KERNEL_REGION("charges");
  for (int64_t place = 0; place < 2 * CHARGES; ++place) {
    const int64_t point = best[place].point;
    v[point / m / m][point / m % m][point % m] = place < CHARGES ? 1.0 : -1.0;
  }
  kernel_time("charges", begin);
  exchange_rows(v, m);
}

/* As mg's: NPB's norm after the class's own cycles, else each cycle halves the residual at least. */
KERNEL_UNTRACED static int is_wrong(const struct class_of_problem* problem, int64_t iterations, double first, double last) {
  if (iterations == problem->iterations) return !(fabs(last - problem->published_norm) <= 1e-8 * problem->published_norm);
  return !(last <= first * pow(0.5, (double)iterations));
}

int main(int argc, char** argv) {
  enum { CLASS, ITERATIONS, HEADERS, CHECK, COUNT };
  struct kernel_parameter p[COUNT] = {
      {"class", 0, 0, 0, "S|W|A|B|C"}, {"iterations", 0, 0, 20, NULL}, {"headers", 0, 0, 0, "touched|left"}, {"check", 1, 0, 1, NULL}};
  kernel_parameters(argc, argv, "mg_rows", p, COUNT);
  const struct class_of_problem* problem = &classes[p[CLASS].value];
  const int64_t levels = problem->levels, m = problem->n + 2;
  const int64_t iterations = p[ITERATIONS].value ? p[ITERATIONS].value : problem->iterations;
  const double* smoother = p[CLASS].value <= 2 ? smoother_small : smoother_large;
  const int touched = p[HEADERS].value == 0;

  const double begin = KERNEL_REGION("allocate");
  for (int64_t level = levels; level >= 1; --level) solution[level] = allocate_rows(points_of(level), touched);
  rows_grid v = allocate_rows(m, touched);
  for (int64_t level = levels; level >= 1; --level) residuals[level] = allocate_rows(points_of(level), touched);
  kernel_time("allocate", begin);

  zero_rows(solution[levels], m);
  place_charges_in(v, problem->n);
  residual_of(solution[levels], v, residuals[levels], m);
  const double first = norm_of(residuals[levels], m);
  for (int64_t iteration = 0; iteration < iterations; ++iteration) {
    HOMENODE_STEP(iteration);
    cycle_of(solution, v, residuals, levels, smoother);
  }
  HOMENODE_STEP(-1);
  const double last = norm_of(residuals[levels], m);

  const int code = p[CHECK].value ? kernel_verdict("mg_rows", is_wrong(problem, iterations, first, last), "residual norm is not right") : 0;
  for (int64_t level = 1; level <= levels; ++level) {
    free_rows(solution[level], points_of(level));
    free_rows(residuals[level], points_of(level));
  }
  free_rows(v, m);
  return code;
}
