/* Ways to wait, one by name on the command line; each prints what can only come out if the waiting works. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static long result;
static pthread_t start(void* (*routine)(void*)) {
  pthread_t id;
  if (pthread_create(&id, 0, routine, 0)) exit(9);
  return id;
}

static atomic_int flag;
static void* set_flag(void* nothing) {
  result = 42;
  atomic_store(&flag, 1);
  return nothing;
}
static void spin(void) {
  const pthread_t id = start(set_flag);
  while (!atomic_load(&flag)) continue;
  pthread_join(id, 0);
}

static volatile int plain_flag;
static void* set_plain_flag(void* nothing) {
  result = 43;
  plain_flag = 1;
  return nothing;
}
static void volatile_spin(void) {
  const pthread_t id = start(set_plain_flag);
  while (!plain_flag) continue;
  pthread_join(id, 0);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, errors, again;
static int ready;
static void* set_ready(void* nothing) {
  pthread_mutex_lock(&mutex);
  ready = 1, result = 44;
  pthread_mutex_unlock(&mutex);
  return nothing;
}
static void polled_mutex(void) {
  const pthread_t id = start(set_ready);
  for (int seen = 0; !seen;) {
    pthread_mutex_lock(&mutex);
    seen = ready;
    pthread_mutex_unlock(&mutex);
  }
  pthread_join(id, 0);
}

static sem_t full, empty;
static int slot;
static void* produce(void* nothing) {
  for (int i = 1; i <= 10; ++i) {
    sem_wait(&empty);
    slot = i;
    sem_post(&full);
  }
  return nothing;
}
static void semaphores(void) {
  sem_init(&empty, 0, 1), sem_init(&full, 0, 0);
  const pthread_t id = start(produce);
  for (int i = 1; i <= 10; ++i) {
    sem_wait(&full);
    result = result * 2 + slot;
    sem_post(&empty);
  }
  pthread_join(id, 0);
}

static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static struct timespec soon(void) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  if ((t.tv_nsec += 1000000) >= 1000000000) ++t.tv_sec, t.tv_nsec -= 1000000000;
  return t;
}
static void timeouts(void) { /* nobody signals */
  const struct timespec end = soon();
  pthread_mutex_lock(&mutex);
  const int of_condition = pthread_cond_timedwait(&condition, &mutex, &end);
  sem_init(&full, 0, 0);
  const int of_semaphore = sem_timedwait(&full, &end) ? errno : 0;
  pthread_mutex_unlock(&mutex);
  result = (of_condition == ETIMEDOUT) + 2 * (of_semaphore == ETIMEDOUT);
}

static void kinds(void) { /* of mutexes */
  pthread_mutexattr_t kind;
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(&errors, &kind);
  pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&again, &kind);
  pthread_mutex_lock(&errors);
  result = pthread_mutex_lock(&errors) == EDEADLK;
  pthread_mutex_unlock(&errors);
  result += 2 * (pthread_mutex_unlock(&errors) == EPERM);
  for (int i = 0; i < 3; ++i) result += 4 * (pthread_mutex_lock(&again) == 0);
  for (int i = 0; i < 3; ++i) pthread_mutex_unlock(&again);
  result += 100 * (pthread_mutex_trylock(&mutex) == 0);
  result += 1000 * (pthread_mutex_trylock(&mutex) == EBUSY);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static void one_more(void) {
  sched_yield(); /* others come to the same place meanwhile */
  ++result;
}
static void* go_once(void* nothing) {
  pthread_once(&once, one_more);
  result += 10;
  return nothing;
}
static void once_only(void) {
  pthread_t id[3];
  for (int i = 0; i < 3; ++i) id[i] = start(go_once);
  for (int i = 0; i < 3; ++i) pthread_join(id[i], 0);
}

static pthread_rwlock_t readers = PTHREAD_RWLOCK_INITIALIZER;
static void* write_locked(void* nothing) {
  pthread_rwlock_wrlock(&readers);
  ++result;
  pthread_rwlock_unlock(&readers);
  return nothing;
}
static void reader_writer(void) {
  pthread_rwlock_rdlock(&readers);
  const pthread_t id = start(write_locked);
  sched_yield();
  const long seen = result;
  pthread_rwlock_unlock(&readers);
  pthread_join(id, 0);
  result = 10 * (seen == 0) + result;
}

