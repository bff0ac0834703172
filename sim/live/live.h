/* live.h - the state of one live run, shared by the files that make it up. Private to sim/live.
 *
 * What happens next is a pending event: one in order of virtual time, or any, where orders are explored (choose.c). An
 * event that gives the pooler an input (bytes, a connection, an end) is an input of its own: live_input lets the pooler
 * take it, and what it does then is read in order of the connections' numbers before anything else happens. */
#pragma once
#include "model/pooler/outcome.h"
#include "model/world/rng.h"
#include "sim/event_queue.h"
#include "sim/live/adapter.h"
#include "sim/live/client.h"
#include "sim/live/driver.h"
#include "sim/live/gate.h"
#include "sim/live/server.h"
#include "traces/trace.h"

typedef enum {
  DO_SCRIPT,    /* of a client: its script looks whether it can go on */
  DO_WAITED,    /* of a client: its wait is over; data: its turn */
  DO_DEADLINE,  /* of a client: so is its patience; data: its turn */
  DO_ARRIVE,    /* of an entry of `clients`: the next one comes */
  DO_PACKET,    /* of a client's connection: what it said is there */
  DO_HEARD,     /* of a client's connection: it hears; data: a Heard */
  DO_CANCEL,    /* of a sent cancel: its client sends it */
  DO_CANCEL_IN, /* of a sent cancel: it comes to the pooler */
  DO_GIVE_UP,   /* of a sent cancel: its client waits no longer for its end */
  DO_OPEN,      /* of a server's connection: the connect is over */
  DO_LOGIN,     /* of a server's connection: so is the login */
  DO_START,     /* of a server's connection: the query is there; data: number of the run, as in the next two */
  DO_END,       /* of a server's connection: it has run */
  DO_REPLY,     /* of a server's connection: its answer is back */
  DO_MATCH,     /* of a cancel's connection at a server */
  DO_SIGNAL,    /* of a server's connection: it handles a signal; data: the cancel's connection */
  DO_CLOSE,     /* of a cancel's connection at a server: it ends */
  DO_EVENT,     /* of an entry of `events` */
  DO_AFTER,     /* of an entry of `events`: `takes` is over */
  DO_UNDO,      /* of an entry of `events`: `for` is over */
  DO_LIMIT      /* explore.fire: the clock passes a limit of the pooler; data: ns */
} Doing;
typedef enum { HEARD_READY, HEARD_GONE } Heard;

typedef enum { CONN_CLIENT, CONN_CANCEL, CONN_SERVER, CONN_CONSOLE } ConnKind;
typedef enum { RUN_NONE, RUN_COMES, RUN_WAITS, RUN_RUNS, RUN_ENDED } RunState;
typedef struct {
  ConnKind kind;
  int fd;        /* -1: closed */
  guint owner;   /* client, sent cancel, or index of its postmaster */
  guint pool;    /* of a server's; of several of one database the first, until it has said who it is */
  guint process; /* of the pooler's: whose it is */
  guint number;  /* of a server's connections, from 1: how a trace names it; 0: a cancel, or not logged in */
  Wired *wired;
  Backend *backend;
  GByteArray *outbox;   /* a client's, under way */
  guint planned;        /* of what runs: events that are to come; of no consequence once it is closed */
  bool open, welcome;   /* a server's: the connect is over; logged in */
  bool pool_known;      /* a server's: it has */
  bool carrier;         /* a server's: opened while a cancel waited for one */
  int64_t came_ns;      /* when it was */
  int direct;           /* of a server's: who is there without a pooler between, a client; -1 */
  guint session;        /* of a client's; of whose query runs */
  RunState state;       /* of what runs */
  guint run;            /* which run of it this is */
  bool packet;          /* of a cancel's at a server: it has come, and is not matched yet */
  bool cancelled, held; /* how it ended; its answer waits for a link that is cut */
  int lock;             /* that it holds or waits for; -1 */
  LockHold hold;        /* for how long */
  int client, query;    /* whose query runs, or ran last; -1: the pooler's own */
  int32_t pid;          /* a server's own; of a cancel that came to a server: whom it names */
  guint8 key[WIRE_KEY_MOST];
  gsize key_len;
  int cancel; /* to which sent cancel it was put down; -1 */
} Conn;

