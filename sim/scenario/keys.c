/* keys.c - looking things up in the table of keys: rows, what stands below them, words for messages, the nearest name.
 */
#include "sim/scenario/keys.h"
#include <string.h>

static const KeyPart *const parts[] = {&key_table, &key_table_clients, &key_table_pooler, &key_table_pool,
                                       &key_table_processes};

guint key_rows(void) {
  guint n = 0;
  for (guint i = 0; i < G_N_ELEMENTS(parts); i++) n += parts[i]->n;
  return n;
}

const KeyInfo *key_row(guint i) {
  guint part = 0;
  for (; i >= parts[part]->n; part++) {
    i -= parts[part]->n;
    g_assert(part + 1 < G_N_ELEMENTS(parts));
  }
  return &parts[part]->rows[i];
}

/* The table by path, and each path that others go on from ("pooler" of "pooler.fence"): a sweep asks for keys a million
 * times. Made once, then only read. */
typedef struct {
  GHashTable *rows, *groups; /* path -> KeyInfo; paths */
} Index;

static void index_groups(GHashTable *groups, const char *path) {
  for (const char *dot = strchr(path, '.'); dot; dot = strchr(dot + 1, '.'))
    g_hash_table_add(groups, g_strndup(path, (gsize)(dot - path)));
}

static const Index *table(void) {
  static Index index;
  static gsize once;
  if (g_once_init_enter(&once)) {
    index.rows = g_hash_table_new(g_str_hash, g_str_equal);
    index.groups = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = key_rows(); i-- > 0;) { /* of two rows of one path the first counts */
      g_hash_table_insert(index.rows, (gpointer)key_row(i)->path, (gpointer)key_row(i));
      index_groups(index.groups, key_row(i)->path);
    }
    g_once_init_leave(&once, 1);
  }
  return &index;
}

static const KeyInfo *row_at(const char *path) {
  return g_hash_table_lookup(table()->rows, path);
}

/* What follows `path.` in row, or NULL. */
static const char *below(const char *row, const char *path) {
  size_t len = strlen(path);
  if (len == 0) return *row == '@' ? NULL : row;
  return !strncmp(row, path, len) && row[len] == '.' ? row + len + 1 : NULL;
}

static gboolean leads_on(const char *path) {
  return !*path || g_hash_table_contains(table()->groups, path);
}

/* path by the longest of its beginnings whose row shares another's children: pooler.pools[].fence is @pool.fence. NULL:
 * none does. */
static char *shared_path(const char *path) {
  for (size_t len = strlen(path); len-- > 1;) {
    if (path[len] != '.' && path[len] != '[') continue;
    g_autofree char *begin = g_strndup(path, len);
    const KeyInfo *k = row_at(begin);
    if (k && k->like) return g_strconcat(k->like, path + len, NULL);
  }
  return NULL;
}

/* Where the table has it, as itself or by `like`. Each turn makes the path shorter or leaves an @-path without a row,
 * so it ends. */
static char *table_path(const char *path) {
  char *at = g_strdup(path);
  while (at && !row_at(at) && !leads_on(at)) {
    char *shared = shared_path(at);
    g_free(at);
    at = shared;
  }
  return at;
}

const KeyInfo *key_find(const char *path) {
  const KeyInfo *k = row_at(path);
  if (k) return k;
  g_autofree char *at = table_path(path);
  return at ? row_at(at) : NULL;
}

gboolean key_is_group(const char *path) {
  g_autofree char *at = table_path(path);
  return at && leads_on(at);
}

static void add_below(GPtrArray *rows, const char *path) {
  for (guint i = 0, n = key_rows(); i < n; i++) {
    const char *rest = below(key_row(i)->path, path);
    if (rest && !strpbrk(rest, ".[")) g_ptr_array_add(rows, (gpointer)key_row(i));
  }
}

GPtrArray *key_children(const char *path) {
  GPtrArray *rows = g_ptr_array_new();
  g_autofree char *at = table_path(path);
  const KeyInfo *k = at ? row_at(at) : NULL;
  if (at) add_below(rows, at);
  if (k && k->like) add_below(rows, k->like);
  return rows;
}

static gboolean has(const GPtrArray *names, const char *name, size_t len) {
  for (guint i = 0; i < names->len; i++)
    if (!strncmp(names->pdata[i], name, len) && !((const char *)names->pdata[i])[len]) return TRUE;
  return FALSE;
}

static void add_names(GPtrArray *names, const char *path) {
  for (guint i = 0, n = key_rows(); i < n; i++) {
    const KeyInfo *k = key_row(i);
    const char *rest = k->hint ? NULL : below(k->path, path);
    size_t len = rest ? strcspn(rest, ".[") : 0;
    if (len && !has(names, rest, len)) g_ptr_array_add(names, g_strndup(rest, len));
  }
}

