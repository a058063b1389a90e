/* kit run: one program under one choice, and what came of it as one line of JSON.
 *
 * kit run --out F --case C --threads N --placement P --pinning A --schedule S --repeat R --nodes "N N ..." [--cpus N,N,...]
 *         [--timeout SECONDS] [--until SECOND] [--pages 1] -- PROGRAM WORDS
 *
 * --cpus: thread i is bound to the i-th of them (OMP_PLACES); without, threads are bound to nothing. --until: nothing is run after that
 * second, code 3. --pages 1: instead of times, the nodes of the pages of each large block (pages.c).
 * The program and what it starts end with this process, and at the timeout.
 */
#include "kit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_CPUS = 4096, MOST_OUTPUT = 1 << 20, MOST_BLOCKS = 4 << 20, MOST_LABELS = 64, LABEL = 64 };

extern char** environ;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Seconds of all processors in use and stolen by a hypervisor, in the system's ticks; 0 where it does not tell. */
static void system_seconds(double* busy, double* stolen) {
  struct text text = {0};
  unsigned long long ticks[8] = {0};
  *busy = *stolen = 0;
  if (text_read(&text, "/proc/stat", 4096) && sscanf(text.data, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &ticks[0], &ticks[1],
                                                     &ticks[2], &ticks[3], &ticks[4], &ticks[5], &ticks[6], &ticks[7]) == 8) {
    const double second = (double)sysconf(_SC_CLK_TCK);
    *busy = (double)(ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6]) / second;
    *stolen = (double)ticks[7] / second;
  }
  free(text.data);
}

static void set_number(const char* name, long value) {
  char text[32];
  snprintf(text, sizeof text, "%ld", value);
  setenv(name, text, 1);
}

/* The environment of the program: OpenMP's variables are this run's own, but for how threads wait, which the kit sets. */
static void set_environment(const struct words* words, int pages) {
  for (char** entry = environ; *entry;) {
    char name[256];
    const size_t size = strcspn(*entry, "=");
    const int is_theirs = strncmp(*entry, "OMP_", 4) == 0 || strncmp(*entry, "GOMP_", 5) == 0;
    if (is_theirs && size < sizeof name && strncmp(*entry, "OMP_WAIT_POLICY=", 16) != 0) {
      memcpy(name, *entry, size);
      name[size] = '\0';
      unsetenv(name);
      entry = environ;
    } else {
      ++entry;
    }
  }
  const long threads = words_number(words, "--threads", 1, 1, MOST_CPUS);
  set_number("OMP_NUM_THREADS", threads);
  setenv("OMP_DYNAMIC", "false", 1);
  char schedule[64];
  snprintf(schedule, sizeof schedule, "%s", words_value(words, "--schedule", "static"));
  for (char* c = schedule; *c != '\0'; ++c)
    if (*c == ':') *c = ',';
  setenv("OMP_SCHEDULE", schedule, 1);
  static unsigned cpus[MOST_CPUS];
  const size_t count = numbers_of(words_value(words, "--cpus", ""), cpus, MOST_CPUS);
  if (count > 0) {
    if (count < (size_t)threads) kit_stop(KIT_WORDS, "%zu CPUs for %ld threads", count, threads);
    struct text places = {0};
    for (long thread = 0; thread < threads; ++thread) text_put(&places, "%s{%u}", thread ? "," : "", cpus[thread]);
    setenv("OMP_PLACES", places.data, 1);
    setenv("OMP_PROC_BIND", "close", 1);
    free(places.data);
  } else {
    setenv("OMP_PROC_BIND", "false", 1);
  }
  if (pages)
    setenv("HOMENODE_KIT_PAGES", "3", 1); /* the descriptor */
  else
    setenv("HOMENODE_TIMES", "1", 1);
}

/* Takes what a descriptor has; 0 when the other end is closed. What is beyond `most` is read and dropped. */
static int take(int file, struct text* text, size_t most) {
  char block[8192];
  const ssize_t size = read(file, block, sizeof block);
  if (size < 0) return errno == EINTR || errno == EAGAIN;
  if (size > 0 && text->size < most) text_add(text, block, (size_t)size);
  return size > 0;
}

