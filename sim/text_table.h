/* text_table.h - a table of texts, for a terminal or as Markdown. Columns are as wide as their widest cell, counted in
 * characters. */
#pragma once
#include <glib.h>
#include <stdbool.h>

typedef struct TextTable TextTable;

/* align: a letter a column, 'l' or 'r'. */
TextTable *text_table_new(const char *align);
void text_table_free(TextTable *t);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TextTable, text_table_free)

void text_table_cell(TextTable *t, char *text_taken); /* the next one; a row is full when its last cell is there */
void text_table_cells(TextTable *t, const char *const *texts, guint n);

/* The first row is the heading. Text: two blanks before each column, none behind the last. */
void text_table_print(const TextTable *t, GString *out);
void text_table_markdown(const TextTable *t, GString *out);
