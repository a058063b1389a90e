/* models/machines/native/other_thread.cpp for a traced program's twin: without vector registers, and short. */
#include "other_thread.h"

#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>

#include "code_log.h"
#include "system_call.h"
#include "ticks.h"

enum { ADDITIONS = 16, ROUNDS = 512, FIRST_ROUNDS = ADDITIONS };

/* Four issue slots a round: a decrement that is fused with its branch, and three instructions more, in one block of 64 bytes. */
HN_NO_VECTORS __attribute__((noinline)) static void fill_slots(uint64_t rounds) {
  __asm__ volatile(".p2align 6\n1: nop\n nop\n nop\n dec %0\n jnz 1b" : "+r"(rounds) : : "cc");
}
/* A cycle a round. */
HN_NO_VECTORS __attribute__((noinline)) static void add(uint64_t rounds) {
  uint64_t left = rounds / ADDITIONS, sum = 1;
  __asm__ volatile("1: .rept 16\n add %1, %1\n .endr\n dec %0\n jnz 1b" : "+r"(left), "+r"(sum) : : "cc");
}
/* Cores that issue four such and take a branch in each cycle: Intel's since Haswell, AMD's since Zen. */
static bool can_tell(void) {
  __builtin_cpu_init(); /* a library's constructor that allocates may come here before the program's own */
  return __builtin_cpu_supports("avx2") && !__builtin_cpu_is("amdfam15h");
}

HN_NO_VECTORS bool hn_beside_others(void) {
  static signed char tells = -1;
  if (tells < 0) tells = can_tell();
  if (!tells) return false;
  fill_slots(FIRST_ROUNDS), add(FIRST_ROUNDS); /* they are in the caches behind that */
  const uint64_t begin = hn_ticks();
  fill_slots(ROUNDS);
  const uint64_t filled = hn_ticks();
  add(ROUNDS);
  const uint64_t added = hn_ticks();
  return 2 * (filled - begin) > 3 * (added - filled); /* halfway between one cycle a round and two */
}

HN_NO_VECTORS void hn_wait_for_others(void) {
  enum { NAP = 2000000, NAPS = 500 }; /* nanoseconds: about a second in all */
  static unsigned naps;
  const struct timespec nap = {.tv_nsec = NAP};
  for (; naps < NAPS && hn_beside_others(); ++naps) hn_system_call(SYS_nanosleep, (long)&nap, 0, 0, 0, 0, 0);
}
