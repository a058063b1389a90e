/* Where the program's first stack begins. The kernel puts the environment above it, so its place within a line and a page would
 * depend on that; what the recorder finds by line, and the frames of functions that align their variables, would follow. The
 * program therefore starts further down, at a multiple of STEP, with copies of its arguments above its outermost frame.
 */
#include "runtime.h"

enum { STEP = 65536 };

typedef int program(int, char**, char**);
typedef void hook(void);
extern int __real___libc_start_main(program*, int, char**, hook*, hook*, hook*, void*);

static program* program_main;
static char** arguments;
/* Jumps to it: the program's frame lies where the C library's caller put this one. */
static int main_with_arguments(int count, char** originals, char** environment) {
  (void)originals;
  return program_main(count, arguments, environment);
}

static size_t bytes_of(const char* text) {
  size_t n = 1;
  while (text[n - 1]) ++n;
  return n;
}
static size_t bytes_of_all(int count, char** texts) {
  size_t n = ((size_t)count + 2) * sizeof *texts; /* a word between, and a null behind */
  for (int i = 0; i < count; ++i) n += bytes_of(texts[i]);
  return n;
}
/* The program's path comes last: its length moves nothing else. */
static void copy_arguments(int count, char** from) {
  char* text = (char*)(arguments + count + 1);
  for (int i = 1; i <= count; ++i) {
    const char* word = from[i % count];
    arguments[i % count] = text;
    hn_copy(text, word, bytes_of(word));
    text += bytes_of(word);
  }
  arguments[count] = 0;
}

/* The C library's caller passes its own stack pointer behind two words; so does this one. Nobody returns here: return
 * address 0 is where the unwinding of exceptions and backtraces ends. */
int __wrap___libc_start_main(program* main, int count, char** texts, hook* before, hook* after, hook* loader, void* end) {
  const uintptr_t room = (uintptr_t)__builtin_alloca(bytes_of_all(count, texts) + STEP);
  const uintptr_t begin = (room + STEP - 1) & -(uintptr_t)STEP;
  program_main = main;
  arguments = (char**)begin + 1;
  copy_arguments(count, texts);
  hn_stack_begins(begin);
  register hook* fifth __asm__("r8") = after;
  register hook* sixth __asm__("r9") = loader;
  __asm__ volatile(
      "mov %%rax, %%rsp\n\t"
      "push %%rax\n\t"
      "push %[end]\n\t"
      "push $0\n\t"
      "xor %%ebp, %%ebp\n\t"
      "jmp *%[start]"
      :
      : "a"(begin), [end] "r"(end), [start] "r"(&__real___libc_start_main), "D"(&main_with_arguments), "S"(count), "d"(texts), "c"(before),
        "r"(fifth), "r"(sixth)
      : "memory");
  __builtin_unreachable();
}
