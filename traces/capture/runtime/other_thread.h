/* other_thread.c: whether others have work on the second hardware thread of this core. Code that fills the front end takes up to twice
 * as long then (docs/decisions/0067). */
#ifndef HN_OTHER_THREAD_H
#define HN_OTHER_THREAD_H

#include <stdbool.h>

/* Takes a third of a microsecond. Never on a core that this cannot be told of. */
bool hn_beside_others(void);
/* Sleeps until nobody is there, but no longer than what is left of about a second for the whole run. */
void hn_wait_for_others(void);

#endif
