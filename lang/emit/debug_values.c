// SPDX-License-Identifier: Apache-2.0
// Values of variables for debuggers, as tile.debug_value: of the kernel, and of functions that stay
// calls. Functions that are inlined have no variables of their own there.
#include "lang/emit/control.h"

static bool has_variables(struct eval *e) {
  const struct frame *f = e->frame;
  return e->options->debug_values && !e->is_pure && !f->is_std && !f->is_comprehension &&
         mlirLocationIsNull(f->call_loc);
}

// From 1 on; 0: a local variable.
static unsigned argument_number(const struct ast_function *f, const char *name) {
  for (size_t i = 0; i < f->param_count; i++)
    if (strcmp(f->params[i].name, name) == 0)
      return (unsigned)i + 1;
  return 0;
}

void show_value(struct eval *e, const char *name, struct span at, struct value v) {
  struct type literal;
  bool is_number = value_is_number(v) && literal_type(v, &literal);
  if (!has_variables(e) || !(is_number || v.kind == VALUE_RT) || !at.source)
    return;
  MlirLocation loc = e->b.loc;
  struct span place = e->span;
  emit_at(e, at);
  if (is_number)
    v = to_runtime(e, (struct operand){v, at}, "a variable");
  if (v.kind == VALUE_RT)
    build_debug_value(&e->b, name, dtype_name(v.type.dtype),
                      argument_number(e->frame->function, name), v.rt);
  e->b.loc = loc;
  e->span = place;
}
