/* node.h - a YAML document as a tree whose every node knows where it was written. Read with libyaml's events, so that
 * a document is judged while it is read: limits on size, depth and number of nodes end any input in well under a
 * second. Anchors, aliases, tags and further documents are refused: no scenario needs them.
 *
 * A key with dots is short for nested maps ({a.b: 1} is {a: {b: 1}}). Private to sim/scenario, and read by sim/live for
 * adapters. */
#pragma once
#include <glib.h>
#include <stdbool.h>

enum { NODE_MAX_BYTES = 1 << 20, NODE_MAX_DEPTH = 32, NODE_MAX_NODES = 20000, NODE_MAX_CHILDREN = 1000 };

typedef enum { NODE_SCALAR, NODE_MAP, NODE_LIST } NodeKind;
typedef struct {
  char *file;         /* a GRefString */
  guint line, column; /* from 1; line 0: not from a file (--set) */
} Mark;
typedef struct Node {
  NodeKind kind;
  bool quoted;   /* a scalar in quotes: never a number */
  bool implicit; /* a map made of a dotted key */
  bool command;  /* came from the command line */
  char *key;     /* in a map; else NULL */
  char *text;    /* of a scalar; else NULL */
  Mark mark, key_mark;
  GPtrArray *children; /* of Node; of a map or list, else NULL */
} Node;

Node *node_new(NodeKind kind, Mark mark); /* takes a reference on mark.file */
void node_free(Node *n);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Node, node_free)
Node *node_copy(const Node *n);

/* file is what errors call it. Errors: SCENARIO_ERROR. An empty document is an error. */
Node *node_parse(const char *text, gsize length, const char *file, GError **error);

Node *node_child(const Node *map, const char *key);   /* NULL: none, or not a map */
Node *node_named(const Node *list, const char *name); /* the entry of a list whose `name` it is; NULL: none */
/* "expect[0].metric", "servers[s].host"; [0] of what is no list is itself. A key that is written with brackets
 * (cancel_to_server[s]) is found as it is written. */
Node *node_at(const Node *root, const char *path);
/* Puts child (taken) under key in map; the old value is freed. Maps made of dotted keys are joined. */
void node_put(Node *map, const char *key, Node *child);
const char *node_kind(const Node *n); /* "a list" */

/* An error of this module's domain in one line, "file:line:column: key: ..."; key may be NULL. */
GError *mark_error(const Mark *at, const char *key, const char *format, ...) G_GNUC_PRINTF(3, 4);
char *mark_text(const Mark *at); /* "file:line:column" */
/* A user's text fit for a message: in quotes, without control characters, at most 40 characters. */
char *quoted(const char *text);
