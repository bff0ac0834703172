/* interleave_words.c - what an operation is, where in the code, and who waits for what; see interleave.h. */
#include "sim/subject/interleave_parts.h"

const char *interleave_name(const Interleave *x, int p) {
  int n = (int)x->runners->len;
  return p < n ? runner_at(x, p)->name : runner_at(x, p - n)->buffer_name;
}
const char *interleave_call(const Interleave *x, int p) {
  if (p >= (int)x->runners->len) return NULL;
  const Runner *r = runner_at(x, p);
  return r->ended ? NULL : r->calls[r->call].name;
}

typedef struct {
  uint64_t at;
  const char *member;
  ImageField field;
} Covering;

static void look_for_field(const char *member, const ImageField *f, void *data) {
  Covering *c = data;
  if (c->at - f->offset < MAX(f->size, 1)) c->member = member, c->field = *f;
}

/* ".pid", where its type is known; else the offset, if that is not 0 of a word. */
static char *field_words(const Interleave *x, const Structure *st, uint64_t at) {
  Covering c = {.at = at};
  if (st->type) image_each_field(x->s->image, st->type, look_for_field, &c);
  uint64_t in = at - c.field.offset;
  if (c.member && !in) return g_strconcat(".", c.member, NULL);
  if (c.member) return g_strdup_printf(".%s+%" G_GUINT64_FORMAT, c.member, in);
  return at || st->size > 8 ? g_strdup_printf("+%" G_GUINT64_FORMAT, at) : g_strdup("");
}

static const Structure *structure_at(const Interleave *x, uint64_t at) {
  const Structure *found = NULL;
  for (guint i = 1; i < x->s->structures->len; i++) {
    const Structure *st = &g_array_index(x->s->structures, Structure, i);
    if (at - st->base < st->bytes) found = st;
  }
  return found;
}

char *interleave_at(const Interleave *x, uint64_t at) {
  const Structure *found = structure_at(x, at);
  if (!found) return g_strdup("shared memory");
  uint64_t in = at - found->base, element = in / found->size;
  g_autofree char *field = field_words(x, found, in % found->size);
  if (found->bytes == found->size) return g_strconcat(found->name, field, NULL);
  return g_strdup_printf("%s[%" G_GUINT64_FORMAT "]%s", found->name, element, field);
}

char *interleave_variable(const Interleave *x, uint64_t at) {
  const Structure *found = structure_at(x, at);
  if (!found) return g_strdup("shared memory");
  Covering c = {.at = (at - found->base) % found->size};
  if (found->type) image_each_field(x->s->image, found->type, look_for_field, &c);
  return c.member ? g_strconcat(found->name, ".", c.member, NULL) : g_strdup(found->name);
}

char *interleave_words(const Interleave *x, const Operation *op) {
  static const char *const verbs[] = {"reads",          "writes",   "updates",  "takes",  "takes (shared)", "tries",
                                      "tries (shared)", "releases", "releases", "downs",  "tries to down",  "ups",
                                      "stores",         "fences",   "spins",    "goes on"};
  const char *verb = verbs[op->kind];
  if (op->left_out) return g_strdup_printf("goes on without %s", g_array_index(x->s->locks, Lock, op->left_out).name);
  if (operation_memory(op->kind) || op->kind == OPERATION_BUFFER) {
    g_autofree char *what = interleave_at(x, op->object);
    return g_strdup_printf("%s %s%s", verb, what, op->own ? " (its own)" : "");
  }
  if (operation_lock(op->kind))
    return g_strdup_printf("%s %s", verb, g_array_index(x->s->locks, Lock, op->object).name);
  if (!operation_semaphore(op->kind)) return g_strdup(verb);
  if (g_array_index(x->s->semaphores, Semaphore, op->object).signals)
    verb = op->kind == OPERATION_UP ? "sends" : "looks for";
  return g_strdup_printf("%s %s", verb, g_array_index(x->s->semaphores, Semaphore, op->object).name);
}

char *interleave_place(const Interleave *x, const Operation *op) {
  return op->pc ? subject_place_words(x->s, op->pc) : NULL;
}

char *interleave_line(const Interleave *x, const Operation *op) {
  ImagePlace p = {0};
  if (op->pc) p = image_place(x->s->image, (const char *)op->pc - 1); /* the call, not what follows it */
  return p.file ? g_strdup_printf("%s:%d", p.file, p.line) : NULL;
}

GPtrArray *interleave_callers(const Interleave *x) {
  GPtrArray *callers = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; i < x->n_callers; i++) g_ptr_array_add(callers, subject_place_words(x->s, x->callers[i]));
  return callers;
}

char *interleave_held(const Interleave *x, int p) {
  if (p >= (int)x->runners->len) return NULL;
  GString *out = g_string_new(NULL);
  for (guint i = 1; i < x->holders->len; i++)
    if (lock_holds(&g_array_index(x->holders, Holders, i), p))
      g_string_append_printf(out, "%s%s", out->len ? ", " : "", g_array_index(x->s->locks, Lock, i).name);
  return g_string_free(out, out->len == 0);
}

char *interleave_who_waits(const Interleave *x) {
  GString *out = g_string_new(NULL);
  for (int p = 0; p < (int)x->runners->len; p++) {
    const Runner *r = runner_at(x, p);
    if (r->ended) continue;
    g_autofree char *what = interleave_words(x, &r->next), *where = interleave_place(x, &r->next);
    g_string_append_printf(out, "%s%s waits: %s at %s", out->len ? "; " : "", r->name, what, where ? where : "?");
  }
  return g_string_free(out, FALSE);
}
