/* The pipe to the assembler: one buffer, varints, the modules that addresses belong to, the end of the program. */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime.h"

__thread bool hn_on __attribute__((tls_model("initial-exec")));
bool hn_recording, hn_started;
int hn_descriptor = -1;
uint8_t hn_buffer[HN_BUFFER];
size_t hn_used;

void hn_copy(void* to, const void* from, size_t bytes) {
  char* t = to;
  const char* f = from;
  while (bytes--) {
    *t++ = *f++;
    __asm__ volatile("" ::: "memory"); /* stays a loop: memcpy is what we record */
  }
}

void* hn_pages(size_t bytes) {
  void* p = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return p == MAP_FAILED ? 0 : p;
}

void hn_flush(void) {
  hn_hold();
  size_t sent = 0;
  while (sent < hn_used) {
    const ssize_t n = write(hn_descriptor, hn_buffer + sent, hn_used - sent);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) { /* the reader is gone: go on untraced */
      hn_on = hn_recording = false;
      break;
    }
    sent += (size_t)n;
  }
  hn_used = 0;
  hn_let_go();
}

/* Fields of each message; a site counts as two. How many are still to come tells a signal handler whether a message is whole. */
static const uint8_t fields_of[HN_MAY_CUT + 1] = {
    [HN_HELLO] = 5,      [HN_MODULE] = 3,     [HN_PC] = 6,           [HN_RUN_SAME] = 3, [HN_ALLOCATE] = 8,      [HN_RELEASE] = 4,
    [HN_FRAME] = 5,      [HN_TLS] = 3,        [HN_STACK] = 3,        [HN_RANK] = 1,     [HN_LOOP_BEGIN] = 7,    [HN_PARALLEL_BEGIN] = 6,
    [HN_ITEM] = 1,       [HN_LOOP_END] = 1,   [HN_PARALLEL_END] = 1, [HN_BARRIER] = 2,  [HN_SINGLE] = 3,        [HN_SECTIONS_BEGIN] = 3,
    [HN_SYNC] = 3,       [HN_MARK] = 5,       [HN_LOSS] = 4,         [HN_END] = 2,      [HN_THREAD_CREATE] = 5, [HN_THREAD] = 1,
    [HN_THREAD_END] = 1, [HN_TASK_BEGIN] = 3, [HN_TASK_END] = 0,     [HN_LEAVING] = 1,  [HN_MAY_CUT] = 0,
};
static volatile unsigned fields_to_come;
volatile unsigned hn_holds;
volatile int hn_pending_signal;
static void die(int signal_number);

static void one_field_less(void) {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  if (fields_to_come == 0 || --fields_to_come > 0) return;
  if (hn_pending_signal && !hn_holds) die(hn_pending_signal);
}
void hn_answer_signal(void) {
  if (hn_pending_signal && !hn_holds && !fields_to_come) die(hn_pending_signal);
}

static void put(uint64_t value) {
  if (hn_used + 16 > HN_BUFFER) hn_flush();
  while (value >= 128) {
    hn_buffer[hn_used++] = (uint8_t)(value | 128);
    value >>= 7;
  }
  hn_buffer[hn_used++] = (uint8_t)value;
}
void hn_begin_of(int opcode, unsigned fields) {
  fields_to_come = fields + 1;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  put((uint64_t)opcode);
  one_field_less();
}
void hn_begin(int opcode) { hn_begin_of(opcode, fields_of[opcode]); }
void hn_u(uint64_t value) {
  put(value);
  one_field_less();
}
void hn_z(int64_t value) { hn_u(((uint64_t)value << 1) ^ (uint64_t)(value >> 63)); }
void hn_s(const char* text) {
  size_t n = 0;
  while (text[n]) ++n;
  put(n);
  for (size_t i = 0; i < n; ++i) {
    if (hn_used + 16 > HN_BUFFER) hn_flush();
    hn_buffer[hn_used++] = (uint8_t)text[i];
  }
  one_field_less();
}

