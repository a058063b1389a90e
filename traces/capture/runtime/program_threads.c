/* The program's threads under a token, pthread_create and what goes with it. */
#define _GNU_SOURCE
#include "program_threads.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "blocks.h"
#include "system_call.h"

__thread struct thread* hn_thread_ __attribute__((tls_model("initial-exec")));
bool hn_threads_managed;
static struct thread main_thread = {.before = &main_thread, .behind = &main_thread};
static struct thread* running = &main_thread;
static unsigned created;
static uint64_t switches;
static int dying; /* a thread that gave the token away for good, until the kernel is rid of it */
static pthread_key_t key;

void hn_threads_open(void) {
  main_thread.tid = (int)hn_system_call(SYS_gettid, 0, 0, 0, 0, 0, 0);
  main_thread.id = pthread_self();
  hn_thread_ = &main_thread;
  hn_threads_managed = true;
}
void hn_threads_close(void) { hn_threads_managed = false; }
void hn_threads_act_as_main(void) { hn_thread_ = hn_threads_managed ? &main_thread : 0; }

void* hn_real(const char* name) {
  const bool was_on = hn_on;
  hn_on = false;
  void* found = dlsym(RTLD_NEXT, name);
  hn_on = was_on;
  if (!found) {
    static const char text[] = "homenode capture: the C library has no function of a name that the program uses\n";
    if (write(2, text, sizeof text - 1) < 0) _exit(1);
    abort();
  }
  return found;
}

