/* picture.c - formats, tools and files of pictures. */
#include "viz/picture.h"
#include "traces/output.h"
#include <string.h>

GQuark viz_error_quark(void) {
  return g_quark_from_static_string("stampede-viz-error");
}

static const char *const format_words[FORMAT_COUNT] = {"svg", "png", "pdf", "dot", "mermaid", "perfetto"};

const char *viz_format_word(VizFormat f) {
  g_assert(f < FORMAT_COUNT);
  return format_words[f];
}

bool viz_format_parse(const char *word, VizFormat *f) {
  for (guint i = 0; i < FORMAT_COUNT; i++) {
    if (strcmp(word, format_words[i]) != 0) continue;
    *f = (VizFormat)i;
    return true;
  }
  return false;
}

/* The user's locale and settings must not show in a picture. */
static GSubprocess *spawn(const char *const *argv, const char *package, GError **error) {
  g_autoptr(GSubprocessLauncher) launcher = g_subprocess_launcher_new(
      G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_PIPE);
  g_subprocess_launcher_setenv(launcher, "LC_ALL", "C.UTF-8", TRUE);
  g_subprocess_launcher_setenv(launcher, "TZ", "UTC", TRUE);
  g_subprocess_launcher_unsetenv(launcher, "GNUTERM");
  g_autoptr(GError) why = NULL;
  GSubprocess *process = g_subprocess_launcher_spawnv(launcher, argv, &why);
  if (!process)
    g_set_error(error, VIZ_ERROR, VIZ_ERROR_TOOL, "cannot run %s (%s): please install it (Debian package %s)", argv[0],
                why->message, package);
  return process;
}

static char *first_line(GBytes *bytes) {
  gsize size = 0;
  const char *data = bytes ? g_bytes_get_data(bytes, &size) : NULL;
  g_autofree char *text = g_strndup(data ? data : "", size);
  char *line = g_strdup(g_strchug(text));
  line[strcspn(line, "\n")] = '\0';
  return line;
}

GBytes *picture_tool(const char *const *argv, const char *input, gsize size, const char *package, GError **error) {
  g_autoptr(GSubprocess) process = spawn(argv, package, error);
  if (!process) return NULL;
  g_autoptr(GBytes) in = g_bytes_new(input, size), out = NULL, err = NULL;
  g_autoptr(GError) why = NULL;
  bool ran = g_subprocess_communicate(process, in, NULL, &out, &err, &why);
  if (ran && g_subprocess_get_successful(process) && out && g_bytes_get_size(out) > 0) return g_steal_pointer(&out);
  g_autofree char *said = first_line(err);
  g_set_error(error, VIZ_ERROR, VIZ_ERROR_TOOL, "%s could not draw the picture: %s", argv[0],
              why     ? why->message
              : *said ? said
                      : "it wrote nothing");
  return NULL;
}

/* Cairo writes when a PDF was made; a date of the same length keeps every offset in the file right. */
static void fix_dates(char *pdf, gsize size) {
  static const char key[] = "/CreationDate (D:", fixed[] = "20000101000000";
  for (char *at = pdf; (at = memmem(at, size - (gsize)(at - pdf), key, strlen(key))); at += strlen(key)) {
    char *digits = at + strlen(key), *end = digits;
    while (end < pdf + size && g_ascii_isdigit(*end)) end++;
    if (end - digits == (gssize)strlen(fixed)) memcpy(digits, fixed, strlen(fixed));
  }
}

bool picture_write(const void *data, gsize size, VizFormat format, const char *path, GError **error) {
  g_autofree char *copy = g_memdup2(data, size);
  if (format == FORMAT_PDF) fix_dates(copy, size);
  g_autoptr(Output) out = output_open(path, error);
  if (!out) return false;
  output_bytes(out, copy, size);
  return output_commit(out, error);
}

bool picture_write_svg(const GString *svg, VizFormat format, const char *path, GError **error) {
  g_assert(format == FORMAT_SVG || format == FORMAT_PNG || format == FORMAT_PDF);
  if (format == FORMAT_SVG) return picture_write(svg->str, svg->len, format, path, error);
  const char *const argv[] = {"rsvg-convert", "--format", viz_format_word(format), NULL};
  g_autoptr(GBytes) bytes = picture_tool(argv, svg->str, svg->len, "librsvg2-bin", error);
  if (!bytes) return false;
  return picture_write(g_bytes_get_data(bytes, NULL), g_bytes_get_size(bytes), format, path, error);
}

void picture_xml(GString *out, const char *s) {
  g_autofree char *valid = g_utf8_make_valid(s, -1);
  for (const char *p = valid; *p; p = g_utf8_next_char(p)) {
    gunichar c = g_utf8_get_char(p);
    const char *entity = c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '"' ? "&quot;" : NULL;
    if (entity)
      g_string_append(out, entity);
    else
      g_string_append_unichar(out, c < 0x20 || c == 0x7F || c == 0xFFFE || c == 0xFFFF ? '?' : c);
  }
}

void picture_wrap(GString *out, const char *text, glong width, guint lines, const char *between) {
  g_autofree char *valid = g_utf8_make_valid(text, -1);
  const char *rest = valid;
  for (guint line = 0; *rest; line++) {
    glong left = g_utf8_strlen(rest, -1), take = MIN(left, width);
    if (left > width) {
      glong at = width;
      while (at > width / 4 && !strchr(" ,", *g_utf8_offset_to_pointer(rest, at - 1))) at--;
      if (at > width / 4) take = at;
    }
    bool last = line + 1 == lines && take < left;
    g_autofree char *piece = g_utf8_substring(rest, 0, last ? MAX(take - 1, 1) : take);
    if (line) g_string_append(out, between);
    picture_xml(out, piece);
    if (last) g_string_append(out, "…");
    if (last) return;
    rest = g_utf8_offset_to_pointer(rest, take);
  }
}

void picture_time(GString *out, int64_t ns) {
  static const struct {
    int64_t ns;
    const char *unit;
  } units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}};
  for (guint u = 0; u < G_N_ELEMENTS(units); u++) {
    if (ns < units[u].ns) continue;
    int64_t thousandths = ns / (units[u].ns / 1000);
    g_string_append_printf(out, "%" G_GINT64_FORMAT ".%03d %s", thousandths / 1000, (int)(thousandths % 1000),
                           units[u].unit);
    return;
  }
  g_string_append_printf(out, "%" G_GINT64_FORMAT " ns", ns);
}
