// SPDX-License-Identifier: Apache-2.0
// Emission of structured control flow.
#ifndef TILE_LANG_EMIT_CONTROL_H
#define TILE_LANG_EMIT_CONTROL_H

#include "lang/ops/ssa.h"

// scf.if on a run-time i1; every variable of `changed` is merged after it.
void ssa_if(struct eval *e, struct value cond, const struct variable_list *changed, branch_fn then,
            branch_fn otherwise, void *user);

// scf.for: the bounds are run-time values of one type, the step is positive.
struct ssa_for {
  struct value lower, upper, step;
  void (*body)(struct eval *e, struct value induction, void *user);
  void *user;
};
MlirOperation ssa_for_loop(struct eval *e, const struct ssa_for *f,
                           const struct variable_list *changed);

// scf.while: `condition` gives a run-time i1, or poison.
struct ssa_while {
  struct value (*condition)(struct eval *e, void *user);
  branch_fn body;
  void *user;
};
void ssa_while_loop(struct eval *e, const struct ssa_while *w, const struct variable_list *changed);

// Loops of run-time bounds and conditions, as dialect members (loop.c).
void emit_loop(struct eval *e, const struct stmt *s, const struct range *r);
void emit_while(struct eval *e, const struct stmt *s);
// Member `show` (debug_values.c).
void show_value(struct eval *e, const char *name, struct span at, struct value v);
// E0216 for a condition that is no single truth (tile_condition.c).
void report_tile_condition(struct eval *e, struct operand x, const char *what);
// A subscript of a tile (tile.c).
struct value emit_tile_subscript(struct eval *e, const struct expr *x, struct value v);

extern const struct dialect kernel_dialect;

#endif
