/* sliding_tile_lists: A* on the 15-puzzle whose open and closed sets are lists that are searched from end to end, one search per thread.
 * Source: S2 (Gerofi et al., section 3) and the code that it cites, J. Heyes-Jones' A* (justinhj/astar-algorithm-cpp, stlastar.h,
 * first version): two growing arrays of pointers to nodes, of which the open one is a binary heap by the estimate f; each successor
 * gets a node first and is then looked for in the open array, after that in the closed one, node by node; a state that is there at no
 * more cost is given up. Written anew on sliding_tile's boards, instances, node and checks.
 * Nodes are 64 bytes on a line of their own, from a block allocator of each thread, which hands the node given up last out again
 * (nodes=blocks: as that code's), or each from the heap (nodes=heap).
 * A search makes some `expand`^2 looks at nodes; expand=0 searches to the goal, which small walks allow.
 * Self-check: sliding_tile's: legal moves from start to goal, of optimal length; of a search that ends early, every node is one legal
 * move from the node it came from, costs one more, has its own Manhattan distance, and no state is in the lists twice.
 */
#define main sliding_tile_main
#include "sliding_tile.c" /* NOLINT(bugprone-suspicious-include): nodes, instances, distances, checks of solutions */
#undef main

struct node_list {
  struct node** node;
  int64_t count, room;
};

struct list_search {
  struct search of; /* instance, source of nodes, limits and counts; its tables and lists by estimate are not used */
  struct node_list open, closed;
  struct node* given_up; /* nodes to hand out again, by came_from */
};

static inline uint32_t estimate(const struct node* node) { return node->cost + node->remaining; }

static void append(struct node_list* list, struct node* node) {
  if (list->count == list->room) {
    const int64_t room = list->room ? 2 * list->room : 16;
    struct node** larger = kernel_allocate("sliding_tile_lists", (size_t)room, sizeof(struct node*));
    for (int64_t i = 0; i < list->count; ++i) larger[i] = list->node[i];
    free(list->node);
    list->node = larger;
    list->room = room;
  }
  list->node[list->count++] = node;
}

/* The place of a state in a list, or its count: node by node from the first. */
static int64_t place_of(const struct node_list* list, board state) {
  int64_t at = 0;
  while (at < list->count && list->node[at]->state != state) ++at;
  return at;
}

/* Moves the node at `at` towards the top of the heap, until its parent's estimate is not larger. */
static void rise(struct node_list* heap, int64_t at) {
  struct node* node = heap->node[at];
  for (int64_t parent; at > 0 && estimate(heap->node[parent = (at - 1) / 2]) > estimate(node); at = parent)
    heap->node[at] = heap->node[parent];
  heap->node[at] = node;
}

/* Takes the node of least estimate off the heap. */
static struct node* take_least(struct node_list* heap) {
  struct node *least = heap->node[0], *last = heap->node[--heap->count];
  int64_t at = 0;
  for (int64_t child; (child = 2 * at + 1) < heap->count; at = child) {
    if (child + 1 < heap->count && estimate(heap->node[child + 1]) < estimate(heap->node[child])) ++child;
    if (estimate(heap->node[child]) >= estimate(last)) break;
    heap->node[at] = heap->node[child];
  }
  if (heap->count) heap->node[at] = last;
  return least;
}

static struct node* node_for(struct list_search* search, board state) {
  struct node* node = search->given_up;
  if (node)
    search->given_up = node->came_from;
  else
    node = new_node(&search->of);
  if (node) node->state = state;
  return node;
}

static void give_up(struct list_search* search, struct node* node) {
  if (search->of.source == FROM_HEAP) {
    --search->of.nodes;
    free(node);
    return;
  }
  node->came_from = search->given_up;
  search->given_up = node;
}

/* Puts a state that was reached from `parent` into the open list, or improves it there. False when no node is left.
 * The heuristic is consistent: a closed node's cost is final. */
static int reach_by_lists(struct list_search* search, struct node* parent, board state, uint32_t blank, uint32_t remaining) {
  struct node* node = node_for(search, state);
  const uint32_t cost = parent ? parent->cost + 1 : 0;
  if (!node) return 0;
  const int64_t in_open = place_of(&search->open, state);
  const int open = in_open < search->open.count;
  const int known = open && search->open.node[in_open]->cost <= cost;
  if (known || place_of(&search->closed, state) < search->closed.count) {
    give_up(search, node);
    return 1;
  }
  if (open) {
    give_up(search, node);
    node = search->open.node[in_open];
  } else {
    node->blank = blank;
    node->remaining = remaining;
    append(&search->open, node);
  }
  node->came_from = parent;
  node->cost = cost;
  rise(&search->open, open ? in_open : search->open.count - 1);
  return 1;
}

/* A*: the goal's node, or NULL when the limit of nodes or expansions was met first. */
static struct node* solve_by_lists(struct list_search* search) {
  struct search* of = &search->of;
  if (!reach_by_lists(search, NULL, of->start, of->start_blank, manhattan(of, of->start))) return NULL;
  while (search->open.count) {
    struct node* current = take_least(&search->open);
    if (current->state == of->goal) {
      append(&search->closed, current);
      return current;
    }
    if (of->most_expanded && of->expanded == of->most_expanded) {
      append(&search->open, current);
      rise(&search->open, search->open.count - 1);
      return NULL;
    }
    ++of->expanded;
    for (int direction = 0; direction < 4; ++direction) {
      const uint32_t to = beside(current->blank, direction);
      if (to == CELLS) continue;
      const board next = moved(current->state, current->blank, to);
      if (current->came_from && current->came_from->state == next) continue;
      const uint32_t tile = of->goal_cell[tile_at(current->state, to)];
      if (!reach_by_lists(search, current, next, to, current->remaining - distance(to, tile) + distance(current->blank, tile))) return NULL;
    }
    append(&search->closed, current);
  }
  return NULL;
}