/* Loaded modules, found once: programs that load more later have their sites in module 0 with an absolute offset. */
static struct module {
  uintptr_t low, high, bias;
  char path[512];
} modules[64];
static unsigned module_count;
static uintptr_t tls_bytes; /* of the program itself */
static int add_module(struct dl_phdr_info* info, size_t size, void* unused) {
  (void)size, (void)unused;
  if (module_count == 64) return 1;
  struct module* m = &modules[module_count];
  m->low = UINTPTR_MAX, m->high = 0, m->bias = info->dlpi_addr;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const uintptr_t align = info->dlpi_phdr[i].p_align;
    if (info->dlpi_phdr[i].p_type == PT_TLS && module_count == 0) tls_bytes = (info->dlpi_phdr[i].p_memsz + align - 1) & -align;
    if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
    const uintptr_t low = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr, high = low + info->dlpi_phdr[i].p_memsz;
    if (low < m->low) m->low = low;
    if (high > m->high) m->high = high;
  }
  if (module_count == 0) {
    const ssize_t n = readlink("/proc/self/exe", m->path, sizeof m->path - 1);
    m->path[n < 0 ? 0 : n] = 0;
  } else {
    size_t n = 0;
    for (; info->dlpi_name[n] && n < sizeof m->path - 1; ++n) m->path[n] = info->dlpi_name[n];
    m->path[n] = 0;
  }
  ++module_count;
  return 0;
}
uint64_t hn_module_of(uintptr_t pc, uintptr_t* offset) {
  for (unsigned i = 0; i < module_count; ++i)
    if (pc >= modules[i].low && pc < modules[i].high) {
      *offset = pc - modules[i].bias;
      return i;
    }
  *offset = pc;
  return 0;
}
/* A return address lies behind the call: one byte less is on the call's own line. */
void hn_site(const void* pc) {
  uintptr_t offset;
  const uint64_t module = hn_module_of((uintptr_t)pc - 1, &offset);
  hn_u(module);
  hn_u(offset);
}

/* x86-64: the program's own block ends at the thread pointer. */
void hn_tls_block(unsigned rank) {
  if (!hn_on || !tls_bytes) return;
  const uintptr_t end = (uintptr_t)__builtin_thread_pointer();
  hn_control(HN_TLS);
  hn_u(rank), hn_u(end - tls_bytes), hn_u(end);
}
extern void* __libc_malloc(size_t);
bool hn_is_libc(uintptr_t pc) {
  static uintptr_t low, high;
  uintptr_t offset;
  if (!low) {
    const struct module* m = &modules[hn_module_of((uintptr_t)&__libc_malloc, &offset)];
    low = m->low, high = m->high;
  }
  return pc - low < high - low;
}

uintptr_t hn_program;
struct hn_origins hn_origins;
uintptr_t hn_stack_begin;
void hn_stack_begins(uintptr_t at) { /* constructors of traced libraries have run by then */
  hn_stack_begin = at, hn_origins.stack_top = at & ~(uintptr_t)63;
  hn_stack_base(0, at);
}
static void note_origins(void) {
  hn_program = modules[0].low, hn_origins.program_end = modules[0].high;
  hn_origins.break_now = (uintptr_t)sbrk(0);
}

/* Signals that end the program. One from outside may come at any moment and to any thread: the thread that records deals with
 * it, at once where the stream is whole (it may be blocked for ever), else when it has become so. */
static pthread_t recording_thread;
void hn_records_here(void) { recording_thread = pthread_self(); }
static volatile bool dying;
static void die(int signal_number) {
  dying = true;
  hn_pending_signal = 0;
  if (hn_recording) {
    hn_close_runs();
    hn_flush();
    hn_on = hn_recording = false;
  }
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal_number);
  signal(signal_number, SIG_DFL);
  raise(signal_number);
  pthread_sigmask(SIG_UNBLOCK, &only, 0);
}
static bool whole(void) { return !hn_holds && !fields_to_come; }
static void stop(int signal_number) {
  if (dying) return;
  if (hn_recording && !pthread_equal(recording_thread, pthread_self())) {
    if (pthread_kill(recording_thread, signal_number) == 0) return;
    hn_recording = false; /* that thread has ended */
  }
  if (hn_recording && !whole())
    hn_pending_signal = signal_number;
  else
    die(signal_number);
}
/* The program's own fault: it cannot go on. What stands in the buffer is whole but for its last message. */
static void fault(int signal_number) {
  if (hn_recording && pthread_equal(recording_thread, pthread_self()) && !whole()) {
    hn_flush();
    hn_recording = false;
  } else if (!hn_on) {
    hn_recording = false;
  }
  die(signal_number);
}