/* ---- the token ---- */
static void sleep_until_posted(struct thread* t) {
  while (!__atomic_exchange_n(&t->futex, 0, __ATOMIC_ACQUIRE)) hn_system_call(SYS_futex, (long)&t->futex, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0);
}
static void post(struct thread* t) {
  running = t;
  ++switches;
  __atomic_store_n(&t->futex, 1, __ATOMIC_RELEASE);
  hn_system_call(SYS_futex, (long)&t->futex, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}
/* The process' first thread stays as a zombie. */
static bool first_is_gone(void) {
  char text[512];
  const long file = hn_system_call(SYS_openat, AT_FDCWD, (long)"/proc/self/stat", O_RDONLY | O_CLOEXEC, 0, 0, 0);
  if (file < 0) return true;
  const long n = hn_system_call(SYS_read, file, (long)text, sizeof text, 0, 0, 0);
  hn_system_call(SYS_close, file, 0, 0, 0, 0, 0);
  long at = n - 1; /* its name, which may have any character, is in parentheses; the state follows */
  while (at > 0 && text[at] != ')') --at;
  return at <= 0 || at + 2 >= n || text[at + 2] == 'Z' || text[at + 2] == 'X';
}
static bool is_gone(int thread) {
  return thread == getpid() ? first_is_gone() : hn_system_call(SYS_tgkill, getpid(), thread, 0, 0, 0, 0) != 0;
}
/* What the C library does when a thread is gone (its memory, its arena) shows in later addresses: it is done before others go on. */
static void outlive(void) {
  if (!dying) return;
  while (!is_gone(dying)) hn_system_call(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
  dying = 0;
}
static unsigned stack_of(const struct thread* t) { return t->number == 0 ? hn_self()->stack : HN_FIRST_CREATED + t->number; }
static void take_over(struct thread* t) {
  outlive();
  hn_runs_on_rank(stack_of(t));
  hn_sequence = t->sequence, hn_irregular = t->irregular;
  hn_closure_low = hn_self()->team->closure_low, hn_closure_high = hn_self()->team->closure_high;
  if (hn_on || (hn_between_items && t->number == 0)) {
    hn_control(HN_THREAD);
    hn_u(t->number);
  }
}
static void leave(struct thread* t) {
  hn_close_runs();
  t->sequence = hn_sequence, t->irregular = hn_irregular;
  hn_work_of_thread(t->number);
}
static void switch_to(struct thread* from, struct thread* to) {
  if (from == to) return;
  leave(from);
  post(to);
  sleep_until_posted(from);
  take_over(from);
}
static bool can_go_on(struct thread* t) { return !t->ready || t->ready(t->condition) || (t->cancelled && t->cancellable); }
static uint64_t now_of(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
static void wait_really(uint64_t nanoseconds) {
  struct timespec t = {(time_t)(nanoseconds / 1000000000u), (long)(nanoseconds % 1000000000u)};
  hn_system_call(SYS_nanosleep, (long)&t, 0, 0, 0, 0, 0);
}
static void say(const char* text) {
  if (write(2, text, strlen(text)) < 0) _exit(1);
}
static void __attribute__((noreturn)) deadlock(struct thread* from) {
  say("homenode capture: deadlock: no thread can go on;");
  for (struct thread* t = from->behind; t != from; t = t->behind)
    if (t->number < from->number) from = t;
  for (struct thread* t = from;;) {
    char number[16], *digit = number + sizeof number;
    *--digit = 0;
    unsigned rest = t->number;
    do *--digit = (char)('0' + rest % 10);
    while (rest /= 10);
    say(" thread "), say(digit), say(" waits in "), say(t->what ? t->what : "?");
    t = t->behind;
    if (t == from) break;
    say(",");
  }
  say("\n");
  abort();
}
/* The next thread behind this one that can go on; itself comes last. If nobody can, the first deadline ends its wait. */
static struct thread* next_of(struct thread* from) {
  for (;;) {
    struct thread* t = from->behind;
    for (;; t = t->behind) {
      if (!(t == from && t->ended) && can_go_on(t)) return t;
      if (t == from) break;
    }
    struct thread* first = 0;
    t = from->behind;
    for (;; t = t->behind) {
      if (!t->ended && t->has_deadline && (!first || t->deadline < first->deadline)) first = t;
      if (t == from) break;
    }
    const uint64_t now = now_of(CLOCK_MONOTONIC);
    if (first && (!hn_has_company || first->deadline <= now)) {
      if (first->deadline > now) wait_really(first->deadline - now);
      first->timed_out = true;
      return first;
    }
    if (!hn_has_company) deadlock(from->ended ? from->behind : from);
    wait_really(1000000);
  }
}
bool hn_threads_give_way(void) {
  struct thread* me = hn_thread();
  if (!me || me->behind == me) return false;
  struct thread* t = me->behind;
  while (t != me && !can_go_on(t)) t = t->behind;
  if (t == me) return false;
  switch_to(me, t);
  return true;
}
bool hn_block(bool (*ready)(void*), void* condition, const char* what, const struct timespec* deadline, clockid_t clock) {
  if (ready(condition)) return true;
  if (hn_sharers(hn_self()) > 1) { /* other ranks first; they pass it on to other threads */
    for (unsigned turns = 0; !ready(condition); ++turns) {
      if (deadline && turns > 4u * (unsigned)hn_sharers(hn_self())) return false;
      if (deadline) hn_progress();
      hn_give_way();
    }
    hn_progress();
    return true;
  }
  struct thread* me = hn_thread();
  me->ready = ready, me->condition = condition, me->what = what;
  me->has_deadline = deadline != 0, me->timed_out = false;
  if (deadline) {
    const uint64_t now = now_of(clock), end = (uint64_t)deadline->tv_sec * 1000000000u + (uint64_t)deadline->tv_nsec;
    me->deadline = now_of(CLOCK_MONOTONIC) + (end > now ? end - now : 0);
  }
  switch_to(me, next_of(me));
  me->ready = 0, me->has_deadline = false;
  return !me->timed_out;
}
void hn_threads_spin(const void* object) {
  static const void* last;
  static struct thread* whose;
  static unsigned times;
  struct thread* me = hn_thread();
  if (last != object || whose != me) last = object, whose = me, times = 0;
  if (++times < 256) return;
  times = 0;
  if (me && hn_sharers(hn_self()) > 1)
    hn_yield();
  else
    hn_threads_give_way();
}
bool hn_block_cancellable(bool (*ready)(void*), void* condition, const char* what, const struct timespec* deadline, clockid_t clock) {
  struct thread* me = hn_thread();
  me->cancellable = true;
  const bool in_time = hn_block(ready, condition, what, deadline, clock);
  me->cancellable = false;
  hn_test_cancel();
  return in_time;
}
void hn_test_cancel(void) {
  struct thread* me = hn_thread();
  if (!me->cancelled) return;
  me->cancelled = false; /* if it cannot be ended now, its next cancellation point ends it */
  pthread_testcancel();
}

/* ---- the beginning and the end of a thread ---- */
static void over(struct thread* t) {
  leave(t);
  if (hn_on && t->number != 0) {
    hn_control(HN_THREAD_END);
    hn_u(t->number);
  }
  t->ended = true;
  t->ready = 0;
  if (t->behind == t) { /* the process ends in this thread: what is still to come is the first one's */
    hn_thread_ = running = &main_thread;
    take_over(&main_thread);
    return;
  }
  struct thread* next = next_of(t);
  t->before->behind = t->behind, t->behind->before = t->before;
  if (t->number != 0) hn_stack_gone(stack_of(t));
  hn_on = false;
  hn_thread_ = 0;
  dying = t->tid;
  post(next);
}
/* Destructors of thread-specific data are the program's code too: the thread is over after the last round of them. */
static void after_a_round(void* thread) {
  struct thread* t = thread;
  if (hn_thread_ != t) return;
  if (--t->rounds > 0)
    pthread_setspecific(key, t);
  else
    over(t);
}
static void make_key(void) {
  static bool made;
  if (!made && pthread_key_create(&key, after_a_round)) abort();
  made = true;
}
static void end_after_destructors(struct thread* t) {
  t->rounds = 4; /* PTHREAD_DESTRUCTOR_ITERATIONS */
  pthread_setspecific(key, t);
}
static void* body(void* argument) {
  struct thread* t = argument;
  t->tid = (int)hn_system_call(SYS_gettid, 0, 0, 0, 0, 0, 0);
  hn_thread_ = t;
  hn_self_ = &t->rank;
  hn_faults_on_own_stack();
  sleep_until_posted(t);
  hn_on = hn_recording;
  hn_stack_base(stack_of(t), (uintptr_t)__builtin_frame_address(0));
  take_over(t);
  hn_tls_block(stack_of(t));
  end_after_destructors(t);
  return t->routine(t->argument);
}

/* ---- whose threads they are ---- */
static uintptr_t traced_libraries[64];
static unsigned traced_library_count;
static uintptr_t start_of_module(const void* address, const char** name) {
  Dl_info info;
  if (!dladdr(address, &info)) return 0;
  if (name) *name = info.dli_fname;
  return (uintptr_t)info.dli_fbase;
}
static uintptr_t program_start(void) {
  static uintptr_t start;
  if (!start) start = start_of_module((const void*)&start_of_module, 0);
  return start;
}
void hn_note_traced_code(const void* pc) {
  const uintptr_t low = start_of_module(pc, 0);
  if (low == program_start()) return;
  for (unsigned i = 0; i < traced_library_count; ++i)
    if (traced_libraries[i] == low) return;
  if (traced_library_count < 64) traced_libraries[traced_library_count++] = low;
}
static bool is_traced(const void* code) {
  const char* name = "";
  const uintptr_t low = start_of_module(code, &name);
  if (low == program_start()) return true;
  if (name && hn_has_plain_form(name)) return true;
  for (unsigned i = 0; i < traced_library_count; ++i)
    if (traced_libraries[i] == low) return true;
  return false;
}
/* The function that std::thread is to call, where it got one: a pointer among its arguments. Else its own, which says a lambda's name. */
static const void* routine_of(const void* state, const void* otherwise) {
#ifndef HOMENODE_TWIN
  extern const char __executable_start[], etext[];
  struct block b;
  if (!hn_blocks_find((uintptr_t)state, &b)) return otherwise;
  const uintptr_t* word = state;
  for (size_t i = b.bytes / sizeof *word; i-- > 1;) /* the function lies behind its arguments */
    if (word[i] - (uintptr_t)__executable_start < (uintptr_t)(etext - __executable_start)) return (const void*)word[i];
#else
  (void)state;
#endif
  return otherwise;
}
static bool is_standard_library(const void* code) {
  const char* name = "";
  return start_of_module(code, &name) && name && strstr(name, "libstdc++.so");
}

/* ---- the twin sees no loads: a thread that spins in the program's own code loses the token by a timer ---- */
#ifdef HOMENODE_TWIN
extern const char __start_homenode_runtime[], __stop_homenode_runtime[]; /* this code */
static void tick(int number, siginfo_t* information, void* context) {
  (void)information;
  static uint64_t seen;
  const int error = errno, holder = running->tid;
  if ((int)hn_system_call(SYS_gettid, 0, 0, 0, 0, 0, 0) != holder) {
    hn_system_call(SYS_tgkill, getpid(), holder, number, 0, 0, 0);
  } else if (seen != switches) { /* it got the token since the last tick */
    seen = switches;
  } else {
    const uintptr_t at = (uintptr_t)((const ucontext_t*)context)->uc_mcontext.gregs[REG_RIP];
    const bool ours = at - (uintptr_t)__start_homenode_runtime < (uintptr_t)__stop_homenode_runtime - (uintptr_t)__start_homenode_runtime;
    if (!ours && hn_thread() == running && hn_sharers(hn_self()) == 1 && start_of_module((const void*)at, 0) == program_start())
      hn_threads_give_way();
  }
  errno = error;
}
static void preempt_now_and_then(void) {
  static bool started;
  if (started) return;
  started = true;
  const int number = SIGRTMAX - 1;
  struct sigaction action = {.sa_sigaction = tick, .sa_flags = SA_SIGINFO | SA_RESTART};
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = number};
  const struct itimerspec often = {{0, 20000000}, {0, 20000000}};
  timer_t timer;
  if (!sigaction(number, &action, 0) && !timer_create(CLOCK_MONOTONIC, &event, &timer)) timer_settime(timer, 0, &often, 0);
}
#else
static void preempt_now_and_then(void) {}
#endif

int hn_create_real_thread(pthread_t* id, const pthread_attr_t* attributes, void* (*routine)(void*), void* argument) {
  return REAL(pthread_create)(id, attributes, routine, argument);
}
/* glibc keeps the stacks of ended threads; the range of one that lives overlaps nothing that lives. */
static void stack_range(pthread_t id, uintptr_t* low, uintptr_t* high) {
  pthread_attr_t actual;
  void* start = 0;
  size_t size = 0;
  if (!pthread_getattr_np(id, &actual)) {
    pthread_attr_getstack(&actual, &start, &size);
    pthread_attr_destroy(&actual);
  }
  *low = (uintptr_t)start, *high = *low + size;
}
static struct thread* new_thread(void) {
  static struct thread* room;
  static unsigned left;
  if (!left) {
    left = 64;
    room = hn_pages(left * sizeof *room);
    if (!room) return 0;
  }
  return &room[--left];
}
int hn_create(pthread_t* id, const pthread_attr_t* attributes, void* (*routine)(void*), void* argument, const void* site) {
  struct thread* me = hn_thread();
  /* std::thread passes an object of the program's with a virtual _M_run behind two destructors. */
  const void* code = (const void*)(uintptr_t)routine;
  const bool standard = me && is_standard_library(site);
  if (standard) code = (*(const void* const* const*)argument)[2];
  if (!me || !(is_traced(code) || is_traced(site))) {
    if (hn_threads_managed) hn_threads_have_company();
    if (hn_on) {
      hn_control(HN_LOSS);
      hn_u(1), hn_site(site), hn_s("thread of a library that was not compiled for tracing: what it does is not recorded");
    }
    return hn_create_real_thread(id, attributes, routine, argument);
  }
  const bool was_on = hn_on;
  hn_on = false; /* what the C library allocates for a thread is not the program's */
  make_key();
  struct thread* t = new_thread();
  int error = t ? 0 : EAGAIN;
  int detached = PTHREAD_CREATE_JOINABLE;
  if (attributes) pthread_attr_getdetachstate(attributes, &detached);
  uintptr_t low = 0, high = 0;
  if (!error) {
    t->number = created + 1;
    t->routine = routine, t->argument = argument;
    t->detached = detached == PTHREAD_CREATE_DETACHED;
    t->root = (struct team){.ranks = 1, .level = 2}; /* a team of its own would be a nested one */
    t->rank.team = &t->root;
    t->rank.thread = t->number, t->rank.stack = stack_of(t);
    error = hn_create_real_thread(&t->id, attributes, body, t);
  }
  if (!error) {
    *id = t->id;
    stack_range(t->id, &low, &high);
    ++created;
    struct thread* first = me;
    for (struct thread* other = me->behind; other != me; other = other->behind)
      if (other->number < first->number) first = other;
    t->before = first->before, t->behind = first;
    t->before->behind = t->behind->before = t;
    struct object* entry = hn_object((const void*)t->id, OBJECT_THREAD);
    entry->thread = t;
    hn_stack_of(stack_of(t), low, high, high);
  }
  hn_on = was_on;
  if (error) return error;
  if (hn_on) {
    hn_control(HN_THREAD_CREATE);
    if (standard) code = routine_of(argument, code);
    hn_u(t->number), hn_u(low), hn_u(high), hn_site((const char*)code + 1);
  }
  preempt_now_and_then();
  return 0;
}
int pthread_create(pthread_t* id, const pthread_attr_t* attributes, void* (*routine)(void*), void* argument) {
  return hn_create(id, attributes, routine, argument, RA);
}

static bool has_ended(void* thread) { return ((struct thread*)thread)->ended; }
static struct thread* thread_of(pthread_t id) {
  struct object* entry = hn_thread() ? hn_known_object((const void*)id, OBJECT_THREAD) : 0;
  return entry && entry->thread != hn_thread() ? entry->thread : 0;
}
static int join(struct thread* t, pthread_t id, void** result) {
  hn_sync(SYNC_JOIN, t->number, 0);
  hn_known_object((const void*)id, OBJECT_THREAD)->thread = 0;
  outlive();
  return REAL(pthread_join)(id, result);
}
static int join_until(struct thread* t, pthread_t id, void** result, const struct timespec* deadline, clockid_t clock) {
  while (!t->ended)
    if (!hn_block_cancellable(has_ended, t, "pthread_join", deadline, clock)) return ETIMEDOUT;
  return join(t, id, result);
}
int pthread_join(pthread_t id, void** result) {
  struct thread* t = thread_of(id);
  return t ? join_until(t, id, result, 0, 0) : REAL(pthread_join)(id, result);
}
int pthread_tryjoin_np(pthread_t id, void** result) {
  struct thread* t = thread_of(id);
  if (!t) return REAL(pthread_tryjoin_np)(id, result);
  if (t->ended) return join(t, id, result);
  hn_threads_give_way();
  return EBUSY;
}
int pthread_timedjoin_np(pthread_t id, void** result, const struct timespec* deadline) {
  struct thread* t = thread_of(id);
  return t ? join_until(t, id, result, deadline, CLOCK_REALTIME) : REAL(pthread_timedjoin_np)(id, result, deadline);
}
int pthread_clockjoin_np(pthread_t id, void** result, clockid_t clock, const struct timespec* deadline) {
  struct thread* t = thread_of(id);
  return t ? join_until(t, id, result, deadline, clock) : REAL(pthread_clockjoin_np)(id, result, clock, deadline);
}
/* Threads that go on after the first one: it gives the token away as they do. */
void pthread_exit(void* result) {
  if (hn_thread() == &main_thread && hn_sharers(hn_self()) == 1) {
    const bool was_on = hn_on;
    hn_on = false;
    make_key();
    hn_on = was_on;
    end_after_destructors(&main_thread);
  }
  REAL(pthread_exit)(result);
  __builtin_unreachable();
}
int pthread_cancel(pthread_t id) {
  struct thread* t = thread_of(id);
  if (t && !t->ended) t->cancelled = true;
  hn_progress();
  return REAL(pthread_cancel)(id);
}
