/* mg: V-cycles of multigrid for the Poisson equation on a periodic cube, the NAS Parallel Benchmark MG.
 * Source: D. Bailey et al., "The NAS Parallel Benchmarks" (RNR-94-007), sections 2.3 (the random numbers) and 3.3; the
 * division into loops, the ghost layers and the storage of all levels in one block follow NPB 3.3-OMP. Written anew:
 *   r = v - A u; M r by projection P to the coarser grids, smoother S on the coarsest, then on each finer grid interpolation Q,
 *   a new residual and S; u = u + M r. A, P, Q and S are 27-point operators that weight the centre, its 6 face, 12 edge and
 *   8 corner neighbours by one coefficient each; coefficients of zero are not evaluated.
 * v is zero but for +1 at the ten largest and -1 at the ten smallest of n^3 random numbers. u and r hold level `levels` (the
 * finest, n + 2 points in each direction with the ghost layers) down to level 1 (4 points) in one block each, v the finest.
 * NPB's untimed warm-up cycle is left out: each array is first touched by the same loops without it.
 * Array bytes: 8 * (2 * sum over k = 1 .. levels of (2^k + 2)^3 + (n + 2)^3).
 * Self-check: the root mean square of the last residual is NPB's published value of the class within 1e-8, relatively. With a
 * number of iterations that is not the class's own, for which nothing is published, each cycle has to halve the residual at least.
 */
#include "kernel.h"

#include <math.h>

enum { LONGEST = 512 + 2, CHARGES = 10, MOST_LEVELS = 9 };

struct class_of_problem {
  int64_t n, levels, iterations;
  double published_norm;
};

static const struct class_of_problem classes[] = {{32, 5, 4, 0.5307707005734e-04},
                                                  {128, 7, 4, 0.6467329375339e-05},
                                                  {256, 8, 4, 0.2433365309069e-05},
                                                  {256, 8, 20, 0.1800564401355e-05},
                                                  {512, 9, 20, 0.5706732285740e-06}};

/* The smoother's coefficients for classes S, W and A, and for the others (RNR-94-007, section 3.3; corners weigh nothing). */
static const double smoother_small[3] = {-3.0 / 8.0, 1.0 / 32.0, -1.0 / 64.0};
static const double smoother_large[3] = {-3.0 / 17.0, 1.0 / 33.0, -1.0 / 61.0};

/* The first point of each level in u and r, and the points in one direction. */
static int64_t first_point[MOST_LEVELS + 1];
static inline int64_t points_of(int64_t level) { return ((int64_t)1 << level) + 2; }

/* x * 5^(13 steps) modulo 2^46: the state of NPB's generator `steps` steps after x. */
KERNEL_UNTRACED static uint64_t random_state(uint64_t x, uint64_t steps) {
  for (uint64_t factor = 1220703125u; steps; steps >>= 1, factor *= factor)
    if (steps & 1) x *= factor;
  return x & (((uint64_t)1 << 46) - 1);
}

/* One row of random numbers in (0, 1), of states that follow `state`; returns the last state. */
KERNEL_INLINE static uint64_t random_row(double* row, int64_t n, uint64_t state) {
  for (int64_t i1 = 1; i1 <= n; ++i1) {
    state = state * 1220703125u & (((uint64_t)1 << 46) - 1);
    row[i1] = (double)state * 0x1p-46;
  }
  return state;
}

static void zero(double* grid, int64_t m) {
  const double begin = KERNEL_REGION("zero");
#pragma omp parallel for schedule(static)
  for (int64_t i3 = 0; i3 < m; ++i3)
    for (int64_t point = i3 * m * m; point < (i3 + 1) * m * m; ++point) grid[point] = 0.0;
  kernel_time("zero", begin);
}

