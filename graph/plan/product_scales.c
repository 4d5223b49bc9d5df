// SPDX-License-Identifier: Apache-2.0
// Products of 8-bit floats with scales. The tensor core multiplies the bytes; scales that are equal
// along k, or for blocks of it, multiply its sums:
//
//   sum over k of (x[m, k] * s[m, k // 128]) * (y[k, n] * t[k // 128, n // 128])
//     = sum over blocks of 128 of k of (sum over the block of x * y) * (s * t)
//
// Sums without such blocks are promoted, unless the graph allows fast ones: the tensor core keeps
// about 14 bits of them.
#include "graph/plan/operand.h"
#include "graph/plan/product_plan.h"

enum { MOST_EVERY = 128, LEAST_EVERY = 32 };

// The bytes of v; multiplies its factors into `scale`, NULL: 1.
static const struct scalar *bytes_of(struct scalars *s, const struct scalar *v,
                                     const struct scalar **scale) {
  while (v->kind == SCALAR_APPLY) {
    unsigned side = !scalar_is_scaled_bytes(v->in[0]);
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

void product_take_scales(struct planner *pl, struct product *g) {
  unsigned least = 0;
  for (unsigned i = 0; i < g->count; i++) {
    const struct stage *s = g->stages[i];
    const struct scalar *scale = NULL, *x = s->a, *y = s->b;
    g->left[i] = x;
    g->right[i] = y;
    if (!scalar_is_scaled_bytes(x) || !scalar_is_scaled_bytes(y) || s->dtype != DTYPE_F32)
      continue;
    x = bytes_of(pl->s, x, &scale);
    y = bytes_of(pl->s, y, &scale);
    unsigned every = every_of(pl, scale, g->k);
    if (every == 1)
      continue;
    g->left[i] = x;
    g->right[i] = y;
    g->scales[i] = scale;
    g->is_scaled_in_blocks[i] = every > 0;
    least = every && (!least || every < least) ? every : least;
    g->shape.is_promoted |= !every && !s->is_fast && axis_extent(g->k)->hi > MOST_EVERY;
  }
  g->every = least;
  g->shape.is_scaled_in_blocks = least > 0;
}
