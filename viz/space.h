/* space.h - the state graph of a small model as a picture: a box a state, with the variables in which it differs from
 * the initial one (there: all), an arrow a step, named by who does what; what breaks a check is red, a deadlock orange,
 * an end double. */
#pragma once
#include "checks/space.h"
#include "viz/picture.h"

enum { SPACE_STATES_MAX = 120 }; /* more are no picture that can be read */

/* format: svg, png, pdf or dot. false: VIZ_ERROR_INPUT when the space is larger, VIZ_ERROR_TOOL, TRACE_ERROR_WRITE. */
bool viz_space(const Space *s, const char *scenario, const char *path, VizFormat format, GError **error);
