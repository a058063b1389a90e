/* code_log.c: in the twin, which basic blocks ran, in their order.
 *
 * Each block begins with a few instructions (bindings/python/homenode/compiler/twin.py) that write the address of its descriptor to
 * a buffer; when the buffer is full, it is read. So counts, predicted branches and windows of the block sequence come from one place,
 * and depend on nothing but what the program did.
 */
#ifndef HN_CODE_LOG_H
#define HN_CODE_LOG_H

#include <stdbool.h>
#include <stdint.h>

/* Keeps to general registers, for it runs where vector registers hold a program's arguments and results. */
#define HN_NO_VECTORS __attribute__((target("general-regs-only")))

/* How a block ends. */
enum { HN_FALLS_THROUGH, HN_CONDITIONAL, HN_JUMP, HN_INDIRECT_JUMP, HN_CALL, HN_INDIRECT_CALL, HN_RETURN };
enum { HN_CLASSES = 10 };

/* What of a block changes. The twin's cells lie one behind the other, the blocks of one object in the order of its code. */
struct hn_cell {
  uint64_t count;             /* executions since they were last taken */
  uint64_t executions;        /* in all */
  const struct hn_code* code; /* 0 before the first execution */
  uint32_t wrong;             /* mispredictions since they were last taken */
  uint16_t instructions;
  uint8_t kind, listed;
};
_Static_assert(sizeof(struct hn_cell) == 32, "as twin.py makes the cells");
/* A block's descriptor stands in the code before it. */
struct hn_code {
  int32_t cell;  /* from here */
  int32_t begin; /* of its instructions, from here */
  int32_t bytes;
};
/* What of a block is constant; in the order of the cells. */
struct hn_facts {
  uint16_t mix[HN_CLASSES];
  uint32_t line;  /* of the source; 0: not known */
  int32_t file;   /* its name, from here; 0: not known */
  int32_t called; /* the row in homenode_symbols of the function that it calls at its end, from here; 0: none */
};
_Static_assert(sizeof(struct hn_facts) == 32, "as twin.py makes the facts");
/* From this instruction of a block on the code is of another line than the one before. Objects of older versions have none. */
struct hn_place {
  int32_t cell; /* the block's, from here */
  uint32_t instruction, line;
  int32_t file; /* its name, from here; 0: not known */
};
extern const struct hn_place __start_homenode_places[] __attribute__((weak)), __stop_homenode_places[] __attribute__((weak));
extern struct hn_cell __start_homenode_cells[] __attribute__((weak)), __stop_homenode_cells[] __attribute__((weak));
extern const struct hn_facts __start_homenode_facts[] __attribute__((weak));

/* Reads what was written to the buffer. */
void hn_log_read(void);
/* Calls `take` for each block that ran since the last call, and forgets its counts. */
void hn_log_take(void (*take)(void*, uint32_t block, uint64_t count, uint32_t wrong), void*);
/* Instructions of all blocks that ran. */
HN_NO_VECTORS uint64_t hn_counted_instructions(void);
static inline uint32_t hn_blocks(void) { return (uint32_t)(__stop_homenode_cells - __start_homenode_cells); }

#endif
