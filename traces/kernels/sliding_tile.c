/* sliding_tile: A* on the 15-puzzle, one search per thread, each with a goal of its own; nothing is shared.
 * Source: B. Gerofi, M. Takagi, Y. Ishikawa, "Exploiting Hidden Non-uniformity of Uniform Memory Access on Manycore CPUs" (S2),
 * section 3: A* of Listing 1.1, look-ups in hash tables for the open and the closed set, nodes that fit one cache line, "different
 * goal states on different CPU cores". The heuristic is the Manhattan distance, which is consistent: a closed node is final.
 * Nodes are 64 bytes on a line of their own, from a block allocator of each thread (nodes=blocks: the memory of S2's comparison, "simply
 * divided") or each from the heap (nodes=heap). The open set is a hash table whose nodes also hang in a list per estimate f, of
 * which the least is expanded; a closed node moves to the other table.
 * Instances: a walk of `moves` random moves from the goal, which never takes a move back at once (instance=walk), or one of
 * R. E. Korf's published instances with tiles renamed for each thread, which changes its goal but not the length of its solutions.
 * With expand=N a search ends after N expansions: equal work for all threads (S2 counts nodes explored in unit time).
 * Self-check: each step of the path found is a legal move, from start to goal; its length is optimal: the published length of
 * Korf's instances (55: 41, 79: 42, 12: 45), else as an independent breadth-first search from both ends finds it. Of a search that
 * ends early: every node is one legal move from the node it came from, costs one more, and has its own Manhattan distance.
 */
#include "fifteen_puzzle.h"

#ifdef _OPENMP
#include <omp.h>
#endif

enum { MOST_ESTIMATE = 256, NODES_OF_CHUNK = 1023 };
enum node_source { FROM_BLOCKS, FROM_HEAP };

struct node {
  board state;
  struct node* came_from;
  struct node* next_of_bucket; /* in the hash table that holds the node */
  struct node *next_of_list, *previous_of_list;
  uint32_t cost, remaining; /* moves from the start; Manhattan distance to the goal */
  uint32_t blank, unused[3];
};
_Static_assert(sizeof(struct node) == 64, "a node is one cache line");

/* Nodes from one allocation: as many as fill 64 KiB with this header. */
struct chunk {
  struct chunk* previous;
  uint64_t used, unused[6];
  struct node node[NODES_OF_CHUNK];
};

struct search {
  board start, goal;
  unsigned char goal_cell[CELLS]; /* of each tile */
  uint32_t start_blank;
  uint64_t buckets;             /* of each table, a power of two */
  unsigned shift;               /* that leaves as many bits of a product */
  struct node **open, **closed; /* hash tables */
  struct node* list[MOST_ESTIMATE];
  uint32_t least; /* no open node has a smaller estimate */
  struct chunk* chunk;
  enum node_source source;
  int64_t nodes, limit, expanded, most_expanded; /* 0: to the goal */
  struct node* reached;
};

/* Fibonacci hashing (D. Knuth): the upper bits of the product depend on all cells. */
static inline uint64_t bucket(const struct search* search, board state) { return state * 0x9e3779b97f4a7c15u >> search->shift; }

static struct node* find(struct node* node, board state) {
  while (node && node->state != state) node = node->next_of_bucket;
  return node;
}

static struct node* new_node(struct search* search) {
  if (++search->nodes > search->limit) return NULL;
  if (search->source == FROM_HEAP) return kernel_allocate("sliding_tile", 1, sizeof(struct node));
  if (!search->chunk || search->chunk->used == NODES_OF_CHUNK) {
    struct chunk* chunk = kernel_allocate("sliding_tile", 1, sizeof(struct chunk));
    chunk->previous = search->chunk;
    chunk->used = 0;
    search->chunk = chunk;
  }
  return &search->chunk->node[search->chunk->used++];
}

static void enter_list(struct search* search, struct node* node) {
  struct node** head = &search->list[node->cost + node->remaining];
  node->previous_of_list = NULL;
  node->next_of_list = *head;
  if (*head) (*head)->previous_of_list = node;
  *head = node;
  if (node->cost + node->remaining < search->least) search->least = node->cost + node->remaining;
}

static void leave_list(struct search* search, struct node* node) {
  if (node->previous_of_list)
    node->previous_of_list->next_of_list = node->next_of_list;
  else
    search->list[node->cost + node->remaining] = node->next_of_list;
  if (node->next_of_list) node->next_of_list->previous_of_list = node->previous_of_list;
}

static void enter_table(struct node** head, struct node* node) {
  node->next_of_bucket = *head;
  *head = node;
}

