/* Touches each page of an area once, serially or by a team, under a memory policy; then says where the pages are.
 *
 * placement name=NAME pages=N touch=serial|team policy=default|bind:N|area-interleave|task-interleave:NODES [report=0]
 *
 * OMP_SCHEDULE decides which thread of a team touches which page. Prints "@@ pages NAME first=PAGE NODE*COUNT NODE*COUNT …": the number
 * of the area's first page, and the pages' nodes in order. Without report (when it is traced) neither policy nor nodes: the
 * replay is told the policy.
 */
#include "locate.h"

#include <sys/mman.h>

/* linux/mempolicy.h */
enum { POLICY_BIND = 2, POLICY_INTERLEAVE = 3, BITS = 65 };

UNTRACED static void need(long result, const char* call) {
  if (result == 0) return;
  perror(call);
  exit(1);
}

UNTRACED static void set_policy(const char* policy, char* area, int64_t bytes) {
  const char* colon = strchr(policy, ':');
  const long value = colon ? strtol(colon + 1, NULL, 10) : 0;
  const unsigned long one = 1UL << value, all = one - 1;
  if (strncmp(policy, "bind:", 5) == 0) {
    need(syscall(SYS_mbind, area, bytes, POLICY_BIND, &one, BITS, 0), "mbind");
  } else if (strncmp(policy, "area-interleave:", 16) == 0) {
    need(syscall(SYS_mbind, area, bytes, POLICY_INTERLEAVE, &all, BITS, 0), "mbind");
  } else if (strncmp(policy, "task-interleave:", 16) == 0) {
    need(syscall(SYS_set_mempolicy, POLICY_INTERLEAVE, &all, BITS), "set_mempolicy");
  } else if (strcmp(policy, "default") != 0) {
    fprintf(stderr, "placement: policy '%s'; allowed: default, bind:N, area-interleave:N, task-interleave:N\n", policy);
    exit(2);
  }
}

UNTRACED static void report(const char* name, char* area, int64_t pages) {
  int* nodes = malloc((size_t)pages * sizeof(int));
  if (!nodes) exit(1);
  locate(area, pages, nodes);
  printf("@@ pages %s first=%lld", name, (long long)((uintptr_t)area / PAGE));
  for (int64_t begin = 0, i = 1; i <= pages; ++i) {
    if (i < pages && nodes[i] == nodes[begin]) continue;
    printf(" %d*%lld", nodes[begin], (long long)(i - begin));
    begin = i;
  }
  printf("\n");
  free(nodes);
}

int main(int argc, char** argv) {
  const int64_t pages = number(argc, argv, "pages", "64");
  const int reports = (int)number(argc, argv, "report", "1");
  const int serial = strcmp(argument(argc, argv, "touch", "serial"), "serial") == 0;
  char* area = mmap(NULL, (size_t)pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (area == MAP_FAILED) {
    perror("mmap");
    return 1;
  }
  if (reports) set_policy(argument(argc, argv, "policy", "default"), area, pages * PAGE);
  HOMENODE_LABEL("touch");
  if (serial) {
    for (int64_t page = 0; page < pages; ++page) area[page * PAGE] = 1;
  } else {
#pragma omp parallel for schedule(runtime)
    for (int64_t page = 0; page < pages; ++page) area[page * PAGE] = 1;
  }
  if (reports) report(argument(argc, argv, "name", "unnamed"), area, pages);
  return 0;
}
