/* assets.c - where the files that come with the program are: beside it, as it stands in the tree or installed. */
#include "sim/scenario/assets.h"
#include "sim/scenario/node.h"
#include "sim/scenario/scenario.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *program_folder(const char *argv0) {
  g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
  if (!self && argv0) self = g_find_program_in_path(argv0);
  return self ? g_path_get_dirname(self) : g_strdup(".");
}

static void add_dir(GPtrArray *dirs, char *path_taken) {
  g_autofree char *path = path_taken;
  g_autofree char *presets = path ? g_build_filename(path, "presets", NULL) : NULL;
  if (presets && g_file_test(presets, G_FILE_TEST_IS_DIR)) g_ptr_array_add(dirs, g_canonicalize_filename(path, NULL));
}

char **asset_dirs(const char *argv0) {
  GPtrArray *dirs = g_ptr_array_new();
  g_autofree char *folder = program_folder(argv0);
  add_dir(dirs, g_strdup(g_getenv("STAMPEDE_DATA")));
  add_dir(dirs, g_build_filename(folder, "..", "sim", NULL));
  add_dir(dirs, g_build_filename(folder, "..", "..", "sim", NULL));
  add_dir(dirs, g_build_filename(folder, "..", "share", "stampede", NULL));
  g_ptr_array_add(dirs, NULL);
  return (char **)g_ptr_array_free(dirs, FALSE);
}

static const char *suffix_of(const char *kind) {
  return strcmp(kind, "data") ? ".yaml" : "";
}

char *asset_path(const char *const *dirs, const char *kind, const char *name) {
  g_assert(!strchr(name, '/'));
  g_autofree char *file = g_strconcat(name, suffix_of(kind), NULL);
  for (; dirs && *dirs; dirs++) {
    g_autofree char *path = g_build_filename(*dirs, kind, file, NULL);
    if (g_file_test(path, G_FILE_TEST_EXISTS)) return g_steal_pointer(&path);
  }
  return NULL;
}

static void asset_free(gpointer p) {
  Asset *a = p;
  g_free(a->name);
  g_free(a->about);
  g_free(a->path);
  g_free(a);
}

static char *about_of(const char *path) {
  gsize length = 0;
  g_autofree char *text = asset_read(path, NODE_MAX_BYTES, &length, NULL);
  g_autoptr(Node) root = text ? node_parse(text, length, path, NULL) : NULL;
  const Node *about = root ? node_child(root, "about") : NULL;
  return g_strdup(about && about->text ? about->text : "");
}

static bool listed(const GPtrArray *list, const char *name) {
  for (guint i = 0; i < list->len; i++)
    if (!strcmp(((const Asset *)list->pdata[i])->name, name)) return true;
  return false;
}

static int by_name(gconstpointer a, gconstpointer b) {
  return strcmp((*(Asset *const *)a)->name, (*(Asset *const *)b)->name);
}

static void list_folder(GPtrArray *list, const char *folder, const char *kind) {
  g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
  const char *file, *suffix = suffix_of(kind);
  while (dir && (file = g_dir_read_name(dir))) {
    if (*file == '.' || !g_str_has_suffix(file, suffix)) continue;
    g_autofree char *name = g_strndup(file, strlen(file) - strlen(suffix));
    if (listed(list, name)) continue;
    Asset *a = g_new0(Asset, 1);
    a->path = g_build_filename(folder, file, NULL);
    a->about = *suffix ? about_of(a->path) : g_strdup("");
    a->name = g_steal_pointer(&name);
    g_ptr_array_add(list, a);
  }
}

GPtrArray *asset_list(const char *const *dirs, const char *kind) {
  GPtrArray *list = g_ptr_array_new_with_free_func(asset_free);
  for (; dirs && *dirs; dirs++) {
    g_autofree char *folder = g_build_filename(*dirs, kind, NULL);
    list_folder(list, folder, kind);
  }
  g_ptr_array_sort(list, by_name); /* names are unique: the order of the directory does not show */
  return list;
}

/* Reads by read(2), so that a pipe or /dev/zero serves as well, and ends. NULL with errno, or when longer than most. */
static char *read_up_to(int fd, gsize most, gsize *length) {
  GString *text = g_string_new(NULL);
  char block[65536];
  ssize_t got;
  while (text->len <= most && (got = read(fd, block, sizeof block)) != 0) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return g_string_free(text, TRUE);
    g_string_append_len(text, block, got);
  }
  *length = text->len;
  return g_string_free(text, FALSE);
}

char *asset_read(const char *path, gsize most, gsize *length, GError **error) {
  struct stat st;
  g_autofree char *text = NULL, *file = g_strdup(path);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  const bool there = fd >= 0 && fstat(fd, &st) == 0, folder = there && S_ISDIR(st.st_mode);
  if (there && !folder) text = read_up_to(fd, most, length);
  const int why = errno;
  if (fd >= 0) close(fd);
  if (text && *length <= most) return g_steal_pointer(&text);
  g_propagate_error(error, mark_error(&(Mark){.file = file}, NULL, "cannot be read: %s",
                                      folder ? "a directory, not a file"
                                      : text ? "larger than any file of this kind may be"
                                             : g_strerror(why)));
  return NULL;
}
