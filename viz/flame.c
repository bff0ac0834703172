/* flame.c - see flame.h. */
#include "viz/flame.h"
#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

enum { SIDE = 24, TOP = 76, BOTTOM = 24, ROW = 19, WIDTH = 962 /* of the root, within VIZ_PAGE */, DEPTH_MOST = 64 };
#define LETTER_WIDTH 6.7 /* of the font below, on the wide side */

static const char *const words[FLAME_WEIGHTS] = {"ns", "faults", "stores"};
static const char *const things[FLAME_WEIGHTS] = {"time", "page faults", "counted stores"};

bool flame_weight_parse(const char *word, FlameWeight *w) {
  for (guint k = 0; k < FLAME_WEIGHTS; k++)
    if (strcmp(word, words[k]) == 0) return *w = (FlameWeight)k, true;
  return false;
}

/* ---- the tree ---- */

typedef enum { BOX_ALL, BOX_FUNCTION, BOX_PLACE, BOX_STRUCTURE } BoxKind;

typedef struct Box Box;
struct Box {
  char *name;
  BoxKind kind;
  int64_t weight;      /* with what stands on it */
  GPtrArray *children; /* of Box, by name */
};

static void box_free(void *data) {
  Box *b = data;
  g_free(b->name);
  g_ptr_array_unref(b->children);
  g_free(b);
}

static Box *box_new(const char *name, BoxKind kind) {
  Box *b = g_new0(Box, 1);
  *b = (Box){g_strdup(name), kind, 0, g_ptr_array_new_with_free_func(box_free)};
  return b;
}

static Box *child(Box *b, const char *name, BoxKind kind) {
  guint at = 0;
  for (; at < b->children->len; at++) {
    Box *c = b->children->pdata[at];
    int order = strcmp(c->name, name);
    if (order == 0 && c->kind == kind) return c;
    if (order > 0) break;
  }
  Box *made = box_new(name, kind);
  g_ptr_array_insert(b->children, (gint)at, made);
  return made;
}

static guint depth(const Box *b) {
  guint most = 0;
  for (guint i = 0; i < b->children->len; i++) most = MAX(most, depth(b->children->pdata[i]));
  return most + 1;
}

/* ---- what was read ---- */

typedef struct {
  char *scenario, *subject;
  guint64 seed;
  FlameWeight weight;
  Box *root;
} Flame;

static bool wrong(GError **error, const char *path, const char *what) {
  g_set_error(error, VIZ_ERROR, VIZ_ERROR_INPUT, "%s: %s", path, what);
  return false;
}

static int64_t number(JsonObject *o, const char *key, double scale) {
  JsonNode *n = json_object_get_member(o, key);
  double v = n && JSON_NODE_HOLDS_VALUE(n) ? json_node_get_double(n) : 0;
  return v > 0 && v < 9e15 / scale ? llround(v * scale) : 0;
}

static int64_t weight_of(JsonObject *o, FlameWeight w) {
  return w == FLAME_NS ? number(o, "ms", 1e6) : number(o, words[w], 1);
}

static BoxKind kind_of(const char *frame) {
  const char *colon = strrchr(frame, ':');
  return colon && g_ascii_isdigit(colon[1]) ? BOX_PLACE : BOX_FUNCTION;
}

static const char *text_in(JsonObject *o, const char *key) {
  JsonNode *n = json_object_get_member(o, key);
  return n && JSON_NODE_HOLDS_VALUE(n) ? json_node_get_string(n) : NULL;
}

static void add_row(Flame *f, JsonObject *row) {
  int64_t weight = weight_of(row, f->weight);
  const char *structure = text_in(row, "structure"), *site = text_in(row, "site");
  JsonNode *frames = json_object_get_member(row, "frames");
  JsonArray *list = frames && JSON_NODE_HOLDS_ARRAY(frames) ? json_node_get_array(frames) : NULL;
  if (!weight || !structure) return;
  Box *at = f->root;
  at->weight += weight;
  if (!list && site) at = child(at, site, BOX_FUNCTION), at->weight += weight;
  for (guint i = 0; list && i < MIN(json_array_get_length(list), DEPTH_MOST); i++) {
    const char *name = json_node_get_string(json_array_get_element(list, i));
    if (!name) continue;
    at = child(at, name, kind_of(name));
    at->weight += weight;
  }
  child(at, structure, BOX_STRUCTURE)->weight += weight;
}

static JsonArray *rows_of(JsonObject *result) {
  static const char *const keys[] = {"stacks", "hotspots"};
  for (guint k = 0; k < G_N_ELEMENTS(keys); k++) {
    JsonNode *n = json_object_get_member(result, keys[k]);
    if (n && JSON_NODE_HOLDS_ARRAY(n)) return json_node_get_array(n);
  }
  return NULL;
}

static bool take_result(Flame *f, const char *path, JsonNode *root, GError **error) {
  JsonObject *o = root && JSON_NODE_HOLDS_OBJECT(root) ? json_node_get_object(root) : NULL;
  JsonArray *rows = o ? rows_of(o) : NULL;
  if (!rows) return wrong(error, path, "not the JSON result of a run; stampede run SCENARIO --json > FILE makes one");
  f->scenario = g_strdup(text_in(o, "scenario"));
  f->subject = g_strdup(text_in(o, "subject"));
  f->seed = (guint64)number(o, "seed", 1);
  for (guint i = 0; i < json_array_get_length(rows); i++) {
    JsonNode *row = json_array_get_element(rows, i);
    if (JSON_NODE_HOLDS_OBJECT(row)) add_row(f, json_node_get_object(row));
  }
  if (f->root->weight) return true;
  g_autofree char *what = g_strdup_printf("no %s counted in this run", things[f->weight]);
  return wrong(error, path, what);
}

