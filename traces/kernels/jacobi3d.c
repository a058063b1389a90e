/* jacobi3d: six-point Jacobi solver with constant coefficients in three dimensions, blocked.
 * Source: M. Wittmann, G. Hager, "Optimizing ccNUMA locality for task-parallel execution under OpenMP and TBB on
 * multicore-based systems" (2010), section 1.4: F[t+1](i,j,k) = c * (the six neighbours of F[t](i,j,k)), worksharing over the
 * three collapsed block loops with schedule(runtime), first-touch initialisation by the identical scheme, k the fast index.
 * The paper's problem: ni=2400 nj=600 nk=600 bi=10 bj=10 bk=600 (two grids of 6.91 GB, 14400 blocks).
 * The outermost layer of sites is a fixed boundary. The initialisation writes only; a sweep reads six neighbours and writes
 * one site. A sweep's stores may bypass the caches (Table 1, "NT").
 * Self-check: c = 1/6 and u = i*i - j*j + i*k + 3*k is a fixed point of the scheme (its discrete Laplacian is zero), so every
 * sweep must turn the target grid, zero inside at first, into u.
 */
#include "jacobi3d_blocks.h"

int main(int argc, char** argv) {
  enum { NI, NJ, NK, BI, BJ, BK, SWEEPS, INIT, CHECK, COUNT };
  struct kernel_parameter p[COUNT] = {{"ni", 48, 3, 1 << 20, NULL},    {"nj", 48, 3, 1 << 20, NULL},         {"nk", 48, 3, 1 << 20, NULL},
                                      {"bi", 8, 1, 1 << 20, NULL},     {"bj", 8, 1, 1 << 20, NULL},          {"bk", 48, 1, 1 << 20, NULL},
                                      {"sweeps", 2, 1, 1 << 20, NULL}, {"init", 1, 0, 0, "serial|parallel"}, {"check", 1, 0, 1, NULL}};
  kernel_parameters(argc, argv, "jacobi3d", p, COUNT);
  const int64_t ni = p[NI].value, nj = p[NJ].value, nk = p[NK].value;
  const int64_t bi = p[BI].value, bj = p[BJ].value, bk = p[BK].value;
  const int64_t i_blocks = (ni + bi - 1) / bi, j_blocks = (nj + bj - 1) / bj, k_blocks = (nk + bk - 1) / bk;
  const size_t sites = (size_t)ni * (size_t)nj * (size_t)nk;
  double* source = kernel_allocate("jacobi3d", sites, sizeof(double));
  double* target = kernel_allocate("jacobi3d", sites, sizeof(double));

  double begin = KERNEL_REGION("init");
  if (p[INIT].value == 1) {
#pragma omp parallel for collapse(3) schedule(runtime)
    for (int64_t ib = 0; ib < i_blocks; ++ib)
      for (int64_t jb = 0; jb < j_blocks; ++jb)
        for (int64_t kb = 0; kb < k_blocks; ++kb)
          initialise_block(source, target, ni, nj, nk,
                           (struct box){ib * bi, (ib + 1) * bi, jb * bj, (jb + 1) * bj, kb * bk, (kb + 1) * bk});
  } else {
    for (int64_t ib = 0; ib < i_blocks; ++ib)
      for (int64_t jb = 0; jb < j_blocks; ++jb)
        for (int64_t kb = 0; kb < k_blocks; ++kb)
          initialise_block(source, target, ni, nj, nk,
                           (struct box){ib * bi, (ib + 1) * bi, jb * bj, (jb + 1) * bj, kb * bk, (kb + 1) * bk});
  }
  kernel_time("init", begin);

  homenode_streamable(source, sites * sizeof(double));
  homenode_streamable(target, sites * sizeof(double));
  for (int64_t sweep = 0; sweep < p[SWEEPS].value; ++sweep) {
    HOMENODE_STEP(sweep);
    begin = KERNEL_REGION("sweep");
#pragma omp parallel for collapse(3) schedule(runtime)
    for (int64_t ib = 0; ib < i_blocks; ++ib)
      for (int64_t jb = 0; jb < j_blocks; ++jb)
        for (int64_t kb = 0; kb < k_blocks; ++kb)
          sweep_block(source, target, ni, nj, nk, (struct box){ib * bi, (ib + 1) * bi, jb * bj, (jb + 1) * bj, kb * bk, (kb + 1) * bk});
    kernel_time("sweep", begin);
    double* swap = source;
    source = target;
    target = swap;
  }
  HOMENODE_STEP(-1);

  const int code = p[CHECK].value ? kernel_verdict("jacobi3d", wrong_sites(source, ni, nj, nk), "sites differ from the fixed point") : 0;
  free(source);
  free(target);
  return code;
}