/* Fills the ghost layers from the opposite sides: rows and columns plane by plane, then the first and the last plane. */
static void exchange(double* grid, int64_t m) {
  const double begin = KERNEL_REGION("exchange");
#pragma omp parallel
  {
#pragma omp for schedule(static)
    for (int64_t i3 = 1; i3 < m - 1; ++i3) {
      double* plane = grid + i3 * m * m;
      for (int64_t i2 = 1; i2 < m - 1; ++i2) {
        plane[i2 * m] = plane[i2 * m + m - 2];
        plane[i2 * m + m - 1] = plane[i2 * m + 1];
      }
      for (int64_t i1 = 0; i1 < m; ++i1) {
        plane[i1] = plane[(m - 2) * m + i1];
        plane[(m - 1) * m + i1] = plane[m + i1];
      }
    }
#pragma omp for schedule(static)
    for (int64_t i2 = 0; i2 < m; ++i2)
      for (int64_t i1 = 0; i1 < m; ++i1) {
        grid[i2 * m + i1] = grid[((m - 2) * m + i2) * m + i1];
        grid[((m - 1) * m + i2) * m + i1] = grid[(m + i2) * m + i1];
      }
  }
  kernel_time("exchange", begin);
}

/* Sums over the four face and the four edge neighbours across a row: of each point of the row, ghosts included. */
KERNEL_INLINE static void sums_across(double* restrict faces, double* restrict edges, const double* restrict row, int64_t m) {
  for (int64_t i1 = 0; i1 < m; ++i1) {
    faces[i1] = row[i1 - m] + row[i1 + m] + row[i1 - m * m] + row[i1 + m * m];
    edges[i1] = row[i1 - m * m - m] + row[i1 - m * m + m] + row[i1 + m * m - m] + row[i1 + m * m + m];
  }
}

KERNEL_INLINE static void residual_plane(const double* u, const double* v, double* r, int64_t m, int64_t i3) {
  const double centre = -8.0 / 3.0, edge = 1.0 / 6.0, corner = 1.0 / 12.0;
  double of_faces[LONGEST], of_edges[LONGEST];
  double *faces = kernel_opaque(of_faces), *edges = kernel_opaque(of_edges);
  for (int64_t i2 = 1; i2 < m - 1; ++i2) {
    const int64_t row = (i3 * m + i2) * m;
    sums_across(faces, edges, u + row, m);
    for (int64_t i1 = 1; i1 < m - 1; ++i1)
      r[row + i1] = v[row + i1] - centre * u[row + i1] - edge * (edges[i1] + faces[i1 - 1] + faces[i1 + 1]) -
                    corner * (edges[i1 - 1] + edges[i1 + 1]);
  }
}

/* r = v - A u; v may be r. */
static void residual(const double* u, const double* v, double* r, int64_t m) {
  const double begin = KERNEL_REGION("residual");
#pragma omp parallel for schedule(static)
  for (int64_t i3 = 1; i3 < m - 1; ++i3) residual_plane(u, v, r, m, i3);
  kernel_time("residual", begin);
  exchange(r, m);
}

KERNEL_INLINE static void smooth_plane(const double* restrict r, double* restrict u, int64_t m, int64_t i3, double centre, double face,
                                       double edge) {
  double of_faces[LONGEST], of_edges[LONGEST];
  double *faces = kernel_opaque(of_faces), *edges = kernel_opaque(of_edges);
  for (int64_t i2 = 1; i2 < m - 1; ++i2) {
    const int64_t row = (i3 * m + i2) * m;
    sums_across(faces, edges, r + row, m);
    for (int64_t i1 = 1; i1 < m - 1; ++i1)
      u[row + i1] += centre * r[row + i1] + face * (r[row + i1 - 1] + r[row + i1 + 1] + faces[i1]) +
                     edge * (edges[i1] + faces[i1 - 1] + faces[i1 + 1]);
  }
}

