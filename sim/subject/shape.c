/* shape.c - see shape.h. */
#include "sim/subject/shape.h"
#include <string.h>

typedef void (*Each)(const char *what, const char *found, void *data);

static const char *const postgres_structs[] = {"PGPROC", "PROC_HDR", "ProcArrayStruct", NULL};
static const char *const none[] = {NULL};

static bool is_postgres(const Image *i) {
  const StampedeSubject *s = image_subject(i);
  return s->kind && strcmp(s->kind, "postgres") == 0;
}

const char *const *shape_structs(const Image *i) {
  return is_postgres(i) ? postgres_structs : none;
}

static const struct {
  const char *type, *member;
} members[] = {{"PGPROC", "links"},
               {"PGPROC", "freeProcsLink"},
               {"PGPROC", "procgloballist"},
               {"PGPROC", "sem"},
               {"PGPROC", "procLatch"},
               {"PGPROC", "xid"},
               {"PGPROC", "xmin"},
               {"PGPROC", "pid"},
               {"PGPROC", "pgxactoff"},
               {"PGPROC", "pgprocno"},
               {"PGPROC", "vxid"},
               {"PGPROC", "databaseId"},
               {"PGPROC", "statusFlags"},
               {"PGPROC", "subxidStatus"},
               {"PGPROC", "subxids"},
               {"PGPROC", "lockGroupLeader"},
               {"PROC_HDR", "allProcs"},
               {"PROC_HDR", "allProcCount"},
               {"PROC_HDR", "xids"},
               {"PROC_HDR", "subxidStates"},
               {"PROC_HDR", "statusFlags"},
               {"PROC_HDR", "pgxactoffs"},
               {"PROC_HDR", "freeProcs"},
               {"PROC_HDR", "autovacFreeProcs"},
               {"PROC_HDR", "bgworkerFreeProcs"},
               {"PROC_HDR", "walsenderFreeProcs"},
               {"ProcArrayStruct", "numProcs"},
               {"ProcArrayStruct", "maxProcs"},
               {"ProcArrayStruct", "pgprocnos"}};

bool shape_matters(const char *type, const char *member) {
  bool known = false;
  for (guint k = 0; k < G_N_ELEMENTS(members); k++) {
    bool same = strcmp(type, members[k].type) == 0;
    if (same && strcmp(member, members[k].member) == 0) return true;
    known |= same;
  }
  return !known;
}

/* ---- what it has ---- */

static void tell(Each each, void *data, const char *what, const char *format, ...) G_GNUC_PRINTF(4, 5);
static void tell(Each each, void *data, const char *what, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_autofree char *found = g_strdup_vprintf(format, args);
  va_end(args);
  each(what, found, data);
}

static void starts(const Image *i, Each each, void *data) {
  static const char *const ways[] = {"ProcGlobalShmemRequest", "ProcGlobalShmemInit", "InitProcGlobal",
                                     "ProcArrayShmemRequest",  "ProcArrayShmemInit",  "CreateSharedProcArray"};
  g_autoptr(GString) found = g_string_new(NULL);
  for (guint k = 0; k < G_N_ELEMENTS(ways); k++)
    if (image_has_function(i, ways[k])) g_string_append_printf(found, "%s%s", found->len ? ", " : "", ways[k]);
  each("starts by", found->str, data);
}

static void free_lists(const Image *i, Each each, void *data) {
  static const char *const lists[] = {"freeProcs", "autovacFreeProcs", "bgworkerFreeProcs", "walsenderFreeProcs"};
  ImageField head, link;
  g_autoptr(GString) found = g_string_new(NULL);
  const char *name = image_field(i, "PGPROC", "freeProcsLink", &link) ? "freeProcsLink" : "links";
  if (!image_field(i, "PROC_HDR", "freeProcs", &head) || !image_field(i, "PGPROC", name, &link)) return;
  for (guint k = 0; k < G_N_ELEMENTS(lists); k++)
    if (image_field(i, "PROC_HDR", lists[k], &head))
      g_string_append_printf(found, "%s%s", found->len ? ", " : "", lists[k]);
  tell(each, data, "free lists", "%s by PGPROC.%s (offset %" G_GUINT64_FORMAT "): %s",
       head.size == 16 ? "doubly linked (dlist)" : "singly linked", name, link.offset, found->str);
}

static void offsets(const Image *i, Each each, void *data) {
  ImageField f;
  uint64_t size = 0;
  if (image_field(i, "PROC_HDR", "pgxactoffs", &f))
    return each("pgxactoff", "an array of its own, PROC_HDR.pgxactoffs", data);
  if (!image_field(i, "PGPROC", "pgxactoff", &f)) return each("pgxactoff", "none", data);
  image_type_size(i, "PGPROC", &size);
  tell(each, data, "pgxactoff", "in PGPROC, offset %" G_GUINT64_FORMAT ", one each %" G_GUINT64_FORMAT " bytes",
       f.offset, size);
}

static void mirrors(const Image *i, Each each, void *data) {
  static const char *const names[] = {"xids", "subxidStates", "statusFlags"};
  g_autoptr(GString) found = g_string_new(NULL);
  ImageField f;
  for (guint k = 0; k < G_N_ELEMENTS(names); k++)
    if (image_field(i, "PROC_HDR", names[k], &f))
      g_string_append_printf(found, "%s%s", found->len ? ", " : "", names[k]);
  each("dense arrays", found->len ? found->str : "none", data);
}

void shape_each(const Image *i, Each each, void *data) {
  if (!is_postgres(i)) return;
  starts(i, each, data);
  free_lists(i, each, data);
  offsets(i, each, data);
  mirrors(i, each, data);
}
