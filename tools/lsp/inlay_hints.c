// SPDX-License-Identifier: Apache-2.0
// `textDocument/inlayHint`: the types of tiles behind the names that they are assigned to.
#include "tools/lsp/known.h"
#include "tools/lsp/lsp_server.h"
#include "tools/lsp/tree.h"

struct hinting {
  struct request *r;
  const struct snapshot *now;
  struct known known;
  uint32_t begin, end;
};

static void put_hint(struct hinting *h, const struct binding *b) {
  if (b->at.begin < h->begin || b->at.end > h->end)
    return;
  const struct fact *f = known_fact(&h->known, b->at.begin, b->at.end);
  if (!f || !strchr(f->type, '<') || f->constant)
    return;
  struct json_writer *w = h->r->w;
  struct position at = text_position(&h->now->lines, b->at.end);
  json_begin_object(w);
  json_key(w, "position"), json_begin_object(w);
  json_key(w, "line"), json_int(w, at.line);
  json_key(w, "character"), json_int(w, at.character);
  json_end_object(w);
  json_key(w, "label"), json_cstring(w, arena_printf(h->r->a, ": %s", f->type));
  json_key(w, "kind"), json_int(w, 1); // a type
  json_end_object(w);
}

static void put_function(struct hinting *h, const struct ast_function *f) {
  binding_list all = {0};
  tree_bindings(h->r->a, f, &all);
  for (size_t i = 0; i < all.len; i++)
    if (all.at[i].function)
      put_function(h, all.at[i].function);
    else if (all.at[i].statement.source) // no parameter
      put_hint(h, &all.at[i]);
}

void request_hints(struct request *r) {
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
  struct hinting h = {.r = r, .now = d->now, .known = known_of(d)};
  h.begin = text_offset(&d->now->lines, start);
  h.end = text_offset(&d->now->lines, end);
  const struct ast_module *m = d->now->unit ? d->now->unit->tree : NULL;
  json_begin_array(r->w);
  for (size_t i = 0; m && i < m->function_count; i++)
    if (!m->functions[i]->is_host)
      put_function(&h, m->functions[i]);
  json_end_array(r->w);
}
