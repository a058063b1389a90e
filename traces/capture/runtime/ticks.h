/* ticks.h: the time-stamp counter, behind all loads so far; a later instruction does not begin before. */
#ifndef HN_TICKS_H
#define HN_TICKS_H

#include <stdint.h>

__attribute__((target("general-regs-only"))) static inline uint64_t hn_ticks(void) {
  uint32_t low, high;
  __asm__ volatile("lfence; rdtsc; lfence" : "=a"(low), "=d"(high)::"memory");
  return (uint64_t)high << 32 | low;
}

#endif
