/* table_processes.c - what the processes of a subject call, and when. */
#include "sim/scenario/keys.h"

#define SCRIPT(text) "processes: [{name: p, script: [" text "]}]"

static const KeyInfo rows[] = {
    {"processes", K_LIST, .example = "processes: [{name: p, count: 2, script: [connect, leave]}]",
     .about = "Processes that run a subject's code, and what each calls."},
    {"processes[]", K_MAP, .example = SCRIPT("connect, leave"), .about = "A process, or so many alike."},
    {"processes[].name", K_NAME | K_REQUIRED, .example = SCRIPT("connect"), .about = "What they are shown as."},
    {"processes[].count", K_INT, .dflt = "1", .lo = "1", .hi = "65000",
     .example = "processes: [{name: p, count: 3, script: [connect]}]", .about = "So many of them."},
    {"processes[].start", K_TIME | K_DRAW, .dflt = "0s",
     .example = "processes: [{name: p, start: {uniform: [0s, 1ms]}, script: [connect]}]",
     .about = "When it begins; a draw is each one's own."},
    {"processes[].script", K_LIST | K_REQUIRED, .example = SCRIPT("connect, {call: work, with: 3}, wait: 1ms, leave"),
     .about = "What it does, one after the other; then it ends, without a call of its own."},
    {"processes[].script[]", K_NAME | K_MAP, .like = "@call", .example = SCRIPT("connect, leave"),
     .about = "The name of an entry of the subject, called with 0; or a map."},
    {"@call.call", K_NAME, .example = SCRIPT("{call: work, with: 3}"), .about = "Calls this entry of the subject."},
    {"@call.with", K_INT | K_WORD, .dflt = "0", .words = "copy",
     .example = "processes: [{name: p, count: 3, script: [{call: work, with: copy}]}]",
     .about = "Its argument; copy: which of the count it is, from 0."},
    {"@call.wait", K_TIME | K_DRAW, .example = SCRIPT("connect, wait: 5ms, leave"),
     .about = "Does nothing for so long."},
    {"@call.loop", K_MAP, .example = SCRIPT("loop: {times: 3, do: [connect, leave]}"),
     .about = "Does its steps again and again."},
    {"@call.loop.times", K_INT | K_REQUIRED, .lo = "1", .hi = "1000000000",
     .example = SCRIPT("loop: {times: 3, do: [connect, leave]}"), .about = "So often."},
    {"@call.loop.do", K_LIST | K_REQUIRED, .example = SCRIPT("loop: {times: 3, do: [connect, leave]}"),
     .about = "Its steps."},
    {"@call.loop.do[]", K_NAME | K_MAP, .like = "@call", .example = SCRIPT("loop: {times: 3, do: [connect, leave]}"),
     .about = "A step."},
};
const KeyPart key_table_processes = {rows, G_N_ELEMENTS(rows)};
