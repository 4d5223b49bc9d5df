// SPDX-License-Identifier: Apache-2.0
// The server's state, shared by the files of this folder. Everything is guarded by `lock`, which
// the reading thread holds while it handles a message; the analysing thread takes it only to get
// work and to deliver results.
#ifndef TILE_TOOLS_LSP_LSP_SERVER_H
#define TILE_TOOLS_LSP_LSP_SERVER_H

#include "base/json.h"
#include "tools/lsp/analysis.h"
#include "tools/lsp/documents.h"
#include "tools/lsp/lsp.h"

#include <pthread.h>

// Error codes of JSON-RPC and of the protocol.
enum lsp_error {
  LSP_NO_ERROR = 0,
  LSP_PARSE_ERROR = -32700,
  LSP_INVALID_REQUEST = -32600,
  LSP_METHOD_NOT_FOUND = -32601,
  LSP_INVALID_PARAMS = -32602,
  LSP_INTERNAL_ERROR = -32603,
  LSP_NOT_INITIALIZED = -32002
};

struct lsp {
  pthread_mutex_t lock;
  pthread_cond_t work, idle; // there is something to analyse; there is nothing
  pthread_t thread;
  bool has_thread, stop, is_busy;
  void (*send)(void *user, struct str message);
  void *user;
  struct arena *arena; // of the settings
  struct analysis_settings settings;
  struct document *documents; // the open ones
  uint64_t revisions;         // so far
  bool is_initialized, is_shut_down, has_exited;
};

// One request or notification.
struct request {
  struct lsp *s;
  struct arena *a;           // freed after the answer
  const struct json *params; // NULL: none
  struct json_writer *w;     // the result; nothing written: null
  enum lsp_error error;      // set with `message` instead of a result
  const char *message;
};

void request_fail(struct request *r, enum lsp_error error, const char *message);
// params[a][b] of a kind; NULL if absent or of another kind.
const struct json *request_value(const struct json *object, const char *key, enum json_kind kind);

// The document and position that the request names. False: not open (the answer is null), or
// LSP_INVALID_PARAMS.
struct location {
  struct document *document;
  const struct snapshot *now;
  uint32_t offset;
};
bool request_location(struct request *r, struct location *ret);
bool request_document(struct request *r, struct document **ret);

// ---- the requests, one file each ----
void request_hover(struct request *r);
void request_definition(struct request *r);
void request_completion(struct request *r);
void request_signature(struct request *r);
void request_symbols(struct request *r);
void request_hints(struct request *r);
void request_fixes(struct request *r);

// ---- the analysing thread (analyser.c) ----
bool worker_start(struct lsp *s);
void worker_stop(struct lsp *s);

// Sends `textDocument/publishDiagnostics`; an analysis of NULL clears them.
void publish_diagnostics(struct lsp *s, struct arena *a, const char *uri, int64_t version,
                         const struct analysis *of);

#endif