/* A session of a client: its own, or one by `as`. */
typedef struct {
  int conn;      /* -1: none */
  guint process; /* of the pooler's, that it came to */
  int query;     /* that it waits for, QUERY_OTHER for the end of a transaction; NONE */
  bool begun, in_transaction, connecting;
  bool came;         /* what it waits for is here, and on its way to its script */
  bool failed;       /* what it waited for ended in an error */
  bool server_error; /* a server said so */
  bool cut;          /* a client whose end nobody sees (no_eof) */
  int server_conn;   /* that ran its last query; -1 */
  int first_query;   /* of its transaction */
  int64_t asked_ns;  /* when it sent that */
  bool waits;        /* it has not been forwarded */
  char *told;        /* the error that it was told; NULL */
  guint64 prepared;  /* statements that its connection has, as it was told, by bit of the query */
} PlayerSession;

typedef enum { P_OP, P_CONNECT, P_ANSWER, P_LATE, P_PAUSE, P_RECONNECT, P_FENCED, P_OVER } PlayerStage;
typedef struct {
  const ClientDef *def;
  char *name;
  guint def_index, pc, place;
  PlayerStage stage;
  PlayerSession sessions[SESSIONS_MAX];
  guint loops[LOOPS_MAX], depth;
  guint turn;                      /* goes up whenever it begins to wait */
  guint64 sent, answered, at_sent; /* queries, by bit; cancels `at` that have been planned, by bit */
  int64_t began;
  guint open_cancels; /* sent, and not closed */
  bool fence, saw_57014, timed_out, pausing;
} Player;
enum { QUERY_OTHER = -2, QUERY_BEGIN = -3 /* before a transaction's first, in one go with it */ };

typedef struct {
  guint client, session, process; /* process: of the pooler's, that it came to */
  int query, conn, from, aimed;   /* from: the client's connection whose key it has; aimed: the server's connection that
                                     ran the query when it was sent; -1 */
  bool judged, stale, told, at_pooler; /* stale: the query of that name was sent again */
  bool gone, ran;                      /* the pooler has closed its connection; its query ran then */
  int64_t gone_ns, sent_ns;
} Sent; /* a cancel of a client */

typedef struct {
  int fd;
  guint pool, process, next; /* process: of the pooler's, whose servers listen there */
  int port;                  /* of TCP; 0: a Unix socket */
} Listener;

/* One of the processes of the pooler. */
typedef struct {
  Adapter *adapter;  /* its own: it has a directory and files of its own */
  guint port;        /* of TCP, where it listens; 0 */
  guint descriptors; /* that it had open when it was ready */
  int console;       /* conn; -1: none yet */
  bool gone, ending; /* it has ended, as it was told to; it was told to */
} Member;

typedef struct {
  guint phase, came, there, oldest; /* oldest: no player of this entry before that index is there */
  int64_t spent_ns;                 /* of the phase */
  bool waits;                       /* one is on his way */
} Arrivals;

typedef struct {
  guint pid_last, number;
  bool down;
} Host;

typedef struct {
  int owner; /* conn; -1 */
  GArray *waiting;
} DbLock;

typedef struct {
  double ok, error, cancelled, timeout, refused, deadlines, timeouts, served;
  GArray *waits; /* of LiveWait */
  guint sockets, sockets_max, opens;
  double *by_def; /* queries.ok by entry of `clients` */
} LiveMeasure;
typedef struct {
  guint def;
  int64_t ns;
} LiveWait;

