// SPDX-License-Identifier: Apache-2.0
// Diagnostics of the compiler as those of the protocol.
#include "base/diag_internal.h"
#include "tools/lsp/lsp_server.h"

static void put_location(struct arena *a, struct json_writer *w, struct span at) {
  struct text_lines lines = text_lines_of(a, at.source->text);
  json_begin_object(w);
  json_key(w, "uri"), json_cstring(w, uri_from_path(a, at.source->name));
  json_key(w, "range"), text_write_range(w, &lines, at.begin, at.end);
  json_end_object(w);
}

static void put_related(struct arena *a, struct json_writer *w, struct span at, const char *text) {
  if (!at.source)
    return;
  json_begin_object(w);
  json_key(w, "location"), put_location(a, w, at);
  json_key(w, "message"), json_cstring(w, text);
  json_end_object(w);
}

// The message, what stands at the location, and how to mend it.
static const char *text_of(struct arena *a, const struct diag *d) {
  struct strbuf text = {.arena = a};
  strbuf_puts(&text, d->message);
  if (d->primary_label)
    strbuf_printf(&text, ": %s", d->primary_label);
  for (size_t i = 0; i < d->helps.len; i++)
    strbuf_printf(&text, "\nhelp: %s", d->helps.at[i]);
  for (size_t i = 0; i < d->notes.len; i++)
    if (!d->notes.at[i].at.source)
      strbuf_printf(&text, "\nnote: %s", d->notes.at[i].text);
  const char *kept = arena_strdup(a, strbuf_cstr(&text));
  strbuf_finish(&text);
  return kept;
}

static void put_record(struct arena *a, struct json_writer *w, const struct analysis *of,
                       const struct diag *d) {
  bool is_here = d->at.source == of->source;
  json_begin_object(w);
  json_key(w, "range");
  text_write_range(w, &of->lines, is_here ? d->at.begin : 0, is_here ? d->at.end : 0);
  json_key(w, "severity"), json_int(w, d->severity == DIAG_ERROR ? 1 : 2);
  json_key(w, "code"), json_cstring(w, diag_code_name(d->code));
  json_key(w, "source"), json_cstring(w, "tile");
  json_key(w, "message"), json_cstring(w, text_of(a, d));
  json_key(w, "relatedInformation"), json_begin_array(w);
  if (!is_here)
    put_related(a, w, d->at, d->message);
  for (size_t i = 0; i < d->labels.len; i++)
    put_related(a, w, d->labels.at[i].at, d->labels.at[i].text);
  for (size_t i = 0; i < d->notes.len; i++)
    put_related(a, w, d->notes.at[i].at, d->notes.at[i].text);
  json_end_array(w);
  json_end_object(w);
}

void publish_diagnostics(struct lsp *s, struct arena *a, const char *uri, int64_t version,
                         const struct analysis *of) {
  struct strbuf text = {.arena = a};
  struct json_writer w = {.out = &text};
  json_begin_object(&w);
  json_key(&w, "jsonrpc"), json_cstring(&w, "2.0");
  json_key(&w, "method"), json_cstring(&w, "textDocument/publishDiagnostics");
  json_key(&w, "params"), json_begin_object(&w);
  json_key(&w, "uri"), json_cstring(&w, uri);
  if (of)
    json_key(&w, "version"), json_int(&w, version);
  json_key(&w, "diagnostics"), json_begin_array(&w);
  size_t n = 0;
  struct diag **sorted = of ? diag_sorted(of->diag, &n) : NULL;
  for (size_t i = 0; sorted && i < n; i++)
    if (sorted[i]->severity != DIAG_REMARK)
      put_record(a, &w, of, sorted[i]);
  json_end_array(&w);
  json_end_object(&w);
  json_end_object(&w);
  s->send(s->user, (struct str){strbuf_cstr(&text), text.len});
  strbuf_finish(&text);
}
