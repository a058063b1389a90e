/* For a wheel, where hwloc's archive is linked into a shared library (HOMENODE_PORTABLE in cmake/homenode_libraries.cmake).

   Variables of the C library: the archive was compiled for programs and reaches them by a distance that no other library's variable has.
   The linker gives it these instead (-Wl,--wrap=NAME). */
#include <stdio.h>

extern FILE *__real_stdout, *__real_stderr;
extern char* __real_program_invocation_name;
__attribute__((visibility("hidden"))) FILE *__wrap_stdout, *__wrap_stderr;
__attribute__((visibility("hidden"))) char* __wrap_program_invocation_name;
__attribute__((constructor)) static void same_values(void) {
  __wrap_stdout = __real_stdout;
  __wrap_stderr = __real_stderr;
  __wrap_program_invocation_name = __real_program_invocation_name;
}
