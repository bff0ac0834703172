/* plain - a scenario's `processes`: each a machine of the world that calls the entries of a subject's code, one after
 * the other, as its script says. The code behind them is a subject of its own (plain_build), or a server's
 * (plain_drive). */
#pragma once
#include "sim/model.h"
#include "sim/subject/subject.h"

typedef struct Plain Plain;

/* The model m, so far empty but for its image: world, segment, the subject started, its processes, its checks. False
 * and *error: what the scenario asks is not to be had. */
bool plain_build(Model *m, const Scenario *s, const Costs *costs, void (*driver)(World *w, void *data), void *data,
                 GError **error);
/* The processes alone, over code that runs already in `segment`. went(data, process, self) is told each time the code
 * of one has run; NULL. */
bool plain_drive(Model *m, const Scenario *s, Subject *code, Segment *segment,
                 void (*went)(void *data, int process, ProcId self), void *data, GError **error);
void plain_free(Plain *p); /* before the world, the segment that it was given, and the image */
Subject *plain_subject(const Plain *p);
/* Tells `went` of the nth process of the scenario, whose code another has run as `process` (-1: it has ended). */
void plain_tell(const Plain *p, guint nth, int process);
bool plain_done(const Plain *p);                           /* every script has ended */
size_t plain_bytes(const Scenario *s);                     /* of the world's arena, at most */
const char *plain_exit_words(const Plain *p, ProcId self); /* of one that left by stm_exit, what it said; else NULL */
void plain_take_checks(Model *m);                          /* the code's own become the model's */
/* A check of the code's own, asked between two steps; broken: says in `why` what it says. */
bool subject_breaks(Subject *s, const StampedeCheck *check, GString *why);
/* The code's own variables; then where each process is. */
void plain_describe_code(const Model *m, void (*each)(const char *name, const char *value, void *data), void *data);
void plain_describe(const Model *m, void (*each)(const char *name, const char *value, void *data), void *data);
