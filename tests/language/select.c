// SPDX-License-Identifier: Apache-2.0
// where, minimum, maximum, clamp, fma, umulhi, cdiv: functions of two and three operands, including
// NaN and signed zeros.
#include "suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- where ----

static struct num r_where(const struct num *in, const void *user) {
  enum dtype t = *(const enum dtype *)user;
  return num_cast(in[0].i ? in[1] : in[2], t);
}

static void where(struct suite *s, enum dtype a, enum dtype b) {
  enum dtype t = num_promote(a, b, false);
  if (t == DTYPE_NONE)
    return;
  struct elementwise e = {.expr = "where(a, b, c)",
                          .arity = 3,
                          .in = {DTYPE_I1, a, b},
                          .draw = {DRAW_BOOL, DRAW_ANY, DRAW_ANY},
                          .out = t,
                          .reference = r_where,
                          .user = &t,
                          .ulps = a == b ? 0 : 0.5};
  for (int i = 1; i < 3; i++)
    if (dtype_is_float(t) && !dtype_is_float(e.in[i]))
      e.draw[i] = DRAW_SMALL;
  char name[64];
  snprintf(name, sizeof name, "where %s,%s", dtype_name(a), dtype_name(b));
  if (a == b)
    elementwise_lengths(s, &e, name);
  else
    elementwise_once(s, &e, name);
}

// ---- minimum, maximum, clamp ----

struct extreme {
  bool is_maximum, propagates;
  enum dtype type; // of the result
};

static struct num choose(const struct extreme *x, struct num a, struct num b) {
  if (!dtype_is_float(x->type)) {
    bool less = x->type == DTYPE_U64 ? (uint64_t)a.i < (uint64_t)b.i : a.i < b.i;
    return less == x->is_maximum ? b : a;
  }
  if (isnan(a.f) || isnan(b.f))
    return num_float(x->type, x->propagates ? (double)NAN : isnan(a.f) ? b.f : a.f);
  return num_float(x->type, x->is_maximum ? fmax(a.f, b.f) : fmin(a.f, b.f));
}

static struct num r_extreme(const struct num *in, const void *user) {
  const struct extreme *x = user;
  return choose(x, num_cast(in[0], x->type), num_cast(in[1], x->type));
}

static struct num r_clamp(const struct num *in, const void *user) {
  struct extreme x = *(const struct extreme *)user;
  struct num v = num_cast(in[0], x.type), low = num_cast(in[1], x.type),
             high = num_cast(num_round(num_float(in[2].type, in[2].f + 10)), x.type);
  if (isnan(v.f) && dtype_is_float(x.type) && x.propagates)
    return v;
  x.is_maximum = true;
  v = choose(&x, v, low);
  x.is_maximum = false;
  return choose(&x, v, high);
}

// bf16 and 8-bit types become f32.
static enum dtype extreme_type(enum dtype t) {
  return t == DTYPE_BF16 || num_kind(t) == '8' ? DTYPE_F32 : t;
}

static void extremes(struct suite *s, enum dtype t) {
  for (int maximum = 0; maximum < 2; maximum++)
    for (int propagates = 0; propagates < 2; propagates++) {
      struct extreme x = {maximum, propagates, extreme_type(t)};
      char expr[96], name[64];
      const char *what = maximum ? "maximum" : "minimum";
      snprintf(expr, sizeof expr, "%s(a, b%s)", what,
               propagates ? ", propagate_nan=tl.PropagateNan.ALL" : "");
      snprintf(name, sizeof name, "%s%s %s", what, propagates ? " all" : "", dtype_name(t));
      struct elementwise e = {.expr = expr,
                              .arity = 2,
                              .in = {t, t},
                              .draw = {DRAW_ANY, DRAW_ANY},
                              .out = x.type,
                              .reference = r_extreme,
                              .user = &x,
                              .ulps = 0.5};
      elementwise_lengths(s, &e, name);
    }
}

