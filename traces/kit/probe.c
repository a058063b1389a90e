/* kit probe: what a host is and what it allows, as one line of JSON, and in two lines of words for the script.
 *
 * kit probe --name NAME --folder RESULTS
 *
 * Makes the folder. Prints "bindable N N ..." (the nodes to which set_mempolicy binds: a page comes to where it was bound) and "pin yes|no"
 * (whether a thread can be bound to each CPU that it may use).
 */
#include "kit.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_NODES = 1024, MOST_CPUS = 8192 };

/* The first line of a file of the system, without its end; "" where it cannot be read. */
static struct text first_line(const char* path) {
  struct text text = {0};
  if (!text_read(&text, path, 1 << 16)) text_add(&text, "", 0);
  text.size = strcspn(text.data, "\n");
  text.data[text.size] = '\0';
  return text;
}

static void put_file(struct text* line, const char* name, const char* path) {
  struct text content = first_line(path);
  text_put(line, "\"%s\": ", name);
  text_quote(line, content.data, content.size);
  text_put(line, ", ");
  free(content.data);
}

/* The first line "NAME : VALUE" of /proc/cpuinfo. */
static void put_cpu(struct text* line, const struct text* info, const char* name, const char* key) {
  const size_t size = strlen(name);
  const char *value = "", *end = value;
  for (const char* at = info->data; at && *at != '\0'; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL) {
    if (strncmp(at, name, size) != 0 || (at[size] != '\t' && at[size] != ' ' && at[size] != ':')) continue;
    const char* colon = strchr(at, ':');
    if (!colon) break;
    value = colon + 1 + strspn(colon + 1, " \t");
    end = value + strcspn(value, "\n");
    break;
  }
  text_put(line, "\"%s\": ", key);
  text_quote(line, value, (size_t)(end - value));
}

/* "0-3,8" into numbers. */
static size_t members(const char* ranges, unsigned* numbers, size_t most) {
  size_t count = 0;
  while (*ranges != '\0') {
    char* end = NULL;
    const unsigned long first = strtoul(ranges, &end, 10);
    if (end == ranges) break;
    unsigned long last = first;
    if (*end == '-') last = strtoul(end + 1, &end, 10);
    for (unsigned long number = first; number <= last && count < most; ++number) numbers[count++] = (unsigned)number;
    ranges = *end == ',' ? end + 1 : end;
    if (*end != ',') break;
  }
  return count;
}

/* In a process of its own: 0 if a page that is written under "bind" lies there. */
static int bound_page(const unsigned* nodes, size_t count, size_t at) {
  const pid_t child = fork();
  if (child == 0) {
    char placement[32];
    snprintf(placement, sizeof placement, "bind:%zu", at);
    const int refused = set_placement(placement, nodes, count);
    if (refused) _exit(refused < 100 ? refused : 100);
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char* memory = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) _exit(ENOMEM);
    memory[0] = 1;
    void* address = memory;
    int node = -1;
    if (syscall(SYS_move_pages, 0, 1UL, &address, NULL, &node, 0) != 0) _exit(errno < 100 ? errno : 100);
    _exit(node == (int)nodes[at] ? 0 : 101);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return 102;
  return WEXITSTATUS(status);
}

/* The error of binding this thread to one of the CPUs that it may use after the other; 0 if there is none. */
static int pinning(size_t* allowed) {
  const size_t size = CPU_ALLOC_SIZE(MOST_CPUS);
  cpu_set_t *all = CPU_ALLOC(MOST_CPUS), *one = CPU_ALLOC(MOST_CPUS);
  int refused = all && one && sched_getaffinity(0, size, all) == 0 ? 0 : errno;
  *allowed = refused ? 0 : (size_t)CPU_COUNT_S(size, all);
  for (size_t cpu = 0; cpu < MOST_CPUS && !refused; ++cpu) {
    if (!CPU_ISSET_S(cpu, size, all)) continue;
    CPU_ZERO_S(size, one);
    CPU_SET_S(cpu, size, one);
    if (sched_setaffinity(0, size, one) != 0) refused = errno;
  }
  if (!refused) sched_setaffinity(0, size, all);
  CPU_FREE(all);
  CPU_FREE(one);
  return refused;
}

