/* bind_script.c - one client's script, compiled: steps become ops, queries and cancels become rows of tables. A cancel
 * with `at` or `after` has no op: it stands beside its query. Loops nest by their ops' targets. */
#include "sim/scenario/binding.h"
#include "sim/scenario/keys.h"
#include <string.h>

typedef struct {
  PoolerBinding *b;
  const Scenario *s;
  GArray *ops, *queries, *cancels, *locks, *moments;
  GPtrArray *sessions, *pending; /* names; keys of cancels and awaits whose tag is looked up at the end */
  GArray *pending_of;            /* of int: the op or cancel that each belongs to */
  GError **error;
} Compile;

#define WRONG(c, key, ...) (g_propagate_error((c)->error, scenario_complain((c)->s, key, __VA_ARGS__)), false)

static char *under(const char *key, const char *name) {
  return g_strconcat(key, ".", name, NULL);
}

static Op *add_op(Compile *c, OpCode code) {
  const Op op = {.code = code, .index = NONE, .target = NONE, .moment = NONE};
  g_array_append_val(c->ops, op);
  return &g_array_index(c->ops, Op, c->ops->len - 1);
}

/* ---- names ---- */

static int intern(GArray *names, const char *name) {
  for (guint i = 0; i < names->len; i++)
    if (!strcmp(g_array_index(names, const char *, i), name)) return (int)i;
  g_array_append_val(names, name);
  return (int)names->len - 1;
}

static int moment_of(Compile *c, int64_t ns) {
  for (guint i = 0; i < c->moments->len; i++)
    if (g_array_index(c->moments, int64_t, i) == ns) return (int)i;
  g_array_append_val(c->moments, ns);
  return (int)c->moments->len - 1;
}

/* A session's number: 0 is the client's own, then in the order of their connects. NONE: no such session. */
static int session_find(const Compile *c, const char *name) {
  for (guint i = 0; i < c->sessions->len; i++)
    if (!g_strcmp0(c->sessions->pdata[i], name)) return (int)i + 1;
  return NONE;
}

static bool session_of(Compile *c, const char *step, int *session) {
  g_autofree char *key = under(step, "session");
  *session = 0;
  if (!scenario_given(c->s, key)) return true;
  *session = session_find(c, scenario_word(c->s, key));
  return *session != NONE || WRONG(c, key, "no session %s is opened before this; connect: {as: %s} would open it",
                                   scenario_word(c->s, key), scenario_word(c->s, key));
}

static bool pool_of(Compile *c, const char *key, int *first, int *n) {
  *first = named_find(c->b->pools, scenario_word(c->s, key), n);
  if (*first != NONE) return true;
  g_propagate_error(c->error, named_unknown(c->s, key, "pool", scenario_word(c->s, key), c->b->pools));
  return false;
}

/* ---- queries ---- */

static int query_find(const Compile *c, const char *tag) {
  for (guint i = 0; i < c->queries->len; i++)
    if (!strcmp(g_array_index(c->queries, QueryDef, i).tag, tag)) return (int)i;
  return NONE;
}

static bool query_tag(Compile *c, const char *step, QueryDef *q) {
  g_autofree char *key = under(step, "tag");
  if (!scenario_given(c->s, key)) {
    g_autofree char *number = g_strdup_printf("#%u", c->queries->len + 1);
    q->tag = binding_text(c->b, number);
    return true;
  }
  q->tag = scenario_word(c->s, key);
  return query_find(c, q->tag) == NONE || WRONG(c, key, "%s is the tag of another query of this script", q->tag);
}

static bool query_pools(Compile *c, const char *step, QueryDef *q) {
  g_autofree char *list = under(step, "pool");
  for (guint i = 0, n = scenario_count(c->s, list); i < n; i++) {
    g_autofree char *key = g_strdup_printf("%s[%u]", list, i);
    int first = 0, copies = 0;
    if (!pool_of(c, key, &first, &copies)) return false;
    if (first + copies > 32) return WRONG(c, key, "a query can name the first 32 pools only");
    for (int pool = first; pool < first + copies; pool++) q->pools |= UINT32_C(1) << pool;
  }
  return true;
}

static bool query_deadline(Compile *c, const char *step, QueryDef *q) {
  g_autofree char *deadline = under(step, "deadline"), *list = under(step, "on_deadline");
  q->deadline_ns = bind_limit(c->s, deadline);
  for (guint i = 0, n = scenario_count(c->s, list); i < n; i++) {
    g_autofree char *key = g_strdup_printf("%s[%u]", list, i);
    const unsigned what = 1u << CHOICE(c->s, key, "cancel", "wait", "disconnect");
    if (q->on_deadline & what) return WRONG(c, key, "%s is said twice", scenario_word(c->s, key));
    if (q->on_deadline > what) return WRONG(c, key, "the order is cancel, then wait or disconnect");
    q->on_deadline |= what;
  }
  if (q->on_deadline && q->deadline_ns == NO_LIMIT)
    return WRONG(c, list, "there is no deadline; deadline: 5ms would set one");
  if ((q->on_deadline & 6) == 6) return WRONG(c, list, "wait and disconnect exclude each other");
  return q->on_deadline != ON_DEADLINE_WAIT || WRONG(c, list, "wait alone does nothing; cancel before it");
}

