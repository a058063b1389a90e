/* Calls of code without counters: libraries, and objects that were compiled without tracing. How often each function was called is
 * exact, from the counters of the blocks with its call sites. How many instructions a call executes is sampled. The compiler
 * (bindings/python/homenode/compiler/twin.py) puts a countdown before each such call; when it has run out, homenode_call looks at
 * this call in one of two ways:
 * - stepped: the processor's trap flag is set, and each instruction up to the return is counted in a SIGTRAP handler. Code with
 *   counters that is called back is left out. A call that makes a system call or takes more than MOST_STEPS instructions is given up, for
 *   what follows may block the signal, or take long.
 * - timed: what passes from before the call to behind it by the time-stamp counter. Unless the call before took less than LONG
 *   nanoseconds, the thread's processor time is read, too, and the less of both counts: in a long call other work may have run. A short
 *   one is slower behind a system call. So it is for the first FEW calls of each function, which are not worth a step, and for functions
 * that were given up. Two instructions are taken to pass in a nanosecond. A call in which code with counters ran says nothing, for what of
 *   its time that took is not known; calls through pointers are never timed.
 *
 * Short calls beside others' work on the core's second thread do not count where MANY undisturbed samples stand for a quarter of the
 * calls. A function with MANY samples waits for these others to go, about a second in a run.
 *
 * Where samples lie more than FAR calls apart, the code that takes them has left the caches, and its misses would count as the call's.
 * Then two calls in a row are timed, and the second one counts.
 *
 * The n-th call is looked at for n = 1 to 6, 8, 10, 13 ..., and of functions that were given up every sixteenth part of the calls so
 * far: each sample stands for the calls since the one before, so no single one stands for a large share of all. Of short calls that are
 * timed, every CLOSE-th at least, or every FINE-th part of the calls so far, give or take an eighth: of fewer samples the means of two
 * runs differed by a factor of three.
 */
#define _GNU_SOURCE
#include "calls.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>

#include "call_times.h"
#include "code_log.h"
#include "library/heap_sort.h"
#include "other_thread.h"
#include "runtime.h"
#include "ticks.h"

/* A step costs a signal, from one to some ten microseconds. */
enum { MOST_STEPS = 512, STEPS_OF_A_FUNCTION = 4096, STEPS_OF_ALL = 16384, TRAP_FLAG = 0x100 };
enum { CODE_BYTES = 15 }; /* no instruction is longer */
enum { FEW = 16, SPARSE = 3, DENSE = 16, FAR = 8, LONG = 20000, LONG_IN_ALL = 10 * LONG, MOST_TIMED = 8192, SYMBOL_WORDS = 18 };
enum { MANY = HN_MANY_TIMED };
enum { CLOSE = 256, FINE = 1024 };
static const double instructions_a_nanosecond = 2;
/* A function that one object calls; twin.py makes the row, all zero but for the name. No name: through pointers. */
struct symbol {
  int64_t countdown;
  const char* name;
  uint64_t number;        /* from 1; 0: it has counters, or the program is not counted */
  uint64_t gap, next_gap; /* calls that the current sample stands for, and the next one */
  uint64_t calls;         /* up to the current sample */
  uint64_t stepped_calls, stepped_instructions, stepped_samples;
  struct hn_call_time* timed; /* MOST_TIMED of them, once there is one */
  uint64_t timed_samples;
  uint64_t given_up_samples, given_up_instructions;
  uint64_t steps;
  uintptr_t landed; /* where a call through a pointer went */
  uint32_t called_back_samples;
  uint16_t turn;
  uint8_t quick;       /* its last timed call was a short one */
  uint8_t warming;     /* the call that is timed does not count, the next one does */
  unsigned char* code; /* of the last call that was stepped to its end: CODE_BYTES of each instruction */
  uint64_t code_steps;
};
_Static_assert(sizeof(struct symbol) == SYMBOL_WORDS * 8, "as twin.py makes the rows");
extern struct symbol __start_homenode_symbols[] __attribute__((weak)), __stop_homenode_symbols[] __attribute__((weak));
extern const char __start_homenode_functions[] __attribute__((weak)), __stop_homenode_functions[] __attribute__((weak));
extern const char __executable_start[] __attribute__((weak)), etext[] __attribute__((weak));
extern const char __start_homenode_runtime[] __attribute__((weak)), __stop_homenode_runtime[] __attribute__((weak));

