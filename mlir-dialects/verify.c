// SPDX-License-Identifier: Apache-2.0
// Verification: MLIR's own verifier, then the semantic checks of verify_ops.c. Every problem is
// reported at its op's location.
#include "mlir-dialects/ir_internal.h"

struct verification {
  struct ir_context *c;
  bool sound;
};

static bool check(MlirOperation op, void *user) {
  struct verification *v = user;
  if (!verify_op(v->c, op))
    v->sound = false;
  return true;
}

bool ir_verify(struct ir_context *c, MlirOperation module) {
  unsigned errors = diag_error_count(c->diag);
  if (!mlirOperationVerify(module)) {
    // Our checks rely on the verifier's guarantees: operand counts, terminators, dominance.
    if (diag_error_count(c->diag) == errors)
      diag_error(c->diag, op_span(c, module), E0601, "the IR is malformed");
    return false;
  }
  struct verification v = {c, true};
  ir_walk(module, check, &v);
  return v.sound;
}
