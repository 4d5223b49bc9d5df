// SPDX-License-Identifier: Apache-2.0
// Binary operators: every pair of types with its promotion, literals on either side, boundary
// lengths.
#include "suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct operator{
  const char *token;
  bool divides, ints_only;
  enum draw left, right;
};

static const struct operator operators[] = {
    {"+", false, false, DRAW_ANY, DRAW_ANY},    {"-", false, false, DRAW_ANY, DRAW_ANY},
    {"*", false, false, DRAW_ANY, DRAW_ANY},    {"/", true, false, DRAW_NONZERO, DRAW_NONZERO},
    {"//", true, true, DRAW_ANY, DRAW_NONZERO}, {"%", true, false, DRAW_NONZERO, DRAW_NONZERO},
    {"&", false, true, DRAW_ANY, DRAW_ANY},     {"|", false, true, DRAW_ANY, DRAW_ANY},
    {"^", false, true, DRAW_ANY, DRAW_ANY},     {"<<", false, true, DRAW_ANY, DRAW_SHIFT},
    {">>", false, true, DRAW_ANY, DRAW_SHIFT},
};

// ---- reference ----

static uint64_t quotient(struct num a, struct num b) {
  return dtype_is_signed(a.type) ? (uint64_t)(a.i / b.i) : (uint64_t)a.i / (uint64_t)b.i;
}

static uint64_t remainder_of(struct num a, struct num b) {
  return dtype_is_signed(a.type) ? (uint64_t)(a.i % b.i) : (uint64_t)a.i % (uint64_t)b.i;
}

// The bits of `a`, read as a signed number of its width.
static uint64_t shift_signed(struct num a, uint64_t by) {
  unsigned unused = 64 - 8 * (unsigned)dtype_bytes(a.type);
  return (uint64_t)((int64_t)((uint64_t)a.i << unused) >> unused >> by);
}

// Both have the promoted type. `keeps_sign`: right shifts are arithmetic.
static struct num compute_int(const char *token, struct num a, struct num b, bool keeps_sign) {
  uint64_t x = (uint64_t)a.i, y = (uint64_t)b.i, r = 0;
  switch (token[0]) {
  case '+': r = x + y; break;
  case '-': r = x - y; break;
  case '*': r = x * y; break;
  case '/': r = quotient(a, b); break;
  case '%': r = remainder_of(a, b); break;
  case '&': r = x & y; break;
  case '|': r = x | y; break;
  case '^': r = x ^ y; break;
  case '<': r = x << y; break;
  case '>': r = keeps_sign ? shift_signed(a, y) : x >> y; break;
  }
  return num_int(a.type, (int64_t)r);
}

static struct num compute_float(const char *token, struct num a, struct num b) {
  double r = 0;
  switch (token[0]) {
  case '+': r = a.f + b.f; break;
  case '-': r = a.f - b.f; break;
  case '*': r = a.f * b.f; break;
  case '/': r = a.f / b.f; break;
  case '%': r = fmod(a.f, b.f); break;
  }
  return num_float(a.type, r);
}

// The promoted type of the operands; `/` of integers is in f32.
static enum dtype meeting_type(const struct operator* o, enum dtype a, enum dtype b) {
  enum dtype t = num_promote(a, b, o->divides);
  return t != DTYPE_NONE && !dtype_is_float(t) && strcmp(o->token, "/") == 0 ? DTYPE_F32 : t;
}

struct row {
  const struct operator* o;
  enum dtype type;           // the operands meet in
  const struct num *literal; // one of the operands, or NULL
  bool is_left;              // the literal
};

static struct num reference(const struct num *in, const void *user) {
  const struct row *r = user;
  struct num a = in[0], b = in[1];
  if (r->literal) {
    b = r->is_left ? in[0] : *r->literal;
    a = r->is_left ? *r->literal : in[0];
  }
  // As in Triton, the left operand's own type (with a literal, the tile's) decides whether zeros
  // are shifted in.
  bool keeps_sign = dtype_is_signed(r->literal ? in[0].type : a.type);
  a = num_cast(a, r->type);
  b = num_cast(b, r->type);
  return dtype_is_float(r->type) ? compute_float(r->o->token, a, b)
                                 : compute_int(r->o->token, a, b, keeps_sign);
}

