/* cmd_calibrate_machine.c - stampede calibrate machine: what things cost here, as a profile. */
#include "sim/calibrate/machine.h"
#include "sim/cmd_calibrate.h"
#include "sim/scenario/assets.h"
#include <string.h>
#include <unistd.h>

typedef struct {
  char *output, *start;
} MachineOptions;

typedef struct {
  const Machine *m;
  const char *profile, *refused;
} Told;

static void progress(void *data, const char *name, guint done, guint of) {
  const CliOptions *common = data;
  if (!common->quiet && isatty(STDERR_FILENO)) fprintf(stderr, "\r\033[K%u of %u: %s ", done + 1, of, name);
}

static void fill_json(Output *o, const void *data) {
  const Told *t = data;
  machine_json(t->m, t->profile, t->refused, o);
}
static void fill_text(Output *o, const void *data) {
  output_str(o, ((const GString *)data)->str);
}

static int tell(const Machine *m, const char *profile, const char *refused, const CliOptions *common) {
  Told told = {m, profile, refused};
  if (common->json) return cli_write("-", fill_json, &told);
  if (common->quiet || (profile && output_is_stdout(profile))) return EXIT_MET;
  g_autoptr(GString) text = g_string_new(NULL);
  machine_text(m, text);
  return cli_print(text->str);
}

static int write_profile(const Machine *m, const Scenario *start, const MachineOptions *o, const char *command) {
  g_autofree char *name = calibrate_profile_name(o->output, "machine");
  g_autoptr(GString) profile = g_string_new(NULL);
  machine_profile(m, start, name, command, profile);
  return cli_write(o->output, fill_text, profile);
}

static Scenario *start_scenario(const App *app, const MachineOptions *o, GError **error) {
  g_autofree char *set = g_strconcat("machine.profile=", o->start ? o->start : "assumed", NULL);
  char *sets[] = {set, NULL};
  CliOptions none = {.sets = sets};
  return cli_scenario(app, "real-server", &none, error);
}

static int measure(const App *app, const MachineOptions *o, const CliOptions *common, const char *command) {
  GError *error = NULL;
  g_autoptr(Scenario) start = start_scenario(app, o, &error);
  if (!start) return cli_fail(error);
  Machine m = {0};
  bool whole = machine_measure(&m, MACHINE_SECONDS, cli_interrupted(), progress, (void *)common);
  if (!common->quiet && isatty(STDERR_FILENO)) fputs("\r\033[K", stderr);
  g_autofree char *refused = whole ? machine_worthless(&m) : NULL;
  int status =
      whole ? tell(&m, o->output, refused, common) : cli_refuse(EXIT_INTERRUPTED, "interrupted; no profile is written");
  if (status == EXIT_MET && refused) status = cli_refuse(EXIT_ENVIRONMENT, "no profile is written: %s", refused);
  if (status == EXIT_MET && o->output) status = write_profile(&m, start, o, command);
  machine_clear(&m);
  return status;
}

static int check_options(const MachineOptions *o, const CliOptions *common) {
  if (common->junit || common->trace || common->sets || common->seed)
    return cli_refuse(EXIT_INPUT, "calibrate machine has no use for --junit, --trace, --set or --seed");
  return calibrate_output(o->output, common->json);
}

int cmd_calibrate_machine(const App *app, int argc, char **argv) {
  CliOptions common = {0};
  MachineOptions o = {0};
  GOptionEntry own[] = {
      {"output", 'o', 0, G_OPTION_ARG_FILENAME, &o.output, "the profile to write", "FILE"},
      {"start", 0, 0, G_OPTION_ARG_STRING, &o.start, "profile that gives what is not measured (assumed)", "PROFILE"},
      {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL}};
  g_autofree char *command = calibrate_command_words(argc, argv);
  g_auto(GStrv) left =
      cli_parse("calibrate machine", "[-o PROFILE]",
                "Measures what page faults, forks, locks, sockets and memory cost on this machine, in\n"
                "under a minute. Writes no profile when the spread of a figure makes it worthless.",
                &common, own, argc, argv, 0, 0);
  int status = left ? check_options(&o, &common) : EXIT_INPUT;
  if (left && status == EXIT_MET) status = measure(app, &o, &common, command);
  g_free(o.output);
  g_free(o.start);
  cli_clear(&common);
  return status;
}
