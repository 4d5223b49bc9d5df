// SPDX-License-Identifier: Apache-2.0
// `--grid X[,Y[,Z]]`: integer expressions over scalar arguments and compile-time parameters.
#ifndef TILE_JIT_GRID_EXPR_H
#define TILE_JIT_GRID_EXPR_H

#include "base/diag.h"

// Names that expressions may use, with values; the first of equal names counts.
struct grid_names {
  const char **names;
  int64_t *values;
  size_t count;
  const char *const *codes; // C expressions of values known at run time; NULL: none, or NULL in
                            // it: the value
};

// An empty list with room for `count` names.
struct grid_names grid_names_make(struct arena *a, size_t capacity);
void grid_names_add(struct grid_names *n, const char *name, int64_t value);
void grid_names_add_text(struct grid_names *n, const char *name, struct str text); // of an integer

// Names may have parts: `a.shape[0]`. Grammar: + - * / // % unary -, parentheses, min(a,b), max(a,b), cdiv(a,b); division truncates.
// ret[0..2] default to 1. False with a diagnostic (E0724, E0725): bad syntax, unknown name (with a
// suggestion), division by zero, overflow, a result below 1 or above 2^31-1.
bool grid_expr_eval(struct diag_engine *diag, struct span where, const struct grid_names *names,
                    uint32_t ret[3]);
// The same as C expressions of type int64_t over the calls of <tile/pack.h>, which set an `int
// tile_failed` on failure. Known parts are evaluated and checked now.
bool grid_expr_to_c(struct arena *a, struct diag_engine *diag, struct span where,
                    const struct grid_names *names, const char *ret[3]);

#endif
