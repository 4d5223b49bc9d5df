// SPDX-License-Identifier: Apache-2.0
// `textDocument/completion`: functions of the language, names of the file and of the function
// around the cursor, keyword arguments of the call around it.
#include "lang/builtins/library.h"
#include "lang/eval/builtin_flags.h"
#include "lang/syntax/lexer.h"
#include "tools/lsp/callee.h"
#include "tools/lsp/cursor.h"
#include "tools/lsp/known.h"
#include "tools/lsp/lsp_server.h"
#include "tools/lsp/tree.h"

#include <strings.h>

enum {
  ITEM_METHOD = 2,
  ITEM_FUNCTION = 3,
  ITEM_FIELD = 5,
  ITEM_VARIABLE = 6,
  ITEM_CLASS = 7,
  ITEM_MODULE = 9,
  ITEM_PROPERTY = 10,
  ITEM_KEYWORD = 14,
  ITEM_CONSTANT = 21
};

struct completing {
  struct request *r;
  struct location at;
  struct cursor cursor;
  const struct ast_module *tree; // NULL: none
  struct map seen;               // names that are in the list
};

static bool is_begun(const struct completing *c, const char *name) {
  return strncasecmp(name, c->cursor.word.ptr, c->cursor.word.len) == 0;
}

// Once, and only what begins with the word before the cursor.
static void put(struct completing *c, const char *name, int kind, const char *detail,
                const char *doc) {
  if (!is_begun(c, name) || map_get(&c->seen, str_from(name)))
    return;
  map_put(c->r->a, &c->seen, str_from(name), c);
  struct json_writer *w = c->r->w;
  json_begin_object(w);
  json_key(w, "label"), json_cstring(w, name);
  json_key(w, "kind"), json_int(w, kind);
  if (detail)
    json_key(w, "detail"), json_cstring(w, detail);
  if (doc) {
    json_key(w, "documentation"), json_begin_object(w);
    json_key(w, "kind"), json_cstring(w, "markdown");
    json_key(w, "value"), json_cstring(w, doc);
    json_end_object(w);
  }
  json_end_object(w);
}

static void put_library(struct completing *c, enum library_scope scope, const char *base,
                        unsigned flags) {
  for (size_t i = 0; i < library_count(); i++) {
    struct library_function f = library_at(i);
    if (f.name[0] == '_' || !is_begun(c, f.name) || !library_serves(&f, scope) ||
        (flags && !(f.flags & flags)))
      continue;
    struct callee called;
    bool found = callee_find(c->r->a, c->at.document, c->tree, base, f.name, &called);
    put(c, f.name, base && scope != LIBRARY_MODULE ? ITEM_METHOD : ITEM_FUNCTION,
        found ? called.signature : NULL, f.doc);
  }
}

// ---- behind a dot ----

static void put_types(struct completing *c) {
  static const char *const names[] = {
#define X(id, name, language_name, bits, kind) language_name,
      DTYPES(X)
#undef X
  };
  for (size_t i = 0; i < COUNT_OF(names); i++)
    if (names[i])
      put(c, names[i], ITEM_CLASS, "an element type", NULL);
}

static void put_language(struct completing *c) {
  static const char *const modules[] = {"math", "extra", "constexpr", "tensor"};
  put_library(c, LIBRARY_MODULE, c->cursor.base, 0);
  put_types(c);
  for (size_t i = 0; i < COUNT_OF(modules); i++)
    put(c, modules[i], ITEM_MODULE, NULL, NULL);
}

static void put_triton(struct completing *c) {
  static const char *const names[] = {"jit", "autotune", "heuristics", "Config", "language"};
  for (size_t i = 0; i < COUNT_OF(names); i++)
    put(c, names[i], ITEM_FUNCTION, NULL, NULL);
  put(c, "cdiv", ITEM_FUNCTION, "cdiv(x, y)", library_doc("cdiv"));
  put(c, "next_power_of_2", ITEM_FUNCTION, "next_power_of_2(n)", library_doc("next_power_of_2"));
}

