/* The twin's side: the counts of the basic blocks are taken at the boundaries of parallel regions. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "by_stretch.h"
#include "calls.h"
#include "code_log.h"
#include "code_windows.h"
#include "runtime.h"

static const char* const class_names[HN_CLASSES] = {"instructions", "integer", "fp_add", "fp_multiply", "fp_fma",
                                                    "divide",       "load",    "store",  "branch",      "flops"};

extern const char __executable_start[] __attribute__((weak));
static FILE* file;
static uint64_t serials;

/* What blocks did for somebody: for a stretch of the program; for a thread that the program created, in all. */
struct account {
  uint64_t* count; /* by block */
  uint32_t* wrong;
  uint32_t* blocks; /* those with a count */
  uint32_t number;
};
static struct account stretch; /* of the first thread */
static struct hn_rows of_thread;

static void* columns(size_t bytes) {
  void* made = hn_pages(bytes);
  if (!made) abort();
  return made;
}
static void add_block(void* data, uint32_t block, uint64_t count, uint32_t wrong) {
  struct account* account = data;
  if (!account->count) {
    const size_t blocks = hn_blocks();
    account->count = columns(blocks * sizeof *account->count);
    account->wrong = columns(blocks * sizeof *account->wrong);
    account->blocks = columns(blocks * sizeof *account->blocks);
  }
  if (!account->count[block]) account->blocks[account->number++] = block;
  account->count[block] += count, account->wrong[block] += wrong;
}
/* The address that is so far from where the distance stands; 0 for a distance of 0. */
static const void* at_distance(const int32_t* distance) { return *distance ? (const char*)distance + *distance : 0; }

static void say(const char* kind, uint64_t ordinal, const struct account* account) {
  uint64_t sum[HN_CLASSES] = {0};
  for (uint32_t i = 0; i < account->number; ++i) {
    const uint32_t b = account->blocks[i];
    for (int c = 0; c < HN_CLASSES; ++c) sum[c] += account->count[b] * __start_homenode_facts[b].mix[c];
  }
  fprintf(file, "{\"kind\": \"%s\", \"ordinal\": %lu", kind, (unsigned long)ordinal);
  for (int c = 0; c < HN_CLASSES; ++c) fprintf(file, ", \"%s\": %lu", class_names[c], (unsigned long)sum[c]);
  fprintf(file, ", \"blocks\": [");
  for (uint32_t i = 0; i < account->number; ++i) {
    const uint32_t b = account->blocks[i];
    fprintf(file, "%s[%u, %lu, %u]", i ? ", " : "", b, (unsigned long)account->count[b], account->wrong[b]);
  }
  fprintf(file, "]}\n");
}
static void clear(struct account* account) {
  for (uint32_t i = 0; i < account->number; ++i) account->count[account->blocks[i]] = 0, account->wrong[account->blocks[i]] = 0;
  account->number = 0;
}
/* What was done since the last call was done by this thread. */
void hn_work_of_thread(unsigned number) {
  if (!file) return;
  if (number == 0) {
    hn_log_take(add_block, &stretch);
    return;
  }
  hn_log_take(add_block, hn_row(&of_thread, number, sizeof(struct account)));
}
static void cut(const char* kind, uint64_t ordinal) {
  hn_log_take(add_block, &stretch);
  say(kind, ordinal, &stretch);
  clear(&stretch);
}
void hn_work_parallel(uint64_t serial, bool begins) {
  if (!file) return;
  if (begins)
    cut("serial", serials++);
  else
    cut("parallel", serial);
  fflush(file); /* a killed twin leaves whole lines */
}
static void say_bytes(const unsigned char* bytes, size_t number) {
  while (number--) fprintf(file, "%02x", *bytes++);
}
/* What stands in the trace for a call that has a hook before it, whose displacement means nothing anyway. */
static void say_last(uint8_t kind) { fprintf(file, "%s", kind == HN_JUMP ? "e900000000" : kind == HN_CALL ? "e800000000" : "ffd0"); }
/* Of blocks that ran. A file's name stands where it is another one than the place's before. */
static void say_places(void) {
  const char* last = "";
  for (const struct hn_place* place = __start_homenode_places; place < __stop_homenode_places; ++place) {
    const struct hn_cell* cell = at_distance(&place->cell);
    if (!cell->code) continue;
    fprintf(file, "{\"kind\": \"place\", \"ordinal\": %u, \"instruction\": %u, \"line\": %u", (uint32_t)(cell - __start_homenode_cells),
            place->instruction, place->line);
    const char* name = at_distance(&place->file);
    if (!name) name = "";
    if (strcmp(name, last) != 0) hn_say_text(file, "file", name);
    last = name;
    fprintf(file, "}\n");
  }
}
static void say_blocks(void) {
  for (uint32_t b = 0; b < hn_blocks(); ++b) {
    const struct hn_cell* cell = &__start_homenode_cells[b];
    const struct hn_facts* facts = &__start_homenode_facts[b];
    if (!cell->code) continue;
    const unsigned char* begin = (const unsigned char*)cell->code + cell->code->begin;
    const void* symbol = at_distance(&facts->called);
    const int function = symbol ? hn_calls_number(symbol) : -1;
    fprintf(file, "{\"kind\": \"block\", \"ordinal\": %u, \"instructions\": %u, \"address\": %lu, \"bytes\": \"", b, cell->instructions,
            (unsigned long)(begin - (const unsigned char*)__executable_start));
    say_bytes(begin, (size_t)cell->code->bytes);
    if (symbol) say_last(cell->kind);
    fprintf(file, "\", \"line\": %u", facts->line);
    const char* name = at_distance(&facts->file);
    hn_say_text(file, "file", name ? name : "");
    if (function >= 0) fprintf(file, ", \"calls\": %d", function);
    fprintf(file, "}\n");
  }
}
/* Of this host: a chain of additions of registers takes a cycle each; small constants some cores add where they rename registers, in no
 * time. Each try takes some milliseconds: for less than one, a core may run faster than it does for long, and the times of calls that this
 * goes with are means. It is the thread's processor time, for other programs may have the core for a part of it; and the best of a few,
 * for a hypervisor may, too. */
