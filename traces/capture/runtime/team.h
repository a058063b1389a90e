/* What the OpenMP entry points know of each other: the team, its ranks, the token that one of them has. */
#ifndef HOMENODE_TEAM_H
#define HOMENODE_TEAM_H

#include <pthread.h>

#include "runtime.h"
#include "tasks.h"

enum { MOST_RANKS = 1024 };
struct loop {
  uint64_t next, end, step, number, piece; /* piece: iterations handed out at once */
  bool ordered, running;
};
struct team {
  int ranks, level, arrived;
  struct team* outer;                  /* of a nested one */
  uintptr_t closure_low, closure_high; /* what its function is handed: no accesses of the program's */
  uint64_t epoch, constructs, ordered_next, serial;
  void* copied;
  void (*function)(void*);
  void* data;
  struct loop combined; /* of a combined parallel loop: bounds before they are split */
  int sections;
  bool has_combined, user_rank;
  const void* site;
};
struct rank {
  int number, futex;
  unsigned stack;  /* what it runs on, whatever number a nested team gives it; of the first thread's teams its place among the ranks */
  unsigned thread; /* of the program's own: 0 for the first one and its teams */
  struct team* team;
  struct loop loop;
  uint64_t constructs, sequence;
  int section, sections;
  struct task implicit, *task; /* task: the explicit one that runs; null: the implicit one */
  bool live, in_single, in_loop;
  bool beside; /* of a thread that runs beside the others, in a parallel region of its own */
  int sent_user_rank;
};

extern __thread struct rank* hn_self_ __attribute__((tls_model("initial-exec")));
struct rank* hn_first_self(void);
static inline struct rank* hn_self(void) { return hn_self_ ? hn_self_ : hn_first_self(); }
extern int hn_team_setting; /* threads of a team unless the construct says otherwise; 0 = not yet asked for */
int hn_team_size(void);
bool hn_is_first(const struct rank* r); /* the program's first thread, which leads the teams */
uint64_t hn_next_parallel(void);        /* the serial number of the parallel construct that begins */
/* The team whose ranks share the token: a nested one is part of its creator's turn. */
static inline struct team* hn_sharing(const struct rank* r) {
  struct team* t = r->team;
  while (t->outer) t = t->outer;
  return t;
}
/* How many take turns with this one. */
static inline int hn_sharers(const struct rank* r) { return hn_sharing(r)->ranks; }
/* Constructs are announced for the outermost parallelism only. */
static inline bool hn_announced(const struct rank* r) { return r->team->level == 1; }

/* The token goes round until the condition holds; none of the team can go on = deadlock. */
void hn_give_way(void);
void hn_progress(void);
#define WAIT_UNTIL(condition)           \
  do {                                  \
    while (!(condition)) hn_give_way(); \
    hn_progress();                      \
  } while (0)

/* program_threads.c */
int hn_create_real_thread(pthread_t* id, const pthread_attr_t* attributes, void* (*routine)(void*), void* argument);
void hn_threads_act_as_main(void); /* a thread of the team stands for the program's first one */
bool hn_threads_give_way(void);

int hn_user_thread_num(const void* site); /* queries.c: the program itself asks */
void hn_barrier(const void* site);        /* null: the join, which is not announced */
void hn_end_single(struct rank* r);       /* gcc marks no end of a single: it is over when the rank reaches its next construct */
void hn_parallel(void (*function)(void*), void* data, unsigned wanted, int sections, const void* site, const struct loop* combined);

/* loops.c: this rank's share of a loop, handed out piece by piece. */
void hn_split(uint64_t start, uint64_t end, uint64_t step, bool up, bool is_unsigned, bool ordered, const void* site);
void hn_piece_of(struct loop* l, uint64_t chunk);
bool hn_next(uint64_t* low, uint64_t* high);

/* locks.c: synchronisation objects, numbered in order of first use. */
struct lock {
  void* object;
  uint64_t number, acquired;
  const struct thread* last; /* who had it last, so many times in a row (mutexes.c) */
  uint32_t in_a_row, passed_on;
  const struct thread* signaller; /* who last signalled a condition while it had it or behind that */
  bool by_several;
  int32_t turns; /* waits of those who went on behind a signal, less other returns (conditions.c) */
};
struct lock* hn_lock_of(void* object);
void hn_renew_lock(void* object); /* another object begins at this address: it gets a number of its own */
enum {
  SYNC_LOCK = 0,
  SYNC_TRY_LOCK = 1,
  SYNC_UNLOCK = 2,
  SYNC_WAIT = 3,
  SYNC_SIGNAL = 4,
  SYNC_BROADCAST = 5,
  SYNC_BARRIER = 6,
  SYNC_JOIN = 8,
  SYNC_TASK_SUBMIT = 9,
  SYNC_TASK_WAIT = 10,
  SYNC_DEPEND = 11,
  SYNC_CRITICAL_ENTER = 12,
  SYNC_CRITICAL_LEAVE = 13,
  SYNC_ORDERED_ENTER = 14,
  SYNC_ORDERED_LEAVE = 15,
  SYNC_ATOMIC_WAIT = 16,
  SYNC_TASK_GROUP_BEGIN = 17,
  SYNC_TASK_GROUP_END = 18
};
void hn_sync(int operation, uint64_t object, uint64_t match);

#define RA __builtin_return_address(0)

#endif
