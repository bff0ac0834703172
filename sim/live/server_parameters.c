/* server_parameters.c - see server_parameters.h. */
#include "sim/live/server_parameters.h"
#include "sim/live/wire.h"

static const struct {
  const char *name, *value;
  bool fixed;
} reported[] = {{"application_name", "", false},
                {"client_encoding", "UTF8", false},
                {"DateStyle", "ISO, MDY", false},
                {"default_transaction_read_only", "off", false},
                {"in_hot_standby", "off", true},
                {"integer_datetimes", "on", true},
                {"IntervalStyle", "postgres", false},
                {"is_superuser", "off", true},
                {"server_encoding", "UTF8", true},
                {"server_version", "", true},
                {"session_authorization", "", true},
                {"standard_conforming_strings", "on", false},
                {"TimeZone", "UTC", false}};
enum { REPORTED = G_N_ELEMENTS(reported) };

/* said: to the client; NULL: nothing yet. */
struct Parameters {
  char *start[REPORTED], *now[REPORTED], *before[REPORTED], *said[REPORTED];
};

static void put(char **at, const char *value) {
  if (g_strcmp0(*at, value) == 0) return;
  g_free(*at);
  *at = g_strdup(value);
}

Parameters *parameters_new(void) {
  Parameters *p = g_new0(Parameters, 1);
  for (guint i = 0; i < REPORTED; i++) parameters_fix(p, reported[i].name, reported[i].value);
  return p;
}

void parameters_free(Parameters *p) {
  for (guint i = 0; i < REPORTED; i++) {
    gpointer texts[] = {p->start[i], p->now[i], p->before[i], p->said[i]};
    for (guint k = 0; k < G_N_ELEMENTS(texts); k++) g_free(texts[k]);
  }
  g_free(p);
}

/* REPORTED: none of these. */
static guint find(const char *name) {
  guint i = 0;
  while (i < REPORTED && g_ascii_strcasecmp(reported[i].name, name) != 0) i++;
  return i;
}

void parameters_start(Parameters *p, const char *name, const char *value) {
  guint i = find(name);
  if (i < REPORTED && !reported[i].fixed) parameters_fix(p, name, value);
}

void parameters_fix(Parameters *p, const char *name, const char *value) {
  guint i = find(name);
  g_assert(i < REPORTED);
  char **all[] = {&p->start[i], &p->now[i], &p->before[i]};
  for (guint k = 0; k < G_N_ELEMENTS(all); k++) put(all[k], value);
}

void parameters_set(Parameters *p, const char *name, const char *value) {
  guint i = find(name);
  if (i < REPORTED && !reported[i].fixed) put(&p->now[i], value ? value : p->start[i]);
}

void parameters_reset(Parameters *p) {
  for (guint i = 0; i < REPORTED; i++) put(&p->now[i], p->start[i]);
}

void parameters_begin(Parameters *p) {
  for (guint i = 0; i < REPORTED; i++) put(&p->before[i], p->now[i]);
}

void parameters_undo(Parameters *p) {
  for (guint i = 0; i < REPORTED; i++) put(&p->now[i], p->before[i]);
}

void parameters_report(Parameters *p, GByteArray *out) {
  for (guint i = 0; i < REPORTED; i++) {
    if (g_strcmp0(p->now[i], p->said[i]) == 0) continue;
    wire_parameter(out, reported[i].name, p->now[i]);
    put(&p->said[i], p->now[i]);
  }
}
