/* live.h - the state of one live run, shared by driver.c, host.c, player.c, verdict.c. Private to sim/live.
 *
 * What happens next is in one queue of virtual time. An event that gives the pooler an input (bytes, a connection, an
 * end) is an input of its own: live_input lets the pooler take it, and what it does then is read in order of the
 * connections' numbers before anything else happens. */
#pragma once
#include "model/pooler/outcome.h"
#include "sim/event_queue.h"
#include "sim/live/adapter.h"
#include "sim/live/client.h"
#include "sim/live/driver.h"
#include "sim/live/gate.h"
#include "sim/live/server.h"
#include "traces/trace.h"

typedef enum {
  DO_SCRIPT, /* subject: client; its next op */
  DO_CANCEL, /* subject: sent cancel; its connection and packet */
  DO_LOGIN,  /* subject: connection of a server; data: nothing */
  DO_ANSWER, /* subject: connection of a server; data: the number of its run */
  DO_MATCH,  /* subject: connection of a server that is a cancel */
  DO_SIGNAL, /* subject: connection of a server that is signalled; data: the cancel's */
  DO_CLOSE   /* subject: connection of a server that is a cancel: it ends */
} Doing;

typedef enum { CONN_CLIENT, CONN_CANCEL, CONN_SERVER } ConnKind;
typedef struct {
  ConnKind kind;
  int fd;       /* -1: closed */
  guint owner;  /* client, sent cancel, or index of its postmaster */
  guint pool;   /* of a server's */
  guint number; /* of a server's connections, from 1: how a trace names it */
  Wired *wired;
  Backend *backend;
  bool welcome;      /* a server's: logged in */
  guint run;         /* which run of it this is */
  int client, query; /* whose query runs, or ran last; -1: the pooler's own */
  int32_t pid;       /* of a cancel that came to a server */
  guint8 key[WIRE_KEY_MOST];
  gsize key_len;
  int cancel; /* to which sent cancel it was put down; -1 */
} Conn;

typedef struct {
  const ClientDef *def;
  char *name;
  guint pc;
  int conn;  /* -1: none */
  int query; /* that it waits for, QUERY_OTHER for a commit; NONE */
  bool begun, done, connecting;
  guint loops[LOOPS_MAX], depth;
  int server_conn;   /* that ran its last query */
  bool server_error; /* a server has answered this query with an error */
} Player;
enum { QUERY_OTHER = -2 };

typedef struct {
  guint client;
  int query, conn, aimed; /* aimed: the server's connection that ran the query when it was sent; -1 */
  bool judged;
} Sent; /* a cancel of a client */

typedef struct {
  int fd;
  guint pool, next;
} Listener;

typedef struct {
  const Scenario *scenario;
  const LiveOptions *o;
  const PoolerConfig *config;
  Model *model; /* never run: what checks are shown */
  RunResult *result;
  LiveGate *gate;
  Adapter *adapter;
  EventQueue *queue;
  GArray *conns, *players, *sent, *listeners; /* of Conn, Player, Sent, Listener */
  guint *pids, *numbers;                      /* of each postmaster: the next */
  int poll;                                   /* epoll of all descriptors */
  int64_t now, last;                          /* last: when something other than the clock moved */
  guint descriptors;                          /* that the pooler had open when it was ready */
  bool over, dirty;                           /* dirty: something was sent that the pooler has not been let at yet */
  guint64 counts[OUT_COUNT];
  TraceWriter *trace;
  GError *trace_error;
  struct XXH3_state_s *hash;
  int64_t steps;
} Live;

#define CONN(l, i)   (&g_array_index((l)->conns, Conn, (i)))
#define PLAYER(l, i) (&g_array_index((l)->players, Player, (i)))
#define SENT(l, i)   (&g_array_index((l)->sent, Sent, (i)))

/* driver.c */
void live_at(Live *l, int64_t ns, Doing what, guint subject, guint64 data);
void live_input(Live *l); /* the pooler takes what there is, and what it then does is read */
/* A step of the trace: `from` says `message` to `to`. */
void live_said(Live *l, const char *from, const char *to, const char *message, const char *about);
guint conn_add(Live *l, ConnKind kind, int fd, guint owner);
bool conn_send(Live *l, guint conn, GByteArray *out); /* and empties it */
void conn_close(Live *l, guint conn);
int unix_connect(const char *path); /* -1: refused */
int unix_listen(const char *path);  /* -1, errno */

void live_move_to(Live *l, int64_t ns);

/* start.c: the pooler's program */
void pooler_name(Live *l); /* as a result names it */
bool pooler_start(Live *l, GError **error);
bool pooler_await_ready(Live *l, GError **error); /* GATE_ERROR: it never was, with its last words */
void pooler_look_for_leaks(Live *l);              /* at the end */

/* host.c: the servers */
bool hosts_open(Live *l, GError **error);
void host_accept(Live *l, guint listener);
void host_read(Live *l, guint conn, const guint8 *bytes, gsize n);
void host_gone(Live *l, guint conn); /* the pooler closed it */
void host_do(Live *l, Doing what, guint conn, guint64 data);
char *host_name(const Live *l, guint conn); /* "server s#1"; g_free */

/* player.c: the clients */
void players_new(Live *l);
GError *players_refuse(const Live *l); /* what scripts ask that is not driven; NULL: nothing */
void player_go_on(Live *l, guint client);
void player_read(Live *l, guint conn, const guint8 *bytes, gsize n);
void player_gone(Live *l, guint conn);
void player_cancel(Live *l, guint sent);
char *player_query(const Live *l, guint client, int query); /* SQL; g_free */
const char *player_tag(const Live *l, int client, int query);

/* verdict.c */
void verdict_cancel(Live *l, guint sent, Outcome o, int hit_conn);
void verdict_mark(Live *l, uint64_t mark, const char *words);
int verdict_attribute(Live *l, guint cancel_conn, int target); /* which sent cancel this is; -1: none is open */
void verdict_pooler(Live *l, GateState s);
void verdict_wrong(Live *l, const char *what); /* "the pooler WHAT": the run is over */
void verdict_start(Live *l);
void verdict_stuck(Live *l); /* nothing goes on, and scripts have not ended */
bool verdict_conclude(Live *l, GError **error);
