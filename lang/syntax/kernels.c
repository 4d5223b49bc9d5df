// SPDX-License-Identifier: Apache-2.0
// Finds the kernels of a file, and the one that a name selects.
#include "lang/syntax/kernels.h"

#include "base/diag.h"
#include "base/map.h"
#include "base/vec.h"
#include "lang/syntax/ast_visit.h"

#include <ctype.h>

// ---- Which functions are called by others ----

// Collects the names that a function's body calls or passes on, and those it assigns.
struct references {
  struct arena *arena;
  struct map used, assigned;
};

static void put(struct references *r, struct map *set, const char *name) {
  map_put(r->arena, set, str_from(name), r);
}

static struct ast_visitor visitor(struct references *r);

static void note_call(struct references *r, const struct expr *e) {
  const struct expr *f = e->call.callee;
  if (f->kind == EXPR_SUBSCRIPT) // `f[grid](x)`, an error that names f
    f = f->subscript.object;
  if (f->kind == EXPR_NAME)
    put(r, &r->used, f->name);
  for (size_t i = 0; i < e->call.arg_count; i++)
    if (e->call.args[i].value->kind == EXPR_NAME)
      put(r, &r->used, e->call.args[i].value->name);
}

static void visit_expr(void *user, const struct expr *e) {
  struct references *r = user;
  struct ast_visitor v = visitor(r);
  if (e->kind == EXPR_CALL)
    note_call(r, e);
  if (e->kind == EXPR_WALRUS)
    put(r, &r->assigned, e->walrus.name);
  ast_visit_expr(&v, e);
}

static void visit_target(void *user, const struct expr *e) {
  struct references *r = user;
  if (e->kind == EXPR_NAME) {
    put(r, &r->assigned, e->name);
  } else if (e->kind == EXPR_TUPLE || e->kind == EXPR_LIST) {
    for (size_t i = 0; i < e->items.len; i++)
      visit_target(r, e->items.at[i]);
  } else {
    visit_expr(r, e);
  }
}

static void visit_body(void *user, const struct stmt_list *body) {
  struct ast_visitor v = visitor(user);
  for (size_t i = 0; i < body->len; i++)
    ast_visit_stmt(&v, body->at[i]);
}

static struct ast_visitor visitor(struct references *r) {
  return (struct ast_visitor){visit_expr, visit_target, visit_body, r};
}

// Adds to `called` the functions that `f` or its decorators call, directly or by passing them on.
static void find_called(struct arena *a, const struct ast_function *f, struct map *called) {
  struct references r = {.arena = a};
  for (size_t i = 0; i < f->param_count; i++)
    put(&r, &r.assigned, f->params[i].name);
  put(&r, &r.assigned, f->name); // a function that calls itself may still be a kernel
  visit_body(&r, &f->body);
  for (size_t i = 0; i < f->decorators.len; i++)
    if (f->decorators.at[i]->kind == EXPR_CALL)
      visit_expr(&r, f->decorators.at[i]);
  struct map_entry e;
  for (size_t i = 0; map_next(&r.used, &i, &e);)
    if (!map_get(&r.assigned, e.key))
      map_put(a, called, e.key, called);
}

static bool is_kernel(const struct ast_function *f) {
  return f->is_jit && !f->is_host && !f->is_constexpr_function;
}

static struct map all_called(struct arena *a, const struct ast_module *m) {
  struct map called = {0};
  for (size_t i = 0; i < m->function_count; i++)
    if (is_kernel(m->functions[i]) && ast_may_hold(m->functions[i]->guard))
      find_called(a, m->functions[i], &called);
  for (size_t i = 0; i < m->class_count; i++)
    for (size_t k = 0; k < m->classes[i]->method_count && !m->classes[i]->is_host; k++)
      find_called(a, m->classes[i]->methods[k], &called);
  for (size_t i = m->constant_count; i-- > 0;) { // helper = f: a call of `helper` calls `f`
    const struct ast_constant *k = &m->constants[i];
    if (k->value->kind == EXPR_NAME && map_get(&called, str_from(k->name)))
      map_put(a, &called, str_from(k->value->name), &called);
  }
  return called;
}

void kernels_find(struct arena *a, struct ast_module *m) {
  struct map called = all_called(a, m), listed = {0};
  VEC(const char *) names = {0}, all = {0};
  for (size_t i = 0; i < m->function_count; i++) {
    const struct ast_function *f = m->functions[i];
    struct str name = str_from(f->name);
    if (!is_kernel(f) || !ast_may_hold(f->guard) || map_get(&listed, name))
      continue;
    map_put(a, &listed, name, m);
    vec_push(a, &all, f->name);
    if (!map_get(&called, name))
      vec_push(a, &names, f->name);
  }
  m->kernel_names = names.len ? names.at : all.at;
  m->kernel_count = names.len ? names.len : all.len;
}

