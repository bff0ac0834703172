/* bind_processes.c - see processes.h. */
#include "sim/scenario/processes.h"
#include "sim/scenario/scenario_impl.h"
#include <string.h>

typedef struct {
  const Scenario *s;
  GArray *ops;
  GError **error;
} Compile;

#define WRONG(c, key, ...) (g_propagate_error((c)->error, scenario_complain((c)->s, key, __VA_ARGS__)), false)

static void clear_op(void *data) {
  g_free(((ProcessOp *)data)->key);
}
static void clear_group(void *data) {
  g_clear_pointer(&((ProcessGroup *)data)->ops, g_array_unref);
}

static char *under(const char *key, const char *member) {
  return g_strconcat(key, ".", member, NULL);
}

static void add_op(Compile *c, const char *key, ProcessOp op) {
  g_array_append_val(c->ops, op);
  g_array_index(c->ops, ProcessOp, c->ops->len - 1).key = g_strdup(key);
}

static bool add_steps(Compile *c, const char *list, int depth);

static bool add_loop(Compile *c, const char *step, int depth) {
  g_autofree char *loop = under(step, "loop"), *times = under(loop, "times"), *body = under(loop, "do");
  guint begin = c->ops->len;
  if (depth == PROCESS_LOOPS_MAX) return WRONG(c, loop, "loops nest at most %d deep", PROCESS_LOOPS_MAX);
  add_op(c, loop, (ProcessOp){.code = PROCESS_LOOP, .times = scenario_int(c->s, times), .depth = depth});
  if (!add_steps(c, body, depth + 1)) return false;
  if (c->ops->len == begin + 1) return WRONG(c, body, "a loop with nothing to do");
  add_op(c, loop, (ProcessOp){.code = PROCESS_END_LOOP, .depth = depth, .target = begin});
  return true;
}

static bool add_map(Compile *c, const char *step, int depth) {
  g_autofree char *call = under(step, "call"), *with = under(step, "with"), *wait = under(step, "wait"),
                  *loop = under(step, "loop");
  const bool calls = scenario_given(c->s, call), waits = scenario_given(c->s, wait), loops = scenario_given(c->s, loop);
  if (calls + waits + loops != 1) return WRONG(c, step, "a step is one of call, wait and loop");
  if (scenario_given(c->s, with) && !calls) return WRONG(c, with, "belongs to a call");
  if (loops) return add_loop(c, step, depth);
  if (waits) {
    add_op(c, step, (ProcessOp){.code = PROCESS_WAIT, .wait = scenario_draw(c->s, wait)});
    return true;
  }
  bool copy = scenario_is(c->s, with, "copy");
  add_op(c, call,
         (ProcessOp){.code = PROCESS_CALL,
                     .entry = scenario_word(c->s, call),
                     .argument = copy ? 0 : scenario_int(c->s, with),
                     .argument_is_copy = copy});
  return true;
}

static bool add_steps(Compile *c, const char *list, int depth) {
  for (guint i = 0, n = scenario_count(c->s, list); i < n; i++) {
    g_autofree char *step = g_strdup_printf("%s[%u]", list, i);
    const Node *node = node_at(c->s->root, step);
    if (node->kind == NODE_MAP) {
      if (!add_map(c, step, depth)) return false;
    } else {
      add_op(c, step, (ProcessOp){.code = PROCESS_CALL, .entry = node->text});
    }
  }
  return true;
}

static bool name_is_new(Compile *c, const GArray *groups, const char *key, const char *name) {
  for (guint i = 0; i < groups->len; i++)
    if (!strcmp(g_array_index(groups, ProcessGroup, i).name, name))
      return WRONG(c, key, "other processes are named %s already; count: N makes several", name);
  return true;
}

static bool add_group(Compile *c, GArray *groups, guint i) {
  g_autofree char *entry = g_strdup_printf("processes[%u]", i), *name = under(entry, "name"),
                  *count = under(entry, "count"), *start = under(entry, "start"), *script = under(entry, "script");
  ProcessGroup g = {.name = scenario_word(c->s, name),
                    .count = (guint)scenario_int(c->s, count),
                    .start = scenario_draw(c->s, start),
                    .ops = g_array_new(FALSE, TRUE, sizeof(ProcessOp))};
  g_array_set_clear_func(g.ops, clear_op);
  c->ops = g.ops;
  bool right = name_is_new(c, groups, name, g.name);
  g_array_append_val(groups, g);
  if (!right || !add_steps(c, script, 0)) return false;
  if (!g.ops->len) return WRONG(c, script, "an empty script; a process calls something");
  add_op(c, script, (ProcessOp){.code = PROCESS_END});
  return true;
}

GArray *scenario_bind_processes(const Scenario *s, GError **error) {
  g_autoptr(GArray) groups = g_array_new(FALSE, TRUE, sizeof(ProcessGroup));
  Compile c = {.s = s, .error = error};
  g_array_set_clear_func(groups, clear_group);
  if (scenario_count(s, "processes") > PROCESS_GROUPS_MAX) {
    g_propagate_error(error, scenario_complain(s, "processes[8]",
                                               "at most %d kinds of processes; count: N makes several alike",
                                               PROCESS_GROUPS_MAX));
    return NULL;
  }
  for (guint i = 0, n = scenario_count(s, "processes"); i < n; i++)
    if (!add_group(&c, groups, i)) return NULL;
  return g_steal_pointer(&groups);
}
