/* image_debug.c - what a subject's debug information says: variables, types, places (image.h). */
#include "sim/scenario/scenario.h"
#include "sim/subject/image_parts.h"
#include <dwarf.h>
#include <fcntl.h>
#include <gelf.h>
#include <string.h>

enum { INLINED_MOST = 32 };

bool image_open_debug(Image *i, GError **error) {
  elf_version(EV_CURRENT);
  i->fd = open(i->path, O_RDONLY | O_CLOEXEC);
  i->elf = i->fd < 0 ? NULL : elf_begin(i->fd, ELF_C_READ_MMAP, NULL);
  if (!i->elf) return scenario_wrong(error, "%s: cannot be read", i->path);
  i->dwarf = dwarf_begin_elf(i->elf, DWARF_C_READ, NULL); /* NULL: no debug information; places stay unknown */
  return true;
}

/* A typedef stands for the struct behind it. */
static bool struct_of(Dwarf_Die *die, Dwarf_Die *out) {
  Dwarf_Attribute attr;
  *out = *die;
  for (int hops = 0; hops < 8; hops++) {
    int tag = dwarf_tag(out);
    if (tag == DW_TAG_structure_type || tag == DW_TAG_union_type) return dwarf_haschildren(out) == 1;
    if (tag != DW_TAG_typedef && tag != DW_TAG_const_type && tag != DW_TAG_volatile_type) return false;
    Dwarf_Die next;
    if (!dwarf_attr_integrate(out, DW_AT_type, &attr) || !dwarf_formref_die(&attr, &next)) return false;
    *out = next;
  }
  return false;
}

static void index_unit(Image *i, Dwarf_Die *unit) {
  Dwarf_Die child;
  if (dwarf_child(unit, &child) != 0) return;
  do {
    const char *name = dwarf_diename(&child);
    Dwarf_Die type;
    if (!name || g_hash_table_contains(i->types, name) || !struct_of(&child, &type)) continue;
    g_hash_table_insert(i->types, g_strdup(name), g_memdup2(&type, sizeof type));
  } while (dwarf_siblingof(&child, &child) == 0);
}

void image_index_types(Image *i) {
  i->types = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  size_t header;
  for (Dwarf_Off at = 0, next; i->dwarf && dwarf_nextcu(i->dwarf, at, &next, &header, NULL, NULL, NULL) == 0;
       at = next) {
    Dwarf_Die unit;
    if (dwarf_offdie(i->dwarf, at + header, &unit)) index_unit(i, &unit);
  }
}

static Dwarf_Die *type_named(const Image *i, const char *name) {
  return g_hash_table_lookup(i->types, name);
}

bool image_type_size(const Image *i, const char *type, uint64_t *size) {
  Dwarf_Die *die = type_named(i, type);
  int bytes = die ? dwarf_bytesize(die) : -1;
  *size = bytes > 0 ? (uint64_t)bytes : 0;
  return bytes > 0;
}

/* Size of a type: that of what its qualifiers and typedefs stand for. */
static bool describe_type(Dwarf_Die *member, ImageField *f) {
  Dwarf_Attribute attr;
  Dwarf_Die type;
  if (!dwarf_attr_integrate(member, DW_AT_type, &attr) || !dwarf_formref_die(&attr, &type)) return false;
  Dwarf_Word size;
  f->size = dwarf_aggregate_size(&type, &size) == 0 ? size : 0;
  Dwarf_Die peeled;
  f->pointer = dwarf_peel_type(&type, &peeled) == 0 && dwarf_tag(&peeled) == DW_TAG_pointer_type;
  return true;
}

static bool describe(Dwarf_Die *member, ImageField *f) {
  Dwarf_Attribute attr;
  Dwarf_Word offset = 0;
  if (dwarf_attr(member, DW_AT_data_member_location, &attr) && dwarf_formudata(&attr, &offset) != 0) return false;
  f->offset = offset;
  return describe_type(member, f);
}

static bool find_member(Dwarf_Die *type, const char *name, size_t length, ImageField *f, Dwarf_Die *of) {
  Dwarf_Die child;
  if (dwarf_child(type, &child) != 0) return false;
  do {
    const char *own = dwarf_diename(&child);
    if (dwarf_tag(&child) != DW_TAG_member || !own || strncmp(own, name, length) != 0 || own[length]) continue;
    *of = child;
    return describe(&child, f);
  } while (dwarf_siblingof(&child, &child) == 0);
  return false;
}