static bool query_lock(Compile *c, const char *step, QueryDef *q) {
  g_autofree char *lock = under(step, "lock"), *hold = under(step, "hold");
  q->lock = scenario_given(c->s, lock) ? intern(c->locks, scenario_word(c->s, lock)) : NONE;
  q->hold = (LockHold)CHOICE(c->s, hold, "query", "transaction", "session");
  return q->lock != NONE || !scenario_given(c->s, hold) || WRONG(c, hold, "there is no lock to hold; lock: NAME");
}

static bool add_query(Compile *c, const char *step) {
  g_autofree char *runs = under(step, "runs"), *cpu = under(step, "cpu"), *ends = under(step, "ends"),
                  *dirty = under(step, "dirty"), *async = under(step, "async");
  QueryDef q = {.runs = bind_delay(c->s, runs),
                .cpu = bind_delay(c->s, cpu),
                .ends_in_error = scenario_is(c->s, ends, "error"),
                .dirty = scenario_bool(c->s, dirty),
                .async = scenario_bool(c->s, async)};
  int session = 0;
  if (!session_of(c, step, &session) || !query_tag(c, step, &q) || !query_pools(c, step, &q) ||
      !query_deadline(c, step, &q) || !query_lock(c, step, &q))
    return false;
  if (c->queries->len == QUERIES_MAX)
    return WRONG(c, step, "a script has at most %d queries; a loop repeats them", QUERIES_MAX);
  Op *op = add_op(c, OP_QUERY);
  op->session = session;
  op->index = (int)c->queries->len;
  g_array_append_val(c->queries, q);
  return true;
}

/* ---- cancels and awaits: a tag may be that of a query further down ---- */

static void look_up_later(Compile *c, const char *key, int of) {
  g_ptr_array_add(c->pending, g_strdup(key));
  g_array_append_val(c->pending_of, of);
}

static bool add_cancel(Compile *c, const char *step) {
  g_autofree char *of = under(step, "of"), *at = under(step, "at"), *after = under(step, "after"),
                  *times = under(step, "times");
  CancelDef x = {.query = NONE, .when = CANCEL_HERE, .times = (int)scenario_int(c->s, times)};
  if (scenario_given(c->s, at) && scenario_given(c->s, after))
    return WRONG(c, after, "at is given too; one of them would be right");
  if (scenario_given(c->s, at)) x.when = CANCEL_AT, x.delay = bind_delay(c->s, at);
  if (scenario_given(c->s, after)) x.when = CANCEL_AFTER, x.delay = bind_delay(c->s, after);
  look_up_later(c, of, -1 - (int)c->cancels->len);
  if (x.when == CANCEL_HERE) add_op(c, OP_CANCEL)->index = (int)c->cancels->len;
  g_array_append_val(c->cancels, x);
  return true;
}

static bool add_await(Compile *c, const char *step) {
  look_up_later(c, step, (int)c->ops->len);
  add_op(c, OP_AWAIT);
  return true;
}

/* Whose script has the tag; NULL: nobody's. */
static char *owner_of(const Scenario *s, const char *tag) {
  for (guint i = 0, n = scenario_count(s, "clients"); i < n; i++) {
    g_autofree char *script = g_strdup_printf("clients[%u].script", i), *name = g_strdup_printf("clients[%u].name", i);
    for (guint j = 0, steps = scenario_count(s, script); j < steps; j++) {
      g_autofree char *key = g_strdup_printf("%s[%u].query.tag", script, j);
      const Node *own = node_at(s->root, key);
      if (own && !g_strcmp0(own->text, tag)) return g_strdup(scenario_word(s, name));
    }
  }
  return NULL;
}

static bool no_such_query(Compile *c, const char *key, const char *tag) {
  g_autoptr(GPtrArray) tags = g_ptr_array_new();
  for (guint i = 0; i < c->queries->len; i++)
    g_ptr_array_add(tags, (gpointer)g_array_index(c->queries, QueryDef, i).tag);
  g_ptr_array_add(tags, NULL);
  const char *near = nearest_name(tag, (const char *const *)tags->pdata);
  g_autofree char *owner = owner_of(c->s, tag), *value = quoted(tag);
  if (owner)
    return WRONG(c, key, "query %s is client %s's; a client cancels and awaits queries of its own script", value,
                 owner);
  return WRONG(c, key, "no query %s is ever sent by this script%s%s", value, near ? "; the nearest is " : "",
               near ? near : "");
}

static bool look_up_tags(Compile *c) {
  for (guint i = 0; i < c->pending->len; i++) {
    const char *key = c->pending->pdata[i], *tag = scenario_word(c->s, key);
    const int query = query_find(c, tag), of = g_array_index(c->pending_of, int, i);
    if (query == NONE) return no_such_query(c, key, tag);
    if (of < 0)
      g_array_index(c->cancels, CancelDef, -1 - of).query = query;
    else
      g_array_index(c->ops, Op, of).index = query;
  }
  return true;
}

