// A bound of loops that gcc inlines.
#pragma once
#include <vector>

struct Graph {
  std::vector<int> first, neighbours;
  int count = 0;
  int nodes() const { return count; }
};
