// SPDX-License-Identifier: Apache-2.0
// Which functions of a file are kernels, and which one is meant.
#include "lang/syntax/kernels.h"

#include "base/diag.h"
#include "base/map.h"
#include "base/vec.h"

// ---- Which functions are called by others ----

// Collects the names that a function's body calls or passes on, and those it assigns.
struct references {
  struct arena *arena;
  struct map used, assigned;
};

static void put(struct references *r, struct map *set, const char *name) {
  map_put(r->arena, set, str_from(name), r);
}

static void visit_expr(struct references *r, const struct expr *e);

static void visit_list(struct references *r, struct expr_list list) {
  for (size_t i = 0; i < list.len; i++)
    visit_expr(r, list.at[i]);
}

static void visit_parts(struct references *r, const struct fstring_part *parts, size_t count) {
  for (size_t i = 0; i < count; i++) {
    visit_expr(r, parts[i].value);
    visit_parts(r, parts[i].format, parts[i].format_count);
  }
}

static void visit_call(struct references *r, const struct expr *e) {
  if (e->call.callee->kind == EXPR_NAME)
    put(r, &r->used, e->call.callee->name);
  visit_expr(r, e->call.callee);
  for (size_t i = 0; i < e->call.arg_count; i++) {
    const struct expr *value = e->call.args[i].value;
    if (value->kind == EXPR_NAME)
      put(r, &r->used, value->name);
    visit_expr(r, value);
  }
}

static void visit_comprehension(struct references *r, const struct expr *e) {
  visit_expr(r, e->comprehension.key);
  visit_expr(r, e->comprehension.element);
  for (size_t i = 0; i < e->comprehension.clause_count; i++) {
    visit_expr(r, e->comprehension.clauses[i].iter);
    visit_list(r, e->comprehension.clauses[i].conditions);
  }
}

static void visit_expr(struct references *r, const struct expr *e) {
  if (!e)
    return;
  switch (e->kind) {
  case EXPR_UNARY: visit_expr(r, e->unary.operand); break;
  case EXPR_BINARY:
    visit_expr(r, e->binary.left);
    visit_expr(r, e->binary.right);
    break;
  case EXPR_LOGIC: visit_list(r, e->logic.operands); break;
  case EXPR_COMPARE: visit_list(r, e->compare.operands); break;
  case EXPR_CALL: visit_call(r, e); break;
  case EXPR_ATTRIBUTE: visit_expr(r, e->attribute.object); break;
  case EXPR_SUBSCRIPT:
    visit_expr(r, e->subscript.object);
    visit_list(r, e->subscript.items);
    break;
  case EXPR_TUPLE:
  case EXPR_LIST:
  case EXPR_SET: visit_list(r, e->items); break;
  case EXPR_DICT:
    for (size_t i = 0; i < e->dict.count; i++) {
      visit_expr(r, e->dict.items[i].key);
      visit_expr(r, e->dict.items[i].value);
    }
    break;
  case EXPR_TERNARY:
    visit_expr(r, e->ternary.condition);
    visit_expr(r, e->ternary.then);
    visit_expr(r, e->ternary.otherwise);
    break;
  case EXPR_LAMBDA: visit_expr(r, e->lambda.body); break;
  case EXPR_COMPREHENSION: visit_comprehension(r, e); break;
  case EXPR_WALRUS:
    put(r, &r->assigned, e->walrus.name);
    visit_expr(r, e->walrus.value);
    break;
  case EXPR_STARRED:
  case EXPR_AWAIT:
  case EXPR_YIELD: visit_expr(r, e->inner); break;
  case EXPR_FSTRING: visit_parts(r, e->fstring.parts, e->fstring.count); break;
  case EXPR_SLICE:
    visit_expr(r, e->slice.lo);
    visit_expr(r, e->slice.hi);
    visit_expr(r, e->slice.step);
    break;
  case EXPR_NAME:
  case EXPR_INT:
  case EXPR_FLOAT:
  case EXPR_IMAGINARY:
  case EXPR_STRING:
  case EXPR_BOOL:
  case EXPR_NONE:
  case EXPR_ELLIPSIS:
  case EXPR_ERROR:
  case EXPR_KIND_COUNT: break;
  }
}

static void visit_target(struct references *r, const struct expr *e) {
  if (!e)
    return;
  if (e->kind == EXPR_NAME) {
    put(r, &r->assigned, e->name);
  } else if (e->kind == EXPR_TUPLE || e->kind == EXPR_LIST) {
    for (size_t i = 0; i < e->items.len; i++)
      visit_target(r, e->items.at[i]);
  } else {
    visit_expr(r, e);
  }
}

