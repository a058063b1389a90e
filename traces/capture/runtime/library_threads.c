/* Threads that libraries create live beside the program's. They are not recorded, but they may run functions of the program. */
#include "program_threads.h"

bool hn_has_company;
void hn_threads_have_company(void) { hn_has_company = true; }

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
