/* What the runtime's own files know of each other. One thread runs at a time (a token), so the recorder has one state. */
#ifndef HOMENODE_RUNTIME_H
#define HOMENODE_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream.h"

/* stream.c: the pipe. A message is begun with its opcode; fields follow. Nothing is sent while `hn_on` is false. */
/* Per thread: threads that the program creates by itself are not recorded. Initial-exec: no call, no allocation behind it. */
extern __thread bool hn_on __attribute__((tls_model("initial-exec")));
extern bool hn_recording; /* the pipe is open: threads of the team record */
extern bool hn_started;   /* the program's own code runs: constructors of shared libraries are over */
void hn_open(void);
void hn_begin(int opcode);
void hn_begin_of(int opcode, unsigned fields); /* for HN_RUN, whose fields differ in number */
void hn_u(uint64_t value);
void hn_z(int64_t value);
void hn_s(const char* text);
void hn_site(const void* pc); /* sends HN_MODULE first where needed: call before hn_begin */
uint64_t hn_module_of(uintptr_t pc, uintptr_t* offset);
void hn_flush(void);
void hn_finish(int status); /* the last message */
/* What the program is about to do, after which it may record no more; what it has done is sent. In the twin: counts so far are. */
void hn_leaving(const char* what, const char* name); /* name: of what, or null */
void hn_faults_on_own_stack(void);                   /* of the calling thread */
extern int hn_descriptor;                            /* of the pipe, in the twin of its counts; -1: none */
/* Between the two, the recorder's state is not whole: a signal that ends the program waits. Only in the thread that records. */
extern volatile unsigned hn_holds;
extern volatile int hn_pending_signal;
void hn_answer_signal(void); /* if the stream is whole */
static inline void hn_hold(void) {
  hn_holds = hn_holds + 1;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
static inline void hn_let_go(void) {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  hn_holds = hn_holds - 1;
  if (__builtin_expect(hn_pending_signal != 0, 0)) hn_answer_signal();
}
/* A message written at once: up to HN_AT_ONCE bytes from hn_room() on, of which hn_sent() says how many it has. */
enum { HN_BUFFER = 1 << 16, HN_AT_ONCE = 32 };
extern uint8_t hn_buffer[HN_BUFFER];
extern size_t hn_used;
static inline uint8_t* hn_room(void) {
  if (__builtin_expect(hn_used + HN_AT_ONCE > HN_BUFFER, 0)) hn_flush();
  return hn_buffer + hn_used;
}
static inline void hn_sent(size_t bytes) {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  hn_used += bytes;
}
static inline void hn_put_little(uint8_t* at, uint64_t value) { __builtin_memcpy(at, &value, sizeof value); } /* one store */
void hn_records_here(void);       /* this thread has the token */
void hn_tls_block(unsigned rank); /* announces where this thread has the program's thread-local variables */
bool hn_is_libc(uintptr_t pc);
/* Where the kernel put what: distances from there are the same in every run. */
extern uintptr_t hn_program; /* the program's code */
extern struct hn_origins {
  uintptr_t program_end, break_now, stack_low, stack_top, stack_end, library, libraries_low, libraries_bytes;
} hn_origins;
/* Without a branch, even where the compiler would choose one. */
static inline uint64_t hn_select(bool which, uint64_t yes, uint64_t no) {
  const uint64_t mask = -(uint64_t)which;
  return (yes & mask) | (no & ~mask);
}
/* mappings.c: from now on mappings begin at a multiple of HN_MAPPINGS_ALIGN and follow each other without holes. */
#define HN_MAPPINGS_ALIGN ((uintptr_t)4 << 30)
void hn_fill_holes(uintptr_t library); /* where one of those lies that were loaded first */
/* Of the program, the heap's break, the main stack, the libraries, or mappings; which it is depends on the program's data. Numbers that are
 * no addresses may be taken for some; the more so, the wider these ranges are, and what is found then is not the same in every run. */
static inline uintptr_t hn_origin_of(uintptr_t address) {
  const struct hn_origins* o = &hn_origins;
  uintptr_t origin = address & -HN_MAPPINGS_ALIGN;
  origin = hn_select(address - o->libraries_low < o->libraries_bytes, o->library, origin);
  origin = hn_select(address - o->break_now < (uintptr_t)64 << 30, o->break_now, origin);
  origin = hn_select(address - hn_program < o->program_end - hn_program, hn_program, origin);
  return hn_select(address - o->stack_low < o->stack_end - o->stack_low, o->stack_top, origin);
}
extern uintptr_t hn_stack_begin; /* of the first thread: its frames lie below, its arguments above */
void hn_stack_begins(uintptr_t at);
void hn_copy(void* to, const void* from, size_t bytes);

/* marked_loops.c: the first thread's recording rests. */
extern bool hn_between_items;

/* processes.c */
int hn_out_of_the_way(int descriptor); /* moved where programs have none of their own, closed on exec */
void hn_close_descriptor(void);

/* recorder.c */
extern uint64_t hn_sequence;  /* accesses of the current item so far */
extern uint32_t hn_irregular; /* of them, since it might last have been cut: how many are irregular, in halves */
void hn_access(uintptr_t address, uintptr_t pc, unsigned kind, unsigned width, unsigned flags);
void hn_range(uintptr_t address, size_t bytes, uintptr_t pc, unsigned kind, unsigned flags);
void hn_close_runs(void);
void hn_control(int opcode); /* closes the runs, then begins the message */
uint64_t hn_accesses(void);  /* in all */
void hn_new_item(void);      /* the next access is number 0 */
/* Reads that only the compiler's splitting into iterations makes: of the closure of a parallel region, and of the bounds that
 * a loop shim hands out. They are not the program's, so they are not recorded. */
extern uintptr_t hn_closure_low, hn_closure_high, hn_bound_low, hn_bound_high;

/* frames.c */
void hn_stack_of(unsigned number, uintptr_t low, uintptr_t high, uintptr_t base);
void hn_stack_base(unsigned number, uintptr_t base); /* the rank's outermost frame ends here from now on */
void hn_stack_gone(unsigned number);
void hn_runs_on_rank(unsigned number);
void hn_forget_frames(void);                    /* those of functions that were called and are over are announced anew */
void hn_announce_frame(uintptr_t address);      /* nothing if the address is on no stack, or its frame is known */
extern uintptr_t hn_stacks_low, hn_stacks_high; /* around all stacks, for a quick no */
void* hn_pages(size_t bytes);                   /* zeroed, for the runtime itself; null without memory */

/* work.c, in the twin only: at the begin and the end of an outermost parallel region. */
void hn_work_parallel(uint64_t serial, bool begins);

/* team.c */
void hn_yield(void);         /* a spin gives the token away */
void hn_task_losses(void);   /* tasks.c, before the end: how often what is lost of tasks happened */
void hn_nested_losses(void); /* before the end: how often inner teams were serialised */

/* program_threads.c, futex.c, mutexes.c */
void hn_threads_open(void);                                   /* the calling thread is the program's first one */
void hn_threads_close(void);                                  /* a child of the program's: its threads are its own affair */
bool hn_has_plain_form(const char* library);                  /* it was compiled for tracing; of the twin: it stands for one that was */
void hn_note_traced_code(const void* pc);                     /* its module was compiled for tracing */
bool hn_in_team(void);                                        /* others of the caller's team may run */
void hn_spun_on(const volatile void* word, const void* site); /* loads of it found nothing new for a while */
void hn_spun_plainly(const void* site);                       /* the same with plain loads */
/* The same in a team; with the word's first byte, where it is known, it counts if that changed. */
void hn_spun_in_team(const volatile uint8_t* word, const void* site);
extern unsigned hn_words_waited_for;
void hn_stored(const volatile void* word); /* while words are waited for */
void hn_spin_losses(void);
void hn_reader_losses(void);
void hn_library_thread_losses(void);

#endif