/* The sample that is being taken; one at a time. */
static struct {
  struct symbol* volatile symbol;
  uintptr_t sp, site;
  uint64_t begin, begin_ticks, counted;
  bool stepping;
  /* While stepping */
  bool entered, left_program, calls_back;
  uintptr_t entry_sp, own_sp, last;
  uint64_t steps, instructions;
  unsigned char code[MOST_STEPS][CODE_BYTES];
} sample;
char homenode_timing; /* a timed call has not returned */
static uint64_t clock_cost, ticks_cost, last_ticks, steps_left = STEPS_OF_ALL;
static uint64_t opened_at, opened_ticks; /* nanoseconds that pass, and the time-stamp counter, at one moment */
static bool open;
static struct sigaction former;

/* Without the C library, whose functions may use vector registers. */
HN_NO_VECTORS static long system_call(long number, long a, long b, long c, long d) {
  register long r10 __asm__("r10") = d;
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
  return result;
}
HN_NO_VECTORS static uint64_t nanoseconds_of(clockid_t clock) {
  struct timespec now = {0};
  system_call(SYS_clock_gettime, clock, (long)&now, 0, 0);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
HN_NO_VECTORS static uint64_t processor_time(void) { return nanoseconds_of(CLOCK_THREAD_CPUTIME_ID); }

static bool is_between(uintptr_t pc, const char* begin, const char* end) { return pc - (uintptr_t)begin < (uintptr_t)(end - begin); }
/* Without our own functions: a library's call of malloc, for one, stays the library's. */
static bool is_program(uintptr_t pc) {
  return is_between(pc, __executable_start, etext) && !is_between(pc, __start_homenode_runtime, __stop_homenode_runtime);
}
/* An entry of the procedure linkage table: (endbr64) (bnd) jmp *…(%rip). */
static bool is_linkage(uintptr_t pc) {
  const unsigned char* code = (const unsigned char*)pc;
  if (code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e && code[3] == 0xfa) code += 4;
  if (code[0] == 0xf2) ++code;
  return code[0] == 0xff && code[1] == 0x25;
}
static void keep_code(struct symbol* symbol) {
  if (!symbol->code) symbol->code = hn_pages(sizeof sample.code);
  if (!symbol->code) return;
  symbol->code_steps = sample.instructions;
  hn_copy(symbol->code, sample.code, sample.instructions * CODE_BYTES);
}
HN_NO_VECTORS static void keep_time(struct symbol* symbol, uint64_t nanoseconds) {
  if (!symbol->timed) symbol->timed = hn_pages(MOST_TIMED * sizeof *symbol->timed);
  if (!symbol->timed || symbol->timed_samples == MOST_TIMED) return;
  const bool beside_others = nanoseconds < LONG && hn_beside_others(); /* of a long one its end would say little */
  symbol->timed[symbol->timed_samples++] = (struct hn_call_time){symbol->gap, nanoseconds, beside_others};
  if (beside_others && symbol->timed_samples >= MANY) hn_wait_for_others();
}
static void end_steps(greg_t* registers, bool whole) {
  struct symbol* symbol = sample.symbol;
  registers[REG_EFL] &= ~(greg_t)TRAP_FLAG;
  symbol->steps += sample.steps;
  steps_left -= sample.steps < steps_left ? sample.steps : steps_left;
  if (whole) {
    symbol->stepped_calls += symbol->gap, ++symbol->stepped_samples;
    symbol->stepped_instructions += symbol->gap * sample.instructions;
    keep_code(symbol);
  } else {
    ++symbol->given_up_samples, symbol->given_up_instructions += sample.instructions;
  }
  sample.symbol = 0;
}
/* Whether the instruction that comes next belongs to what was called. */
static bool counts(uintptr_t pc, uintptr_t sp) {
  if (is_program(pc)) {
    if (!sample.left_program) return true; /* on the way out of it, or an object without counters */
    sample.calls_back = false, sample.own_sp = sp;
    return false;
  }
  sample.left_program = true;
  if (sample.own_sp && sp <= sample.own_sp) sample.calls_back = true; /* what is called back calls a library itself */
  sample.own_sp = 0;
  return !sample.calls_back;
}
static bool is_readable(uintptr_t address) {
  unsigned char vector;
  return mincore((void*)(address & -4096ul), 1, &vector) == 0;
}
static void step(int number, siginfo_t* info, void* context) {
  greg_t* registers = ((ucontext_t*)context)->uc_mcontext.gregs;
  if (info->si_code != TRAP_TRACE) { /* the program's own */
    sigaction(number, &former, 0);
    raise(number);
    return;
  }
  if (!sample.symbol || !sample.stepping) {
    registers[REG_EFL] &= ~(greg_t)TRAP_FLAG;
    return;
  }
  const uintptr_t pc = (uintptr_t)registers[REG_RIP], sp = (uintptr_t)registers[REG_RSP];
  if (!sample.entered) {
    if (pc == sample.site) return;
    sample.entered = true, sample.entry_sp = sp;
    if (!*sample.symbol->name && is_program(pc) && !is_linkage(pc)) {
      end_steps(registers, true); /* a pointer to a function with counters */
      return;
    }
  }
  if (sp > sample.entry_sp) { /* returned, or left by an exception or a jump */
    end_steps(registers, true);
    return;
  }
  const bool own = counts(pc, sp);
  /* A repeated string instruction traps each time round. The last page of a mapping has room for a longest instruction in all but
   * the rarest case, in which the call is given up. */
  if (own && pc != sample.last) {
    if ((pc & 4095) > 4096 - CODE_BYTES && !is_readable(pc + CODE_BYTES)) {
      end_steps(registers, false);
      return;
    }
    hn_copy(sample.code[sample.instructions++], (const void*)pc, CODE_BYTES);
  }
  if (own && sample.left_program && !sample.symbol->landed) sample.symbol->landed = pc;
  sample.last = pc;
  const unsigned char* code = (const unsigned char*)pc;
  if (++sample.steps >= 4 * MOST_STEPS || sample.instructions >= MOST_STEPS || (code[0] == 0x0f && code[1] == 0x05))
    end_steps(registers, false);
}

/* Whether the handler is there and the signal will come. */
HN_NO_VECTORS static bool can_step(void) {
  struct {
    void (*handler)(int, siginfo_t*, void*);
    unsigned long flags;
    void (*restorer)(void);
    unsigned long mask;
  } now = {0};
  unsigned long blocked = 0;
  system_call(SYS_rt_sigaction, SIGTRAP, 0, (long)&now, sizeof now.mask);
  system_call(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)&blocked, sizeof blocked);
  return now.handler == step && !(blocked & 1ul << (SIGTRAP - 1));
}
/* Up to an eighth more or less: where two places call a function in turn, a gap of always 256 would see one of them alone. */
HN_NO_VECTORS static uint64_t with_jitter(uint64_t gap, uint64_t sample) {
  return gap - gap / 8 + (sample * 0x9e3779b97f4a7c15u >> 40) % (gap / 4 + 1);
}
HN_NO_VECTORS static uint64_t gap_behind(const struct symbol* symbol) {
  const uint64_t parts = symbol->given_up_samples ? DENSE : SPARSE;
  const uint64_t gap = symbol->calls < 2 * parts ? 1 : symbol->calls / parts;
  const uint64_t most = symbol->calls < CLOSE * FINE ? CLOSE : symbol->calls / FINE;
  if (!symbol->given_up_samples || !symbol->quick) return gap;
  return with_jitter(gap < most ? gap : most, symbol->timed_samples);
}
HN_NO_VECTORS static void begin_timing(const struct symbol* symbol) {
  if (!symbol->quick) processor_time(); /* the kernel's code is in the caches behind it */
  if (!symbol->quick) sample.begin = processor_time();
  sample.begin_ticks = hn_ticks();
}
HN_NO_VECTORS static uint64_t timed_nanoseconds(const struct symbol* symbol, uint64_t ticks) {
  last_ticks = ticks;
  const uint64_t used = symbol->quick ? 0 : processor_time() - sample.begin;
  const uint64_t passed = nanoseconds_of(CLOCK_MONOTONIC) - opened_at, ticks_passed = hn_ticks() - opened_ticks;
  const uint64_t net = ticks > ticks_cost ? ticks - ticks_cost : 0, own = used > clock_cost ? used - clock_cost : 0;
  const uint64_t whole = (uint64_t)((unsigned __int128)net * passed / ticks_passed);
  return !symbol->quick && own < whole ? own : whole;
}
/* Takes a sample of the call that comes now. True: with the trap flag set from the return of this function on. */
HN_NO_VECTORS __attribute__((used)) static int hn_call(struct symbol* symbol, uintptr_t sp, uintptr_t site, int returns_here) {
  symbol->countdown = 0;
  if (!open) return 0;
  if (sample.symbol) {
    if (sp < sample.sp) return 0; /* called back */
    sample.symbol = 0;            /* it has left without a return */
  }
  const bool warm = symbol->warming;
  symbol->warming = false;
  if (!warm) {
    symbol->gap = symbol->next_gap ? symbol->next_gap : 1;
    symbol->calls += symbol->gap;
    symbol->next_gap = gap_behind(symbol);
  }
  symbol->countdown = (int64_t)symbol->next_gap - (warm ? 2 : 1);
  const bool pointer = !*symbol->name, early = symbol->calls < FEW && !pointer && (returns_here || symbol->calls > 1);
  /* Where some were given up, every other one is timed. */
  const bool worth =
      !warm && (symbol->given_up_samples == 0 || (symbol->given_up_samples <= symbol->stepped_samples && symbol->turn++ % 2));
  const bool steps = !early && worth && steps_left > 0 && symbol->steps < STEPS_OF_A_FUNCTION && can_step();
  const bool times = returns_here && !pointer && (symbol->given_up_samples || !symbol->stepped_samples);
  if (!steps && !times) return 0;
  sample.sp = sp, sample.site = site, sample.stepping = steps;
  sample.entered = sample.left_program = sample.calls_back = false;
  sample.own_sp = sample.last = 0;
  sample.steps = sample.instructions = 0;
  sample.symbol = symbol;
  if (steps) return 1;
  if (!warm && symbol->quick && symbol->next_gap > FAR) symbol->warming = true, symbol->countdown = 0;
  homenode_timing = 1;
  sample.counted = hn_counted_instructions();
  begin_timing(symbol);
  return 0;
}
HN_NO_VECTORS __attribute__((used)) static void hn_call_returned(uintptr_t sp) {
  const uint64_t ticks = hn_ticks() - sample.begin_ticks;
  struct symbol* symbol = sample.symbol;
  if (!symbol || sample.stepping || sp > sample.sp) { /* that one has left without a return */
    if (!symbol || !sample.stepping) sample.symbol = 0;
    homenode_timing = 0;
    return;
  }
  if (sp < sample.sp) return;
  const uint64_t took = timed_nanoseconds(symbol, ticks);
  symbol->quick = took < LONG && symbol->calls >= FEW;
  if (5 * (hn_counted_instructions() - sample.counted) > took) /* a tenth of two a nanosecond */
    ++symbol->called_back_samples;
  else if (!symbol->warming)
    keep_time(symbol, took);
  sample.symbol = 0;
  homenode_timing = 0;
}
/* Before a call stands `call homenode_call` (`homenode_jump` before a jump to a function) and the row's distance in four bytes. */
#define SAVE "push %rax; push %rcx; push %rdx; push %rsi; push %rdi; push %r8; push %r9; push %r10; push %r11; push %rbp; mov %rsp,%rbp;"
#define RESTORE "mov %rbp,%rsp; pop %rbp; pop %r11; pop %r10; pop %r9; pop %r8; pop %rdi; pop %rsi; pop %rdx; pop %rcx; pop %rax;"
#define HOOK(name, returns_here)                                                                                                        \
  __asm__(".text\n.globl " name "\n" name ":\n" SAVE                                                                                    \
          "mov 80(%rbp),%rdx; movslq (%rdx),%rdi; add %rdx,%rdi; add $4,%rdx; mov %rdx,80(%rbp); lea 88(%rbp),%rsi; mov $" returns_here \
          ",%ecx; and $-16,%rsp; call hn_call; test %eax,%eax;" RESTORE "jnz 1f; ret\n1: pushfq; orq $0x100,(%rsp); popfq; ret\n")
