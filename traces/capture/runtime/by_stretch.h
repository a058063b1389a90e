/* by_stretch.c: what the twin and the timed program have in common, who both tell something of each stretch of the program and of each
 * created thread.
 */
#ifndef HN_BY_STRETCH_H
#define HN_BY_STRETCH_H

#include <stdbool.h>
#include <stddef.h>

/* Opens what a variable of the environment names as hn_descriptor; false where it names nothing. Ends the program if it cannot. */
bool hn_tell_to(const char* variable);

/* What is told last, by work.c or times.c; once. at_once.c calls it where the program leaves by _exit, behind hn_tell_before_exit. */
void hn_finish_counts(void);
void hn_tell_before_exit(void);

/* Rows by number, zeroed. */
struct hn_rows {
  char* rows;
  unsigned number, room;
};
/* The row of this number, of so many bytes as all; those before it exist, too. */
void* hn_row(struct hn_rows*, unsigned number, size_t bytes);

#endif
