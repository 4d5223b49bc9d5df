// SPDX-License-Identifier: Apache-2.0
// Messages: their validation, the methods, and the life of the server.
#include "tools/lsp/lsp_server.h"

#include "base/memory.h"

#include <tile/runtime.h>

#include <stdlib.h>

// ---- answers ----

void request_fail(struct request *r, enum lsp_error error, const char *message) {
  r->error = error;
  r->message = message;
}

const struct json *request_value(const struct json *object, const char *key, enum json_kind kind) {
  const struct json *v = object && object->kind == JSON_OBJECT ? json_get(object, key) : NULL;
  return v && v->kind == kind ? v : NULL;
}

static void begin_answer(struct json_writer *w, const char *id) {
  json_begin_object(w);
  json_key(w, "jsonrpc"), json_cstring(w, "2.0");
  json_key(w, "id"), json_raw(w, id);
}

static void send_error(struct lsp *s, struct arena *a, const char *id, enum lsp_error error,
                       const char *message) {
  struct strbuf text = {.arena = a};
  struct json_writer w = {.out = &text};
  begin_answer(&w, id);
  json_key(&w, "error"), json_begin_object(&w);
  json_key(&w, "code"), json_int(&w, error);
  json_key(&w, "message"), json_cstring(&w, message);
  json_end_object(&w);
  json_end_object(&w);
  s->send(s->user, (struct str){strbuf_cstr(&text), text.len});
  strbuf_finish(&text);
}

static void send_result(struct lsp *s, struct arena *a, const char *id, const char *result) {
  struct strbuf text = {.arena = a};
  struct json_writer w = {.out = &text};
  begin_answer(&w, id);
  json_key(&w, "result"), json_raw(&w, result);
  json_end_object(&w);
  s->send(s->user, (struct str){strbuf_cstr(&text), text.len});
  strbuf_finish(&text);
}

// ---- documents and positions of requests ----

static struct document **find(struct lsp *s, const struct json *uri) {
  struct document **d = &s->documents;
  while (*d && !str_is(uri->string, (*d)->uri))
    d = &(*d)->next;
  return d;
}

static const struct json *document_uri(struct request *r) {
  const struct json *uri =
      request_value(request_value(r->params, "textDocument", JSON_OBJECT), "uri", JSON_STRING);
  if (!uri)
    request_fail(r, LSP_INVALID_PARAMS, "`textDocument.uri` is missing");
  return uri;
}

bool request_document(struct request *r, struct document **ret) {
  const struct json *uri = document_uri(r);
  *ret = uri ? *find(r->s, uri) : NULL;
  return *ret != NULL;
}

bool request_location(struct request *r, struct location *ret) {
  struct position at;
  if (!request_document(r, &ret->document))
    return false;
  if (!text_read_position(json_get(r->params, "position"), &at)) {
    request_fail(r, LSP_INVALID_PARAMS, "`position` has no line and character");
    return false;
  }
  ret->now = ret->document->now;
  ret->offset = text_offset(&ret->now->lines, at);
  return true;
}

// ---- notifications of documents ----

static int64_t version_of(const struct json *document) {
  const struct json *v = request_value(document, "version", JSON_NUMBER);
  return v && v->is_integer ? v->integer : 0;
}

static void wake(struct lsp *s, struct document *d) {
  d->revision = ++s->revisions;
  pthread_cond_signal(&s->work);
}

static void did_open(struct request *r) {
  const struct json *item = request_value(r->params, "textDocument", JSON_OBJECT);
  const struct json *uri = request_value(item, "uri", JSON_STRING);
  const struct json *text = request_value(item, "text", JSON_STRING);
  if (!uri || !text)
    return;
  struct document **old = find(r->s, uri), *next = *old ? (*old)->next : NULL;
  document_close(*old);
  *old = next;
  struct document *d =
      document_open(&r->s->settings, arena_strndup(r->a, uri->string.ptr, uri->string.len),
                    version_of(item), text->string);
  if (!d)
    return;
  d->next = r->s->documents;
  r->s->documents = d;
  wake(r->s, d);
}

// One change: of a range, or the whole text. False: it is none.
static bool apply(struct arena *a, struct str *text, const struct json *change) {
  const struct json *with = request_value(change, "text", JSON_STRING);
  const struct json *range = request_value(change, "range", JSON_OBJECT);
  struct position start, end;
  if (!with)
    return false;
  if (!range) {
    *text = with->string;
    return true;
  }
  if (!text_read_position(json_get(range, "start"), &start) ||
      !text_read_position(json_get(range, "end"), &end))
    return false;
  struct text_lines lines = text_lines_of(a, *text);
  uint32_t begin = text_offset(&lines, start), stop = text_offset(&lines, end);
  stop = stop < begin ? begin : stop;
  size_t rest = text->len - stop, len = begin + with->string.len + rest;
  char *made = arena_alloc(a, len + 1, 1);
  memcpy(made, text->ptr, begin);
  if (with->string.len)
    memcpy(made + begin, with->string.ptr, with->string.len);
  memcpy(made + begin + with->string.len, text->ptr + stop, rest);
  *text = (struct str){made, len};
  return true;
}