typedef struct {
  const Scenario *scenario;
  const LiveOptions *o;
  const PoolerConfig *config;        /* as it is now: `set` and `reload` change it */
  const PoolerConfig *config_before; /* the last `set`; NULL */
  Model *model;                      /* never run: what checks are shown */
  RunResult *result;
  LiveGate *gate;
  GArray *members;    /* of Member */
  guint next_process; /* whose turn it is, round robin */
  TlsKeys *tls;       /* of everybody who uses it; NULL: nobody does */
  Rng draws[LIVE_CHOICES];
  bool drew;                                  /* the seed has decided something */
  GArray *choices;                            /* of TraceChoice: made since the last step of the trace */
  EventQueue *queue;                          /* in order of time */
  GArray *pending;                            /* of Event: where any may be next; NULL: in order of time */
  GArray *conns, *players, *sent, *listeners; /* of Conn, Player, Sent, Listener */
  GArray *hosts, *locks;                      /* of Host, DbLock */
  GHashTable *refusals;                       /* what servers said by themselves; looked up only */
  guint8 *cut;                                /* links that are cut: by PoolerLink, then by server */
  Arrivals *arrivals;                         /* by entry of `clients` */
  guint8 *event_done;                         /* of those that come when something is so: they have */
  bool console_ready;                         /* it has answered */
  GPtrArray *rows;                            /* of char **: what the console answers; NULL: nobody asks */
  int poll;                                   /* epoll of all descriptors */
  bool tcp;                                   /* over loopback in place of Unix sockets */
  int64_t now, last;                          /* last: when something of a client's or the environment's came about */
  guint64 planned;                            /* events so far */
  guint64 turns, turns_before;                /* of the loop and of scripts: on the whole; before this instant */
  guint64 max_turns, max_turns_at_once;       /* max_steps, max_steps_at_once; 0: none */
  int64_t until;                              /* the scenario's end; INT64_MAX: none */
  bool has_direct;                            /* some client has no pooler between */
  bool over, dirty;                           /* dirty: something was sent that the pooler has not been let at yet */
  bool gone;                                  /* all its processes are */
  bool wrong, resetting;                      /* verdict_wrong; between two runs (reuse.c), of which nothing is said */
  guint64 inputs;
  bool watches_pools, pools_seen; /* pool-accounting is asked for; the pooler has told */
  guint players_done;
  guint environment, vain; /* pending events: of the environment; of what ran on connections that are closed */
  guint64 counts[OUT_COUNT];
  guint unsettled; /* cancels whose connection the pooler has closed, and nobody knows yet what came of them */
  LiveMeasure measure;
  TraceWriter *trace;
  GError *trace_error;
  struct XXH3_state_s *hash;
  int64_t steps;
} Live;

#define MEMBER(l, i) (&g_array_index((l)->members, Member, (i)))
#define CONN(l, i)   (&g_array_index((l)->conns, Conn, (i)))
#define PLAYER(l, i) (&g_array_index((l)->players, Player, (i)))
#define SENT(l, i)   (&g_array_index((l)->sent, Sent, (i)))
#define HOST(l, i)   (&g_array_index((l)->hosts, Host, (i)))

/* Is process i meant? NONE: all are. */
static inline bool pooler_meant(int process, guint i) {
  return process == NONE || (guint)process == i;
}

/* start.c: the pooler's program */
void pooler_name(Live *l);                     /* as a result names it */
bool pooler_prepare(Live *l, GError **error);  /* its directories and files */
bool pooler_start(Live *l, GError **error);    /* GATE_ERROR: it was never ready, with its last words */
void pooler_start_again(Live *l, int process); /* NONE: all that are gone */
void pooler_kill(Live *l, int process);        /* NONE: all; likewise */
void pooler_stop(Live *l, int process);
void pooler_is_gone(Live *l, guint process);
bool pooler_lingers(const Live *l);               /* one was told to end, and has not */
guint pooler_process(Live *l);                    /* that takes the next connection, by pooler.balance */
char *pooler_label(const Live *l, guint process); /* "pooler", "pooler 1"; g_free */
const Adapter *pooler_adapter(const Live *l);     /* what holds for all its processes */
bool pooler_rewrite(Live *l);        /* its files, from what holds now; true: some are others than before */
void pooler_look_for_leaks(Live *l); /* at the end */

void pooler_taken(Live *l); /* one that goes on from another run */

/* reuse.c: all do nothing without o->reuse */
bool reuse_take(Live *l);                  /* true: there is one from the run before */
bool reuse_first(Live *l, GError **error); /* of one that has just been started */
void reuse_keep(Live *l);                  /* at the end, for the next run; l has none any more */

