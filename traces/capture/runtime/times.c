/* The timed program: the program as it is, without counters, under the same token as its twin. Processor time is taken at the
 * boundaries of parallel regions and where the token goes to another thread, so that it is the time of one thread at a time.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "by_stretch.h"
#include "runtime.h"

static bool open_for_times;
static uint64_t serials;
static uint64_t taken_at; /* processor time up to which somebody has it */
static uint64_t stretch;  /* nanoseconds of the first thread since the last boundary */
static struct hn_rows of_thread;

static uint64_t processor_time(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
static uint64_t since_taken(void) {
  const uint64_t now = processor_time(), passed = now - taken_at;
  taken_at = now;
  return passed;
}
/* A line at a time, which a pipe takes whole: a program that is killed leaves no part of one. */
static void say(const char* line, int bytes) {
  if (write(hn_descriptor, line, (size_t)bytes) != bytes) open_for_times = false;
}
static void say_time(const char* of, uint64_t ordinal, uint64_t nanoseconds) {
  char line[160];
  say(line, snprintf(line, sizeof line, "{\"kind\": \"time\", \"of\": \"%s\", \"ordinal\": %lu, \"nanoseconds\": %lu}\n", of,
                     (unsigned long)ordinal, (unsigned long)nanoseconds));
}
/* What was done since the last call was done by this thread. */
void hn_work_of_thread(unsigned number) {
  if (!open_for_times) return;
  if (number == 0) {
    stretch += since_taken();
    return;
  }
  *(uint64_t*)hn_row(&of_thread, number, sizeof(uint64_t)) += since_taken();
}
static void cut(const char* of, uint64_t ordinal) {
  say_time(of, ordinal, stretch + since_taken());
  stretch = 0;
  since_taken(); /* what the line took is nobody's */
}
void hn_work_parallel(uint64_t serial, bool begins) {
  if (!open_for_times) return;
  if (begins)
    cut("serial", serials++);
  else
    cut("parallel", serial);
}
void hn_finish_counts(void) {
  if (!open_for_times) return;
  cut("serial", serials);
  for (unsigned t = 1; t < of_thread.number; ++t) say_time("thread", t, *(const uint64_t*)hn_row(&of_thread, t, sizeof(uint64_t)));
  static const char end[] = "{\"kind\": \"timed\"}\n";
  say(end, sizeof end - 1);
  open_for_times = false;
}
/* A child of the program's is not timed: its clock begins anew. */
static void forget(void) {
  open_for_times = false;
  hn_close_descriptor();
  hn_threads_close();
}
void hn_open(void) {
  static bool opened;
  if (opened) return;
  opened = true;
  if (!hn_tell_to("HOMENODE_TIMED")) return;
  open_for_times = true;
  atexit(hn_finish_counts);
  at_quick_exit(hn_finish_counts);
  hn_tell_before_exit();
  static const char begin[] = "\n{\"kind\": \"timing\"}\n"; /* whatever a twin that was killed left before it */
  say(begin, sizeof begin - 1);
  hn_threads_open();
  pthread_atfork(0, 0, forget);
  taken_at = processor_time();
}
__attribute__((constructor)) static void start(void) { hn_open(); }
/* Times of a program that leaves are not whole: the line `timed` never comes. */
void hn_leaving(const char* what, const char* name) { (void)what, (void)name; }
