/* Windows of the block sequence: a few thousand instructions each, so that chains from one loop iteration to the next, and from one
 * block to the next, are in them. Of each block the last two windows that began with it are kept.
 */
#include "code_windows.h"

#include <stdbool.h>
#include <stdlib.h>

#include "code_log.h"
#include "library/heap_sort.h"

enum { MOST_RUNS = 512, MOST_INSTRUCTIONS = 2000, OPEN = 4, MOST_WINDOWS = 256, ENOUGH = 4 };
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

#pragma GCC push_options
#pragma GCC target("general-regs-only")
void hn_window_begin(uint32_t block, uint64_t executions) {
  if (open_number == OPEN) return;
  if (!kept) kept = hn_pages((hn_blocks() + 1) * sizeof *kept);
  if (!kept) return;
  /* The one that is replaced is the older one. */
  struct window** place = &kept[block][(63 - __builtin_clzll(executions)) & 1];
  for (unsigned w = 0; w < open_number; ++w)
    if (open[w] == *place) return;
  if (!*place) *place = hn_pages(sizeof **place);
  if (!*place) return;
  (*place)->runs = (*place)->instructions = 0;
  open[open_number++] = *place;
}
void hn_window_add(uint32_t block, uint32_t instructions, uint64_t times) {
  for (unsigned w = 0; w < open_number;) {
    struct window* window = open[w];
    const uint64_t room = (MOST_INSTRUCTIONS - window->instructions) / (instructions ? instructions : 1) + 1;
    const uint32_t n = (uint32_t)(times < room ? times : room);
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
void hn_windows_say(FILE* file) {
  const uint32_t blocks = hn_blocks();
  uint32_t* order = hn_pages((blocks + 1) * sizeof *order);
  uint32_t* covered = hn_pages((blocks + 1) * sizeof *covered); /* windows that have the block behind their first quarter */
  if (!order || !covered || !kept) return;
  double total = 0, seen = 0;
  for (uint32_t b = 0; b < blocks; ++b) order[b] = b, total += (double)weight(b);
  hn_heap_sort(order, blocks, sizeof *order, by_weight, 0);
  unsigned said = 0;
  for (uint32_t i = 0; i < blocks && seen < nearly_all * total && said < MOST_WINDOWS; ++i) {
    const uint32_t block = order[i];
    seen += (double)weight(block);
    for (int w = 0; w < 2 && covered[block] < ENOUGH; ++w) {
      const struct window* window = kept[block][w];
      if (!window || !window->runs) continue;
      uint32_t at = 0;
      for (uint32_t r = 0; r < window->runs; ++r) {
        const struct run run = window->run[r];
        at += run.times * __start_homenode_cells[run.block].instructions;
        if (4 * at > window->instructions) ++covered[run.block];
      }
      say(file, window);
      ++said;
    }
  }
}
