/* scenario_impl.h - what a Scenario is made of. Private to sim/scenario. */
#pragma once
#include "sim/scenario/node.h"
#include "sim/scenario/scenario.h"

struct Scenario {
  Node *root;    /* all layers, merged */
  Node *profile; /* NULL: machine.profile is none */
  char *text, *file;
  GPtrArray *overrides; /* char*, NULL-terminated */
  GPtrArray *sources;   /* of ScenarioSource */
};

/* The value of key, or the table's default; NULL when neither is. Asserts that the table knows the key. */
const char *scenario_scalar(const Scenario *s, const char *key);

/* Which of words (NULL-terminated, in the order of an enum) the value of key is; asserts that it is one. */
guint scenario_choice(const Scenario *s, const char *key, const char *const *words);
#define CHOICE(s, key, ...) scenario_choice(s, key, (const char *const[]){__VA_ARGS__, NULL})

/* Keys that contradict one another (contradictions.c). */
bool scenario_agrees(const Scenario *s, const ScenarioOptions *opt, GError **error);
