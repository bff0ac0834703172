/* cli.c - see cli.h. */
#include "sim/cli.h"
#include "sim/metrics.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* ---- the process ---- */

/* A standard stream that is closed would lend its number to the next file, and what is printed would land in there.
 * Opened the wrong way round, each says EBADF when it is used. */
static void occupy_standard_streams(void) {
  for (int fd = 0; fd <= STDERR_FILENO; fd++)
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
      _exit(EXIT_ENVIRONMENT);
}

/* What printf could not write is known only here. */
static void stdout_must_be_written(void) {
  errno = 0;
  if (fflush(stdout) == 0 && !ferror(stdout)) return;
  fprintf(stderr, "stampede: -: cannot write%s%s\n", errno ? ": " : "", errno ? g_strerror(errno) : "");
  _exit(EXIT_ENVIRONMENT);
}

/* No memory is the environment's fault, "limit: " begins what a model is too large for; any other fatal message is ours
 * and leaves a core. */
static void on_message(const char *domain, GLogLevelFlags level, const char *message, gpointer data) {
  if (level & G_LOG_LEVEL_ERROR &&
      (strstr(message, "failed to allocate") || strstr(message, "no address space") || strstr(message, "no memory"))) {
    fprintf(stderr, "stampede: out of memory: %s\n", message);
    _exit(EXIT_ENVIRONMENT);
  }
  if (level & G_LOG_LEVEL_ERROR && g_str_has_prefix(message, "limit: ")) {
    fprintf(stderr, "stampede: %s\n", message + strlen("limit: "));
    _exit(EXIT_LIMIT);
  }
  g_log_default_handler(domain, level, message, data);
}

void cli_prepare(void) {
  occupy_standard_streams();
  signal(SIGXFSZ, SIG_IGN); /* so that write says EFBIG */
  atexit(stdout_must_be_written);
  g_log_set_default_handler(on_message, NULL);
}

/* ---- options ---- */

/* One document to a place. True when all is well; a document on stdout leaves no room for the text. */
static bool outputs_have_places(CliOptions *o) {
  bool trace = o->trace && output_is_stdout(o->trace), junit = o->junit && output_is_stdout(o->junit);
  if ((o->trace && !*o->trace) || (o->junit && !*o->junit))
    return cli_refuse(EXIT_INPUT, "--%s needs the name of a file", o->trace && !*o->trace ? "trace" : "junit"), false;
  if (trace + junit + (o->json != 0) > 1)
    return cli_refuse(EXIT_INPUT, "%s and %s both want stdout; give one of them a file",
                      trace ? "--trace -" : "--junit -", o->json ? "--json" : "--junit -"),
           false;
  if (o->trace && o->junit && strcmp(o->trace, o->junit) == 0)
    return cli_refuse(EXIT_INPUT, "--trace and --junit both want %s; give each its own file", o->trace), false;
  o->quiet = o->quiet || trace || junit;
  return true;
}

/* From the working directory, not from the scenario's. */
static void set_subject(CliOptions *o) {
  guint n = o->sets ? g_strv_length(o->sets) : 0;
  o->sets = g_renew(char *, o->sets, n + 2);
  o->sets[n] = scenario_path_override("subject", o->subject, NULL);
  o->sets[n + 1] = NULL;
}

