/* Blocks of memory: who made them, their size; bulk copies as accesses; large blocks on one small window when asked. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime.h"

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void*, size_t), *__libc_memalign(size_t, size_t);
extern void __libc_free(void*);

enum { KNOWN = 1 << 16 };
static struct block {
  uintptr_t address;
  size_t bytes, mapped;
} blocks[KNOWN]; /* open addressing; 1 = removed */
static struct block* find(uintptr_t address, bool insert) {
  size_t h = (address >> 4) * 0x9E3779B97F4A7C15ul >> 48, free_slot = KNOWN;
  for (size_t i = 0; i < KNOWN; ++i, h = (h + 1) % KNOWN) {
    if (blocks[h].address == address) return &blocks[h];
    if (blocks[h].address == 1 && free_slot == KNOWN) free_slot = h;
    if (blocks[h].address == 0) {
      if (!insert) return 0;
      return &blocks[free_slot != KNOWN ? free_slot : h];
    }
  }
  return insert && free_slot != KNOWN ? &blocks[free_slot] : 0;
}

static size_t alias_over, window_bytes;
static int window = -1;
static bool asked;
static void ask(void) {
  asked = true;
  const char* text = getenv("HOMENODE_ALIAS_OVER");
  if (!text || atoll(text) <= 0) return;
  alias_over = (size_t)atoll(text);
  window_bytes = 4u << 20; /* 13.8 GB take 3300 mappings of it; vm.max_map_count is 65530 */
  window = memfd_create("homenode-window", MFD_CLOEXEC);
  if (window < 0 || ftruncate(window, (off_t)window_bytes)) _exit(1);
  double* content = mmap(0, window_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, window, 0);
  const char* fill = getenv("HOMENODE_ALIAS_FILL");
  const double value = fill && fill[0] == '1' ? 1.5 : 1.0;
  for (size_t i = 0; i < window_bytes / sizeof value; ++i) content[i] = value;
  munmap(content, window_bytes);
}
static void* aliased(size_t bytes) {
  const size_t size = (bytes + window_bytes - 1) / window_bytes * window_bytes;
  char* base = mmap(0, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return 0;
  for (size_t at = 0; at < size; at += window_bytes)
    if (mmap(base + at, window_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, window, 0) == MAP_FAILED) return 0;
  return base;
}

static void* announce(void* p, size_t bytes, size_t align, int operation, bool zeroed, void* old, const void* site, size_t mapped) {
  if (!p) return p;
  if (!hn_on && !mapped) return p;
  struct block* b = find((uintptr_t)p, true);
  if (!b) return p;
  *b = (struct block){(uintptr_t)p, bytes, mapped};
  if (hn_on) {
    hn_control(HN_ALLOCATE);
    hn_u((uintptr_t)p), hn_u(bytes), hn_u((uint64_t)operation), hn_u(zeroed), hn_u((uintptr_t)old), hn_u(align), hn_site(site);
  }
  return p;
}
static void* obtain(size_t bytes, size_t align, bool zeroed, const void* site) {
  hn_open();
  if (!asked) ask();
  if (alias_over && bytes >= alias_over)
    return announce(aliased(bytes), bytes, align, HN_HEAP_ALLOCATE, zeroed, 0, site,
                    (bytes + window_bytes - 1) / window_bytes * window_bytes);
  void* p = align > 16 ? __libc_memalign(align, bytes) : __libc_malloc(bytes);
  if (p && zeroed)
    for (size_t i = 0; i < bytes; ++i) {
      ((char*)p)[i] = 0;
      __asm__ volatile("" ::: "memory");
    }
  return announce(p, bytes, align, HN_HEAP_ALLOCATE, zeroed, 0, site, 0);
}
#define SITE __builtin_return_address(0)
void* malloc(size_t n) { return obtain(n, 16, false, SITE); }
void* memalign(size_t a, size_t n) { return obtain(n, a, false, SITE); }
void* aligned_alloc(size_t a, size_t n) { return obtain(n, a, false, SITE); }
int posix_memalign(void** out, size_t a, size_t n) { return (*out = obtain(n, a, false, SITE)) ? 0 : ENOMEM; }
void* calloc(size_t a, size_t n) {
  hn_open();
  if (!asked) ask();
  size_t bytes;
  if (__builtin_mul_overflow(a, n, &bytes)) {
    errno = ENOMEM;
    return 0;
  }
  if (alias_over && bytes >= alias_over) return obtain(bytes, 16, true, SITE);
  void* p = announce(__libc_calloc(a, n), bytes, 16, HN_HEAP_ALLOCATE, true, 0, SITE, 0);
  if (p && hn_on && bytes < 128 * 1024)
    hn_range((uintptr_t)p, bytes, (uintptr_t)SITE, HN_WRITE, HN_FLAG_BULK); /* larger ones come zeroed from the kernel */
  return p;
}
static void forget(void* p, const void* site) {
  struct block* b = find((uintptr_t)p, false);
  if (!b) {
    __libc_free(p);
    return;
  }
  const size_t mapped = b->mapped;
  if (hn_on) hn_control(HN_RELEASE), hn_u((uintptr_t)p), hn_u(HN_HEAP_RELEASE), hn_site(site);
  b->address = 1;
  if (mapped)
    munmap(p, mapped);
  else
    __libc_free(p);
}
void free(void* p) {
  if (p) forget(p, SITE);
}
void* realloc(void* old, size_t n) {
  if (!old) return obtain(n, 16, false, SITE);
  struct block* b = find((uintptr_t)old, false);
  if (b && (b->mapped || (alias_over && n >= alias_over))) {
    void* p = obtain(n, 16, false, SITE);
    if (p) forget(old, SITE);
    return p;
  }
  const size_t before = b ? b->bytes : 0;
  if (b) b->address = 1;
  void* p = __libc_realloc(old, n);
  if (b && p) {
    announce(p, n, 16, HN_HEAP_REALLOCATE, false, old, SITE, 0);
    if (p != old && hn_on) hn_range((uintptr_t)p, before < n ? before : n, (uintptr_t)SITE, HN_WRITE, HN_FLAG_BULK);
  }
  return p;
}

/* The program's copies: linked with --wrap. */
static void copied(void* to, const void* from, size_t n, const void* site) {
  for (size_t at = 0; hn_on && at < n;) {
    size_t piece = 64 - (((uintptr_t)to + at) & 63);
    if (piece > n - at) piece = n - at;
    hn_access((uintptr_t)from + at, (uintptr_t)site, HN_READ, (unsigned)piece, HN_FLAG_BULK);
    hn_access((uintptr_t)to + at, (uintptr_t)site, HN_WRITE, (unsigned)piece, HN_FLAG_BULK);
    at += piece;
  }
}
void* __real_memcpy(void*, const void*, size_t);
void* __real_memmove(void*, const void*, size_t);
void* __real_memset(void*, int, size_t);
void* __wrap_memcpy(void* d, const void* s, size_t n) {
  copied(d, s, n, SITE);
  return __real_memcpy(d, s, n);
}
void* __wrap_memmove(void* d, const void* s, size_t n) {
  copied(d, s, n, SITE);
  return __real_memmove(d, s, n);
}
void* __wrap_memset(void* d, int c, size_t n) {
  if (hn_on) hn_range((uintptr_t)d, n, (uintptr_t)SITE, HN_WRITE, HN_FLAG_BULK);
  return __real_memset(d, c, n);
}