static bool read_result(Flame *f, const char *path, GError **error) {
  g_autoptr(JsonParser) parser = json_parser_new();
  g_autoptr(GError) problem = NULL;
  if (!json_parser_load_from_file(parser, path, &problem))
    return wrong(error, path, "not the JSON result of a run; stampede run SCENARIO --json > FILE makes one");
  return take_result(f, path, json_parser_get_root(parser), error);
}

/* ---- the picture: the root below, what was touched on top ---- */

/* Okabe and Ito's, lightened: by what a box is, not by chance. */
static const char *const colours[] = {
    [BOX_ALL] = "#D9D9D9", [BOX_FUNCTION] = "#F6C667", [BOX_PLACE] = "#A6D3F0", [BOX_STRUCTURE] = "#8FD0B9"};

static void amount(GString *out, const Flame *f, int64_t weight) {
  if (f->weight == FLAME_NS)
    picture_time(out, weight);
  else
    g_string_append_printf(out, "%" G_GINT64_FORMAT " %s", weight, words[f->weight]);
}

static void share(GString *out, const Flame *f, int64_t weight) {
  int permille = (int)((double)weight * 1000 / (double)f->root->weight + 0.5);
  g_string_append_printf(out, "%d.%d %%", permille / 10, permille % 10);
}

static void label(GString *svg, const Box *b, double x, double y, double width) {
  glong room = (glong)((width - 8) / LETTER_WIDTH);
  if (room < 3) return;
  g_string_append_printf(svg, "<text x=\"%.1f\" y=\"%.1f\">", x + 4, y + 13.5);
  picture_wrap(svg, b->name, room, 1, "");
  g_string_append(svg, "</text>");
}

static void draw(const Flame *f, const Box *b, GString *svg, double x, double bottom) {
  double width = (double)b->weight / (double)f->root->weight * WIDTH, y = bottom - ROW;
  if (width < 0.5) return; /* half a dot: nothing would be seen */
  g_string_append(svg, "<g><title>");
  picture_xml(svg, b->name);
  g_string_append(svg, ": ");
  amount(svg, f, b->weight);
  g_string_append(svg, ", ");
  share(svg, f, b->weight);
  g_string_append_printf(svg, "</title><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>", x, y,
                         MAX(width - 0.7, 0.4), ROW - 1, colours[b->kind]);
  label(svg, b, x, y, width);
  g_string_append(svg, "</g>\n");
  for (guint i = 0; i < b->children->len; i++) {
    const Box *c = b->children->pdata[i];
    draw(f, c, svg, x, y);
    x += (double)c->weight / (double)f->root->weight * WIDTH;
  }
}

static void heading(const Flame *f, GString *svg) {
  g_autoptr(GString) title = g_string_new(NULL), aid = g_string_new(NULL);
  g_string_append_printf(title, "%s: %s of %s", f->scenario ? f->scenario : "(no name)", things[f->weight],
                         f->subject ? f->subject : "(no name)");
  if (strrchr(title->str, '@')) g_string_truncate(title, (gsize)(strrchr(title->str, '@') - title->str)); /* its hash */
  g_string_append_printf(aid, "All: ");
  amount(aid, f, f->root->weight);
  g_string_append_printf(aid, ". Simulated, seed %" G_GUINT64_FORMAT ".", f->seed);
  g_string_append_printf(svg, "<text class=\"title\" x=\"%d\" y=\"32\">", SIDE);
  picture_wrap(svg, title->str, 100, 1, "");
  g_string_append_printf(svg, "</text>\n<text class=\"faint\" x=\"%d\" y=\"56\">", SIDE);
  picture_xml(svg, aid->str);
  g_string_append(svg, "</text>\n");
  static const struct {
    BoxKind kind;
    const char *words;
  } legend[] = {{BOX_FUNCTION, "function"}, {BOX_PLACE, "line"}, {BOX_STRUCTURE, "structure"}};
  for (guint k = 0; k < G_N_ELEMENTS(legend); k++)
    g_string_append_printf(svg,
                           "<rect x=\"%u\" y=\"46\" width=\"14\" height=\"12\" fill=\"%s\"/><text class=\"faint\" "
                           "x=\"%u\" y=\"56\">%s</text>\n",
                           SIDE + WIDTH - 270 + k * 95, colours[legend[k].kind], SIDE + WIDTH - 250 + k * 95,
                           legend[k].words);
}

static void draw_all(const Flame *f, GString *svg) {
  guint height = TOP + depth(f->root) * ROW + BOTTOM, width = WIDTH + 2 * SIDE;
  g_string_append_printf(svg,
                         "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                         "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" viewBox=\"0 0 %u %u\">\n"
                         "<style>text{font:11px \"DejaVu Sans\",Arial,sans-serif;fill:#222}.title{font-size:17px}"
                         ".faint{fill:#555;font-size:12px}</style>\n<rect width=\"%u\" height=\"%u\" fill=\"#fff\"/>\n",
                         width, height, width, height, width, height);
  heading(f, svg);
  draw(f, f->root, svg, SIDE, height - BOTTOM);
  g_string_append(svg, "</svg>\n");
}

bool viz_flame(const char *result, FlameWeight weight, const char *path, VizFormat format, GError **error) {
  Flame f = {.weight = weight, .root = box_new("all", BOX_ALL)};
  bool ok = read_result(&f, result, error);
  if (ok) {
    g_autoptr(GString) svg = g_string_new(NULL);
    draw_all(&f, svg);
    ok = picture_write_svg(svg, format, path, error);
  }
  box_free(f.root);
  g_free(f.scenario);
  g_free(f.subject);
  return ok;
}