struct ending {
  int status, timed_out;
  double seconds;
  struct rusage usage;
  struct text output, blocks;
};

/* `begin`: before the child could run. */
static struct ending wait_for(pid_t child, double begin, int output, int blocks, double timeout) {
  struct ending ending = {0};
  struct pollfd files[2] = {{.fd = output, .events = POLLIN}, {.fd = blocks, .events = POLLIN}};
  while (files[0].fd >= 0 || files[1].fd >= 0) {
    const double left = timeout - (now() - begin);
    if (left <= 0 && !ending.timed_out) {
      ending.timed_out = 1;
      kill(-child, SIGKILL);
    }
    poll(files, 2, ending.timed_out ? 1000 : (int)(1000 * left) + 1);
    if (files[0].fd >= 0 && files[0].revents && !take(output, &ending.output, MOST_OUTPUT)) files[0].fd = -1;
    if (files[1].fd >= 0 && files[1].revents && !take(blocks, &ending.blocks, MOST_BLOCKS)) files[1].fd = -1;
  }
  wait4(child, &ending.status, 0, &ending.usage);
  ending.seconds = now() - begin;
  return ending;
}

/* "region=LABEL time_seconds=S" lines into {"LABEL": seconds, ...}: the sum over each label's lines, as kernel.h prints them. */
static void put_regions(struct text* line, char* output) {
  static char labels[MOST_LABELS][LABEL];
  double seconds[MOST_LABELS] = {0};
  size_t count = 0;
  for (char* at = output; at && (at = strstr(at, "region=")); ++at) {
    char label[LABEL];
    double value = 0;
    if (sscanf(at, "region=%63[A-Za-z0-9_.:-] time_seconds=%lf", label, &value) != 2) continue;
    size_t i = 0;
    while (i < count && strcmp(labels[i], label) != 0) ++i;
    if (i == MOST_LABELS) continue;
    if (i == count) strcpy(labels[count++], label);
    seconds[i] += value;
  }
  for (size_t i = 0; i < count; ++i) text_put(line, "%s\"%s\": %.9f", i ? ", " : "", labels[i], seconds[i]);
}

/* The lines of pages.c as strings. */
static void put_blocks(struct text* line, const struct text* blocks) {
  for (size_t begin = 0, first = 1; begin < blocks->size;) {
    const char* end = memchr(blocks->data + begin, '\n', blocks->size - begin);
    if (!end) return; /* cut */
    if (!first) text_add(line, ", ", 2);
    text_quote(line, blocks->data + begin, (size_t)(end - blocks->data) - begin);
    begin = (size_t)(end - blocks->data) + 1;
    first = 0;
  }
}

static void put_ending(struct text* line, const struct ending* ending) {
  char said[64];
  if (ending->timed_out)
    snprintf(said, sizeof said, "timeout");
  else if (WIFSIGNALED(ending->status))
    snprintf(said, sizeof said, "signal %d", WTERMSIG(ending->status));
  else
    snprintf(said, sizeof said, "exit %d", WEXITSTATUS(ending->status));
  text_put(line, "\"ended\": \"%s\", \"seconds\": %.6f, ", said, ending->seconds);
}

static double seconds_of(struct timeval time) { return (double)time.tv_sec + 1e-6 * (double)time.tv_usec; }

static void begin_program(const struct words* words, char** program, int ready, const int* output, const int* blocks, int pages) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setpgid(0, 0);
  char go = 0;
  if (read(ready, &go, 1) != 1) _exit(127); /* counters are set up first */
  dup2(output[1], 1);
  dup2(output[1], 2);
  if (pages)
    dup2(blocks[1], 3);
  else
    close(3);
  set_environment(words, pages);
  unsigned nodes[1024];
  const size_t count = numbers_of(words_value(words, "--nodes", "0"), nodes, 1024);
  const int refused = set_placement(words_value(words, "--placement", NULL), nodes, count);
  if (refused) kit_stop(126, "the system refuses the placement: %s", strerror(refused));
  execv(program[0], program);
  kit_stop(127, "cannot run %s: %s", program[0], strerror(errno));
}

