/* Texts, JSON strings, words of the command line, files that are written whole. */
#include "kit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void kit_stop(int code, const char* format, ...) {
  va_list values;
  va_start(values, format);
  fputs("kit: ", stderr);
  vfprintf(stderr, format, values);
  fputc('\n', stderr);
  va_end(values);
  exit(code);
}

void text_add(struct text* text, const char* data, size_t size) {
  if (text->size + size + 1 > text->room) {
    text->room = 2 * (text->size + size) + 256;
    text->data = realloc(text->data, text->room);
    if (!text->data) kit_stop(KIT_REFUSED, "no memory for %zu bytes", text->room);
  }
  if (size > 0) memcpy(text->data + text->size, data, size);
  text->size += size;
  text->data[text->size] = '\0';
}

void text_put(struct text* text, const char* format, ...) {
  char line[512];
  va_list values;
  va_start(values, format);
  const int size = vsnprintf(line, sizeof line, format, values);
  va_end(values);
  if (size < 0 || (size_t)size >= sizeof line) kit_stop(KIT_REFUSED, "a line of %d bytes is too long", size);
  text_add(text, line, (size_t)size);
}

void text_quote(struct text* text, const char* data, size_t size) {
  text_add(text, "\"", 1);
  for (size_t i = 0; i < size; ++i) {
    const unsigned char c = (unsigned char)data[i];
    if (c == '"' || c == '\\') {
      text_put(text, "\\%c", c);
    } else if (c == '\n') {
      text_add(text, "\\n", 2);
    } else if (c == '\t') {
      text_add(text, "\\t", 2);
    } else {
      text_put(text, "%c", c < 0x20 || c > 0x7e ? '?' : c);
    }
  }
  text_add(text, "\"", 1);
}

int text_read(struct text* text, const char* path, size_t most) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char block[4096];
  ssize_t size = 0;
  while (text->size < most && (size = read(file, block, sizeof block)) > 0) text_add(text, block, (size_t)size);
  close(file);
  if (!text->data) text_add(text, "", 0);
  return size >= 0;
}

void text_write(const struct text* text, const char* path) {
  char part[4096];
  if (snprintf(part, sizeof part, "%s.part", path) >= (int)sizeof part) kit_stop(KIT_WORDS, "a path of more than 4000 bytes");
  const int file = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) kit_stop(KIT_REFUSED, "cannot write %s: %s", part, strerror(errno));
  for (size_t at = 0; at < text->size;) {
    const ssize_t size = write(file, text->data + at, text->size - at);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) kit_stop(KIT_REFUSED, "cannot write %s: %s", part, strerror(errno));
    at += (size_t)size;
  }
  if (fsync(file) != 0 || close(file) != 0 || rename(part, path) != 0) kit_stop(KIT_REFUSED, "cannot write %s: %s", path, strerror(errno));
}

const char* words_value(const struct words* words, const char* name, const char* otherwise) {
  for (int i = 0; i < words->count && strcmp(words->word[i], "--") != 0; ++i)
    if (strcmp(words->word[i], name) == 0 && i + 1 < words->count) return words->word[i + 1];
  if (!otherwise) kit_stop(KIT_WORDS, "%s is missing", name);
  return otherwise;
}

long words_number(const struct words* words, const char* name, long otherwise, long least, long most) {
  const char* text = words_value(words, name, "");
  if (*text == '\0') return otherwise;
  char* end = NULL;
  const long value = strtol(text, &end, 10);
  if (*end != '\0' || value < least || value > most)
    kit_stop(KIT_WORDS, "found '%s %s'; allowed: a number from %ld to %ld", name, text, least, most);
  return value;
}

size_t numbers_of(const char* text, unsigned* numbers, size_t most) {
  size_t count = 0;
  while (*text != '\0' && count < most) {
    char* end = NULL;
    const unsigned long value = strtoul(text, &end, 10);
    if (end == text) {
      ++text;
      continue;
    }
    numbers[count++] = (unsigned)value;
    text = end;
  }
  return count;
}