char **cli_parse(const char *command, const char *usage, const char *about, CliOptions *common, GOptionEntry *own,
                 int argc, char **argv, guint least, guint most) {
  GOptionEntry entries[] = {
      {"seed", 0, 0, G_OPTION_ARG_STRING, &common->seed, "seed in place of the scenario's (unsigned, 64 bits)", "N"},
      {"set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &common->sets, "any scenario key, dotted; may be repeated", "KEY=VALUE"},
      {"trace", 0, 0, G_OPTION_ARG_FILENAME, &common->trace, "write a trace (JSON Lines)", "FILE"},
      {"json", 0, 0, G_OPTION_ARG_NONE, &common->json, "one JSON document on stdout", NULL},
      {"junit", 0, 0, G_OPTION_ARG_FILENAME, &common->junit, "write a JUnit report", "FILE"},
      {"quiet", 0, 0, G_OPTION_ARG_NONE, &common->quiet, "print nothing but errors", NULL},
      {NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL}};
  g_autoptr(GOptionContext) context = g_option_context_new(usage);
  g_option_context_set_summary(context, about);
  if (own) g_option_context_add_main_entries(context, own, NULL);
  g_option_context_add_main_entries(context, entries, NULL);
  g_autofree char *program = g_strconcat("stampede ", command, NULL);
  g_set_prgname(program);
  g_auto(GStrv) args = g_new0(char *, (gsize)argc + 1);
  for (int i = 0; i < argc; i++) args[i] = g_strdup(argv[i]);
  g_autoptr(GError) error = NULL;
  if (!g_option_context_parse_strv(context, &args, &error)) {
    cli_refuse(EXIT_INPUT, "%s; see stampede %s --help", error->message, command);
    return NULL;
  }
  guint left = g_strv_length(args) - 1;
  if (left < least || left > most) {
    cli_refuse(EXIT_INPUT, "usage: stampede %s [OPTION...] %s; see stampede %s --help", command, usage, command);
    return NULL;
  }
  if (common->subject) set_subject(common);
  return outputs_have_places(common) ? g_strdupv(args + 1) : NULL;
}

void cli_clear(CliOptions *o) {
  g_free(o->seed);
  g_free(o->trace);
  g_free(o->junit);
  g_strfreev(o->sets);
  g_free(o->subject);
}

static int status_of(const GError *e) {
  if (e->domain == SCENARIO_ERROR) return EXIT_INPUT;
  if (e->domain != TRACE_ERROR) return EXIT_ENVIRONMENT;
  return e->code == TRACE_ERROR_WRITE ? EXIT_ENVIRONMENT : EXIT_INPUT;
}

int cli_fail(GError *error) {
  int status = status_of(error);
  if (status == EXIT_INPUT && cli_is_interrupted())
    status = EXIT_INTERRUPTED; /* a start that was ended is no bad input */
  fprintf(stderr, "stampede: %s\n", error->message);
  g_error_free(error);
  return status;
}

int cli_refuse(int status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_autofree char *message = g_strdup_vprintf(format, args);
  va_end(args);
  fprintf(stderr, "stampede: %s\n", message);
  return status;
}

Scenario *cli_scenario(const App *app, const char *name, const CliOptions *o, GError **error) {
  ScenarioOptions opt = {.sets = (const char *const *)o->sets,
                         .seed = o->seed,
                         .dirs = app->dirs,
                         .checks = app->check_names,
                         .metrics = metric_patterns()};
  return scenario_load(name, &opt, error);
}

int cli_write(const char *path, void (*fill)(Output *o, const void *data), const void *data) {
  GError *error = NULL;
  g_autoptr(Output) out = output_open(path, &error);
  if (out) {
    fill(out, data);
    if (output_commit(out, &error)) return EXIT_MET;
  }
  return cli_fail(error);
}

int cli_writable(const char *path) {
  GError *error = NULL;
  g_autoptr(Output) out = output_open(path, &error);
  return out ? EXIT_MET : cli_fail(error);
}

static void fill_text(Output *o, const void *data) {
  output_str(o, data);
}

int cli_print(const char *text) {
  return cli_write("-", fill_text, text);
}

static void fill_json(Output *o, const void *data) {
  report_json(data, o);
}
static void fill_junit(Output *o, const void *data) {
  const RunResult *r = data;
  report_junit(&r, 1, o);
}

int cli_write_result(const RunResult *r, const CliOptions *o) {
  int status = o->json ? cli_write("-", fill_json, r) : EXIT_MET;
  return o->junit && status == EXIT_MET ? cli_write(o->junit, fill_junit, r) : status;
}

bool cli_color(int fd) {
  const char *no = g_getenv("NO_COLOR");
  return isatty(fd) && !(no && *no);
}

static gint *interrupted; /* one for this process and those it forks: a signal to one of them is heard by all */
static gint64 heard_ms;   /* when this process was first told; 0: never */

/* timeout(1) tells the tool, and then all of its group: what comes so soon is the same once more. */
static void on_signal(int number) {
  enum { SAME_MS = 200 };
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  gint64 ms = (gint64)now.tv_sec * 1000 + now.tv_nsec / 1000000 + 1;
  g_atomic_int_set(interrupted, 1);
  if (!heard_ms) heard_ms = ms;
  if (ms - heard_ms > SAME_MS) {
    signal(number, SIG_DFL);
    raise(number);
  }
}

bool cli_is_interrupted(void) {
  return interrupted && g_atomic_int_get(interrupted);
}

static gint *shared_flag(void) {
  void *at = mmap(NULL, sizeof(gint), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) g_error("mmap: %s", g_strerror(errno));
  return at;
}

const gint *cli_interrupted(void) {
  struct sigaction act = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  if (!interrupted) interrupted = shared_flag();
  sigaction(SIGINT, &act, NULL);
  sigaction(SIGTERM, &act, NULL);
  return interrupted;
}
