/* A program that leaves by _exit runs no functions of atexit: what was counted or timed is told before. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <unistd.h>

#include "by_stretch.h"
#include "system_call.h"

static pid_t own;

void hn_tell_before_exit(void) { own = getpid(); }
/* A child of vfork has our memory, and tells nothing. */
void _exit(int status) {
  if (own != 0 && getpid() == own) hn_finish_counts();
  for (;;) hn_system_call(SYS_exit_group, status, 0, 0, 0, 0, 0);
}
void _Exit(int status) { _exit(status); }
