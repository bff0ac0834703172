/* gate_program.c - whether a program can be gated, as its file tells it (System V ABI, ELF-64). */
#include "sim/live/gate.h"
#include <elf.h>
#include <link.h>
#include <string.h>

typedef struct {
  const char *bytes;
  gsize n;
} File;

/* NULL: past the end of it. */
static const void *at(const File *f, guint64 offset, guint64 size) {
  return offset <= f->n && size <= f->n - offset ? f->bytes + offset : NULL;
}

static const ElfW(Phdr) * segment(const File *f, const ElfW(Ehdr) * h, guint32 type) {
  for (guint i = 0; i < h->e_phnum; i++) {
    const ElfW(Phdr) *p = at(f, h->e_phoff + (guint64)i * h->e_phentsize, sizeof *p);
    if (p && p->p_type == type) return p;
  }
  return NULL;
}

static const ElfW(Shdr) * section(const File *f, const ElfW(Ehdr) * h, guint i) {
  return at(f, h->e_shoff + (guint64)i * h->e_shentsize, sizeof(ElfW(Shdr)));
}

static bool has_section(const File *f, const ElfW(Ehdr) * h, const char *name) {
  const ElfW(Shdr) *names = section(f, h, h->e_shstrndx);
  for (guint i = 0; names && i < h->e_shnum; i++) {
    const ElfW(Shdr) *s = section(f, h, i);
    const char *its = s ? at(f, names->sh_offset + s->sh_name, strlen(name) + 1) : NULL;
    if (its && memcmp(its, name, strlen(name) + 1) == 0) return true;
  }
  return false;
}

/* The name stands among the strings of what the loader reads. */
static bool needs(const File *f, const ElfW(Ehdr) * h, const char *library) {
  const ElfW(Shdr) * s;
  for (guint i = 0; (s = section(f, h, i)) && i < h->e_shnum; i++) {
    const char *strings = s->sh_type == SHT_STRTAB && s->sh_flags & SHF_ALLOC ? at(f, s->sh_offset, s->sh_size) : NULL;
    if (strings && memmem(strings, s->sh_size, library, strlen(library))) return true;
  }
  return false;
}

static const char *why_not(const File *f) {
  const ElfW(Ehdr) *h = at(f, 0, sizeof *h);
  if (!h || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0) return NULL;
  if (h->e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32)) return "is for another machine";
  if (has_section(f, h, ".go.buildinfo")) return "is a Go program";
  if (!segment(f, h, PT_INTERP)) return "is linked statically";
  if (needs(f, h, "liburing.so")) return "uses io_uring";
  return NULL;
}

const char *gate_why_not(const char *program) {
  g_autoptr(GMappedFile) map = g_mapped_file_new(program, FALSE, NULL);
  if (!map || !g_mapped_file_get_length(map)) return NULL;
  File f = {g_mapped_file_get_contents(map), g_mapped_file_get_length(map)};
  return why_not(&f);
}
