/* perf_event_open(2), user code alone: what a system allows to everybody, if its perf_event_paranoid is 2 or less. */
#include "kit.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CACHE(level, operation, result) ((level) | ((operation) << 8) | ((result) << 16))

static const struct {
  const char* name;
  uint32_t type;
  uint64_t event;
} KINDS[KIT_COUNTERS] = {
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    {"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    {"dTLB-load-misses", PERF_TYPE_HW_CACHE, CACHE(PERF_COUNT_HW_CACHE_DTLB, PERF_COUNT_HW_CACHE_OP_READ, PERF_COUNT_HW_CACHE_RESULT_MISS)},
    {"node-loads", PERF_TYPE_HW_CACHE, CACHE(PERF_COUNT_HW_CACHE_NODE, PERF_COUNT_HW_CACHE_OP_READ, PERF_COUNT_HW_CACHE_RESULT_ACCESS)},
    {"node-load-misses", PERF_TYPE_HW_CACHE, CACHE(PERF_COUNT_HW_CACHE_NODE, PERF_COUNT_HW_CACHE_OP_READ, PERF_COUNT_HW_CACHE_RESULT_MISS)},
    {"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    {"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
};

const char* counter_name(int kind) { return KINDS[kind].name; }

void counters_open(struct counters* counters, int process) {
  for (int kind = 0; kind < KIT_COUNTERS; ++kind) {
    struct perf_event_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.size = sizeof attributes;
    attributes.type = KINDS[kind].type;
    attributes.config = KINDS[kind].event;
    attributes.disabled = attributes.enable_on_exec = attributes.inherit = 1;
    attributes.exclude_kernel = attributes.exclude_hv = 1;
    attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    counters->file[kind] = (int)syscall(SYS_perf_event_open, &attributes, process, -1, -1, PERF_FLAG_FD_CLOEXEC);
    counters->refused[kind] = counters->file[kind] < 0 ? errno : 0;
  }
}

void counters_read(struct counters* counters, struct text* text) {
  const char* comma = "";
  text_put(text, "{");
  for (int kind = 0; kind < KIT_COUNTERS; ++kind) {
    if (counters->file[kind] < 0) continue;
    uint64_t found[3] = {0, 0, 0}; /* count, nanoseconds enabled, nanoseconds running */
    const ssize_t size = read(counters->file[kind], found, sizeof found);
    close(counters->file[kind]);
    if (size != (ssize_t)sizeof found || found[2] == 0) continue;
    const double count = (double)found[0] * (double)found[1] / (double)found[2];
    text_put(text, "%s\"%s\": %.0f", comma, KINDS[kind].name, count);
    comma = ", ";
  }
  text_put(text, "}");
}
