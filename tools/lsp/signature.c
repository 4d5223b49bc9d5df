// SPDX-License-Identifier: Apache-2.0
// `textDocument/signatureHelp`: the parameters of the call around the cursor.
#include "tools/lsp/callee.h"
#include "tools/lsp/cursor.h"
#include "tools/lsp/lsp_server.h"

static size_t active_param(const struct callee *f, const struct cursor *c) {
  if (!c->keyword)
    return c->argument;
  for (size_t i = 0; i < f->params.len; i++)
    if (strcmp(f->params.at[i].name, c->keyword) == 0)
      return i;
  return f->params.len;
}

// The length of a part of the signature in UTF-16 units, as labels are counted.
static uint32_t units(struct arena *a, const char *text, uint32_t bytes) {
  struct text_lines l = text_lines_of(a, (struct str){text, bytes});
  struct position at = text_position(&l, bytes);
  return at.line == 0 ? at.character : bytes;
}

void request_signature(struct request *r) {
  struct location at;
  struct callee f;
  const struct snapshot *of;
  if (!request_location(r, &at))
    return;
  const struct ast_module *tree = document_tree(at.document, &of);
  struct cursor c = cursor_at(r->a, at.now->source, at.offset);
  if (!tree || !c.is_code || !c.callee ||
      !callee_find(r->a, at.document, tree, c.callee_base, c.callee, &f))
    return;
  struct json_writer *w = r->w;
  json_begin_object(w);
  json_key(w, "signatures"), json_begin_array(w), json_begin_object(w);
  json_key(w, "label"), json_cstring(w, f.signature);
  if (f.doc)
    json_key(w, "documentation"), json_cstring(w, f.doc);
  json_key(w, "parameters"), json_begin_array(w);
  for (size_t i = 0; i < f.params.len; i++) {
    json_begin_object(w);
    json_key(w, "label"), json_begin_array(w);
    json_int(w, units(r->a, f.signature, f.params.at[i].begin));
    json_int(w, units(r->a, f.signature, f.params.at[i].end));
    json_end_array(w);
    json_end_object(w);
  }
  json_end_array(w);
  json_end_object(w), json_end_array(w);
  json_key(w, "activeSignature"), json_int(w, 0);
  json_key(w, "activeParameter"), json_int(w, (int64_t)active_param(&f, &c));
  json_end_object(w);
}
