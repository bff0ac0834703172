/* adapter_login.h - what an adapter says of passwords and TLS, for adapter.c: how its pooler asks clients
 * (`client_auth`, pg_hba.conf's words and its own for them), what its servers may ask it (`server_auth`), where it
 * knows TLS (`tls`). */
#pragma once
#include "sim/live/adapter_parts.h"
#include "sim/scenario/node.h"

/* What the scenario wants and this pooler cannot: *error, at the key that does not say it. */
void adapter_check_login(const Node *root, const PoolerConfig *c, GError **error);
/* The pooler's own word for how clients are asked; NULL: none is needed. */
const char *adapter_client_auth(const Node *root, const PoolerConfig *c);
/* What a word in braces stands for; NULL: it is none of these. g_free. */
char *adapter_login_word(const Filling *f, const char *word);
