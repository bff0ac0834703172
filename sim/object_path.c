/* object_path.c - see object_path.h. */
#include "sim/object_path.h"
#include <string.h>

char *object_path(const char *name, const char *folder, const char *beside) {
  if (strchr(name, '/')) {
    g_autofree char *dir = g_path_get_dirname(beside);
    return g_path_is_absolute(name) ? g_strdup(name) : g_build_filename(dir, name, NULL);
  }
  g_autofree char *program = g_file_read_link("/proc/self/exe", NULL);
  g_autofree char *dir = program ? g_path_get_dirname(program) : g_strdup(".");
  g_autofree char *file = g_strconcat(name, ".so", NULL);
  char *built = g_build_filename(dir, folder, file, NULL);
  if (g_file_test(built, G_FILE_TEST_EXISTS)) return built;
  g_free(built);
  return g_build_filename(dir, "..", "lib", "stampede", folder, file, NULL);
}
