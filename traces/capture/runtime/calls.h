/* calls.c: in the twin, calls of code that has no counters. */
#ifndef HN_CALLS_H
#define HN_CALLS_H

#include <stdint.h>
#include <stdio.h>

/* Keeps to general registers, for it runs where vector registers hold a program's arguments and results. */
#define HN_NO_VECTORS __attribute__((target("general-regs-only")))

/* Numbers the functions that are called and have no counters; returns how many there are. Not counting: no call is looked at. */
unsigned hn_calls_open(int counting);
/* Adds to each number how often it was called so far. */
void hn_calls_add(uint64_t* sum);
/* A line of JSON for each that was called, by its number: what it is and how many instructions a call of it takes. */
void hn_calls_say(FILE*);

/* work.c: instructions that code with counters has executed; `visited` grows by the counters that were read. */
HN_NO_VECTORS uint64_t hn_counted_instructions(uint64_t* visited);

#endif
