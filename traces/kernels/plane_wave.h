/* A plane wave on Yee's grid, in units where light crosses one cell in the unit of time and vacuum's constants are 1.
 * Component c of E lies half a cell further in direction c, of H half a cell further in the two others, and half a step later.
 * With K_d = 2 sin(k_d / 2) and Omega = 2 sin(omega dt / 2) / dt the scheme turns exp(i (k r - omega t)) into itself if and only if
 * Omega = |K|, E is normal to K, and H = K x E / Omega (A. Taflove, S. C. Hagness, Computational Electrodynamics, chapter 4): a
 * solution of the scheme in closed form. Its phase velocity omega / |k| is below that of light, by at most (max k_d)^2 / 24 of it.
 */
#ifndef HOMENODE_PLANE_WAVE_H
#define HOMENODE_PLANE_WAVE_H

#include "patches.h"

#include <math.h>

struct plane_wave {
  double k[DIRECTIONS], e[DIRECTIONS], h[DIRECTIONS], omega, time_step;
  int64_t cells[DIRECTIONS]; /* of the domain; the wave is periodic in the second and third direction */
};

enum yee_field { ELECTRIC, MAGNETIC };

KERNEL_UNTRACED static void cross_product(const double* a, const double* b, double* result) {
  for (int d = 0; d < DIRECTIONS; ++d) result[d] = a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3];
}

KERNEL_UNTRACED static double length_of(const double* a) { return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]); }

/* Ten cells a wavelength in the first direction, one wave over the domain in each of the others; all six components are there. */
KERNEL_UNTRACED static struct plane_wave plane_wave(const int64_t* cells, double time_step) {
  const double two_pi = 6.283185307179586, across[DIRECTIONS] = {1, 2, -1};
  struct plane_wave wave = {.k = {two_pi / 10, two_pi / (double)cells[1], two_pi / (double)cells[2]},
                            .time_step = time_step,
                            .cells = {cells[0], cells[1], cells[2]}};
  double wave_number[DIRECTIONS];
  for (int d = 0; d < DIRECTIONS; ++d) wave_number[d] = 2 * sin(wave.k[d] / 2);
  const double frequency = length_of(wave_number);
  wave.omega = 2 / time_step * asin(frequency * time_step / 2);
  cross_product(wave_number, across, wave.e);
  const double amplitude = length_of(wave.e);
  for (int d = 0; d < DIRECTIONS; ++d) wave.e[d] /= amplitude;
  cross_product(wave_number, wave.e, wave.h);
  for (int d = 0; d < DIRECTIONS; ++d) wave.h[d] /= frequency;
  return wave;
}

/* A component of the wave in a cell, which may lie outside the domain, after `steps` steps; H then is half a step behind. */
KERNEL_UNTRACED static double wave_value(const struct plane_wave* wave, enum yee_field field, int component, const int64_t* cell,
                                         int64_t steps) {
  double phase = -wave->omega * wave->time_step * ((double)steps - (field == MAGNETIC ? 0.5 : 0));
  for (int d = 0; d < DIRECTIONS; ++d) {
    const double offset = (field == ELECTRIC) == (d == component) ? 0.5 : 0;
    const int64_t at = d == 0 ? cell[d] : (cell[d] + wave->cells[d]) % wave->cells[d];
    phase += wave->k[d] * ((double)at + offset);
  }
  return (field == ELECTRIC ? wave->e : wave->h)[component] * cos(phase);
}

/* Whether the wave travels as fast as light within the scheme's known error. */
KERNEL_UNTRACED static int phase_velocity_holds(const struct plane_wave* wave) {
  double largest = 0;
  for (int d = 0; d < DIRECTIONS; ++d) largest = fmax(largest, wave->k[d]);
  const double velocity = wave->omega / length_of(wave->k);
  return velocity <= 1 && velocity >= 1 - largest * largest / 24;
}

/* What Mur's condition of first order reflects of the wave, in amplitude (G. Mur, 1981): (1 - cos a) / (1 + cos a), a = angle of incidence.
 */
KERNEL_UNTRACED static double reflection(const struct plane_wave* wave) {
  const double cosine = wave->k[0] / length_of(wave->k);
  return (1 - cosine) / (1 + cosine);
}

#endif
