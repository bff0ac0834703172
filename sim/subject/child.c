/* child.c - see child.h. */
#include "sim/subject/child.h"
#include "sim/result_pack.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static bool in_child; /* set once, right after fork */

bool child_here(void) {
  return in_child;
}

static pid_t fork_child(void) {
  pid_t parent = getpid();
  fflush(NULL);
  pid_t pid = fork();
  if (pid != 0) return pid;
  in_child = true;
  prctl(PR_SET_PDEATHSIG, SIGKILL); /* nothing is left behind when this tool is killed */
  if (getppid() != parent) _exit(EXIT_ENVIRONMENT);
  return 0;
}

static int wait_for(pid_t pid) {
  int status;
  while (waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return status;
}

/* ---- what goes through the pipe: 'R' and a result, or the first letter of an error's kind and its words ---- */

static void write_all(int fd, const guint8 *at, gsize n) {
  for (ssize_t done; n; at += done, n -= (gsize)done) {
    done = write(fd, at, n);
    if (done < 0 && errno != EINTR) _exit(EXIT_ENVIRONMENT);
    if (done < 0) done = 0;
  }
}

static void send_result(int fd, const RunResult *r, const GError *error) {
  g_autoptr(GByteArray) out = g_byte_array_new();
  g_assert(r || error);
  bool input = !r && error->domain == SCENARIO_ERROR;
  g_byte_array_append(out, (const guint8 *)(r ? "R" : input ? "I" : "E"), 1);
  if (r)
    result_pack(r, out);
  else
    g_byte_array_append(out, (const guint8 *)error->message, (guint)strlen(error->message));
  write_all(fd, out->data, out->len);
}

static GByteArray *read_all(int fd) {
  GByteArray *in = g_byte_array_new();
  guint8 part[4096];
  for (ssize_t n; (n = read(fd, part, sizeof part)) != 0;) {
    if (n > 0) g_byte_array_append(in, part, (guint)n);
    if (n < 0 && errno != EINTR) break;
  }
  return in;
}

/* It has said why: a constructor (subject_too_early), or no memory. */
static bool gave_up(int status, GError **error) {
  switch (WIFEXITED(status) ? WEXITSTATUS(status) : 0) {
  case EXIT_INPUT: scenario_wrong(error, "the subject cannot be loaded, as said above"); return true;
  case EXIT_ENVIRONMENT:
    g_set_error(error, TRACE_ERROR, TRACE_ERROR_WRITE, "the subject's process gave up, as said above");
    return true;
  default: return false;
  }
}

/* Nothing came: it was ended. */
static RunResult *ended(const Scenario *s, const RunOptions *o, int status) {
  RunResult *r = run_result_new();
  r->command = g_strdup(o->command);
  r->scenario = g_strdup(scenario_name(s));
  r->subject = g_strdup_printf("subject:%s", scenario_word(s, "subject"));
  r->profile = g_strdup(scenario_word(s, "machine.profile"));
  r->seed = scenario_seed(s);
  r->verdict = RUN_FAIL;
  r->stopped = WIFSIGNALED(status) ? g_strdup_printf("the subject's process was ended by signal %d (%s)",
                                                     WTERMSIG(status), strsignal(WTERMSIG(status)))
                                   : g_strdup("the subject's process ended without a result");
  return r;
}

static RunResult *understand(const Scenario *s, const RunOptions *o, const GByteArray *in, int status, GError **error) {
  if (in->len == 0) return gave_up(status, error) ? NULL : ended(s, o, status);
  if (in->data[0] == 'R') {
    RunResult *r = result_unpack(in->data + 1, in->len - 1, &o->checks);
    return r ? r : ended(s, o, status);
  }
  g_autofree char *words = g_strndup((const char *)in->data + 1, in->len - 1);
  g_set_error_literal(error, in->data[0] == 'I' ? SCENARIO_ERROR : TRACE_ERROR,
                      in->data[0] == 'I' ? (gint)SCENARIO_ERROR_INPUT : (gint)TRACE_ERROR_WRITE, words);
  return NULL;
}

RunResult *child_run(const Scenario *s, const RunOptions *o,
                     RunResult *(*run)(const Scenario *s, const RunOptions *o, GError **error), GError **error) {
  int ends[2];
  if (pipe(ends) != 0) g_error("pipe: %s", strerror(errno));
  pid_t pid = fork_child();
  if (pid < 0) g_error("fork: %s", strerror(errno));
  if (pid == 0) {
    close(ends[0]);
    GError *problem = NULL;
    RunResult *r = run(s, o, &problem);
    send_result(ends[1], r, problem);
    _exit(0);
  }
  close(ends[1]);
  g_autoptr(GByteArray) in = read_all(ends[0]);
  close(ends[0]);
  return understand(s, o, in, wait_for(pid), error);
}

int child_command(int (*command)(void *data), void *data) {
  pid_t pid = fork_child();
  if (pid < 0) {
    fprintf(stderr, "stampede: fork: %s\n", strerror(errno));
    return EXIT_ENVIRONMENT;
  }
  if (pid == 0) {
    int status = command(data);
    if (fflush(NULL) != 0 && status == EXIT_MET) status = EXIT_ENVIRONMENT;
    _exit(status);
  }
  int status = wait_for(pid);
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  fprintf(stderr, "stampede: the subject's process was ended by signal %d (%s)\n", WTERMSIG(status),
          strsignal(WTERMSIG(status)));
  return EXIT_UNMET;
}
