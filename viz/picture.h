/* picture.h - what all views share: formats, errors, tools, and a picture on its way to a file. Equal input gives equal
 * bytes on one machine (fonts and the versions of the drawing tools decide the rest); dates that tools put into PDF are
 * replaced by one fixed date. */
#pragma once
#include <gio/gio.h>
#include <stdbool.h>

#define VIZ_ERROR viz_error_quark()
GQuark viz_error_quark(void);
typedef enum {
  VIZ_ERROR_INPUT, /* nothing to draw in what was given, or a combination without sense: exit 2 */
  VIZ_ERROR_TOOL   /* a drawing tool is missing or failed: exit 4; the message says what to install */
} VizError;

typedef enum {
  FORMAT_SVG,
  FORMAT_PNG,
  FORMAT_PDF,
  FORMAT_DOT,
  FORMAT_MERMAID,
  FORMAT_PERFETTO,
  FORMAT_COUNT
} VizFormat;
const char *viz_format_word(VizFormat f); /* "svg" */
bool viz_format_parse(const char *word, VizFormat *f);

#define VIZ_PAGE 1010.0 /* points: how wide a picture may be; 1347 dots at 96 an inch */
#define VIZ_FONT "DejaVu Sans,Arial,sans-serif"

/* Runs a program with `input` on its stdin, and gives what it writes to stdout. NULL and *error (VIZ_ERROR_TOOL) when
 * it is not there (`package` is what to install), fails, or writes nothing. */
GBytes *picture_tool(const char *const *argv, const char *input, gsize size, const char *package, GError **error);

/* Writes it aside and renames it; "-" is stdout. */
bool picture_write(const void *data, gsize size, VizFormat format, const char *path, GError **error);
/* An SVG made here, as SVG, PNG or PDF (these by rsvg-convert). */
bool picture_write_svg(const GString *svg, VizFormat format, const char *path, GError **error);

/* `s` as text of XML or of an HTML-like label: escaped, and without what XML 1.0 cannot hold. */
void picture_xml(GString *out, const char *s);
/* Likewise, in lines of at most `width` characters, broken after blanks and commas where there are some, at most
 * `lines` of them; what is left out becomes "…"; `between` separates lines. */
void picture_wrap(GString *out, const char *text, glong width, guint lines, const char *between);
void picture_time(GString *out, int64_t ns); /* integers only: 1204567 ns is "1.204 ms" */
