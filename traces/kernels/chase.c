/* chase: pointer chases over one random cycle of nodes of a cache line each, the latency of memory.
 * Source: the cycle is a uniformly random one by S. Sattolo, "An algorithm to generate a random cyclic permutation"
 * (Information Processing Letters 22, 1986); the chase with several chains at once is lmbench's lat_mem_rd with parallelism
 * (L. McVoy, C. Staelin, USENIX 1996). chains=1: every load needs the one before it; chains=4: four independent loads at a time.
 * The walks are shared among the threads; each starts elsewhere on the cycle and takes `steps` steps with each of its chains.
 * The cycle is laid by one thread (region shuffle) in memory that all threads touched first (region init).
 * Self-check: the links form a single cycle over all nodes, and each chain ended where an array of the order along the cycle
 * says it must.
 */
#include "kernel.h"

struct node {
  struct node* next;
  char padding[56]; /* a node fills a cache line */
};

static inline uint64_t random_number(uint64_t* state) { /* Knuth's MMIX constants; the upper half is used */
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state >> 33;
}

static inline int64_t start_of_chain(int64_t chain, int64_t chains, int64_t nodes) {
  return chain * nodes / chains; /* below 2^50: parameters are limited */
}

static void shuffle(struct node* node, int64_t nodes) {
  uint64_t state = 20100802;
  for (int64_t i = nodes - 1; i > 0; --i) {
    const int64_t j = (int64_t)(random_number(&state) % (uint64_t)i);
    struct node* swap = node[i].next;
    node[i].next = node[j].next;
    node[j].next = swap;
  }
}

static struct node* walk_one(struct node* at, int64_t steps) {
  for (int64_t step = 0; step < steps; ++step) at = at->next;
  return at;
}

static void walk_four(struct node* a, struct node* b, struct node* c, struct node* d, struct node** end, int64_t steps) {
  for (int64_t step = 0; step < steps; ++step) {
    a = a->next;
    b = b->next;
    c = c->next;
    d = d->next;
  }
  end[0] = a, end[1] = b, end[2] = c, end[3] = d;
}

KERNEL_UNTRACED static int64_t wrong_ends(const struct node* node, int64_t nodes, struct node* const* end, int64_t chains, int64_t steps) {
  int64_t *order = malloc((size_t)nodes * sizeof *order), *place = malloc((size_t)nodes * sizeof *place);
  if (!order || !place) return 1;
  memset(place, 0xff, (size_t)nodes * sizeof *place);
  int64_t wrong = 0, at = 0;
  for (int64_t i = 0; i < nodes; ++i) {
    if (place[at] != -1) ++wrong; /* came back before all nodes were seen */
    place[at] = i;
    order[i] = at;
    at = node[at].next - node;
  }
  if (at != 0) ++wrong;
  for (int64_t chain = 0; wrong == 0 && chain < chains; ++chain) {
    const int64_t first = place[start_of_chain(chain, chains, nodes)];
    if (end[chain] != node + order[(first + steps) % nodes]) ++wrong;
  }
  free(order);
  free(place);
  return wrong;
}

int main(int argc, char** argv) {
  enum { NODES, STEPS, CHAINS, WALKS, CHECK, COUNT };
  struct kernel_parameter p[COUNT] = {{"nodes", 65536, 2, (int64_t)1 << 32, NULL},
                                      {"steps", 65536, 1, (int64_t)1 << 40, NULL},
                                      {"chains", 0, 0, 0, "1|4"},
                                      {"walks", 2, 1, 1 << 16, NULL},
                                      {"check", 1, 0, 1, NULL}};
  kernel_parameters(argc, argv, "chase", p, COUNT);
  const int64_t nodes = p[NODES].value, steps = p[STEPS].value, walks = p[WALKS].value, width = p[CHAINS].value == 1 ? 4 : 1;
  const int64_t chains = walks * width;
  struct node* node = kernel_allocate("chase", (size_t)nodes, sizeof(struct node));
  struct node** end = kernel_allocate("chase", (size_t)chains, sizeof(struct node*));

  double begin = KERNEL_REGION("init");
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < nodes; ++i) node[i].next = node + i;
  kernel_time("init", begin);

  begin = KERNEL_REGION("shuffle");
  shuffle(node, nodes);
  kernel_time("shuffle", begin);

  begin = KERNEL_REGION("chase");
#pragma omp parallel for schedule(static)
  for (int64_t walk = 0; walk < walks; ++walk) {
    const int64_t chain = walk * width;
    if (width == 1)
      end[chain] = walk_one(node + start_of_chain(chain, chains, nodes), steps);
    else
      walk_four(node + start_of_chain(chain, chains, nodes), node + start_of_chain(chain + 1, chains, nodes),
                node + start_of_chain(chain + 2, chains, nodes), node + start_of_chain(chain + 3, chains, nodes), end + chain, steps);
  }
  kernel_time("chase", begin);

  const int code = p[CHECK].value ? kernel_verdict("chase", wrong_ends(node, nodes, end, chains, steps), "chains or links are wrong") : 0;
  free(node);
  free(end);
  return code;
}
