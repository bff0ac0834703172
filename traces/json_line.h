/* json_line.h - one line of strict JSON (RFC 8259) as an array of values.
 *
 * By hand, and not by json-glib, for two reasons. A trace is evidence, and json-glib 1.6 takes 99999999999999999999 for
 * -1, 007 for 7 and 'a' for "a", skips comments and what follows the document, hands out half surrogates as broken
 * UTF-8, ends a string at \u0000, forgets the first of two members of one name, and recurses until the stack is gone.
 * And it takes 13 us for a step of a trace that this reads in one; replay and diff read millions. */
#pragma once
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define JSON_LINE_DEPTH 8 /* of nesting; a trace needs 4 */

typedef enum { JSON_OBJECT, JSON_ARRAY, JSON_STRING, JSON_INT, JSON_DOUBLE, JSON_TRUE, JSON_FALSE, JSON_NULL } JsonKind;

/* Values stand in the order of the line, each before what is in it. */
typedef struct {
  JsonKind kind;
  guint n;          /* members of an object, elements of an array */
  guint next;       /* index of the first value after it and all that is in it */
  const char *name; /* of a member; else NULL */
  union {
    const char *text;
    int64_t integer; /* with JSON_UNSIGNED: the bits of a uint64_t */
    double number;   /* finite */
  };
} JsonValue;

typedef enum { JSON_SIGNED, JSON_UNSIGNED } JsonInts; /* whole numbers fit int64_t, or uint64_t */

/* NULL: the line is one object, values (a GArray of JsonValue) is filled, element 0 is the object; its strings are made
 * in place in the line, which is changed and must outlive them. Else what is wrong, as "byte N: ..."; g_free.
 * line[length] is NUL. */
char *json_line_parse(char *line, gsize length, JsonInts ints, GArray *values);
