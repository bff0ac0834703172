/* source_text.h - the lines of source files, each file read once. */
#pragma once
#include <glib.h>

typedef struct SourceTexts SourceTexts;
SourceTexts *source_texts_new(void);
void source_texts_free(SourceTexts *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SourceTexts, source_texts_free)

/* Line 1 is the first; in UTF-8, tabs as blanks (to every fourth column), nothing behind its last letter. NULL: no such
 * file, or no such line. Owned by `s`. */
const char *source_line(SourceTexts *s, const char *path, int line);
