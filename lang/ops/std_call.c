// SPDX-License-Identifier: Apache-2.0
// Calls of the standard library by the compiler.
#include "lang/eval/std_module.h"
#include "lang/ops/ops.h"

struct value emit_std(struct eval *e, const char *name, size_t n, const struct value *args,
                      struct span at) {
  struct value f;
  if (!std_value(e, name, &f)) {
    eval_error(e, at, E0502, "the standard library has no `%s`", name);
    return VALUE_ERROR;
  }
  struct operand *operands = arena_array(e->a, struct operand, n ? n : 1);
  for (size_t i = 0; i < n; i++)
    operands[i] = (struct operand){args[i], at};
  return eval_inline(e, f.func, operands, NULL, n, at);
}
