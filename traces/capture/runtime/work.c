/* The twin's side: the team's shims are the same, but instead of a recording the counters of the basic blocks are read at the
 * boundaries of parallel regions. Every object of the twin has a table of its blocks in the section homenode_blocks.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "calls.h"
#include "runtime.h"

enum { CLASSES = 10 };
static const char* const class_names[CLASSES] = {"instructions", "integer", "fp_add", "fp_multiply", "fp_fma",
                                                 "divide",       "load",    "store",  "branch",      "flops"};
struct table {
  uint64_t* count;
  uint64_t blocks;
  const uint16_t (*mix)[CLASSES];
};
extern struct table __start_homenode_blocks[] __attribute__((weak)), __stop_homenode_blocks[] __attribute__((weak));

__thread bool hn_on __attribute__((tls_model("initial-exec")));
bool hn_recording;
uint64_t hn_sequence;
uintptr_t hn_closure_low, hn_closure_high, hn_bound_low, hn_bound_high;
static FILE* file;
/* Counts of a stretch: the classes, then the calls of each function without counters. */
static unsigned functions;
static uint64_t *before, *now, *nothing, serials;
int hn_descriptor = -1;
/* Of each thread that the program creates; of the first one: in the current stretch, before it last gave the token away. */
static uint64_t* of_thread;
static unsigned threads, thread_room;

static size_t width(void) { return CLASSES + functions; }
static uint64_t* columns(size_t rows) {
  uint64_t* made = hn_pages(rows * width() * sizeof *made);
  if (!made) abort();
  return made;
}
static void sums(uint64_t* sum) {
  for (size_t c = 0; c < width(); ++c) sum[c] = 0;
  for (struct table* t = __start_homenode_blocks; t < __stop_homenode_blocks; ++t)
    for (uint64_t b = 0; b < t->blocks; ++b)
      if (t->count[b])
        for (int c = 0; c < CLASSES; ++c) sum[c] += t->count[b] * t->mix[b][c];
  hn_calls_add(sum + CLASSES);
}
HN_NO_VECTORS uint64_t hn_counted_instructions(uint64_t* visited) {
  uint64_t sum = 0;
  for (struct table* t = __start_homenode_blocks; t < __stop_homenode_blocks; ++t) {
    for (uint64_t b = 0; b < t->blocks; ++b) sum += t->count[b] * t->mix[b][0];
    *visited += t->blocks;
  }
  return sum;
}
static void say(const char* kind, uint64_t ordinal, const uint64_t* count) {
  fprintf(file, "{\"kind\": \"%s\", \"ordinal\": %lu", kind, (unsigned long)ordinal);
  for (int c = 0; c < CLASSES; ++c) fprintf(file, ", \"%s\": %lu", class_names[c], (unsigned long)count[c]);
  fprintf(file, ", \"calls\": [");
  const char* separator = "";
  for (unsigned f = 0; f < functions; ++f)
    if (count[CLASSES + f]) fprintf(file, "%s[%u, %lu]", separator, f, (unsigned long)count[CLASSES + f]), separator = ", ";
  fprintf(file, "]}\n");
}
static void add_to(uint64_t* count) {
  sums(now);
  for (size_t c = 0; c < width(); ++c) count[c] += now[c] - before[c], before[c] = now[c];
}
/* What was done since the last call was done by this thread. */
void hn_work_of_thread(unsigned number) {
  if (!file) return;
  if (number >= thread_room) {
    const unsigned room = thread_room ? (number / thread_room + 1) * thread_room : 256;
    uint64_t* larger = columns(room);
    hn_copy(larger, of_thread, threads * width() * sizeof *larger);
    if (of_thread) munmap(of_thread, thread_room * width() * sizeof *larger);
    of_thread = larger, thread_room = room;
  }
  if (number >= threads) threads = number + 1;
  add_to(of_thread + number * width());
}
static void cut(const char* kind, uint64_t ordinal) {
  uint64_t* count = threads ? of_thread : nothing;
  add_to(count);
  say(kind, ordinal, count);
  for (size_t c = 0; c < width(); ++c) count[c] = 0;
}
void hn_work_parallel(uint64_t serial, bool begins) {
  if (!file) return;
  if (begins)
    cut("serial", serials++);
  else
    cut("parallel", serial);
  fflush(file); /* a killed twin leaves whole lines */
}
static void finish(void) {
  if (!file) return;
  cut("serial", serials);
  for (unsigned t = 1; t < threads; ++t) say("thread", t, of_thread + t * width());
  hn_calls_say(file);
  fprintf(file, "{\"kind\": \"end\"}\n");
  fclose(file);
  file = 0;
}
void hn_open(void) {
  static bool opened;
  if (opened) return;
  opened = true;
  const char* path = getenv("HOMENODE_WORK");
  if (!path || !*path) {
    hn_calls_open(false);
    return;
  }
  const int opened_here = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (opened_here >= 0) hn_descriptor = hn_out_of_the_way(opened_here);
  file = hn_descriptor >= 0 ? fdopen(hn_descriptor, "w") : 0;
  if (!file) {
    perror(path);
    exit(1);
  }
  functions = hn_calls_open(true);
  before = columns(1), now = columns(1), nothing = columns(1);
  atexit(finish);
  hn_threads_open();
  pthread_atfork(0, 0, hn_threads_close);
}
__attribute__((constructor)) static void start(void) { hn_open(); }
void hn_leaving(const char* what, const char* name) {
  (void)what, (void)name;
  if (!file) return;
  cut("serial", serials);
  fflush(file);
}
void hn_begin(int opcode) { (void)opcode; }
void hn_faults_on_own_stack(void) {}
void hn_u(uint64_t value) { (void)value; }
void hn_z(int64_t value) { (void)value; }
void hn_s(const char* text) { (void)text; }
void hn_site(const void* pc) { (void)pc; }
void hn_close_runs(void) {}
void hn_control(int opcode) { (void)opcode; }
void hn_new_item(void) {}
void hn_copy(void* to, const void* from, size_t bytes) {
  char* t = to;
  const char* f = from;
  while (bytes--) *t++ = *f++;
}
void* hn_pages(size_t bytes) {
  void* p = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return p == MAP_FAILED ? 0 : p;
}
void hn_stack_of(unsigned number, uintptr_t low, uintptr_t high, uintptr_t base) { (void)number, (void)low, (void)high, (void)base; }
void hn_stack_base(unsigned number, uintptr_t base) { (void)number, (void)base; }
void hn_tls_block(unsigned rank) { (void)rank; }
bool hn_is_libc(uintptr_t pc) { return pc == 0; }
void hn_range(uintptr_t address, size_t bytes, uintptr_t pc, unsigned kind, unsigned flags) {
  (void)address, (void)bytes, (void)pc, (void)kind, (void)flags;
}
uintptr_t hn_stacks_low, hn_stacks_high;
void hn_runs_on_rank(unsigned number) { (void)number; }
void hn_forget_frames(void) {}
void hn_stack_gone(unsigned number) { (void)number; }
