/* bfs: distances from vertex 0 in a random graph, level by level, bottom-up: each vertex without a distance looks among its
 * neighbours for one that was reached in the step before, and stops at the first.
 * Source: the bottom-up step of S. Beamer, K. Asanovic, D. Patterson, Direction-Optimizing Breadth-First Search (SC 2012).
 * Graphs: vertex v has `degree` neighbours; uniform, or skewed, low vertices more often, with a density as 1 / sqrt(vertex).
 * Self-check: the distances equal those of a search with a queue, top-down along the same edges.
 */
#include "kernel.h"
#include "mixed.h"

struct graph {
  int64_t vertices, degree;
  int skewed;
};

KERNEL_INLINE static uint32_t neighbour_of(const struct graph* of, int64_t edge) {
  const double fraction = mixed_fraction((uint64_t)edge);
  return (uint32_t)((of->skewed ? fraction * fraction : fraction) * (double)of->vertices);
}

/* The edges v <- neighbour[v * degree + k], sorted by where they come from: those out of u begin at first[u]. */
KERNEL_UNTRACED static void turn(const struct graph* of, const uint32_t* neighbour, int64_t* first, uint32_t* to) {
  const int64_t edges = of->vertices * of->degree;
  for (int64_t u = 0; u <= of->vertices; ++u) first[u] = 0;
  for (int64_t e = 0; e < edges; ++e) ++first[neighbour[e] + 1];
  for (int64_t u = 0; u < of->vertices; ++u) first[u + 1] += first[u];
  for (int64_t e = 0; e < edges; ++e) to[first[neighbour[e]]++] = (uint32_t)(e / of->degree);
  for (int64_t u = of->vertices; u > 0; --u) first[u] = first[u - 1];
  first[0] = 0;
}

KERNEL_UNTRACED static int64_t differing(const struct graph* of, const uint32_t* neighbour, const int32_t* distance) {
  const int64_t n = of->vertices;
  int64_t* first = kernel_allocate("bfs", (size_t)n + 1, sizeof(int64_t));
  uint32_t* to = kernel_allocate("bfs", (size_t)(n * of->degree), sizeof(uint32_t));
  uint32_t* queue = kernel_allocate("bfs", (size_t)n, sizeof(uint32_t));
  int32_t* expected = kernel_allocate("bfs", (size_t)n, sizeof(int32_t));
  turn(of, neighbour, first, to);
  for (int64_t v = 0; v < n; ++v) expected[v] = -1;
  int64_t head = 0, tail = 1, wrong = 0;
  queue[0] = 0, expected[0] = 0;
  while (head < tail) {
    const uint32_t u = queue[head++];
    for (int64_t k = first[u]; k < first[u + 1]; ++k) {
      if (expected[to[k]] >= 0) continue;
      expected[to[k]] = expected[u] + 1;
      queue[tail++] = to[k];
    }
  }
  for (int64_t v = 0; v < n; ++v) wrong += distance[v] != expected[v];
  free(first);
  free(to);
  free(queue);
  free(expected);
  return wrong;
}

int main(int argc, char** argv) {
  enum { VERTICES, DEGREE, DRAWN, CHECK, COUNT };
  struct kernel_parameter p[COUNT] = {{"vertices", 10000, 1, ((int64_t)1 << 31) - 1, NULL},
                                      {"degree", 8, 1, 1 << 16, NULL},
                                      {"drawn", 0, 0, 0, "uniform|skewed"},
                                      {"check", 1, 0, 1, NULL}};
  kernel_parameters(argc, argv, "bfs", p, COUNT);
  const struct graph of = {p[VERTICES].value, p[DEGREE].value, (int)p[DRAWN].value};
  const int64_t n = of.vertices, degree = of.degree;
  uint32_t* neighbour = kernel_allocate("bfs", (size_t)(n * degree), sizeof(uint32_t));
  int32_t* distance = kernel_allocate("bfs", (size_t)n, sizeof(int32_t));
  uint8_t* reached = kernel_allocate("bfs", (size_t)n, 1);
  uint8_t* next = kernel_allocate("bfs", (size_t)n, 1);

  double begin = KERNEL_REGION("graph");
#pragma omp parallel for schedule(static)
  for (int64_t v = 0; v < n; ++v) {
    distance[v] = v == 0 ? 0 : -1;
    reached[v] = v == 0;
    next[v] = 0;
    for (int64_t k = v * degree; k < (v + 1) * degree; ++k) neighbour[k] = neighbour_of(&of, k);
  }
  kernel_time("graph", begin);

  begin = kernel_clock(); /* of all levels together: how many there are depends on the graph */
  int64_t found = 1;
  for (int32_t level = 1; found > 0; ++level) {
    found = 0;
    HOMENODE_LABEL("level");
#pragma omp parallel for schedule(static) reduction(+ : found)
    for (int64_t v = 0; v < n; ++v) {
      next[v] = 0;
      if (distance[v] >= 0) continue;
      for (int64_t k = v * degree; k < (v + 1) * degree; ++k) {
        if (!reached[neighbour[k]]) continue;
        distance[v] = level;
        next[v] = 1;
        ++found;
        break;
      }
    }
    uint8_t* swap = reached;
    reached = next;
    next = swap;
  }
  kernel_time("level", begin);

  const int code =
      p[CHECK].value ? kernel_verdict("bfs", differing(&of, neighbour, distance), "distances differ from those of a queue") : 0;
  free(neighbour);
  free(distance);
  free(reached);
  free(next);
  return code;
}
