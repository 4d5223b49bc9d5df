// SPDX-License-Identifier: Apache-2.0
// Calls with values of which only shape and origin are known: which builtin is meant, and functions
// of the file, which are walked into.
//
// Recursion is the algorithm: a walk over the tree.
#include "lang/eval/builtin_flags.h"
#include "lang/extents/extent_walk.h"

#define MAX_CALLS 16

// ---- Which is which ----

static enum builtin_form form_of(const char *name) {
  static const struct {
    const char *name;
    unsigned flags;
  } rows[] = {
#define BUILTIN(name, params, flags, fn, tag) {name, flags},
#define MATH(name, params, flags) {name, flags},
#define STD(name, flags) {name, flags},
#define LATER(name, flags) {name, flags},
#include "lang/builtins/builtins.def"
#undef BUILTIN
#undef MATH
#undef STD
#undef LATER
  };
  for (size_t i = 0; i < COUNT_OF(rows); i++)
    if (rows[i].flags & FORM_MASK && strcmp(rows[i].name, name) == 0)
      return (enum builtin_form)(rows[i].flags & FORM_MASK);
  return FORM_ELEMENTWISE;
}

static const struct guess *guess_builtin(struct extents_walk *w, const char *name,
                                         const struct given *c) {
  switch (form_of(name)) {
  case FORM_SAME: return guess_same(w, c);
  case FORM_ARANGE: return guess_arange(w, c);
  case FORM_FULL: return guess_full(w, c);
  case FORM_RESHAPE: return guess_reshape(w, c);
  case FORM_TRANS: return guess_trans(w, c);
  case FORM_EXPAND: return guess_expand(w, c);
  case FORM_LOAD: return guess_load(w, c);
  case FORM_STORE: return guess_store(w, c);
  case FORM_BLOCK: return guess_block_pointer(w, c);
  case FORM_ADVANCE: return guess_advance(w, c);
  case FORM_DOT: return guess_dot(w, c, false);
  case FORM_DOT_SCALED: return guess_dot(w, c, true);
  case FORM_REDUCE: return guess_reduce(w, c);
  case FORM_PROGRAM: return guess_program(w);
  case FORM_CDIV: return guess_cdiv(w, c);
  case FORM_LEAST: return guess_least(w, c);
  case FORM_SWIZZLE: return guess_swizzle(w, c);
  case FORM_RANDOM4: return guess_random4(w, c);
  case FORM_ELEMENTWISE:
  case FORM_MASK: break;
  }
  return guess_elementwise(w, c);
}

// ---- Functions of the file ----

static const struct guess *guess_function(struct extents_walk *w, const struct ast_function *f,
                                          const struct given *c) {
  struct map names = {0}, *outer = w->names;
  const struct guess *returned = w->returned;
  for (size_t i = 0; i < f->param_count; i++) {
    const struct expr *e = guess_given(c, i, f->params[i].name);
    const struct guess *g = e                            ? guess_expr(w, e)
                            : f->params[i].default_value ? guess_expr(w, f->params[i].default_value)
                                                         : guess_new(w);
    map_put(w->a, &names, str_from(f->params[i].name),
            arena_dup(w->a, g, sizeof *g, _Alignof(struct guess)));
  }
  unsigned conditions = w->conditions;
  w->names = &names;
  w->returned = NULL;
  w->conditions = 0;
  w->calls++;
  guess_body(w, f->body);
  w->calls--;
  w->conditions = conditions;
  const struct guess *g = w->returned ? w->returned : guess_new(w);
  w->returned = returned;
  w->names = outer;
  return g;
}

// x in `x.to(...)`, where it is a value and not a module.
static const struct expr *object_of(struct extents_walk *w, const struct expr *callee) {
  if (callee->kind != EXPR_ATTRIBUTE)
    return NULL;
  const struct expr *root = callee->attribute.object;
  while (root->kind == EXPR_ATTRIBUTE)
    root = root->attribute.object;
  bool is_value = root->kind != EXPR_NAME || map_get(w->names, str_from(root->name));
  return is_value ? callee->attribute.object : NULL;
}

const struct guess *guess_call(struct extents_walk *w, const struct expr *e) {
  const struct expr *callee = e->call.callee;
  struct given c = {.object = object_of(w, callee), .call = e};
  if (c.object)
    return guess_builtin(w, callee->attribute.name, &c);
  if (callee->kind == EXPR_NAME) {
    const struct ast_function *f = ast_find_function(w->m, callee->name);
    if (f && !f->is_host && !f->is_constexpr_function && w->calls < MAX_CALLS)
      return guess_function(w, f, &c);
    // Python's own compare values; the reductions have a prefix.
    if (!f && (strcmp(callee->name, "min") == 0 || strcmp(callee->name, "max") == 0))
      return callee->name[1] == 'i' ? guess_least(w, &c) : guess_elementwise(w, &c);
  }
  const char *name = ast_builtin_name(w->a, w->m, callee);
  if (!name && callee->kind == EXPR_ATTRIBUTE && form_of(callee->attribute.name) == FORM_PROGRAM)
    return guess_program(w); // somebody's own module of helpers
  return name ? guess_builtin(w, name, &c) : guess_elementwise(w, &c);
}

// ---- Loops ----

const struct guess *guess_range(struct extents_walk *w, const struct expr *e) {
  struct guess *g = guess_new(w);
  const char *name = e->kind == EXPR_CALL ? ast_builtin_name(w->a, w->m, e->call.callee) : NULL;
  if (!name || (strcmp(name, "range") != 0 && strcmp(name, "static_range") != 0)) {
    guess_expr(w, e);
    w->loops++;
    return g;
  }
  struct given c = {.call = e};
  bool unrolled = name[0] == 's', one = !guess_given(&c, 1, "arg2");
  const struct guess *first = guess_argument(w, &c, 0, "arg1"),
                     *end = one ? first : guess_argument(w, &c, 1, "arg2"),
                     *step = guess_argument(w, &c, 2, "step"),
                     *stages = guess_argument(w, &c, 99, "num_stages");
  if (stages->exact >= 0)
    w->facts[stages->exact].stages = true;
  param_set by = step->from & w->constants; // or the turns are counted: range(cdiv(n, BLOCK))
  bool steps = is_pow2(by), counts = !by && is_pow2(end->counts & w->constants);
  int p = steps ? (int)log2_floor(by) : counts ? (int)log2_floor(end->counts & w->constants) : -1;
  if (p >= 0) {
    w->facts[p].is_step = true;
    w->facts[p].is_range = w->facts[p].is_range || steps;
    w->facts[p].loops |= end->from & ~param_bit(p);
  }
  g->of_program = !one && first->of_program;
  g->is_runtime = true;
  if (!unrolled) {
    w->loops++;
    g->of_loop = true;
  }
  if (steps)
    g->turns = by;
  g->of_loop = g->of_loop || steps;
  return g;
}
