/* What is known of linear advection u_t + a . grad u = 0 under first-order upwind differences, unsplit, with Courant numbers
 * c_d = a_d dt / dx > 0 whose sum is at most 1:  u' = u - sum over d of c_d (u - u one cell upwind in d).
 * A Fourier mode exp(i sum theta_d x_d) (x in cells) keeps its shape: each step multiplies it by
 *   g = 1 - sum c_d (1 - exp(-i theta_d)),
 * while the equation itself translates it, by the factor exp(-i phi), phi = sum c_d theta_d. Taylor's theorem bounds both
 * remainders: |g - exp(-i phi)| <= (sum c_d theta_d^2 + phi^2) / 2, and as neither is larger than 1, n steps err by at most n times that.
 */
#ifndef HOMENODE_ADVECTION_H
#define HOMENODE_ADVECTION_H

#include "patches.h"

#include <complex.h>
#include <math.h>

static const double courant[DIRECTIONS] = {0.4, 0.3, 0.2};
static const double two_pi = 6.283185307179586;

/* The initial profile 1 + cos(2 pi (x/X + y/Y + z/Z)) / 2 on a periodic box of `cells`. */
struct advected_mode {
  int directions;
  int64_t cells[DIRECTIONS];
};

/* The mode's angle at a cell, reduced so that rounding does not grow with the size of the box. */
KERNEL_UNTRACED static double mode_angle(const struct advected_mode* mode, const int64_t* cell) {
  double turns = 0;
  for (int d = 0; d < mode->directions; ++d) turns += (double)((cell[d] + mode->cells[d]) % mode->cells[d]) / (double)mode->cells[d];
  return two_pi * (turns - floor(turns));
}

KERNEL_UNTRACED static double initial_profile(const struct advected_mode* mode, const int64_t* cell) {
  return 1 + cos(mode_angle(mode, cell)) / 2;
}

/* The factor of `steps` upwind steps on the mode. */
KERNEL_UNTRACED static double complex upwind_factor(const struct advected_mode* mode, int64_t steps) {
  double complex step = 1, all = 1;
  for (int d = 0; d < mode->directions; ++d) step -= courant[d] * (1 - cexp(-I * two_pi / (double)mode->cells[d]));
  for (int64_t i = 0; i < steps; ++i) all *= step;
  return all;
}

/* The factor of the equation over the same time. */
KERNEL_UNTRACED static double complex translation_factor(const struct advected_mode* mode, int64_t steps) {
  double turns = 0;
  for (int d = 0; d < mode->directions; ++d) turns += courant[d] / (double)mode->cells[d] * (double)steps;
  return cexp(-I * two_pi * (turns - floor(turns)));
}

/* The most that `steps` upwind steps may err in the mode's factor. */
KERNEL_UNTRACED static double factor_bound(const struct advected_mode* mode, int64_t steps) {
  double phi = 0, squares = 0;
  for (int d = 0; d < mode->directions; ++d) {
    const double theta = two_pi / (double)mode->cells[d];
    phi += courant[d] * theta;
    squares += courant[d] * theta * theta;
  }
  return (double)steps * (squares + phi * phi) / 2;
}

/* The profile after the mode was multiplied by a factor. */
KERNEL_UNTRACED static double profile_after(const struct advected_mode* mode, const int64_t* cell, double complex factor) {
  return 1 + creal(factor * cexp(I * mode_angle(mode, cell))) / 2;
}

/* Cells are within rounding of the scheme's closed form: each step rounds a few times, values are below 2. */
KERNEL_UNTRACED static double rounding_bound(int64_t steps) { return 1e-14 * (double)(steps + 4); }

/* What the self-check finds of the final field, cell by cell. */
struct advection_check {
  const struct advected_mode* mode;
  int64_t steps, wrong, seen;
  double mass;
  double complex upwind, before, translation;
};

KERNEL_UNTRACED static struct advection_check advection_check(const struct advected_mode* mode, int64_t steps) {
  return (struct advection_check){.mode = mode,
                                  .steps = steps,
                                  .upwind = upwind_factor(mode, steps),
                                  .before = upwind_factor(mode, steps - 1),
                                  .translation = translation_factor(mode, steps)};
}

/* A cell of the domain: the scheme's own value to rounding, the equation's within the scheme's error. */
KERNEL_UNTRACED static void check_cell(struct advection_check* check, const int64_t* cell, double value) {
  const double error = fabs(value - profile_after(check->mode, cell, check->upwind));
  const double distance = fabs(value - profile_after(check->mode, cell, check->translation));
  const double rounding = rounding_bound(check->steps);
  if (!(error <= rounding && distance <= factor_bound(check->mode, check->steps) / 2 + rounding)) ++check->wrong;
  check->mass += value;
  ++check->seen;
}

/* A ghost cell: its neighbour's value before the last step. */
KERNEL_UNTRACED static void check_ghost(struct advection_check* check, const int64_t* cell, double value) {
  if (!(fabs(value - profile_after(check->mode, cell, check->before)) <= rounding_bound(check->steps))) ++check->wrong;
}

/* Mass is conserved: the profile's mean is 1. Sums of up to 2^40 cells lose less than 1e-9 of it to rounding. */
KERNEL_UNTRACED static int64_t advection_wrong(const struct advection_check* check) {
  int64_t cells = 1;
  for (int d = 0; d < check->mode->directions; ++d) cells *= check->mode->cells[d];
  const int conserved = check->seen == cells && fabs(check->mass / (double)cells - 1) <= 1e-9;
  return check->wrong + !conserved;
}

#endif
