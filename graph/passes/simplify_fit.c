// SPDX-License-Identifier: Apache-2.0
// A value put instead of another: the same shape, the same type.
#include "graph/passes/simplify.h"

bool same_shape(const struct value *a, const struct value *b) {
  if (a->rank != b->rank)
    return false;
  for (uint32_t i = 0; i < a->rank; i++)
    if (a->shape[i] != b->shape[i])
      return false;
  return true;
}

struct value *simplify_fit(struct simplify *s, const struct node *n, struct value *v) {
  return build_as(&s->b, build_convert(&s->b, v, n->results[0]->dtype), n->results[0]);
}
