#define _GNU_SOURCE
#include "page_allocator.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* linux/mempolicy.h, which not every system has installed. */
enum { POLICY_BIND = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int node_count = 1, pretended;
static _Atomic int binding = PSM_ONE_NODE;

int nodes_in_list(const char* list) {
  long highest = 0;
  for (const char* at = list; *at != '\0';) {
    char* end = NULL;
    const long number = strtol(at, &end, 10);
    if (end == at) {
      ++at;
      continue;
    }
    if (labs(number) > highest) highest = labs(number); /* "0-3" reads as 0 and -3 */
    at = end;
  }
  return highest < MOST_NODES ? (int)highest + 1 : MOST_NODES;
}

void page_allocator_init(void) {
  if (pretended) return;
  char text[4096];
  const int file = open("/sys/devices/system/node/possible", O_RDONLY | O_CLOEXEC);
  if (file < 0) return; /* a kernel without NUMA */
  const ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  if (length <= 0) return;
  text[length] = '\0';
  node_count = nodes_in_list(text);
  if (node_count > 1) atomic_store(&binding, PSM_BOUND);
}

void page_allocator_pretend(int nodes) {
  pretended = 1;
  node_count = nodes;
  atomic_store(&binding, PSM_FIRST_TOUCH);
}

int page_allocator_nodes(void) { return node_count; }

enum psm_binding page_allocator_binding(void) { return (enum psm_binding)atomic_load(&binding); }

/* Binds fresh pages. A kernel or sandbox without the call is remembered; a node that cannot have memory is an error. */
static int bind_to(void* memory, size_t bytes, int node) {
  if (page_allocator_binding() != PSM_BOUND) return 0;
  unsigned long mask[MOST_NODES / (8 * sizeof(unsigned long))] = {0};
  mask[(size_t)node / (8 * sizeof(unsigned long))] |= 1UL << ((size_t)node % (8 * sizeof(unsigned long)));
  /* The kernel reads one bit fewer than it is told. */
  if (syscall(SYS_mbind, memory, bytes, POLICY_BIND, mask, (unsigned long)MOST_NODES + 1, 0UL) == 0) return 0;
  if (errno != ENOSYS && errno != EPERM) return -1;
  atomic_store(&binding, PSM_FIRST_TOUCH);
  return 0;
}

/* Maps `bytes` on a multiple of `alignment`. */
static void* mapped(size_t bytes, size_t alignment, int node) {
  if (bytes > SIZE_MAX - alignment) return NULL;
  char* memory = mmap(NULL, bytes + alignment, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return NULL;
  char* aligned = (char*)(((uintptr_t)memory + alignment - 1) / alignment * alignment);
  if (aligned > memory) munmap(memory, (size_t)(aligned - memory));
  munmap(aligned + bytes, alignment - (size_t)(aligned - memory));
  if (bind_to(aligned, bytes, node) == 0) return aligned;
  munmap(aligned, bytes);
  return NULL;
}

void* page_allocator_chunk(size_t bytes, int node) {
  pthread_mutex_lock(&lock);
  void* memory = mapped(bytes, CHUNK_BYTES, node);
  pthread_mutex_unlock(&lock);
  return memory;
}

void* page_allocator_records(size_t bytes, int node) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  pthread_mutex_lock(&lock);
  void* memory = mapped((bytes + page - 1) / page * page, page, node);
  pthread_mutex_unlock(&lock);
  return memory;
}
