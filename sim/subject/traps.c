/* traps.c - see traps.h. A function becomes one that stops; a variable becomes zeros of its size. */
#include "sim/subject/traps.h"
#include "sim/scenario/scenario.h"
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Of libc: what computes and changes nothing outside its arguments. */
static const char *const harmless[] = {
    "memchr",           "memcmp",  "memcpy",      "memmove",  "memset",  "strcat",          "strchr",  "strcmp",
    "strcpy",           "strcspn", "strlen",      "strncmp",  "strncpy", "strnlen",         "strrchr", "strspn",
    "strstr",           "strtol",  "strtoul",     "snprintf", "sprintf", "vsnprintf",       "bsearch", "qsort",
    "__errno_location", "_setjmp", "__sigsetjmp", "abs",      "labs",    "__stack_chk_fail"};

bool trap_is_given(const char *symbol) {
  static const char *const ours[] = {"stm_", "__tsan_", "_GLOBAL_OFFSET_TABLE_"};
  for (guint i = 0; i < G_N_ELEMENTS(ours); i++)
    if (g_str_has_prefix(symbol, ours[i])) return true;
  for (guint i = 0; i < G_N_ELEMENTS(harmless); i++)
    if (strcmp(symbol, harmless[i]) == 0) return true;
  return false;
}

static void take_variable(GHashTable *sizes, Dwarf_Die *die) {
  Dwarf_Attribute attr;
  Dwarf_Die type;
  Dwarf_Word size = 0;
  const char *name = dwarf_diename(die);
  if (!name || dwarf_tag(die) != DW_TAG_variable) return;
  if (!dwarf_attr_integrate(die, DW_AT_type, &attr) || !dwarf_formref_die(&attr, &type)) return;
  if (dwarf_aggregate_size(&type, &size) != 0 || !size) size = 64; /* an array without a size */
  gpointer before = g_hash_table_lookup(sizes, name);
  g_hash_table_insert(sizes, g_strdup(name), GSIZE_TO_POINTER(MAX((gsize)size, GPOINTER_TO_SIZE(before))));
}

static GHashTable *variable_sizes(const char *object) {
  GHashTable *sizes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  int fd = open(object, O_RDONLY | O_CLOEXEC);
  Dwarf *dwarf = fd < 0 ? NULL : dwarf_begin(fd, DWARF_C_READ);
  size_t header;
  for (Dwarf_Off at = 0, next; dwarf && dwarf_nextcu(dwarf, at, &next, &header, NULL, NULL, NULL) == 0; at = next) {
    Dwarf_Die unit, child;
    if (!dwarf_offdie(dwarf, at + header, &unit) || dwarf_child(&unit, &child) != 0) continue;
    do take_variable(sizes, &child);
    while (dwarf_siblingof(&child, &child) == 0);
  }
  if (dwarf) dwarf_end(dwarf);
  if (fd >= 0) close(fd);
  return sizes;
}

char *traps_text(const Symbols *s, const char *linked, GPtrArray *trapped) {
  g_autoptr(GHashTable) sizes = variable_sizes(linked);
  g_autoptr(GString) text = g_string_new("extern void stm_trap(const char *symbol, const void *caller);\n");
  for (guint i = 0; i < s->needed->len; i++) {
    const NeededSymbol *n = s->needed->pdata[i];
    if (trap_is_given(n->name)) continue;
    gsize size = n->data ? GPOINTER_TO_SIZE(g_hash_table_lookup(sizes, n->name)) : 0;
    if (size)
      g_string_append_printf(text, "char %s[%" G_GSIZE_FORMAT "] __attribute__((aligned(16)));\n", n->name, size);
    else
      g_string_append_printf(text, "void %s(void) { stm_trap(\"%s\", __builtin_return_address(0)); }\n", n->name,
                             n->name);
    g_ptr_array_add(trapped, g_strdup(n->name));
  }
  return g_string_free(g_steal_pointer(&text), FALSE);
}
