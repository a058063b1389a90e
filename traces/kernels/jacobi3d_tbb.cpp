/* jacobi3d_tbb: the six-point Jacobi solver of jacobi3d.c with Threading Building Blocks.
 * Source: M. Wittmann, G. Hager, "Optimizing ccNUMA locality for task-parallel execution under OpenMP and TBB on
 * multicore-based systems" (2010), section 3.1: parallel_for over a three-dimensional range of blocks, one block the smallest unit,
 * for the initialisation as for the sweeps; partitioner=affinity gives both the same affinity_partitioner, which sends a block to the
 * thread that had it before. Problem and self-check are jacobi3d's. Debian's package is libtbb-dev.
 */
#include "jacobi3d_blocks.h"

#include <tbb/blocked_range3d.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>

namespace {

using BlockRange = tbb::blocked_range3d<int64_t>;

struct Problem {
  int64_t ni, nj, nk, bi, bj, bk;

  [[nodiscard]] BlockRange blocks() const { return {0, i_blocks(), 1, 0, j_blocks(), 1, 0, k_blocks(), 1}; }
  [[nodiscard]] int64_t i_blocks() const { return (ni + bi - 1) / bi; }
  [[nodiscard]] int64_t j_blocks() const { return (nj + bj - 1) / bj; }
  [[nodiscard]] int64_t k_blocks() const { return (nk + bk - 1) / bk; }
};

/* What the two functors do with a subrange: one of its blocks after the other, numbered as jacobi3d's collapsed loop numbers them. */
template <class Visit>
KERNEL_INLINE void each_block(const BlockRange& range, Problem of, Visit visit) {
  for (int64_t ib = range.pages().begin(); ib < range.pages().end(); ++ib)
    for (int64_t jb = range.rows().begin(); jb < range.rows().end(); ++jb)
      for (int64_t kb = range.cols().begin(); kb < range.cols().end(); ++kb) {
        HOMENODE_ITEM_BEGIN((ib * of.j_blocks() + jb) * of.k_blocks() + kb);
        visit(box{ib * of.bi, (ib + 1) * of.bi, jb * of.bj, (jb + 1) * of.bj, kb * of.bk, (kb + 1) * of.bk});
        HOMENODE_ITEM_END();
      }
}

/* The members are copied first: an item's own accesses are those of its sites. */
class TouchBlocks {
public:
  TouchBlocks(const Problem& problem, double* source, double* target) : problem_(problem), source_(source), target_(target) {}
  void operator()(const BlockRange& range) const {
    const Problem of = problem_;
    double *const source = source_, *const target = target_;
    each_block(
        range, of, [=](box block) __attribute__((always_inline)) { initialise_block(source, target, of.ni, of.nj, of.nk, block); });
  }

private:
  Problem problem_;
  double *source_, *target_;
};

class UpdateBlocks {
public:
  UpdateBlocks(const Problem& problem, const double* source, double* target) : problem_(problem), source_(source), target_(target) {}
  void operator()(const BlockRange& range) const {
    const Problem of = problem_;
    const double* const source = source_;
    double* const target = target_;
    each_block(
        range, of, [=](box block) __attribute__((always_inline)) { sweep_block(source, target, of.ni, of.nj, of.nk, block); });
  }

private:
  Problem problem_;
  const double* source_;
  double* target_;
};

template <class Body>
void run(const Problem& problem, const Body& body, tbb::affinity_partitioner* same_thread) {
  const BlockRange blocks = problem.blocks();
  HOMENODE_LOOP_BEGIN(problem.i_blocks() * problem.j_blocks() * problem.k_blocks());
  if (same_thread)
    tbb::parallel_for(blocks, body, *same_thread);
  else
    tbb::parallel_for(blocks, body);
  HOMENODE_LOOP_END();
}

}  // namespace

int main(int argc, char** argv) {
  enum { NI, NJ, NK, BI, BJ, BK, SWEEPS, PARTITIONER, THREADS, CHECK, COUNT };
  struct kernel_parameter p[COUNT] = {{"ni", 48, 3, 1 << 20, NULL},      {"nj", 48, 3, 1 << 20, NULL},
                                      {"nk", 48, 3, 1 << 20, NULL},      {"bi", 8, 1, 1 << 20, NULL},
                                      {"bj", 8, 1, 1 << 20, NULL},       {"bk", 48, 1, 1 << 20, NULL},
                                      {"sweeps", 2, 1, 1 << 20, NULL},   {"partitioner", 0, 0, 0, "auto|affinity"},
                                      {"tbb_threads", 1, 1, 4096, NULL}, {"check", 1, 0, 1, NULL}};
  kernel_parameters(argc, argv, "jacobi3d_tbb", p, COUNT);
  const Problem problem{p[NI].value, p[NJ].value, p[NK].value, p[BI].value, p[BJ].value, p[BK].value};
  const size_t sites = static_cast<size_t>(problem.ni * problem.nj * problem.nk);
  auto* source = static_cast<double*>(kernel_allocate("jacobi3d_tbb", sites, sizeof(double)));
  auto* target = static_cast<double*>(kernel_allocate("jacobi3d_tbb", sites, sizeof(double)));
  const tbb::global_control threads(tbb::global_control::max_allowed_parallelism, static_cast<size_t>(p[THREADS].value));
  tbb::affinity_partitioner partitioner;
  tbb::affinity_partitioner* const same_thread = p[PARTITIONER].value == 1 ? &partitioner : NULL;

  double begin = KERNEL_REGION("init");
  run(problem, TouchBlocks(problem, source, target), same_thread);
  kernel_time("init", begin);

  homenode_streamable(source, sites * sizeof(double));
  homenode_streamable(target, sites * sizeof(double));
  for (int64_t sweep = 0; sweep < p[SWEEPS].value; ++sweep) {
    HOMENODE_STEP(sweep);
    begin = KERNEL_REGION("sweep");
    run(problem, UpdateBlocks(problem, source, target), same_thread);
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
