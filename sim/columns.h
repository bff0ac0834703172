/* columns.h - text in columns. printf counts bytes, columns count characters. */
#pragma once
#include <glib.h>
#include <stdbool.h>

int columns_width(const GPtrArray *rows, guint column); /* of GPtrArray of char *: the widest cell */
void columns_pad(GString *out, const char *text, int width, bool left);
void columns_end_line(GString *out); /* without blanks before it */