HOOK("homenode_call", "1");
HOOK("homenode_jump", "0");
__asm__(".text\n.globl homenode_returned\nhomenode_returned:\n" SAVE "lea 88(%rbp),%rdi; and $-16,%rsp; call hn_call_returned;" RESTORE
        "ret\n");

static int by_ticks(const void* a, const void* b, void* context) {
  (void)context;
  const uint64_t left = *(const uint64_t*)a, right = *(const uint64_t*)b;
  return (left > right) - (left < right);
}
/* What timing adds to a call: that of a function that does nothing is timed like the program's. */
HN_NO_VECTORS static uint64_t ticks_of_no_call(void) {
  enum { TIMES = 64, QUIET = 48 }; /* of these the fastest */
  static struct symbol nothing = {.name = "nothing", .quick = 1};
  static uint64_t ticks[TIMES];
  open = true;
  for (int i = 0; i < TIMES; ++i) {
    nothing.calls = nothing.next_gap = nothing.timed_samples = 0; /* the first call is timed, and waits for nobody */
    __asm__ volatile(
        "lea -128(%%rsp),%%rsp\n call homenode_call\n .long %c0-.\n call 2f\n cmpb $0,homenode_timing(%%rip)\n je 1f\n"
        "call homenode_returned\n jmp 1f\n 2: ret\n 1: lea 128(%%rsp),%%rsp"
        :
        : "i"(&nothing)
        : "memory", "cc");
    ticks[i] = last_ticks;
  }
  open = false;
  if (nothing.timed) munmap(nothing.timed, MOST_TIMED * sizeof *nothing.timed);
  hn_heap_sort(ticks, TIMES, sizeof *ticks, by_ticks, 0);
  uint64_t sum = 0;
  for (int i = 0; i < QUIET; ++i) sum += ticks[i];
  return sum / QUIET;
}

