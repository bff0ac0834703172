/* keys.h - the table of keys: everything that may stand in a scenario, preset or profile. The reader, its suggestions,
 * `stampede list` and stampede-scenario(5) are made from it; a new key is one row, and nothing else knows its name but
 * who asks for it.
 *
 * A path's parts: `a.b` a key in a map, `a[]` each entry of a list. Alternatives are bits: K_INT | K_WORD with words
 * "none" takes a number or none; K_WORD | K_MAP | K_ONE with children is a policy, a word or {word: {argument: value}}.
 * A row's `like` names the path whose children it shares beside its own, so that each pool may say what the pooler says
 * for all (`like @pool`), and a loop's body is a script again (`like @step`). Paths that begin with @ are only reached
 * so; a profile's root is `@profile`. The rows stand in several files, one for each part of the language; all of them
 * are asked through key_row. Private to sim/scenario. */
#pragma once
#include <glib.h>

enum {
  K_INT = 1 << 0,      /* lo..hi */
  K_SEED = 1 << 1,     /* unsigned, 64 bits */
  K_NUMBER = 1 << 2,   /* decimal, signed: the bounds of a metric */
  K_BOOL = 1 << 3,     /* true, false */
  K_TIME = 1 << 4,     /* ns */
  K_COST = 1 << 5,     /* a time in ps */
  K_PER_BYTE = 1 << 6, /* a time in ps, or a bandwidth */
  K_SIZE = 1 << 7,     /* bytes */
  K_RATE = 1 << 8,     /* 500/s */
  K_WORD = 1 << 9,     /* one of words */
  K_NAME = 1 << 10,    /* letters, digits, - _ . and no leading dot */
  K_TEXT = 1 << 11,    /* anything */
  K_SCALARS = (1 << 12) - 1,
  K_MAP = 1 << 12,
  K_LIST = 1 << 13,
  K_ONE = 1 << 14,      /* the map holds exactly one key: a policy with its arguments */
  K_PAIR = 1 << 15,     /* the list is [low, high] */
  K_DRAW = 1 << 16,     /* beside a time: {exp: T} or {uniform: [T, T]} */
  K_POW2 = 1 << 17,     /* a power of two, or 0 */
  K_REQUIRED = 1 << 18, /* of a scenario, or of the entry it stands in */
  K_ANY = 1 << 19       /* a map of any keys, judged by whoever uses it */
};

/* What a name must be one of; the presets' files are found by it. */
typedef enum {
  NAMES_NONE,
  NAMES_CHECK,
  NAMES_METRIC,
  NAMES_VERSION,
  NAMES_VARIANT,
  NAMES_PROFILE,
  NAMES_DATA,
  NAMES_POOLER
} Names;

typedef struct {
  const char *path;
  guint types;
  const char *dflt;    /* as it would be written; NULL: none */
  const char *lo, *hi; /* of numbers, in their unit; NULL: no bound but the type's */
  const char *words;   /* of K_WORD, with blanks between */
  const char *example, *about, *like;
  Names names;
  const char *alias; /* another spelling of this key of the same map (poolers.md D) */
  const char *hint;  /* no key here, though elsewhere or once it was: what to write instead */
} KeyInfo;

typedef struct {
  const KeyInfo *rows;
  guint n;
} KeyPart;
extern const KeyPart key_table, key_table_pool, key_table_clients, key_table_pooler, key_table_processes;
guint key_rows(void);
const KeyInfo *key_row(guint i);

/* NULL: no such key. A path that only leads to others (machine.tlb.l1 gives machine) is a group. */
const KeyInfo *key_find(const char *path);
gboolean key_is_group(const char *path);
GPtrArray *key_children(const char *path);    /* of const KeyInfo*: the rows right below, those of `like` last */
GPtrArray *key_names_under(const char *path); /* char*, in the table's order: keys that may stand in that map */
char *key_public_path(const KeyInfo *k);      /* as a user reaches it first: @pool.fence is pooler.fence */
char *key_without_indexes(const char *path);  /* expect[3].metric: expect[].metric */
char *key_expected(const KeyInfo *k);         /* "a duration such as 3ms, or none" */

/* The nearest of names (NULL-terminated) by edit distance; NULL when none is near. Ties: the first. */
const char *nearest_name(const char *name, const char *const *names);
