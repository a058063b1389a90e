#define _GNU_SOURCE
#include "by_stretch.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "runtime.h"

bool hn_tell_to(const char* variable) {
  const char* path = getenv(variable);
  if (!path || !*path) return false;
  const int opened = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (opened >= 0) hn_descriptor = hn_out_of_the_way(opened);
  if (hn_descriptor >= 0) return true;
  perror(path);
  exit(1);
}
void* hn_row(struct hn_rows* table, unsigned number, size_t bytes) {
  if (number >= table->room) {
    const unsigned room = table->room ? (number / table->room + 1) * table->room : 256;
    char* larger = hn_pages(room * bytes);
    if (!larger) abort();
    hn_copy(larger, table->rows, table->number * bytes);
    if (table->rows) munmap(table->rows, table->room * bytes);
    table->rows = larger, table->room = room;
  }
  if (number >= table->number) table->number = number + 1;
  return table->rows + number * bytes;
}