int run(const struct words* words) {
  static const char* const kinds[] = {"--case", "--placement", "--pinning", "--schedule"};
  char** program = NULL;
  for (int i = 0; i + 1 < words->count; ++i)
    if (!program && strcmp(words->word[i], "--") == 0) program = words->word + i + 1;
  if (!program) kit_stop(KIT_WORDS, "no program behind --");
  const char* out = words_value(words, "--out", NULL);
  const long until = words_number(words, "--until", 0, 0, 1L << 40), pages = words_number(words, "--pages", 0, 0, 1);
  if (until > 0 && time(NULL) >= until) return KIT_NO_TIME;
  struct text line = {0};
  text_put(&line, "{\"kind\": \"%s\", ", pages ? "pages" : "run");
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
    const char* value = words_value(words, kinds[i], NULL);
    text_put(&line, "\"%s\": ", kinds[i] + 2);
    text_quote(&line, value, strlen(value));
    text_put(&line, ", ");
  }
  text_put(&line, "\"threads\": %ld, ", words_number(words, "--threads", 1, 1, MOST_CPUS));
  if (!pages) text_put(&line, "\"repeat\": %ld, ", words_number(words, "--repeat", 1, 1, 1000));

  for (int spare; (spare = open("/dev/null", O_RDONLY | O_CLOEXEC)) < 4;) /* so that no pipe has the number that the program is told */
    if (spare < 0) kit_stop(KIT_REFUSED, "cannot open /dev/null: %s", strerror(errno));
  int ready[2], output[2], blocks[2];
  if (pipe2(ready, O_CLOEXEC) != 0 || pipe2(output, O_CLOEXEC) != 0 || pipe2(blocks, O_CLOEXEC) != 0)
    kit_stop(KIT_REFUSED, "no pipe: %s", strerror(errno));
  double busy[2], stolen[2];
  system_seconds(&busy[0], &stolen[0]);
  const pid_t child = fork();
  if (child < 0) kit_stop(KIT_REFUSED, "no process: %s", strerror(errno));
  if (child == 0) begin_program(words, program, ready[0], output, blocks, (int)pages);
  setpgid(child, child);
  close(output[1]);
  close(blocks[1]);
  struct counters counters;
  counters_open(&counters, child);
  const double begin = now();
  if (write(ready[1], "", 1) != 1) kit_stop(KIT_REFUSED, "the program's process is gone");
  struct ending ending = wait_for(child, begin, output[0], blocks[0], (double)words_number(words, "--timeout", 600, 1, 100000));
  system_seconds(&busy[1], &stolen[1]);
  put_ending(&line, &ending);
  if (!(WIFEXITED(ending.status) && WEXITSTATUS(ending.status) == 0) && ending.output.size > 0) {
    const size_t shown = ending.output.size < 300 ? ending.output.size : 300;
    text_put(&line, "\"said\": ");
    text_quote(&line, ending.output.data, shown);
    text_put(&line, ", ");
  }
  if (pages) {
    text_put(&line, "\"blocks\": [");
    put_blocks(&line, &ending.blocks);
    text_put(&line, "]}\n");
  } else {
    const double own = seconds_of(ending.usage.ru_utime) + seconds_of(ending.usage.ru_stime), others = busy[1] - busy[0] - own;
    text_put(&line, "\"user_seconds\": %.6f, \"system_seconds\": %.6f, \"others_seconds\": %.2f, \"stolen_seconds\": %.2f, ",
             seconds_of(ending.usage.ru_utime), seconds_of(ending.usage.ru_stime), others > 0 ? others : 0, stolen[1] - stolen[0]);
    text_put(&line, "\"involuntary_switches\": %ld, \"regions\": {", ending.usage.ru_nivcsw);
    put_regions(&line, ending.output.data);
    text_put(&line, "}, \"counters\": ");
    counters_read(&counters, &line);
    text_put(&line, "}\n");
  }
  text_write(&line, out);
  return KIT_DONE;
}
