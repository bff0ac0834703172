/* strings.c - what calls of libc's string functions are renamed to (`subject build`): what they read and write of
 * shared memory is told, one access to each range, loads come first.
 *
 * How far a string goes is known only when it is read, and others may go on before that: a string that has grown by
 * then is read again. Of two, the first is kept as it was read; the last is looked at before anybody else goes on. What
 * %s of the printf family reads is not seen. */
#include "sim/subject/touch.h"
#include <alloca.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Its length, at most `max`: as it is now, with the read done. A NULL of the subject's is its crash, in libc as ever.
 */
__attribute__((no_sanitize("undefined"))) static size_t read_to_end(const char *s, size_t max, const void *pc) {
  size_t was, is;
  do {
    was = strnlen(s, max);
    touch_range(s, MIN(was + 1, max), MEM_READ, pc);
    is = strnlen(s, max);
  } while (is > was);
  return is;
}

/* KEEP(s, max): s as it is now, its end included, on this stack, which goes back with the process. What is not shared
 * nobody changes. */
static size_t kept_bytes(const char *s, size_t max, const void *pc) {
  enum { KEPT_MOST = 16384 };
  if (!subject_is_searched() || (uintptr_t)s - hooks.base >= hooks.size) return 0;
  size_t bytes = MIN(strnlen(s, max) + 1, max);
  if (bytes > KEPT_MOST)
    subject_broken(pc, "a string of %zu bytes in shared memory; at most %d are modelled", bytes, KEPT_MOST);
  return bytes;
}
#define KEEP(s, max)                                                                                                   \
  read_to_end(s, max, PC);                                                                                             \
  size_t kept = kept_bytes(s, max, PC);                                                                                \
  if (kept) s = memcpy(alloca(kept), s, kept)

#define WHOLE (SIZE_MAX / 2)
/* STRING(type, name, parameters) { ... }: declares stm_name, which code calls, with `pc` of the call. */
#define STRING(type, name, ...)                                                                                        \
  type stm_##name(__VA_ARGS__);                                                                                        \
  type stm_##name(__VA_ARGS__)

/* ---- that look at one ---- */

STRING(size_t, strlen, const char *s) {
  return read_to_end(s, WHOLE, PC);
}
STRING(size_t, strnlen, const char *s, size_t max) {
  return read_to_end(s, max, PC);
}
STRING(char *, strchr, const char *s, int c) {
  read_to_end(s, WHOLE, PC);
  return strchr(s, c);
}
STRING(char *, strrchr, const char *s, int c) {
  read_to_end(s, WHOLE, PC);
  return strrchr(s, c);
}
STRING(void *, memchr, const void *at, int c, size_t bytes) {
  touch_range(at, bytes, MEM_READ, PC);
  return memchr(at, c, bytes);
}
STRING(long, strtol, const char *s, char **end, int base) {
  read_to_end(s, WHOLE, PC);
  return strtol(s, end, base);
}
STRING(unsigned long, strtoul, const char *s, char **end, int base) {
  read_to_end(s, WHOLE, PC);
  return strtoul(s, end, base);
}

/* ---- at two ---- */

STRING(int, strcmp, const char *a, const char *b) {
  KEEP(a, WHOLE);
  read_to_end(b, WHOLE, PC);
  return strcmp(a, b);
}
STRING(int, strncmp, const char *a, const char *b, size_t max) {
  KEEP(a, max);
  read_to_end(b, max, PC);
  return strncmp(a, b, max);
}
STRING(size_t, strspn, const char *s, const char *set) {
  KEEP(s, WHOLE);
  read_to_end(set, WHOLE, PC);
  return strspn(s, set);
}
STRING(size_t, strcspn, const char *s, const char *set) {
  KEEP(s, WHOLE);
  read_to_end(set, WHOLE, PC);
  return strcspn(s, set);
}
STRING(char *, strstr, const char *s, const char *part) {
  const char *at = s;
  KEEP(s, WHOLE);
  read_to_end(part, WHOLE, PC);
  const char *found = strstr(s, part);
  return found ? (char *)at + (found - s) : NULL;
}

/* ---- that write ---- */

STRING(char *, strcpy, char *to, const char *from) {
  KEEP(from, WHOLE);
  size_t bytes = strlen(from) + 1;
  touch_range(to, bytes, MEM_WRITE, PC);
  memmove(to, from, bytes);
  return to;
}
STRING(char *, strncpy, char *to, const char *from, size_t bytes) {
  KEEP(from, bytes);
  touch_range(to, bytes, MEM_WRITE, PC);
  size_t length = strnlen(from, bytes);
  memmove(to, from, length);
  memset(to + length, 0, bytes - length);
  return to;
}
STRING(char *, strcat, char *to, const char *from) {
  char *end = to + read_to_end(to, WHOLE, PC);
  KEEP(from, WHOLE);
  size_t bytes = strlen(from) + 1;
  touch_range(end, bytes, MEM_WRITE, PC);
  memmove(end, from, bytes);
  return to;
}

static int print(char *to, size_t room, const char *format, va_list arguments, const void *pc) {
  va_list again;
  va_copy(again, arguments);
  int length = vsnprintf(NULL, 0, format, again);
  va_end(again);
  if (length >= 0 && room) touch_range(to, MIN((size_t)length + 1, room), MEM_WRITE, pc);
  return vsnprintf(to, room, format, arguments);
}
STRING(int, vsnprintf, char *to, size_t room, const char *format, va_list arguments) {
  return print(to, room, format, arguments, PC);
}
STRING(int, snprintf, char *to, size_t room, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = print(to, room, format, arguments, PC);
  va_end(arguments);
  return length;
}
STRING(int, sprintf, char *to, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = print(to, INT_MAX, format, arguments, PC);
  va_end(arguments);
  return length;
}

/* It would move what nobody sees moving. Entries found by bsearch are loaded by the code's own comparison. */
STRING(void, qsort, void *at, size_t n, size_t size, int (*compare)(const void *, const void *)) {
  if ((uintptr_t)at - hooks.base < hooks.size) subject_broken(PC, "qsort of shared memory, which is not modelled");
  qsort(at, n, size, compare);
}
