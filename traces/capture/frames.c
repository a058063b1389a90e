/* Shadow stack: which function's frame a stack address belongs to. A frame reaches from its function's stack pointer to its
 * caller's; offsets in it are the same in every run, addresses are not. A frame is announced when a run first touches it.
 */
#include "runtime.h"

enum { MOST_RANKS = 1024, DEPTH = 256 };
struct frame {
  uintptr_t low, pc;
};
struct stack {
  uintptr_t low, high; /* addresses that belong to it */
  uintptr_t base;      /* where the outermost frame ends */
  unsigned depth;
  struct frame frame[DEPTH];
  struct {
    uintptr_t low, high, pc;
  } announced[DEPTH];
};
static struct stack* stacks[MOST_RANKS];
static struct stack main_stack;
static unsigned rank, known;
uintptr_t hn_stacks_low = UINTPTR_MAX, hn_stacks_high;

void hn_stack_of(unsigned number, uintptr_t low, uintptr_t high, uintptr_t base) {
  if (number >= MOST_RANKS) return;
  if (!stacks[number]) stacks[number] = number == 0 ? &main_stack : hn_pages(sizeof(struct stack));
  if (!stacks[number]) return;
  stacks[number]->low = low, stacks[number]->high = high, stacks[number]->base = base;
  if (number >= known) known = number + 1;
  if (low < hn_stacks_low) hn_stacks_low = low;
  if (high > hn_stacks_high) hn_stacks_high = high;
}
void hn_stack_base(unsigned number, uintptr_t base) {
  if (number < known && stacks[number]) stacks[number]->base = base, stacks[number]->depth = 0;
}
void hn_runs_on_rank(unsigned number) {
  rank = number;
  hn_records_here();
}

void __tsan_func_entry(void* caller) {
  (void)caller;
  if (!hn_on || rank >= known) return;
  struct stack* s = stacks[rank];
  if (s->depth < DEPTH) {
    s->frame[s->depth].low = (uintptr_t)__builtin_frame_address(0) + 16;
    s->frame[s->depth].pc = (uintptr_t)__builtin_return_address(0);
  }
  ++s->depth;
}
void __tsan_func_exit(void) {
  if (hn_on && rank < known && stacks[rank]->depth) --stacks[rank]->depth;
}

void hn_announce_frame(uintptr_t address) {
  unsigned owner = rank;
  if (owner >= known || address < stacks[owner]->low || address >= stacks[owner]->high) {
    for (owner = 0; owner < known; ++owner)
      if (stacks[owner] && address >= stacks[owner]->low && address < stacks[owner]->high) break;
    if (owner == known) return;
  }
  struct stack* s = stacks[owner];
  const unsigned depth = s->depth < DEPTH ? s->depth : DEPTH;
  if (!depth || address >= s->base) return;
  unsigned d = depth - 1;
  while (d > 0 && address >= s->frame[d - 1].low) --d;
  uintptr_t low = s->frame[d].low;
  const uintptr_t high = d == 0 ? s->base : s->frame[d - 1].low;
  if (address < low) low -= (low - address + 65535) & ~(uintptr_t)65535; /* arrays of run-time size lie below the frame proper */
  if (s->announced[d].low == low && s->announced[d].high == high && s->announced[d].pc == s->frame[d].pc) return;
  s->announced[d].low = low, s->announced[d].high = high, s->announced[d].pc = s->frame[d].pc;
  for (unsigned deeper = d + 1; deeper < DEPTH && s->announced[deeper].low; ++deeper) s->announced[deeper].low = 0;
  hn_control(HN_FRAME);
  hn_u(owner), hn_u(low), hn_u(high), hn_site((const void*)s->frame[d].pc);
}
