/* fdtd3d: Maxwell's equations in three dimensions by finite differences in time, on patches, owner-compute by thread.
 * Source: K. S. Yee, IEEE Transactions on Antennas and Propagation 14 (1966); G. Mur, IEEE Transactions on Electromagnetic Compatibility
 * 23 (1981), first order, for the absorbing boundary. It stands for JEMS-FDTD in Z. Yang, A. Zhang, Z. Mo, JArena (S1), section
 * 5.2, which solves a plane-wave scattering problem; S1 prints neither grid nor boundary.
 * A patch has `patch` cells in each direction, and a heap block for each of the six fields, with a layer of ghost cells ahead for E
 * and behind for H. A plane wave enters through the domain's first plane, where the source sets the tangential E, and leaves through
 * the last, where Mur's condition absorbs it; the two other directions wrap around. At the start the wave fills the domain.
 * A step: "exchange_e", "update_h", "exchange_h", "update_e" (with source and boundary), each a region of its own.
 * Self-check (plane_wave.h): the scheme has the plane wave as a solution in closed form, so every component of every cell that the
 * absorbing boundary cannot have reached yet (it is one cell further with each step) is met to rounding, and the wave's phase
 * velocity is light's within the known error. Elsewhere energies are bounded: Mur reflects the part R of an amplitude and the
 * source plane all of that, so amplitudes stay below (1 + R) / (1 - R) times the wave's, and what is not the wave itself has at most
 * R of its amplitude, 2 R / (1 - R) once it has been through the domain. The boundary itself, whose reflection a few steps do not show
 * in such means, must let a profile pass that moves straight outwards.
 */
#include "plane_wave.h"

static const double time_step = 0.5; /* stable below 1 / sqrt(3) */

struct patch {
  double *e[DIRECTIONS], *h[DIRECTIONS];
  double* before; /* E_y and E_z beside the absorbing boundary, from before the step; else NULL */
  struct patch *ahead[DIRECTIONS], *behind[DIRECTIONS];
  int64_t first[DIRECTIONS]; /* the patch's first cell in the domain */
  int source, absorbing;     /* at the domain's first, last plane */
};

/* Cell (i, j, k) of a patch is element (i, j, k) of E's blocks and (i + 1, j + 1, k + 1) of H's. */
static inline int64_t element(int64_t n, int64_t i, int64_t j, int64_t k) { return (k * (n + 1) + j) * (n + 1) + i; }

KERNEL_INLINE static void initialise_patch(const struct patch* patch, const struct plane_wave* wave, int64_t n) {
  for (int c = 0; c < DIRECTIONS; ++c)
    for (int64_t k = 0; k <= n; ++k)
      for (int64_t j = 0; j <= n; ++j)
        for (int64_t i = 0; i <= n; ++i) {
          const int64_t ahead[] = {patch->first[0] + i, patch->first[1] + j, patch->first[2] + k};
          const int64_t behind[] = {ahead[0] - 1, ahead[1] - 1, ahead[2] - 1};
          patch->e[c][element(n, i, j, k)] = wave_value(wave, ELECTRIC, c, ahead, 0);
          patch->h[c][element(n, i, j, k)] = wave_value(wave, MAGNETIC, c, behind, 0);
        }
}

/* Copies n x n values between two planes of blocks; strides are those of the planes' two directions. */
KERNEL_INLINE static void copy_plane(double* restrict to, const double* from, int64_t n, int64_t outer, int64_t inner) {
  for (int64_t a = 0; a < n; ++a)
    for (int64_t b = 0; b < n; ++b) to[a * outer + b * inner] = from[a * outer + b * inner];
}

/* E's ghost cells ahead, of the two components in the plane between the patches. */
KERNEL_INLINE static void exchange_electric(const struct patch* patch, int64_t n) {
  const int64_t row = n + 1, layer = row * row;
  if (!patch->absorbing) {
    copy_plane(patch->e[1] + n, patch->ahead[0]->e[1], n, layer, row);
    copy_plane(patch->e[2] + n, patch->ahead[0]->e[2], n, layer, row);
  }
  copy_plane(patch->e[0] + n * row, patch->ahead[1]->e[0], n, layer, 1);
  copy_plane(patch->e[2] + n * row, patch->ahead[1]->e[2], n, layer, 1);
  copy_plane(patch->e[0] + n * layer, patch->ahead[2]->e[0], n, row, 1);
  copy_plane(patch->e[1] + n * layer, patch->ahead[2]->e[1], n, row, 1);
}

