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

char *calibrate_profile_name(const char *output, const char *otherwise) {
  if (!output || output_is_stdout(output)) return g_strdup(otherwise);
  char *name = g_path_get_basename(output);
  if (g_str_has_suffix(name, ".yaml")) name[strlen(name) - strlen(".yaml")] = '\0';
  return name;
}

int calibrate_output(const char *output, bool json) {
  enum { LONGEST = 100 };
  if (!output) return EXIT_MET;
  if (json && output_is_stdout(output))
    return cli_refuse(EXIT_INPUT, "-o - and --json both want stdout; give one of them a file");
  g_autofree char *name = calibrate_profile_name(output, "stdout");
  gsize n = strlen(name);
  if (!g_ascii_isalnum(*name) || strspn(name, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "-_.") != n || n > LONGEST)
    return cli_refuse(
        EXIT_INPUT, "-o %s: a profile is called like its file: a letter or digit, then letters, digits, - _ .", output);
  return cli_writable(output);
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