static void put_file(struct completing *c, const struct ast_module *m) {
  for (size_t i = 0; i < m->function_count; i++) {
    struct callee f;
    callee_of_function(c->r->a, m->functions[i], &f);
    put(c, m->functions[i]->name, ITEM_FUNCTION, f.signature, f.doc);
  }
  for (size_t i = 0; i < m->class_count; i++)
    put(c, m->classes[i]->name, ITEM_CLASS, NULL, NULL);
  for (size_t i = 0; i < m->constant_count; i++)
    put(c, m->constants[i].name, ITEM_CONSTANT, NULL, NULL);
}

static void put_value(struct completing *c) {
  static const char *const fields[] = {"shape", "dtype", "type", "T", "strides", "block_shape"};
  for (size_t i = 0; i < COUNT_OF(fields); i++)
    put(c, fields[i], ITEM_PROPERTY, NULL, NULL);
  put_library(c, LIBRARY_METHOD, "value", 0);
  put_library(c, LIBRARY_DESCRIPTOR, "value", 0);
}

static void put_attributes(struct completing *c) {
  const struct ast_module *file = NULL;
  const char *base = c->cursor.base;
  enum base_kind kind =
      base && c->tree ? base_of(c->r->a, c->at.document, c->tree, base, &file) : BASE_VALUE;
  switch (kind) {
  case BASE_LANGUAGE: put_language(c); break;
  case BASE_MATH: put_library(c, LIBRARY_MODULE, base, BUILTIN_MATH); break;
  case BASE_TRITON: put_triton(c); break;
  case BASE_FILE: put_file(c, file); break;
  case BASE_VALUE: put_value(c); break;
  }
}

// ---- a name ----

static void put_keyword_arguments(struct completing *c) {
  struct callee f;
  if (!c->cursor.callee || c->cursor.keyword || !c->tree ||
      !callee_find(c->r->a, c->at.document, c->tree, c->cursor.callee_base, c->cursor.callee, &f))
    return;
  for (size_t i = 0; i < f.params.len; i++)
    put(c, arena_printf(c->r->a, "%s=", f.params.at[i].name), ITEM_FIELD, f.signature, NULL);
}

static void put_locals(struct completing *c) {
  struct tree_scope scope = tree_scope_at(c->tree, c->at.offset);
  struct known known = known_of(c->at.document);
  for (size_t i = scope.len; i-- > 0;) {
    binding_list all = {0};
    tree_bindings(c->r->a, scope.at[i], &all);
    for (size_t k = 0; k < all.len; k++) {
      const struct fact *f = known_fact(&known, all.at[k].at.begin, all.at[k].at.end);
      put(c, all.at[k].name, all.at[k].function ? ITEM_FUNCTION : ITEM_VARIABLE, f ? f->type : NULL,
          NULL);
    }
  }
}

static void put_keywords(struct completing *c) {
  for (int k = 0; k < TOKEN_KIND_COUNT; k++)
    if (token_kind_is_keyword((enum token_kind)k))
      put(c, token_kind_text((enum token_kind)k), ITEM_KEYWORD, NULL, NULL);
}

static void put_names(struct completing *c) {
  put_keyword_arguments(c);
  if (c->tree) {
    put_locals(c);
    put_file(c, c->tree);
    for (size_t i = 0; i < c->tree->import_count; i++)
      if (c->tree->imports[i].bound)
        put(c, c->tree->imports[i].bound, ITEM_MODULE, c->tree->imports[i].module, NULL);
  }
  bool is_tile = str_ends(str_from(c->at.document->path), ".tile");
  put_library(c, LIBRARY_BARE, NULL, is_tile ? 0 : BUILTIN_BARE);
  if (is_tile)
    put(c, "tl", ITEM_MODULE, "the language", NULL);
  put_keywords(c);
}

void request_completion(struct request *r) {
  struct completing c = {.r = r};
  const struct snapshot *of;
  if (!request_location(r, &c.at))
    return;
  c.cursor = cursor_at(r->a, c.at.now->source, c.at.offset);
  c.tree = document_tree(c.at.document, &of);
  json_begin_array(r->w);
  if (c.cursor.is_code && c.tree)
    (c.cursor.after_dot ? put_attributes : put_names)(&c);
  json_end_array(r->w);
}
