// SPDX-License-Identifier: Apache-2.0
// The client's side of the messages.
#include "lsp_client.h"

#include "suites.h"

#include <stdlib.h>

struct client client;

static void take(void *user, struct str message) {
  (void)user;
  struct json_error error;
  if (client.is_deaf)
    return;
  char *copy = arena_strndup(client.a, message.ptr, message.len);
  const struct json *m = json_parse(client.a, (struct str){copy, message.len}, &error);
  ck_assert_msg(m != NULL, "no JSON: %.*s", STR_ARG(message));
  ck_assert(str_is(member(m, "jsonrpc")->string, "2.0"));
  const struct json *method = json_get(m, "method");
  if (!method) {
    client.answer = m;
    return;
  }
  ck_assert(str_is(method->string, "textDocument/publishDiagnostics"));
  const struct json *version = json_get(member(m, "params"), "version");
  client.diagnostics = member(member(m, "params"), "diagnostics");
  client.diagnosed_version = version ? version->integer : -1;
}

void client_create(void) {
  client = (struct client){.a = arena_create()};
  client.server = lsp_create(take, NULL);
  ck_assert_ptr_nonnull(client.server);
}

void client_start(void) {
  client_create();
  ck_assert_ptr_nonnull(client_ask("initialize", "{'capabilities': {}}"));
  client_send("{'jsonrpc': '2.0', 'method': 'initialized', 'params': {}}");
}

void client_finish(void) {
  lsp_destroy(client.server);
  arena_destroy(client.a);
}

static char *quoted(const char *text) {
  char *copy = arena_strdup(client.a, text);
  for (char *c = copy; *c; c++)
    *c = *c == '\'' ? '"' : *c;
  return copy;
}

bool client_send(const char *message) {
  return lsp_receive(client.server, str_from(quoted(message)));
}

const struct json *client_ask(const char *method, const char *params) {
  client.answer = NULL;
  client_send(arena_printf(client.a, "{'jsonrpc': '2.0', 'id': 7, 'method': '%s', 'params': %s}",
                           method, params));
  ck_assert_msg(client.answer != NULL, "%s has no answer", method);
  ck_assert_int_eq(member(client.answer, "id")->integer, 7);
  const struct json *result = json_get(client.answer, "result");
  return result && result->kind != JSON_NULL ? result : NULL;
}

int64_t client_error(void) {
  const struct json *error = json_get(client.answer, "error");
  return error ? member(error, "code")->integer : 0;
}

const struct json *member(const struct json *object, const char *key) {
  ck_assert(object && object->kind == JSON_OBJECT);
  const struct json *v = json_get(object, key);
  ck_assert_msg(v != NULL, "no `%s`", key);
  return v;
}

// ---- documents ----

static const char *json_text(const char *text) {
  struct strbuf out = {.arena = client.a};
  struct json_writer w = {.out = &out};
  json_cstring(&w, text);
  return strbuf_cstr(&out);
}

void client_open(const char *path, const char *text) {
  client.uri = arena_printf(client.a, "file://%s", path);
  client.text = arena_strdup(client.a, text);
  client.version = 1;
  const char *head = quoted("{'jsonrpc': '2.0', 'method': 'textDocument/didOpen', 'params': "
                            "{'textDocument': {'languageId': 'tile', 'version': 1, 'uri': ");
  const char *message =
      arena_printf(client.a, "%s\"%s\", \"text\": %s}}}", head, client.uri, json_text(text));
  ck_assert(lsp_receive(client.server, str_from(message)));
}

static struct position position_at(size_t offset) {
  struct text_lines l = text_lines_of(client.a, str_from(client.text));
  return text_position(&l, (uint32_t)offset);
}

void client_edit(size_t begin, size_t end, const char *with) {
  struct position a = position_at(begin), b = position_at(end);
  client.version++;
  const char *head = quoted(arena_printf(
      client.a,
      "{'jsonrpc': '2.0', 'method': 'textDocument/didChange', 'params': {'textDocument': {'uri': "
      "'%s', 'version': %d}, 'contentChanges': [{'range': {'start': {'line': %u, 'character': %u}, "
      "'end': {'line': %u, 'character': %u}}, 'text': ",
      client.uri, (int)client.version, a.line, a.character, b.line, b.character));
  ck_assert(lsp_receive(client.server,
                        str_from(arena_printf(client.a, "%s%s}]}}", head, json_text(with)))));
  client.text =
      arena_printf(client.a, "%.*s%s%s", (int)begin, client.text, with, client.text + end);
}

const struct json *client_at(const char *method, const char *needle, int nth, int shift) {
  const char *found = strstr(client.text, needle);
  while (found && nth-- > 0)
    found = strstr(found + 1, needle);
  ck_assert_msg(found != NULL, "the text lacks `%s`", needle);
  struct position at = position_at((size_t)(found - client.text) + (size_t)shift);
  return client_ask(method, arena_printf(client.a,
                                         "{'textDocument': {'uri': '%s'}, 'position': {'line': %u, "
                                         "'character': %u}}",
                                         client.uri, at.line, at.character));
}

const char *client_hover(const char *needle, int nth, int shift) {
  const struct json *r = client_at("textDocument/hover", needle, nth, shift);
  return r ? member(member(r, "contents"), "value")->string.ptr : "";
}

bool client_offers(const struct json *items, const char *label) {
  for (size_t i = 0; items && i < items->count; i++)
    if (str_is(member(items->items[i], "label")->string, label))
      return true;
  return false;
}
