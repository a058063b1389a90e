/* Loops whose iterations a library hands out that is not OpenMP's, as the program marks them (homenode.h): a parallel construct of a
 * team of one for the trace. What runs between the items is the library's, and not recorded.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "team.h"

static struct {
  bool open, in_item, was_on;
  int64_t iterations, begun;
  uint64_t serial;
  unsigned inner; /* loops within an item are part of it */
  const void* site;
  struct team* outer;
} loop;
/* Of its second level, so that constructs in an item are part of it. */
static struct team team = {.ranks = 1, .level = 2};

bool hn_between_items;

static void refuse(const char* problem, int64_t value, const char* allowed) {
  char text[256];
  hn_on = false;
  const int bytes = snprintf(text, sizeof text, "homenode capture: a marked loop of %lld iterations %s %lld; allowed: %s\n",
                             (long long)loop.iterations, problem, (long long)value, allowed);
  if (write(2, text, (size_t)bytes) < 0) _exit(1);
  abort();
}

/* The program's first thread, outside OpenMP's parallel regions; other threads' calls do nothing. */
static bool is_the_loops_thread(void) { return loop.open && hn_self()->team == &team; }
static void record(bool on) { hn_on = on && loop.was_on, hn_between_items = loop.was_on && !on; }

void homenode_loop_begin(int64_t iterations) {
  hn_open();
  struct rank* r = hn_self();
  if (is_the_loops_thread()) {
    ++loop.inner;
    return;
  }
  if (loop.open || !hn_is_first(r) || r->team->level != 0) return;
  loop.iterations = iterations;
  if (iterations < 0) refuse("has", iterations, "0 or more");
  loop.open = true, loop.in_item = false, loop.inner = 0, loop.begun = 0;
  loop.site = RA, loop.outer = r->team, loop.was_on = hn_on;
  r->team = &team;
  loop.serial = hn_next_parallel();
#ifdef HOMENODE_TWIN
  hn_work_parallel(loop.serial, true);
#endif
  if (hn_on) {
    hn_control(HN_PARALLEL_BEGIN), hn_u(loop.serial), hn_u(1), hn_site(RA), hn_site(RA), hn_new_item();
    hn_control(HN_LOOP_BEGIN), hn_site(RA), hn_z(0), hn_z(iterations), hn_z(1), hn_u(HN_LOOP_COMBINED), hn_u((uint64_t)iterations);
    hn_new_item();
  }
  record(false);
}
void homenode_item_begin(int64_t iteration) {
  if (!is_the_loops_thread() || loop.inner > 0) return;
  if (iteration < 0 || iteration >= loop.iterations) refuse("has an item for iteration", iteration, "0 to one less than their number");
  if (loop.in_item) refuse("begins in an item that has not ended iteration", iteration, "one item at a time");
  loop.in_item = true, ++loop.begun;
  record(true);
  if (hn_on) hn_control(HN_ITEM), hn_u((uint64_t)iteration), hn_new_item();
}
void homenode_item_end(void) {
  if (!is_the_loops_thread() || loop.inner > 0) return;
  if (hn_on) hn_close_runs();
  loop.in_item = false;
  record(false);
}
void homenode_loop_end(void) {
  if (!is_the_loops_thread()) return;
  if (loop.inner > 0) {
    --loop.inner;
    return;
  }
  if (loop.begun != loop.iterations)
    refuse("has items in its own thread for", loop.begun, "all (one thread for the library that runs them)");
  hn_self()->team = loop.outer;
  loop.open = false;
  hn_on = loop.was_on, hn_between_items = false;
#ifdef HOMENODE_TWIN
  hn_work_parallel(loop.serial, false);
#endif
  if (hn_on) {
    hn_control(HN_LOSS), hn_u(1), hn_site(loop.site), hn_s("marked loop: what runs between its items is not recorded");
    hn_control(HN_LOOP_END), hn_u(1), hn_new_item();
    hn_control(HN_PARALLEL_END), hn_u(loop.serial), hn_new_item();
  }
}
