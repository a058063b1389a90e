/* Linked into each kernel of a kit, with the allocation calls wrapped (ld's --wrap): where the kernel has put the pages of each large block
 * when it is freed, or when the program ends. Does nothing but ask the environment once unless HOMENODE_KIT_PAGES names a descriptor, to
 * which a line a block is written, "number=N bytes=B NODE*PAGES NODE*PAGES ...": the number counts large allocations, nodes are those of
 * the block's pages in order, "-" for pages that are not there (move_pages(2), which needs no right for one's own).
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LARGE = 65536, MOST_BLOCKS = 4096, PAGES_AT_ONCE = 512, LINE = 1 << 16 };

void* __real_malloc(size_t);
void* __real_calloc(size_t, size_t);
void* __real_aligned_alloc(size_t, size_t);
void* __real_realloc(void*, size_t);
void __real_free(void*);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct block {
  char* begin;
  size_t bytes, number;
} blocks[MOST_BLOCKS];
static size_t seen, kept;

static int descriptor(void) {
  static int found = -2; /* not asked yet; whoever asks first gets the same answer */
  if (found == -2) {
    const char* text = getenv("HOMENODE_KIT_PAGES");
    found = text ? atoi(text) : -1;
  }
  return found;
}

static void say(int file, const char* text, size_t size) {
  while (size > 0) {
    const ssize_t written = write(file, text, size);
    if (written <= 0) return;
    text += written;
    size -= (size_t)written;
  }
}

/* A run of `count` pages on one node, behind what the line has; a full line goes out first. */
static size_t put(int file, char* line, size_t size, int node, size_t count) {
  if (size + 64 > LINE) {
    say(file, line, size);
    size = 0;
  }
  const int added =
      node < 0 ? snprintf(line + size, LINE - size, " -*%zu", count) : snprintf(line + size, LINE - size, " %d*%zu", node, count);
  return size + (size_t)added;
}

static void report(int file, const struct block* block) {
  static char line[LINE];
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const uintptr_t first = (uintptr_t)block->begin / page, end = ((uintptr_t)block->begin + block->bytes - 1) / page + 1;
  size_t size = (size_t)snprintf(line, sizeof line, "number=%zu bytes=%zu", block->number, block->bytes), same = 0;
  int last = 0;
  for (uintptr_t at = first; at < end;) {
    void* addresses[PAGES_AT_ONCE];
    int nodes[PAGES_AT_ONCE];
    size_t some = 0;
    for (; some < PAGES_AT_ONCE && at < end; ++some, ++at) addresses[some] = (void*)(at * page);
    const long refused = syscall(SYS_move_pages, 0, (unsigned long)some, addresses, NULL, nodes, 0);
    for (size_t i = 0; i < some; ++i) {
      const int node = refused ? -1 : nodes[i] < 0 ? -1 : nodes[i];
      if (same > 0 && node != last) {
        size = put(file, line, size, last, same);
        same = 0;
      }
      last = node;
      ++same;
    }
  }
  size = put(file, line, size, last, same);
  line[size++] = '\n';
  say(file, line, size);
}

static void* allocated(void* begin, size_t bytes) {
  if (!begin || bytes < LARGE || descriptor() < 0) return begin;
  pthread_mutex_lock(&lock);
  if (kept < MOST_BLOCKS) blocks[kept++] = (struct block){begin, bytes, seen};
  ++seen;
  pthread_mutex_unlock(&lock);
  return begin;
}

static void freed(char* begin) {
  if (!begin || descriptor() < 0) return;
  pthread_mutex_lock(&lock);
  for (size_t i = 0; i < kept; ++i) {
    if (blocks[i].begin != begin) continue;
    report(descriptor(), &blocks[i]);
    blocks[i] = blocks[--kept];
    break;
  }
  pthread_mutex_unlock(&lock);
}

__attribute__((destructor)) static void rest(void) {
  if (descriptor() < 0) return;
  for (size_t i = 0; i < kept; ++i) report(descriptor(), &blocks[i]);
}

void* __wrap_malloc(size_t bytes);
void* __wrap_calloc(size_t count, size_t width);
void* __wrap_aligned_alloc(size_t alignment, size_t bytes);
void* __wrap_realloc(void* old, size_t bytes);
void __wrap_free(void* begin);

void* __wrap_malloc(size_t bytes) { return allocated(__real_malloc(bytes), bytes); }
void* __wrap_calloc(size_t count, size_t width) { return allocated(__real_calloc(count, width), count * width); }
void* __wrap_aligned_alloc(size_t alignment, size_t bytes) { return allocated(__real_aligned_alloc(alignment, bytes), bytes); }
void* __wrap_realloc(void* old, size_t bytes) {
  freed(old);
  return allocated(__real_realloc(old, bytes), bytes);
}
void __wrap_free(void* begin) {
  freed(begin);
  __real_free(begin);
}
