/* Where the kernel put pages. Not traced: the look at them is no part of the program. */
#ifndef LOCATE_H
#define LOCATE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* so this header is included first */
#endif

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __has_include
#if __has_include("homenode.h")
#include "homenode.h"
#define LOCATE_MARKS 1
#endif
#endif
#ifndef LOCATE_MARKS
#define HOMENODE_LABEL(text) ((void)0)
#define HOMENODE_STEP(number) ((void)(number))
#define HOMENODE_OWNER(address, rank) ((void)(address), (void)(rank))
#endif

#define UNTRACED __attribute__((noinline, unused, no_sanitize("thread")))
enum { PAGE = 4096, PAGES_AT_ONCE = 256 };

/* The node of each of `count` pages from `first` on; a negative number where there is no page (move_pages(2)). */
UNTRACED static void locate(char* first, int64_t count, int* nodes) {
  void* addresses[PAGES_AT_ONCE];
  for (int64_t begin = 0; begin < count; begin += PAGES_AT_ONCE) {
    const int64_t some = count - begin < PAGES_AT_ONCE ? count - begin : PAGES_AT_ONCE;
    for (int64_t i = 0; i < some; ++i) addresses[i] = first + (begin + i) * PAGE;
    if (syscall(SYS_move_pages, 0, (unsigned long)some, addresses, NULL, nodes + begin, 0) != 0) {
      perror("move_pages");
      exit(1);
    }
  }
}

/* The value of argument `name=value`, or `otherwise`. */
UNTRACED static const char* argument(int argc, char** argv, const char* name, const char* otherwise) {
  const size_t length = strlen(name);
  for (int i = 1; i < argc; ++i)
    if (strncmp(argv[i], name, length) == 0 && argv[i][length] == '=') return argv[i] + length + 1;
  return otherwise;
}

UNTRACED static int64_t number(int argc, char** argv, const char* name, const char* otherwise) {
  return strtoll(argument(argc, argv, name, otherwise), NULL, 10);
}

#endif