static pthread_key_t key;
static atomic_long ended;
static void at_end(void* value) { atomic_fetch_add(&ended, (long)value); }
static void* leave_in_the_middle(void* nothing) {
  pthread_setspecific(key, (void*)7);
  pthread_exit(nothing);
}
static void ends(void) {
  pthread_key_create(&key, at_end);
  pthread_join(start(leave_in_the_middle), 0);
  pthread_detach(start(leave_in_the_middle));
  while (atomic_load(&ended) != 14) sched_yield();
  result = ended;
}

static void* wait_for_ever(void* nothing) {
  pthread_mutex_lock(&mutex);
  for (;;) pthread_cond_wait(&condition, &mutex);
  return nothing;
}
static void cancelled(void) {
  const pthread_t id = start(wait_for_ever);
  sched_yield();
  pthread_cancel(id);
  void* value = 0;
  pthread_join(id, &value);
  result = value == PTHREAD_CANCELED;
}
static void left_behind(void) { /* the process ends while a thread waits */
  start(wait_for_ever);
  sched_yield();
  result = 5;
}
static void* say_last(void* nothing) {
  puts("6");
  fflush(stdout);
  return nothing;
}
static void first_leaves(void) {
  start(say_last);
  pthread_exit(0);
}
static sigset_t signals;
static void block_signals(void) {
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1), sigaddset(&signals, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &signals, 0);
}
static void* wait_for_signals(void* nothing) {
  const struct timespec time = {0, 1000000};
  int number = 0;
  result += (sigtimedwait(&signals, 0, &time) == -1 && errno == EAGAIN); /* nobody sends one: the others wait for this thread */
  pthread_mutex_lock(&mutex);
  ready = 1;
  pthread_cond_signal(&condition);
  pthread_mutex_unlock(&mutex);
  sigwait(&signals, &number);
  result = 10 * result + (number == SIGUSR1);
  result = 10 * result + (sigwaitinfo(&signals, 0) == SIGUSR2);
  return nothing;
}
static void awaited(void) { /* signals to a thread and to the process */
  block_signals();
  const pthread_t id = start(wait_for_signals);
  pthread_mutex_lock(&mutex);
  while (!ready) pthread_cond_wait(&condition, &mutex);
  pthread_mutex_unlock(&mutex);
  sched_yield();
  result += 4;
  pthread_kill(id, SIGUSR1);
  sched_yield();
  kill(getpid(), SIGUSR2);
  pthread_join(id, 0);
}
static void handle(int number) { result = 10 * result + (number == SIGUSR2); }
static void* send(void* nothing) {
  result = 7;
  kill(getpid(), SIGUSR2);
  sched_yield();
  return nothing;
}
static void suspended(void) {
  block_signals();
  signal(SIGUSR2, handle);
  const pthread_t id = start(send);
  sigset_t none;
  sigemptyset(&none);
  sigsuspend(&none);
  pthread_join(id, 0);
}
static void deadlock(void) {
  pthread_mutex_lock(&mutex);
  start(wait_for_ever);
  pthread_cond_wait(&condition, &mutex);
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } ways[] = {{"spin", spin},
              {"volatile", volatile_spin},
              {"poll", polled_mutex},
              {"semaphores", semaphores},
              {"timeouts", timeouts},
              {"kinds", kinds},
              {"once", once_only},
              {"readers", reader_writer},
              {"ends", ends},
              {"cancelled", cancelled},
              {"left_behind", left_behind},
              {"first_leaves", first_leaves},
              {"awaited", awaited},
              {"suspended", suspended},
              {"deadlock", deadlock}};
  for (unsigned i = 0; argc > 1 && i < sizeof ways / sizeof *ways; ++i)
    if (strcmp(argv[1], ways[i].name) == 0) ways[i].run();
  printf("%ld\n", result);
  return 0;
}
