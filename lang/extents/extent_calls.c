// SPDX-License-Identifier: Apache-2.0
// Abstract evaluation of calls (extent_walk.h): finds the builtin's row, or walks the function of
// the file that is called.
//
// Recursion is the algorithm: a walk over the tree.
#include "lang/eval/builtin_flags.h"
#include "lang/extents/extent_walk.h"
#include "lang/std/std_table.h"

#define MAX_CALLS 16

// ---- Which is which ----

struct row {
  const char *name, *params;
  unsigned flags;
};

static const struct row rows[] = {
#define BUILTIN(name, params, flags, fn, tag) {name, params, flags},
#define MATH(name, params, flags) {name, params, flags},
#define STD(name, flags) {name, NULL, flags},
#include "lang/builtins/builtins.def"
#undef BUILTIN
#undef MATH
#undef STD
};

static const struct row *find_among(const char *name, bool is_bare) {
  for (size_t i = 0; i < COUNT_OF(rows); i++)
    if (!(rows[i].flags & BUILTIN_BARE) == !is_bare && strcmp(rows[i].name, name) == 0)
      return &rows[i];
  return NULL;
}

// A name without a prefix means Python's own function first.
static const struct row *row_of(const char *name, bool is_bare) {
  const struct row *r = is_bare ? find_among(name, true) : NULL;
  return r ? r : find_among(name, false);
}

static enum builtin_form form_of(const struct row *r) {
  return r ? (enum builtin_form)(r->flags & FORM_MASK) : FORM_ELEMENTWISE;
}

static const char *params_of(const struct row *r) {
  const struct std_row *std = r->params ? NULL : std_row_find(r->name);
  return std ? std->params : r->params;
}

static const struct guess *guess_builtin(struct extents_walk *w, const struct row *r,
                                         struct given *c) {
  if (r)
    c->params = params_of(r);
  switch (form_of(r)) {
  case FORM_SAME: return guess_same(w, c);
  case FORM_ARANGE: return guess_arange(w, c);
  case FORM_FULL: return guess_full(w, c);
  case FORM_RESHAPE: return guess_reshape(w, c);
  case FORM_TRANS: return guess_trans(w, c);
  case FORM_EXPAND: return guess_expand(w, c);
  case FORM_LOAD: return guess_load(w, c);
  case FORM_DESCRIPTOR: return guess_descriptor(w, c);
  case FORM_DESCRIPTOR_LOAD: return guess_descriptor_load(w, c);
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
  case FORM_RANGE:
  case FORM_UNROLLED:
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

// A name that no import binds: Python's own functions come first.
static bool is_bare(struct extents_walk *w, const struct expr *callee) {
  return callee->kind == EXPR_NAME &&
         strcmp(ast_qualified_name(w->a, w->m, callee), callee->name) == 0;
}

static const struct row *row_called(struct extents_walk *w, const struct expr *callee) {
  const char *name = ast_builtin_name(w->a, w->m, callee);
  if (name)
    return row_of(name, is_bare(w, callee));
  if (callee->kind != EXPR_ATTRIBUTE)
    return NULL;
  const struct row *r = row_of(callee->attribute.name, false); // of a user's module of helpers
  return form_of(r) == FORM_PROGRAM ? r : NULL;
}

const struct guess *guess_call(struct extents_walk *w, const struct expr *e) {
  const struct expr *callee = e->call.callee;
  struct given c = {.object = object_of(w, callee), .call = e};
  if (c.object)
    return guess_builtin(w, row_of(callee->attribute.name, false), &c);
  if (callee->kind == EXPR_NAME) {
    const struct ast_function *f = ast_find_function(w->m, callee->name);
    if (f && !f->is_host && !f->is_constexpr_function && w->calls < MAX_CALLS)
      return guess_function(w, f, &c);
  }
  return guess_builtin(w, row_called(w, callee), &c);
}

// ---- Loops ----

const struct guess *guess_range(struct extents_walk *w, const struct expr *e) {
  struct guess *g = guess_new(w);
  const struct row *r = e->kind == EXPR_CALL ? row_called(w, e->call.callee) : NULL;
  if (form_of(r) != FORM_RANGE && form_of(r) != FORM_UNROLLED) {
    guess_expr(w, e);
    w->loops++;
    return g;
  }
  struct given c = {.call = e, .params = r->params};
  bool unrolled = form_of(r) == FORM_UNROLLED, one = !guess_named(&c, "arg2");
  const struct guess *first = guess_argument(w, &c, "arg1"),
                     *end = one ? first : guess_argument(w, &c, "arg2"),
                     *step = guess_argument(w, &c, "step"),
                     *stages = unrolled ? guess_new(w) : guess_argument(w, &c, "num_stages");
  if (stages->exact >= 0)
    w->facts[stages->exact].stages = true;
  param_set by = step->from & w->constants; // or the loop counts blocks: range(cdiv(n, BLOCK))
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
    g->iterations = by;
  g->of_loop = g->of_loop || steps;
  return g;
}
