/* Waiting for signals: who waits gives the token away until a signal that ends its wait is pending; then the C library's function
 * takes it, as it would have. A signal may come from outside of the process, so that such a wait is never a deadlock. What is done before
 * a signal is sent does not come before what its receiver does next: nothing in a trace says so, which is noted as a loss.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "program_threads.h"
#include "system_call.h"

/* Signals as the kernel writes them down: bit n - 1 for signal n. */
struct wait_for_signal {
  uint64_t ends_it;
  int tid;
};
static uint64_t bits_of(const sigset_t* set) {
  uint64_t bits;
  memcpy(&bits, set, sizeof bits);
  return bits;
}
static uint64_t after(const char* text, const char* name) {
  const char* found = strstr(text, name);
  return found ? strtoull(found + strlen(name), 0, 16) : 0;
}
/* Of a thread: those sent to it alone and those sent to the process. sigpending() knows its caller's only. */
static uint64_t pending(int tid) {
  char path[40] = "/proc/self/task/", digits[16], *digit = digits + sizeof digits, text[4096];
  *--digit = 0;
  for (unsigned rest = (unsigned)tid; rest; rest /= 10) *--digit = (char)('0' + rest % 10);
  strcat(strcat(path, digit), "/status");
  const long file = hn_system_call(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0);
  if (file < 0) return 0;
  const long n = hn_system_call(SYS_read, file, (long)text, sizeof text - 1, 0, 0, 0);
  hn_system_call(SYS_close, file, 0, 0, 0, 0, 0);
  text[n > 0 ? n : 0] = 0;
  return after(text, "SigPnd:") | after(text, "ShdPnd:");
}
static bool has_come(void* wait) {
  const struct wait_for_signal* w = wait;
  return (pending(w->tid) & w->ends_it) != 0;
}
/* False: the deadline passed. */
static bool wait_for(uint64_t signals, const char* what, const struct timespec* time, const void* site) {
  struct timespec end;
  if (time) {
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += time->tv_sec, end.tv_nsec += time->tv_nsec;
    if (end.tv_nsec >= 1000000000) ++end.tv_sec, end.tv_nsec -= 1000000000;
  }
  struct wait_for_signal w = {signals, hn_thread()->tid};
  hn_threads_have_company();
  if (hn_on) {
    hn_control(HN_LOSS);
    hn_u(1), hn_site(site), hn_s("wait for a signal: replayed without waiting");
  }
  return hn_block_cancellable(has_come, &w, what, time ? &end : 0, CLOCK_MONOTONIC);
}

int sigwait(const sigset_t* set, int* number) {
  if (hn_thread()) wait_for(bits_of(set), "sigwait", 0, RA);
  return REAL(sigwait)(set, number);
}
int sigwaitinfo(const sigset_t* set, siginfo_t* information) {
  if (hn_thread()) wait_for(bits_of(set), "sigwaitinfo", 0, RA);
  return REAL(sigwaitinfo)(set, information);
}
int sigtimedwait(const sigset_t* set, siginfo_t* information, const struct timespec* time) {
  const struct timespec now = {0, 0};
  if (hn_thread()) wait_for(bits_of(set), "sigtimedwait", time, RA), time = &now;
  return REAL(sigtimedwait)(set, information, time);
}
int sigsuspend(const sigset_t* blocked) {
  if (hn_thread()) wait_for(~bits_of(blocked), "sigsuspend", 0, RA);
  return REAL(sigsuspend)(blocked);
}
