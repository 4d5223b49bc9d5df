// SPDX-License-Identifier: Apache-2.0
// `textDocument/definition`: where a name is bound: in a function, in the file, or in a file that
// it imports.
#include "tools/lsp/callee.h"
#include "tools/lsp/lsp_server.h"
#include "tools/lsp/tree.h"

static void put_span(struct request *r, const char *uri, const struct text_lines *lines,
                     struct span at) {
  json_begin_object(r->w);
  json_key(r->w, "uri"), json_cstring(r->w, uri);
  json_key(r->w, "range"), text_write_range(r->w, lines, at.begin, at.end);
  json_end_object(r->w);
}

// What a file binds; SPAN_NONE: not that name.
static struct span span_in(const struct ast_module *m, const char *name) {
  const struct ast_function *f = ast_find_function(m, name);
  const struct ast_class *c = ast_find_class(m, name);
  const struct ast_constant *k = ast_find_constant(m, name);
  return f ? f->name_span : c ? c->name_span : k ? k->name_span : SPAN_NONE;
}

// A name of an imported file, or its begin where `name` is NULL.
static void put_in_file(struct request *r, const struct ast_module *file, const char *name) {
  if (!file)
    return;
  struct span at = name ? span_in(file, name) : (struct span){file->source, 0, 0};
  struct text_lines lines = text_lines_of(r->a, file->source->text);
  if (at.source)
    put_span(r, uri_from_path(r->a, file->source->name), &lines, at);
}

static void put_imported(struct request *r, const struct document *d, const struct ast_import *im) {
  const struct ast_module *file = imported_tree(r->a, d, im->module);
  if (!im->name) {
    put_in_file(r, file, NULL);
  } else if (file && span_in(file, im->name).source) {
    put_in_file(r, file, im->name);
  } else { // a module of a package
    bool is_relative = im->module[strlen(im->module) - 1] == '.';
    put_in_file(
        r,
        imported_tree(r->a, d,
                      arena_printf(r->a, "%s%s%s", im->module, is_relative ? "" : ".", im->name)),
        NULL);
  }
}

static void put_attribute(struct request *r, const struct location *at, const struct mention *m) {
  const struct expr *object = m->expr->attribute.object;
  struct str text = {object->span.source->text.ptr + object->span.begin,
                     object->span.end - object->span.begin};
  const struct ast_module *file;
  if (base_of(r->a, at->document, at->now->unit->tree, arena_strndup(r->a, text.ptr, text.len),
              &file) == BASE_FILE)
    put_in_file(r, file, m->name);
}

// False: no function around the offset binds the name.
static bool put_local(struct request *r, const struct location *at, const char *name) {
  struct tree_scope scope = tree_scope_at(at->now->unit->tree, at->offset);
  for (size_t i = scope.len; i-- > 0;) {
    binding_list all = {0};
    tree_bindings(r->a, scope.at[i], &all);
    const struct binding *b = tree_binding_of(&all, name, at->offset);
    if (!b)
      continue;
    put_span(r, at->document->uri, &at->now->lines, b->at);
    return true;
  }
  return false;
}

void request_definition(struct request *r) {
  struct location at;
  struct mention m;
  if (!request_location(r, &at) || !at.now->unit ||
      !tree_mention_at(r->a, at.now->unit->tree, at.offset, &m))
    return;
  const struct ast_module *tree = at.now->unit->tree;
  if (m.expr && m.expr->kind == EXPR_ATTRIBUTE) {
    put_attribute(r, &at, &m);
    return;
  }
  if (m.keyword || put_local(r, &at, m.name))
    return;
  struct span own = span_in(tree, m.name);
  const struct ast_import *im = import_of(tree, m.name);
  if (own.source)
    put_span(r, at.document->uri, &at.now->lines, own);
  else if (im)
    put_imported(r, at.document, im);
}
