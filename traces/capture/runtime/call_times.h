/* call_times.c: what a call of a function takes, from samples. */
#ifndef HN_CALL_TIMES_H
#define HN_CALL_TIMES_H

#include <stdbool.h>
#include <stdint.h>

struct hn_call_time {
  uint64_t calls, nanoseconds; /* that the sample stands for; of one call */
  bool beside_others;          /* other_thread.h, right behind it */
};
/* So many undisturbed samples may tell the time alone. */
enum { HN_MANY_TIMED = 64 };
/* Nanoseconds of a call, from so many samples, whose order changes; 0 without any. */
double hn_time_of_a_call(struct hn_call_time*, uint64_t number);

#endif
