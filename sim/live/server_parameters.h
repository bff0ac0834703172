/* server_parameters.h - the settings that a server reports by ParameterStatus: after the login all of them, later each
 * that has changed, before ReadyForQuery. Names and order are PostgreSQL 15's (GUC_REPORT). What a transaction has set
 * is undone with it. A value is reported as it was said, not in the server's canonical spelling; SET LOCAL is not
 * followed. */
#pragma once
#include <glib.h>
#include <stdbool.h>

typedef struct Parameters Parameters;
Parameters *parameters_new(void);
void parameters_free(Parameters *p);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Parameters, parameters_free)
/* What is so from the start, by the server's will; names are found whatever their case, others than the reported are
 * nobody's business here. */
void parameters_fix(Parameters *p, const char *name, const char *value);
/* What a client may set: in its startup packet, which RESET goes back to; and later, NULL: back to the start's. */
void parameters_start(Parameters *p, const char *name, const char *value);
void parameters_set(Parameters *p, const char *name, const char *value);
void parameters_reset(Parameters *p); /* all, to the start's */
void parameters_begin(Parameters *p); /* a transaction */
void parameters_undo(Parameters *p);  /* what was set since */
void parameters_report(Parameters *p, GByteArray *out);
