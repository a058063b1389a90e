/* Queries. The wrapper compiles the program's own omp_get_thread_num and omp_get_num_threads to names of ours; gcc's own calls keep
 * these. */
#include "team.h"

static void user_asked(const void* site) {
  struct rank* r = hn_self();
  if (!hn_on || !hn_announced(r)) return;
  const struct task* task = hn_task(r);
  while (task->creator && !task->told) task = task->creator;
  if (task->told) {
    hn_lose_counted(site, "a task asks for its thread number: it got that of its creator");
    return;
  }
  if (r->in_loop) { /* any thread may run it in a replay */
    hn_lose_counted(site, "an iteration of a loop asks for its thread number: it keeps the one that it got");
    return;
  }
  if (r->sent_user_rank) return;
  r->sent_user_rank = 1;
  hn_control(HN_USER_RANK);
}
int hn_user_thread_num(const void* site) {
  user_asked(site);
  return hn_self()->number;
}
int homenode_user_thread_num(void) { return hn_user_thread_num(RA); }
int omp_get_thread_num(void) { return hn_self()->number; }
/* gcc asks for the team's size where it divides iterations itself: in a workshare, and in loops that the wrapper does not know. */
int omp_get_num_threads(void) {
  user_asked(RA);
  return hn_self()->team->ranks;
}
int homenode_user_num_threads(void) { return hn_self()->team->ranks; }
int omp_get_max_threads(void) { return hn_self()->team->level ? 1 : hn_team_size(); }
int omp_get_num_procs(void) { return hn_team_size(); }
void omp_set_num_threads(int n) { hn_team_setting = n < 1 ? 1 : n > MOST_RANKS ? MOST_RANKS : n; }
int omp_in_parallel(void) { return hn_self()->team->ranks > 1; }
int omp_get_level(void) { return hn_self()->team->level; }
int omp_get_active_level(void) { return omp_in_parallel(); }
int omp_get_max_active_levels(void) { return 1; }
int omp_get_supported_active_levels(void) { return 1; }
int omp_get_team_size(int level) { return level == hn_self()->team->level ? hn_self()->team->ranks : level == 0 ? 1 : -1; }
int omp_get_ancestor_thread_num(int level) { return level == hn_self()->team->level ? hn_user_thread_num(RA) : level == 0 ? 0 : -1; }
int omp_get_cancellation(void) { return 0; }
int omp_get_proc_bind(void) { return 0; }
int omp_get_thread_limit(void) { return MOST_RANKS; }
void omp_set_dynamic(int d) { (void)d; }
int omp_get_dynamic(void) { return 0; }
void omp_set_nested(int n) { (void)n; }
int omp_get_nested(void) { return 0; }
void omp_set_max_active_levels(int n) { (void)n; }
/* Only told back: which iterations a thread gets is the replay's matter. At first as libgomp has it: dynamic, by ones. */
static int set_kind = 2, set_chunk = 1;
void omp_set_schedule(int kind, int chunk) {
  enum { MONOTONIC = (int)0x80000000, STATIC = 1, AUTO = 4 };
  const int plain = kind & ~MONOTONIC;
  if (plain < STATIC || plain > AUTO) return;
  set_kind = kind;
  if (plain != AUTO) set_chunk = chunk < 1 ? plain != STATIC : chunk;
}
void omp_get_schedule(int* kind, int* chunk) { *kind = set_kind, *chunk = set_chunk; }
static double clock_time;
double omp_get_wtime(void) { return clock_time += 1e-6; } /* deterministic, strictly growing */
double omp_get_wtick(void) { return 1e-6; }