static int by_name(const void* a, const void* b) { return strcmp(*(const char* const*)a, *(const char* const*)b); }
static int in_order(const void* a, const void* b, void* context) {
  (void)context;
  return by_name(a, b);
}
/* The names of the functions with counters, sorted; null without memory. */
static const char** functions_with_counters(size_t* number) {
  *number = 0;
  for (const char* name = __start_homenode_functions; name < __stop_homenode_functions; name += strlen(name) + 1) ++*number;
  const char** names = hn_pages((*number + 1) * sizeof *names);
  if (!names) return 0;
  size_t n = 0;
  for (const char* name = __start_homenode_functions; name < __stop_homenode_functions; name += strlen(name) + 1) names[n++] = name;
  hn_heap_sort(names, *number, sizeof *names, in_order, 0);
  return names;
}
void hn_calls_close(void) { open = false; }
void hn_calls_open(int counting) {
  unsigned numbers = 0;
  size_t functions = 0;
  const char** names = counting ? functions_with_counters(&functions) : 0;
  for (struct symbol* s = __start_homenode_symbols; s < __stop_homenode_symbols; ++s) {
    if (names && !bsearch(&s->name, names, functions, sizeof *names, by_name))
      s->number = ++numbers;
    else
      s->countdown = INT64_MAX;
  }
  if (!names) return;
  munmap(names, (functions + 1) * sizeof *names);
  const struct sigaction action = {.sa_sigaction = step, .sa_flags = SA_SIGINFO};
  sigaction(SIGTRAP, &action, &former);
  clock_cost = UINT64_MAX;
  for (int i = 0; i < 8; ++i) {
    const uint64_t begin = processor_time(), cost = processor_time() - begin;
    if (cost < clock_cost) clock_cost = cost;
  }
  opened_at = nanoseconds_of(CLOCK_MONOTONIC), opened_ticks = hn_ticks();
  ticks_cost = ticks_of_no_call();
  open = true;
}
int hn_calls_number(const void* symbol) { return (int)((const struct symbol*)symbol)->number - 1; }

