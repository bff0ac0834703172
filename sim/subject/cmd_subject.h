/* cmd_subject.h - stampede subject build|info|new. */
#pragma once
#include "sim/cli.h"

int cmd_subject(const App *app, int argc, char **argv);
