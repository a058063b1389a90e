/* Shadow stack: which function's frame a stack address belongs to. A frame reaches from its function's stack pointer to its
 * caller's; offsets in it are the same in every run, addresses are not. A frame is announced when a run first touches it.
 */
#include <sys/mman.h>

#include "program_threads.h"
#include "runtime.h"

enum { MOST_STACKS = HN_FIRST_CREATED + 65536, DEPTH = 256 };
struct frame {
  uintptr_t low, pc;
};
struct stack {
  uintptr_t low, high; /* addresses that belong to it */
  uintptr_t base;      /* where the outermost frame ends */
  unsigned number, depth;
  struct frame frame[DEPTH];
  struct {
    uintptr_t low, high, pc;
  } announced[DEPTH];       /* what the other end knows; low 0: nothing of this depth */
  unsigned announced_depth; /* nothing from this one on */
};
static struct stack* stacks[MOST_STACKS];
static struct stack main_stack;
static struct stack* by_address[MOST_STACKS]; /* those that live, by `low` */
static unsigned live;
static unsigned rank, known;
uintptr_t hn_stacks_low = UINTPTR_MAX, hn_stacks_high;

static unsigned place_of(uintptr_t address) { /* the first that begins behind the address */
  unsigned first = 0, last = live;
  while (first < last) {
    const unsigned middle = (first + last) / 2;
    if (by_address[middle]->low <= address)
      first = middle + 1;
    else
      last = middle;
  }
  return first;
}
static void take_out(const struct stack* s) {
  unsigned at = 0;
  while (at < live && by_address[at] != s) ++at;
  if (at == live) return;
  for (--live; at < live; ++at) by_address[at] = by_address[at + 1];
}
static void put_in(struct stack* s) {
  const unsigned at = place_of(s->low);
  for (unsigned i = live++; i > at; --i) by_address[i] = by_address[i - 1];
  by_address[at] = s;
}
void hn_stack_of(unsigned number, uintptr_t low, uintptr_t high, uintptr_t base) {
  if (number >= MOST_STACKS) return;
  if (!stacks[number]) stacks[number] = number == 0 ? &main_stack : hn_pages(sizeof(struct stack));
  if (!stacks[number]) return;
  take_out(stacks[number]);
  stacks[number]->number = number;
  stacks[number]->low = low, stacks[number]->high = high, stacks[number]->base = base;
  put_in(stacks[number]);
  if (number >= known) known = number + 1;
  if (low < hn_stacks_low) hn_stacks_low = low;
  if (high > hn_stacks_high) hn_stacks_high = high;
}
void hn_stack_base(unsigned number, uintptr_t base) {
  if (number < known && stacks[number]) stacks[number]->base = base, stacks[number]->depth = 0;
}
void hn_stack_gone(unsigned number) {
  if (number >= known || number == 0 || !stacks[number]) return;
  take_out(stacks[number]);
  munmap(stacks[number], sizeof(struct stack));
  stacks[number] = 0;
}
void hn_runs_on_rank(unsigned number) {
  rank = number;
  hn_records_here();
}

void __tsan_func_entry(void* caller) {
  (void)caller;
  if (!hn_on) return hn_runs_on_library_thread();
  struct stack* s = rank < known ? stacks[rank] : 0;
  if (!s) return;
  if (s->depth < DEPTH) {
    s->frame[s->depth].low = (uintptr_t)__builtin_frame_address(0) + 16;
    s->frame[s->depth].pc = (uintptr_t)__builtin_return_address(0);
  }
  ++s->depth;
}
void __tsan_func_exit(void) {
  struct stack* s = hn_on && rank < known ? stacks[rank] : 0;
  if (s && s->depth) --s->depth;
}

void hn_forget_frames(void) {
  struct stack* s = rank < known ? stacks[rank] : 0;
  if (!s) return;
  for (unsigned deeper = s->depth; deeper < s->announced_depth; ++deeper) s->announced[deeper].low = 0;
  if (s->announced_depth > s->depth) s->announced_depth = s->depth;
}

void hn_announce_frame(uintptr_t address) {
  unsigned owner = rank;
  if (owner >= known || !stacks[owner] || address < stacks[owner]->low || address >= stacks[owner]->high) {
    const unsigned behind = place_of(address);
    if (behind == 0 || address >= by_address[behind - 1]->high) return;
    owner = by_address[behind - 1]->number;
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
  /* The other end replaces every frame that this one overlaps, and so must we: also one that a function had there while fewer were open.
   * Deeper ones are of calls that are over; in a team they may be another thread's own now. */
  for (unsigned k = 0; k < s->announced_depth; ++k)
    if (k > d || (s->announced[k].low < high && low < s->announced[k].high)) s->announced[k].low = 0;
  s->announced_depth = d + 1;
  s->announced[d].low = low, s->announced[d].high = high, s->announced[d].pc = s->frame[d].pc;
  hn_control(HN_FRAME);
  hn_u(owner), hn_u(low), hn_u(high), hn_site((const void*)s->frame[d].pc);
}
