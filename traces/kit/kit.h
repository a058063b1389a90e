/* What the parts of `kit` share: the program of a kit that looks at a host, runs one program under one choice, and puts all results into
 * one file. It is linked statically, and needs neither root nor a shell's tools. Every file is written to a new name and renamed.
 * Exit codes: 0 done, 1 the system refused something, 2 the words are at fault, 3 no time is left.
 */
#ifndef KIT_H
#define KIT_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* so this header is included first */
#endif

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { KIT_DONE = 0, KIT_REFUSED = 1, KIT_WORDS = 2, KIT_NO_TIME = 3 };

/* Ends the program with code 2 or 1 and one line. */
_Noreturn void kit_stop(int code, const char* format, ...) __attribute__((format(printf, 2, 3)));

/* A text that grows. */
struct text {
  char* data;
  size_t size, room;
};
void text_add(struct text*, const char* data, size_t size);
void text_put(struct text*, const char* format, ...) __attribute__((format(printf, 2, 3)));
/* As a string of JSON; bytes that are no ASCII become '?', so that the line is UTF-8 whatever a system calls its parts. */
void text_quote(struct text*, const char* data, size_t size);
/* A file's content; 0 if it cannot be read. At most `most` bytes. */
int text_read(struct text*, const char* path, size_t most);
/* To PATH.part, then renamed. Ends the program where that fails. */
void text_write(const struct text*, const char* path);

/* The value of `--name value` among the words up to "--", or `otherwise`; a flag has no value. `--` ends the words. */
struct words {
  int count;
  char** word;
};
const char* words_value(const struct words*, const char* name, const char* otherwise);
long words_number(const struct words*, const char* name, long otherwise, long least, long most);
/* Numbers separated by commas or blanks; how many. */
size_t numbers_of(const char* text, unsigned* numbers, size_t most);

/* The calling thread's memory policy, and with it that of the programs it becomes: "first-touch", "interleave" over `nodes`, or "bind:K" on
 * nodes[K]. 0, or the error's number; EINVAL for another word. */
int set_placement(const char* placement, const unsigned* nodes, size_t count);

/* Hardware and software counters of a process that is to begin, with all its threads. */
enum { KIT_COUNTERS = 9 };
struct counters {
  int file[KIT_COUNTERS];    /* -1: not readable */
  int refused[KIT_COUNTERS]; /* the error's number */
};
const char* counter_name(int);
void counters_open(struct counters*, int process);
/* Counted since; scaled where the system shared a counter. Closes. Adds {"name": count, ...} of those that can be read. */
void counters_read(struct counters*, struct text*);

int probe(const struct words*);   /* probe.c */
int run(const struct words*);     /* run.c */
int collect(const struct words*); /* collect.c */

#endif