static void visit_body(struct references *r, struct stmt_list body);

static void visit_stmt(struct references *r, const struct stmt *s) {
  switch (s->kind) {
  case STMT_EXPR: visit_expr(r, s->expr); break;
  case STMT_ASSIGN:
    for (size_t i = 0; i < s->assign.targets.len; i++)
      visit_target(r, s->assign.targets.at[i]);
    visit_expr(r, s->assign.value);
    break;
  case STMT_AUG_ASSIGN:
    visit_target(r, s->aug_assign.target);
    visit_expr(r, s->aug_assign.value);
    break;
  case STMT_ANN_ASSIGN:
    visit_target(r, s->ann_assign.target);
    visit_expr(r, s->ann_assign.value);
    break;
  case STMT_IF:
    visit_expr(r, s->if_stmt.condition);
    visit_body(r, s->if_stmt.body);
    visit_body(r, s->if_stmt.orelse);
    break;
  case STMT_FOR:
    visit_target(r, s->for_stmt.target);
    visit_expr(r, s->for_stmt.iter);
    visit_body(r, s->for_stmt.body);
    visit_body(r, s->for_stmt.orelse);
    break;
  case STMT_WHILE:
    visit_expr(r, s->while_stmt.condition);
    visit_body(r, s->while_stmt.body);
    visit_body(r, s->while_stmt.orelse);
    break;
  case STMT_RETURN: visit_expr(r, s->value); break;
  case STMT_ASSERT:
    visit_expr(r, s->assert_stmt.condition);
    visit_expr(r, s->assert_stmt.message);
    break;
  case STMT_WITH:
    for (size_t i = 0; i < s->with_stmt.count; i++)
      visit_expr(r, s->with_stmt.items[i].context);
    visit_body(r, s->with_stmt.body);
    break;
  case STMT_DEF: visit_body(r, s->def->body); break;
  case STMT_PASS:
  case STMT_BREAK:
  case STMT_CONTINUE:
  case STMT_IMPORT:
  case STMT_ERROR:
  case STMT_KIND_COUNT: break;
  }
}

static void visit_body(struct references *r, struct stmt_list body) {
  for (size_t i = 0; i < body.len; i++)
    visit_stmt(r, body.at[i]);
}

// Adds to `called` the functions that `f` or its decorators call or hand to something that calls
// them.
static void find_called(struct arena *a, const struct ast_function *f, struct map *called) {
  struct references r = {.arena = a};
  for (size_t i = 0; i < f->param_count; i++)
    put(&r, &r.assigned, f->params[i].name);
  put(&r, &r.assigned, f->name); // recursion makes nobody a helper
  visit_body(&r, f->body);
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

void kernels_find(struct arena *a, struct ast_module *m) {
  struct map called = {0}, listed = {0};
  VEC(const char *) names = {0}, all = {0};
  for (size_t i = 0; i < m->function_count; i++)
    if (is_kernel(m->functions[i]) && ast_may_hold(m->functions[i]->guard))
      find_called(a, m->functions[i], &called);
  for (size_t i = 0; i < m->class_count; i++)
    for (size_t k = 0; k < m->classes[i]->method_count; k++)
      find_called(a, m->classes[i]->methods[k], &called);
  for (size_t i = m->constant_count; i-- > 0;) { // helper = f: what calls `helper` calls `f`
    const struct ast_constant *k = &m->constants[i];
    if (k->value->kind == EXPR_NAME && map_get(&called, str_from(k->name)))
      map_put(a, &called, str_from(k->value->name), &called);
  }
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

static const struct ast_function *choose_kernel(struct diag_engine *diag,
                                                const struct ast_module *m, struct strbuf *names) {
  struct span file = {m->source, 0, 0};
  if (m->kernel_count == 1)
    return ast_find_function(m, m->kernel_names[0]);
  if (m->kernel_count == 0) {
    struct diag *d = diag_error(diag, file, E0403, "there is no kernel in this file");
    diag_help(d, "mark a function with `@jit`");
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

const struct ast_function *kernels_choose(struct arena *a, struct diag_engine *diag,
                                          const struct ast_module *m, const char *name) {
  struct strbuf names = {.arena = a};
  list_kernels(m, &names);
  const struct ast_function *f =
      name ? find_kernel(diag, m, name, &names) : choose_kernel(diag, m, &names);
  strbuf_finish(&names);
  const struct ast_guard *g = f ? ast_undecided_function(m, f->name) : NULL;
  if (!g)
    return f;
  ast_report_undecided(diag, m, g, f->name, f->name_span);
  return NULL;
}
