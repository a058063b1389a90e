/* S1 (JArena), List. 1: every thread allocates blocks, writes them, and frees those of its left neighbour; the pages that are not on
 * the node of the thread that wrote them are counted in each pass.
 *
 * heap_list1 name=NAME blocks=64 bytes=1048576 passes=6 [report=0]
 *
 * Compiled with -DWITH_PSM it allocates by psm_alloc for its own rank, else by malloc. Prints "@@ remote NAME of=PAGES COUNT COUNT …": the
 * pages of a pass, and the remote ones of each pass. Any page that is missing ends it with code 1.
 */
#include "locate.h"

#include <omp.h>

#ifdef WITH_PSM
#include "psm.h"
#define ALLOCATE(bytes, rank) psm_alloc(bytes, rank)
#define FREE(block) psm_free(block)
#else
#define ALLOCATE(bytes, rank) malloc(bytes)
#define FREE(block) free(block)
#endif

enum { MOST_PASSES = 64, MOST_BLOCKS = 65536 };

/* Static, as in the listing: on no heap. */
static char* a[MOST_BLOCKS];

UNTRACED static int64_t remote_pages(char* block, int64_t bytes) {
  int nodes[PAGES_AT_ONCE];
  unsigned here = 0;
  syscall(SYS_getcpu, NULL, &here, NULL);
  int64_t remote = 0;
  for (int64_t begin = 0; begin < bytes / PAGE; begin += PAGES_AT_ONCE) {
    const int64_t some = bytes / PAGE - begin < PAGES_AT_ONCE ? bytes / PAGE - begin : PAGES_AT_ONCE;
    locate(block + begin * PAGE, some, nodes);
    for (int64_t i = 0; i < some; ++i) {
      if (nodes[i] < 0) {
        fprintf(stderr, "heap_list1: page status %d\n", nodes[i]);
        exit(1);
      }
      remote += nodes[i] != (int)here;
    }
  }
  return remote;
}

int main(int argc, char** argv) {
  const int64_t blocks = number(argc, argv, "blocks", "64"), bytes = number(argc, argv, "bytes", "1048576");
  const int64_t passes = number(argc, argv, "passes", "6"), threads = omp_get_max_threads();
  const int reports = (int)number(argc, argv, "report", "1");
  if (passes > MOST_PASSES || threads * blocks > MOST_BLOCKS) return 2;
  int64_t remote[MOST_PASSES] = {0};
#ifdef WITH_PSM
#pragma omp parallel
  if (psm_register_thread(omp_get_thread_num()) != 0) exit(1);
#endif
  for (int64_t pass = 0; pass < passes; ++pass) {
    int64_t of_pass = 0;
    HOMENODE_STEP(pass);
    HOMENODE_LABEL("pass");
#pragma omp parallel reduction(+ : of_pass)
    {
      const int64_t rank = omp_get_thread_num(), left = (rank - 1 + threads) % threads;
      for (int64_t i = 0; i < blocks; ++i) {
        a[rank * blocks + i] = ALLOCATE((size_t)bytes, (int)rank);
        if (!a[rank * blocks + i]) exit(1);
        HOMENODE_OWNER(a[rank * blocks + i], (int)rank);
      }
      for (int64_t i = 0; i < blocks; ++i) memset(a[rank * blocks + i], (int)('1' + pass), (size_t)bytes);
#pragma omp barrier
      if (reports) {
        for (int64_t i = 0; i < blocks; ++i) of_pass += remote_pages(a[rank * blocks + i], bytes);
#pragma omp barrier
      }
      for (int64_t i = 0; i < blocks; ++i) FREE(a[left * blocks + i]);
    }
    remote[pass] = of_pass;
  }
  HOMENODE_STEP(-1);
  if (reports) {
    printf("@@ remote %s of=%lld", argument(argc, argv, "name", "unnamed"), (long long)(threads * blocks * bytes / PAGE));
    for (int64_t pass = 0; pass < passes; ++pass) printf(" %lld", (long long)remote[pass]);
    printf("\n");
  }
  return 0;
}