/* u = u + S r */
static void smooth(const double* r, double* u, int64_t m, const double* coefficients) {
  const double centre = coefficients[0], face = coefficients[1], edge = coefficients[2];
  const double begin = KERNEL_REGION("smooth");
#pragma omp parallel for schedule(static)
  for (int64_t i3 = 1; i3 < m - 1; ++i3) smooth_plane(r, u, m, i3, centre, face, edge);
  kernel_time("smooth", begin);
  exchange(u, m);
}

/* One plane of the coarse grid: point j of it lies on point 2 j of the fine one. */
KERNEL_INLINE static void project_plane(const double* restrict fine, double* restrict coarse, int64_t m, int64_t coarse_m, int64_t j3) {
  double of_faces[LONGEST], of_edges[LONGEST]; /* of the fine points between the coarse ones */
  double *faces = kernel_opaque(of_faces), *edges = kernel_opaque(of_edges);
  for (int64_t j2 = 1; j2 < coarse_m - 1; ++j2) {
    const double* row = fine + (2 * j3 * m + 2 * j2) * m;
    for (int64_t i1 = 1; i1 < m; i1 += 2) {
      faces[i1] = row[i1 - m] + row[i1 + m] + row[i1 - m * m] + row[i1 + m * m];
      edges[i1] = row[i1 - m * m - m] + row[i1 + m * m - m] + row[i1 - m * m + m] + row[i1 + m * m + m];
    }
    for (int64_t j1 = 1; j1 < coarse_m - 1; ++j1) {
      const int64_t i1 = 2 * j1;
      const double here_edges = row[i1 - m * m - m] + row[i1 + m * m - m] + row[i1 - m * m + m] + row[i1 + m * m + m];
      const double here_faces = row[i1 - m] + row[i1 + m] + row[i1 - m * m] + row[i1 + m * m];
      coarse[(j3 * coarse_m + j2) * coarse_m + j1] = 0.5 * row[i1] + 0.25 * (row[i1 - 1] + row[i1 + 1] + here_faces) +
                                                     0.125 * (faces[i1 - 1] + faces[i1 + 1] + here_edges) +
                                                     0.0625 * (edges[i1 - 1] + edges[i1 + 1]);
    }
  }
}

/* coarse = P fine */
static void project(const double* fine, double* coarse, int64_t m, int64_t coarse_m) {
  const double begin = KERNEL_REGION("project");
#pragma omp parallel for schedule(static)
  for (int64_t j3 = 1; j3 < coarse_m - 1; ++j3) project_plane(fine, coarse, m, coarse_m, j3);
  kernel_time("project", begin);
  exchange(coarse, coarse_m);
}

/* The two fine planes that start at coarse plane j3: points on coarse ones, between two, between four and between eight. */
KERNEL_INLINE static void interpolate_plane(const double* restrict coarse, double* restrict fine, int64_t coarse_m, int64_t m, int64_t j3) {
  double of_across[LONGEST], of_up[LONGEST], of_diagonal[LONGEST]; /* sums over 2, 2 and 4 coarse points */
  double *across = kernel_opaque(of_across), *up = kernel_opaque(of_up), *diagonal = kernel_opaque(of_diagonal);
  for (int64_t j2 = 0; j2 < coarse_m - 1; ++j2) {
    const double* from = coarse + (j3 * coarse_m + j2) * coarse_m;
    for (int64_t j1 = 0; j1 < coarse_m; ++j1) {
      across[j1] = from[j1 + coarse_m] + from[j1];
      up[j1] = from[j1 + coarse_m * coarse_m] + from[j1];
      diagonal[j1] = from[j1 + coarse_m * coarse_m + coarse_m] + from[j1 + coarse_m * coarse_m] + across[j1];
    }
    double* to = fine + (2 * j3 * m + 2 * j2) * m;
    for (int64_t j1 = 0; j1 < coarse_m - 1; ++j1) {
      to[2 * j1] += from[j1];
      to[2 * j1 + 1] += 0.5 * (from[j1 + 1] + from[j1]);
    }
    to += m;
    for (int64_t j1 = 0; j1 < coarse_m - 1; ++j1) {
      to[2 * j1] += 0.5 * across[j1];
      to[2 * j1 + 1] += 0.25 * (across[j1] + across[j1 + 1]);
    }
    to += m * m - m;
    for (int64_t j1 = 0; j1 < coarse_m - 1; ++j1) {
      to[2 * j1] += 0.5 * up[j1];
      to[2 * j1 + 1] += 0.25 * (up[j1] + up[j1 + 1]);
    }
    to += m;
    for (int64_t j1 = 0; j1 < coarse_m - 1; ++j1) {
      to[2 * j1] += 0.25 * diagonal[j1];
      to[2 * j1 + 1] += 0.125 * (diagonal[j1] + diagonal[j1 + 1]);
    }
  }
}