// ---- Choosing one ----

// Whether the file calls `exec`, as far as its text says.
static bool runs_text(const struct source *s) {
  static const char call[] = "exec(";
  const size_t len = sizeof call - 1;
  for (size_t i = 0; i + len <= s->text.len; i++) {
    bool is_word =
        i == 0 || !(isalnum((unsigned char)s->text.ptr[i - 1]) || s->text.ptr[i - 1] == '_');
    if (is_word && memcmp(s->text.ptr + i, call, len) == 0)
      return true;
  }
  return false;
}

static const struct ast_function *choose_kernel(struct diag_engine *diag,
                                                const struct ast_module *m, struct strbuf *names) {
  struct span file = {m->source, 0, 0};
  if (m->kernel_count == 1)
    return ast_find_function(m, m->kernel_names[0]);
  if (m->kernel_count == 0) {
    struct diag *d = diag_error(diag, file, E0403, "there is no kernel in this file");
    diag_help(d, runs_text(m->source)
                     ? "kernels that `exec` makes from text exist only in Python: write the text "
                       "to a file, and compile that"
                 : m->function_count
                     ? "mark a function with `@jit`"
                     : "the file has no functions: a kernel is a `def` with `@triton.jit` (or "
                       "`@jit`) above it");
    return NULL;
  }
  struct diag *d = diag_error(diag, file, E0402, "this file has %zu kernels", m->kernel_count);
  diag_help(d, "choose one with `--kernel`: %s", strbuf_cstr(names));
  return NULL;
}

static const struct ast_function *find_kernel(struct diag_engine *diag, const struct ast_module *m,
                                              const char *name, struct strbuf *names) {
  const struct ast_function *f = ast_find_function(m, name);
  if (f && is_kernel(f))
    return f;
  struct span at = f ? f->name_span : (struct span){m->source, 0, 0};
  if (f) {
    struct diag *d = diag_error(diag, at, E0401, "`%s` is not a kernel but host code", name);
    diag_help(d, "mark it with `@jit`");
    return NULL;
  }
  struct diag *d = diag_error(diag, at, E0401, "there is no kernel `%s` in this file", name);
  const char *near = str_nearest(str_from(name), m->kernel_names, m->kernel_count);
  if (near)
    diag_help(d, "did you mean `%s`?", near);
  else if (names->len)
    diag_help(d, "its kernels are %s", strbuf_cstr(names));
  return NULL;
}

#define MAX_LISTED 12 // kernel names in a message

static void list_kernels(const struct ast_module *m, struct strbuf *out) {
  for (size_t i = 0; i < m->kernel_count && i < MAX_LISTED; i++)
    strbuf_printf(out, "%s`%s`", i > 0 ? ", " : "", m->kernel_names[i]);
  if (m->kernel_count > MAX_LISTED)
    strbuf_printf(out, " and %zu more", m->kernel_count - MAX_LISTED);
}

// Gluon's own decorator, `gluon.jit`.
static const struct expr *gluon_decorator(struct arena *a, const struct ast_module *m,
                                          const struct ast_function *f) {
  for (size_t i = 0; i < f->decorators.len; i++) {
    const struct expr *x = f->decorators.at[i];
    const char *name = ast_qualified_name(a, m, x->kind == EXPR_CALL ? x->call.callee : x);
    if (name && strncmp(name, "triton.experimental.gluon", 25) == 0)
      return x;
  }
  return NULL;
}

const struct ast_function *kernels_choose(struct arena *a, struct diag_engine *diag,
                                          const struct ast_module *m, const char *name) {
  struct strbuf names = {.arena = a};
  list_kernels(m, &names);
  const struct ast_function *f =
      name ? find_kernel(diag, m, name, &names) : choose_kernel(diag, m, &names);
  strbuf_finish(&names);
  const struct expr *gluon = f ? gluon_decorator(a, m, f) : NULL;
  if (gluon) {
    struct diag *d = diag_error(diag, gluon->span, E0502,
                                "`%s` is a kernel in Gluon, which is not supported", f->name);
    diag_help(d, "in Gluon a kernel states layouts and shared memory itself; write it with "
                 "`triton.language` and `@triton.jit`, and the compiler chooses them");
    return NULL;
  }
  const struct ast_guard *g = f ? ast_undecided_function(m, f->name) : NULL;
  if (!g)
    return f;
  ast_report_undecided(diag, m, g, f->name, f->name_span);
  return NULL;
}
