// SPDX-License-Identifier: Apache-2.0
// Products with scales: of 8-bit floats, and of half precision with weights of at most 8 bits. The
// tensor core multiplies the bytes, as they are or in half precision, which has all their values.
// Scales that are equal along k, or for blocks of it, multiply its sums, which are far fewer:
//
//   sum over k of (x[m, k] * s[m, k // 128]) * (y[k, n] * t[k // 128, n // 128])
//     = sum over blocks of 128 of k of (sum over the block of x * y) * (s * t)
//
// Sums without such blocks are promoted, unless the graph allows fast ones: the tensor core keeps
// about 14 bits of them.
// Recursion is the algorithm: a value is an expression tree.
#include "graph/plan/operand.h"
#include "graph/plan/product_plan.h"

#include <math.h>

// Blocks of k of integers are in pairs in a byte: shorter ones have too few bytes in flight.
enum { MOST_EVERY = 128, LEAST_EVERY = 32, LEAST_OF_INTEGERS = 64 };

static bool is_scaled_integer(const struct scalar *v) {
  if (v->kind == SCALAR_APPLY && v->op == SCALAR_MUL)
    return is_scaled_integer(v->in[0]) || is_scaled_integer(v->in[1]);
  return operand_is_small_integer(v);
}

static bool is_scaled(const struct scalar *v) {
  return scalar_is_scaled_bytes(v) || is_scaled_integer(v);
}

// The unscaled part of v; multiplies its factors into `scale`, NULL: 1.
static const struct scalar *unscaled(struct scalars *s, const struct scalar *v,
                                     const struct scalar **scale) {
  while (v->kind == SCALAR_APPLY && v->op == SCALAR_MUL) {
    unsigned side = !is_scaled(v->in[0]);
    const struct scalar *both[] = {*scale, v->in[!side]};
    *scale = *scale ? scalar_apply(s, SCALAR_MUL, DTYPE_F32, both) : both[1];
    v = v->in[side];
  }
  return v;
}

bool product_is_equal_in_blocks(struct exprs *x, struct scalars *s, const struct scalar *v,
                                const struct expr *axis, int64_t every) {
  const struct expr *extent = expr_const(x, every),
                    *blocks = expr_cdiv(x, axis_extent(axis), extent);
  const struct expr *block = expr_symbol(x, "block", 0, blocks->hi, blocks),
                    *in = expr_symbol(x, "in", 0, every - 1, extent);
  const struct expr *at = expr_add(x, expr_muli(x, block, every), in);
  return !scalar_has_axis(scalar_substitute(s, v, 1, &axis, &at), in);
}

// After how many elements of k the scale changes; 0: never; 1: too often for sums between.
static unsigned every_of(struct planner *pl, const struct scalar *scale, const struct expr *k) {
  unsigned every = scale && scalar_has_axis(scale, k) ? MOST_EVERY : 0;
  while (every >= LEAST_EVERY && !product_is_equal_in_blocks(pl->x, pl->s, scale, k, every))
    every /= 2;
  return every && every < LEAST_EVERY ? 1 : every;
}

// Do scales of the operands belong to the sums? `ret_left`: those of the left one too.
static bool takes_scales(const struct stage *s, bool *ret_left) {
  enum dtype left = operand_loaded(s->a);
  bool is_half = left == DTYPE_F16 || left == DTYPE_BF16;
  *ret_left = scalar_is_scaled_bytes(s->a) && scalar_is_scaled_bytes(s->b);
  return s->dtype == DTYPE_F32 &&
         (*ret_left || (is_half && s->out->dtype == left && is_scaled(s->b)));
}

static void take_scales(struct planner *pl, struct product *g, unsigned i) {
  const struct stage *s = g->stages[i];
  const struct scalar *scale = NULL, *x = s->a, *y = s->b;
  bool of_both;
  if (!takes_scales(s, &of_both))
    return;
  x = of_both ? unscaled(pl->s, x, &scale) : x;
  y = unscaled(pl->s, y, &scale);
  unsigned every = every_of(pl, scale, s->axes[3]);
  if (every == 1 || (!of_both && every && every < LEAST_OF_INTEGERS))
    return;
  g->left[i] = x;
  g->right[i] = y;
  g->scales[i] = scale;
  g->is_scaled_in_blocks[i] = every > 0;
  g->every = every && (!g->every || every < g->every) ? every : g->every;
  g->shape.is_promoted |=
      of_both && !every && !s->is_fast && axis_extent(s->axes[3])->hi > MOST_EVERY;
}

void product_take_scales(struct planner *pl, struct product *g) {
  for (unsigned i = 0; i < g->count; i++) {
    g->left[i] = g->stages[i]->a;
    g->right[i] = g->stages[i]->b;
    take_scales(pl, g, i);
  }
  g->shape.is_scaled_in_blocks = g->every > 0;
}