/* fine = fine + Q coarse */
static void interpolate(const double* coarse, double* fine, int64_t coarse_m, int64_t m) {
  const double begin = KERNEL_REGION("interpolate");
#pragma omp parallel for schedule(static)
  for (int64_t j3 = 0; j3 < coarse_m - 1; ++j3) interpolate_plane(coarse, fine, coarse_m, m, j3);
  kernel_time("interpolate", begin);
}

/* u = u + M r, then r = v - A u */
static void cycle(double* u, const double* v, double* r, int64_t levels, const double* smoother) {
  for (int64_t level = levels; level > 1; --level)
    project(r + first_point[level], r + first_point[level - 1], points_of(level), points_of(level - 1));
  zero(u + first_point[1], points_of(1));
  smooth(r + first_point[1], u + first_point[1], points_of(1), smoother);
  for (int64_t level = 2; level <= levels; ++level) {
    double *here = u + first_point[level], *residual_here = r + first_point[level];
    const int64_t m = points_of(level);
    if (level < levels) zero(here, m);
    interpolate(u + first_point[level - 1], here, points_of(level - 1), m);
    residual(here, level < levels ? residual_here : v, residual_here, m);
    smooth(residual_here, here, m, smoother);
  }
  residual(u, v, r, points_of(levels));
}

/* Root mean square over the n^3 points inside. */
static double norm(const double* grid, int64_t m) {
  double sum = 0;
  const double begin = KERNEL_REGION("norm");
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (int64_t i3 = 1; i3 < m - 1; ++i3)
    for (int64_t i2 = 1; i2 < m - 1; ++i2)
      for (int64_t i1 = 1; i1 < m - 1; ++i1) {
        const double value = grid[(i3 * m + i2) * m + i1];
        sum += value * value;
      }
  kernel_time("norm", begin);
  return sqrt(sum / (double)((m - 2) * (m - 2) * (m - 2)));
}

struct candidate {
  double value; /* larger is better */
  int64_t point;
};

/* The best ten in falling order; a candidate that is not among them falls off the end. */
KERNEL_INLINE static void offer(struct candidate* best, double value, int64_t point) {
  if (value <= best[CHARGES - 1].value) return;
  int64_t place = CHARGES - 1;
  for (; place > 0 && best[place - 1].value < value; --place) best[place] = best[place - 1];
  best[place] = (struct candidate){value, point};
}

/* Each plane's ten largest and, with the sign turned, ten smallest numbers. */
KERNEL_INLINE static void plane_extremes(const double* grid, int64_t m, int64_t i3, struct candidate* of_plane) {
  struct candidate best[2 * CHARGES];
  for (int64_t place = 0; place < 2 * CHARGES; ++place) best[place] = (struct candidate){-2.0, 0};
  for (int64_t i2 = 1; i2 < m - 1; ++i2)
    for (int64_t i1 = 1; i1 < m - 1; ++i1) {
      const int64_t point = (i3 * m + i2) * m + i1;
      const double value = grid[point];
      offer(best, value, point);
      offer(best + CHARGES, -value, point);
    }
  for (int64_t place = 0; place < 2 * CHARGES; ++place) of_plane[place] = best[place];
}

