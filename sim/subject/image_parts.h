/* image_parts.h - what the files of an image (image*.c) share; not for others. */
#pragma once
#include "sim/subject/image.h"
#include <elfutils/libdw.h>

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

/* SCENARIO_ERROR_INPUT. Without debug information `dwarf` stays NULL. */
bool image_open_debug(Image *i, GError **error);
void image_index_types(Image *i);
