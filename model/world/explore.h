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

/* The same state under other names, for models whose processes or queues differ in nothing but theirs: process p, with
 * its locals, becomes procs[p], of its type, and what object o is (who waits there) becomes objects[o], of its kind.
 * Bijections by old id, 0 to 0; ids not in use, and channels, stay. What the model keeps of ids is its own affair. */
void world_rename(World *w, const ProcId *procs, const ObjectId *objects);

/* Its place among those that wait where it does, from 1; 0: it waits nowhere. */
guint world_wait_place(const World *w, ProcId p);

/* How many of each kind were in use at once; for world_reserve. */
typedef struct {
  guint procs, objects, nodes, locals[16];
} WorldPeak;
void world_peak_note(const World *w, WorldPeak *peak);
/* Makes room for that many: otherwise a state would remember how many there ever were. After the model is built. */
void world_reserve(World *w, const WorldPeak *peak);

/* ---- footprints (footprint.c): what a step may touch, as ranges of memory. A range need not be the bytes themselves:
 * any address may stand for a fact about the state ("this slot is in use"), as long as everybody who writes or reads
 * the fact names it. Overstating is safe; what is left out is found by stampede check --verify-reductions. ---- */
typedef enum {
  TOUCH_READ,
  TOUCH_WRITE, /* and reads */
  TOUCH_ADD,   /* two of these commute: a counter that nobody reads, a bit set */
  TOUCH_SEND,  /* at the end of a queue that is not full: commutes with a take from one that is not empty */
  TOUCH_CARRY, /* of a channel: the network delivers what is under way */
  TOUCH_TAKE,  /* from the front of a queue that is not empty */
  TOUCH_OWN,   /* written, and touched by no other process while this one stands here, whatever happens */
  TOUCH_BITS,  /* likewise, but of a word only some bits: others may set other bits of it */
} TouchKind;
enum { FOOTPRINT_MAX = 32 };
typedef struct {
  const void *at;
  uint32_t bytes;
  TouchKind how;
} FootprintRange;
struct Footprint {
  FootprintRange ranges[FOOTPRINT_MAX];
  guint n;
  bool everything; /* nothing is known: it may touch all but what others own */
  bool loops;      /* the step may close a cycle of its process: else each such step brings it further */
};
void footprint_touches(Footprint *f, TouchKind how, const void *at, size_t bytes);
void footprint_everything(Footprint *f);
void footprint_reads(Footprint *f, const void *at, size_t bytes);
void footprint_writes(Footprint *f, const void *at, size_t bytes); /* reads it too */
/* Objects of the world: a lock or wait queue is written by all that is done to it, and so are those that wait there. */
void footprint_object(Footprint *f, const World *w, ObjectId o, TouchKind how);
void footprint_spawns(Footprint *f, const World *w);          /* of the step: a process comes; */
void footprint_ends(Footprint *f, const World *w);            /* its own ends */
bool footprints_meet(const Footprint *a, const Footprint *b); /* the two may not commute */
/* What a guide says of the next step of p, and of all that p and what it spawns may ever do; `everything` where it says
 * nothing. A process that waits for an object also touches that. */
void world_footprint(const World *w, ProcId p, Footprint *f);
void world_future(const World *w, ProcId p, Footprint *f);
/* The network's part in a channel, next or ever; n is 0 where the object is none. */
void channel_footprint(const World *w, ObjectId channel, bool future, Footprint *f);
bool footprint_only_owns(const Footprint *f); /* OWN, BITS */
guint world_objects(const World *w);          /* ids are below this */
/* For whoever verifies them: is this byte of the arena the world's own (tables, free locals)? Whose locals is it in?
 * 0: nobody's. */
bool world_is_table(const World *w, const void *at);
ProcId world_locals_owner(const World *w, const void *at);