static void put_counters(struct text* line) {
  struct counters counters;
  counters_open(&counters, 0);
  struct text readable = {0}, refused = {0};
  for (int kind = 0; kind < KIT_COUNTERS; ++kind) {
    if (counters.file[kind] >= 0) {
      text_put(&readable, "%s\"%s\"", readable.size ? ", " : "", counter_name(kind));
      close(counters.file[kind]);
    } else {
      text_put(&refused, "%s\"%s\": ", refused.size ? ", " : "", counter_name(kind));
      const char* why = strerror(counters.refused[kind]);
      text_quote(&refused, why, strlen(why));
    }
  }
  text_put(line, "\"counters\": [%s], \"counters_refused\": {%s}, ", readable.data ? readable.data : "", refused.data ? refused.data : "");
}

int probe(const struct words* words) {
  const char *name = words_value(words, "--name", NULL), *folder = words_value(words, "--folder", NULL);
  if (mkdir(folder, 0777) != 0 && errno != EEXIST) kit_stop(KIT_REFUSED, "cannot make %s: %s", folder, strerror(errno));
  struct utsname system;
  if (uname(&system) != 0) kit_stop(KIT_REFUSED, "uname: %s", strerror(errno));
  struct text line = {0}, info = {0};
  text_put(&line, "{\"kind\": \"host\", \"name\": ");
  text_quote(&line, name, strlen(name));
  text_put(&line, ", \"system\": ");
  text_quote(&line, system.release, strlen(system.release));
  text_put(&line, ", \"architecture\": ");
  text_quote(&line, system.machine, strlen(system.machine));
  text_put(&line, ", \"cpu\": {");
  if (!text_read(&info, "/proc/cpuinfo", 1 << 16)) text_add(&info, "", 0);
  put_cpu(&line, &info, "vendor_id", "vendor");
  text_put(&line, ", ");
  put_cpu(&line, &info, "cpu family", "family");
  text_put(&line, ", ");
  put_cpu(&line, &info, "model", "model");
  text_put(&line, ", ");
  put_cpu(&line, &info, "stepping", "stepping");
  text_put(&line, ", ");
  put_cpu(&line, &info, "model name", "name");
  text_put(&line, "}, ");
  put_file(&line, "huge_pages", "/sys/kernel/mm/transparent_hugepage/enabled");
  put_file(&line, "balancing", "/proc/sys/kernel/numa_balancing");
  put_file(&line, "perf_event_paranoid", "/proc/sys/kernel/perf_event_paranoid");
  put_file(&line, "load", "/proc/loadavg");
  put_file(&line, "nodes", "/sys/devices/system/node/has_memory");
  put_counters(&line);
  struct text ranges = first_line("/sys/devices/system/node/has_memory");
  unsigned nodes[MOST_NODES];
  const size_t count = members(ranges.data, nodes, MOST_NODES);
  struct text bindable = {0};
  text_put(&line, "\"bound\": {");
  for (size_t at = 0; at < count; ++at) {
    const int refused = bound_page(nodes, count, at);
    text_put(&line, "%s\"%u\": \"%s\"", at ? ", " : "", nodes[at],
             refused == 0     ? "yes"
             : refused == 101 ? "the page lies elsewhere"
             : refused >= 100 ? "no answer"
                              : strerror(refused));
    if (refused == 0) text_put(&bindable, " %u", nodes[at]);
  }
  size_t allowed = 0;
  const int refused = pinning(&allowed);
  text_put(&line, "}, \"cpus_allowed\": %zu, \"pinned\": \"%s\"}\n", allowed, refused ? strerror(refused) : "yes");
  char path[4096];
  snprintf(path, sizeof path, "%s/host.json", folder);
  text_write(&line, path);
  printf("bindable%s\npin %s\n", bindable.data ? bindable.data : "", refused ? "no" : "yes");
  return KIT_DONE;
}
