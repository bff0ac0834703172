/* trace.h - the record of a run: what was decided and what came of it, one JSON object a line.
 *
 *   {"stampede_trace":1,"version":...,"command":...,"scenario":...,"text":...,"overrides":[...],"sources":[...],
 *    "seed":1,"subject":"model:dense-arrays","k":1000}                                            the header
 *   {"i":0,"t_ns":123,"who":"backend[12]","do":"ProcArrayAdd","args":{...},"changed":{...},
 *    "choice":{"name":"exit-order","n":8192,"took":77},"hash":"32 hex digits"}                    a step, any number
 *   {"end":{"steps":1,"verdict":"pass","checks":[...],"metrics":{...},"t_ns":123,"state_hash":...}} the footer
 *
 * Absent parts are left out. README.md has every member. A trace without footer was cut, and the reader says so.
 * Nothing here knows a clock, an address or a locale: equal calls give equal bytes. Single-threaded. */
#pragma once
#include "model/world/world.h"

#define TRACE_FORMAT   1
#define TRACE_LINE_MAX (16u << 20) /* bytes of a line; neither written nor read beyond it */

#define TRACE_ERROR trace_error_quark()
GQuark trace_error_quark(void);
typedef enum {
  TRACE_ERROR_READ,    /* the file cannot be opened or read */
  TRACE_ERROR_WRITE,   /* nor written: open, write, close, rename; text that is not UTF-8, a line too long */
  TRACE_ERROR_FORMAT,  /* not a trace: garbage, or a header that is not one */
  TRACE_ERROR_VERSION, /* a trace of another format version */
  TRACE_ERROR_ALTERED, /* a trace with a line that stampede does not write: a step missing, a wrong type, a new member
                        */
  TRACE_ERROR_LIMIT    /* fine, but too much for what was asked (a sequence chart of 10^6 steps) */
} TraceError;

typedef struct {
  const char *kind;               /* preset, variant, profile */
  const char *name, *text, *hash; /* text, hash: NULL when left out */
} TraceSource;

typedef struct {
  const char *version;          /* of the tool */
  const char *command;          /* "run" */
  const char *scenario, *text;  /* name; the whole file as read */
  const char *const *overrides; /* "KEY=VALUE", ends with NULL; NULL: none */
  const TraceSource *sources;
  guint n_sources;
  uint64_t seed;
  const char *subject; /* "model:dense-arrays" */
  int64_t k;           /* a state hash every k steps; 0: none */
} TraceHeader;

typedef struct {
  const char *name;
  int64_t n, took; /* 0 <= took < n */
} TraceChoice;

typedef struct {
  int64_t i;                       /* 0, 1, 2, ... */
  int64_t t_ns;                    /* virtual time; -1: untimed, left out */
  const char *who;                 /* "backend[12]"; NULL: nobody in particular, left out */
  const char *what;                /* member "do": "ProcArrayAdd" */
  bool hidden;                     /* an inner step of a model that the wire does not show */
  const NoteField *args, *changed; /* names are unique within each */
  guint n_args, n_changed;
  const TraceChoice *choices; /* "choice": an object; an array when the step asked for more than one */
  guint n_choices;
  bool hashed;
  Hash128 hash; /* of the state after the step */
} TraceStep;

typedef struct {
  const char *name, *verdict;
  int64_t step;    /* that decided it; -1: none, left out */
  const char *why; /* the broken condition in words; NULL: left out */
} TraceCheck;
typedef struct {
  const char *name;
  double value; /* finite */
} TraceMetric;
typedef struct {
  int64_t steps; /* set by the writer */
  const char *verdict;
  const TraceCheck *checks;
  const TraceMetric *metrics;
  guint n_checks, n_metrics;
  int64_t lasso_from; /* a lasso: the last step leads back to the state before this one, for ever; -1: none, left out */
  int64_t t_ns;       /* -1: untimed, left out */
  bool hashed;
  Hash128 state_hash;
} TraceEnd;

/* ---- write. The file appears under its name complete (with footer) or not at all; "-" is stdout. The first error
 * is kept: every later call fails with it, so a caller may look only at trace_writer_close. ---- */
typedef struct TraceWriter TraceWriter;
TraceWriter *trace_writer_open(const char *path, const TraceHeader *header, GError **error);
bool trace_writer_step(TraceWriter *w, const TraceStep *step, GError **error); /* step->i: how many came before it */
bool trace_writer_close(TraceWriter *w, const TraceEnd *end, GError **error);  /* the footer; then only free it */
void trace_writer_free(TraceWriter *w); /* not closed: what was written is removed */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TraceWriter, trace_writer_free)

/* ---- read. What a call hands out belongs to the reader and lives until the next trace_reader_next. Errors are
 * "PATH:LINE: ...". ---- */
typedef struct TraceReader TraceReader;
typedef enum {
  TRACE_STEP,  /* *step is filled */
  TRACE_ENDED, /* the footer came: trace_reader_end has it */
  TRACE_CUT,   /* the file ends without footer, perhaps within a line: trace_reader_cut says where */
  TRACE_FAILED /* *error is set */
} TraceNext;
TraceReader *trace_reader_open(const char *path, GError **error); /* reads the header; "-" is stdin */
TraceReader *trace_reader_new(const char *data, gsize size, const char *name, GError **error); /* data is not copied */
void trace_reader_free(TraceReader *r);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TraceReader, trace_reader_free)
const TraceHeader *trace_reader_header(const TraceReader *r); /* lives as long as the reader */
const char *trace_reader_name(const TraceReader *r);          /* path or name */
TraceNext trace_reader_next(TraceReader *r, TraceStep *step, GError **error);
const TraceEnd *trace_reader_end(const TraceReader *r); /* after TRACE_ENDED */
char *trace_reader_cut(const TraceReader *r); /* after TRACE_CUT: "PATH:LINE: the trace was cut ..."; g_free */

/* ---- text ---- */
void trace_step_words(const TraceStep *step, GString *out); /* "backend[12] ProcArrayAdd procno=3, faults=2" */
const char *trace_who(char *buffer, gsize size, const char *name, uint32_t id); /* "backend[12]"; returns buffer */
void trace_hash_text(Hash128 h, char out[33]);       /* 32 lower-case hex digits, high half first */
bool trace_hash_parse(const char *text, Hash128 *h); /* false: anything else */