/* H's ghost cells behind; before the source plane there are none. */
KERNEL_INLINE static void exchange_magnetic(const struct patch* patch, int64_t n) {
  const int64_t row = n + 1, layer = row * row;
  if (!patch->source) {
    copy_plane(patch->h[1] + row + layer, patch->behind[0]->h[1] + n + row + layer, n, layer, row);
    copy_plane(patch->h[2] + row + layer, patch->behind[0]->h[2] + n + row + layer, n, layer, row);
  }
  copy_plane(patch->h[0] + 1 + layer, patch->behind[1]->h[0] + 1 + n * row + layer, n, layer, 1);
  copy_plane(patch->h[2] + 1 + layer, patch->behind[1]->h[2] + 1 + n * row + layer, n, layer, 1);
  copy_plane(patch->h[0] + 1 + row, patch->behind[2]->h[0] + 1 + row + n * layer, n, row, 1);
  copy_plane(patch->h[1] + 1 + row, patch->behind[2]->h[1] + 1 + row + n * layer, n, row, 1);
}

KERNEL_INLINE static void update_magnetic(double* restrict hx, double* restrict hy, double* restrict hz, const double* restrict ex,
                                          const double* restrict ey, const double* restrict ez, int64_t n, double dt) {
  const int64_t row = n + 1, layer = row * row, shift = 1 + row + layer;
  for (int64_t k = 0; k < n; ++k)
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = 0; i < n; ++i) {
        const int64_t at = element(n, i, j, k);
        hx[at + shift] -= dt * (ez[at + row] - ez[at] - (ey[at + layer] - ey[at]));
        hy[at + shift] -= dt * (ex[at + layer] - ex[at] - (ez[at + 1] - ez[at]));
        hz[at + shift] -= dt * (ey[at + 1] - ey[at] - (ex[at + row] - ex[at]));
      }
}

/* On the source plane E_y and E_z are the source's. */
KERNEL_INLINE static void update_electric(double* restrict ex, double* restrict ey, double* restrict ez, const double* restrict hx,
                                          const double* restrict hy, const double* restrict hz, int64_t n, double dt, int source) {
  const int64_t row = n + 1, layer = row * row, shift = 1 + row + layer;
  for (int64_t k = 0; k < n; ++k)
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = 0; i < n; ++i) {
        const int64_t at = element(n, i, j, k), own = at + shift;
        ex[at] += dt * (hz[own] - hz[own - row] - (hy[own] - hy[own - layer]));
        if (source && i == 0) continue;
        ey[at] += dt * (hx[own] - hx[own - layer] - (hz[own] - hz[own - 1]));
        ez[at] += dt * (hy[own] - hy[own - 1] - (hx[own] - hx[own - row]));
      }
}

KERNEL_INLINE static void drive_source(const struct patch* patch, const struct plane_wave* wave, int64_t n, int64_t steps) {
  for (int c = 1; c < DIRECTIONS; ++c)
    for (int64_t k = 0; k < n; ++k)
      for (int64_t j = 0; j < n; ++j)
        patch->e[c][element(n, 0, j, k)] =
            wave_value(wave, ELECTRIC, c, (const int64_t[]){0, patch->first[1] + j, patch->first[2] + k}, steps);
}

KERNEL_INLINE static void keep_for_boundary(const struct patch* patch, int64_t n) {
  for (int c = 1; c < DIRECTIONS; ++c)
    for (int64_t k = 0; k < n; ++k)
      for (int64_t j = 0; j < n; ++j) patch->before[((c - 1) * n + k) * n + j] = patch->e[c][element(n, n - 1, j, k)];
}

