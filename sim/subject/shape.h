/* shape.h - what a tree was found to have, by symbols and debug information: the parts of it where versions and patches
 * differ. */
#pragma once
#include "sim/subject/image.h"

/* each("free list", "dlist freeProcs, linked by PGPROC.links at 0", data), in a fixed order; nothing of a subject that
 * is no PostgreSQL. */
void shape_each(const Image *i, void (*each)(const char *what, const char *found, void *data), void *data);

/* Structs that are told unless others are asked for; NULL-terminated. */
const char *const *shape_structs(const Image *i);
/* Is it one that the model or a check reads, or that patches are about? */
bool shape_matters(const char *type, const char *member);