/* ---- the other steps ---- */

static bool add_connect(Compile *c, const char *step) {
  g_autofree char *as = under(step, "as");
  if (!scenario_given(c->s, as)) return add_op(c, OP_CONNECT), true;
  int session = session_find(c, scenario_word(c->s, as));
  if (session == NONE) {
    if (c->sessions->len + 2 > SESSIONS_MAX) return WRONG(c, as, "a client has at most %d sessions", SESSIONS_MAX);
    g_ptr_array_add(c->sessions, (gpointer)scenario_word(c->s, as));
    session = (int)c->sessions->len;
  }
  add_op(c, OP_CONNECT)->session = session;
  return true;
}

static bool add_simple(Compile *c, const char *step, OpCode code) {
  g_autofree char *runs = under(step, "runs");
  int session = 0;
  if (!session_of(c, step, &session)) return false;
  Op *op = add_op(c, code);
  op->session = session;
  if (code == OP_COMMIT || code == OP_ROLLBACK) op->delay = bind_delay(c->s, runs);
  return true;
}

static bool add_steps(Compile *c, const char *list, int depth);

static bool add_loop(Compile *c, const char *step, int depth) {
  g_autofree char *times = under(step, "times"), *until = under(step, "until"), *body = under(step, "do");
  const bool t = scenario_given(c->s, times), u = scenario_given(c->s, until);
  const int begin = (int)c->ops->len;
  if (t == u) return WRONG(c, step, "a loop has either times: N or until: T");
  if (depth == LOOPS_MAX) return WRONG(c, step, "loops nest at most %d deep", LOOPS_MAX);
  Op *op = add_op(c, OP_LOOP);
  if (t) op->times = (int)scenario_int(c->s, times);
  if (u) op->moment = moment_of(c, scenario_ns(c->s, until));
  if (!add_steps(c, body, depth + 1)) return false;
  if ((int)c->ops->len == begin + 1) return WRONG(c, body, "a loop with nothing to do");
  g_array_index(c->ops, Op, begin).target = (int)c->ops->len;
  add_op(c, OP_END_LOOP)->target = begin;
  return true;
}

static bool add_step(Compile *c, const char *entry, int depth) {
  static const char *const words[] = {"connect", "begin", "commit",     "rollback", "query", "cancel",
                                      "await",   "wait",  "disconnect", "vanish",   "loop",  NULL};
  static const OpCode codes[] = {OP_CONNECT, OP_BEGIN, OP_COMMIT,     OP_ROLLBACK, OP_QUERY, OP_CANCEL,
                                 OP_AWAIT,   OP_WAIT,  OP_DISCONNECT, OP_VANISH,   OP_LOOP};
  const OpCode code = codes[scenario_choice(c->s, entry, words)];
  g_autofree char *step = under(entry, scenario_word(c->s, entry));
  switch (code) {
  case OP_CONNECT: return add_connect(c, step);
  case OP_QUERY: return add_query(c, step);
  case OP_CANCEL: return add_cancel(c, step);
  case OP_AWAIT: return add_await(c, step);
  case OP_WAIT: return add_op(c, OP_WAIT)->delay = bind_delay(c->s, step), true;
  case OP_LOOP: return add_loop(c, step, depth);
  default: return add_simple(c, step, code);
  }
}

static bool add_steps(Compile *c, const char *list, int depth) {
  for (guint i = 0, n = scenario_count(c->s, list); i < n; i++) {
    g_autofree char *entry = g_strdup_printf("%s[%u]", list, i);
    if (!add_step(c, entry, depth)) return false;
  }
  return true;
}

static bool compile(Compile *c, const char *key, Script *script) {
  if (!scenario_count(c->s, key)) return WRONG(c, key, "an empty script; a client does something, connect at least");
  if (!add_steps(c, key, 0) || !look_up_tags(c)) return false;
  add_op(c, OP_END);
  *script = (Script){.n_ops = (int)c->ops->len,
                     .n_queries = (int)c->queries->len,
                     .n_cancels = (int)c->cancels->len,
                     .n_sessions = (int)c->sessions->len + 1};
  script->ops = binding_keep(c->b, g_array_ref(c->ops));
  script->queries = binding_keep(c->b, g_array_ref(c->queries));
  script->cancels = binding_keep(c->b, g_array_ref(c->cancels));
  return true;
}

bool bind_script(PoolerBinding *b, const Scenario *s, const char *key, GArray *locks, GArray *moments, Script **out,
                 GError **error) {
  g_autoptr(GArray) ops = g_array_new(FALSE, TRUE, sizeof(Op)), queries = g_array_new(FALSE, TRUE, sizeof(QueryDef)),
                    cancels = g_array_new(FALSE, TRUE, sizeof(CancelDef)), of = g_array_new(FALSE, TRUE, sizeof(int));
  g_autoptr(GPtrArray) sessions = g_ptr_array_new(), pending = g_ptr_array_new_with_free_func(g_free);
  Compile c = {b, s, ops, queries, cancels, locks, moments, sessions, pending, of, error};
  *out = binding_new(b, 1, sizeof **out);
  return compile(&c, key, *out);
}
