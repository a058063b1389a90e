/* jacobi3d_tasks: the six-point Jacobi solver of jacobi3d.c with one OpenMP task for each block.
 * Source: M. Wittmann, G. Hager, "Optimizing ccNUMA locality for task-parallel execution under OpenMP and TBB on
 * multicore-based systems" (2010), section 2.1: one thread submits the blocks in a loop nest whose innermost loop runs over k
 * (order=ijk) or over i (order=kji), all threads execute them. The initialisation is jacobi3d's loop with schedule(runtime), which
 * the paper runs as static and as static,1. Problem and self-check are jacobi3d's.
 */
#include "jacobi3d_blocks.h"

enum order { IJK, KJI };

int main(int argc, char** argv) {
  enum { NI, NJ, NK, BI, BJ, BK, SWEEPS, INIT, ORDER, CHECK, COUNT };
  struct kernel_parameter p[COUNT] = {{"ni", 48, 3, 1 << 20, NULL},    {"nj", 48, 3, 1 << 20, NULL},         {"nk", 48, 3, 1 << 20, NULL},
                                      {"bi", 8, 1, 1 << 20, NULL},     {"bj", 8, 1, 1 << 20, NULL},          {"bk", 48, 1, 1 << 20, NULL},
                                      {"sweeps", 2, 1, 1 << 20, NULL}, {"init", 1, 0, 0, "serial|parallel"}, {"order", 0, 0, 0, "ijk|kji"},
                                      {"check", 1, 0, 1, NULL}};
  kernel_parameters(argc, argv, "jacobi3d_tasks", p, COUNT);
  const int64_t ni = p[NI].value, nj = p[NJ].value, nk = p[NK].value;
  const int64_t bi = p[BI].value, bj = p[BJ].value, bk = p[BK].value;
  const int64_t i_blocks = (ni + bi - 1) / bi, j_blocks = (nj + bj - 1) / bj, k_blocks = (nk + bk - 1) / bk;
  const size_t sites = (size_t)ni * (size_t)nj * (size_t)nk;
  const int serial = p[INIT].value == 0, ijk = p[ORDER].value == IJK;
  double* source = kernel_allocate("jacobi3d_tasks", sites, sizeof(double));
  double* target = kernel_allocate("jacobi3d_tasks", sites, sizeof(double));

  double begin = KERNEL_REGION("init");
  if (serial) {
    initialise_block(source, target, ni, nj, nk, (struct box){0, ni, 0, nj, 0, nk});
  } else {
#pragma omp parallel for collapse(3) schedule(runtime)
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
    const double* from = source;
    double* to = target;
    begin = KERNEL_REGION("sweep");
#pragma omp parallel
#pragma omp single
    {
      if (ijk) {
        for (int64_t ib = 0; ib < i_blocks; ++ib)
          for (int64_t jb = 0; jb < j_blocks; ++jb)
            for (int64_t kb = 0; kb < k_blocks; ++kb) {
#pragma omp task firstprivate(from, to)
              sweep_block(from, to, ni, nj, nk, (struct box){ib * bi, (ib + 1) * bi, jb * bj, (jb + 1) * bj, kb * bk, (kb + 1) * bk});
            }
      } else {
        for (int64_t kb = 0; kb < k_blocks; ++kb)
          for (int64_t jb = 0; jb < j_blocks; ++jb)
            for (int64_t ib = 0; ib < i_blocks; ++ib) {
#pragma omp task firstprivate(from, to)
              sweep_block(from, to, ni, nj, nk, (struct box){ib * bi, (ib + 1) * bi, jb * bj, (jb + 1) * bj, kb * bk, (kb + 1) * bk});
            }
      }
    }
    kernel_time("sweep", begin);
    target = source;
    source = to;
  }
  HOMENODE_STEP(-1);

  const int code =
      p[CHECK].value ? kernel_verdict("jacobi3d_tasks", wrong_sites(source, ni, nj, nk), "sites differ from the fixed point") : 0;
  free(source);
  free(target);
  return code;
}
