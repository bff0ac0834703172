/* cmd_live.h - stampede live. */
#pragma once
#include "sim/cli.h"

int cmd_live(const App *app, int argc, char **argv);
