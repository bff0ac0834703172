#include "sim/scenario/keys.h"
#include <string.h>

const KeyInfo *key_find(const char *path) {
  for (guint i = 0; i < key_table_len; i++)
    if (!strcmp(key_table[i].path, path)) return &key_table[i];
  return NULL;
}

/* What follows `path.` in row, or NULL. */
static const char *below(const char *row, const char *path) {
  size_t len = strlen(path);
  if (len == 0) return *row == '@' ? NULL : row;
  return !strncmp(row, path, len) && row[len] == '.' ? row + len + 1 : NULL;
}

gboolean key_is_group(const char *path) {
  for (guint i = 0; i < key_table_len; i++)
    if (below(key_table[i].path, path)) return TRUE;
  return FALSE;
}

const char *key_children_of(const KeyInfo *k, const char *path) {
  return k && k->like ? k->like : path;
}

static gboolean has(const GPtrArray *names, const char *name, size_t len) {
  for (guint i = 0; i < names->len; i++)
    if (!strncmp(names->pdata[i], name, len) && !((const char *)names->pdata[i])[len]) return TRUE;
  return FALSE;
}

GPtrArray *key_names_under(const char *path) {
  GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; i < key_table_len; i++) {
    const char *rest = below(key_table[i].path, path);
    size_t len = rest ? strcspn(rest, ".[") : 0;
    if (len && !has(names, rest, len)) g_ptr_array_add(names, g_strndup(rest, len));
  }
  return names;
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
             {K_MAP, "a map"}};

static void append_alternative(GString *out, const char *text) {
  g_string_append_printf(out, "%s%s", out->len ? ", or " : "", text);
}

static void append_children(GString *out, const KeyInfo *k) {
  g_autoptr(GPtrArray) names = key_names_under(key_children_of(k, k->path));
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
