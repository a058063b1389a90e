/* The 15-puzzle: boards, moves, instances, and the length of shortest paths by breadth-first search.
 * A board is 16 cells of 4 bits, cell 0 in the lowest; tile 0 is the blank. Published instances: R. E. Korf, "Depth-first
 * iterative-deepening: an optimal admissible tree search", Artificial Intelligence 27 (1985), table 1; the goal is 0 1 2 .. 15.
 */
#ifndef HOMENODE_FIFTEEN_PUZZLE_H
#define HOMENODE_FIFTEEN_PUZZLE_H

#include "kernel.h"

enum { CELLS = 16, EDGE = 4 };

typedef uint64_t board;

static inline uint64_t random_number(uint64_t* state) { /* S. Vigna, splitmix64 */
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static inline unsigned tile_at(board state, uint32_t cell) { return (unsigned)(state >> (4 * cell)) & 15u; }

/* The board after the blank moved from one cell to another. */
static inline board moved(board state, uint32_t blank, uint32_t to) {
  const board tile = tile_at(state, to);
  return (state & ~(board)(15ull << (4 * to))) | tile << (4 * blank);
}

/* The cell beside `cell` in direction 0 .. 3 (up, left, right, down), or CELLS. */
static inline uint32_t beside(uint32_t cell, int direction) {
  if (direction == 0) return cell >= EDGE ? cell - EDGE : CELLS;
  if (direction == 1) return cell % EDGE ? cell - 1 : CELLS;
  if (direction == 2) return cell % EDGE < EDGE - 1 ? cell + 1 : CELLS;
  return cell < CELLS - EDGE ? cell + EDGE : CELLS;
}

static inline uint32_t distance(uint32_t a, uint32_t b) {
  const uint32_t rows = a / EDGE > b / EDGE ? a / EDGE - b / EDGE : b / EDGE - a / EDGE;
  const uint32_t columns = a % EDGE > b % EDGE ? a % EDGE - b % EDGE : b % EDGE - a % EDGE;
  return rows + columns;
}

struct published {
  int number;
  uint32_t optimal;
  unsigned char tiles[CELLS];
};
static const struct published korf[] = {{55, 41, {13, 8, 14, 3, 9, 1, 0, 7, 15, 5, 4, 10, 12, 2, 6, 11}},
                                        {79, 42, {0, 1, 9, 7, 11, 13, 5, 3, 14, 12, 4, 2, 8, 6, 10, 15}},
                                        {12, 45, {14, 1, 9, 6, 4, 8, 12, 5, 7, 2, 3, 0, 10, 11, 13, 15}}};

KERNEL_UNTRACED static uint32_t blank_of(board state) {
  uint32_t cell = 0;
  while (tile_at(state, cell)) ++cell;
  return cell;
}

KERNEL_UNTRACED static board random_walk(board state, int64_t moves, uint64_t* seed) {
  uint32_t blank = blank_of(state), before = CELLS;
  for (int64_t move = 0; move < moves;) {
    const uint32_t to = beside(blank, (int)(random_number(seed) >> 62));
    if (to == CELLS || to == before) continue;
    state = moved(state, blank, to);
    before = blank;
    blank = to;
    ++move;
  }
  return state;
}

/* The board of these tiles, each renamed. */
KERNEL_UNTRACED static board renamed(const unsigned char* tiles, const unsigned char* name) {
  board state = 0;
  for (uint32_t cell = 0; cell < CELLS; ++cell) state |= (board)name[tiles[cell]] << (4 * cell);
  return state;
}

/* ---- shortest paths, breadth-first from both ends on sorted layers ---- */

KERNEL_UNTRACED static int compare_boards(const void* a, const void* b) {
  const board x = *(const board*)a, y = *(const board*)b;
  return (x > y) - (x < y);
}

struct layers {
  board *previous, *current;
  size_t previous_count, current_count;
};

KERNEL_UNTRACED static int among(const board* sorted, size_t count, board state) {
  return bsearch(&state, sorted, count, sizeof(board), compare_boards) != NULL;
}

/* The next layer: neighbours of the current one that lie neither in it nor in the one before (moves change the blank's parity). */
KERNEL_UNTRACED static void advance(struct layers* layers) {
  board* next = kernel_allocate("fifteen_puzzle", 4 * layers->current_count, sizeof(board));
  size_t found = 0, kept = 0;
  for (size_t i = 0; i < layers->current_count; ++i) {
    const uint32_t blank = blank_of(layers->current[i]);
    for (int direction = 0; direction < 4; ++direction) {
      const uint32_t to = beside(blank, direction);
      if (to == CELLS) continue;
      const board state = moved(layers->current[i], blank, to);
      if (!among(layers->previous, layers->previous_count, state)) next[found++] = state;
    }
  }
  qsort(next, found, sizeof(board), compare_boards);
  for (size_t i = 0; i < found; ++i)
    if (i == 0 || next[i] != next[i - 1]) next[kept++] = next[i];
  free(layers->previous);
  *layers = (struct layers){layers->current, next, layers->current_count, kept};
}

KERNEL_UNTRACED static struct layers first_layer(board state) {
  struct layers layers = {NULL, kernel_allocate("fifteen_puzzle", 1, sizeof(board)), 0, 1};
  layers.current[0] = state;
  layers.previous = kernel_allocate("fifteen_puzzle", 1, sizeof(board));
  return layers;
}

/* The length of the shortest path: the layers of both ends meet first when their depths add up to it. */
KERNEL_UNTRACED static uint32_t breadth_first_length(board start, board goal) {
  struct layers end[2] = {first_layer(start), first_layer(goal)};
  uint32_t length = 0;
  for (;;) {
    int met = 0;
    for (size_t i = 0; i < end[0].current_count && !met; ++i) met = among(end[1].current, end[1].current_count, end[0].current[i]);
    if (met) break;
    advance(&end[length++ % 2]);
  }
  for (int side = 0; side < 2; ++side) {
    free(end[side].previous);
    free(end[side].current);
  }
  return length;
}

#endif
