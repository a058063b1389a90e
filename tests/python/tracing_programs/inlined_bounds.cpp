// Parallel loops whose bound is a call of a header's function: the call that begins the loop has that line.
#include "inlined_bounds.hpp"

#include <cstdio>

static long sums(const Graph& graph) {
  long total = 0;
#pragma omp parallel for reduction(+ : total) schedule(dynamic, 64)
  for (int node = 0; node < graph.nodes(); ++node)
    for (int k = graph.first[node]; k < graph.first[node + 1]; ++k) total += graph.neighbours[k];
  return total;
}

static void double_them(Graph& graph) {
#pragma omp parallel
  {
#pragma omp for schedule(static, 16)
    for (int node = 0; node < graph.nodes(); ++node)
      for (int k = graph.first[node]; k < graph.first[node + 1]; ++k) graph.neighbours[k] *= 2;
  }
}

int main() {
  Graph graph;
  graph.count = 512;
  graph.first.push_back(0);
  for (int node = 0; node < graph.count; ++node) {
    for (int k = 0; k < node % 5; ++k) graph.neighbours.push_back((node * 7 + k) % graph.count);
    graph.first.push_back((int)graph.neighbours.size());
  }
  double_them(graph);
  std::printf("%ld\n", sums(graph));
}
