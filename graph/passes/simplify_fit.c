// SPDX-License-Identifier: Apache-2.0
// A replacement in the dtype and shape of the original.
#include "graph/passes/simplify.h"

struct value *simplify_fit(struct simplify *s, const struct node *n, struct value *v) {
  return build_as(&s->b, build_convert(&s->b, v, n->results[0]->dtype), n->results[0]);
}
