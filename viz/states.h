/* states.h - the state of a run as a picture: one cluster a step, the variables in it as a table, what the step changed
 * marked with its old value, arrows labelled with who did what; in the last cluster the broken condition in red, with
 * the variables it names. Clusters stand in rows of up to five, so that fifteen steps are read without zoom. A variable
 * that no shown step changes and the condition does not name stands in the first cluster alone. */
#pragma once
#include "viz/history.h"
#include "viz/picture.h"

enum { STATES_STEPS = 15 }; /* shown unless said otherwise */

/* format: svg, png, pdf, or dot (with places, for `neato -n2`; without them for `dot`). steps: the last so many, > 0.
 * false: as history_read, VIZ_ERROR_TOOL, TRACE_ERROR_WRITE. */
bool viz_states(const char *trace, const SpanWish *wish, const char *path, VizFormat format, GError **error);