static void leave_table(struct node** head, const struct node* node) {
  while (*head != node) head = &(*head)->next_of_bucket;
  *head = node->next_of_bucket;
}

/* Puts a state that was reached from `parent` into the open set, or improves it there. False when no node is left. */
static int reach(struct search* search, struct node* parent, board state, uint32_t blank, uint32_t remaining) {
  const uint64_t at = bucket(search, state);
  const uint32_t cost = parent ? parent->cost + 1 : 0;
  if (find(search->closed[at], state)) return 1;
  struct node* node = find(search->open[at], state);
  if (node) {
    if (cost >= node->cost) return 1;
    leave_list(search, node);
  } else {
    node = new_node(search);
    if (!node) return 0;
    node->state = state;
    node->blank = blank;
    node->remaining = remaining;
    enter_table(&search->open[at], node);
  }
  node->came_from = parent;
  node->cost = cost;
  enter_list(search, node);
  return 1;
}

static uint32_t manhattan(const struct search* search, board state) {
  uint32_t sum = 0;
  for (uint32_t cell = 0; cell < CELLS; ++cell)
    if (tile_at(state, cell)) sum += distance(cell, search->goal_cell[tile_at(state, cell)]);
  return sum;
}

/* A*: the goal's node, or NULL when the limit of nodes or expansions was met first. */
static struct node* solve(struct search* search) {
  if (!reach(search, NULL, search->start, search->start_blank, manhattan(search, search->start))) return NULL;
  for (;;) {
    while (search->least < MOST_ESTIMATE && !search->list[search->least]) ++search->least;
    if (search->least == MOST_ESTIMATE) return NULL;
    struct node* current = search->list[search->least];
    if (current->state == search->goal) return current;
    if (search->most_expanded && search->expanded == search->most_expanded) return NULL;
    leave_list(search, current);
    const uint64_t at = bucket(search, current->state);
    leave_table(&search->open[at], current);
    enter_table(&search->closed[at], current);
    ++search->expanded;
    for (int direction = 0; direction < 4; ++direction) {
      const uint32_t to = beside(current->blank, direction);
      if (to == CELLS) continue;
      const board next = moved(current->state, current->blank, to);
      if (current->came_from && current->came_from->state == next) continue;
      const uint32_t goal = search->goal_cell[tile_at(current->state, to)];
      const uint32_t remaining = current->remaining - distance(to, goal) + distance(current->blank, goal);
      if (!reach(search, current, next, to, remaining)) return NULL;
    }
  }
}

static void release_table(struct node** table, uint64_t buckets) {
  for (uint64_t at = 0; at < buckets; ++at)
    for (struct node* node = table[at]; node;) {
      struct node* next = node->next_of_bucket;
      free(node);
      node = next;
    }
}

static void release(struct search* search) {
  if (search->source == FROM_HEAP) {
    release_table(search->open, search->buckets);
    release_table(search->closed, search->buckets);
  }
  for (struct chunk* chunk = search->chunk; chunk;) {
    struct chunk* previous = chunk->previous;
    free(chunk);
    chunk = previous;
  }
  free(search->open);
  free(search->closed);
  free(search);
}

/* instance 0: a random walk; else Korf's, renamed by a random permutation that keeps the blank (thread 0: unchanged). */
KERNEL_UNTRACED static void choose_instance(struct search* search, int64_t rank, int64_t instance, int64_t moves) {
  uint64_t seed = 2013u + (uint64_t)rank;
  unsigned char solved[CELLS], name[CELLS];
  for (int i = 0; i < CELLS; ++i) solved[i] = name[i] = (unsigned char)i;
  if (instance == 0) {
    search->goal = random_walk(renamed(solved, name), 1000, &seed);
    search->start = random_walk(search->goal, moves, &seed);
  } else {
    for (int i = CELLS - 1; rank > 0 && i > 1; --i) {
      const int j = 1 + (int)(random_number(&seed) % (uint64_t)i);
      const unsigned char swap = name[i];
      name[i] = name[j];
      name[j] = swap;
    }
    search->goal = renamed(solved, name);
    search->start = renamed(korf[instance - 1].tiles, name);
  }
  search->start_blank = blank_of(search->start);
  for (uint32_t cell = 0; cell < CELLS; ++cell) search->goal_cell[tile_at(search->goal, cell)] = (unsigned char)cell;
}

