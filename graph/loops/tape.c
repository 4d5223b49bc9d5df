// SPDX-License-Identifier: Apache-2.0
// Compiles expression trees and indices to instructions, grouped by the innermost loop they depend
// on.
#include "graph/loops/tape.h"

#include "base/map.h"
#include "graph/reference/interpret.h"

#include <math.h>

enum code {
  CODE_APPLY,
  CODE_CONVERT,
  CODE_SELECT,
  CODE_LOAD,
  CODE_PRODUCT,
  CODE_RANDOM,
  CODE_ADD,
  CODE_MUL,
  CODE_DIV,
  CODE_MOD,
  CODE_MIN,
  CODE_MAX
};

struct instruction {
  enum code code;
  enum scalar_op op;
  enum dtype from, to;
  uint32_t ret, in[3], which;
  const struct memory *memory;
};

typedef VEC(struct instruction) instructions;

struct tape {
  const struct tape_context *c;
  uint32_t rank;
  int64_t *extents;
  uint32_t *axes;       // registers
  instructions *levels; // [0]: before all loops, [i + 1]: inside of loop i
  VEC(union element) regs;
  VEC(uint32_t) reg_levels;
  struct map known; // registers + 1, by expression tree, expression or symbol
  double product;
};

static uint32_t new_reg(struct tape *t, uint32_t level, union element e) {
  vec_push(t->c->arena, &t->regs, e);
  vec_push(t->c->arena, &t->reg_levels, level);
  return (uint32_t)t->regs.len - 1;
}

static uint32_t constant(struct tape *t, union element e) { return new_reg(t, 0, e); }

static uint32_t emit(struct tape *t, struct instruction i, unsigned arity, uint32_t level) {
  for (unsigned k = 0; k < arity; k++)
    level = t->reg_levels.at[i.in[k]] > level ? t->reg_levels.at[i.in[k]] : level;
  i.ret = new_reg(t, level, (union element){.integer = 0});
  vec_push(t->c->arena, &t->levels[level], i);
  return i.ret;
}

static void remember(struct tape *t, const void *key, uint32_t reg) {
  ptrmap_put(t->c->arena, &t->known, key, (void *)((uintptr_t)reg + 1));
}

static bool recall(const struct tape *t, const void *key, uint32_t *ret) {
  uintptr_t found = (uintptr_t)ptrmap_get(&t->known, key);
  *ret = (uint32_t)(found - 1);
  return found != 0;
}

struct tape *tape_create(const struct tape_context *c, uint32_t rank,
                         const struct expr *const *axes) {
  struct tape *t = arena_new(c->arena, struct tape);
  t->c = c;
  t->rank = rank;
  t->extents = arena_array(c->arena, int64_t, rank + 1);
  t->axes = arena_array(c->arena, uint32_t, rank + 1);
  t->levels = arena_array(c->arena, instructions, rank + 1);
  for (uint32_t i = 0; i < rank; i++) {
    t->axes[i] = new_reg(t, i + 1, (union element){.integer = 0});
    remember(t, axes[i], t->axes[i]);
    if (!expr_eval(axis_extent(axes[i]), c->graph->symbols.len, c->graph->symbols.at, c->sizes,
                   &t->extents[i]))
      t->extents[i] = 0;
  }
  return t;
}

// ---- compiling ----

static enum code expr_code(enum expr_kind kind) {
  switch (kind) {
  case EXPR_ADD: return CODE_ADD;
  case EXPR_MUL: return CODE_MUL;
  case EXPR_FLOORDIV: return CODE_DIV;
  case EXPR_MOD: return CODE_MOD;
  case EXPR_MIN: return CODE_MIN;
  default: return CODE_MAX;
  }
}

static uint32_t symbol_reg(struct tape *t, const struct expr *e) {
  if (e->symbol->indirect)
    return tape_scalar(t, e->symbol->indirect);
  for (size_t i = 0; i < t->c->graph->symbols.len; i++)
    if (t->c->graph->symbols.at[i] == e)
      return constant(t, (union element){.integer = t->c->sizes[i]});
  return constant(t, (union element){.integer = INT64_MIN / 2}); // an axis of another loop nest
}

uint32_t tape_expr(struct tape *t, const struct expr *e) {
  uint32_t reg;
  if (recall(t, e, &reg))
    return reg;
  if (e->kind == EXPR_CONST)
    reg = constant(t, (union element){.integer = e->value});
  else if (e->kind == EXPR_SYMBOL)
    reg = symbol_reg(t, e);
  else {
    reg = tape_expr(t, e->in[0]);
    for (uint32_t i = 1; i < e->count; i++) {
      struct instruction step = {.code = expr_code(e->kind), .in = {reg, tape_expr(t, e->in[i])}};
      reg = emit(t, step, 2, 0);
    }
  }
  remember(t, e, reg);
  return reg;
}