bool image_field(const Image *i, const char *type, const char *member, ImageField *out) {
  Dwarf_Die *found = type_named(i, type), die, in;
  if (!found) return false;
  die = *found;
  *out = (ImageField){0};
  for (uint64_t base = 0;;) {
    const char *dot = strchrnul(member, '.');
    Dwarf_Attribute attr;
    if (!find_member(&die, member, (size_t)(dot - member), out, &in)) return false;
    base = out->offset += base;
    if (!*dot) return true;
    Dwarf_Die type_die;
    if (!dwarf_attr_integrate(&in, DW_AT_type, &attr) || !dwarf_formref_die(&attr, &type_die)) return false;
    if (!struct_of(&type_die, &die)) return false;
    member = dot + 1;
  }
}

bool image_each_field(const Image *i, const char *type,
                      void (*each)(const char *member, const ImageField *f, void *data), void *data) {
  Dwarf_Die *die = type_named(i, type), child;
  if (!die || dwarf_child(die, &child) != 0) return false;
  do {
    ImageField f = {0};
    const char *name = dwarf_diename(&child);
    if (dwarf_tag(&child) == DW_TAG_member && name && describe(&child, &f)) each(name, &f, data);
  } while (dwarf_siblingof(&child, &child) == 0);
  return true;
}

/* ---- symbols and places ---- */

static bool symbol_named(const Image *i, const char *name, int type, GElf_Sym *sym) {
  for (Elf_Scn *scn = NULL; (scn = elf_nextscn(i->elf, scn));) {
    GElf_Shdr header;
    if (!gelf_getshdr(scn, &header) || header.sh_type != SHT_SYMTAB) continue;
    Elf_Data *data = elf_getdata(scn, NULL);
    for (int k = 0, n = (int)(header.sh_size / header.sh_entsize); data && k < n; k++) {
      if (!gelf_getsym(data, k, sym) || GELF_ST_TYPE(sym->st_info) != type || sym->st_shndx == SHN_UNDEF) continue;
      const char *own = elf_strptr(i->elf, header.sh_link, sym->st_name);
      if (own && strcmp(own, name) == 0) return true;
    }
  }
  return false;
}

void *image_variable(const Image *i, const char *name) {
  GElf_Sym sym;
  return symbol_named(i, name, STT_OBJECT, &sym) ? (char *)i->bias + sym.st_value : NULL;
}

bool image_has_function(const Image *i, const char *name) {
  GElf_Sym sym;
  return symbol_named(i, name, STT_FUNC, &sym);
}

static const char *kept(const Image *i, const char *text) {
  return text ? g_string_chunk_insert_const(i->texts, text) : NULL;
}

static bool is_function(Dwarf_Die *scope) {
  int tag = dwarf_tag(scope);
  return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
}

/* dwarf_getscopes goes on from an inlined function to where it was written; dwarf_getscopes_die to where it is. */
static guint functions_at(const Image *i, Dwarf_Die *unit, Dwarf_Addr at, const char **out, guint most) {
  Dwarf_Die *scopes = NULL, *outwards = NULL;
  guint found = 0;
  int n = dwarf_getscopes(unit, at, &scopes), k = 0;
  while (k < n && !is_function(&scopes[k])) k++;
  int m = k < n ? dwarf_getscopes_die(&scopes[k], &outwards) : 0;
  for (k = 0; k < m && found < most; k++)
    if (is_function(&outwards[k]) && dwarf_diename(&outwards[k])) out[found++] = kept(i, dwarf_diename(&outwards[k]));
  free(scopes);
  free(outwards);
  return found;
}

guint image_functions(const Image *i, const void *pc, const char **out, guint most) {
  Dwarf_Die unit;
  Dwarf_Addr at = (Dwarf_Addr)((uintptr_t)pc - i->bias);
  return i->dwarf && dwarf_addrdie(i->dwarf, at, &unit) ? functions_at(i, &unit, at, out, most) : 0;
}

ImagePlace image_place(const Image *i, const void *pc) {
  ImagePlace place = {0};
  Dwarf_Die unit;
  Dwarf_Addr at = (Dwarf_Addr)((uintptr_t)pc - i->bias);
  if (!i->dwarf || !dwarf_addrdie(i->dwarf, at, &unit)) return place;
  const char *functions[INLINED_MOST];
  guint n = functions_at(i, &unit, at, functions, INLINED_MOST);
  place.function = n ? functions[0] : NULL;
  place.outer = n > 1 ? functions[n - 1] : NULL;
  Dwarf_Line *line = dwarf_getsrc_die(&unit, at);
  if (!line) return place;
  place.path = kept(i, dwarf_linesrc(line, NULL, NULL));
  const char *slash = place.path ? strrchr(place.path, '/') : NULL;
  place.file = slash ? slash + 1 : place.path;
  dwarf_lineno(line, &place.line);
  return place;
}
