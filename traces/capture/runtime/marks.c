/* What a program says about itself (homenode.h). */
#include "runtime.h"

static void mark(int kind, uint64_t value, const void* address, size_t bytes, const char* text) {
  hn_open();
  if (!hn_on) return;
  hn_control(HN_MARK);
  hn_u((uint64_t)kind), hn_u(value), hn_u((uintptr_t)address), hn_u(bytes), hn_s(text);
}
void homenode_mark_label(const char* text) { mark(HN_MARK_LABEL, 0, 0, 0, text); }
void homenode_mark_step(int64_t step) { mark(HN_MARK_STEP, (uint64_t)step, 0, 0, ""); }
void homenode_mark_streamable(const void* address, size_t bytes) { mark(HN_MARK_STREAMABLE, 0, address, bytes, ""); }
void homenode_mark_owner(const void* address, int rank) { mark(HN_MARK_OWNER, (uint64_t)rank, address, 0, ""); }
void homenode_mark_thread_type(const char* text) { mark(HN_MARK_THREAD_TYPE, 0, 0, 0, text); }