/* loop.c */
void live_at(Live *l, int64_t ns, Doing what, guint subject, guint64 data);
void live_loop(Live *l);
void live_input(Live *l); /* the pooler takes what there is, and what it then does is read */
void live_look(Live *l);  /* the same for what the driver asks for itself: no check looks */
void live_move_to(Live *l, int64_t ns);
bool live_interrupted(Live *l); /* true: the run is over, and the result says why */
bool live_takes_turn(Live *l);  /* false: likewise, or a limit of steps is reached */
/* A step of the trace: `from` says `message` to `to`. */
void live_said(Live *l, const char *from, const char *to, const char *message, const char *about);

/* sockets.c */
guint conn_add(Live *l, ConnKind kind, int fd, guint owner);
void conn_watch(Live *l, guint conn, bool read);      /* false: whether the other side closes, alone */
bool conn_send(Live *l, guint conn, GByteArray *out); /* and empties it */
void conn_close(Live *l, guint conn);
bool sockets_read(Live *l);         /* all there is, by number of connection; true: there was something */
int unix_connect(const char *path); /* -1: refused */
int unix_listen(const char *path);  /* -1, errno */
int tcp_listen(int *port);          /* a free one of loopback; likewise */
int tcp_accept(int listener);       /* -1: nobody is there */
int tcp_connect(int port);
int pooler_connect(const Live *l, guint process);

/* choose.c */
bool live_fires(const Live *l, const char *limit); /* explore.fire names it */
uint64_t live_choose(Live *l, LiveChoice what, uint64_t n);
guint live_next(Live *l); /* which of the pending events is next, where any may be */
void live_choices_start(Live *l);

/* links.c: how long things take, what is lost, which links are broken */
int64_t live_draw(Live *l, const Delay *d);
int64_t link_ns(Live *l, PoolerLink which, guint server, bool connect);
LinkFault live_fault(const Live *l, PoolerLink which, guint server);
bool live_loses(Live *l, PoolerLink which, guint server);
void link_cut(Live *l, PoolerLink which, int server, bool cut);

/* host_listen.c: where the servers listen, and who comes */
bool hosts_open(Live *l, GError **error);
void hosts_taken(Live *l); /* they listen already */
void host_accept(Live *l, guint listener);
void host_connected(Live *l, guint conn);                              /* or refused */
guint host_direct(Live *l, guint client, guint session, guint server); /* conn of the client's end */

/* host_login.c */
Backend *host_new_backend(Live *l, guint conn);
void host_logs_in(Live *l, guint conn);
bool host_may_be_of(const Live *l, const Conn *c, guint pool); /* a server's connection */
void host_welcome(Live *l, guint conn);
void host_turns_away(Live *l, guint conn, const char *why); /* it has been told so, in what its backend has to send */

/* host.c: the servers */
void host_read(Live *l, guint conn, const guint8 *bytes, gsize n);
void host_read_on(Live *l, guint conn); /* what its backend has not read yet; and sends what that has said */
void host_gone(Live *l, guint conn);    /* the pooler closed it */
void host_do(Live *l, Doing what, guint conn, guint64 data);
void host_dies(Live *l, guint conn, bool silent);
void host_up(Live *l, guint server);
void host_link_back(Live *l, guint server);
char *host_name(const Live *l, guint conn); /* "server s#1"; g_free */
char *host_peer(const Live *l, guint conn); /* "pooler", "client other"; g_free */
bool host_runs(const Live *l, guint conn);  /* a backend is at work there */

/* host_run.c: what a backend does */
void host_query(Live *l, guint conn);
void host_begin(Live *l, guint conn);
void host_end(Live *l, guint conn, bool cancelled);
void host_reply(Live *l, guint conn);
void host_unlock(Live *l, guint conn);

/* host_cancel.c */
void host_cancel_came(Live *l, guint conn, const BackendEvent *e);
void host_match_cancel(Live *l, guint conn);
void host_signalled(Live *l, guint conn, guint64 cancel_conn);

