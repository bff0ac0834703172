/* symbols.c - see symbols.h. A symbol is a variable where a relocation asks for its address alone: a call goes through
 * the procedure linkage table. A function whose address is taken and that is called as well is a function. */
#include "sim/subject/symbols.h"
#include "sim/scenario/scenario.h"
#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>

typedef struct {
  Symbols *out;
  GHashTable *called, *addressed; /* sets of names */
  Elf *elf;
  Elf_Data *symbols;
  size_t strings; /* section of their names */
} Reading;

static void needed_free(void *data) {
  NeededSymbol *n = data;
  g_free(n->name);
  g_free(n);
}

void symbols_free(Symbols *s) {
  if (!s) return;
  g_hash_table_unref(s->defined);
  g_ptr_array_unref(s->needed);
  g_free(s);
}

static const char *name_of(Reading *r, size_t index, GElf_Sym *sym) {
  return gelf_getsym(r->symbols, (int)index, sym) ? elf_strptr(r->elf, r->strings, sym->st_name) : NULL;
}

static void read_symbols(Reading *r, Elf_Scn *scn, const GElf_Shdr *header) {
  r->symbols = elf_getdata(scn, NULL);
  r->strings = header->sh_link;
  for (size_t i = 1, n = header->sh_entsize ? header->sh_size / header->sh_entsize : 0; i < n; i++) {
    GElf_Sym sym;
    const char *name = name_of(r, i, &sym);
    bool global = GELF_ST_BIND(sym.st_info) != STB_LOCAL;
    if (name && name[0] && global && sym.st_shndx != SHN_UNDEF) g_hash_table_add(r->out->defined, g_strdup(name));
  }
}

static bool is_call(GElf_Xword type) {
#if defined __x86_64__
  return type == R_X86_64_PLT32 || type == R_X86_64_PC32;
#else
  return type == R_AARCH64_CALL26 || type == R_AARCH64_JUMP26;
#endif
}

/* Debug information refers to symbols too, and needs none of them. */
static bool is_loaded(Elf *elf, size_t section) {
  GElf_Shdr header;
  Elf_Scn *scn = elf_getscn(elf, section);
  return scn && gelf_getshdr(scn, &header) && (header.sh_flags & SHF_ALLOC);
}

static void read_relocations(Reading *r, Elf_Scn *scn, const GElf_Shdr *header) {
  Elf_Data *data = is_loaded(r->elf, header->sh_info) ? elf_getdata(scn, NULL) : NULL;
  for (size_t i = 0, n = header->sh_entsize ? header->sh_size / header->sh_entsize : 0; data && i < n; i++) {
    GElf_Rela rela;
    GElf_Sym sym;
    if (!gelf_getrela(data, (int)i, &rela)) continue;
    const char *name = name_of(r, GELF_R_SYM(rela.r_info), &sym);
    if (!name || !name[0] || sym.st_shndx != SHN_UNDEF) continue;
    g_hash_table_add(is_call(GELF_R_TYPE(rela.r_info)) ? r->called : r->addressed, g_strdup(name));
  }
}

static void each_section(Reading *r, GElf_Word type, void (*read)(Reading *, Elf_Scn *, const GElf_Shdr *)) {
  for (Elf_Scn *scn = NULL; (scn = elf_nextscn(r->elf, scn));) {
    GElf_Shdr header;
    if (gelf_getshdr(scn, &header) && header.sh_type == type) read(r, scn, &header);
  }
}

static bool read_object(Reading *r, const char *path, GError **error) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  r->elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ_MMAP, NULL);
  if (!r->elf || elf_kind(r->elf) != ELF_K_ELF) {
    g_set_error(error, SCENARIO_ERROR, SCENARIO_ERROR_INPUT, "%s: not an object file", path);
    if (r->elf) elf_end(r->elf);
    if (fd >= 0) close(fd);
    return false;
  }
  each_section(r, SHT_SYMTAB, read_symbols);
  each_section(r, SHT_RELA, read_relocations);
  elf_end(r->elf);
  close(fd);
  return true;
}

static gint by_name(gconstpointer a, gconstpointer b) {
  const NeededSymbol *const *x = a, *const *y = b;
  return strcmp((*x)->name, (*y)->name);
}

static void keep_needed(Symbols *s, GHashTable *names, bool data, GHashTable *others) {
  GHashTableIter at;
  gpointer name;
  g_hash_table_iter_init(&at, names);
  while (g_hash_table_iter_next(&at, &name, NULL)) {
    if (g_hash_table_contains(s->defined, name) || (others && g_hash_table_contains(others, name))) continue;
    NeededSymbol *n = g_new0(NeededSymbol, 1);
    *n = (NeededSymbol){g_strdup(name), data};
    g_ptr_array_add(s->needed, n);
  }
}

Symbols *symbols_of(const char *const *objects, GError **error) {
  elf_version(EV_CURRENT);
  g_autoptr(Symbols) s = g_new0(Symbols, 1);
  s->defined = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  s->needed = g_ptr_array_new_with_free_func(needed_free);
  g_autoptr(GHashTable) called = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr(GHashTable) addressed = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  Reading r = {.out = s, .called = called, .addressed = addressed};
  for (guint i = 0; objects[i]; i++)
    if (!read_object(&r, objects[i], error)) return NULL;
  keep_needed(s, called, false, NULL);
  keep_needed(s, addressed, true, called);
  g_ptr_array_sort(s->needed, by_name);
  return g_steal_pointer(&s);
}
