// SPDX-License-Identifier: Apache-2.0
// `textDocument/documentSymbol`: kernels, functions, classes with their methods, constants.
#include "tools/lsp/lsp_server.h"
#include "tools/lsp/tree.h"

enum { SYMBOL_CLASS = 5, SYMBOL_METHOD = 6, SYMBOL_FUNCTION = 12, SYMBOL_CONSTANT = 14 };

struct symbol {
  const char *name, *detail;
  int kind;
  struct span all, name_span;
};

// Leaves the object open, for children.
static void begin_symbol(struct request *r, const struct text_lines *l, const struct symbol *s) {
  struct json_writer *w = r->w;
  uint32_t begin = s->all.begin < s->name_span.begin ? s->all.begin : s->name_span.begin;
  uint32_t end = s->all.end > s->name_span.end ? s->all.end : s->name_span.end;
  json_begin_object(w);
  json_key(w, "name"), json_cstring(w, s->name);
  json_key(w, "kind"), json_int(w, s->kind);
  if (s->detail)
    json_key(w, "detail"), json_cstring(w, s->detail);
  json_key(w, "range"), text_write_range(w, l, begin, end);
  json_key(w, "selectionRange");
  text_write_range(w, l, s->name_span.begin, s->name_span.end);
}

static bool is_kernel(const struct ast_module *m, const char *name) {
  for (size_t i = 0; i < m->kernel_count; i++)
    if (strcmp(m->kernel_names[i], name) == 0)
      return true;
  return false;
}

static void put_function(struct request *r, const struct text_lines *l,
                         const struct ast_function *f, const char *detail, int kind) {
  struct span all = f->span;
  all.end = tree_function_end(f);
  begin_symbol(r, l, &(struct symbol){f->name, detail, kind, all, f->name_span});
  json_end_object(r->w);
}

static void put_class(struct request *r, const struct text_lines *l, const struct ast_class *c) {
  struct span all = c->name_span;
  for (size_t i = 0; i < c->method_count; i++)
    all.end = tree_function_end(c->methods[i]);
  begin_symbol(r, l, &(struct symbol){c->name, NULL, SYMBOL_CLASS, all, c->name_span});
  json_key(r->w, "children"), json_begin_array(r->w);
  for (size_t i = 0; i < c->method_count; i++)
    put_function(r, l, c->methods[i], NULL, SYMBOL_METHOD);
  json_end_array(r->w);
  json_end_object(r->w);
}

void request_symbols(struct request *r) {
  struct document *d;
  const struct snapshot *of;
  if (!request_document(r, &d))
    return;
  const struct ast_module *m = document_tree(d, &of);
  json_begin_array(r->w);
  for (size_t i = 0; m && i < m->constant_count; i++) {
    const struct ast_constant *k = &m->constants[i];
    begin_symbol(r, &of->lines,
                 &(struct symbol){k->name, NULL, SYMBOL_CONSTANT, k->name_span, k->name_span});
    json_end_object(r->w);
  }
  for (size_t i = 0; m && i < m->class_count; i++)
    put_class(r, &of->lines, m->classes[i]);
  for (size_t i = 0; m && i < m->function_count; i++) {
    const struct ast_function *f = m->functions[i];
    const char *detail = f->is_host ? "host" : is_kernel(m, f->name) ? "kernel" : NULL;
    put_function(r, &of->lines, f, detail, SYMBOL_FUNCTION);
  }
  json_end_array(r->w);
}
