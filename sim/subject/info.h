/* info.h - what a subject's object tells of itself, as text and JSON (stampede subject info). */
#pragma once
#include "sim/subject/image.h"
#include "traces/output.h"

typedef struct {
  const char *const *structs; /* instead of those that its kind has; NULL or empty: those */
  bool all;                   /* every member of them, not those that matter */
} InfoWish;

/* False and *error (SCENARIO_ERROR_INPUT): a struct that it has not. */
bool info_check(const Image *i, const InfoWish *w, GError **error);
void info_text(const Image *i, const InfoWish *w, GString *out);
void info_json(const Image *i, const InfoWish *w, Output *o);