/* The right-hand side: charges of +1 and -1. */
static void place_charges(double* v, int64_t n, struct candidate* of_planes) {
  const int64_t m = n + 2;
  zero(v, m);
  double begin = KERNEL_REGION("random");
#pragma omp parallel for schedule(static)
  for (int64_t i3 = 1; i3 <= n; ++i3) {
    uint64_t state = random_state(314159265u, (uint64_t)((i3 - 1) * n * n));
    for (int64_t i2 = 1; i2 <= n; ++i2) state = random_row(v + (i3 * m + i2) * m, n, state);
  }
  kernel_time("random", begin);

  begin = KERNEL_REGION("extremes");
#pragma omp parallel for schedule(static)
  for (int64_t i3 = 1; i3 <= n; ++i3) plane_extremes(v, m, i3, of_planes + (i3 - 1) * 2 * CHARGES);
  kernel_time("extremes", begin);

  zero(v, m);
  begin = KERNEL_REGION("charges");
  struct candidate best[2 * CHARGES];
  for (int64_t place = 0; place < 2 * CHARGES; ++place) best[place] = (struct candidate){-2.0, 0};
  for (int64_t entry = 0; entry < n * 2 * CHARGES; ++entry)
    offer(best + entry / CHARGES % 2 * CHARGES, of_planes[entry].value, of_planes[entry].point);
  for (int64_t place = 0; place < CHARGES; ++place) {
    v[best[place].point] = 1.0;
    v[best[CHARGES + place].point] = -1.0;
  }
  kernel_time("charges", begin);
  exchange(v, m);
}

KERNEL_UNTRACED static int verdict(const struct class_of_problem* problem, int64_t iterations, double first, double last) {
  if (iterations == problem->iterations)
    return kernel_verdict("mg", !(fabs(last - problem->published_norm) <= 1e-8 * problem->published_norm),
                          "residual norm is not NPB's published one");
  return kernel_verdict("mg", !(last <= first * pow(0.5, (double)iterations)), "residual norm falls too slowly");
}

int main(int argc, char** argv) {
  enum { CLASS, ITERATIONS, CHECK, COUNT };
  struct kernel_parameter p[COUNT] = {{"class", 0, 0, 0, "S|W|A|B|C"}, {"iterations", 0, 0, 20, NULL}, {"check", 1, 0, 1, NULL}};
  kernel_parameters(argc, argv, "mg", p, COUNT);
  const struct class_of_problem* problem = &classes[p[CLASS].value];
  const int64_t levels = problem->levels, m = problem->n + 2;
  const int64_t iterations = p[ITERATIONS].value ? p[ITERATIONS].value : problem->iterations;
  const double* smoother = p[CLASS].value <= 2 ? smoother_small : smoother_large;
  int64_t points = 0;
  for (int64_t level = levels; level >= 1; --level) {
    first_point[level] = points;
    points += points_of(level) * points_of(level) * points_of(level);
  }
  double* u = kernel_allocate("mg", (size_t)points, sizeof(double));
  double* r = kernel_allocate("mg", (size_t)points, sizeof(double));
  double* v = kernel_allocate("mg", (size_t)(m * m * m), sizeof(double));
  struct candidate* of_planes = kernel_allocate("mg", (size_t)(problem->n * 2 * CHARGES), sizeof(struct candidate));

  zero(u, m);
  place_charges(v, problem->n, of_planes);
  residual(u, v, r, m);
  const double first = norm(r, m);
  for (int64_t iteration = 0; iteration < iterations; ++iteration) {
    HOMENODE_STEP(iteration);
    cycle(u, v, r, levels, smoother);
  }
  HOMENODE_STEP(-1);
  const double last = norm(r, m);

  const int code = p[CHECK].value ? verdict(problem, iterations, first, last) : 0;
  free(u);
  free(r);
  free(v);
  free(of_planes);
  return code;
}
