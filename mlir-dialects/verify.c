// SPDX-License-Identifier: Apache-2.0
// Verification: MLIR's own verifier, then the semantic checks of verify_ops.c. Every problem is
// reported at its op's place.
#include "mlir-dialects/ir_internal.h"

bool ir_verify(struct ir_context *c, MlirOperation module) {
  unsigned errors = diag_error_count(c->diag);
  if (mlirOperationVerify(module))
    return true;
  if (diag_error_count(c->diag) == errors)
    diag_error(c->diag, op_span(c, module), E0601, "the IR is malformed");
  return false;
}
