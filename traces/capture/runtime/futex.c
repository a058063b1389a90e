/* Waiting without the pthread functions: futexes (std::future, std::latch, the guards of C++'s static variables call syscall()), spins
 * on a word, sleeping and yielding. Whoever waits gives the token away; the store or wake that ends it is told as a signal.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "program_threads.h"
#include "system_call.h"

unsigned hn_words_waited_for;

struct wait_for_word {
  const volatile unsigned* word;
  unsigned expected;
  const struct object* object;
  uint64_t before;
};
static bool has_changed(void* wait) {
  const struct wait_for_word* w = wait;
  return *w->word != w->expected || w->object->word.last != w->before;
}
static void note_wait(int operation, const volatile void* word, const struct object* o, uint64_t before) {
  if (o->word.last != before) hn_sync(operation, hn_lock_of((void*)word)->number, o->word.last);
}
static void note_signal(const volatile void* word, struct object* o) {
  o->word.last = hn_next_signal();
  hn_sync(SYNC_SIGNAL, hn_lock_of((void*)word)->number, o->word.last);
}
static long futex_wait(const volatile unsigned* word, unsigned expected, const struct timespec* timeout, bool absolute, clockid_t clock) {
  if (*word != expected) {
    errno = EAGAIN;
    return -1;
  }
  struct timespec end;
  if (timeout && !absolute) {
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += timeout->tv_sec, end.tv_nsec += timeout->tv_nsec;
    if (end.tv_nsec >= 1000000000) ++end.tv_sec, end.tv_nsec -= 1000000000;
    timeout = &end, clock = CLOCK_MONOTONIC;
  }
  struct object* o = hn_object((const void*)word, OBJECT_WORD);
  struct wait_for_word w = {word, expected, o, o->word.last};
  ++o->word.waiting, ++hn_words_waited_for;
  const bool in_time = hn_block(has_changed, &w, "futex", timeout, clock);
  --o->word.waiting, --hn_words_waited_for;
  note_wait(SYNC_WAIT, word, o, w.before);
  if (in_time) return 0;
  errno = ETIMEDOUT;
  return -1;
}
static void futex_wake(const volatile unsigned* word) {
  struct object* o = hn_known_object((const void*)word, OBJECT_WORD);
  if (!o || !o->word.waiting) return;
  note_signal(word, o);
  hn_progress();
}
long syscall(long number, ...) {
  long a[6];
  va_list list;
  va_start(list, number);
  for (unsigned i = 0; i < 6; ++i) a[i] = va_arg(list, long);
  va_end(list);
  if (number == SYS_futex && hn_thread()) {
    const int operation = (int)a[1] & FUTEX_CMD_MASK;
    if (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET)
      return futex_wait((const volatile unsigned*)a[0], (unsigned)a[2], (const struct timespec*)a[3], operation == FUTEX_WAIT_BITSET,
                        a[1] & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC);
    if (operation == FUTEX_WAKE || operation == FUTEX_WAKE_BITSET) futex_wake((const volatile unsigned*)a[0]);
  }
  if (number == SYS_exit_group) hn_leaving("the program ended by a system call of its own", 0);
  if (number == SYS_execve) hn_leaving("exec: what comes after it is not recorded; the program became ", (const char*)a[0]);
  const long result = hn_system_call(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  if (result >= 0 || result < -4095) return result;
  errno = (int)-result;
  return -1;
}

/* ---- spins ---- */
bool hn_in_team(void) { return hn_thread() && hn_sharers(hn_self()) > 1; }
static uint64_t spin_waits;
static const void* spin_site;
static uint64_t plain_spins;
static const void* plain_site;
static uint64_t team_spins;
static const void* team_site;
#ifndef HOMENODE_TWIN
static void lose(uint64_t count, const void* site, const char* reason) {
  if (!count) return;
  hn_control(HN_LOSS);
  hn_u(count), hn_site(site), hn_s(reason);
}
void hn_spin_losses(void) {
  lose(spin_waits, spin_site, "spin on a word: replayed as a wait for the store that ended it");
  lose(plain_spins, plain_site, "spin on a word that is not atomic: its loads are replayed, and no wait");
  lose(team_spins, team_site, "spin on a word by a thread of a team: its loads are replayed, and no wait");
}
#endif
void hn_spun_in_team(const volatile uint8_t* word, const void* site) {
  const uint8_t before = word ? *word : 0;
  hn_yield();
  if (hn_on && (!word || *word != before) && !team_spins++) team_site = site;
}
void hn_spun_on(const volatile void* word, const void* site) {
  struct thread* me = hn_thread();
  if (!me || hn_sharers(hn_self()) > 1) {
    hn_spun_in_team(word, site);
    return;
  }
  if (me->behind == me) return;
  struct object* o = hn_object((const void*)word, OBJECT_WORD);
  const uint64_t before = o->word.last;
  ++o->word.waiting, ++hn_words_waited_for;
  hn_threads_give_way();
  --o->word.waiting, --hn_words_waited_for;
  if (o->word.last == before) return;
  note_wait(SYNC_ATOMIC_WAIT, word, o, before);
  if (hn_on && !spin_waits++) spin_site = site;
}
/* Plain stores tell nobody whether they end a wait. */
void hn_spun_plainly(const void* site) {
  if (hn_in_team()) {
    hn_spun_in_team(0, site);
    return;
  }
  if (!hn_threads_give_way() || !hn_on) return;
  hn_sync(SYNC_ATOMIC_WAIT, 0, 0);
  if (!plain_spins++) plain_site = site;
}
#ifdef HOMENODE_TWIN
/* Twin and timed program see no loads: the compiler wrapper puts this call where a loop that waits goes round (compiler/spins.py). */
void hn_went_round(void) {
  static unsigned rounds;
  if (++rounds % 16) return;
  if (hn_sharers(hn_self()) > 1)
    hn_yield();
  else if (hn_thread())
    hn_threads_give_way();
}
/* It keeps all registers and flags, but for the upper halves of vector registers: nothing on the way to the system call may use them. */
__asm__(
    ".text\n.globl homenode_spins\nhomenode_spins:\n"
    "pushfq; push %rax; push %rcx; push %rdx; push %rsi; push %rdi; push %r8; push %r9; push %r10; push %r11; push %rbp; mov %rsp,%rbp;"
    "sub $512,%rsp; and $-16,%rsp; fxsave64 (%rsp); cld; call hn_went_round; fxrstor64 (%rsp); mov %rbp,%rsp;"
    "pop %rbp; pop %r11; pop %r10; pop %r9; pop %r8; pop %rdi; pop %rsi; pop %rdx; pop %rcx; pop %rax; popfq; ret\n");
#endif
void hn_stored(const volatile void* word) {
  struct object* o = hn_thread() ? hn_known_object((const void*)word, OBJECT_WORD) : 0;
  if (o && o->word.waiting) note_signal(word, o);
}

/* ---- a sleeping thread lets the others go on; it really sleeps when there is none ---- */
static bool others_went_on(void) { return hn_thread() && hn_sharers(hn_self()) == 1 && hn_threads_give_way(); }
int sched_yield(void) {
  if (hn_in_team()) {
    hn_yield();
    return 0;
  }
  return others_went_on() ? 0 : REAL(sched_yield)();
}
int nanosleep(const struct timespec* time, struct timespec* rest) { return others_went_on() ? 0 : REAL(nanosleep)(time, rest); }
int clock_nanosleep(clockid_t clock, int flags, const struct timespec* time, struct timespec* rest) {
  return others_went_on() ? 0 : REAL(clock_nanosleep)(clock, flags, time, rest);
}
int usleep(useconds_t time) { return others_went_on() ? 0 : REAL(usleep)(time); }
unsigned sleep(unsigned seconds) { return others_went_on() ? 0 : REAL(sleep)(seconds); }
