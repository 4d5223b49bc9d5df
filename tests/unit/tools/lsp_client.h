// SPDX-License-Identifier: Apache-2.0
// A client of the language server in the same process: it sends messages and keeps what comes back.
#ifndef TESTS_UNIT_TOOLS_LSP_CLIENT_H
#define TESTS_UNIT_TOOLS_LSP_CLIENT_H

#include "base/json.h"
#include "tools/lsp/lsp_server.h"

struct client {
  struct arena *a;
  struct lsp *server;
  const struct json *answer;      // the last one with an id or an error
  const struct json *diagnostics; // the last ones published; NULL: none yet
  int64_t diagnosed_version;
  const char *uri;  // of the last opened document,
  const char *text; // and its text
  int64_t version;
  bool is_deaf; // what comes back is not looked at
};
extern struct client client;

void client_create(void); // not initialized
void client_start(void);  // initialized
void client_finish(void);

// One message, written with ' for ". False after `exit`.
bool client_send(const char *message);
// The answer to a request with these parameters (as above): the result, NULL where it is null.
const struct json *client_ask(const char *method, const char *params);
// The error's code of the last answer, 0: it is a result.
int64_t client_error(void);

void client_open(const char *path, const char *text);
// Replaces bytes [begin, end) of the text, which is ASCII, by an incremental change.
void client_edit(size_t begin, size_t end, const char *with);
// A request at byte `shift` of the `nth` (from 0) `needle` in the text.
const struct json *client_at(const char *method, const char *needle, int nth, int shift);
// The markdown of a hover there; "" if there is none.
const char *client_hover(const char *needle, int nth, int shift);
// Whether the items of a completion have this label.
bool client_offers(const struct json *items, const char *label);
// A member of an object, checked to be there.
const struct json *member(const struct json *object, const char *key);

#endif
