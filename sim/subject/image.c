/* image.c - see image.h. The object is opened twice: by the dynamic linker, to run, and by elfutils, to be read. */
#include "sim/subject/image.h"
#include "sim/result.h"
#include "sim/scenario/assets.h"
#include "sim/scenario/scenario.h"
#include "sim/subject/entries.h"
#include <dlfcn.h>
#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <link.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

enum { INLINED_MOST = 32 };

struct Image {
  char *path, *hash;
  Origin *origin;
  void *handle;
  const StampedeSubject *subject;
  StampedeSubject whole; /* the same, and the manifest's entries with its own */
  StampedeEntry *entries;
  uintptr_t bias; /* what was added to the file's addresses */
  ImageRange code, data;
  int fd;
  Dwarf *dwarf;
  Elf *elf;
  GHashTable *types; /* name -> Dwarf_Die* of its definition */
  GStringChunk *texts;
};

static bool complain(GError **error, const char *path, const char *what) {
  g_set_error(error, SCENARIO_ERROR, SCENARIO_ERROR_INPUT, "%s: %s", path, what);
  return false;
}

/* ---- loading ---- */

static bool is_object(const char *path, const char *contents, gsize length, GError **error) {
  const Elf64_Ehdr *h = (const void *)contents;
  if (length < sizeof *h || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0)
    return complain(error, path, "not a shared object; `stampede subject build` makes one");
#if defined __x86_64__
  const Elf64_Half machine = EM_X86_64;
#else
  const Elf64_Half machine = EM_AARCH64;
#endif
  if (h->e_machine != machine || h->e_ident[EI_CLASS] != ELFCLASS64)
    return complain(error, path, "made for another kind of machine; build it again on this one");
  if (h->e_type != ET_DYN) return complain(error, path, "not a shared object; `stampede subject build` makes one");
  return true;
}

/* Before it is loaded: what another version asks of the runtime may not be there, and a file that was cut has no end
 * for the section to be found by. */
static bool is_of_this_version(Image *i, const char *contents, gsize length, GError **error) {
  i->origin = origin_read(contents, length);
  if (!i->origin || !i->origin->stampede)
    return complain(error, i->path, "no subject, or cut short; `stampede subject build` makes one");
  if (strcmp(i->origin->stampede, STAMPEDE_VERSION) == 0) return true;
  g_autofree char *what = g_strdup_printf("built by stampede %s, this is %s; build it again (stampede subject build)",
                                          i->origin->stampede, STAMPEDE_VERSION);
  return complain(error, i->path, what);
}

static char *hash_text(const char *contents, gsize length) {
  XXH128_hash_t h = XXH3_128bits(contents, length);
  return g_strdup_printf("%016" G_GINT64_MODIFIER "x%016" G_GINT64_MODIFIER "x", (guint64)h.high64, (guint64)h.low64);
}

#define OBJECT_MOST ((gsize)1 << 30) /* no subject is that large, and a device has no end */

char *image_hash_of(const char *path, GError **error) {
  gsize length;
  g_autofree char *contents = asset_read(path, OBJECT_MOST, &length, error);
  return contents ? hash_text(contents, length) : NULL;
}

static bool read_hash(Image *i, GError **error) {
  gsize length;
  g_autofree char *contents = asset_read(i->path, OBJECT_MOST, &length, error);
  if (!contents || !is_object(i->path, contents, length, error)) return false;
  if (!is_of_this_version(i, contents, length, error)) return false;
  i->hash = hash_text(contents, length);
  return true;
}

static bool take_subject(Image *i, GError **error) {
  const char *real = strchr(i->path, '/') ? i->path : NULL;
  g_autofree char *here = real ? NULL : g_strconcat("./", i->path, NULL);
  i->handle = dlopen(real ? real : here, RTLD_NOW | RTLD_LOCAL);
  if (!i->handle) return complain(error, i->path, dlerror());
  i->subject = dlsym(i->handle, STAMPEDE_SUBJECT_SYMBOL);
  if (!i->subject) return complain(error, i->path, "exports no " STAMPEDE_SUBJECT_SYMBOL "; it is no subject");
  if (i->subject->version != STAMPEDE_SUBJECT_VERSION)
    return complain(error, i->path, "made for another version of stampede_subject.h; build it again");
  if (!i->subject->name || !i->subject->start) return complain(error, i->path, "a subject needs a name and a start");
  return true;
}

