/* heap_list1: every thread allocates blocks, writes them, and frees those of its left neighbour.
 * Source: Z. Yang, A. Zhang, Z. Mo, "JArena: Partitioned Shared Memory for NUMA-awareness in Multi-threaded Scientific Applications"
 * (S1), List. 1, with 64 blocks of 1 MB a thread; run once to warm the heap manager up, then five times. The listing frees a row of
 * the table; the index of the block, which it misses, is added. Where the listing writes '1', here the byte tells the thread and
 * the block. A memset of whole lines may bypass the caches, as that of Intel's compiler, whose affinity S1 sets, does for large blocks.
 * Self-check: before a block is freed, each of its pages, and its last byte, hold what its owner wrote: no block was lost, shared
 * or freed early.
 */
#include "kernel.h"

#ifdef _OPENMP
#include <omp.h>
#endif

KERNEL_INLINE static int content(int64_t rank, int64_t block, int64_t pass) { return (int)((rank * 67 + block * 5 + pass + '1') & 0xff); }

/* Untraced: the check shows in no trace and touches no page that was not written. */
KERNEL_UNTRACED static int64_t wrong_bytes(const char* block, int64_t bytes, int expected) {
  int64_t wrong = 0;
  for (int64_t at = 0; at < bytes; at += 4096) wrong += (unsigned char)block[at] != expected;
  return wrong + ((unsigned char)block[bytes - 1] != expected);
}

int main(int argc, char** argv) {
  enum { BLOCKS, BYTES, PASSES, CHECK, COUNT };
  struct kernel_parameter p[COUNT] = {{"blocks", 64, 1, 1 << 20, NULL},
                                      {"bytes", 1048576, 1, (int64_t)1 << 32, NULL},
                                      {"passes", 6, 1, 1 << 20, NULL},
                                      {"check", 1, 0, 1, NULL}};
  kernel_parameters(argc, argv, "heap_list1", p, COUNT);
  const int64_t blocks = p[BLOCKS].value, bytes = p[BYTES].value, threads = omp_get_max_threads();
  const int check = (int)p[CHECK].value;
  char** a = kernel_allocate("heap_list1", (size_t)(threads * blocks), sizeof(char*));
  int64_t wrong = 0;

  for (int64_t pass = 0; pass < p[PASSES].value; ++pass) {
    HOMENODE_STEP(pass);
    const double begin = KERNEL_REGION("pass");
#pragma omp parallel reduction(+ : wrong)
    {
      const int64_t rank = omp_get_thread_num(), left = (rank - 1 + threads) % threads;
      for (int64_t i = 0; i < blocks; ++i) {
        a[rank * blocks + i] = malloc((size_t)bytes);
        if (!a[rank * blocks + i]) {
          fprintf(stderr, "heap_list1: no memory for a block of %lld bytes\n", (long long)bytes);
          exit(1);
        }
        HOMENODE_OWNER(a[rank * blocks + i], (int)rank);
        homenode_streamable(a[rank * blocks + i], (size_t)bytes);
      }
      for (int64_t i = 0; i < blocks; ++i) memset(a[rank * blocks + i], content(rank, i, pass), (size_t)bytes);
#pragma omp barrier
      for (int64_t i = 0; i < blocks; ++i) {
        if (check) wrong += wrong_bytes(a[left * blocks + i], bytes, content(left, i, pass));
        free(a[left * blocks + i]);
      }
    }
    kernel_time("pass", begin);
  }
  HOMENODE_STEP(-1);

  const int code = check ? kernel_verdict("heap_list1", wrong, "bytes are not what the block's owner wrote") : 0;
  free(a);
  return code;
}
