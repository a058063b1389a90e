/* kit collect: all results in one file of lines of JSON, the last of which tells how many lines there are and their CRC-32.
 *
 * kit collect -o FILE --planned N --folder RESULTS --manifest manifest.json
 *
 * RESULTS holds host.json (kit probe), machine.toml, and a file for each run (kit run); other files are left alone. The lines of the runs
 * are in the order of their files' names.
 */
#include "kit.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FILE = 16 << 20 };

/* CRC-32 of ISO 3309, as zlib has it. */
static uint32_t crc32_of(const char* data, size_t size) {
  uint32_t crc = 0xffffffffu;
  for (size_t i = 0; i < size; ++i) {
    crc ^= (unsigned char)data[i];
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
  }
  return ~crc;
}

static int is_run(const struct dirent* entry) {
  const size_t size = strlen(entry->d_name);
  return entry->d_name[0] == 'r' && entry->d_name[1] == '-' && size > 5 && strcmp(entry->d_name + size - 5, ".json") == 0;
}

/* A whole file that must be one line. */
static void add_line(struct text* all, const char* path) {
  struct text line = {0};
  if (!text_read(&line, path, MOST_FILE) || line.size < 2 || strchr(line.data, '\n') != line.data + line.size - 1)
    kit_stop(KIT_REFUSED, "%s is not one whole line; remove it and run again", path);
  text_add(all, line.data, line.size);
  free(line.data);
}

int collect(const struct words* words) {
  const char* folder = words_value(words, "--folder", NULL);
  char path[4096];
  struct text all = {0}, machine = {0};
  text_put(&all, "{\"kind\": \"kit\", \"schema\": \"homenode.kit/1\", \"planned\": %ld, \"manifest\": ",
           words_number(words, "--planned", 0, 0, 1000000));
  struct text manifest = {0};
  if (!text_read(&manifest, words_value(words, "--manifest", NULL), MOST_FILE) || manifest.size < 2)
    kit_stop(KIT_REFUSED, "the kit's manifest cannot be read");
  text_add(&all, manifest.data, strcspn(manifest.data, "\n"));
  text_put(&all, "}\n");
  size_t lines = 1;
  snprintf(path, sizeof path, "%s/host.json", folder);
  add_line(&all, path);
  snprintf(path, sizeof path, "%s/machine.toml", folder);
  if (!text_read(&machine, path, MOST_FILE)) kit_stop(KIT_REFUSED, "%s cannot be read", path);
  text_put(&all, "{\"kind\": \"machine\", \"toml\": ");
  text_quote(&all, machine.data, machine.size);
  text_put(&all, "}\n");
  lines += 2;
  struct dirent** entries = NULL;
  const int count = scandir(folder, &entries, is_run, alphasort);
  if (count < 0) kit_stop(KIT_REFUSED, "%s cannot be read", folder);
  for (int i = 0; i < count; ++i, ++lines) {
    snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
    add_line(&all, path);
  }
  const uint32_t crc = crc32_of(all.data, all.size);
  text_put(&all, "{\"kind\": \"end\", \"lines\": %zu, \"crc32\": \"%08x\"}\n", lines, (unsigned)crc);
  text_write(&all, words_value(words, "-o", NULL));
  return KIT_DONE;
}
