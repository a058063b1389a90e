/* Numbers that look random, each from its own index: filled in parallel, and the same every time (S. Vigna's splitmix64 finaliser). */
#ifndef HOMENODE_MIXED_H
#define HOMENODE_MIXED_H

#include <stdint.h>

static inline uint64_t mixed(uint64_t value) {
  value = (value + 1) * 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

/* At least 0, below 1. */
static inline double mixed_fraction(uint64_t value) { return (double)(mixed(value) >> 11) * 0x1p-53; }

#endif
