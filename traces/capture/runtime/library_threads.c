/* Threads that libraries create live beside the program's. They are not recorded, but they may run functions of the program. */
#define _GNU_SOURCE
#include "program_threads.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool hn_has_company;
void hn_threads_have_company(void) { hn_has_company = true; }

/* A traced library has a form without recording beside it, which the twin and the timed program load in its place. */
bool hn_has_plain_form(const char* library) {
  static const char ending[] = ".timed";
  char path[PATH_MAX + sizeof ending];
  if (!realpath(library, path)) return false;
  const size_t length = strlen(path);
#ifdef HOMENODE_TWIN
  const size_t end = sizeof ending - 1;
  return length > end && !memcmp(path + length - end, ending, end);
#else
  memcpy(path + length, ending, sizeof ending);
  return access(path, F_OK) == 0;
#endif
}

#ifndef HOMENODE_TWIN
static uint64_t calls; /* of functions of the program on such threads */
void hn_runs_on_library_thread(void) {
  if (hn_recording && hn_has_company && !hn_thread_) __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
}
void hn_library_thread_losses(void) {
  if (!calls) return;
  hn_control(HN_LOSS), hn_u(calls), hn_site(0);
  hn_s("the program's code on threads of a library: what it does is not recorded");
}
#endif