/* An object may be made without `subject build`'s table of them. */
static bool take_entries(Image *i, GError **error) {
  const char *twice = NULL;
  i->whole = *i->subject;
  i->entries = entries_together(i->subject, dlsym(i->handle, ENTRIES_SYMBOL), &i->whole.n_entries, &twice);
  i->whole.entries = i->entries;
  if (!twice) return true;
  g_autofree char *what = g_strdup_printf("its manifest has an entry %s, and so has its code", twice);
  return complain(error, i->path, what);
}

/* ---- where it lies ---- */

typedef struct {
  Image *i;
  const void *symbol;
} Search;

static void widen(ImageRange *r, uintptr_t from, uintptr_t to) {
  uintptr_t start = r->bytes ? MIN((uintptr_t)r->start, from) : from,
            end = r->bytes ? MAX((uintptr_t)r->start + r->bytes, to) : to;
  *r = (ImageRange){(char *)start, end - start};
}

/* Variables: what is writable, less what the linker makes read-only again. */
static int on_object(struct dl_phdr_info *info, size_t size, void *data) {
  (void)size;
  Search *s = data;
  ImageRange all = {NULL, 0}, writable = {NULL, 0};
  uintptr_t relro_end = 0;
  for (int k = 0; k < info->dlpi_phnum; k++) {
    const ElfW(Phdr) *p = &info->dlpi_phdr[k];
    uintptr_t from = info->dlpi_addr + p->p_vaddr;
    if (p->p_type == PT_LOAD) widen(&all, from, from + p->p_memsz);
    if (p->p_type == PT_LOAD && (p->p_flags & PF_W)) widen(&writable, from, from + p->p_memsz);
    if (p->p_type == PT_GNU_RELRO) relro_end = from + p->p_memsz;
  }
  if ((const char *)s->symbol < all.start || (const char *)s->symbol >= all.start + all.bytes) return 0;
  uintptr_t end = (uintptr_t)writable.start + writable.bytes, start = MAX((uintptr_t)writable.start, relro_end);
  s->i->bias = info->dlpi_addr;
  s->i->code = all;
  s->i->data = writable.bytes ? (ImageRange){(char *)start, end - start} : (ImageRange){all.start, 0};
  return 1;
}

/* ---- DWARF ---- */

static bool open_debug(Image *i, GError **error) {
  elf_version(EV_CURRENT);
  i->fd = open(i->path, O_RDONLY | O_CLOEXEC);
  i->elf = i->fd < 0 ? NULL : elf_begin(i->fd, ELF_C_READ_MMAP, NULL);
  if (!i->elf) return complain(error, i->path, "cannot be read");
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

static void index_types(Image *i) {
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

/* ---- life ---- */

Image *image_load(const char *path, GError **error) {
  g_autoptr(Image) i = g_new0(Image, 1);
  i->fd = -1;
  i->path = g_strdup(path);
  i->texts = g_string_chunk_new(1024);
  if (!read_hash(i, error) || !take_subject(i, error) || !take_entries(i, error) || !open_debug(i, error)) return NULL;
  Search s = {i, i->subject};
  int found = dl_iterate_phdr(on_object, &s);
  g_assert(found);
  index_types(i);
  return g_steal_pointer(&i);
}

void image_free(Image *i) {
  if (!i) return;
  if (i->types) g_hash_table_unref(i->types);
  if (i->dwarf) dwarf_end(i->dwarf);
  if (i->elf) elf_end(i->elf);
  if (i->fd >= 0) close(i->fd);
  g_string_chunk_free(i->texts);
  origin_free(i->origin);
  g_free(i->path);
  g_free(i->hash);
  g_free(i->entries);
  g_free(i);
}

const StampedeSubject *image_subject(const Image *i) {
  return &i->whole;
}
const char *image_path(const Image *i) {
  return i->path;
}
const Origin *image_origin(const Image *i) {
  return i->origin;
}
const char *image_hash(const Image *i) {
  return i->hash;
}
ImageRange image_code(const Image *i) {
  return i->code;
}
ImageRange image_data(const Image *i) {
  return i->data;
}
