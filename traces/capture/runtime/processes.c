/* What a program leaves the recording by. Before exec and daemon(), what it has done is sent, with the reason why no more comes: they end
 * the process without a word to us, or go on in another one. Programs that close all descriptors keep the recording's, which lies where
 * they have none of their own. A forked child does not record, which is noted as a loss.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "program_threads.h"
#include "system_call.h"

/* Below 1024, so that a table of descriptors does not grow for it; a few numbers from the end, for others that do the same. */
int hn_out_of_the_way(int descriptor) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > 1024) limit.rlim_cur = 1024;
  const int moved = limit.rlim_cur > 16 ? fcntl(descriptor, F_DUPFD_CLOEXEC, (int)limit.rlim_cur - 8) : -1;
  if (moved < 0) {
    fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    return descriptor;
  }
  hn_system_call(SYS_close, descriptor, 0, 0, 0, 0, 0);
  return moved;
}
void hn_close_descriptor(void) {
  if (hn_descriptor >= 0) hn_system_call(SYS_close, hn_descriptor, 0, 0, 0, 0, 0);
  hn_descriptor = -1;
}
static bool is_ours(int descriptor) { return descriptor >= 0 && descriptor == hn_descriptor; }

int close(int descriptor) {
  if (!is_ours(descriptor)) return REAL(close)(descriptor);
  errno = EBADF;
  return -1;
}
int close_range(unsigned first, unsigned last, int flags) {
  const unsigned ours = (unsigned)hn_descriptor;
  if (hn_descriptor < 0 || ours < first || ours > last) return REAL(close_range)(first, last, flags);
  if (first < ours && REAL(close_range)(first, ours - 1, flags) != 0) return -1;
  return ours < last ? REAL(close_range)(ours + 1, last, flags) : 0;
}
void closefrom(int first) { close_range(first < 0 ? 0 : (unsigned)first, UINT_MAX, 0); }
/* A program that wants just this number gets it. */
static void make_way(int descriptor) {
  if (!is_ours(descriptor)) return;
  const int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, descriptor + 1);
  hn_descriptor = moved >= 0 ? moved : fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
}
int dup2(int from, int to) {
  if (from != to) make_way(to);
  return REAL(dup2)(from, to);
}
int dup3(int from, int to, int flags) {
  if (from != to) make_way(to);
  return REAL(dup3)(from, to, flags);
}

pid_t fork(void) {
  const pid_t child = REAL(fork)();
  if (child > 0 && hn_on) {
    hn_control(HN_LOSS);
    hn_u(1), hn_site(RA), hn_s("fork: what the child process does is not recorded");
  }
  return child;
}
int daemon(int stays, int keeps_output) {
  hn_leaving("daemon(): the program went on in a process of its own, which is not recorded", 0);
  return REAL(daemon)(stays, keeps_output);
}

static const char executed[] = "exec: what comes after it is not recorded; the program became ";
int execve(const char* path, char* const words[], char* const environment[]) {
  hn_leaving(executed, path);
  return REAL(execve)(path, words, environment);
}
int execv(const char* path, char* const words[]) {
  hn_leaving(executed, path);
  return REAL(execv)(path, words);
}
int execvp(const char* name, char* const words[]) {
  hn_leaving(executed, name);
  return REAL(execvp)(name, words);
}
int execvpe(const char* name, char* const words[], char* const environment[]) {
  hn_leaving(executed, name);
  return REAL(execvpe)(name, words, environment);
}
int fexecve(int file, char* const words[], char* const environment[]) {
  hn_leaving(executed, "an open file");
  return REAL(fexecve)(file, words, environment);
}

/* The words of a list as a vector, on the caller's stack: in a child of vfork nothing may be allocated. */
#define WORDS_OF_LIST                                       \
  size_t n = 1;                                             \
  va_list list, again;                                      \
  va_start(list, first);                                    \
  va_copy(again, list);                                     \
  while (va_arg(list, char*)) ++n;                          \
  char** words = __builtin_alloca((n + 1) * sizeof *words); \
  words[0] = (char*)(uintptr_t)first;                       \
  for (size_t i = 1; i <= n; ++i) words[i] = va_arg(again, char*)
#define END_OF_LIST va_end(list), va_end(again)

int execl(const char* path, const char* first, ...) {
  WORDS_OF_LIST;
  END_OF_LIST;
  return execv(path, words);
}
int execlp(const char* name, const char* first, ...) {
  WORDS_OF_LIST;
  END_OF_LIST;
  return execvp(name, words);
}
int execle(const char* path, const char* first, ...) {
  WORDS_OF_LIST;
  char** environment = va_arg(again, char**);
  END_OF_LIST;
  return execve(path, words, environment);
}
