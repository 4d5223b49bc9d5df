// SPDX-License-Identifier: Apache-2.0
// A value put instead of another: the same shape, the same type.
#include "graph/passes/simplify.h"

struct value *simplify_fit(struct simplify *s, const struct node *n, struct value *v) {
  return build_as(&s->b, build_convert(&s->b, v, n->results[0]->dtype), n->results[0]);
}
