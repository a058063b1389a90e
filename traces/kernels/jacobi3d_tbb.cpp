/* jacobi3d_tbb: the six-point Jacobi solver of jacobi3d.c with Threading Building Blocks.
 * Source: M. Wittmann, G. Hager, "Optimizing ccNUMA locality for task-parallel execution under OpenMP and TBB on
 * multicore-based systems" (2010), section 3.1: parallel_for over a three-dimensional range of blocks, one block the smallest unit,
 * for the initialisation as for the sweeps; partitioner=affinity gives both the same affinity_partitioner, which sends a block to the
 * thread that had it before. Problem and self-check are jacobi3d's. Debian's package is libtbb-dev.
 */
#include "jacobi3d_blocks.h"

#if !__has_include(<tbb/parallel_for.h>)
int main() {
  fprintf(stderr, "jacobi3d_tbb: built without Threading Building Blocks\n");
  return 2;
}
#else

#include <tbb/blocked_range3d.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>

namespace {

using BlockRange = tbb::blocked_range3d<int64_t>;

struct Problem {
  int64_t ni, nj, nk, bi, bj, bk;

  [[nodiscard]] BlockRange blocks() const { return {0, (ni + bi - 1) / bi, 1, 0, (nj + bj - 1) / bj, 1, 0, (nk + bk - 1) / bk, 1}; }

  /* What the two functors do with a subrange: one of its blocks after the other. */
  template <class Visit>
  void each_block(const BlockRange& range, Visit visit) const {
    for (int64_t ib = range.pages().begin(); ib < range.pages().end(); ++ib)
      for (int64_t jb = range.rows().begin(); jb < range.rows().end(); ++jb)
        for (int64_t kb = range.cols().begin(); kb < range.cols().end(); ++kb)
          visit(box{ib * bi, (ib + 1) * bi, jb * bj, (jb + 1) * bj, kb * bk, (kb + 1) * bk});
  }
};

class TouchBlocks {
public:
  TouchBlocks(const Problem& problem, double* source, double* target) : problem_(problem), source_(source), target_(target) {}
  void operator()(const BlockRange& range) const {
    problem_.each_block(range, [this](box block) { initialise_block(source_, target_, problem_.ni, problem_.nj, problem_.nk, block); });
  }

private:
  Problem problem_;
  double *source_, *target_;
};

class UpdateBlocks {
public:
  UpdateBlocks(const Problem& problem, const double* source, double* target) : problem_(problem), source_(source), target_(target) {}
  void operator()(const BlockRange& range) const {
    problem_.each_block(range, [this](box block) { sweep_block(source_, target_, problem_.ni, problem_.nj, problem_.nk, block); });
  }

private:
  Problem problem_;
  const double* source_;
  double* target_;
};

}  // namespace

int main(int argc, char** argv) {
  enum { NI, NJ, NK, BI, BJ, BK, SWEEPS, PARTITIONER, THREADS, CHECK, COUNT };
  struct kernel_parameter p[COUNT] = {{"ni", 48, 3, 1 << 20, NULL},    {"nj", 48, 3, 1 << 20, NULL},
                                      {"nk", 48, 3, 1 << 20, NULL},    {"bi", 8, 1, 1 << 20, NULL},
                                      {"bj", 8, 1, 1 << 20, NULL},     {"bk", 48, 1, 1 << 20, NULL},
                                      {"sweeps", 2, 1, 1 << 20, NULL}, {"partitioner", 0, 0, 0, "auto|affinity"},
                                      {"threads", 1, 1, 4096, NULL},   {"check", 1, 0, 1, NULL}};
  kernel_parameters(argc, argv, "jacobi3d_tbb", p, COUNT);
  const Problem problem{p[NI].value, p[NJ].value, p[NK].value, p[BI].value, p[BJ].value, p[BK].value};
  const bool affinity = p[PARTITIONER].value == 1;
  const size_t sites = static_cast<size_t>(problem.ni * problem.nj * problem.nk);
  auto* source = static_cast<double*>(kernel_allocate("jacobi3d_tbb", sites, sizeof(double)));
  auto* target = static_cast<double*>(kernel_allocate("jacobi3d_tbb", sites, sizeof(double)));
  const tbb::global_control threads(tbb::global_control::max_allowed_parallelism, static_cast<size_t>(p[THREADS].value));
  tbb::affinity_partitioner same_thread;

  HOMENODE_LABEL("init");
  double begin = kernel_clock();
  if (affinity)
    tbb::parallel_for(problem.blocks(), TouchBlocks(problem, source, target), same_thread);
  else
    tbb::parallel_for(problem.blocks(), TouchBlocks(problem, source, target));
  kernel_time("init", begin);

  homenode_streamable(source, sites * sizeof(double));
  homenode_streamable(target, sites * sizeof(double));
  for (int64_t sweep = 0; sweep < p[SWEEPS].value; ++sweep) {
    HOMENODE_STEP(sweep);
    HOMENODE_LABEL("sweep");
    begin = kernel_clock();
    if (affinity)
      tbb::parallel_for(problem.blocks(), UpdateBlocks(problem, source, target), same_thread);
    else
      tbb::parallel_for(problem.blocks(), UpdateBlocks(problem, source, target));
    kernel_time("sweep", begin);
    double* swap = source;
    source = target;
    target = swap;
  }
  HOMENODE_STEP(-1);

  const int code = p[CHECK].value ? kernel_verdict("jacobi3d_tbb", wrong_sites(source, problem.ni, problem.nj, problem.nk),
                                                   "sites differ from the fixed point")
                                  : 0;
  free(source);
  free(target);
  return code;
}
#endif