/* player_arrive.c: which clients are there */
void players_new(Live *l);
void player_arrives(Live *l, guint def);

/* player.c: their scripts */
void player_go_on(Live *l, guint client);
void player_wake(Live *l, guint client, int64_t after_ns);
void player_waited(Live *l, Doing what, guint client, guint64 turn);
char *player_name(const Player *p); /* "client a"; g_free */
const char *player_tag(const Live *l, int client, int query);

/* player_talk.c: a client's connections */
void session_connect(Live *l, guint client, guint session);
void session_query(Live *l, guint client, guint session, int query);
void session_end_transaction(Live *l, guint client, guint session, const char *verb);
void session_leave(Live *l, guint client, guint session, bool goodbye);
bool session_here(const Live *l, const Player *p, guint session);
void player_packet(Live *l, guint conn);
void player_read(Live *l, guint conn, const guint8 *bytes, gsize n);
void player_gone(Live *l, guint conn);
void player_heard(Live *l, guint conn, Heard what);

/* player_say.c: how a client's driver says a query */
/* Appended to `out`; the word for it in a trace. QUERY_OTHER: `verb` ends its transaction. */
const char *player_put_query(const Live *l, guint client, guint session, int query, const char *verb, GByteArray *out);
/* Whose it is: client, query, session of c; false: the pooler's own. */
bool player_asked(const Live *l, const Backend *b, Conn *c);
/* What runs in its place: a prepared statement of that name is another's. NULL: it is what it asked for; g_free. */
char *player_other_statement(const Live *l, const Backend *b, const Conn *c);

/* player_cancel.c */
void cancels_plan(Live *l, guint client, guint session, int query);
void cancel_now(Live *l, guint client, guint session, int query);
void cancel_send(Live *l, guint sent);
void cancel_comes(Live *l, guint sent);
void cancel_given_up(Live *l, guint sent);
void cancel_told(Live *l, guint sent);
void cancel_gone(Live *l, guint conn);
void cancels_settle(Live *l); /* those that the pooler has closed, and no packet is left that could be theirs */

/* fitness.c */
GError *live_refuses(const Scenario *s, const PoolerConfig *c); /* what is not driven; NULL: nothing */

/* events.c: the environment's script */
void events_start(Live *l);
void environment_look(Live *l);
void event_do(Live *l, Doing what, guint event);

/* console.c: the pooler's own */
/* False: it cannot be told; pool NULL: all. */
bool console_say(Live *l, guint process, AdapterWish what, const char *pool);
/* Of char **; NULL: it does not answer; g_ptr_array_unref. */
GPtrArray *console_rows(Live *l, guint process, AdapterWish what);
bool console_tell(Live *l, guint process, AdapterWish what); /* no step of the trace; false: it has not answered */
void console_read(Live *l, guint conn, const guint8 *bytes, gsize n);

/* pools.c */
void pools_look(Live *l);                    /* pool-accounting on the pooler's own figures */
char *pools_figures(Live *l, guint process); /* who is there, as it says itself; NULL: it does not tell; g_free */

/* measure.c */
void measure_start(Live *l);
void measure_socket(Live *l, int by);
void measure_forwarded(Live *l, guint client, guint session);
void measure_answer(Live *l, guint client, guint session, int query);
void measure_end(Live *l);

/* verdict.c */
void verdict_cancel(Live *l, guint sent, Outcome o, int hit_conn);
void verdict_mark(Live *l, uint64_t mark, const char *words);
void verdict_check(Live *l, const char *check, const char *why); /* it is violated */
int verdict_attribute(Live *l, guint cancel_conn, int target);   /* which sent cancel this is; -1: none is open */
void verdict_pooler(Live *l, GateState s);
void verdict_wrong(Live *l, const char *what); /* "the pooler WHAT": the run is over */
void verdict_start(Live *l);
void verdict_stuck(Live *l);                  /* nothing goes on, and scripts have not ended */
void verdict_livelock(Live *l, guint client); /* its script goes round, and no time passes */
bool verdict_conclude(Live *l, GError **error);
