// SPDX-License-Identifier: Apache-2.0
// Diagnostics as SARIF 2.1.0, the format that code hosts and editors read. Columns count Unicode
// code points; paths are as given on the command line, percent-encoded.
#include "base/diag_internal.h"
#include "base/json.h"
#include "base/utf8.h"

#define SCHEMA                                                                                     \
  "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

// The column of `offset` in its line, in code points from 1.
static int64_t column_of(const struct source *s, uint32_t offset, uint32_t line) {
  struct str text = source_line(s, line);
  size_t end = offset - (size_t)(text.ptr - s->text.ptr), at = 0;
  int64_t column = 1;
  for (; at < end && at < text.len; column++) {
    uint32_t code;
    size_t n = utf8_decode(text.ptr + at, text.len - at, &code);
    at += n ? n : 1;
  }
  return column + (int64_t)(end > at ? end - at : 0);
}

static void put_region(struct json_writer *w, struct span at) {
  uint32_t end = at.end > at.begin ? at.end : at.begin;
  struct line_col from = source_line_col(at.source, at.begin), to = source_line_col(at.source, end);
  json_begin_object(w);
  json_key(w, "startLine"), json_int(w, from.line);
  json_key(w, "startColumn"), json_int(w, column_of(at.source, at.begin, from.line));
  json_key(w, "endLine"), json_int(w, to.line);
  json_key(w, "endColumn"), json_int(w, column_of(at.source, end, to.line));
  json_end_object(w);
}

// A path as a relative or absolute reference of RFC 3986.
static void put_artifact(struct json_writer *w, const char *path) {
  struct strbuf uri = {.arena = w->out->arena};
  for (const char *c = path; *c; c++)
    if ((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
        strchr("-._~/", *c))
      strbuf_putc(&uri, *c);
    else
      strbuf_printf(&uri, "%%%02X", (unsigned char)*c);
  json_key(w, "artifactLocation"), json_begin_object(w);
  json_key(w, "uri"), json_cstring(w, strbuf_cstr(&uri));
  json_end_object(w);
  strbuf_finish(&uri);
}

static void put_message(struct json_writer *w, const char *key, const char *text) {
  json_key(w, key), json_begin_object(w);
  json_key(w, "text"), json_cstring(w, text);
  json_end_object(w);
}

static void put_location(struct json_writer *w, struct span at, const char *message) {
  json_begin_object(w);
  json_key(w, "physicalLocation"), json_begin_object(w);
  put_artifact(w, at.source->name);
  json_key(w, "region"), put_region(w, at);
  json_end_object(w);
  if (message)
    put_message(w, "message", message);
  json_end_object(w);
}

static void put_related(struct json_writer *w, const struct diag *d) {
  json_key(w, "relatedLocations"), json_begin_array(w);
  for (size_t i = 0; i < d->labels.len; i++)
    if (d->labels.at[i].at.source)
      put_location(w, d->labels.at[i].at, d->labels.at[i].text);
  for (size_t i = 0; i < d->notes.len; i++)
    if (d->notes.at[i].at.source)
      put_location(w, d->notes.at[i].at, d->notes.at[i].text);
  json_end_array(w);
}

static void put_fix(struct json_writer *w, const struct diag_part *fixit) {
  json_begin_object(w);
  json_key(w, "artifactChanges"), json_begin_array(w), json_begin_object(w);
  put_artifact(w, fixit->at.source->name);
  json_key(w, "replacements"), json_begin_array(w), json_begin_object(w);
  json_key(w, "deletedRegion"), put_region(w, fixit->at);
  put_message(w, "insertedContent", fixit->text);
  json_end_object(w), json_end_array(w);
  json_end_object(w), json_end_array(w);
  json_end_object(w);
}

// The message with its label, notes without a location, and helps.
static void put_text(struct json_writer *w, const struct diag *d) {
  struct strbuf text = {.arena = w->out->arena};
  strbuf_puts(&text, d->message);
  if (d->primary_label && *d->primary_label)
    strbuf_printf(&text, "\n%s", d->primary_label);
  for (size_t i = 0; i < d->notes.len; i++)
    if (!d->notes.at[i].at.source)
      strbuf_printf(&text, "\nnote: %s", d->notes.at[i].text);
  for (size_t i = 0; i < d->helps.len; i++)
    strbuf_printf(&text, "\nhelp: %s", d->helps.at[i]);
  put_message(w, "message", strbuf_cstr(&text));
  strbuf_finish(&text);
}

static void put_result(struct json_writer *w, const struct diag *d, const int *rules) {
  static const char *const levels[] = {
      [DIAG_ERROR] = "error", [DIAG_WARNING] = "warning", [DIAG_REMARK] = "note"};
  json_begin_object(w);
  json_key(w, "ruleId");
  if (d->severity == DIAG_REMARK) {
    json_cstring(w, d->topic);
  } else {
    json_cstring(w, diag_code_name(d->code));
    json_key(w, "ruleIndex"), json_int(w, rules[d->code]);
  }
  json_key(w, "level"), json_cstring(w, levels[d->severity]);
  put_text(w, d);
  json_key(w, "locations"), json_begin_array(w);
  if (d->at.source)
    put_location(w, d->at, NULL);
  json_end_array(w);
  put_related(w, d);
  json_key(w, "fixes"), json_begin_array(w);
  for (size_t i = 0; i < d->fixits.len; i++)
    put_fix(w, &d->fixits.at[i]);
  json_end_array(w);
  json_end_object(w);
}

// The codes that occur, each once; rules[code] is its index.
static void put_rules(struct json_writer *w, struct diag **records, size_t n, int *rules) {
  int count = 0;
  for (int c = 0; c < DIAG_CODE_COUNT; c++)
    rules[c] = -1;
  json_key(w, "rules"), json_begin_array(w);
  for (size_t i = 0; i < n; i++) {
    enum diag_code code = records[i]->code;
    if (records[i]->severity == DIAG_REMARK || rules[code] >= 0)
      continue;
    rules[code] = count++;
    json_begin_object(w);
    json_key(w, "id"), json_cstring(w, diag_code_name(code));
    put_message(w, "shortDescription", diag_code_title(code));
    put_message(w, "fullDescription", diag_code_explain(code));
    json_end_object(w);
  }
  json_end_array(w);
}

void diag_render_sarif(const struct diag_engine *e, const char *version, struct strbuf *out) {
  struct json_writer w = {.out = out};
  size_t n;
  int rules[DIAG_CODE_COUNT];
  struct diag **sorted = diag_sorted(e, &n);
  if (!sorted) {
    strbuf_fail(out);
    return;
  }
  json_begin_object(&w);
  json_key(&w, "$schema"), json_cstring(&w, SCHEMA);
  json_key(&w, "version"), json_cstring(&w, "2.1.0");
  json_key(&w, "runs"), json_begin_array(&w), json_begin_object(&w);
  json_key(&w, "tool"), json_begin_object(&w);
  json_key(&w, "driver"), json_begin_object(&w);
  json_key(&w, "name"), json_cstring(&w, "tilec");
  json_key(&w, "version"), json_cstring(&w, version);
  put_rules(&w, sorted, n, rules);
  json_end_object(&w), json_end_object(&w);
  json_key(&w, "columnKind"), json_cstring(&w, "unicodeCodePoints");
  json_key(&w, "results"), json_begin_array(&w);
  for (size_t i = 0; i < n; i++)
    put_result(&w, sorted[i], rules);
  json_end_array(&w);
  json_end_object(&w), json_end_array(&w), json_end_object(&w);
  strbuf_putc(out, '\n');
}
