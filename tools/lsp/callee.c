// SPDX-License-Identifier: Apache-2.0
// Finds functions by name: in the language, in the file, in files that it imports.
#include "tools/lsp/callee.h"

#include "base/file.h"
#include "lang/builtins/library.h"
#include "lang/eval/builtin_params.h"

// ---- modules ----

const struct ast_import *import_of(const struct ast_module *m, const char *name) {
  for (size_t i = m->import_count; i-- > 0;)
    if (m->imports[i].bound && strcmp(m->imports[i].bound, name) == 0)
      return &m->imports[i];
  return NULL;
}

const struct ast_module *imported_tree(struct arena *a, const struct document *d,
                                       const char *module) {
  const struct snapshot *of;
  const char *path;
  struct str text;
  struct lang_imports imports = {.folders = d->settings->folders,
                                 .folder_count = d->settings->folder_count};
  if (!document_tree(d, &of) || !(path = lang_import_path(a, of->unit, &imports, module)) ||
      file_read(a, path, SOURCE_MAX_BYTES, &text) != 0)
    return NULL;
  struct source *source = source_create(a, path, text);
  struct lang_unit *u = lang_unit_read(a, diag_engine_create(a), source);
  return u ? u->tree : NULL;
}

static enum base_kind kind_of_module(const char *dotted) {
  const char *last = strrchr(dotted, '.');
  last = last ? last + 1 : dotted;
  if (strcmp(dotted, "triton") == 0 || strcmp(dotted, "tile") == 0)
    return BASE_TRITON;
  if (strcmp(last, "math") == 0 || strcmp(last, "libdevice") == 0 || strcmp(last, "tl_math") == 0)
    return BASE_MATH;
  bool is_language = strncmp(dotted, "triton.", 7) == 0 || strcmp(dotted, "tl") == 0 ||
                     strncmp(dotted, "tl.", 3) == 0 || strcmp(dotted, "tile.language") == 0;
  return is_language ? BASE_LANGUAGE : BASE_VALUE;
}

enum base_kind base_of(struct arena *a, const struct document *d, const struct ast_module *m,
                       const char *dotted, const struct ast_module **ret_file) {
  struct str first, rest = str_split(str_from(dotted), '.', &first);
  const struct ast_import *im = import_of(m, arena_strndup(a, first.ptr, first.len));
  *ret_file = NULL;
  if (!im)
    return kind_of_module(dotted);
  const char *module =
      im->name ? arena_printf(a, "%s%s%s", im->module,
                              im->module[strlen(im->module) - 1] == '.' ? "" : ".", im->name)
               : im->module;
  if (rest.ptr)
    module = arena_printf(a, "%s.%.*s", module, STR_ARG(rest));
  enum base_kind kind = kind_of_module(module);
  if (kind != BASE_VALUE)
    return kind;
  *ret_file = imported_tree(a, d, module);
  return *ret_file ? BASE_FILE : BASE_VALUE;
}

// ---- functions ----

static void add_param(struct arena *a, struct callee *c, struct strbuf *text, struct str name,
                      const char *before, struct str shown, const char *after) {
  if (c->params.len)
    strbuf_puts(text, ", ");
  uint32_t begin = (uint32_t)text->len;
  strbuf_printf(text, "%s%.*s%s", before, STR_ARG(shown), after);
  vec_push(a, &c->params,
           (struct callee_param){arena_strndup(a, name.ptr, name.len), begin, (uint32_t)text->len});
}

static void finish(struct arena *a, struct callee *c, struct strbuf *text) {
  strbuf_putc(text, ')');
  c->signature = arena_strdup(a, strbuf_cstr(text));
  strbuf_finish(text);
}

void callee_of_function(struct arena *a, const struct ast_function *f, struct callee *ret) {
  struct strbuf text = {.arena = a};
  *ret = (struct callee){0};
  if (f->docstring.ptr)
    ret->doc = arena_strndup(a, f->docstring.ptr, f->docstring.len);
  strbuf_printf(&text, "%s(", f->name);
  for (size_t i = 0; i < f->param_count; i++) {
    const struct ast_param *p = &f->params[i];
    struct str source = {p->span.source->text.ptr + p->span.begin, p->span.end - p->span.begin};
    add_param(a, ret, &text, str_from(p->name), "", source, "");
  }
  finish(a, ret, &text);
}

static void callee_of_builtin(struct arena *a, const char *base, const struct library_function *f,
                              bool is_method, struct callee *ret) {
  struct strbuf text = {.arena = a};
  *ret = (struct callee){.doc = f->doc, .is_builtin = true};
  strbuf_printf(&text, "%s%s%s(", base ? base : "", base ? "." : "", f->name);
  struct str rest = str_from(f->params);
  struct builtin_param p;
  for (bool is_first = is_method; builtin_param_next(&rest, &p); is_first = false)
    if (!is_first) // of a method, the value itself
      add_param(a, ret, &text, p.name, p.is_rest ? "*" : "", p.name,
                p.is_optional && !p.is_rest ? "=..." : "");
  finish(a, ret, &text);
}

static bool in_tree(struct arena *a, const struct ast_module *m, const char *name,
                    struct callee *ret) {
  const struct ast_function *f = ast_find_function(m, name);
  if (f)
    callee_of_function(a, f, ret);
  return f != NULL;
}

bool callee_find(struct arena *a, const struct document *d, const struct ast_module *m,
                 const char *base, const char *name, struct callee *ret) {
  struct library_function f;
  const struct ast_module *file;
  struct str word = str_from(name);
  if (!base) {
    const struct ast_import *im = import_of(m, name);
    if (in_tree(a, m, name, ret))
      return true;
    if (im && im->name && kind_of_module(im->module) == BASE_VALUE)
      return (file = imported_tree(a, d, im->module)) && in_tree(a, file, im->name, ret);
    if (!library_find(im && im->name ? str_from(im->name) : word,
                      im ? LIBRARY_MODULE : LIBRARY_BARE, &f))
      return false;
    callee_of_builtin(a, NULL, &f, false, ret);
    return true;
  }
  enum base_kind kind = base_of(a, d, m, base, &file);
  if (kind == BASE_FILE)
    return in_tree(a, file, name, ret);
  bool is_method = kind == BASE_VALUE;
  bool known = is_method ? library_find(word, LIBRARY_METHOD, &f) ||
                               library_find(word, LIBRARY_DESCRIPTOR, &f)
                         : library_find(word, LIBRARY_MODULE, &f);
  if (known)
    callee_of_builtin(a, base, &f, is_method, ret);
  return known;
}
