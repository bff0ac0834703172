/* stepper.h - a model as an explorer sees it: a state, the moves it has, one of them made, any state taken up again.
 *
 * The second driver of a world beside sim/engine.h. Untimed: durations are nothing, what is under way may arrive at any
 * time, limits (timeouts, deadlines) fire only where they are named. Timed: each thing under way has a remaining time,
 * kept in the state; the earliest comes first, ties in every order; with jitter a remaining time is an interval, and
 * all that can be the earliest may come. A choice of the model inside a move is a branch: the move is made again from
 * the same state with the next answer. Single-threaded; a search on two cores has two steppers over equal models. */
#pragma once
#include "model/world/explore.h"
#include "model/world/vector.h"
#include "sim/check.h"

typedef struct {
  /* Builds the model; `driver` as in model_build. NULL and *error when the scenario asks for something impossible. */
  Model *(*build)(void (*driver)(World *w, void *data), void *data, void *source, GError **error);
  void *source;
  bool timed;
  int64_t jitter_ns;
  const char *const
      *fire; /* limits that may fire untimed: names of process types, or stages they wait in; NULL: none */
  bool (*fires)(const char *limit, void *source); /* beside those: NULL: none */
  /* Rewrites the state to the one that stands for all that are symmetric to it; NULL: none. */
  void (*canon)(Model *m, void *data);
  /* Takes away moves that need not be tried from this state; NULL: none. */
  void (*reduce)(Model *m, GArray *moves, void *data);
  void *reducer;
} StepperConfig;

typedef struct {
  ChoiceId what;
  uint64_t n, took;
} Answer;

/* A branch of a state: a move and the answers to the choices within it. */
enum { ANSWERS_MAX = 16, ANSWERS_FIRST = 255 /* n_answers: the first answer to each choice that comes */ };
typedef struct {
  Move move;
  guint n_answers;
  Answer answers[ANSWERS_MAX];
} Branch;

typedef struct Stepper Stepper;
/* Standing at the model's first state. NULL and *error as `build` says. */
Stepper *stepper_new(const StepperConfig *config, const WorldPeak *room, GError **error);
void stepper_free(Stepper *s);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Stepper, stepper_free)
Model *stepper_model(const Stepper *s);

/* The moves of this state (of Move; the stepper's own, until the next call). */
const GArray *stepper_moves(Stepper *s);
/* Makes a move with the first answers, or, after stepper_more said true, with the next ones: then the state must have
 * been taken up again in between. */
void stepper_go(Stepper *s, Move m);
/* Are there other answers to the choices that the last stepper_go met? */
bool stepper_more(Stepper *s);
/* Makes a move with given answers; false: the model asks otherwise here. */
bool stepper_follow(Stepper *s, const Branch *b);
const Branch *stepper_branch(const Stepper *s); /* the last move made, with its answers */
bool stepper_narrowed(const Stepper *s);        /* a choice had more answers than are tried: nothing can hold */
void stepper_answer_with(Stepper *s, uint64_t (*choose)(void *data, ChoiceId what, uint64_t n), void *data);

/* Must this move, one of stepper_moves, be made at last if it stays possible? Not what the network loses; not, untimed,
 * what the environment may never do. */
bool stepper_forced(const Stepper *s, Move m);
/* No move of this state is forced: it may stay as it is for ever. */
bool stepper_may_rest(Stepper *s);
/* In such a state: what the check says is pending, and so stays for ever, in words. NULL: nothing. */
char *stepper_rests_pending(Stepper *s, const Check *c);

/* No move, although not all is done: a deadlock. A state where an armed limit could still fire is none. */
bool stepper_stuck(Stepper *s);
bool stepper_waits_for_limit(const Stepper *s);
/* Notes of the model during moves; NULL: nobody listens. */
void stepper_listen(Stepper *s,
                    void (*note)(void *data, ProcId who, const char *what, const NoteField *fields, guint n),
                    void *data);