void hn_say_text(FILE* file, const char* key, const char* text) {
  fprintf(file, ", \"%s\": \"", key);
  for (; *text; ++text) {
    const unsigned char c = (unsigned char)*text;
    if (c >= 0x80) /* JSON is UTF-8, names need not be: bytes as characters */
      fprintf(file, "\\u%04x", c);
    else
      fputc(c == '"' || c == '\\' || c < ' ' ? '?' : c, file);
  }
  fputc('"', file);
}
/* The file that the function is in; empty: the program's own. */
static const char* library_of(const struct symbol* symbol) {
  void* at = *symbol->name ? dlsym(RTLD_NEXT, symbol->name) : (void*)symbol->landed;
  Dl_info found;
  if (!at || !dladdr(at, &found) || !found.dli_fname || found.dli_fbase == (const void*)__executable_start) return "";
  const char* slash = strrchr(found.dli_fname, '/');
  return slash ? slash + 1 : found.dli_fname;
}
/* Of each step its address is lost and its instruction's length unknown: the longest there is. */
static void say_code(FILE* file, const struct symbol* symbol) {
  if (!symbol->code) return;
  fprintf(file, ", \"code\": [");
  for (uint64_t i = 0; i < symbol->code_steps; ++i) {
    fprintf(file, "%s\"", i ? ", " : "");
    for (int b = 0; b < CODE_BYTES; ++b) fprintf(file, "%02x", symbol->code[i * CODE_BYTES + b]);
    fprintf(file, "\"");
  }
  fprintf(file, "]");
}
void hn_calls_say(FILE* file) {
  open = false;
  for (struct symbol* s = __start_homenode_symbols; s < __stop_homenode_symbols; ++s) {
    if (!s->number || !s->calls) continue;
    const char* basis = "none";
    double instructions = 0;
    uint64_t samples = 0;
    const double nanoseconds = hn_time_of_a_call(s->timed, s->timed_samples);
    if (s->stepped_calls && s->given_up_samples <= s->stepped_samples / 8)
      basis = "stepped", instructions = (double)s->stepped_instructions / (double)s->stepped_calls, samples = s->stepped_samples;
    else if (s->timed_samples && s->called_back_samples <= s->timed_samples / 8)
      basis = "timed", samples = s->timed_samples, instructions = instructions_a_nanosecond * nanoseconds;
    else if (s->given_up_samples)
      basis = "at_least", instructions = (double)s->given_up_instructions / (double)s->given_up_samples, samples = s->given_up_samples;
    fprintf(file, "{\"kind\": \"function\", \"ordinal\": %lu", (unsigned long)(s->number - 1));
    hn_say_text(file, "name", s->name);
    hn_say_text(file, "library", library_of(s));
    fprintf(file, ", \"instructions\": %.1f, \"basis\": \"%s\", \"samples\": %lu", instructions, basis, (unsigned long)samples);
    /* The first calls of a function bind it, fault in its pages and fill its buffers: few calls say nothing of the next one, unless
     * they take so long together that this is little beside it. */
    if (s->timed_samples && (s->calls >= FEW || nanoseconds * (double)s->calls >= LONG_IN_ALL))
      fprintf(file, ", \"nanoseconds\": %.2f", nanoseconds);
    say_code(file, s);
    fprintf(file, "}\n");
  }
}