/* Of a search that ended early: wrong nodes of a list, and states of it that the other list, or a later place, has too. */
KERNEL_UNTRACED static int64_t wrong_in_list(const struct list_search* search, const struct node_list* list,
                                             const struct node_list* other) {
  int64_t wrong = 0;
  for (int64_t i = 0; i < list->count; ++i) {
    const struct node *node = list->node[i], *from = node->came_from;
    wrong += node->remaining != manhattan(&search->of, node->state) || node->blank != blank_of(node->state);
    wrong += place_of(list, node->state) != i || place_of(other, node->state) != other->count;
    if (from)
      wrong += distance(from->blank, node->blank) != 1 || moved(from->state, from->blank, node->blank) != node->state ||
               node->cost != from->cost + 1;
    else
      wrong += node->state != search->of.start || node->cost != 0;
  }
  return wrong;
}

/* No node of the open heap is below its parent in estimate. */
KERNEL_UNTRACED static int64_t wrong_order(const struct node_list* heap) {
  int64_t wrong = 0;
  for (int64_t i = 1; i < heap->count; ++i) wrong += estimate(heap->node[i]) < estimate(heap->node[(i - 1) / 2]);
  return wrong;
}

KERNEL_UNTRACED static int64_t wrong_search(const struct list_search* search, int64_t instance) {
  const struct search* of = &search->of;
  if (of->reached || !of->most_expanded) return wrong_solution(of, instance);
  int64_t spare = 0;
  for (const struct node* node = search->given_up; node; node = node->came_from) ++spare;
  return wrong_in_list(search, &search->open, &search->closed) + wrong_in_list(search, &search->closed, &search->open) +
         wrong_order(&search->open) + (search->open.count + search->closed.count + spare != of->nodes) +
         (of->expanded != of->most_expanded);
}

static void release_lists(struct list_search* search) {
  struct node_list* const lists[] = {&search->open, &search->closed};
  for (int l = 0; l < 2; ++l) {
    if (search->of.source == FROM_HEAP)
      for (int64_t i = 0; i < lists[l]->count; ++i) free(lists[l]->node[i]);
    free(lists[l]->node);
  }
  for (struct chunk* chunk = search->of.chunk; chunk;) {
    struct chunk* previous = chunk->previous;
    free(chunk);
    chunk = previous;
  }
  free(search);
}

int main(int argc, char** argv) {
  enum { INSTANCE, MOVES, NODES, LIMIT, EXPAND, CHECK, COUNT };
  struct kernel_parameter p[COUNT] = {
      {"instance", 0, 0, 0, "walk|korf55|korf79|korf12"}, {"moves", 20, 0, 1 << 20, NULL},          {"nodes", 0, 0, 0, "blocks|heap"},
      {"limit", 200000, 1, (int64_t)1 << 32, NULL},       {"expand", 0, 0, (int64_t)1 << 32, NULL}, {"check", 1, 0, 1, NULL}};
  kernel_parameters(argc, argv, "sliding_tile_lists", p, COUNT);
  const int64_t instance = p[INSTANCE].value, moves = p[MOVES].value, limit = p[LIMIT].value, threads = omp_get_max_threads();
  struct list_search** searches = kernel_allocate("sliding_tile_lists", (size_t)threads, sizeof(struct list_search*));
  for (int64_t rank = 0; rank < threads; ++rank) searches[rank] = NULL;

  double begin = KERNEL_REGION("init");
#pragma omp parallel
  {
    const int64_t rank = omp_get_thread_num();
    struct list_search* search = kernel_allocate("sliding_tile_lists", 1, sizeof(struct list_search));
    memset(search, 0, sizeof *search);
    choose_instance(&search->of, rank, instance, moves);
    search->of.source = (enum node_source)p[NODES].value;
    search->of.limit = limit;
    search->of.most_expanded = p[EXPAND].value;
    searches[rank] = search;
  }
  kernel_time("init", begin);

  begin = KERNEL_REGION("search");
#pragma omp parallel
  {
    struct list_search* search = searches[omp_get_thread_num()];
    search->of.reached = solve_by_lists(search);
  }
  kernel_time("search", begin);

  int64_t wrong = 0;
  int code = 0;
  for (int64_t rank = 0; rank < threads; ++rank) {
    if (searches[rank]->of.nodes > limit) {
      fprintf(stderr, "sliding_tile_lists: thread %lld's search wants more nodes than 'limit'\n", (long long)rank);
      code = 1;
    } else if (p[CHECK].value) {
      wrong += wrong_search(searches[rank], instance);
    }
  }
  if (p[CHECK].value && code == 0) code = kernel_verdict("sliding_tile_lists", wrong, "solutions or lists are wrong");

  begin = KERNEL_REGION("release");
#pragma omp parallel
  release_lists(searches[omp_get_thread_num()]);
  kernel_time("release", begin);
  free(searches);
  return code;
}
