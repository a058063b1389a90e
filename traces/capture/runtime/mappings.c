/* Where the program's later mappings go. The loader leaves holes between the libraries, one of them of the size of /etc/ld.so.cache; a
 * mapping that fits goes into a hole, one that does not goes beyond all that is there, and the distances between mappings follow. The
 * holes are therefore filled with pages that nobody may touch: what the program maps begins at a multiple of HN_MAPPINGS_ALIGN, in the
 * order of its calls. That is more than what the kernel (2 MiB, for huge pages) and the C library (64 MiB, for its arenas) round to. */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/resource.h>

#include "runtime.h"

/* PROBE: more than any hole, and than the alignment. PIECES: of one size that are tried; a hole takes at most one of each size below the
 * largest. */
static const size_t PROBE = 2 * HN_MAPPINGS_ALIGN, SMALLEST = 4096;
enum { PIECES = 64 };

static uintptr_t reserve(size_t bytes) {
  void* p = mmap(0, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? 0 : (uintptr_t)p;
}
static void give_back(uintptr_t from, uintptr_t to) {
  if (from < to) munmap((void*)from, to - from);
}

/* Under a limit of the address space nothing is filled. The libraries lie on the other side of where mappings begin. */
void hn_fill_holes(uintptr_t library) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur != RLIM_INFINITY) return;
  const uintptr_t probe = reserve(PROBE), second = probe ? reserve(PROBE) : 0;
  if (!second) {
    if (probe) give_back(probe, probe + PROBE);
    return;
  }
  /* Down from the stack, or up where the stack's size has no limit. */
  const bool down = second < probe;
  give_back(second, second + PROBE);
  for (size_t bytes = PROBE / 2; bytes >= SMALLEST; bytes /= 2)
    for (unsigned n = 0; n < PIECES; ++n) {
      const uintptr_t piece = reserve(bytes);
      if (!piece) break;
      if (down ? piece > probe : piece < probe) continue;
      give_back(piece, piece + bytes);
      break;
    }
  const uintptr_t begin = (down ? probe + PROBE : probe + HN_MAPPINGS_ALIGN - 1) & -HN_MAPPINGS_ALIGN;
  give_back(down ? probe : begin, down ? begin : probe + PROBE);
  hn_origins.library = library;
  hn_origins.libraries_low = down ? begin : library - HN_MAPPINGS_ALIGN;
  hn_origins.libraries_bytes = (down ? library + HN_MAPPINGS_ALIGN : begin) - hn_origins.libraries_low;
}