// ---- cases ----

static double ulps_of(const struct operator* o, enum dtype t) {
  if (!dtype_is_float(t))
    return 0;
  return o->token[0] == '/' && t == DTYPE_F32 ? 2 : 0.501;
}

// Of a size that the type of the result holds.
static enum draw draw_of(const struct operator* o, bool is_right, enum dtype own, enum dtype met) {
  enum draw d = is_right ? o->right : o->left;
  if (d == DRAW_ANY && !dtype_is_float(own) && dtype_is_float(met))
    return DRAW_SMALL;
  if (d == DRAW_NONZERO && num_kind(own) != num_kind(met) && met == DTYPE_F16)
    return DRAW_SMALL;
  return d == DRAW_ANY && num_kind(met) == '8' ? DRAW_FINITE : d;
}

static void pair(struct suite *s, const struct operator* o, enum dtype a, enum dtype b) {
  struct row r = {.o = o, .type = meeting_type(o, a, b)};
  char expr[32], name[64];
  snprintf(expr, sizeof expr, "a %s b", o->token);
  snprintf(name, sizeof name, "%s %s,%s", o->token, dtype_name(a), dtype_name(b));
  struct elementwise e = {.expr = expr, .arity = 2, .in = {a, b}};
  if (r.type == DTYPE_NONE || (o->ints_only && dtype_is_float(r.type))) {
    bool mixed_signs = !dtype_is_float(a) && !dtype_is_float(b);
    elementwise_refuse(s, &e, name, mixed_signs ? "E0210" : "E0203");
    return;
  }
  e.draw[0] = draw_of(o, false, a, r.type);
  e.draw[1] = draw_of(o, true, b, r.type);
  e.out = r.type;
  e.reference = reference;
  e.user = &r;
  e.ulps = ulps_of(o, r.type);
  if (a == b)
    elementwise_lengths(s, &e, name);
  else
    elementwise_once(s, &e, name);
}

// A literal takes the other operand's type where its kind is not higher.
static void literal(struct suite *s, const struct operator* o, enum dtype t, const char *text,
                    bool is_left) {
  bool is_float = strchr(text, '.') != NULL;
  enum dtype own = is_float ? DTYPE_F32 : DTYPE_I32;
  enum dtype adopted = is_float && !dtype_is_float(t) ? own : t;
  enum dtype met = meeting_type(o, t, adopted);
  if (o->ints_only && dtype_is_float(met))
    return;
  struct num value = num_number(adopted, strtod(text, NULL));
  struct row r = {o, met, &value, is_left};
  char expr[32], name[64];
  snprintf(expr, sizeof expr, "%s %s %s", is_left ? text : "a", o->token, is_left ? "a" : text);
  snprintf(name, sizeof name, "%s %s", expr, dtype_name(t));
  struct elementwise e = {.expr = expr,
                          .arity = 1,
                          .in = {t},
                          .draw = {draw_of(o, is_left, t, met)},
                          .out = met,
                          .reference = reference,
                          .user = &r,
                          .ulps = ulps_of(o, met)};
  elementwise_once(s, &e, name);
}

static void operator_cases(struct suite *s, const struct operator* o) {
  static const enum dtype small[] = {DTYPE_F8E5, DTYPE_F8E4NV};
  for (size_t i = 0; i < COUNT_OF(number_types); i++) {
    enum dtype t = number_types[i];
    for (size_t j = 0; j < COUNT_OF(number_types); j++)
      pair(s, o, t, number_types[j]);
    for (int left = 0; left < 2; left++) {
      literal(s, o, t, "3", left);
      literal(s, o, t, "2.5", left);
    }
  }
  for (size_t i = 0; i < COUNT_OF(small) && !o->ints_only; i++) {
    for (size_t j = 0; j < COUNT_OF(small); j++)
      pair(s, o, small[i], small[j]);
    for (size_t j = 0; j < COUNT_OF(number_types); j++)
      pair(s, o, small[i], number_types[j]);
  }
}

void family_binary(struct suite *s) {
  for (size_t k = 0; k < COUNT_OF(operators); k++)
    operator_cases(s, &operators[k]);
}