static void clamps(struct suite *s, enum dtype t) {
  for (int propagates = 0; propagates < 2; propagates++) {
    struct extreme x = {false, propagates, extreme_type(t)};
    char name[64];
    snprintf(name, sizeof name, "clamp%s %s", propagates ? " all" : "", dtype_name(t));
    // The bounds in order.
    struct elementwise e = {.expr = propagates
                                        ? "clamp(a, b, c + 10, propagate_nan=tl.PropagateNan.ALL)"
                                        : "clamp(a, b, c + 10)",
                            .arity = 3,
                            .in = {t, t, t},
                            .draw = {DRAW_ANY, DRAW_UNIT, DRAW_UNIT},
                            .out = x.type,
                            .reference = r_clamp,
                            .user = &x,
                            .ulps = 0.5};
    elementwise_lengths(s, &e, name);
  }
}

// ---- arithmetic of three operands, and in half precision ----

static struct num r_fma(const struct num *in, const void *user) {
  (void)user;
  return num_float(in->type, fma(in[0].f, in[1].f, in[2].f));
}

__extension__ typedef unsigned __int128 wide;

static struct num r_umulhi(const struct num *in, const void *user) {
  (void)user;
  unsigned bits = dtype_bits(in->type);
  uint64_t mask = bits == 64 ? UINT64_MAX : UINT32_MAX;
  wide product = (wide)((uint64_t)in[0].i & mask) * ((uint64_t)in[1].i & mask);
  return num_int(in->type, (int64_t)(uint64_t)(product >> bits));
}

static struct num r_cdiv(const struct num *in, const void *user) {
  (void)user;
  return num_int(in->type, (in[0].i + in[1].i) / (in[1].i + 1)); // of b + 1
}

static void arithmetic(struct suite *s) {
  static const enum dtype floats[] = {DTYPE_F16, DTYPE_BF16, DTYPE_F32, DTYPE_F64};
  static const enum dtype ints[] = {DTYPE_I32, DTYPE_U32, DTYPE_I64, DTYPE_U64};
  char name[64];
  for (size_t i = 0; i < COUNT_OF(floats); i++) {
    struct elementwise e = {.expr = "fma(a, b, c)",
                            .arity = 3,
                            .in = {floats[i], floats[i], floats[i]},
                            .draw = {DRAW_ANY, DRAW_ANY, DRAW_ANY},
                            .out = floats[i],
                            .reference = r_fma,
                            .ulps = 0.501};
    snprintf(name, sizeof name, "fma %s", dtype_name(floats[i]));
    elementwise_lengths(s, &e, name);
  }
  for (size_t i = 0; i < COUNT_OF(ints); i++) {
    struct elementwise e = {.expr = "umulhi(a, b)",
                            .arity = 2,
                            .in = {ints[i], ints[i]},
                            .draw = {DRAW_ANY, DRAW_ANY},
                            .out = ints[i],
                            .reference = r_umulhi};
    snprintf(name, sizeof name, "umulhi %s", dtype_name(ints[i]));
    elementwise_lengths(s, &e, name);
    e.expr = "cdiv(a, b + 1)";
    e.draw[0] = e.draw[1] = DRAW_SHIFT; // small and not negative
    e.reference = r_cdiv;
    snprintf(name, sizeof name, "cdiv %s", dtype_name(ints[i]));
    elementwise_lengths(s, &e, name);
  }
}

void family_select(struct suite *s) {
  for (size_t i = 0; i < COUNT_OF(number_types); i++)
    for (size_t j = 0; j < COUNT_OF(number_types); j++)
      where(s, number_types[i], number_types[j]);
  for (size_t i = 0; i < COUNT_OF(number_types); i++)
    extremes(s, number_types[i]);
  for (enum dtype t = DTYPE_F16; t < DTYPE_F8E4B15; t++)
    clamps(s, t);
  arithmetic(s);
}
