/* image.h - a subject's shared object: loaded, and asked what the linker and DWARF know of it.
 *
 * Loaded once a process (its variables are one set of addresses); `stampede` runs subjects in a child process of their
 * own (child.h). Everything it returns lives as long as the image. */
#pragma once
#include "sim/subject/include/stampede_subject.h"
#include "sim/subject/origin.h"
#include <glib.h>
#include <stdbool.h>

typedef struct Image Image;

/* NULL and *error (SCENARIO_ERROR_INPUT): no such file, no shared object, of another machine, no subject, made by
 * another version of the tool. */
Image *image_load(const char *path, GError **error);
void image_free(Image *i); /* does not unload */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Image, image_free)
const StampedeSubject *image_subject(const Image *i);
const char *image_path(const Image *i);
const Origin *image_origin(const Image *i);
const char *image_hash(const Image *i); /* 32 hex digits of the file's contents */
/* The same of a file that need not be loaded, or loadable. NULL and *error: it cannot be read. g_free. */
char *image_hash_of(const char *path, GError **error);

typedef struct {
  char *start;
  size_t bytes;
} ImageRange;
ImageRange image_code(const Image *i); /* all of it that is mapped */
ImageRange image_data(const Image *i); /* its variables: what each process has a copy of */

/* Address of a variable, static ones too; NULL: none of that name. */
void *image_variable(const Image *i, const char *name);

bool image_has_function(const Image *i, const char *name); /* static ones too, if any code of it was left */

typedef struct {
  uint64_t offset, size;
  bool pointer;
} ImageField;
/* A member of a struct, "PGPROC", "pgxactoff" (of a member struct: "links.next"). False: no such struct or member. */
bool image_field(const Image *i, const char *type, const char *member, ImageField *out);
bool image_type_size(const Image *i, const char *type, uint64_t *size);
/* Members in order of offset. */
bool image_each_field(const Image *i, const char *type,
                      void (*each)(const char *member, const ImageField *f, void *data), void *data);

typedef struct {
  const char *function, *file; /* file without its folders; NULL: not known */
  const char *outer;           /* the function that `function` was inlined into, at last; NULL: it was not */
  const char *path;            /* as the compiler was told */
  int line;
} ImagePlace;
ImagePlace image_place(const Image *i, const void *pc); /* inlined functions by the innermost name */
/* The functions that pc is in: the innermost inlined one first, the one that was compiled last. How many. */
guint image_functions(const Image *i, const void *pc, const char **out, guint most);
