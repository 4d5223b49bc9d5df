// SPDX-License-Identifier: Apache-2.0
// Names that imports bind: their values, whether they exist, and why not.
//
// Recursion is the algorithm: an expression calls a function, whose statements hold expressions
// (lang/eval/eval.h).
#include "lang/eval/import.h"

#include "lang/eval/consteval.h"
#include "lang/eval/outer.h"

// ---- names of modules ----

static struct value module_value(const struct file_module *f) {
  return (struct value){.kind = VALUE_FILE, .file = f};
}

// The file could not be read, which was reported.
static bool is_broken(const struct file_module *f) { return !f->ast && !f->folder; }

// No report when not found.
static bool file_attribute(struct eval *e, const struct file_module *f, const char *name,
                           struct span at, struct value *ret) {
  if (f->ast && scope_module_name(e, f->ast, name, at, ret))
    return true;
  if (!f->folder)
    return false;
  const char *dotted = arena_printf(e->a, "%s.%s", f->name, name);
  struct file_module *inner = import_within(e, f, name, dotted, true, at);
  if (inner)
    *ret = module_value(inner);
  return inner != NULL;
}

static bool is_word(const char *dotted, const char *word) {
  size_t n = strlen(word);
  return strncmp(dotted, word, n) == 0 && (dotted[n] == 0 || dotted[n] == '.');
}

// `import triton.language as tl`, `from triton.language.extra import libdevice`, ...
static bool language_import(struct eval *e, const struct ast_import *im, struct value *ret) {
  if (im->name) {
    const struct builtin *b = builtin_find(e, im->name);
    if (b)
      return *ret = (struct value){.kind = VALUE_BUILTIN, .builtin = b}, true;
    return scope_language_name(im->name, ret);
  }
  const char *last = strrchr(im->module, '.');
  return scope_language_name(last && strcmp(im->bound, "triton") != 0 ? last + 1 : "triton", ret);
}

static bool module_import(enum module_id id, struct value *ret) {
  *ret = (struct value){.kind = VALUE_MODULE, .module = id};
  return true;
}

// A module of vendor functions under its usual name: a project chooses it at run time; here it is
// the language's libdevice for every target.
static bool is_vendor_module(const char *name) {
  return strcmp(name, "libdevice") == 0 || strcmp(name, "tl_extra_shim") == 0;
}

static bool resolve(struct eval *e, const struct ast_module *m, const struct ast_import *im,
                    const char *name, struct value *ret) {
  bool is_star = !im->bound;
  if (is_word(im->module, "triton"))
    return !is_star && language_import(e, im, ret);
  if (im->name && is_vendor_module(im->name))
    return module_import(MODULE_EXTRA, ret);
  if (im->name && strcmp(im->name, "triton_helpers") == 0)
    return module_import(MODULE_INDUCTOR, ret);
  if (im->name && strcmp(im->module, "torch._inductor.runtime.triton_helpers") == 0)
    return module_find(e, MODULE_INDUCTOR, im->name, ret);
  if (!im->name && strcmp(im->module, "math") == 0)
    return module_import(MODULE_MATH, ret);
  if (!im->name && (strcmp(im->module, "torch") == 0 || strcmp(im->module, "numpy") == 0))
    return module_import(MODULE_HOST, ret);
  const struct file_module *f = import_find(e, m, im->module, im->span);
  if (!f)
    return false;
  if (!im->name)
    return *ret = module_value(f), true;
  return file_attribute(e, f, is_star ? name : im->name, im->span, ret);
}

static bool binds(const struct ast_import *im, const char *name) {
  return im->bound && strcmp(im->bound, name) == 0;
}

// ---- the questions ----

// Looks it up once. Absent during the lookup: files may import each other.
static bool look_once(struct eval *e, const struct ast_module *m, const struct ast_import *im,
                      const char *name, struct value *ret) {
  struct str key = str_from(arena_printf(e->a, "%p %s", (const void *)im, name));
  struct value *known = map_get(&e->imported, key);
  if (!known) {
    known = arena_new(e->a, struct value);
    map_put(e->a, &e->imported, key, known);
    if (!eval_enter(e, im->span))
      return *ret = VALUE_ERROR, true;
    struct value v;
    if (resolve(e, m, im, name, &v))
      *known = v;
    eval_leave(e);
  }
  *ret = *known;
  return known->kind != VALUE_ABSENT;
}

bool import_value(struct eval *e, const struct ast_module *m, const struct ast_import *im,
                  struct value *ret) {
  return look_once(e, m, im, im->bound, ret);
}

bool import_star(struct eval *e, const struct ast_module *m, const char *name, struct value *ret) {
  for (size_t i = m->import_count; i-- > 0;)
    if (!m->imports[i].bound && outer_state(e, m, m->imports[i].guard) != GUARD_FAILS &&
        look_once(e, m, &m->imports[i], name, ret))
      return true;
  return false;
}

// Python's standard modules and those that every file of kernels imports.
bool import_is_installed(const char *dotted) {
  static const char *const words[] = {
      "__future__",  "abc",        "argparse", "ast",      "asyncio",     "builtins",
      "collections", "contextlib", "copy",     "ctypes",   "dataclasses", "datetime",
      "enum",        "functools",  "gc",       "glob",     "importlib",   "inspect",
      "io",          "itertools",  "json",     "logging",  "math",        "numbers",
      "numpy",       "operator",   "os",       "pathlib",  "pickle",      "platform",
      "pprint",      "random",     "re",       "shutil",   "string",      "struct",
      "subprocess",  "sys",        "tempfile", "textwrap", "threading",   "time",
      "torch",       "traceback",  "types",    "typing",   "unittest",    "uuid",
      "triton",      "warnings",   "weakref"};
  for (size_t i = 0; i < COUNT_OF(words); i++)
    if (is_word(dotted, words[i]))
      return true;
  return false;
}

