#include "call_times.h"

#include "library/heap_sort.h"

/* A sample counts for no more than this many times what a quarter of the calls exceeds: beside other work, a call just after another
 * program's turn finds nothing in the caches, and one such sample would stand for a sixteenth of all calls. */
static const double most_over_quartile = 16;
/* Undisturbed samples tell the time alone if they stand for this part of the calls at least, and are many: few calls may be unlike. */
enum { PART = 4 };

static int by_time(const void* a, const void* b, void* context) {
  (void)context;
  const uint64_t left = ((const struct hn_call_time*)a)->nanoseconds, right = ((const struct hn_call_time*)b)->nanoseconds;
  return (left > right) - (left < right);
}
static uint64_t calls_of(const struct hn_call_time* samples, uint64_t number) {
  uint64_t calls = 0;
  for (uint64_t i = 0; i < number; ++i) calls += samples[i].calls;
  return calls;
}
/* Puts these in front, and returns their number. */
static uint64_t undisturbed(struct hn_call_time* samples, uint64_t number) {
  uint64_t front = 0;
  for (uint64_t i = 0; i < number; ++i) {
    if (samples[i].beside_others) continue;
    const struct hn_call_time sample = samples[front];
    samples[front++] = samples[i];
    samples[i] = sample;
  }
  return front;
}
double hn_time_of_a_call(struct hn_call_time* samples, uint64_t number) {
  const uint64_t alone = undisturbed(samples, number);
  if (alone >= HN_MANY_TIMED && PART * calls_of(samples, alone) >= calls_of(samples, number)) number = alone;
  const uint64_t calls = calls_of(samples, number);
  if (calls == 0) return 0;
  hn_heap_sort(samples, number, sizeof *samples, by_time, 0);
  uint64_t below = 0, quartile = 0;
  while (4 * (below += samples[quartile].calls) < 3 * calls) ++quartile;
  const double most = most_over_quartile * (double)samples[quartile].nanoseconds;
  double sum = 0;
  for (uint64_t i = 0; i < number; ++i) {
    const double nanoseconds = (double)samples[i].nanoseconds;
    sum += (double)samples[i].calls * (nanoseconds < most ? nanoseconds : most);
  }
  return sum / (double)calls;
}
