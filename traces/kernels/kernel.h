/* What every kernel of this folder shares: `name=value` parameters, region labels and region times.
 * Nothing here shows in a trace: these functions are not instrumented, and times are taken only when HOMENODE_TIMES=1.
 * Exit codes: 0 the self-check passed (or check=0), 1 it failed or memory ran out, 2 a wrong parameter.
 */
#ifndef HOMENODE_KERNEL_H
#define HOMENODE_KERNEL_H

#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* clock_gettime; so this header is included first */
#endif

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The marks of a traced program (traces/capture/runtime/homenode.h, put on the path by `homenode cc`); natively they do nothing. */
#ifdef __has_include
#if __has_include("homenode.h")
#include "homenode.h"
#define KERNEL_MARKS 1
#endif
#endif
#ifndef KERNEL_MARKS
#define HOMENODE_LABEL(text) ((void)0)
#define HOMENODE_STEP(number) ((void)(number))
#define homenode_streamable(address, bytes) ((void)(address), (void)(bytes))
#define HOMENODE_OWNER(address, rank) ((void)(address), (void)(rank))
#define HOMENODE_THREAD_TYPE(text) ((void)0)
#define HOMENODE_LOOP_BEGIN(iterations) ((void)(iterations))
#define HOMENODE_ITEM_BEGIN(iteration) ((void)(iteration))
#define HOMENODE_ITEM_END() ((void)0)
#define HOMENODE_LOOP_END() ((void)0)
#endif

#define KERNEL_UNTRACED __attribute__((noinline, unused, no_sanitize("thread")))
/* A loop body as a function: inlined at every optimisation level, so that its arguments never become memory accesses. */
#define KERNEL_INLINE __attribute__((always_inline)) inline

/* The same pointer, of which the compiler no longer knows the origin: what goes through it to an array on the stack is a memory
 * access, and recorded, wherever the array is that the compiler would otherwise treat as its own. */
KERNEL_INLINE static void* kernel_opaque(void* pointer) {
  __asm__ volatile("" : "+r"(pointer) : : "memory");
  return pointer;
}

/* One parameter: an integer in [low, high], or one of `words` (separated by |; the value is the word's index). */
struct kernel_parameter {
  const char* name;
  int64_t value, low, high;
  const char* words;
};

KERNEL_UNTRACED static void kernel_refuse(const char* kernel, const char* problem, const char* found,
                                          const struct kernel_parameter* parameter, const struct kernel_parameter* all, size_t count) {
  fprintf(stderr, "%s: %s '%s'", kernel, problem, found);
  if (parameter && parameter->words) {
    fprintf(stderr, ": '%s' is one of %s", parameter->name, parameter->words);
  } else if (parameter) {
    fprintf(stderr, ": '%s' is an integer from %lld to %lld", parameter->name, (long long)parameter->low, (long long)parameter->high);
  } else {
    fprintf(stderr, ": allowed are");
    for (size_t i = 0; i < count; ++i) fprintf(stderr, "%s %s", i ? "," : "", all[i].name);
    fprintf(stderr, " (as name=value or --name value)");
  }
  fprintf(stderr, "\n");
  exit(2);
}

KERNEL_UNTRACED static int kernel_word_index(const char* words, const char* text) {
  const size_t length = strlen(text);
  int index = 0;
  for (const char* word = words; word; ++index) {
    const char* end = strchr(word, '|');
    const size_t word_length = end ? (size_t)(end - word) : strlen(word);
    if (word_length == length && length > 0 && strncmp(word, text, length) == 0) return index;
    word = end ? end + 1 : NULL;
  }
  return -1;
}

/* Reads `name=value`, `--name=value` and `--name value` into the parameters; anything else ends the program with code 2. */
KERNEL_UNTRACED static void kernel_parameters(int argc, char** argv, const char* kernel, struct kernel_parameter* parameters,
                                              size_t count) {
  for (int i = 1; i < argc; ++i) {
    const char* text = argv[i];
    const int dashed = strncmp(text, "--", 2) == 0;
    if (dashed) text += 2;
    const char* equals = strchr(text, '=');
    const size_t length = equals ? (size_t)(equals - text) : strlen(text);
    struct kernel_parameter* parameter = NULL;
    for (size_t p = 0; p < count; ++p)
      if (strlen(parameters[p].name) == length && strncmp(parameters[p].name, text, length) == 0) parameter = &parameters[p];
    if (!parameter) kernel_refuse(kernel, "unknown parameter", argv[i], NULL, parameters, count);
    if (!equals && !(dashed && i + 1 < argc)) kernel_refuse(kernel, "no value in", argv[i], parameter, parameters, count);
    const char* value = equals ? equals + 1 : argv[++i];
    if (parameter->words) {
      parameter->value = kernel_word_index(parameter->words, value);
      if (parameter->value < 0) kernel_refuse(kernel, "wrong value in", argv[i], parameter, parameters, count);
    } else {
      char* end = NULL;
      const long long number = strtoll(value, &end, 10);
      if (end == value || *end != '\0' || number < parameter->low || number > parameter->high)
        kernel_refuse(kernel, "wrong value in", argv[i], parameter, parameters, count);
      parameter->value = number;
    }
  }
}

/* For a condition between parameters. */
KERNEL_UNTRACED static void kernel_require(int holds, const char* kernel, const char* rule) {
  if (holds) return;
  fprintf(stderr, "%s: %s\n", kernel, rule);
  exit(2);
}

/* Memory on a cache-line boundary, not yet touched. */
KERNEL_UNTRACED static void* kernel_allocate(const char* kernel, size_t count, size_t width) {
  void* memory = aligned_alloc(64, (count * width + 63) / 64 * 64);
  if (!memory) {
    fprintf(stderr, "%s: no memory for %zu elements of %zu bytes\n", kernel, count, width);
    exit(1);
  }
  return memory;
}

/* Seconds since some fixed point, or a negative number when times are not asked for. */
KERNEL_UNTRACED static double kernel_clock(void) {
  const char* asked = getenv("HOMENODE_TIMES");
  if (!asked || strcmp(asked, "1") != 0) return -1;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Labels the region that begins here; the value is for kernel_time. */
#define KERNEL_REGION(label) (HOMENODE_LABEL(label), kernel_clock())

/* Prints the time of one execution of a region: a line "region=LABEL time_seconds=S". */
KERNEL_UNTRACED static void kernel_time(const char* label, double begin) {
  if (begin >= 0) printf("region=%s time_seconds=%.9f\n", label, kernel_clock() - begin);
}

/* The verdict of the self-check, and the program's exit code. */
KERNEL_UNTRACED static int kernel_verdict(const char* kernel, int64_t wrong, const char* what) {
  if (wrong == 0) {
    printf("%s: self-check passed\n", kernel);
    return 0;
  }
  fprintf(stderr, "%s: self-check failed: %lld %s\n", kernel, (long long)wrong, what);
  return 1;
}

#endif
