/* calls.c: in the twin, calls of code that has no counters. */
#ifndef HN_CALLS_H
#define HN_CALLS_H

#include <stdint.h>
#include <stdio.h>

/* Numbers the functions that are called and have no counters. Not counting: no call is looked at. */
void hn_calls_open(int counting);
/* From here on no call is looked at. */
void hn_calls_close(void);
/* The number of the function in this row of homenode_symbols; -1: it has counters. */
int hn_calls_number(const void* symbol);
/* A line of JSON for each that was called, by its number: what it is, how many instructions or how much time a call of it takes, and
 * the code of one call. */
void hn_calls_say(FILE*);
/* , "key": "text" */
void hn_say_text(FILE*, const char* key, const char* text);

#endif
