/* conform.h - a preset against the binary that it is called after: the same scenario, once with the model and once
 * around the program, compared on the wire. */
#pragma once
#include "sim/live/adapter.h"
#include "sim/live/driver.h"

typedef enum { CONFORM_AGREES, CONFORM_DIFFERS, CONFORM_NOT_DRIVEN, CONFORM_FAILED } ConformVerdict;
typedef struct {
  char *scenario;
  ConformVerdict verdict;
  char *why;       /* where they first differ; why it is not driven; NULL */
  char *but;       /* how the scenario had to be changed for this pooler; NULL: not at all */
  guint events;    /* on the wire, compared */
  int64_t late_ns; /* how far apart two of them are at most */
} Conformed;

const char *conform_word(ConformVerdict v); /* "agrees" */
void conformed_clear(gpointer conformed);
typedef enum { CONFORM_NO_MODE = 1, CONFORM_NO_PEERING = 2 } ConformWithout; /* settings that are left out, as bits */
/* The scenario's text with that preset's ways and the scenario's settings, of these what the program can be told; the
 * names of the others are put behind *untold. g_free. */
char *conform_text(const Scenario *s, const char *preset, guint without, const AdapterAbout *about, GString *untold,
                   GError **error);
/* What both decide (draws, losses) is decided alike. A pool_mode that the preset cannot have is its own, and peering
 * that the program refuses is left out (`but`). most_ns: see wire_log.h. */
Conformed conform(const Scenario *s, const char *preset, const AdapterAbout *about, const LiveOptions *o,
                  const ScenarioOptions *with, int64_t most_ns);
