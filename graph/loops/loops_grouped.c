// SPDX-License-Identifier: Apache-2.0
// Grouped products (tile.grouped_mm): group g has the rows, or the inner indices, from ends[g - 1]
// to ends[g].
#include "graph/loops/loops_internal.h"

bool groups_are_same(const struct groups *a, const struct groups *b) {
  return a == b || (a && b && a->of_rows == b->of_rows && a->group == b->group && a->end == b->end);
}

// x[m, k] y[group of m, k, n], or x[m, k] y[k, n] over the k of each group.
bool loops_lower_grouped(struct builder *b, const struct node *n) {
  struct deferred *z = loops_deferred(b, n->results[0]);
  const struct value *x = node_value(n, 0), *y = node_value(n, 1), *offs = node_value(n, 2);
  struct groups *groups = arena_new(b->arena, struct groups);
  groups->of_rows = y->rank == 3;
  groups->group = loops_symbol(b, 'g', 0, offs->shape[0]);
  groups->end = scalar_convert(b->s, loops_element(b, offs, &groups->group), DTYPE_I64);
  const struct expr *one = expr_const(b->x, 1), *columns = y->shape[y->rank - 1];
  const struct expr *axes[4] = {loops_symbol(b, 'b', 0, groups->of_rows ? one : offs->shape[0]),
                                loops_symbol(b, 'm', 0, x->shape[0]),
                                loops_symbol(b, 'n', 0, columns),
                                loops_symbol(b, 'k', 0, x->shape[1])};
  const struct expr *left[] = {axes[1], axes[3]}, *right[] = {groups->group, axes[3], axes[2]};
  const struct scalar *a = loops_element(b, x, left),
                      *c = loops_element(b, y, groups->of_rows ? right : right + 1);
  a = loops_product_operand(b, n, x, a, axes[0], axes[1], axes[3], false);
  c = loops_product_operand(b, n, y, c, groups->of_rows ? groups->group : axes[0], axes[3], axes[2],
                            false);
  return loops_store_product(b, n, z, axes, groups, a, c, groups->of_rows ? axes + 1 : axes);
}