static void did_change(struct request *r) {
  struct document *d;
  const struct json *changes = request_value(r->params, "contentChanges", JSON_ARRAY);
  if (!changes || !request_document(r, &d))
    return;
  struct str text = d->now->source->text;
  for (size_t i = 0; i < changes->count; i++)
    if (!apply(r->a, &text, changes->items[i]))
      return;
  if (!document_set_text(d, text))
    return;
  d->version = version_of(request_value(r->params, "textDocument", JSON_OBJECT));
  wake(r->s, d);
}

static void did_close(struct request *r) {
  const struct json *uri = document_uri(r);
  struct document **d = uri ? find(r->s, uri) : NULL;
  if (!d || !*d)
    return;
  publish_diagnostics(r->s, r->a, (*d)->uri, 0, NULL);
  struct document *next = (*d)->next;
  document_close(*d);
  *d = next;
}

// ---- the life of the server ----

static void put_options(struct json_writer *w, const char *key, const char *triggers) {
  json_key(w, key), json_begin_object(w);
  json_key(w, "triggerCharacters"), json_begin_array(w);
  for (char one[2] = {0}; *triggers; triggers++) {
    one[0] = *triggers;
    json_cstring(w, one);
  }
  json_end_array(w);
  json_end_object(w);
}

// On the arena of the settings.
static void read_settings(void *user) {
  struct request *r = user;
  struct lsp *s = r->s;
  const struct json *options = request_value(r->params, "initializationOptions", JSON_OBJECT);
  const struct json *target = request_value(options, "target", JSON_STRING);
  const struct json *folders = request_value(options, "folders", JSON_ARRAY);
  const struct target *named = target ? target_find(target->string) : NULL;
  if (named)
    s->settings.target = named;
  if (!folders)
    return;
  const char **all = arena_array(s->arena, const char *, folders->count + 1);
  size_t n = 0;
  for (size_t i = 0; i < folders->count; i++)
    if (folders->items[i]->kind == JSON_STRING)
      all[n++] =
          arena_strndup(s->arena, folders->items[i]->string.ptr, folders->items[i]->string.len);
  s->settings.folders = all;
  s->settings.folder_count = n;
}

static void initialize(struct request *r) {
  struct json_writer *w = r->w;
  if (r->s->is_initialized) {
    request_fail(r, LSP_INVALID_REQUEST, "the server is initialized already");
    return;
  }
  if (!arena_guard(r->s->arena, read_settings, r)) {
    request_fail(r, LSP_INTERNAL_ERROR, "out of memory");
    return;
  }
  r->s->is_initialized = true;
  json_begin_object(w);
  json_key(w, "capabilities"), json_begin_object(w);
  json_key(w, "positionEncoding"), json_cstring(w, "utf-16");
  json_key(w, "textDocumentSync"), json_begin_object(w);
  json_key(w, "openClose"), json_bool(w, true);
  json_key(w, "change"), json_int(w, 2); // incremental
  json_end_object(w);
  json_key(w, "hoverProvider"), json_bool(w, true);
  json_key(w, "definitionProvider"), json_bool(w, true);
  json_key(w, "documentSymbolProvider"), json_bool(w, true);
  json_key(w, "inlayHintProvider"), json_bool(w, true);
  json_key(w, "codeActionProvider"), json_bool(w, true);
  put_options(w, "completionProvider", ".");
  put_options(w, "signatureHelpProvider", "(,");
  json_end_object(w);
  json_key(w, "serverInfo"), json_begin_object(w);
  json_key(w, "name"), json_cstring(w, "tilec");
  json_key(w, "version"), json_cstring(w, tile_version());
  json_end_object(w);
  json_end_object(w);
}

static void shut_down(struct request *r) { r->s->is_shut_down = true; }
static void leave(struct request *r) { r->s->has_exited = true; }
static void ignore(struct request *r) { (void)r; }

static const struct method {
  const char *name;
  bool is_request;
  void (*handle)(struct request *r);
} methods[] = {
    {"initialize", true, initialize},
    {"initialized", false, ignore},
    {"shutdown", true, shut_down},
    {"exit", false, leave},
    {"textDocument/didOpen", false, did_open},
    {"textDocument/didChange", false, did_change},
    {"textDocument/didClose", false, did_close},
    {"textDocument/hover", true, request_hover},
    {"textDocument/definition", true, request_definition},
    {"textDocument/completion", true, request_completion},
    {"textDocument/signatureHelp", true, request_signature},
    {"textDocument/documentSymbol", true, request_symbols},
    {"textDocument/inlayHint", true, request_hints},
    {"textDocument/codeAction", true, request_fixes},
};

// ---- dispatch ----

struct receiving {
  struct lsp *s;
  struct arena *a;
  struct str text;
};

static const struct method *method_of(struct str name) {
  for (size_t i = 0; i < COUNT_OF(methods); i++)
    if (str_is(name, methods[i].name))
      return &methods[i];
  return NULL;
}