/* 1 when the path found is not a legal one of optimal length. */
KERNEL_UNTRACED static int64_t wrong_solution(const struct search* search, int64_t instance) {
  if (!search->reached || search->reached->state != search->goal) return 1;
  uint32_t length = 0;
  const struct node* node = search->reached;
  for (; node->came_from; node = node->came_from, ++length) {
    const uint32_t from = blank_of(node->came_from->state), to = blank_of(node->state);
    if (distance(from, to) != 1 || moved(node->came_from->state, from, to) != node->state) return 1;
  }
  if (node->state != search->start || length != search->reached->cost) return 1;
  return length != (instance ? korf[instance - 1].optimal : breadth_first_length(search->start, search->goal));
}

/* Of a search that ended early: nodes that are no legal move, cost or distance away from where they came from. */
KERNEL_UNTRACED static int64_t wrong_nodes(const struct search* search) {
  int64_t wrong = 0, seen = 0;
  for (uint64_t at = 0; at < 2 * search->buckets; ++at) {
    const struct node* node = at < search->buckets ? search->open[at] : search->closed[at - search->buckets];
    for (; node; node = node->next_of_bucket, ++seen) {
      const struct node* from = node->came_from;
      wrong += node->remaining != manhattan(search, node->state) || node->blank != blank_of(node->state);
      if (!from) {
        wrong += node->state != search->start || node->cost != 0;
        continue;
      }
      wrong += distance(from->blank, node->blank) != 1 || moved(from->state, from->blank, node->blank) != node->state;
      wrong += node->cost != from->cost + 1;
    }
  }
  return wrong + (seen != search->nodes) + (search->expanded != search->most_expanded);
}

int main(int argc, char** argv) {
  enum { INSTANCE, MOVES, NODES, TABLE, LIMIT, EXPAND, CHECK, COUNT };
  struct kernel_parameter p[COUNT] = {{"instance", 0, 0, 0, "walk|korf55|korf79|korf12"},
                                      {"moves", 30, 0, 1 << 20, NULL},
                                      {"nodes", 0, 0, 0, "blocks|heap"},
                                      {"table", 12, 4, 30, NULL},
                                      {"limit", 2000000, 1, (int64_t)1 << 32, NULL},
                                      {"expand", 0, 0, (int64_t)1 << 32, NULL},
                                      {"check", 1, 0, 1, NULL}};
  kernel_parameters(argc, argv, "sliding_tile", p, COUNT);
  const int64_t instance = p[INSTANCE].value, moves = p[MOVES].value, limit = p[LIMIT].value, threads = omp_get_max_threads();
  const uint64_t buckets = (uint64_t)1 << p[TABLE].value;
  const unsigned shift = 64u - (unsigned)p[TABLE].value;
  const enum node_source source = (enum node_source)p[NODES].value;
  struct search** searches = kernel_allocate("sliding_tile", (size_t)threads, sizeof(struct search*));
  for (int64_t rank = 0; rank < threads; ++rank) searches[rank] = NULL;

  double begin = KERNEL_REGION("init");
#pragma omp parallel
  {
    const int64_t rank = omp_get_thread_num();
    struct search* search = kernel_allocate("sliding_tile", 1, sizeof(struct search));
    memset(search, 0, sizeof *search);
    choose_instance(search, rank, instance, moves);
    search->source = source;
    search->limit = limit;
    search->most_expanded = p[EXPAND].value;
    search->buckets = buckets;
    search->shift = shift;
    search->least = MOST_ESTIMATE;
    search->open = kernel_allocate("sliding_tile", buckets, sizeof(struct node*));
    search->closed = kernel_allocate("sliding_tile", buckets, sizeof(struct node*));
    for (uint64_t at = 0; at < buckets; ++at) search->open[at] = search->closed[at] = NULL;
    searches[rank] = search;
  }
  kernel_time("init", begin);

  begin = KERNEL_REGION("search");
#pragma omp parallel
  {
    struct search* search = searches[omp_get_thread_num()];
    search->reached = solve(search);
  }
  kernel_time("search", begin);

  int code = 0;
  for (int64_t rank = 0; rank < threads; ++rank)
    if (searches[rank] && searches[rank]->nodes > limit) {
      fprintf(stderr, "sliding_tile: thread %lld's search wants more nodes than 'limit'\n", (long long)rank);
      code = 1;
    }
  if (p[CHECK].value && code == 0) {
    int64_t wrong = 0;
    for (int64_t rank = 0; rank < threads; ++rank) {
      const struct search* search = searches[rank];
      const int early = search && search->most_expanded && !search->reached;
      wrong += early ? wrong_nodes(search) : !search || wrong_solution(search, instance);
    }
    code = kernel_verdict("sliding_tile", wrong, "solutions are wrong or not optimal");
  }

  begin = KERNEL_REGION("release");
#pragma omp parallel
  release(searches[omp_get_thread_num()]);
  kernel_time("release", begin);
  free(searches);
  return code;
}