/* Mur: E'(N) = E(N - 1) + (dt - 1) / (dt + 1) (E'(N - 1) - E(N)). */
KERNEL_INLINE static double mur_factor(double dt) { return (dt - 1) / (dt + 1); }
KERNEL_INLINE static void absorb(const struct patch* patch, int64_t n, double factor) {
  for (int c = 1; c < DIRECTIONS; ++c)
    for (int64_t k = 0; k < n; ++k)
      for (int64_t j = 0; j < n; ++j) {
        double* edge = patch->e[c] + element(n, n, j, k);
        *edge = patch->before[((c - 1) * n + k) * n + j] + factor * (edge[-1] - *edge);
      }
}

/* Whether the boundary lets pass what it is made for: a profile that moves straight outwards at light's speed, E = a + b (i - t). Mur's
 * condition is exact for a linear one, whatever a and b. Overwrites the patch. */
KERNEL_UNTRACED static int absorbs_outgoing(const struct patch* patch, int64_t n, double dt) {
  const double a = 0.25, b = 0.75;
  int holds = 1;
  for (int c = 1; c < DIRECTIONS; ++c)
    for (int64_t k = 0; k < n; ++k)
      for (int64_t j = 0; j < n; ++j) {
        double* edge = patch->e[c] + element(n, n, j, k);
        *edge = a + b * (double)n;
        edge[-1] = a + b * ((double)(n - 1) - dt);
        patch->before[((c - 1) * n + k) * n + j] = a + b * (double)(n - 1);
      }
  absorb(patch, n, mur_factor(dt));
  for (int c = 1; c < DIRECTIONS; ++c)
    for (int64_t k = 0; k < n; ++k)
      for (int64_t j = 0; j < n; ++j) {
        const double expected = a + b * ((double)n - dt);
        if (!(fabs(patch->e[c][element(n, n, j, k)] - expected) <= 1e-14 * expected)) holds = 0;
      }
  return holds;
}

KERNEL_UNTRACED static int64_t wrong_cells(const struct patch* patches, int64_t count, const struct plane_wave* wave, int64_t n,
                                           int64_t steps) {
  const double tolerance = 2e-14 * (double)(steps + 4) + 1e-15 * (double)(wave->cells[0] + steps);
  int64_t wrong = !phase_velocity_holds(wave);
  double energy = 0, deviation = 0;
  for (const struct patch* patch = patches; patch < patches + count; ++patch)
    for (int64_t k = 0; k < n; ++k)
      for (int64_t j = 0; j < n; ++j)
        for (int64_t i = 0; i < n; ++i) {
          const int64_t cell[] = {patch->first[0] + i, patch->first[1] + j, patch->first[2] + k};
          for (int c = 0; c < DIRECTIONS; ++c) {
            const double e = patch->e[c][element(n, i, j, k)], h = patch->h[c][element(n, i + 1, j + 1, k + 1)];
            const double e_error = fabs(e - wave_value(wave, ELECTRIC, c, cell, steps));
            const double h_error = fabs(h - wave_value(wave, MAGNETIC, c, cell, steps));
            if (cell[0] <= wave->cells[0] - steps && !(e_error <= tolerance && h_error <= tolerance)) ++wrong;
            energy += e * e + h * h;
            deviation += e_error * e_error + h_error * h_error;
          }
        }
  /* E and H of the wave have the amplitude 1; a squared cosine is 1/2 in the mean over a period. */
  const double r = reflection(wave), cells = (double)(wave->cells[0] * wave->cells[1] * wave->cells[2]);
  const double reached = fmin(1, (double)steps / (double)wave->cells[0]), largest = (1 + r) / (1 - r);
  const double reflected = reached < 1 ? r : 2 * r / (1 - r);
  for (const struct patch* patch = patches; patch < patches + count; ++patch)
    if (patch->absorbing) wrong += !absorbs_outgoing(patch, n, wave->time_step);
  return wrong + !(energy <= cells * largest * largest) + !(deviation <= cells * reached * reflected * reflected);
}

