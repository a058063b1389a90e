/* Pages that thread 0 touches first and other threads read, pass after pass: what automatic NUMA balancing makes of them.
 *
 * balance name=NAME pages=N readers=RANK[:PASSES],... passes=N milliseconds=N [report=0]
 *
 * Each named thread of the team reads the first byte of every page, its PASSES times in a pass (1 if not given), and does some sums
 * between; a barrier ends the pass. It ends after `milliseconds` (in the guest) or, with report=0 (when it is traced), after `passes`.
 * Prints "@@ balance NAME first=MS NODE*COUNT NODE*COUNT ...": when a page was first seen on another node, -1 if never, and the pages'
 * nodes at the end.
 */
#include "locate.h"

#include <omp.h>
#include <sys/mman.h>
#include <time.h>

enum { MOST_THREADS = 256, SUMS = 1000, LOOK_EVERY = 20 /* ms */ };

static volatile char* area;
static volatile unsigned sums[MOST_THREADS * 64]; /* one to a cache line */

UNTRACED static int64_t milliseconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

UNTRACED static int any_moved(int64_t pages, int* nodes) {
  locate((char*)area, pages, nodes);
  for (int64_t page = 1; page < pages; ++page)
    if (nodes[page] != nodes[0]) return 1;
  return nodes[0] != 0;
}

UNTRACED static void read_passes_of(const char* readers, int* passes_of) {
  for (const char* at = readers; *at;) {
    char* end;
    const long rank = strtol(at, &end, 10);
    if (rank < 0 || rank >= MOST_THREADS) exit(2);
    passes_of[rank] = *end == ':' ? (int)strtol(end + 1, &end, 10) : 1;
    at = *end == ',' ? end + 1 : end;
    if (*end != ',' && *end != 0) exit(2);
  }
}

static void read_all(int64_t pages, int rank) {
  unsigned sum = 0;
  for (int64_t page = 0; page < pages; ++page) {
    sum += (unsigned)area[page * PAGE];
    for (unsigned i = 0; i < SUMS; ++i) sum = sum * 3 + i;
  }
  sums[rank * 64] = sum;
}

int main(int argc, char** argv) {
  const int64_t pages = number(argc, argv, "pages", "64"), passes = number(argc, argv, "passes", "1");
  const int64_t milliseconds = number(argc, argv, "milliseconds", "1000");
  const int reports = (int)number(argc, argv, "report", "1");
  int passes_of[MOST_THREADS] = {0};
  read_passes_of(argument(argc, argv, "readers", "0"), passes_of);
  int* nodes = malloc((size_t)pages * sizeof(int));
  area = mmap(NULL, (size_t)pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (area == MAP_FAILED || !nodes) return 1;
  for (int64_t page = 0; page < pages; ++page) area[page * PAGE] = 1;
  int64_t begin = milliseconds_now(), looked = begin, first = -1;
  int goes_on = 1;
  for (int64_t pass = 0; goes_on; ++pass) {
#pragma omp parallel
    {
      const int rank = omp_get_thread_num();
      for (int i = 0; i < passes_of[rank]; ++i) read_all(pages, rank);
    }
    if (!reports) {
      goes_on = pass + 1 < passes;
      continue;
    }
    const int64_t now = milliseconds_now();
    goes_on = now - begin < milliseconds;
    if (first >= 0 || now - looked < LOOK_EVERY) continue;
    looked = now;
    if (any_moved(pages, nodes)) first = now - begin;
  }
  if (!reports) return 0;
  locate((char*)area, pages, nodes);
  printf("@@ balance %s first=%lld", argument(argc, argv, "name", "unnamed"), (long long)first);
  for (int64_t start = 0, i = 1; i <= pages; ++i) {
    if (i < pages && nodes[i] == nodes[start]) continue;
    printf(" %d*%lld", nodes[start], (long long)(i - start));
    start = i;
  }
  printf("\n");
  return 0;
}