void hn_finish(int status) {
  if (!hn_on) return;
  hn_nested_losses();
  hn_task_losses();
  hn_spin_losses();
  hn_reader_losses();
  hn_library_thread_losses();
  hn_control(HN_END);
  hn_u((uint64_t)(unsigned)status);
  hn_u(hn_accesses());
  hn_flush();
  hn_on = hn_recording = false;
}
static void finish(int status, void* unused) {
  (void)unused;
  hn_finish(status);
}
/* quick_exit runs what at_quick_exit was told, the last one first, without a status. */
static int quick_status;
void __real_quick_exit(int) __attribute__((noreturn));
void __wrap_quick_exit(int status) {
  quick_status = status;
  __real_quick_exit(status);
}
static void finish_quickly(void) { hn_finish(quick_status); }
/* A child writes into no pipe of its parent's, nor keeps it open. */
static void forget(void) {
  hn_on = hn_recording = false;
  hn_threads_close();
  hn_close_descriptor();
}
static pid_t recorded;
void hn_leaving(const char* what, const char* name) {
  /* The child of a vfork has its parent's memory; threads that are not recorded leave the buffer alone. */
  if (!hn_on || getpid() != recorded) return;
  char text[512] = "";
  strcat(text, what);
  if (name) strncat(text, name, sizeof text - 1 - strlen(text));
  hn_control(HN_LEAVING), hn_s(text);
  hn_flush();
}
/* Its stack may be what a program has run out of. One is enough: of the threads that record, one runs at a time. */
void hn_faults_on_own_stack(void) {
  static char room[1 << 16];
  const stack_t own = {.ss_sp = room, .ss_size = sizeof room};
  sigaltstack(&own, 0);
}
static void catch_faults(void) {
  const int faults[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
  struct sigaction action = {.sa_handler = fault, .sa_flags = SA_ONSTACK | SA_RESTART};
  hn_faults_on_own_stack();
  for (unsigned i = 0; i < sizeof faults / sizeof *faults; ++i) sigaction(faults[i], &action, 0);
}

void hn_open(void) {
  static bool opened;
  if (opened) return;
  opened = true;
  const char* text = getenv("HOMENODE_STREAM_FD");
  if (!text || !*text) return;
  hn_descriptor = hn_out_of_the_way(atoi(text));
  recorded = getpid();
  unsetenv("HOMENODE_STREAM_FD");
  dl_iterate_phdr(add_module, 0);
  note_origins();
  uintptr_t unused;
  hn_fill_holes(modules[hn_module_of((uintptr_t)&__libc_malloc, &unused)].low);
  pthread_atfork(0, 0, forget);
  hn_on = hn_recording = true;
  hn_records_here();
  hn_threads_open();
  const char* team = getenv("HOMENODE_TEAM");
  {
    extern void* __libc_stack_end;
    if (!hn_stack_begin) hn_stack_begin = (uintptr_t)__libc_stack_end;
    const uintptr_t top = (hn_stack_begin + 0xfffff) & ~(uintptr_t)0xfff;
    hn_begin(HN_HELLO);
    hn_u(HN_STREAM_VERSION);
    hn_u((uint64_t)sysconf(_SC_PAGESIZE));
    hn_u(team && atoi(team) > 0 ? (uint64_t)atoi(team) : 1);
    hn_u(top - (8u << 20));
    hn_u(top);
    hn_stack_of(0, top - (8u << 20), top, hn_stack_begin);
    hn_origins.stack_low = top - (8u << 20), hn_origins.stack_end = top;
    hn_stack_begins(hn_stack_begin);
  }
  for (unsigned i = 0; i < module_count; ++i) {
    hn_begin(HN_MODULE);
    hn_u(i);
    hn_u(modules[i].bias);
    hn_s(modules[i].path);
  }
  hn_tls_block(0);
  on_exit(finish, 0);
  at_quick_exit(finish_quickly);
  catch_faults();
  const int stops[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};
  for (unsigned i = 0; i < sizeof stops / sizeof *stops; ++i)
    if (signal(stops[i], stop) == SIG_IGN) signal(stops[i], SIG_IGN);
  signal(SIGPIPE, SIG_IGN);
  hn_flush(); /* whoever leaves without a word has at least said who it is */
}
