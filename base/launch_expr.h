// SPDX-License-Identifier: Apache-2.0
// Integer expressions over the arguments of a kernel, evaluated on the CPU at each launch: the
// sizes and strides of tensor maps. Postfix: operands first.
#ifndef TILE_BASE_LAUNCH_EXPR_H
#define TILE_BASE_LAUNCH_EXPR_H

#include "base/arena.h"
#include "base/json.h"

enum launch_op {
  LAUNCH_CONST, // number
  LAUNCH_PARAM, // value of the run-time parameter with that number; addresses as integers
  LAUNCH_ADD,
  LAUNCH_SUB,
  LAUNCH_MUL,
  LAUNCH_DIV, // signed, rounds towards zero
  LAUNCH_REM, // of LAUNCH_DIV
  LAUNCH_MIN,
  LAUNCH_MAX, // signed
};

struct launch_term {
  enum launch_op op;
  int64_t number; // of LAUNCH_CONST and LAUNCH_PARAM
};

enum { LAUNCH_EXPR_MAX = 32 }; // terms

struct launch_expr {
  uint32_t count;
  struct launch_term *terms;
};

// Is it well-formed: at most LAUNCH_EXPR_MAX terms, parameters below `params`, one value left?
bool launch_expr_is_valid(const struct launch_expr *e, uint32_t params);

// Its value for these values of the parameters, sign- or zero-extended from their types. False if
// it overflows 64 bits or divides by zero. `e` has to be valid. No allocation; thread-safe.
bool launch_expr_value(const struct launch_expr *e, const int64_t *params, int64_t *ret);

// JSON: an array of numbers, names of operations ("add", ..., "max") and parameters ("p0", "p1").
void launch_expr_write(const struct launch_expr *e, struct json_writer *w);
// False if it is malformed. Terms are allocated in `a`.
bool launch_expr_read(struct arena *a, const struct json *j, struct launch_expr *ret);

#endif
