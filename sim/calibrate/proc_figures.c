/* proc_figures.c - see proc_figures.h. */
#include "sim/calibrate/proc_figures.h"
#include <stdlib.h>
#include <string.h>

enum { ASLEEP_SECONDS = 10, POLL_US = 50 };

/* Fields 3 (state) and 10 (minflt); the name before them may hold anything, a parenthesis too. */
static bool read_stat(const char *path, char *state, int64_t *faults) {
  g_autofree char *text = NULL;
  if (!g_file_get_contents(path, &text, NULL, NULL)) return false;
  const char *at = strrchr(text, ')');
  if (!at) return false;
  g_auto(GStrv) field = g_strsplit(at + 2, " ", 10);
  if (g_strv_length(field) < 9) return false;
  *state = field[0][0];
  *faults = g_ascii_strtoll(field[7], NULL, 10);
  return true;
}

int64_t proc_field(const char *file, const char *name) {
  g_autofree char *text = NULL;
  if (!g_file_get_contents(file, &text, NULL, NULL)) return -1;
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  gsize n = strlen(name);
  for (char **line = lines; *line; line++)
    if (!strncmp(*line, name, n) && (*line)[n] == ':') return g_ascii_strtoll(*line + n + 1, NULL, 10);
  return -1;
}

/* A mapping's first line is "from-to rw-p ...", its members are "Name: N kB". */
static int64_t own_pages(pid_t pid) {
  g_autofree char *path = g_strdup_printf("/proc/%d/smaps", (int)pid), *text = NULL;
  static const char name[] = "Private_Dirty:";
  bool shared = false;
  int64_t kib = 0;
  if (!g_file_get_contents(path, &text, NULL, NULL)) return 0;
  for (const char *line = text; line && *line; line = strchr(line, '\n'), line += line != NULL) {
    gsize word = strcspn(line, " \n");
    if (line[word] == ' ' && line[word - (word > 0)] != ':')
      shared = line[word + 4] == 's';
    else if (!shared && !strncmp(line, name, sizeof name - 1))
      kib += g_ascii_strtoll(line + sizeof name - 1, NULL, 10);
  }
  return kib / 4;
}

bool proc_figures(pid_t pid, ProcFigures *out, GError **error) {
  g_autofree char *stat = g_strdup_printf("/proc/%d/stat", (int)pid),
                  *status = g_strdup_printf("/proc/%d/status", (int)pid);
  gint64 until = g_get_monotonic_time() + ASLEEP_SECONDS * G_USEC_PER_SEC;
  char state = 0;
  while (read_stat(stat, &state, &out->minor_faults) && state != 'S' && g_get_monotonic_time() < until)
    g_usleep(POLL_US);
  if (state == 'S') {
    out->pagetable_kib = proc_field(status, "VmPTE");
    out->resident_kib = proc_field(status, "VmHWM");
    out->own_pages = own_pages(pid);
    return true;
  }
  g_set_error(error, CALIBRATE_ERROR, CALIBRATE_ERROR_ENVIRONMENT, "%s: %s", stat,
              state ? "the backend does not come to rest" : "cannot be read");
  return false;
}

uint64_t proc_shared_base(pid_t pid) {
  g_autofree char *path = g_strdup_printf("/proc/%d/maps", (int)pid), *text = NULL;
  uint64_t base = 0, largest = 0;
  if (!g_file_get_contents(path, &text, NULL, NULL)) return 0;
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  for (char **line = lines; *line; line++) {
    if (!strstr(*line, " rw-s ") || !(strstr(*line, "/dev/zero") || strstr(*line, "anon_hugepage"))) continue;
    char *dash;
    uint64_t from = g_ascii_strtoull(*line, &dash, 16), to = *dash == '-' ? g_ascii_strtoull(dash + 1, NULL, 16) : 0;
    if (to <= from || to - from <= largest) continue;
    base = from;
    largest = to - from;
  }
  return base;
}
