/* image.c - see image.h. The object is opened twice: by the dynamic linker, to run, and by elfutils, to be read
 * (image_debug.c). */
#include "sim/result.h"
#include "sim/scenario/assets.h"
#include "sim/scenario/scenario.h"
#include "sim/subject/entries.h"
#include "sim/subject/image_parts.h"
#include "sim/subject/runtime.h"
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

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
  if (!origin_is_sealed(contents, length))
    return complain(error, i->path,
                    "not as `stampede subject build` made it (cut short, stripped, damaged); build it again");
  i->hash = hash_text(contents, length);
  return true;
}

/* A variable of another type under the name would be read past its end. */
static bool is_whole(const StampedeSubject *subject) {
  Dl_info info;
  const ElfW(Sym) *symbol = NULL;
  return dladdr1(subject, &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol && info.dli_saddr == subject &&
         symbol->st_size == sizeof *subject;
}

static bool take_subject(Image *i, GError **error) {
  const char *real = strchr(i->path, '/') ? i->path : NULL;
  g_autofree char *here = real ? NULL : g_strconcat("./", i->path, NULL);
  subject_watch_loading(true);
  i->handle = dlopen(real ? real : here, RTLD_NOW | RTLD_LOCAL);
  subject_watch_loading(false);
  if (!i->handle) return complain(error, i->path, dlerror());
  i->subject = dlsym(i->handle, STAMPEDE_SUBJECT_SYMBOL);
  if (!i->subject) return complain(error, i->path, "exports no " STAMPEDE_SUBJECT_SYMBOL "; it is no subject");
  if (!is_whole(i->subject))
    return complain(error, i->path, STAMPEDE_SUBJECT_SYMBOL " is no StampedeSubject of stampede_subject.h");
  if (i->subject->version != STAMPEDE_SUBJECT_VERSION)
    return complain(error, i->path, "made for another version of stampede_subject.h; build it again");
  if (!i->subject->name || !i->subject->start) return complain(error, i->path, "a subject needs a name and a start");
  g_autofree char *what = entries_wrong(i->subject);
  return !what || complain(error, i->path, what);
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

/* ---- life ---- */

Image *image_load(const char *path, GError **error) {
  g_autoptr(Image) i = g_new0(Image, 1);
  i->fd = -1;
  i->path = g_strdup(path);
  i->texts = g_string_chunk_new(1024);
  if (!read_hash(i, error) || !take_subject(i, error) || !take_entries(i, error) || !image_open_debug(i, error))
    return NULL;
  Search s = {i, i->subject};
  int found = dl_iterate_phdr(on_object, &s);
  g_assert(found);
  image_index_types(i);
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
