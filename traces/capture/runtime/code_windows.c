/* Windows of the block sequence: a few thousand instructions each, so that chains from one loop iteration to the next, and from one
 * block to the next, are in them. Samples begin at places that are spread evenly over the run, whatever code is there. And of each block
 * the last two windows that began with it are kept, for those that samples have too seldom.
 */
#include "code_windows.h"

#include <stdbool.h>
#include <stdlib.h>

#include "code_log.h"
#include "library/heap_sort.h"

enum { MOST_RUNS = 512, MOST_INSTRUCTIONS = 2000, OPEN = 8, MOST_WINDOWS = 256, ENOUGH = 4 };
enum { MOST_SAMPLES = 128, FIRST_STRETCH = 4096, FOR_SAMPLES = 2 /* of OPEN */ };
static const double nearly_all = 0.998; /* of the instructions */

struct run {
  uint32_t block, times;
};
struct window {
  uint32_t runs, instructions;
  struct run run[MOST_RUNS];
};
static struct window* (*kept)[2]; /* by block */
static struct window* open[OPEN];
static unsigned open_number;
/* One of each stretch of so many instructions; the next one's place is in the stretch that begins there. */
static struct window* samples[MOST_SAMPLES];
static unsigned sample_number;
static uint64_t stretch = FIRST_STRETCH, stretch_begin;
uint64_t hn_next_sample = FIRST_STRETCH / 4;

#pragma GCC push_options
#pragma GCC target("general-regs-only")
static bool is_open(const struct window* window) {
  for (unsigned w = 0; w < open_number; ++w)
    if (open[w] == window) return true;
  return false;
}
static void begin(struct window** place, unsigned most_open) {
  if (open_number >= most_open || is_open(*place)) return;
  if (!*place) *place = hn_pages(sizeof **place);
  if (!*place) return;
  (*place)->runs = (*place)->instructions = 0;
  open[open_number++] = *place;
}
static void stop(const struct window* window) {
  for (unsigned w = 0; w < open_number; ++w)
    if (open[w] == window) open[w] = open[--open_number];
}
void hn_window_begin(uint32_t block, uint64_t executions) {
  if (!kept) kept = hn_pages((hn_blocks() + 1) * sizeof *kept);
  if (!kept) return;
  /* The one that is replaced is the older one. */
  begin(&kept[block][(63 - __builtin_clzll(executions)) & 1], OPEN - FOR_SAMPLES);
}
/* Chance, the same in every run. */
static uint64_t chance(void) {
  static uint64_t state = 0x9E3779B97F4A7C15ul;
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return state >> 8;
}
/* Of two stretches side by side one sample is kept, by chance. The windows of the others are for those to come. */
static void drop_half(void) {
  struct window* dropped[MOST_SAMPLES / 2];
  for (unsigned i = 0; i < MOST_SAMPLES / 2; ++i) {
    struct window** const pair = &samples[2 * i];
    unsigned which = chance() & 1;
    if (!pair[which] || !pair[which]->runs) which = 1 - which;
    dropped[i] = pair[1 - which], samples[i] = pair[which];
    if (!dropped[i]) continue;
    stop(dropped[i]);
    dropped[i]->runs = 0;
  }
  for (unsigned i = 0; i < MOST_SAMPLES / 2; ++i) samples[MOST_SAMPLES / 2 + i] = dropped[i];
  sample_number = MOST_SAMPLES / 2, stretch *= 2;
}
void hn_sample_begin(void) {
  begin(&samples[sample_number++], OPEN);
  stretch_begin += stretch;
  if (sample_number == MOST_SAMPLES) drop_half();
  hn_next_sample = stretch_begin + chance() % stretch;
}
void hn_window_add(uint32_t block, uint32_t instructions, uint64_t times) {
  if (times == 0) return;
  for (unsigned w = 0; w < open_number;) {
    struct window* window = open[w];
    const uint64_t room = (MOST_INSTRUCTIONS - window->instructions) / (instructions ? instructions : 1) + 1;
    const uint32_t n = (uint32_t)(times < room ? times : room);
    /* Where the log was read in between, the block goes on. */
    if (window->runs > 0 && window->run[window->runs - 1].block == block)
      window->run[window->runs - 1].times += n;
    else
      window->run[window->runs++] = (struct run){block, n};
    window->instructions += n * instructions;
    if (window->runs == MOST_RUNS || window->instructions >= MOST_INSTRUCTIONS)
      open[w] = open[--open_number];
    else
      ++w;
  }
}
#pragma GCC pop_options

static uint64_t weight(uint32_t block) { return __start_homenode_cells[block].executions * __start_homenode_cells[block].instructions; }
static int by_weight(const void* a, const void* b, void* context) {
  (void)context;
  const uint32_t x = *(const uint32_t*)a, y = *(const uint32_t*)b;
  return weight(x) != weight(y) ? (weight(x) < weight(y) ? 1 : -1) : (x > y) - (x < y);
}
static void say(FILE* file, const struct window* window) {
  fprintf(file, "{\"kind\": \"window\", \"ordinal\": 0, \"blocks\": [");
  for (uint32_t r = 0; r < window->runs; ++r) fprintf(file, "%s[%u, %u]", r ? ", " : "", window->run[r].block, window->run[r].times);
  fprintf(file, "]}\n");
}
/* Counts how often each block begins to run behind its first quarter, times in a row as one. */
static void note_covered(const struct window* window, uint32_t* covered) {
  uint32_t at = 0;
  for (uint32_t r = 0; r < window->runs; ++r) {
    const struct run run = window->run[r];
    at += run.times * __start_homenode_cells[run.block].instructions;
    if (4 * at > window->instructions) ++covered[run.block];
  }
}
void hn_windows_say(FILE* file) {
  const uint32_t blocks = hn_blocks();
  uint32_t* order = hn_pages((blocks + 1) * sizeof *order);
  uint32_t* covered = hn_pages((blocks + 1) * sizeof *covered);
  if (!order || !covered) return;
  double total = 0, seen = 0;
  for (uint32_t b = 0; b < blocks; ++b) order[b] = b, total += (double)weight(b);
  hn_heap_sort(order, blocks, sizeof *order, by_weight, 0);
  unsigned said = 0;
  for (unsigned i = 0; i < sample_number; ++i) {
    if (!samples[i] || is_open(samples[i]) || !samples[i]->runs) continue;
    note_covered(samples[i], covered);
    say(file, samples[i]);
    ++said;
  }
  for (uint32_t i = 0; i < blocks && kept && seen < nearly_all * total && said < MOST_WINDOWS; ++i) {
    const uint32_t block = order[i];
    seen += (double)weight(block);
    for (int w = 0; w < 2 && covered[block] < ENOUGH; ++w) {
      const struct window* window = kept[block][w];
      if (!window || !window->runs) continue;
      note_covered(window, covered);
      say(file, window);
      ++said;
    }
  }
}