int main(int argc, char** argv) {
  enum { PATCH, PATCHES, STEPS, LAYOUT, CHECK, COUNT };
  struct kernel_parameter p[COUNT] = {{"patch", 12, 4, 1 << 10, NULL},
                                      {"patches", 2, 1, 1 << 20, NULL},
                                      {"steps", 4, 1, 1 << 20, NULL},
                                      {"layout", 0, 0, 0, "strip|compact"},
                                      {"check", 1, 0, 1, NULL}};
  kernel_parameters(argc, argv, "fdtd3d", p, COUNT);
  const int64_t n = p[PATCH].value, of_thread = p[PATCHES].value, steps = p[STEPS].value, threads = patch_threads();
  const int64_t elements = (n + 1) * (n + 1) * (n + 1);
  const double dt = time_step;
  const struct patch_box box = patch_box(threads, of_thread, 3, (enum patch_layout)p[LAYOUT].value);
  const struct plane_wave wave =
      plane_wave((const int64_t[]){n * patch_extent(&box, 0), n * patch_extent(&box, 1), n * patch_extent(&box, 2)}, time_step);
  struct patch* patches = kernel_allocate("fdtd3d", (size_t)(threads * of_thread), sizeof(struct patch));

  double begin = KERNEL_REGION("init");
#pragma omp parallel
  {
    const int64_t rank = omp_get_thread_num();
    for (int64_t number = rank * of_thread; number < (rank + 1) * of_thread; ++number) {
      struct patch* patch = &patches[number];
      patch_place(&box, number, patch->first);
      patch->source = patch->first[0] == 0;
      patch->absorbing = patch->first[0] == patch_extent(&box, 0) - 1;
      for (int d = 0; d < DIRECTIONS; ++d) {
        patch->first[d] *= n;
        patch->ahead[d] = patches + patch_neighbour(&box, number, d, 1);
        patch->behind[d] = patches + patch_neighbour(&box, number, d, -1);
        patch->e[d] = patch_block("fdtd3d", elements, rank);
        patch->h[d] = patch_block("fdtd3d", elements, rank);
      }
      patch->before = patch->absorbing ? patch_block("fdtd3d", 2 * n * n, rank) : NULL;
      initialise_patch(patch, &wave, n);
    }
  }
  kernel_time("init", begin);

  for (int64_t step = 0; step < steps; ++step) {
    HOMENODE_STEP(step);
    begin = KERNEL_REGION("exchange_e");
#pragma omp parallel
    {
      struct patch* mine = patches + omp_get_thread_num() * of_thread;
      for (struct patch* patch = mine; patch < mine + of_thread; ++patch) exchange_electric(patch, n);
    }
    kernel_time("exchange_e", begin);

    begin = KERNEL_REGION("update_h");
#pragma omp parallel
    {
      struct patch* mine = patches + omp_get_thread_num() * of_thread;
      for (struct patch* patch = mine; patch < mine + of_thread; ++patch)
        update_magnetic(patch->h[0], patch->h[1], patch->h[2], patch->e[0], patch->e[1], patch->e[2], n, dt);
    }
    kernel_time("update_h", begin);

    begin = KERNEL_REGION("exchange_h");
#pragma omp parallel
    {
      struct patch* mine = patches + omp_get_thread_num() * of_thread;
      for (struct patch* patch = mine; patch < mine + of_thread; ++patch) exchange_magnetic(patch, n);
    }
    kernel_time("exchange_h", begin);

    begin = KERNEL_REGION("update_e");
#pragma omp parallel
    {
      struct patch* mine = patches + omp_get_thread_num() * of_thread;
      for (struct patch* patch = mine; patch < mine + of_thread; ++patch) {
        if (patch->absorbing) keep_for_boundary(patch, n);
        update_electric(patch->e[0], patch->e[1], patch->e[2], patch->h[0], patch->h[1], patch->h[2], n, dt, patch->source);
        if (patch->source) drive_source(patch, &wave, n, step + 1);
        if (patch->absorbing) absorb(patch, n, mur_factor(dt));
      }
    }
    kernel_time("update_e", begin);
  }
  HOMENODE_STEP(-1);

  const int code = p[CHECK].value ? kernel_verdict("fdtd3d", wrong_cells(patches, threads * of_thread, &wave, n, steps),
                                                   "components, velocities or energies differ from the plane wave")
                                  : 0;
  for (int64_t number = 0; number < threads * of_thread; ++number) {
    for (int d = 0; d < DIRECTIONS; ++d) {
      free(patches[number].e[d]);
      free(patches[number].h[d]);
    }
    free(patches[number].before);
  }
  free(patches);
  return code;
}
