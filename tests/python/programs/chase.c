/* Pointer chases: one chain, four chains at once, and a gather. The loops stand in parallel regions so that their accesses stand apart. */
#include <stdio.h>
#include <stdlib.h>
enum { N = 4096, STEPS = 20000 };
struct node {
  struct node* next;
  long padding[7];
};
int main(void) {
  struct node* nodes = calloc(N, sizeof *nodes);
  int* index = malloc(N * sizeof *index);
  double* x = calloc(N * 16, sizeof *x);
  unsigned state = 12345;
  for (int i = 0; i < N; i++) index[i] = i;
  for (int i = N - 1; i > 0; i--) { /* Sattolo: one cycle */
    state = state * 1664525u + 1013904223u;
    const int j = (int)((state >> 8) % (unsigned)i), t = index[i];
    index[i] = index[j];
    index[j] = t;
  }
  for (int i = 0; i < N; i++) nodes[i].next = &nodes[index[i]];
  struct node* p = nodes;
#pragma omp parallel for
  for (int k = 0; k < 1; k++)
    for (int i = 0; i < STEPS; i++) p = p->next;
  struct node *a = nodes, *b = nodes + 1000, *c = nodes + 2000, *d = nodes + 3000;
#pragma omp parallel for
  for (int k = 0; k < 1; k++) {
    struct node *e = a, *f = b, *g = c, *h = d;
    for (int i = 0; i < STEPS; i++) e = e->next, f = f->next, g = g->next, h = h->next;
    p += (e == f) + (g == h);
  }
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int k = 0; k < 1; k++)
    for (int i = 0; i < N; i++) sum += x[index[i] * 16];
  printf("%ld %g\n", (long)(p - nodes) >= 0 ? 1L : 0L, sum);
  return 0;
}
