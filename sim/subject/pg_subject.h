/* pg_subject - a subject of kind "postgres" as the real code behind a server (model/postgres/code.h). */
#pragma once
#include "model/postgres/code.h"
#include "sim/subject/image.h"

typedef struct PgSubject PgSubject;
/* Of an image whose kind is "postgres"; it and the image outlive the server. accesses: as in subject_new. */
PgSubject *pg_subject_new(Image *image, int64_t accesses);
void pg_subject_free(PgSubject *p); /* before world and segment go */
const PgCode *pg_subject_code(PgSubject *p);
/* After process has run: its own word is told from the followers'. Its slot; -1: none. */
int pg_subject_note_own(PgSubject *p, int process);
struct Subject *pg_subject_runtime(PgSubject *p); /* after lay_out; NULL before */