GPtrArray *key_names_under(const char *path) {
  GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
  g_autofree char *at = table_path(path);
  const KeyInfo *k = at ? row_at(at) : NULL;
  if (at) add_names(names, at);
  if (k && k->like) add_names(names, k->like);
  return names;
}

char *key_public_path(const KeyInfo *k) {
  const size_t len = strcspn(k->path, ".");
  for (guint i = 0, n = key_rows(); *k->path == '@' && i < n; i++) {
    const KeyInfo *by = key_row(i);
    if (*by->path != '@' && by->like && strlen(by->like) == len && !strncmp(by->like, k->path, len))
      return g_strconcat(by->path, k->path + len, NULL);
  }
  return g_strdup(k->path);
}

char *key_without_indexes(const char *path) {
  GString *out = g_string_new(NULL);
  for (const char *p = path; *p; p++) {
    g_string_append_c(out, *p);
    if (*p != '[') continue;
    while (p[1] && p[1] != ']') p++;
  }
  return g_string_free(out, FALSE);
}

static const struct {
  guint type;
  const char *text;
} kinds[] = {{K_INT, "a whole number"},
             {K_SEED, "a whole number"},
             {K_NUMBER, "a number"},
             {K_BOOL, "true or false"},
             {K_TIME, "a duration such as 3ms (ns us ms s min h d)"},
             {K_COST, "a time such as 2.05us (ns us ms s)"},
             {K_PER_BYTE, "a time such as 2.05us, or for a byte a bandwidth such as 12GB/s"},
             {K_SIZE, "a size such as 64KiB (B KiB MiB GiB KB MB GB)"},
             {K_RATE, "a rate such as 500/s"},
             {K_NAME, "a name (letters, digits, - _ .)"},
             {K_TEXT, "a text"},
             {K_DRAW, "a draw, {exp: T} or {uniform: [T, T]}"},
             {K_PAIR, "a list [low, high]"},
             {K_LIST, "a list"},
             {K_MAP, "a map"},
             {K_ANY, "a map of keys"}};

static void append_alternative(GString *out, const char *text) {
  g_string_append_printf(out, "%s%s", out->len ? ", or " : "", text);
}

static void append_children(GString *out, const KeyInfo *k) {
  g_autoptr(GPtrArray) names = key_names_under(k->path);
  g_string_append(out, k->types & K_ONE ? " of one of" : " of");
  for (guint i = 0; i < names->len && i < 12; i++) g_string_append_printf(out, " %s", (char *)names->pdata[i]);
}

char *key_expected(const KeyInfo *k) {
  GString *out = g_string_new(NULL);
  for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
    if (!(k->types & kinds[i].type) || (kinds[i].type == K_LIST && k->types & K_PAIR)) continue;
    append_alternative(out, kinds[i].text);
    if (kinds[i].type == K_MAP) append_children(out, k);
    if (kinds[i].type & (K_INT | K_TIME | K_SIZE) && k->lo && k->hi)
      g_string_append_printf(out, " from %s to %s", k->lo, k->hi);
    else if (kinds[i].type & (K_INT | K_TIME | K_SIZE) && (k->lo || k->hi))
      g_string_append_printf(out, " of %s %s", k->lo ? "at least" : "at most", k->lo ? k->lo : k->hi);
  }
  if (k->types & K_WORD) {
    append_alternative(out, strchr(k->words, ' ') ? "one of " : "");
    g_string_append(out, k->words);
  }
  return g_string_free(out, FALSE);
}

static int smallest(int a, int b, int c) {
  return MIN(a, MIN(b, c));
}

static char folded(char c) {
  return c == '-' ? '_' : g_ascii_tolower(c);
}

/* Optimal string alignment distance: one for a letter too many, missing, wrong, or two swapped; case and - _ are alike.
 */
static int edit_distance(const char *a, const char *b) {
  enum { MOST = 64 };
  const int n = (int)strlen(a), m = (int)strlen(b);
  if (n >= MOST || m >= MOST) return MOST;
  int d[MOST][MOST];
  for (int i = 0; i <= n; i++) d[i][0] = i;
  for (int j = 0; j <= m; j++) d[0][j] = j;
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= m; j++) {
      int differ = folded(a[i - 1]) != folded(b[j - 1]);
      d[i][j] = smallest(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + differ);
      if (i > 1 && j > 1 && folded(a[i - 1]) == folded(b[j - 2]) && folded(a[i - 2]) == folded(b[j - 1]))
        d[i][j] = MIN(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[n][m];
}

const char *nearest_name(const char *name, const char *const *names) {
  const char *best = NULL;
  const int allowed = MAX(2, (int)(strlen(name) / 3));
  int least = allowed + 1;
  for (; *names; names++) {
    int distance = edit_distance(name, *names);
    /* A name whose every letter would change is no likeness. */
    if (distance < least && distance < (int)strlen(*names)) least = distance, best = *names;
  }
  return best;
}
