/* set_mempolicy(2) without libnuma. */
#include "kit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
  POLICY_DEFAULT = 0,
  POLICY_BIND = 2,
  POLICY_INTERLEAVE = 3,
  MOST_NODES = 1024,
  BITS = 8 * sizeof(unsigned long)
}; /* linux/mempolicy.h */

int set_placement(const char* placement, const unsigned* nodes, size_t count) {
  unsigned long mask[MOST_NODES / BITS] = {0};
  int policy = POLICY_DEFAULT;
  for (size_t i = 0; i < count; ++i)
    if (nodes[i] >= MOST_NODES) return EINVAL;
  if (strncmp(placement, "bind:", 5) == 0) {
    char* end = NULL;
    const unsigned long at = strtoul(placement + 5, &end, 10);
    if (end == placement + 5 || *end != '\0' || at >= count) return EINVAL;
    policy = POLICY_BIND;
    mask[nodes[at] / BITS] |= 1UL << nodes[at] % BITS;
  } else if (strcmp(placement, "interleave") == 0) {
    policy = POLICY_INTERLEAVE;
    for (size_t i = 0; i < count; ++i) mask[nodes[i] / BITS] |= 1UL << nodes[i] % BITS;
  } else if (strcmp(placement, "first-touch") != 0) {
    return EINVAL;
  }
  const int all = policy == POLICY_DEFAULT;
  return syscall(SYS_set_mempolicy, policy, all ? NULL : mask, all ? 0UL : (unsigned long)MOST_NODES + 1) == 0 ? 0 : errno;
}
