/* output.h - a file that appears under its name whole or not at all, and fast pieces of JSON to fill it with.
 *
 * What is written goes to a file without a name (or PATH.tmp-PID-N where the file system has none such); output_commit
 * gives it its name, output_free without it drops it. A path that is no regular file (/dev/full, a pipe) and "-"
 * (stdout) are written directly. The first error is kept and the pieces after it go nowhere: look at output_flush or
 * output_commit. */
#pragma once
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct Output Output;

Output *output_open(const char *path, GError **error); /* TRACE_ERROR_WRITE with the path, as all here */
bool output_commit(Output *o, GError **error);         /* then only output_free */
void output_free(Output *o);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Output, output_free)
bool output_flush(Output *o, GError **error); /* hands over what is buffered; false: an error now or before */
void output_fail(Output *o, const char *why); /* keeps "PATH: why" as the error, unless there is one */
bool output_is_stdout(const char *path);      /* "-", /dev/stdout */
gsize output_pending(const Output *o);        /* bytes buffered; the caller flushes between lines */

void output_bytes(Output *o, const char *bytes, gsize n);
void output_str(Output *o, const char *s); /* as it is */
void output_int(Output *o, int64_t v);     /* decimal */
void output_uint(Output *o, uint64_t v);
void output_double(Output *o, double v);        /* the shortest of 15 to 17 digits that reads back the same; finite */
void output_string(Output *o, const char *s);   /* "quoted" for JSON; s in UTF-8, else the output fails */
void output_key(Output *o, const char *name);   /* "name": and a blank */
void output_nullable(Output *o, const char *s); /* a string, or null for NULL */
void output_strings(Output *o, const char *const *texts, guint n); /* ["a", "b"] */
