/* kit probe|run|collect|until|name: the words of each stand in its own file. */
#include "kit.h"

#include <errno.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

enum { MOST_NAME = 63 };

/* Prints the host's name, with '-' for what no name of a machine may have; "host" if it has none. */
static int name(void) {
  struct utsname system;
  if (uname(&system) != 0) kit_stop(KIT_REFUSED, "uname: %s", strerror(errno));
  system.nodename[MOST_NAME] = '\0';
  for (char* c = system.nodename; *c != '\0'; ++c) {
    const int plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') || *c == '.' || *c == '_';
    if (!plain) *c = '-';
  }
  const int usable = system.nodename[0] != '\0' && system.nodename[0] != '.' && system.nodename[0] != '-';
  puts(usable ? system.nodename : "host");
  return KIT_DONE;
}

int main(int count, char** word) {
  const struct words words = {count > 2 ? count - 2 : 0, word + 2};
  const char* task = count > 1 ? word[1] : "";
  if (strcmp(task, "probe") == 0) return probe(&words);
  if (strcmp(task, "run") == 0) return run(&words);
  if (strcmp(task, "collect") == 0) return collect(&words);
  if (strcmp(task, "name") == 0) return name();
  if (strcmp(task, "until") == 0) { /* the second in which so many minutes are over, for `kit run --until` */
    printf("%lld\n", (long long)time(NULL) + 60 * words_number(&words, "--minutes", 60, 1, 100000));
    return KIT_DONE;
  }
  kit_stop(KIT_WORDS, "found '%s'; allowed: probe, run, collect, until, name", task);
}
