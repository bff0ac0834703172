/* schedules_races_told.c - see schedules_races_told.h. */
#include "checks/schedules_races_told.h"
#include "checks/schedules_path.h"
#include <string.h>

/* ---- what is raced for ---- */

typedef struct {
  char *lines[2];    /* of the accesses; NULL: not known */
  char *from, *to;   /* names of the first and the last byte that both touch */
  const void *pc[2]; /* in order of their addresses: who came first is the schedule's */
} RacedFor;

static void raced_for_clear(RacedFor *f) {
  char *texts[] = {f->lines[0], f->lines[1], f->from, f->to};
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++) g_free(texts[i]);
}

static RacedFor raced_for(const Bound *b, const ScheduleRace *r) {
  const Operation *first = &r->first, *second = &r->second;
  uint64_t from = MAX(first->object, second->object),
           to = MIN(first->object + first->bytes, second->object + second->bytes);
  bool swapped = (uintptr_t)first->pc > (uintptr_t)second->pc;
  g_assert(from < to);
  return (RacedFor){.lines = {interleave_line(b->code, first), interleave_line(b->code, second)},
                    .from = interleave_variable(b->code, from),
                    .to = interleave_variable(b->code, to - 1),
                    .pc = {swapped ? second->pc : first->pc, swapped ? first->pc : second->pc}};
}

static bool same_race(const RacedFor *a, const RacedFor *b) {
  return a->pc[0] == b->pc[0] && a->pc[1] == b->pc[1] && strcmp(a->from, b->from) == 0 && strcmp(a->to, b->to) == 0;
}

/* ---- declarations ---- */

/* "PGPROC" is all of "PGPROC.pid" and "PGPROC.links.next". */
static bool names(const char *at, const char *variable) {
  gsize n = strlen(at);
  return strncmp(at, variable, n) == 0 && (!variable[n] || variable[n] == '.');
}

static bool declares(const DeclaredRace *d, const RacedFor *f) {
  for (guint k = 0; k < 2; k++)
    if (g_strcmp0(d->at, f->lines[k]) == 0) return true;
  return names(d->at, f->from) && names(d->at, f->to);
}

static const DeclaredRace *declaration(const GArray *declared, const RacedFor *f) {
  for (guint i = 0; i < declared->len; i++) {
    const DeclaredRace *d = &g_array_index(declared, DeclaredRace, i);
    if (declares(d, f)) return d;
  }
  return NULL;
}

/* ---- a race ---- */

static void race_told_free(void *data) {
  RaceTold *t = data;
  g_free(t->words);
  g_free(t->at);
  g_free(t->why);
  g_ptr_array_unref(t->chains[0]);
  g_ptr_array_unref(t->chains[1]);
  g_ptr_array_unref(t->steps);
  g_free(t);
}

static char *side_words(const Bound *b, const ScheduleRace *r, guint k) {
  const Operation *op = k ? &r->second : &r->first;
  g_autofree char *what = interleave_words(b->code, op), *where = interleave_place(b->code, op);
  return g_strdup_printf("%s %s at %s", interleave_name(b->code, (int)r->processes[k]), what, where ? where : "?");
}

/* Made again, as the callers of an access are known while it is done. */
static GPtrArray *chain_at(Bound *b, const ScheduleRace *r, guint at) {
  const Operation *op = at == r->first_at ? &r->first : &r->second;
  ScheduleProgram g = bound_program(b);
  g.restart(b);
  for (guint i = 0; i <= at; i++) {
    bool failed, changed;
    interleave_want_callers(b->code, i == at);
    g.step(b, g_array_index(r->order, guint, i), &failed, &changed);
  }
  GPtrArray *chain = interleave_callers(b->code);
  char *where = interleave_place(b->code, op);
  g_ptr_array_insert(chain, 0, where ? where : g_strdup("?"));
  return chain;
}

static RaceTold *tell(Bound *b, const ScheduleRace *r, const DeclaredRace *d) {
  g_assert(r->first_at + 1 < r->order->len);
  g_autofree char *first = side_words(b, r, 0), *second = side_words(b, r, 1);
  RaceTold *t = g_new0(RaceTold, 1);
  *t = (RaceTold){.words = g_strdup_printf("race: %s; %s", first, second),
                  .at = g_strdup(d ? d->at : NULL),
                  .why = g_strdup(d ? d->reason : NULL),
                  .chains = {chain_at(b, r, r->first_at), chain_at(b, r, r->order->len - 1)},
                  .steps = schedule_words(b, r->order),
                  .first_at = r->first_at};
  return t;
}

/* ---- all of them ---- */

static bool is_new(GArray *seen, RacedFor *f) {
  for (guint i = 0; i < seen->len; i++)
    if (same_race(&g_array_index(seen, RacedFor, i), f)) return raced_for_clear(f), false;
  g_array_append_val(seen, *f);
  return true;
}

