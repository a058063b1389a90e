// A sweep that goes round and round over more lines than a cache holds, whose victims are random. Between two visits of a line so many
// evictions hit the cache as the sweep misses, each of which takes this line with the chance 1 / lines. So a line is still there with
// h = exp(-(1 - h) N / C), for N lines swept and C held (C large). An LRU cache has h = 0 there, the best of all choices (C - 1) / (N - 1):
// L. A. Belady, IBM Systems Journal 5(2), 1966, keeps the line that is used farthest ahead out.
#pragma once

#include <cmath>

namespace homenode {

// h for swept / held = `ratio`: 1 up to 1. The share of misses, 1 - h, is where 1 - m - exp(-m ratio) changes its sign, by halving.
inline double random_sweep_hits(double ratio) {
  if (!(ratio > 1)) return 1;
  double low = 0, high = 1;
  for (int step = 0; step < 50; ++step) {
    const double misses = (low + high) / 2;
    (1 - misses - std::exp(-misses * ratio) > 0 ? low : high) = misses;
  }
  return 1 - (low + high) / 2;
}

}  // namespace homenode
