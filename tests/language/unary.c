// SPDX-License-Identifier: Apache-2.0
// Unary operators and exact functions of one operand.
#include "suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static struct num r_neg(const struct num *in, const void *user) {
  (void)user;
  return dtype_is_float(in->type) ? num_float(in->type, -in->f)
                                  : num_int(in->type, (int64_t)(0 - (uint64_t)in->i));
}

static struct num r_invert(const struct num *in, const void *user) {
  (void)user;
  return num_int(in->type, ~in->i);
}

static struct num r_same(const struct num *in, const void *user) {
  (void)user;
  return *in;
}

static struct num r_abs(const struct num *in, const void *user) {
  bool is_negative = dtype_is_signed(in->type) && in->i < 0;
  if (dtype_is_float(in->type))
    return num_float(in->type, fabs(in->f));
  return is_negative ? r_neg(in, user) : *in;
}

static struct num r_floor(const struct num *in, const void *user) {
  (void)user;
  return num_float(in->type, floor(in->f));
}

static struct num r_ceil(const struct num *in, const void *user) {
  (void)user;
  return num_float(in->type, ceil(in->f));
}

static const struct {
  const char *expr, *kinds;
  struct num (*reference)(const struct num *in, const void *user);
} rows[] = {
    {"-a", "fiu8", r_neg},
    {"+a", "fiu8", r_same},
    {"~a", "iu", r_invert},
    {"abs(a)", "fiu8", r_abs},
    {"tl.abs(a)", "fiu", r_abs},
    {"a.abs()", "f", r_abs},
    {"tl.floor(a)", "f8", r_floor},
    {"tl.ceil(a)", "f8", r_ceil},
    {"tl.math.floor(a)", "f", r_floor},
    {"a.ceil()", "f", r_ceil},
    {"- -a", "fi", r_same},
};

static bool has_kind(const char *kinds, enum dtype t) {
  for (; *kinds; kinds++)
    if (*kinds == num_kind(t))
      return true;
  return false;
}

void family_unary(struct suite *s) {
  for (size_t k = 0; k < COUNT_OF(rows); k++)
    for (enum dtype t = DTYPE_I8; t < DTYPE_F8E4B15; t++) {
      if (!has_kind(rows[k].kinds, t))
        continue;
      struct elementwise e = {.expr = rows[k].expr,
                              .arity = 1,
                              .in = {t},
                              .draw = {num_kind(t) == '8' ? DRAW_FINITE : DRAW_ANY},
                              .out = t,
                              .reference = rows[k].reference};
      char name[64];
      snprintf(name, sizeof name, "%s %s", rows[k].expr, dtype_name(t));
      elementwise_lengths(s, &e, name);
    }
}
