/* sequence_picture.h - a sequence chart while it is drawn, shared by sequence.c (what is asked for, measuring, files),
 * sequence_parts.c (a node for everything there is) and sequence_places.c (where each of them stands). Private to
 * these.
 */
#pragma once
#include "viz/graph.h"
#include "viz/sequence.h"
#include "viz/sequence_bars.h"

/* In points. */
#define MARGIN 8.0
#define NOTES  190.0 /* the column of what else changed */
#define BAR    8.0   /* width of a bar */

#define BROKEN "#B3261E"
#define LASSO  "#0072B2"

typedef struct {
  Agnode_t *node;
  double width, height; /* measured */
} SequencePart;

typedef struct {
  Agnode_t *stripe; /* a hairline below, or what is behind a broken step */
  SequencePart number, box, notes;
  SequencePart *texts; /* of the messages */
  double top, height;
} SequenceRow;

typedef struct {
  const Chart *c;
  const ChartBars *bars;
  Agraph_t *g;
  SequencePart heading, key, end, frame_words;
  Agnode_t *frame, **lines, **bar_nodes; /* of the lasso, of lanes, of bars */
  SequencePart *heads, *feet;            /* of lifelines */
  SequenceRow *rows;
  guint n, lanes;
  bool timed, noted;
  double left, gap, width, height, body, foot; /* body: top of the first row; foot: bottom of the last */
} SequencePicture;

/* Is the check broken in the step of this row? */
bool sequence_row_is_broken(const SequencePicture *p, guint row);

/* Makes the graph and every part: what it says and how it looks, not where. `bars`, `lanes`, `n`, `gap`, `timed` and
 * `noted` are known. */
void sequence_build(SequencePicture *p);
/* Gives every part its place, by the sizes that were measured, and makes the arrows. */
void sequence_place(SequencePicture *p);
