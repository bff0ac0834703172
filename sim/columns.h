/* columns.h - text in columns, for a terminal or as Markdown. printf counts bytes, columns count characters. Rows are
 * GPtrArray of GPtrArray of char *, all of one length. */
#pragma once
#include <glib.h>
#include <stdbool.h>

int columns_width(const GPtrArray *rows, guint column); /* the widest cell */
void columns_pad(GString *out, const char *text, int width, bool left);
void columns_end_line(GString *out); /* without blanks before it */

GPtrArray *columns_row(GPtrArray *rows); /* a new row, empty; owned by rows, which frees its rows by unref */
/* align: 'l' or 'r' a column; NULL: all to the left. Two blanks before each column. */
void columns_print(GString *out, const GPtrArray *rows, const char *align);
void columns_markdown(GString *out, const GPtrArray *rows, const char *align); /* the first row is the heading */