static uint32_t leaf_reg(struct tape *t, const struct scalar *v) {
  if (v->kind == SCALAR_CONST)
    return constant(t, v->constant);
  struct instruction i = {.in = {tape_expr(t, v->index)}};
  if (v->kind == SCALAR_INDEX)
    return i.in[0];
  if (v->kind == SCALAR_LOAD && !v->buffer) {
    i.code = CODE_PRODUCT;
    return emit(t, i, 0, t->rank);
  }
  i.code = v->kind == SCALAR_LOAD ? CODE_LOAD : CODE_RANDOM;
  i.which = v->which;
  i.to = v->dtype;
  i.memory = v->buffer ? &t->c->memory[v->buffer->id] : NULL;
  return emit(t, i, 1, 0);
}

uint32_t tape_scalar(struct tape *t, const struct scalar *v) {
  uint32_t reg;
  if (recall(t, v, &reg))
    return reg;
  unsigned arity = scalar_arity(v);
  if (arity == 0) {
    reg = leaf_reg(t, v);
  } else {
    struct instruction i = {.code = v->kind == SCALAR_APPLY     ? CODE_APPLY
                                    : v->kind == SCALAR_CONVERT ? CODE_CONVERT
                                                                : CODE_SELECT,
                            .op = v->op,
                            .to = v->dtype};
    i.from = v->in[v->op == SCALAR_WHERE && v->kind == SCALAR_APPLY ? 1 : 0]->dtype;
    for (unsigned k = 0; k < arity; k++)
      i.in[k] = tape_scalar(t, v->in[k]);
    reg = emit(t, i, arity, 0);
  }
  remember(t, v, reg);
  return reg;
}

// ---- running ----

static int64_t floor_divide(int64_t a, int64_t b) {
  if (b == 0)
    return 0;
  int64_t q = a / b;
  return q - (a % b != 0 && (a < 0) != (b < 0));
}

// Loads out of bounds occur only under a mask that drops them; if one were used, results would show
// it.
static union element load(const struct memory *m, int64_t offset, enum dtype t) {
  if (offset >= 0 && offset < m->numel)
    return m->at[offset];
  return dtype_is_float(t) ? (union element){.real = (double)NAN}
                           : (union element){.integer = INT64_MIN / 4};
}

static union element step(struct tape *t, const struct instruction *i) {
  const union element *r = t->regs.at;
  union element in[3] = {r[i->in[0]], r[i->in[1]], r[i->in[2]]};
  int64_t a = in[0].integer, b = in[1].integer;
  switch (i->code) {
  case CODE_APPLY: return scalar_eval(i->op, i->from, in);
  case CODE_CONVERT: return element_cast(in[0], i->from, i->to, t->c->graph->keeps_casts);
  case CODE_SELECT: return in[0].integer ? in[1] : in[2];
  case CODE_LOAD: return load(i->memory, a, i->to);
  case CODE_PRODUCT: return (union element){.real = t->product};
  case CODE_RANDOM:
    return (union element){.real = (double)random_uniform(t->c->seed, i->which, (uint64_t)a)};
  case CODE_ADD: return (union element){.integer = (int64_t)((uint64_t)a + (uint64_t)b)};
  case CODE_MUL: return (union element){.integer = (int64_t)((uint64_t)a * (uint64_t)b)};
  case CODE_DIV: return (union element){.integer = floor_divide(a, b)};
  case CODE_MOD: return (union element){.integer = a - b * floor_divide(a, b)};
  case CODE_MIN: return (union element){.integer = a < b ? a : b};
  case CODE_MAX: return (union element){.integer = a > b ? a : b};
  }
  return in[0];
}

static void run_level(struct tape *t, uint32_t level) {
  for (size_t i = 0; i < t->levels[level].len; i++) {
    const struct instruction *one = &t->levels[level].at[i];
    t->regs.at[one->ret] = step(t, one);
  }
}

static void loop(struct tape *t, uint32_t axis, uint32_t to, void (*f)(void *user), void *user) {
  if (axis == to) {
    f(user);
    return;
  }
  for (int64_t i = 0; i < t->extents[axis]; i++) {
    t->regs.at[t->axes[axis]].integer = i;
    run_level(t, axis + 1);
    loop(t, axis + 1, to, f, user);
  }
}

void tape_loop(struct tape *t, uint32_t from, uint32_t to, void (*f)(void *user), void *user) {
  if (from == 0)
    run_level(t, 0);
  loop(t, from, to, f, user);
}

union element tape_get(const struct tape *t, uint32_t reg) {
  return t->regs.at[reg];
}
int64_t tape_extent(const struct tape *t, uint32_t axis) { return t->extents[axis]; }

void tape_set_product(struct tape *t, double value) {
  t->product = value;
  run_level(t, t->rank);
}
