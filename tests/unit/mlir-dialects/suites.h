// SPDX-License-Identifier: Apache-2.0
// The suites of mlir-dialects/, one a test file, and the session they share.
#ifndef TEST_MLIR_DIALECTS_SUITES_H
#define TEST_MLIR_DIALECTS_SUITES_H

#include "mlir-dialects/build.h"

#include <check.h>

#define SUITES(X) X(round_trip) X(ir) X(readme) X(verify)

#define X(name) TCase *name##_tests(void);
SUITES(X)
#undef X

struct session {
  struct arena *arena;
  struct diag_engine *diag;
  struct ir_context *c;
};

struct session session_open(void);
void session_close(struct session *s);

// A module with every op of the table, and layouts.
MlirModule every_op(struct ir_context *c);

#endif