// Why the method cannot be called now; LSP_NO_ERROR: it can.
static enum lsp_error refusal(const struct lsp *s, const struct method *m, const char **ret_text) {
  if (!m) {
    *ret_text = "there is no such method";
    return LSP_METHOD_NOT_FOUND;
  }
  if (s->is_shut_down && m->handle != leave) {
    *ret_text = "the server is shut down";
    return LSP_INVALID_REQUEST;
  }
  if (!s->is_initialized && m->handle != initialize && m->handle != leave) {
    *ret_text = "the server is not initialized";
    return LSP_NOT_INITIALIZED;
  }
  return LSP_NO_ERROR;
}

static void call(struct receiving *v, const struct json *message, const char *id) {
  const struct json *name = json_get(message, "method"), *params = json_get(message, "params");
  const struct method *m = method_of(name->string);
  struct strbuf result = {.arena = v->a};
  struct json_writer w = {.out = &result};
  struct request r = {.s = v->s, .a = v->a, .params = params, .w = &w};
  r.error = refusal(v->s, m, &r.message);
  if (r.error == LSP_NO_ERROR && m->is_request && !id)
    return; // a request without an id: nobody waits for the answer
  if (r.error == LSP_NO_ERROR)
    m->handle(&r);
  if (id && r.error != LSP_NO_ERROR)
    send_error(v->s, v->a, id, r.error, r.message);
  else if (id)
    send_result(v->s, v->a, id, result.len ? strbuf_cstr(&result) : "null");
  strbuf_finish(&result);
}

static void receive(void *user) {
  struct receiving *v = user;
  struct json_error error;
  const struct json *message = json_parse(v->a, v->text, &error);
  if (!message) {
    send_error(v->s, v->a, "null", LSP_PARSE_ERROR,
               arena_printf(v->a, "byte %zu: %s", error.offset, error.message));
    return;
  }
  const struct json *id = message->kind == JSON_OBJECT ? json_get(message, "id") : NULL;
  bool is_named = id && (id->kind == JSON_STRING || id->kind == JSON_NUMBER);
  const char *id_text =
      is_named ? arena_strndup(v->a, v->text.ptr + id->begin, id->end - id->begin) : NULL;
  if (request_value(message, "method", JSON_STRING))
    call(v, message, id_text);
  else if (message->kind != JSON_OBJECT ||
           (!json_get(message, "result") && !json_get(message, "error")))
    send_error(v->s, v->a, id_text ? id_text : "null", LSP_INVALID_REQUEST,
               "a message is an object with a method");
}

bool lsp_receive(struct lsp *s, struct str message) {
  struct receiving v = {s, arena_create(), message};
  pthread_mutex_lock(&s->lock);
  if (!v.a || !arena_guard(v.a, receive, &v))
    s->send(s->user, STR("{\"jsonrpc\": \"2.0\", \"id\": null, \"error\": {\"code\": -32603, "
                         "\"message\": \"out of memory\"}}"));
  bool goes_on = !s->has_exited;
  pthread_mutex_unlock(&s->lock);
  arena_destroy(v.a);
  return goes_on;
}

struct refusing {
  struct lsp *s;
  struct arena *a;
  int code;
  const char *text;
};

static void refuse(void *user) {
  struct refusing *f = user;
  send_error(f->s, f->a, "null", (enum lsp_error)f->code, f->text);
}

void lsp_refuse(struct lsp *s, int code, const char *text) {
  struct refusing f = {s, arena_create(), code, text};
  pthread_mutex_lock(&s->lock);
  if (f.a)
    arena_guard(f.a, refuse, &f);
  pthread_mutex_unlock(&s->lock);
  arena_destroy(f.a);
}

int lsp_exit_status(const struct lsp *s) {
  bool was_idle = !s->is_initialized && !s->has_exited;
  return was_idle || (s->has_exited && s->is_shut_down) ? 0 : 1;
}

void lsp_wait(struct lsp *s) {
  pthread_mutex_lock(&s->lock);
  pthread_cond_signal(&s->work);
  do
    pthread_cond_wait(&s->idle, &s->lock);
  while (s->is_busy);
  pthread_mutex_unlock(&s->lock);
}

// ---- creation ----

struct lsp *lsp_create(void (*send)(void *user, struct str message), void *user) {
  struct lsp *s = memory_zeroed(1, sizeof *s);
  if (!s)
    return NULL;
  s->send = send;
  s->user = user;
  s->settings.target = target_find(STR("sm_90a"));
  s->arena = arena_create();
  pthread_mutex_init(&s->lock, NULL);
  pthread_cond_init(&s->work, NULL);
  pthread_cond_init(&s->idle, NULL);
  if (s->arena && worker_start(s))
    return s;
  lsp_destroy(s);
  return NULL;
}

void lsp_destroy(struct lsp *s) {
  if (!s)
    return;
  worker_stop(s);
  while (s->documents) {
    struct document *next = s->documents->next;
    document_close(s->documents);
    s->documents = next;
  }
  pthread_cond_destroy(&s->idle);
  pthread_cond_destroy(&s->work);
  pthread_mutex_destroy(&s->lock);
  arena_destroy(s->arena);
  free(s);
}
