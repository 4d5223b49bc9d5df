// SPDX-License-Identifier: Apache-2.0
// `textDocument/codeAction`: the replacements that messages of the compiler suggest.
#include "base/diag_internal.h"
#include "tools/lsp/lsp_server.h"

// Whether all replacements are in the file itself.
static bool is_applicable(const struct analysis *of, const struct diag *d) {
  for (size_t i = 0; i < d->fixits.len; i++)
    if (d->fixits.at[i].at.source != of->source)
      return false;
  return d->fixits.len > 0;
}

static bool touches(struct span s, uint32_t begin, uint32_t end) {
  return s.source && s.begin <= end && begin <= s.end;
}

static void put_edits(struct request *r, const struct analysis *of, const struct diag *d) {
  json_begin_array(r->w);
  for (size_t i = 0; i < d->fixits.len; i++) {
    const struct diag_part *p = &d->fixits.at[i];
    json_begin_object(r->w);
    json_key(r->w, "range"), text_write_range(r->w, &of->lines, p->at.begin, p->at.end);
    json_key(r->w, "newText"), json_cstring(r->w, p->text);
    json_end_object(r->w);
  }
  json_end_array(r->w);
}

// One action for all replacements of a message: they belong together.
static void put_fix(struct request *r, const struct document *doc, const struct diag *d) {
  const char *title = arena_printf(r->a, "replace by `%s`", d->fixits.at[0].text);
  json_begin_object(r->w);
  json_key(r->w, "title"), json_cstring(r->w, title);
  json_key(r->w, "kind"), json_cstring(r->w, "quickfix");
  json_key(r->w, "isPreferred"), json_bool(r->w, true);
  json_key(r->w, "edit"), json_begin_object(r->w);
  json_key(r->w, "changes"), json_begin_object(r->w);
  json_key(r->w, doc->uri), put_edits(r, doc->newest, d);
  json_end_object(r->w);
  json_end_object(r->w);
  json_end_object(r->w);
}

void request_fixes(struct request *r) {
  struct document *d;
  struct position start, end;
  const struct json *range = request_value(r->params, "range", JSON_OBJECT);
  if (!request_document(r, &d))
    return;
  if (!range || !text_read_position(json_get(range, "start"), &start) ||
      !text_read_position(json_get(range, "end"), &end)) {
    request_fail(r, LSP_INVALID_PARAMS, "`range` has no start and end");
    return;
  }
  uint32_t begin = text_offset(&d->now->lines, start), stop = text_offset(&d->now->lines, end);
  const struct analysis *of = d->newest; // of this text, or of one that has changed since
  bool is_current = of && str_eq(of->source->text, d->now->source->text);
  size_t n = 0;
  struct diag **all = is_current ? diag_sorted(of->diag, &n) : NULL;
  json_begin_array(r->w);
  for (size_t i = 0; all && i < n; i++)
    if (is_applicable(of, all[i]) && touches(all[i]->at, begin, stop))
      put_fix(r, d, all[i]);
  json_end_array(r->w);
}
