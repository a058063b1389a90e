/* Bulk operations as accesses of at most 64 bytes: what the program calls by these names is linked with --wrap (the drop-in
 * compiler's list and this file belong together); calls from inside libc stay as they are. What the kernel or libc delivers into
 * the program's memory is written by the thread that asked.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "blocks.h"
#include "runtime.h"

#define SITE __builtin_return_address(0)

/* Reads and writes in turn, cut at the target's lines. */
static void copied(void* to, const void* from, size_t n, const void* site) {
  for (size_t at = 0; hn_on && at < n;) {
    size_t piece = 64 - (((uintptr_t)to + at) & 63);
    if (piece > n - at) piece = n - at;
    hn_access((uintptr_t)from + at, (uintptr_t)site, HN_READ, (unsigned)piece, HN_FLAG_BULK);
    hn_access((uintptr_t)to + at, (uintptr_t)site, HN_WRITE, (unsigned)piece, HN_FLAG_BULK);
    at += piece;
  }
}
static void delivered(void* to, ssize_t n, const void* site) {
  if (hn_on && n > 0) hn_range((uintptr_t)to, (size_t)n, (uintptr_t)site, HN_WRITE, HN_FLAG_BULK);
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
void* __wrap_mempcpy(void* d, const void* s, size_t n) {
  copied(d, s, n, SITE);
  return (char*)__real_memcpy(d, s, n) + n;
}
void* __wrap_memset(void* d, int c, size_t n) {
  delivered(d, (ssize_t)n, SITE);
  return __real_memset(d, c, n);
}
/* What _FORTIFY_SOURCE makes of them: `room` is the target's size as far as gcc knows it. */
void __chk_fail(void) __attribute__((noreturn));
void* __wrap___memcpy_chk(void* d, const void* s, size_t n, size_t room) {
  if (n > room) __chk_fail();
  copied(d, s, n, SITE);
  return __real_memcpy(d, s, n);
}
void* __wrap___memmove_chk(void* d, const void* s, size_t n, size_t room) {
  if (n > room) __chk_fail();
  copied(d, s, n, SITE);
  return __real_memmove(d, s, n);
}
void* __wrap___mempcpy_chk(void* d, const void* s, size_t n, size_t room) {
  if (n > room) __chk_fail();
  copied(d, s, n, SITE);
  return (char*)__real_memcpy(d, s, n) + n;
}
void* __wrap___memset_chk(void* d, int c, size_t n, size_t room) {
  if (n > room) __chk_fail();
  delivered(d, (ssize_t)n, SITE);
  return __real_memset(d, c, n);
}

static char* duplicate(const char* text, size_t length, const void* site) {
  /* A program may have a malloc of its own, whose blocks its own free takes. */
  char* p = hn_is_own_heap() ? hn_obtain(length + 1, 16, site) : malloc(length + 1);
  if (!p) return 0;
  copied(p, text, length, site);
  hn_copy(p, text, length);
  p[length] = 0;
  return p;
}
char* __wrap_strdup(const char* text) { return duplicate(text, strlen(text), SITE); }
char* __wrap_strndup(const char* text, size_t n) { return duplicate(text, strnlen(text, n), SITE); }

ssize_t __real_read(int, void*, size_t);
ssize_t __real_pread(int, void*, size_t, off_t);
ssize_t __real_readv(int, const struct iovec*, int);
size_t __real_fread(void*, size_t, size_t, FILE*);
size_t __real_fread_unlocked(void*, size_t, size_t, FILE*);
ssize_t __wrap_read(int file, void* to, size_t n) {
  const ssize_t found = __real_read(file, to, n);
  delivered(to, found, SITE);
  return found;
}
ssize_t __wrap___read_chk(int file, void* to, size_t n, size_t room) {
  if (n > room) __chk_fail();
  const ssize_t found = __real_read(file, to, n);
  delivered(to, found, SITE);
  return found;
}
ssize_t __wrap_pread(int file, void* to, size_t n, off_t offset) {
  const ssize_t found = __real_pread(file, to, n, offset);
  delivered(to, found, SITE);
  return found;
}
ssize_t __wrap_pread64(int file, void* to, size_t n, off_t offset) {
  const ssize_t found = __real_pread(file, to, n, offset);
  delivered(to, found, SITE);
  return found;
}
ssize_t __wrap_readv(int file, const struct iovec* parts, int count) {
  const ssize_t found = __real_readv(file, parts, count);
  for (ssize_t left = found, i = 0; left > 0; ++i) {
    const ssize_t here = left < (ssize_t)parts[i].iov_len ? left : (ssize_t)parts[i].iov_len;
    delivered(parts[i].iov_base, here, SITE);
    left -= here;
  }
  return found;
}
size_t __wrap_fread(void* to, size_t size, size_t count, FILE* file) {
  const size_t found = __real_fread(to, size, count, file);
  delivered(to, (ssize_t)(found * size), SITE);
  return found;
}
size_t __wrap_fread_unlocked(void* to, size_t size, size_t count, FILE* file) {
  const size_t found = __real_fread_unlocked(to, size, count, file);
  delivered(to, (ssize_t)(found * size), SITE);
  return found;
}
size_t __wrap___fread_chk(void* to, size_t room, size_t size, size_t count, FILE* file) {
  size_t bytes;
  if (__builtin_mul_overflow(size, count, &bytes) || bytes > room) __chk_fail();
  const size_t found = __real_fread(to, size, count, file);
  delivered(to, (ssize_t)(found * size), SITE);
  return found;
}

/* A mapped file's content counts as written where it is mapped: its pages come from there, not from the zero page. */
void hn_mapped_file(void* at, size_t bytes, int file, off_t offset, const void* site) {
  struct stat about;
  if (!hn_on || fstat(file, &about) != 0 || !S_ISREG(about.st_mode) || offset >= about.st_size) return;
  const size_t left = (size_t)(about.st_size - offset);
  hn_range((uintptr_t)at, left < bytes ? left : bytes, (uintptr_t)site, HN_WRITE, HN_FLAG_BULK);
}
