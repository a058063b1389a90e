/* The six-point Jacobi solver of jacobi3d.c by blocks: what its versions for loops, tasks and TBB share; C and C++.
 * A block is a box of sites; the outermost layer of sites is a fixed boundary.
 */
#ifndef HOMENODE_JACOBI3D_BLOCKS_H
#define HOMENODE_JACOBI3D_BLOCKS_H

#include "kernel.h"

/* Sites [low, high) of one block in each direction. */
struct box {
  int64_t i_low, i_high, j_low, j_high, k_low, k_high;
};

static inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

static inline double fixed_point(int64_t i, int64_t j, int64_t k) { return (double)(i * i - j * j + i * k + 3 * k); }

KERNEL_INLINE static void initialise_block(double* __restrict__ source, double* __restrict__ target, int64_t ni, int64_t nj, int64_t nk,
                                           struct box block) {
  for (int64_t i = block.i_low; i < smaller(ni, block.i_high); ++i)
    for (int64_t j = block.j_low; j < smaller(nj, block.j_high); ++j)
      for (int64_t k = block.k_low; k < smaller(nk, block.k_high); ++k) {
        const int inside = i > 0 && i < ni - 1 && j > 0 && j < nj - 1 && k > 0 && k < nk - 1;
        const int64_t site = (i * nj + j) * nk + k;
        source[site] = fixed_point(i, j, k);
        target[site] = inside ? 0.0 : fixed_point(i, j, k);
      }
}

KERNEL_INLINE static void sweep_block(const double* __restrict__ source, double* __restrict__ target, int64_t ni, int64_t nj, int64_t nk,
                                      struct box block) {
  const double c = 1.0 / 6.0;
  const int64_t row = nk, layer = nj * nk;
  for (int64_t i = larger(1, block.i_low); i < smaller(ni - 1, block.i_high); ++i)
    for (int64_t j = larger(1, block.j_low); j < smaller(nj - 1, block.j_high); ++j) {
      const double* from = source + i * layer + j * row;
      double* to = target + i * layer + j * row;
      for (int64_t k = larger(1, block.k_low); k < smaller(nk - 1, block.k_high); ++k)
        to[k] = c * (from[k - layer] + from[k + layer] + from[k - row] + from[k + row] + from[k - 1] + from[k + 1]);
    }
}

KERNEL_UNTRACED static int64_t wrong_sites(const double* grid, int64_t ni, int64_t nj, int64_t nk) {
  const double tolerance = 1e-12 * (double)(ni * ni + nj * nj + ni * nk + 3 * nk);
  int64_t wrong = 0;
  for (int64_t i = 0; i < ni; ++i)
    for (int64_t j = 0; j < nj; ++j)
      for (int64_t k = 0; k < nk; ++k) {
        const double error = grid[(i * nj + j) * nk + k] - fixed_point(i, j, k);
        if (!(error <= tolerance && error >= -tolerance)) ++wrong;
      }
  return wrong;
}

#endif
