/* Blocks of memory: who made them, their size. Blocks that libc allocates for itself (stdio buffers), and those that libraries
 * allocate before the program starts, are not the program's objects: their number and size depend on where its output goes. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "blocks.h"
#include "runtime.h"

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void*, size_t), *__libc_memalign(size_t, size_t);
extern void __libc_free(void*);

static size_t alias_over, window_bytes;
static int window = -1, window_zero = -1;
static int make_window(double value) {
  const int made = memfd_create("homenode-window", MFD_CLOEXEC);
  if (made < 0 || ftruncate(made, (off_t)window_bytes)) _exit(1);
  double* content = mmap(0, window_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, made, 0);
  if (content == MAP_FAILED) _exit(1);
  for (size_t i = 0; i < window_bytes / sizeof value; ++i) content[i] = value;
  munmap(content, window_bytes);
  return made;
}
/* Fill 0 keeps calloc's promise of zeros; fill 1 breaks it on purpose, so that a program that relies on it gives another trace. */
static void ask(void) {
  static bool asked;
  if (asked) return;
  asked = true;
  const char* text = getenv("HOMENODE_ALIAS_OVER");
  if (!text || atoll(text) <= 0) return;
  alias_over = (size_t)atoll(text);
  window_bytes = 4u << 20; /* 13.8 GB take 3300 mappings of it; vm.max_map_count is 65530 */
  const char* fill = getenv("HOMENODE_ALIAS_FILL");
  const bool other = fill && fill[0] == '1';
  window = make_window(other ? 1.5 : 1.0);
  window_zero = other ? window : make_window(0.0);
}
static size_t mapped_size(size_t bytes) { return (bytes + window_bytes - 1) / window_bytes * window_bytes; }
static void* aliased(size_t bytes, bool zeroed) {
  const size_t size = mapped_size(bytes);
  char* base = mmap(0, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return 0;
  for (size_t at = 0; at < size; at += window_bytes)
    if (mmap(base + at, window_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, zeroed ? window_zero : window, 0) == MAP_FAILED) {
      munmap(base, size);
      errno = ENOMEM;
      return 0;
    }
  return base;
}

static void* announce(void* p, size_t bytes, size_t align, int operation, bool zeroed, const void* old, const void* site, size_t mapped) {
  if (!p || (!mapped && (!hn_on || !hn_started || hn_is_libc((uintptr_t)site)))) return p;
  hn_blocks_add((uintptr_t)p, bytes, mapped);
  if (hn_on) {
    hn_control(HN_ALLOCATE);
    hn_u((uintptr_t)p), hn_u(bytes), hn_u((uint64_t)operation), hn_u(zeroed), hn_u((uintptr_t)old), hn_u(align), hn_site(site);
  }
  return p;
}
void* hn_obtain(size_t bytes, size_t align, const void* site) {
  hn_open();
  ask();
  if (alias_over && bytes >= alias_over)
    return announce(aliased(bytes, false), bytes, align, HN_HEAP_ALLOCATE, false, 0, site, mapped_size(bytes));
  return announce(align > 16 ? __libc_memalign(align, bytes) : __libc_malloc(bytes), bytes, align, HN_HEAP_ALLOCATE, false, 0, site, 0);
}
#define SITE __builtin_return_address(0)
/* Under two names: a program's own malloc goes first. */
void* hn_malloc(size_t n) { return hn_obtain(n, 16, SITE); }
void* malloc(size_t n) __attribute__((alias("hn_malloc")));
bool hn_is_own_heap(void) {
  void* (*volatile found)(size_t) = malloc;
  return found == hn_malloc;
}
void* memalign(size_t a, size_t n) { return hn_obtain(n, a, SITE); }
void* aligned_alloc(size_t a, size_t n) { return hn_obtain(n, a, SITE); }
int posix_memalign(void** out, size_t a, size_t n) {
  if (a < sizeof(void*) || (a & (a - 1))) return EINVAL;
  void* p = hn_obtain(n, a, SITE);
  if (!p) return ENOMEM;
  *out = p;
  return 0;
}
void* calloc(size_t a, size_t n) {
  hn_open();
  ask();
  size_t bytes;
  if (__builtin_mul_overflow(a, n, &bytes)) {
    errno = ENOMEM;
    return 0;
  }
  if (alias_over && bytes >= alias_over)
    return announce(aliased(bytes, true), bytes, 16, HN_HEAP_ALLOCATE, true, 0, SITE, mapped_size(bytes));
  void* p = announce(__libc_calloc(a, n), bytes, 16, HN_HEAP_ALLOCATE, true, 0, SITE, 0);
  if (p && hn_on && hn_started && bytes < HN_MAPPED_FROM && !hn_is_libc((uintptr_t)SITE))
    hn_range((uintptr_t)p, bytes, (uintptr_t)SITE, HN_WRITE, HN_FLAG_BULK);
  return p;
}
void hn_give_back(void* p, const void* site) {
  struct block b;
  if (!p) return;
  if (!hn_blocks_take((uintptr_t)p, &b)) {
    __libc_free(p);
    return;
  }
  if (hn_on) hn_control(HN_RELEASE), hn_u((uintptr_t)p), hn_u(HN_HEAP_RELEASE), hn_site(site);
  if (b.mapped)
    munmap(p, b.mapped);
  else
    __libc_free(p);
}
void free(void* p) { hn_give_back(p, SITE); }
void* realloc(void* old, size_t n) {
  struct block b;
  if (!old) return hn_obtain(n, 16, SITE);
  if (!hn_blocks_find((uintptr_t)old, &b)) return __libc_realloc(old, n);
  if (b.mapped || (alias_over && n >= alias_over)) {
    void* p = hn_obtain(n, 16, SITE);
    if (!p) return 0;
    hn_copy(p, old, b.bytes < n ? b.bytes : n);
    hn_give_back(old, SITE);
    return p;
  }
  void* p = __libc_realloc(old, n);
  if (!p) {
    if (n == 0) hn_blocks_take((uintptr_t)old, &b);
    return 0;
  }
  const size_t kept = b.bytes < n ? b.bytes : n;
  const bool copies = p != old && hn_on && kept < HN_MAPPED_FROM;
  hn_blocks_take((uintptr_t)old, &b);
  if (copies) hn_range((uintptr_t)old, kept, (uintptr_t)SITE, HN_READ, HN_FLAG_BULK);
  announce(p, n, 16, HN_HEAP_REALLOCATE, false, old, SITE, 0);
  if (copies) hn_range((uintptr_t)p, kept, (uintptr_t)SITE, HN_WRITE, HN_FLAG_BULK);
  return p;
}

#ifndef HOMENODE_TWIN
void* __real_mmap(void*, size_t, int, int, int, off_t);
int __real_munmap(void*, size_t);
void __real__exit(int) __attribute__((noreturn));
void* __wrap_mmap(void* near, size_t bytes, int protection, int flags, int file, off_t offset) {
  void* p = __real_mmap(near, bytes, protection, flags, file, offset);
  if (p == MAP_FAILED) return p;
  announce(p, bytes, (size_t)sysconf(_SC_PAGESIZE), HN_HEAP_MAP, (flags & MAP_ANONYMOUS) != 0, 0, SITE, 0);
  if (!(flags & MAP_ANONYMOUS)) hn_mapped_file(p, bytes, file, offset, SITE);
  return p;
}
void* __wrap_mmap64(void*, size_t, int, int, int, off_t) __attribute__((alias("__wrap_mmap")));
int __wrap_munmap(void* p, size_t bytes) {
  struct block b;
  if (hn_on && hn_blocks_take((uintptr_t)p, &b)) hn_control(HN_RELEASE), hn_u((uintptr_t)p), hn_u(HN_HEAP_UNMAP), hn_site(SITE);
  return __real_munmap(p, bytes);
}
void __wrap__exit(int status) {
  hn_finish(status);
  __real__exit(status);
}
void __wrap__Exit(int status) { __wrap__exit(status); }
#endif
