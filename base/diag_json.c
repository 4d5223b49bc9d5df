// SPDX-License-Identifier: Apache-2.0
// Diagnostics as one JSON document: all records, locations as lines and columns.
#include "base/diag_internal.h"
#include "base/json.h"

#include <stdlib.h>

static void put_location(struct json_writer *w, struct span at) {
  json_key(w, "file");
  json_cstring(w, at.source ? at.source->name : NULL);
  static const char *const keys[] = {"line", "column", "end_line", "end_column"};
  uint32_t values[4] = {0};
  if (at.source) {
    struct line_col begin = source_line_col(at.source, at.begin);
    struct line_col end = source_line_col(at.source, at.end > at.begin ? at.end : at.begin);
    values[0] = begin.line, values[1] = begin.col, values[2] = end.line, values[3] = end.col;
  }
  for (int i = 0; i < 4; i++) {
    json_key(w, keys[i]);
    if (at.source)
      json_int(w, values[i]);
    else
      json_null(w);
  }
}

static void put_parts(struct json_writer *w, const char *key, const char *text_key,
                      const diag_parts *parts) {
  json_key(w, key);
  json_begin_array(w);
  for (size_t i = 0; i < parts->len; i++) {
    json_begin_object(w);
    json_key(w, text_key);
    json_cstring(w, parts->at[i].text);
    put_location(w, parts->at[i].at);
    json_end_object(w);
  }
  json_end_array(w);
}

static void put_record(struct json_writer *w, const struct diag *d) {
  json_begin_object(w);
  json_key(w, "severity");
  json_cstring(w, diag_severity_name(d->severity));
  json_key(w, "code");
  json_cstring(w, d->severity == DIAG_REMARK ? NULL : diag_code_name(d->code));
  if (d->severity == DIAG_REMARK) {
    json_key(w, "topic");
    json_cstring(w, d->topic);
  }
  json_key(w, "message");
  json_cstring(w, d->message);
  put_location(w, d->at);
  json_key(w, "label");
  json_cstring(w, d->primary_label);
  put_parts(w, "labels", "message", &d->labels);
  put_parts(w, "notes", "message", &d->notes);
  json_key(w, "help");
  json_begin_array(w);
  for (size_t i = 0; i < d->helps.len; i++)
    json_cstring(w, d->helps.at[i]);
  json_end_array(w);
  put_parts(w, "fixits", "replacement", &d->fixits);
  json_end_object(w);
}

static void put_records(struct json_writer *w, const struct diag_engine *e) {
  size_t n;
  struct diag **sorted = diag_sorted(e, &n);
  if (!sorted) {
    strbuf_fail(w->out);
    return;
  }
  json_begin_array(w);
  for (size_t i = 0; i < n; i++)
    put_record(w, sorted[i]);
  json_end_array(w);
}

void diag_render_json_records(const struct diag_engine *e, struct strbuf *out) {
  struct json_writer w = {.out = out};
  put_records(&w, e);
}

void diag_render_json(const struct diag_engine *e, struct strbuf *out) {
  struct json_writer w = {.out = out};
  json_begin_object(&w);
  json_key(&w, "diagnostics");
  put_records(&w, e);
  json_end_object(&w);
  strbuf_putc(out, '\n');
}
