/* Runs a program for `homenode capture`, and ends it when the capture is gone.
 *
 *   supervise CONTROL fixed|random PROGRAM ARGUMENTS…
 *
 * CONTROL is a socket whose other end only the capture has. `T` from there asks the program's process group to end (SIGTERM), `K` kills
 * it. At the end of that file the capture itself was killed: the group is asked, and killed GRACE_MS later. A group that was asked to
 * end has no member left when the program has ended. A program that cannot be run is answered by the number of its error, in decimal.
 * `fixed`: without random addresses, where the system allows that.
 *
 * This process ends as the program does, by the same exit code or signal. If it is killed itself, the kernel kills the program.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { GRACE_MS = 5000, CONTROL = 0, REPORT = 1 };

static long now_ms(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void run(char** words, bool fixed, pid_t supervisor, int report) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != supervisor) _exit(127); /* killed before the kernel knew that we go with it */
  if (fixed) personality((unsigned long)personality(0xffffffff) | ADDR_NO_RANDOMIZE);
  sigset_t none;
  sigemptyset(&none);
  signal(SIGCHLD, SIG_DFL);
  sigprocmask(SIG_SETMASK, &none, 0);
  execvp(words[0], words);
  const int error = errno;
  if (write(report, &error, sizeof error) < 0) _exit(126);
  _exit(127);
}

/* The program's files are its own: who waits for their end must not wait for us. */
static void keep_only(int control, int report) {
  const int from = fcntl(control, F_DUPFD, 10), also = fcntl(report, F_DUPFD, 10); /* either may be where the other goes */
  if (dup2(from, CONTROL) < 0 || dup2(also, REPORT) < 0) _exit(126);
  syscall(SYS_close_range, REPORT + 1, ~0u, 0);
}

static void refuse_if_not_run(void) {
  int error = 0;
  if (read(REPORT, &error, sizeof error) != (ssize_t)sizeof error) return;
  char text[16];
  const int length = snprintf(text, sizeof text, "%d", error);
  if (write(CONTROL, text, (size_t)length) < 0) _exit(126);
  _exit(127);
}

static bool has_ended(pid_t child) {
  siginfo_t found = {.si_pid = 0};
  return waitid(P_PID, (id_t)child, &found, WEXITED | WNOHANG | WNOWAIT) == 0 && found.si_pid == child;
}

static void wake(int number) { (void)number; }

/* Until the program has ended. It is still there, as a zombie: its number names no other group. */
static void attend(pid_t child, const sigset_t* waiting) {
  struct pollfd control = {.fd = CONTROL, .events = POLLIN};
  bool asked = false;
  long deadline = -1;
  while (!has_ended(child)) {
    const long left = deadline < 0 ? -1 : deadline - now_ms();
    if (deadline >= 0 && left <= 0) {
      kill(-child, SIGKILL);
      deadline = -1;
    }
    const struct timespec time = {left / 1000, left % 1000 * 1000000};
    if (ppoll(&control, 1, deadline < 0 ? 0 : &time, waiting) <= 0) continue;
    char word;
    const ssize_t n = read(CONTROL, &word, 1);
    if (n < 0 && errno == EINTR) continue;
    asked = true;
    if (n <= 0) {
      control.fd = -1;
      deadline = now_ms() + GRACE_MS;
    }
    kill(-child, n > 0 && word == 'K' ? SIGKILL : SIGTERM);
  }
  if (asked) kill(-child, SIGKILL);
}

int main(int count, char** words) {
  if (count < 4) return 2;
  const int control = atoi(words[1]);
  const bool fixed = strcmp(words[2], "fixed") == 0;
  sigset_t child_signal, waiting;
  sigemptyset(&child_signal);
  sigaddset(&child_signal, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child_signal, &waiting);
  sigdelset(&waiting, SIGCHLD);
  const struct sigaction action = {.sa_handler = wake};
  sigaction(SIGCHLD, &action, 0);
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) return 126;
  const pid_t self = getpid(), child = fork();
  if (child < 0) return 126;
  if (child == 0) {
    close(control);
    run(words + 3, fixed, self, report[1]);
  }
  setpgid(child, child);
  keep_only(control, report[0]);
  refuse_if_not_run();
  attend(child, &waiting);
  int status;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
  const struct rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  signal(WTERMSIG(status), SIG_DFL);
  raise(WTERMSIG(status));
  return 128 + WTERMSIG(status);
}
