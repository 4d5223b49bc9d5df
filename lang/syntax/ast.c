// SPDX-License-Identifier: Apache-2.0
// Queries on a syntax tree: spelling of operators, definitions by name, and what a dotted name
// means under the file's imports.
#include "lang/syntax/ast.h"

#include "base/diag.h"

#include <string.h>

const char *ast_op_text(enum ast_op op) {
  static const char *const texts[AST_OP_COUNT] = {
      [OP_ADD] = "+",        [OP_SUB] = "-",       [OP_MUL] = "*",         [OP_MATMUL] = "@",
      [OP_DIV] = "/",        [OP_FLOORDIV] = "//", [OP_MOD] = "%",         [OP_POW] = "**",
      [OP_SHL] = "<<",       [OP_SHR] = ">>",      [OP_BIT_AND] = "&",     [OP_BIT_OR] = "|",
      [OP_BIT_XOR] = "^",    [OP_POS] = "+",       [OP_NEG] = "-",         [OP_INVERT] = "~",
      [OP_NOT] = "not",      [OP_AND] = "and",     [OP_OR] = "or",         [OP_LT] = "<",
      [OP_LE] = "<=",        [OP_GT] = ">",        [OP_GE] = ">=",         [OP_EQ] = "==",
      [OP_NE] = "!=",        [OP_IS] = "is",       [OP_IS_NOT] = "is not", [OP_IN] = "in",
      [OP_NOT_IN] = "not in"};
  return texts[op];
}

bool ast_may_hold(const struct ast_guard *g) { return !g || g->state != GUARD_FAILS; }

bool ast_does_hold(const struct ast_guard *g) { return !g || g->state == GUARD_HOLDS; }

// Device functions at module level hide host functions and nested ones of the same name.
static int function_rank(const struct ast_function *f) {
  return f->is_host ? 0 : f->is_nested ? 1 : 2;
}

const struct ast_function *ast_find_function(const struct ast_module *m, const char *name) {
  const struct ast_function *best = NULL;
  for (size_t i = 0; i < m->function_count; i++) {
    const struct ast_function *f = m->functions[i];
    if (strcmp(f->name, name) == 0 && ast_may_hold(f->guard) &&
        (!best || function_rank(f) >= function_rank(best)))
      best = f;
  }
  return best;
}

// A single definition needs no decision: if its condition fails, the program does not run at all.
const struct ast_guard *ast_undecided_function(const struct ast_module *m, const char *name) {
  const struct ast_function *last = ast_find_function(m, name);
  bool is_open = last && last->guard && last->guard->state == GUARD_UNDECIDED;
  for (size_t i = 0; is_open && i < m->function_count; i++) {
    const struct ast_function *f = m->functions[i];
    if (f != last && strcmp(f->name, name) == 0 && ast_may_hold(f->guard) &&
        function_rank(f) == function_rank(last))
      return last->guard;
  }
  return NULL;
}

const struct ast_constant *ast_find_constant(const struct ast_module *m, const char *name) {
  for (size_t i = m->constant_count; i > 0; i--)
    if (strcmp(m->constants[i - 1].name, name) == 0 && ast_may_hold(m->constants[i - 1].guard))
      return &m->constants[i - 1];
  return NULL;
}

const struct ast_class *ast_find_class(const struct ast_module *m, const char *name) {
  for (size_t i = m->class_count; i > 0; i--)
    if (strcmp(m->classes[i - 1]->name, name) == 0 && ast_may_hold(m->classes[i - 1]->guard))
      return m->classes[i - 1];
  return NULL;
}

// The first constant of the file that the condition names; NULL: none.
static const char *constant_within(const struct ast_module *m, const struct expr *e) {
  const char *found = NULL;
  struct expr_list list = {0};
  if (!e)
    return NULL;
  switch ((int)e->kind) {
  case EXPR_NAME: return ast_find_constant(m, e->name) ? e->name : NULL;
  case EXPR_UNARY: return constant_within(m, e->unary.operand);
  case EXPR_BINARY:
    found = constant_within(m, e->binary.left);
    return found ? found : constant_within(m, e->binary.right);
  case EXPR_LOGIC: list = e->logic.operands; break;
  case EXPR_COMPARE: list = e->compare.operands; break;
  }
  for (size_t i = 0; i < list.len && !found; i++)
    found = constant_within(m, list.at[i]);
  return found;
}

struct diag *ast_report_undecided(struct diag_engine *diag, const struct ast_module *m,
                                  const struct ast_guard *g, const char *name, struct span at) {
  while (g->outer && g->outer->state == GUARD_UNDECIDED)
    g = g->outer;
  struct diag *d =
      diag_error(diag, at, E0314, "which `%s` this is depends on a condition in host code", name);
  diag_label(d, g->span, "%s", g->why ? g->why : "not known at compile time");
  const char *constant = constant_within(m, g->condition);
  if (constant && at.source != m->source)
    diag_help(d,
              "`-D` reaches constants of the kernel's own file only: write `%s = ...` in `%s`, or "
              "import one of the definitions",
              constant, m->source->name);
  else if (constant)
    diag_help(d, "`-D %s=...` gives the constant `%s` of the file a value", constant, constant);
  else
    diag_help(d, "keep one definition of `%s`, or a condition that is known at compile time", name);
  return d;
}

// `from utils import tl, triton`: files pass the language's modules on by their usual names.
static const char *usual_name(const char *name) {
  if (strcmp(name, "tl") == 0)
    return "triton.language";
  return strcmp(name, "triton") == 0 ? "triton" : NULL;
}

static const char *qualified_word(struct arena *a, const struct ast_module *m, const char *name) {
  for (size_t i = m->import_count; i > 0; i--) {
    const struct ast_import *import = &m->imports[i - 1];
    if (!import->bound || strcmp(import->bound, name) != 0 || !ast_may_hold(import->guard))
      continue;
    const char *usual = import->name ? usual_name(import->name) : NULL;
    return usual          ? usual
           : import->name ? arena_printf(a, "%s.%s", import->module, import->name)
                          : import->module;
  }
  const char *usual = usual_name(name);
  return usual ? usual : name;
}

const char *ast_qualified_name(struct arena *a, const struct ast_module *m, const struct expr *e) {
  if (e->kind == EXPR_NAME)
    return qualified_word(a, m, e->name);
  if (e->kind != EXPR_ATTRIBUTE)
    return NULL;
  const char *object = ast_qualified_name(a, m, e->attribute.object);
  return object ? arena_printf(a, "%s.%s", object, e->attribute.name) : NULL;
}

const char *ast_builtin_name(struct arena *a, const struct ast_module *m, const struct expr *e) {
  static const char *const modules[] = {"triton.", "tile.", "math.", "libdevice."};
  const char *name = ast_qualified_name(a, m, e);
  if (!name)
    return NULL;
  const char *dot = strrchr(name, '.');
  if (!dot)
    return name;
  for (size_t i = 0; i < COUNT_OF(modules); i++)
    if (strncmp(name, modules[i], strlen(modules[i])) == 0)
      return dot + 1;
  return NULL;
}

bool ast_is_constexpr(struct arena *a, const struct ast_module *m, const struct expr *e) {
  if (e->kind == EXPR_ATTRIBUTE) // of whatever module the language is known as
    return strcmp(e->attribute.name, "constexpr") == 0;
  const char *name = ast_builtin_name(a, m, e);
  return name && strcmp(name, "constexpr") == 0;
}
