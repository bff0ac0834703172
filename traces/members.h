/* members.h - a JSON object into a C struct, by a table; for the reader of traces only. */
#pragma once
#include "traces/json_line.h"
#include "traces/trace.h"

typedef enum {
  MEMBER_INT,    /* int64_t */
  MEMBER_COUNT,  /* int64_t, not negative */
  MEMBER_TEXT,   /* const char *, in the line */
  MEMBER_TRUE,   /* bool; only true is written */
  MEMBER_HASH,   /* Hash128; the bool at `flag` says that it was there */
  MEMBER_OBJECT, /* guint: its index among the values; 0: absent, as 0 is the line's own object */
  MEMBER_ARRAY,  /* the same */
  MEMBER_VALUE   /* the same, of any kind */
} MemberKind;

typedef struct {
  const char *name; /* NULL ends the table */
  MemberKind kind;
  bool required;
  gsize offset, flag; /* in the struct */
} Member;

/* NULL: *into is filled; what an absent member means was there before. Else what is wrong: a member missing, of a
 * wrong type, or not in the table; g_free. */
char *members_read(const GArray *values, guint object, const Member *table, void *into);