static bool language_has(struct eval *e, const struct ast_import *im) {
  struct value v;
  if (!im->name || im->name[0] == '*' || !is_word(im->module, "triton.language"))
    return true;
  return language_import(e, im, &v) && (v.kind != VALUE_BUILTIN || v.builtin->emit);
}

enum import_found import_exists(struct eval *e, const struct ast_module *m,
                                const struct ast_import *im) {
  struct value v;
  if (is_word(im->module, "triton"))
    return language_has(e, im) ? IMPORT_FOUND : IMPORT_NO_NAME;
  if (import_is_installed(im->module))
    return IMPORT_FOUND;
  const struct file_module *f = import_find(e, m, im->module, im->span);
  if (!f)
    return IMPORT_NO_MODULE;
  if (!im->name || im->name[0] == '*' || file_attribute(e, f, im->name, im->span, &v))
    return IMPORT_FOUND;
  return f->ast && module_has_word(f->ast, im->name) ? IMPORT_UNKNOWN : IMPORT_NO_NAME;
}

struct value import_attribute(struct eval *e, const struct file_module *f, const char *name,
                              struct span at) {
  struct value v;
  if (file_attribute(e, f, name, at, &v))
    return v;
  if (is_broken(f) || (f->ast && import_report(e, f->ast, name, at)))
    return VALUE_ERROR;
  struct diag *d = eval_error(e, at, E0201, "there is no `%s` in `%s`", name, f->name);
  if (f->ast)
    diag_help(d, "`%s` was read from `%s`", f->name, f->ast->source->name);
  else
    diag_help(d, "`%s` is the folder `%s`", f->name, *f->folder ? f->folder : ".");
  return VALUE_ERROR;
}

// Modules without kernels.
static bool is_host_module(const char *dotted) {
  static const char *const words[] = {"triton", "torch", "numpy",     "math", "os",
                                      "sys",    "jax",   "functools", "re",   "typing"};
  for (size_t i = 0; i < COUNT_OF(words); i++)
    if (is_word(dotted, words[i]))
      return true;
  return false;
}

bool import_report(struct eval *e, const struct ast_module *m, const char *name, struct span at) {
  const struct ast_import *im = NULL;
  for (size_t i = 0; i < m->import_count; i++)
    if (binds(&m->imports[i], name) && ast_may_hold(m->imports[i].guard))
      im = &m->imports[i];
  if (!im)
    return false;
  if (is_host_module(im->module) || !e->options->imports) {
    struct diag *d = eval_error(e, at, E0201, "`%s` is imported for host code only", name);
    diag_label(d, im->span, "not read");
    diag_help(d, "functions that kernels call stand in this file, or in files that it imports");
    return true;
  }
  const struct file_module *f = import_find(e, m, im->module, im->span);
  if (f && is_broken(f))
    return true;
  if (f) {
    struct diag *d = eval_error(e, at, E0201, "`%s` has no `%s`", im->module, im->name);
    diag_label(d, im->span, "imported here");
    diag_help(d, "it was read from `%s`",
              f->ast       ? f->ast->source->name
              : *f->folder ? f->folder
                           : ".");
    return true;
  }
  struct diag *d = eval_error(e, at, E0201, "`%s` comes from the module `%s`, which was not found",
                              name, im->module);
  diag_label(d, im->span, "imported here");
  diag_help(d, im->module[0] == '.' ? "a module is `NAME.py`, `NAME.tile` or `NAME/__init__.py`"
                                    : "`-I DIR` adds a folder in which modules are looked for");
  return true;
}

// ---- every file whose names kernels may use ----

// The imports of `m` that its device code mentions, and those that re-export `wanted` (NULL: any
// name, "": none).
static void collect(struct eval *e, struct map *seen, const struct ast_module *m,
                    const char *wanted) {
  struct str key = str_from(arena_printf(e->a, "%p %s", (const void *)m, wanted ? wanted : "*"));
  if (map_get(seen, key))
    return;
  map_put(e->a, seen, key, e);
  for (size_t i = 0; i < m->import_count; i++) {
    const struct ast_import *im = &m->imports[i];
    bool is_star = !im->bound, is_wanted = is_star || !wanted || strcmp(im->bound, wanted) == 0;
    if (is_host_module(im->module) || (!is_wanted && !module_mentions(m, im->bound)))
      continue;
    const struct file_module *f = import_find(e, m, im->module, im->span), *inner = NULL;
    if (f && f->folder && im->name && !is_star) // `from package import module`
      inner = import_within(e, f, im->name, im->name, false, im->span);
    if (f && f->ast)
      collect(e, seen, f->ast, !is_star ? im->name : wanted && *wanted ? wanted : NULL);
    if (inner && inner->ast)
      collect(e, seen, inner->ast, NULL);
  }
}

void import_collect(struct arena *a, const struct ast_module *m, struct lang_imports *imports) {
  struct lang_options options = {.imports = imports};
  static const struct dialect no_dialect = {0}; // nothing is evaluated
  struct eval *e = arena_new(a, struct eval);
  struct map seen = {0};
  e->a = a;
  e->diag = diag_engine_create(a);
  e->on = &no_dialect;
  e->options = &options;
  e->module = m;
  collect(e, &seen, m, "");
}
