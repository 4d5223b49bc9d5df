// SPDX-License-Identifier: Apache-2.0
// Which operators take complex tensors, and how.
#include "graph/ir/complex.h"

bool complex_in(const struct arg *args, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const struct arg *a = &args[i];
    if (a->kind == ARG_COMPLEX || (a->kind == ARG_VALUE && a->value && a->value->complex) ||
        (a->kind == ARG_LIST && complex_in(a->list.at, a->list.count)))
      return true;
  }
  return false;
}

compose_fn complex_rule(enum operator_id op) {
  switch (op) {
#define COMPLEX(id, function)                                                                      \
  case OP_##id:                                                                                    \
    return complex_##function;
#include "graph/ir/complex.def"
#undef COMPLEX
  default: return NULL;
  }
}
