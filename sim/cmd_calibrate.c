/* cmd_calibrate.c - stampede calibrate: which kind is meant. */
#include "sim/cmd_calibrate.h"
#include <string.h>

static const Command kinds[] = {
    {"machine", "measure what things cost on this machine, as a profile", cmd_calibrate_machine},
    {"fit", "fit costs of a profile to published or measured figures", cmd_calibrate_fit},
    {"postgres", "count a real server's page faults beside the simulation's", cmd_calibrate_postgres},
};

char *calibrate_command_words(int argc, char **argv) {
  g_autoptr(GString) s = g_string_new("stampede calibrate");
  for (int i = 0; i < argc; i++) {
    g_autofree char *quoted = strpbrk(argv[i], " \"'$") ? g_shell_quote(argv[i]) : g_strdup(argv[i]);
    g_string_append_printf(s, " %s", quoted);
  }
  g_strdelimit(s->str, "\n\r", ' ');
  return g_strdup(s->str);
}

static int help(void) {
  g_autoptr(GString) s = g_string_new("Usage:\n  stampede calibrate KIND [OPTION...]\n\nKinds:\n");
  for (guint i = 0; i < G_N_ELEMENTS(kinds); i++)
    g_string_append_printf(s, "  %-10s %s\n", kinds[i].name, kinds[i].about);
  g_string_append(s, "\nstampede calibrate KIND --help explains one.\n");
  return cli_print(s->str);
}

int cmd_calibrate(const App *app, int argc, char **argv) {
  if (argc < 2)
    return cli_refuse(EXIT_INPUT, "usage: stampede calibrate machine|fit|postgres; see stampede calibrate --help");
  if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) return help();
  for (guint i = 0; i < G_N_ELEMENTS(kinds); i++)
    if (!strcmp(argv[1], kinds[i].name)) return kinds[i].main(app, argc - 1, argv + 1);
  return cli_refuse(EXIT_INPUT, "calibrate %s: no such kind; machine, fit or postgres would be right", argv[1]);
}
