/* branch_predictor.c: a branch predictor of moderate size, as it would run beside the program. */
#ifndef HN_BRANCH_PREDICTOR_H
#define HN_BRANCH_PREDICTOR_H

#include <stdbool.h>
#include <stdint.h>

/* How many of `times` executions of this conditional jump in a row, all with this outcome, are predicted wrong. */
uint32_t hn_mispredictions(uint32_t jump, bool taken, uint64_t times);
/* How many of `times` executions of this indirect jump or call in a row, all to this target, are predicted wrong. */
uint32_t hn_mispredicted_targets(uint32_t jump, uint32_t target, uint64_t times);

#endif