static void add_unused(RacesTold *t, const GArray *declared) {
  for (guint i = 0; i < declared->len; i++) {
    const DeclaredRace *d = &g_array_index(declared, DeclaredRace, i);
    bool used = false;
    for (guint k = 0; k < t->races->len; k++) used |= g_strcmp0(((const RaceTold *)t->races->pdata[k])->at, d->at) == 0;
    if (used) continue;
    DeclaredRace copy = {g_strdup(d->at), g_strdup(d->reason)};
    g_array_append_val(t->unused, copy);
  }
}

RacesTold *races_told_new(Bound *b, const GPtrArray *found) {
  RacesTold *t = g_new0(RacesTold, 1);
  const GArray *declared = image_origin(b->model->image)->races;
  GArray *seen = g_array_new(FALSE, FALSE, sizeof(RacedFor));
  t->races = g_ptr_array_new_with_free_func(race_told_free);
  t->unused = declared_races_new();
  for (guint i = 0; i < found->len; i++) {
    RacedFor f = raced_for(b, found->pdata[i]);
    if (is_new(seen, &f)) g_ptr_array_add(t->races, tell(b, found->pdata[i], declaration(declared, &f)));
  }
  add_unused(t, declared);
  for (guint i = 0; i < seen->len; i++) raced_for_clear(&g_array_index(seen, RacedFor, i));
  g_array_unref(seen);
  return t;
}

void races_told_free(RacesTold *r) {
  if (!r) return;
  g_ptr_array_unref(r->races);
  g_array_unref(r->unused);
  g_free(r);
}

const char *races_undeclared(const RacesTold *r) {
  for (guint i = 0; i < r->races->len; i++) {
    const RaceTold *t = r->races->pdata[i];
    if (!t->at) return t->words;
  }
  return NULL;
}

/* ---- text ---- */

static void text_chain(const GPtrArray *chain, const char *which, GString *out) {
  g_string_append_printf(out, "       %s", which);
  for (guint i = 0; i < chain->len; i++)
    g_string_append_printf(out, "%s%s", i ? ", called at " : " at ", (const char *)chain->pdata[i]);
  g_string_append_c(out, '\n');
}

static void text_race(const RaceTold *t, GString *out) {
  g_string_append_printf(out, "%s\n", t->words);
  if (t->at) g_string_append_printf(out, "       declared, %s: %s\n", t->at, t->why);
  if (t->at) return;
  text_chain(t->chains[0], "first access ", out);
  text_chain(t->chains[1], "second access", out);
  for (guint i = 0; i < t->steps->len; i++)
    g_string_append_printf(out, "%6u %s %s\n", i, i == t->first_at || i + 1 == t->steps->len ? "*" : " ",
                           (const char *)t->steps->pdata[i]);
}

void races_told_text(const RacesTold *r, GString *out) {
  for (guint i = 0; i < r->races->len; i++) text_race(r->races->pdata[i], out);
  if (!r->races->len) g_string_append(out, "no race in these schedules\n");
  for (guint i = 0; i < r->unused->len; i++) {
    const DeclaredRace *d = &g_array_index(r->unused, DeclaredRace, i);
    g_string_append_printf(out, "declared, but no race in these schedules: %s (%s)\n", d->at, d->reason);
  }
}

/* ---- JSON ---- */

static void json_texts(const GPtrArray *texts, const char *key, Output *o) {
  output_key(o, key);
  output_strings(o, (const char *const *)texts->pdata, texts->len);
}

static void json_race(const RaceTold *t, Output *o) {
  output_str(o, "{");
  output_key(o, "race");
  output_string(o, t->words);
  output_str(o, ", ");
  output_key(o, "declared");
  if (t->at)
    declared_race_json(t->at, t->why, o);
  else
    output_str(o, "null");
  output_str(o, ", ");
  json_texts(t->chains[0], "first", o);
  output_str(o, ", ");
  json_texts(t->chains[1], "second", o);
  output_str(o, ", ");
  output_key(o, "first_step");
  output_uint(o, t->first_at);
  output_str(o, ", ");
  json_texts(t->steps, "steps", o);
  output_str(o, "}");
}

void races_told_json(const RacesTold *r, Output *o) {
  output_str(o, "  \"races\": [");
  for (guint i = 0; i < r->races->len; i++) {
    output_str(o, i ? ",\n    " : "\n    ");
    json_race(r->races->pdata[i], o);
  }
  output_str(o, "],\n  \"races_unused\": [");
  for (guint i = 0; i < r->unused->len; i++) {
    const DeclaredRace *d = &g_array_index(r->unused, DeclaredRace, i);
    if (i) output_str(o, ", ");
    declared_race_json(d->at, d->reason, o);
  }
  output_str(o, "],\n");
}
