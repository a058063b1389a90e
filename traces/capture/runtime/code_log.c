/* The buffer that the blocks of the twin write to, and its reading. Without the C library, whose functions may use vector registers. */
#include "code_log.h"

#include <stddef.h>

#include "branch_predictor.h"
#include "code_windows.h"

#pragma GCC target("general-regs-only")

enum { LAP = 8192 }; /* entries from a multiple of 64 KiB to the next: there the low 16 bits of the position are 0 */

/* Of two laps: wherever it begins, a multiple of 64 KiB with a lap behind it lies in it. Blocks write from before any constructor on. */
static uint64_t buffer[2 * LAP];
uint64_t* homenode_at = buffer;
static uint64_t* lap = buffer;

static uint32_t* ran; /* blocks that ran since they were last taken */
static uint32_t ran_number;
static uint64_t instructions;
static struct hn_cell* previous;

static uint32_t number_of(const struct hn_cell* cell) { return (uint32_t)(cell - __start_homenode_cells); }

static void list(struct hn_cell* cell) {
  if (!ran) ran = hn_pages((hn_blocks() + 1) * sizeof *ran);
  if (!ran) __builtin_trap();
  cell->listed = 1;
  ran[ran_number++] = number_of(cell);
}
/* A window begins where a block has run 64, 128, 256 … times: hot blocks get several, spread over the run. */
static bool is_at_a_power_of_two(uint64_t before, uint64_t after) { return (before ^ after) > before && after >= 64; }

static bool is_indirect(const struct hn_cell* cell) { return cell->kind == HN_INDIRECT_JUMP || cell->kind == HN_INDIRECT_CALL; }

static void read_run(struct hn_cell* cell, uint64_t times) {
  if (previous) {
    if (previous->kind == HN_CONDITIONAL)
      previous->wrong += hn_mispredictions(number_of(previous), cell != previous + 1, 1);
    else if (is_indirect(previous))
      previous->wrong += hn_mispredicted_targets(number_of(previous), number_of(cell), 1);
  }
  if (times > 1 && cell->kind == HN_CONDITIONAL) cell->wrong += hn_mispredictions(number_of(cell), true, times - 1);
  if (times > 1 && is_indirect(cell)) cell->wrong += hn_mispredicted_targets(number_of(cell), number_of(cell), times - 1);
  if (!cell->listed) list(cell);
  const uint64_t before = cell->executions;
  cell->count += times, cell->executions += times, instructions += times * cell->instructions;
  if (is_at_a_power_of_two(before, cell->executions)) hn_window_begin(number_of(cell), cell->executions);
  hn_window_add(number_of(cell), cell->instructions, times);
  previous = cell;
}
void hn_log_read(void) {
  const uint64_t* at = lap;
  const uint64_t* const end = homenode_at;
  while (at < end) {
    const struct hn_code* code = (const struct hn_code*)*at;
    const uint64_t* other = at + 1;
    while (other < end && *other == *at) ++other;
    struct hn_cell* cell = (struct hn_cell*)((uintptr_t)code + (intptr_t)code->cell);
    cell->code = code;
    read_run(cell, (uint64_t)(other - at));
    at = other;
  }
  homenode_at = lap;
}
/* The buffer is full. */
__attribute__((used)) static void hn_log_full(void) {
  hn_log_read();
  lap = (uint64_t*)(((uintptr_t)buffer + 8 * LAP - 1) & -(uintptr_t)(8 * LAP));
  homenode_at = lap;
}
/* Called from the beginning of a block, with its descriptor behind the call. */
__asm__(
    ".text\n.globl homenode_full\nhomenode_full:\n"
    "pushfq; push %rax; push %rcx; push %rdx; push %rsi; push %rdi; push %r8; push %r9; push %r10; push %r11; push %rbp; mov %rsp,%rbp;"
    "addq $12,88(%rbp); and $-16,%rsp; cld; call hn_log_full; mov %rbp,%rsp;"
    "pop %rbp; pop %r11; pop %r10; pop %r9; pop %r8; pop %rdi; pop %rsi; pop %rdx; pop %rcx; pop %rax; popfq; ret\n");
_Static_assert(sizeof(struct hn_code) == 12, "as homenode_full skips it");

void hn_log_take(void (*take)(void*, uint32_t, uint64_t, uint32_t), void* data) {
  hn_log_read();
  for (uint32_t i = 0; i < ran_number; ++i) {
    struct hn_cell* cell = &__start_homenode_cells[ran[i]];
    take(data, ran[i], cell->count, cell->wrong);
    cell->count = 0, cell->wrong = 0, cell->listed = 0;
  }
  ran_number = 0;
}
uint64_t hn_counted_instructions(void) {
  hn_log_read();
  return instructions;
}
