/* sequence.h - a sequence chart of a trace: participants as columns, time downwards, one row a step. An arrow is a
 * message, a box something that its participant did (its border in the colour of the client it was done for), a bar on
 * a lifeline whom a server connection or a cancel works for, or which lock a backend holds; at the right what else
 * changed, at the end the broken condition in red, around the steps of a lasso a frame that leads back. */
#pragma once
#include "traces/chart.h"
#include "viz/picture.h"

enum { SEQUENCE_STEPS = 100, SEQUENCE_STEPS_MAX = 500 }; /* shown unless said otherwise; at most */

/* format: svg, png, pdf, or dot (with places, for `neato -n2`). false: TRACE_ERROR, VIZ_ERROR_INPUT when there is
 * nothing to draw or more participants than a page has room for, VIZ_ERROR_TOOL. */
bool viz_sequence(const char *trace, const SpanWish *wish, const char *path, VizFormat format, GError **error);
