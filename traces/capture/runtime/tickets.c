/* Workers that draw the number of their next task from an atomic counter. One thread runs at a time, so that the first one would draw
 * them all: who drew last lets the others go first, as at a mutex (mutexes.c). The traced program asks before each fetch_add and
 * fetch_sub, the twin before the instruction that each became (twin.py), so that both share alike; the timed program does not.
 * A counter only grows: a word that now and then went down since (a count of references) is left alone for a while.
 */
#include "program_threads.h"

enum { WORDS = 256, GROWS = 16, TURNS = 512, MOST = 32 * TURNS };
static struct word {
  const volatile uint32_t* at;
  const struct thread* last;
  uint32_t value, in_a_row, passed_on;
  uint8_t still; /* so many times more it has to grow */
} words[WORDS];
static unsigned passed_on; /* in all: passing the token on costs two system calls */

static struct word* state_of(const volatile void* word) { return &words[(uintptr_t)word * 0x9E3779B97F4A7C15ul >> 56]; }
bool hn_ticket_is_due(const volatile void* word) {
  const struct thread* me = hn_thread();
  if (!me || me->behind == me || hn_self()->team->ranks > 1 || passed_on == MOST) return false;
  struct word* w = state_of(word);
  const uint32_t value = *(const volatile uint32_t*)word;
  if (w->at != word) *w = (struct word){.at = word, .value = value};
  if ((int32_t)(value - w->value) < 0)
    w->still = GROWS;
  else if (w->still)
    --w->still;
  w->value = value;
  if (w->last != me) {
    w->last = me, w->in_a_row = 0;
    return false;
  }
  if (w->still || ++w->in_a_row >> (w->passed_on / TURNS) == 0) return false;
  w->in_a_row = 0;
  if (w->passed_on < 31u * TURNS) ++w->passed_on;
  ++passed_on;
  return true;
}
void hn_pass_on(const volatile void* word) {
  hn_threads_give_way();
  struct word* w = state_of(word);
  if (w->at == word) w->last = hn_thread();
}

#ifdef HOMENODE_TWIN
/* `call homenode_ticket` stands before the instruction, the word's address in %rdi. All registers stay; flags do not, for the instruction
 * sets them. The vector registers are the program's, and passing the token on uses them. */
__asm__(
    ".text\n.globl homenode_ticket\nhomenode_ticket:\n"
    "push %rax; push %rcx; push %rdx; push %rsi; push %rdi; push %r8; push %r9; push %r10; push %r11; push %rbx; push %rbp;"
    "mov %rsp,%rbp; mov %rdi,%rbx; and $-64,%rsp; cld; call hn_ticket_is_due; test %al,%al; jz 1f;"
    "sub $2816,%rsp; xor %eax,%eax; lea 512(%rsp),%rdi; mov $8,%ecx; rep stosq;"
    "mov $0xe7,%eax; xor %edx,%edx; xsave64 (%rsp); mov %rbx,%rdi; call hn_pass_on; mov $0xe7,%eax; xor %edx,%edx; xrstor64 (%rsp)\n"
    "1: mov %rbp,%rsp; pop %rbp; pop %rbx; pop %r11; pop %r10; pop %r9; pop %r8; pop %rdi; pop %rsi; pop %rdx; pop %rcx; pop %rax; ret\n");
#endif
