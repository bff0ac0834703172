/* json_guard.h - is this line strict JSON (RFC 8259), flat enough, and free of what json-glib 1.6 gets wrong?
 *
 * json-glib reads more than JSON and fails badly on hostile input: it recurses on nesting until the stack is gone,
 * takes 99999999999999999999 for -1, 007 for 7 and 'a' for "a", skips comments and what follows the document, hands out
 * half surrogates as broken UTF-8, ends a string at \u0000 and forgets the first of two members of one name. A trace is
 * evidence, so a line passes here before json-glib sees it. */
#pragma once
#include <glib.h>
#include <stdbool.h>

#define JSON_GUARD_DEPTH 8 /* a trace needs 4 */

typedef enum { JSON_GUARD_SIGNED, JSON_GUARD_UNSIGNED } JsonGuardInts; /* whole numbers fit int64, or uint64 */

/* NULL: it is one JSON object, and *members the number of members in it and in all objects within, doubles included
 * (json-glib's tree has less when a name came twice). Else what is wrong, as "byte N: ..."; g_free. Pairing of
 * brackets and commas is left to json-glib, which does that right. */
char *json_guard(const char *line, gsize length, JsonGuardInts ints, guint *members);
