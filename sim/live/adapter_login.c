/* adapter_login.c - see adapter_login.h. */
#include "sim/live/adapter_login.h"
#include <string.h>

static const char *const auth_words[] = {"trust", "password", "md5", "scram-sha-256"};

static bool clients_in_tls(const PoolerConfig *c) {
  for (int i = 0; i < c->work.n_clients; i++)
    if (c->work.clients[i].tls && c->work.clients[i].via_server == NONE) return true;
  return false;
}

typedef enum { TLS_NOBODY, TLS_SOME, TLS_ALL } WhoInTls;
static WhoInTls servers_in_tls(const PoolerConfig *c) {
  int n = 0;
  for (int i = 0; i < c->n_servers; i++) n += c->servers[i].tls;
  return n == 0 ? TLS_NOBODY : n < c->n_servers ? TLS_SOME : TLS_ALL;
}

/* Clients without a pooler between, too. */
bool adapter_wants_tls(const PoolerConfig *c) {
  return clients_in_tls(c) || servers_in_tls(c) != TLS_NOBODY;
}

static bool has_word(const Node *list, const char *word) {
  for (guint i = 0; list && list->kind == NODE_LIST && i < list->children->len; i++) {
    const Node *n = list->children->pdata[i];
    if (n->text && strcmp(n->text, word) == 0) return true;
  }
  return false;
}

const char *adapter_client_auth(const Node *root, const PoolerConfig *c) {
  const Node *map = node_child(root, "client_auth"), *own = map ? node_child(map, auth_words[c->client_auth]) : NULL;
  return own ? own->text : NULL;
}

static void wanted(const Node *root, const char *key, bool there, const char *of, const char *what, GError **error) {
  const Node *at = node_child(root, key);
  if (there || *error) return;
  *error = mark_error(at ? &at->mark : &root->mark, key,
                      "this adapter does not say that its pooler knows %s; %s wants it", what, of);
}

void adapter_check_login(const Node *root, const PoolerConfig *c, GError **error) {
  const Node *tls = node_child(root, "tls"), *server_auth = node_child(root, "server_auth");
  bool asks = c->client_auth == LOGIN_TRUST || adapter_client_auth(root, c);
  wanted(root, "client_auth", asks, "pooler.client_auth", auth_words[c->client_auth], error);
  wanted(root, "tls", !clients_in_tls(c) || has_word(tls, "client"), "clients[].tls", "TLS to clients", error);
  wanted(root, "tls", servers_in_tls(c) == TLS_NOBODY || has_word(tls, "server"), "servers[].tls", "TLS to servers",
         error);
  for (int i = 0; i < c->n_servers; i++) {
    const char *word = auth_words[c->servers[i].auth];
    bool knows = c->servers[i].auth == LOGIN_TRUST || has_word(server_auth, word);
    wanted(root, "server_auth", knows, "servers[].auth", word, error);
  }
}

char *adapter_login_word(const Filling *f, const char *word) {
  static const char *const modes[] = {"disable", "prefer", "require"};
  const AdapterPlace *at = f->at;
  if (f->client_auth && !strcmp(word, "client_auth")) return g_strdup(f->client_auth);
  if (!strcmp(word, "client_sslmode")) return g_strdup(clients_in_tls(f->c) ? "allow" : "disable");
  if (!strcmp(word, "server_sslmode")) return g_strdup(modes[servers_in_tls(f->c)]);
  if (!strcmp(word, "certificate")) return g_strdup(at->certificate ? at->certificate : "");
  return !strcmp(word, "private_key") ? g_strdup(at->private_key ? at->private_key : "") : NULL;
}
