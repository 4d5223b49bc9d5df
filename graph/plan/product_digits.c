// SPDX-License-Identifier: Apache-2.0
// Digits of the inner axis of a product with quantised weights. Where a byte has `pack` weights
// that follow each other along k, and `group` bytes share a scale, as in
//
//   (w[n, k // 2] >> 4 * (k % 2) & 15) * scale[n, k // 128]
//
// the kernel walks over the bytes, k = pack * (group * high + low) + digit: a block of them has one
// product for each digit, which reads the bytes once and in wide loads, and the scale once.
//
// Channels of an image that lie next to each other are a group for each tap of a convolution.
#include "graph/plan/product_plan.h"

enum { MOST_DIVISORS = 8, LEAST_GROUP = 32 };

struct divisors {
  const struct expr *k;
  int64_t at[MOST_DIVISORS];
  unsigned count;
};

static void add(struct divisors *d, int64_t n) {
  for (unsigned i = 0; i < d->count; i++)
    if (d->at[i] == n)
      return;
  if (d->count < MOST_DIVISORS)
    d->at[d->count++] = n;
}

static void find(const struct expr *e, struct divisors *d) {
  int64_t n;
  if (e->kind == EXPR_FLOORDIV && e->in[0] == d->k && expr_is_const(e->in[1], &n) && n > 1)
    add(d, n);
  for (uint32_t i = 0; i < e->count; i++)
    find(e->in[i], d);
}

static void find_in_load(void *user, const struct scalar *load) { find(load->index, user); }

// Also in conditions. Recursion is the algorithm: a value is an expression tree.
static void find_in(const struct scalar *v, struct divisors *d, struct map *seen, struct arena *a) {
  if (ptrmap_get(seen, v))
    return;
  ptrmap_put(a, seen, v, d);
  if (v->kind == SCALAR_LOAD || v->kind == SCALAR_INDEX)
    find(v->index, d);
  for (unsigned i = 0; i < scalar_arity(v); i++)
    find_in(v->in[i], d, seen, a);
}

// The smallest divisor above `n`; 0: there is none.
static int64_t next_above(const struct divisors *d, int64_t n) {
  int64_t best = 0;
  for (unsigned i = 0; i < d->count; i++)
    if (d->at[i] > n && (!best || d->at[i] < best))
      best = d->at[i];
  return best;
}

// Blocks divide the group.
static bool is_group(const struct product *g, int64_t bytes) {
  return bytes % LEAST_GROUP == 0 && bytes > 0 && expr_is_multiple(axis_extent(g->k), bytes);
}

static const struct expr *axis_of(struct exprs *x, const char *name, const struct expr *extent) {
  return expr_symbol(x, name, 0, extent->hi == INT64_MAX ? extent->hi : extent->hi - 1, extent);
}

void product_find_digits(struct planner *pl, struct product *g) {
  struct exprs *x = pl->x;
  struct divisors d = {.k = g->k};
  g->pack = 1;
  g->whole_k = g->k;
  for (unsigned i = 0; i < g->count; i++)
    scalar_loads(g->right[i], find_in_load, &d);
  int64_t pack = next_above(&d, 1);
  if (pack != 2 || !expr_is_multiple(axis_extent(g->k), pack))
    pack = 1;
  struct map seen = {0};
  g->groups_left = d.count == 0;
  for (unsigned i = 0; i < g->count && g->groups_left; i++)
    find_in(g->left[i], &d, &seen, pl->arena);
  int64_t divisor = next_above(&d, pack), bytes = divisor % pack == 0 ? divisor / pack : 0;
  if (pack > 1) {
    g->pack = (unsigned)pack;
    g->k = axis_of(x, "k", expr_floordiv(x, axis_extent(g->whole_k), expr_const(x, pack)));
  }
  if (is_group(g, bytes)) {
    g->group = (unsigned)bytes;
    g->low = axis_of(x, "low", expr_const(x, bytes));
    g->high = axis_of(x, "high", expr_floordiv(x, axis_extent(g->k), expr_const(x, bytes)));
  }
}

const struct expr *product_inner(struct exprs *x, const struct product *g, const struct expr *inner,
                                 unsigned digit) {
  if (g->group)
    inner = expr_add(x, expr_muli(x, g->high, g->group), inner);
  return expr_addi(x, expr_muli(x, inner, g->pack), digit);
}
