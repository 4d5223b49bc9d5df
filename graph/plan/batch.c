// SPDX-License-Identifier: Apache-2.0
// The batch axis of products and attention. A batch of one has no axis in the kernel: its index is
// 0.
#include "graph/plan/plan.h"

const struct expr *batch_offset(struct scalars *s, struct exprs *x, const struct expr *batch,
                                const struct expr *e) {
  const struct expr *zero = expr_const(x, 0);
  return expr_is(axis_extent(batch), 1) ? index_substitute(s, e, 1, &batch, &zero) : e;
}

const struct scalar *batch_value(struct scalars *s, struct exprs *x, const struct expr *batch,
                                 const struct scalar *v) {
  const struct expr *zero = expr_const(x, 0);
  return expr_is(axis_extent(batch), 1) ? scalar_substitute(s, v, 1, &batch, &zero) : v;
}
