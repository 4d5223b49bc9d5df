// SPDX-License-Identifier: Apache-2.0
// Conditions at module level: which branches Python would take when the file is imported. They are
// evaluated as host code (python.h), each when a name bound under it is first looked up. What they
// query of the device and the environment follows from the target, the imports and -D alone.
#ifndef TILE_LANG_EVAL_OUTER_H
#define TILE_LANG_EVAL_OUTER_H

#include "lang/eval/eval.h"

// Whether a binding of `m` with this guard (NULL: none) is made: GUARD_HOLDS, GUARD_FAILS, or
// GUARD_UNDECIDED. Cached in the guard.
enum ast_guard_state outer_state(struct eval *e, const struct ast_module *m, struct ast_guard *g);
// Whether `except ...` catches an exception of that name.
bool outer_catches(const struct ast_handler *h, const char *exception);
// Evaluates all guards of a file again.
void outer_resolve(struct eval *e, struct ast_module *m);
// The evaluator for module-level host code that belongs to `e`: its errors are not reported.
struct eval *outer_evaluator(struct eval *e);
// Saves and restores that evaluator around an evaluation.
struct outer_saved {
  struct frame *frame;
  struct diag_engine *diag;
  struct map reported;
  const struct ast_module *limited;
  uint32_t limit;
  unsigned errors, statements;
  bool stopped;
  const char *raised;
};
struct outer_saved outer_begin(struct eval *h, const struct ast_module *m, uint32_t limit);
void outer_end(struct eval *h, const struct outer_saved *saved);

#endif
