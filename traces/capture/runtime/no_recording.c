/* What the shims of teams, tasks and threads call where nothing is recorded: in the twin and in the timed program. */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "code_log.h"
#include "runtime.h"

__thread bool hn_on __attribute__((tls_model("initial-exec")));
bool hn_recording, hn_started;
uint64_t hn_sequence;
uint32_t hn_irregular;
uintptr_t hn_closure_low, hn_closure_high, hn_bound_low, hn_bound_high;
uintptr_t hn_stacks_low, hn_stacks_high;
int hn_descriptor = -1;

void hn_begin(int opcode) { (void)opcode; }
void hn_faults_on_own_stack(void) {}
void hn_u(uint64_t value) { (void)value; }
void hn_z(int64_t value) { (void)value; }
void hn_s(const char* text) { (void)text; }
void hn_site(const void* pc) { (void)pc; }
void hn_close_runs(void) {}
void hn_control(int opcode) { (void)opcode; }
void hn_new_item(void) {}
void hn_copy(void* to, const void* from, size_t bytes) {
  char* t = to;
  const char* f = from;
  while (bytes--) *t++ = *f++;
}
HN_NO_VECTORS void* hn_pages(size_t bytes) {
  void* p = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return p == MAP_FAILED ? 0 : p;
}
void hn_stack_of(unsigned number, uintptr_t low, uintptr_t high, uintptr_t base) { (void)number, (void)low, (void)high, (void)base; }
void hn_stack_base(unsigned number, uintptr_t base) { (void)number, (void)base; }
void hn_tls_block(unsigned rank) { (void)rank; }
bool hn_is_libc(uintptr_t pc) { return pc == 0; }
void hn_range(uintptr_t address, size_t bytes, uintptr_t pc, unsigned kind, unsigned flags) {
  (void)address, (void)bytes, (void)pc, (void)kind, (void)flags;
}
void hn_runs_on_rank(unsigned number) { (void)number; }
void hn_forget_frames(void) {}
void hn_stack_gone(unsigned number) { (void)number; }
