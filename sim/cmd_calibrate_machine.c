/* cmd_calibrate_machine.c - stampede calibrate machine: what things cost here, as a profile. */
#include "sim/cmd_calibrate.h"
int cmd_calibrate_machine(const App *app, int argc, char **argv) {
  (void)app, (void)argc, (void)argv;
  return cli_refuse(EXIT_INPUT, "not yet");
}