static double clock_hertz(void) {
  enum { ADDITIONS = 1 << 24, TRIES = 3 };
  double best = 0;
  for (int i = 0; i < TRIES; ++i) {
    struct timespec begin, end;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    uint64_t rounds = ADDITIONS / 16, sum = 1;
    __asm__ volatile("1: .rept 16\n add %1,%1\n .endr\n dec %0\n jnz 1b" : "+r"(rounds), "+r"(sum) : : "cc");
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    const double seconds = (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    if (seconds > 0 && ADDITIONS / seconds > best) best = ADDITIONS / seconds;
  }
  return best;
}
void hn_finish_counts(void) {
  if (!file) return;
  cut("serial", serials);
  for (unsigned t = 1; t < of_thread.number; ++t) say("thread", t, hn_row(&of_thread, t, sizeof(struct account)));
  hn_calls_say(file);
  say_blocks();
  say_places();
  hn_windows_say(file);
  fprintf(file, "{\"kind\": \"host\", \"hertz\": %.4g}\n", clock_hertz());
  fprintf(file, "{\"kind\": \"end\"}\n");
  fclose(file);
  file = 0;
}
/* A child of the program's counts nothing: what it did would be counted for its parent. */
static void forget(void) {
  file = 0;
  hn_calls_close();
  hn_close_descriptor();
  hn_threads_close();
}
void hn_open(void) {
  static bool opened;
  if (opened) return;
  opened = true;
  if (!hn_tell_to("HOMENODE_WORK")) {
    hn_calls_open(false);
    return;
  }
  file = fdopen(hn_descriptor, "w");
  if (!file) abort();
  hn_calls_open(true);
  atexit(hn_finish_counts);
  at_quick_exit(hn_finish_counts);
  hn_tell_before_exit();
  hn_threads_open();
  pthread_atfork(0, 0, forget);
}
__attribute__((constructor)) static void start(void) { hn_open(); }
void hn_leaving(const char* what, const char* name) {
  (void)what, (void)name;
  if (!file) return;
  cut("serial", serials);
  fflush(file);
}
