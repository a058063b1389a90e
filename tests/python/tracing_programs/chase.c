/* One chain, four chains in step, and a gather, each in a loop of one iteration with a label of its own. */
#include <homenode.h>
#include <stdio.h>
#include <stdlib.h>
enum { NODES = 1024, STEPS = 3000 };
struct node {
  struct node* next;
  char padding[56];
};
int main(void) {
  struct node* nodes = calloc(NODES, sizeof *nodes);
  int* order = malloc(NODES * sizeof *order);
  double* table = calloc(NODES * 8, sizeof *table);
  for (int i = 0; i < NODES; ++i) order[i] = i;
  unsigned state = 99;
  for (int i = NODES - 1; i > 0; --i) { /* one cycle through all nodes (Sattolo) */
    state = state * 1103515245u + 12345u;
    const int j = (int)(state / 65536u % (unsigned)i), swapped = order[i];
    order[i] = order[j], order[j] = swapped;
  }
  for (int i = 0; i < NODES; ++i) nodes[i].next = &nodes[order[i]];
  struct node* results[5] = {0};
  double sum = 0;
  HOMENODE_LABEL("one");
#pragma omp parallel for
  for (int k = 0; k < 1; ++k) {
    struct node* at = nodes;
    for (int i = 0; i < STEPS; ++i) at = at->next;
    results[0] = at;
  }
  HOMENODE_LABEL("four");
#pragma omp parallel for
  for (int k = 0; k < 1; ++k) {
    struct node *p = nodes, *q = nodes + 200, *r = nodes + 500, *s = nodes + 800;
    for (int i = 0; i < STEPS; ++i) p = p->next, q = q->next, r = r->next, s = s->next;
    results[1] = p, results[2] = q, results[3] = r, results[4] = s;
  }
  HOMENODE_LABEL("gather");
#pragma omp parallel for reduction(+ : sum)
  for (int k = 0; k < 1; ++k)
    for (int i = 0; i < NODES; ++i) sum += table[order[i] * 8];
  printf("%d %g\n", results[0] != results[1], sum);
  return 0;
}
