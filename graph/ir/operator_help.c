// SPDX-License-Identifier: Apache-2.0
// Errors of inference and of compositions have a help, that of their code where they bring none.
#include "graph/ir/operator_help.h"

#include <string.h>

static void general_help(struct diag *d, enum diag_code code, const struct operator_row *op) {
  switch ((int)code) {
  case E1003: diag_help(d, "its parameters are: %s", op->parameters); break;
  case E1004:
    diag_help(d, "shapes are changed by `aten.view`, `aten.permute`, `aten.unsqueeze` and "
                 "`aten.expand`; mend the model where this shape is made, and export it again");
    break;
  case E1005:
    diag_help(d, "`prims.convert_element_type.default(x, dtype)`, `x.to(dtype)` in the model, "
                 "converts a tensor");
    break;
  case E1008: diag_help(d, "write it with other operators; docs/operators.md lists them"); break;
  case E1009: diag_help(d, "docs/limits.md lists the limits of graphs"); break;
  }
}

void operator_error(struct diag_engine *diag, struct span at, enum diag_code code,
                    const struct operator_row *op, const char *text) {
  struct str message, help = str_split(str_from(text), '\n', &message);
  struct diag *d = diag_error(diag, at, code, "`%s`: %.*s", op->name, STR_ARG(message));
  if (help.ptr)
    diag_help(d, "%.*s", STR_ARG(help));
  else
    general_help(d, code, op);
}
