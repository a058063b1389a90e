/* code_windows.c: stretches of the block sequence, kept for a core model that runs them. */
#ifndef HN_CODE_WINDOWS_H
#define HN_CODE_WINDOWS_H

#include <stdint.h>
#include <stdio.h>

/* The blocks from here on belong to a window of this block, which has run so often. */
void hn_window_begin(uint32_t block, uint64_t executions);
/* A block ran so many times in a row. */
void hn_window_add(uint32_t block, uint32_t instructions, uint64_t times);
/* A line of JSON for each window that is needed so that nearly all of the instructions are in one. */
void hn_windows_say(FILE*);

/* work.c: zeroed memory of the runtime's own; 0 without memory. */
void* hn_pages(size_t bytes);

#endif
