/* explore.h - what an explorer needs of a world beside driving it: which moves a state has, one form for states that
 * differ in nothing but the numbering of what comes and goes, and what a step may touch. */
#pragma once
#include "model/world/world.h"

/* ---- moves of a state, untimed. Order: processes by id (resume or fire), then channels by id (deliver, lose) ---- */
typedef enum { MOVE_RESUME, MOVE_FIRE, MOVE_DELIVER, MOVE_LOSE } MoveKind;
typedef struct {
  MoveKind kind;
  uint32_t subject; /* ProcId, or ObjectId of a channel */
} Move;

/* Which limits may fire: NULL none; else asked for each armed one whose process waits. Timers that are no limits may
 * fire whenever their process waits; one whose process does not wait would do nothing. */
typedef bool (*MayFire)(const World *w, ProcId p, void *data);
/* Appends to `out` (of Move), which is emptied first. */
void world_moves(const World *w, MayFire limits, void *data, GArray *out);
/* FIRE lets the process stop waiting and resumes it, as one step; DELIVER and LOSE are steps of the network alone. */
void world_move(World *w, Move m);

/* ---- one form. Ids given back are used again lowest first, and messages are numbered by channel and place: two states
 * that differ only in how they came by their numbers become one. Renames nothing that is in use but messages, which no
 * model can name. Cheap when nothing came or went since the last call. ---- */
void world_canon(World *w);

/* How many of each kind were in use at once; for world_reserve. */
typedef struct {
  guint procs, objects, nodes, locals[16];
} WorldPeak;
void world_peak_note(const World *w, WorldPeak *peak);
/* Makes room for that many: otherwise a state would remember how many there ever were. After the model is built. */
void world_reserve(World *w, const WorldPeak *peak);

/* ---- footprints: ranges of arena bytes that a step may read and write. Overstating is safe. ---- */
enum { FOOTPRINT_MAX = 32 };
typedef struct {
  const void *at;
  uint32_t bytes;
  bool write;
} FootprintRange;
struct Footprint {
  FootprintRange ranges[FOOTPRINT_MAX];
  guint n;
  bool everything; /* nothing is known: it may touch all */
};
void footprint_reads(Footprint *f, const void *at, size_t bytes);
void footprint_writes(Footprint *f, const void *at, size_t bytes); /* reads it too */
bool footprints_meet(const Footprint *a, const Footprint *b);      /* one writes what the other touches */
