/* Threads that the program creates: what the files that stand in the C library's place know of each other. They run one at a time
 * under a token: a thread goes on until it blocks or ends, then the next one that can go on does, in the order of their creation.
 */
#ifndef HOMENODE_PROGRAM_THREADS_H
#define HOMENODE_PROGRAM_THREADS_H

#include <pthread.h>
#include <time.h>

#include "team.h"

struct thread {
  unsigned number; /* 0 = main, then in order of creation */
  int futex, tid;
  struct thread *before, *behind; /* of those that live, in a ring by number */
  bool ended, detached;
  bool cancelled, cancellable; /* asked to end, and that not yet seen; it waits where that ends it */
  uint64_t sequence;
  uint32_t irregular;
  /* Mutexes: that it had last; behind a signal at which it may go on; with which it has gone on (conditions.c). */
  void *had, *signalled, *went_on;
  /* What it waits for; null: it can go on. */
  bool (*ready)(void*);
  void* condition;
  const char* what;
  bool has_deadline, timed_out;
  uint64_t deadline; /* nanoseconds of the monotonic clock */
  pthread_t id;
  void* (*routine)(void*);
  void* argument;
  int rounds; /* of destructors of thread-specific data that are still to come */
  struct rank rank;
  struct team root;
};

/* The calling thread, or null: it is none of the program's (a library's own), or nothing is recorded. */
extern __thread struct thread* hn_thread_ __attribute__((tls_model("initial-exec")));
extern bool hn_threads_managed;
static inline struct thread* hn_thread(void) { return hn_threads_managed ? hn_thread_ : 0; }

/* The token goes on until the condition holds; false: the deadline passed first. Nobody can go on = deadlock, told by `what`. The
 * condition changes nothing, and only the program's threads change it. */
bool hn_block(bool (*ready)(void*), void* condition, const char* what, const struct timespec* deadline, clockid_t clock);
/* The same for what pthread_cancel ends: it comes back, with the condition or without, or never. */
bool hn_block_cancellable(bool (*ready)(void*), void* condition, const char* what, const struct timespec* deadline, clockid_t clock);
void hn_test_cancel(void);
/* hn_threads_give_way: the token goes round once; false if nobody else can go on. */
/* The same operation over and over is a spin: every so many times others get the token. */
void hn_threads_spin(const void* object);

/* library_threads.c */
extern bool hn_has_company;           /* others live beside the program's threads: they may change what ours wait for */
void hn_threads_have_company(void);   /* others than the program's threads may end a wait */
void hn_runs_on_library_thread(void); /* a function of the program begins on a thread that is not recorded */

/* The C library's own function of that name. */
void* hn_real(const char* name);
#define REAL(name)                                                      \
  ({                                                                    \
    static __typeof__(&name) found_;                                    \
    if (!found_) found_ = (__typeof__(&name))(uintptr_t)hn_real(#name); \
    found_;                                                             \
  })

/* States of synchronisation objects, by address; zeroed when new. */
enum hn_object_kind { OBJECT_CONDITION, OBJECT_BARRIER, OBJECT_SEMAPHORE, OBJECT_RWLOCK, OBJECT_ONCE, OBJECT_THREAD, OBJECT_WORD };
struct waiter {
  struct waiter* next;
  uint64_t match;
  bool signalled;
  unsigned outside; /* signals of threads that are not recorded, when it began to wait */
};
struct object {
  uintptr_t address;
  enum hn_object_kind kind;
  struct object* chain;
  bool known;
  union {
    struct {
      struct waiter *first, *last;
    } condition;
    struct {
      unsigned count, arrived;
      uint64_t epoch;
    } barrier;
    struct {
      uint64_t initial; /* units that no post made */
      uint64_t *posts, first, last, room;
    } semaphore;
    struct {
      bool writes;
    } rwlock;
    struct {
      bool running;
    } once;
    struct thread* thread;
    struct {
      uint64_t last; /* number of the last signal */
      unsigned waiting;
    } word;
  };
};
struct object* hn_object(const void* address, enum hn_object_kind kind);
struct object* hn_known_object(const void* address, enum hn_object_kind kind); /* null if there is none yet */
uint64_t hn_next_signal(void);
/* Whether the thread, which comes for the mutex again, goes on: it waits in turn with those whom it has just signalled. */
bool hn_takes_turns(struct thread*, void* mutex);

int hn_create(pthread_t* id, const pthread_attr_t* attributes, void* (*routine)(void*), void* argument, const void* site);

#ifdef HOMENODE_TWIN
void hn_work_of_thread(unsigned number);
#else
static inline void hn_work_of_thread(unsigned number) { (void)number; }
#endif

#endif
