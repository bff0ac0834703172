/* adapter.h - how one pooler is configured and started: sim/adapters/NAME.yaml, filled in from a scenario's terms. */
#pragma once
#include "model/pooler/config.h"
#include <glib.h>

#define ADAPTER_ERROR (g_quark_from_static_string("adapter-error"))

/* Where a run's pooler finds things. Programs that know no Unix sockets listen, and find servers, at ports of
 * 127.0.0.1.
 */
typedef struct {
  const char *dir;
  guint port; /* 0: at its socket */
} AdapterPeer;
typedef struct {
  const char *program, *dir;
  guint port;                /* where it is to listen; 0: at its socket */
  const guint *server_ports; /* of each pool's servers; NULL: they listen at dir/pool-i */
  guint process;             /* which of several it is, from 0 */
  const AdapterPeer *peers;  /* all of them, itself too */
  guint n_peers;
  const char *certificate, *private_key; /* PEM; NULL: nobody uses TLS */
} AdapterPlace;

/* What one may want of a pooler beside its work. */
typedef enum {
  ADAPTER_RELOAD,
  ADAPTER_PAUSE,
  ADAPTER_RESUME,
  ADAPTER_STOP, /* in good order */
  ADAPTER_POOLS,
  ADAPTER_SERVERS,
  ADAPTER_CLIENTS,
  ADAPTER_RESET, /* it forgets what it has learnt from servers, and closes their connections */
  ADAPTER_WISHES
} AdapterWish;

typedef struct {
  char *name, *text;
} AdapterFile;
typedef struct {
  char *name, *user, *socket;  /* user: whom it runs as under root; socket: NULL: TCP alone */
  char **argv, **env;          /* env: "NAME=VALUE" beside what every pooler gets */
  char *console;               /* database of its admin console; NULL: it has none */
  char *say[ADAPTER_WISHES];   /* what is to be said there; NULL: see signals */
  int signals[ADAPTER_WISHES]; /* or the signal that its first process is to get; 0: it cannot */
  bool untried;                /* written from documentation; no binary was there to try it */
  GArray *files;               /* of AdapterFile */
} Adapter;

const char *adapter_wish_word(AdapterWish w); /* "reload" */
enum { ADAPTER_SERVER_PORT = 5432 };          /* pool i's servers listen at dir/pool-i */
/* Pools of one `db` with a `user` each are one database there, of several users: that of the first of them. */
guint adapter_database(const PoolerConfig *c, guint pool);
const char *adapter_login(const PoolerConfig *c, guint pool); /* who clients of that pool are */
char *adapter_server_dir(const char *dir, guint pool);
#define ADAPTER_USER     "stampede" /* who every client is */
#define ADAPTER_PASSWORD "secret"   /* what everybody knows */
bool adapter_wants_tls(const PoolerConfig *c);

/* The adapter by that name from `dirs` (assets.h), or in that file where there is a / in it, for configuration c. NULL
 * and *error: none, or it is malformed (input).
 */
Adapter *adapter_load(const char *const *dirs, const char *name, const PoolerConfig *c, const AdapterPlace *place,
                      GError **error);
/* The name of the adapter for a program: its file's name without a version; g_free. */
char *adapter_for(const char *program);
/* What must be known before there is a place: the user, and whether it knows no Unix sockets. NULL and *error likewise;
 * g_free. */
char *adapter_user(const char *const *dirs, const char *name, bool *tcp_alone, GError **error);
/* What is known without a place: NULL and *error likewise. */
typedef struct AdapterAbout AdapterAbout;
AdapterAbout *adapter_about(const char *const *dirs, const char *name, GError **error);
void adapter_about_free(AdapterAbout *a);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AdapterAbout, adapter_about_free)
const char *adapter_preset(const AdapterAbout *a); /* that is held against it unless one is named; NULL: none */
bool adapter_tcp_alone(const AdapterAbout *a);
guint64 adapter_most_pools(const AdapterAbout *a);              /* G_MAXUINT64: as many as there are */
bool adapter_tells(const AdapterAbout *a, const char *setting); /* of pooler: its files have a place for it */
void adapter_free(Adapter *a);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Adapter, adapter_free)
