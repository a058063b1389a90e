/* The timed program: the program as it is, without counters, under the same token as its twin. Processor time is taken at the
 * boundaries of parallel regions and where the token goes to another thread, so that it is the time of one thread at a time.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "runtime.h"

static FILE* file;
static uint64_t serials;
static uint64_t taken_at; /* processor time up to which somebody has it */
static uint64_t stretch;  /* nanoseconds of the first thread since the last boundary */
static uint64_t* of_thread;
static unsigned threads, thread_room;

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
static void say(const char* of, uint64_t ordinal, uint64_t nanoseconds) {
  fprintf(file, "{\"kind\": \"time\", \"of\": \"%s\", \"ordinal\": %lu, \"seconds\": %.9f}\n", of, (unsigned long)ordinal,
          1e-9 * (double)nanoseconds);
}
/* What was done since the last call was done by this thread. */
void hn_work_of_thread(unsigned number) {
  if (!file) return;
  if (number == 0) {
    stretch += since_taken();
    return;
  }
  if (number >= thread_room) {
    const unsigned room = thread_room ? (number / thread_room + 1) * thread_room : 512;
    uint64_t* larger = hn_pages(room * sizeof *larger);
    if (!larger) abort();
    hn_copy(larger, of_thread, threads * sizeof *larger);
    if (of_thread) munmap(of_thread, thread_room * sizeof *larger);
    of_thread = larger, thread_room = room;
  }
  if (number >= threads) threads = number + 1;
  of_thread[number] += since_taken();
}
static void cut(const char* of, uint64_t ordinal) {
  say(of, ordinal, stretch + since_taken());
  stretch = 0;
  since_taken(); /* what the line took is nobody's */
}
void hn_work_parallel(uint64_t serial, bool begins) {
  if (!file) return;
  if (begins)
    cut("serial", serials++);
  else
    cut("parallel", serial);
}
static void finish(void) {
  if (!file) return;
  cut("serial", serials);
  for (unsigned t = 1; t < threads; ++t) say("thread", t, of_thread[t]);
  fprintf(file, "{\"kind\": \"timed\"}\n");
  fclose(file);
  file = 0;
}
void hn_open(void) {
  static bool opened;
  if (opened) return;
  opened = true;
  const char* path = getenv("HOMENODE_TIMED");
  if (!path || !*path) return;
  const int opened_here = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (opened_here >= 0) hn_descriptor = hn_out_of_the_way(opened_here);
  file = hn_descriptor >= 0 ? fdopen(hn_descriptor, "w") : 0;
  if (!file) {
    perror(path);
    exit(1);
  }
  atexit(finish);
  fprintf(file, "{\"kind\": \"timing\"}\n");
  hn_threads_open();
  pthread_atfork(0, 0, hn_threads_close);
  taken_at = processor_time();
}
__attribute__((constructor)) static void start(void) { hn_open(); }
/* Times of a program that leaves are not whole: the line `timed` never comes. */
void hn_leaving(const char* what, const char* name) { (void)what, (void)name; }
