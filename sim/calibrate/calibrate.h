/* calibrate.h - the one error of this folder. */
#pragma once
#include <glib.h>

/* No server, no memory, no tool: what ends the program with exit status 4 (cli_fail). */
#define CALIBRATE_ERROR (g_quark_from_static_string("calibrate-error"))
typedef enum { CALIBRATE_ERROR_ENVIRONMENT, CALIBRATE_ERROR_INTERRUPTED } CalibrateError;
