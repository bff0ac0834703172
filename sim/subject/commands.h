/* commands.h - the compiler and its like: a command line, word by word, and its run. */
#pragma once
#include <glib.h>
#include <stdbool.h>

GPtrArray *command_new(void); /* of char *, which it owns */
void command_add(GPtrArray *words, const char *format, ...) G_GNUC_PRINTF(2, 3);
void command_add_all(GPtrArray *words, const char *const *more); /* NULL: none */
/* What it says on stderr goes to ours. `interrupted` goes up when the user has had enough (NULL: nobody will): then it
 * and all its children end. False and *error: SCENARIO_ERROR, "what" or that there is no such program;
 * G_IO_ERROR_CANCELLED: interrupted. */
bool command_run(GPtrArray *words, const gint *interrupted, const char *what, GError **error);
