// SPDX-License-Identifier: Apache-2.0
// Conversions between all pairs of types, with values that round, wrap, saturate and tie; rounding
// toward zero; bit casts; conversions by stores.
#include "suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct row {
  enum dtype to;
  bool toward_zero, bitcast;
};

static struct num truncated(struct num v, enum dtype to) {
  struct num r = num_cast(v, to);
  if (isnan(v.f) || isinf(v.f) || fabs(r.f) <= fabs(v.f))
    return r;
  // The neighbour toward zero: one less in the magnitude's bits.
  char bytes[8] = {0};
  uint64_t bits = 0;
  num_store(bytes, r);
  memcpy(&bits, bytes, dtype_bytes(to));
  bits--;
  memcpy(bytes, &bits, dtype_bytes(to));
  return num_load(to, bytes);
}

static struct num reference(const struct num *in, const void *user) {
  const struct row *r = user;
  char bytes[8];
  if (r->bitcast) {
    num_store(bytes, in[0]);
    return num_load(r->to, bytes);
  }
  return r->toward_zero ? truncated(in[0], r->to) : num_cast(in[0], r->to);
}

// Out-of-range conversions to integers are unspecified, so such values are not drawn.
static enum draw draw_of(enum dtype from, enum dtype to) {
  if (!dtype_is_float(from))
    return DRAW_ANY;
  if (to == DTYPE_I1 || dtype_is_float(to))
    return DRAW_ANY;
  return dtype_is_signed(to) ? DRAW_SMALL : DRAW_BOOL;
}

static void cast(struct suite *s, enum dtype from, enum dtype to) {
  struct row r = {.to = to};
  char expr[64], name[64];
  snprintf(expr, sizeof expr, "a.to(tl.%s)", dtype_language_name(to));
  snprintf(name, sizeof name, "to %s,%s", dtype_name(from), dtype_name(to));
  struct elementwise e = {.expr = expr,
                          .arity = 1,
                          .in = {from},
                          .draw = {draw_of(from, to)},
                          .out = to,
                          .reference = reference,
                          .user = &r,
                          .ulps = 0.5};
  if (num_kind(from) == '8' || num_kind(to) == '8') // infinities differ between the formats
    e.draw[0] = dtype_is_float(from) && e.draw[0] == DRAW_ANY ? DRAW_FINITE : e.draw[0];
  if (!dtype_is_float(from) && dtype_is_float(to) && dtype_bits(to) <= 16)
    e.draw[0] = DRAW_SMALL;
  elementwise_lengths(s, &e, name);
}

static void toward_zero(struct suite *s, enum dtype from, enum dtype to) {
  struct row r = {.to = to, .toward_zero = true};
  char expr[96], name[64];
  snprintf(expr, sizeof expr, "tl.cast(a, tl.%s, fp_downcast_rounding=\"rtz\")",
           dtype_language_name(to));
  snprintf(name, sizeof name, "rtz %s,%s", dtype_name(from), dtype_name(to));
  struct elementwise e = {.expr = expr,
                          .arity = 1,
                          .in = {from},
                          .draw = {DRAW_FINITE},
                          .out = to,
                          .reference = reference,
                          .user = &r};
  elementwise_lengths(s, &e, name);
}

static void bitcast(struct suite *s, enum dtype from, enum dtype to) {
  struct row r = {.to = to, .bitcast = true};
  char expr[64], name[64];
  snprintf(expr, sizeof expr, "a.to(tl.%s, bitcast=True)", dtype_language_name(to));
  snprintf(name, sizeof name, "bitcast %s,%s", dtype_name(from), dtype_name(to));
  struct elementwise e = {.expr = expr,
                          .arity = 1,
                          .in = {from},
                          .draw = {DRAW_ANY},
                          .out = to,
                          .reference = reference,
                          .user = &r};
  if (from == DTYPE_F8E4B15) // the reference stores no 1.875
    e.draw[0] = DRAW_UNIT;
  if (dtype_bytes(from) != dtype_bytes(to) || from == DTYPE_I1 || to == DTYPE_I1)
    return;
  elementwise_once(s, &e, name);
}

// A store converts to the pointer's element type, as a cast does.
static void stored(struct suite *s, enum dtype from, enum dtype to) {
  enum { N = 100 };
  if (!case_begin(s, "store %s to %s", dtype_name(from), dtype_name(to)))
    return;
  case_source(s,
              "@jit\ndef k(x, out):\n    i = arange(0, 128)\n    m = i < %d\n"
              "    store(out + i, load(x + i, mask=m), mask=m)\n",
              N);
  struct array *x = case_input(s, from, N), *out = case_output(s, to, N);
  bool is_small = !dtype_is_float(from) && dtype_is_float(to);
  array_draw(s, x, is_small ? DRAW_SMALL : draw_of(from, to));
  if (num_kind(from) == '8' || num_kind(to) == '8')
    array_draw(s, x, DRAW_BOOL);
  if (case_run(s, 1))
    for (size_t i = 0; i < N; i++)
      case_expect(s, out, i, num_cast(array_get(x, i), to), 0.5, 0);
  case_end(s);
}

// All patterns of a type of up to 16 bits.
static void every_pattern(struct suite *s, enum dtype from, enum dtype to) {
  size_t n = (size_t)1 << dtype_bits(from);
  if (!case_begin(s, "every %s to %s", dtype_name(from), dtype_name(to)))
    return;
  case_source(s,
              "@jit\ndef k(x, out):\n    i = program_id(0) * 256 + arange(0, 256)\n"
              "    store(out + i, load(x + i).to(tl.%s))\n",
              dtype_language_name(to));
  struct array *x = case_input(s, from, n), *out = case_output(s, to, n);
  for (size_t i = 0; i < n; i++)
    memcpy(x->host + i * dtype_bytes(from), &i, dtype_bytes(from));
  bool ran = case_run(s, (unsigned)(n / 256));
  for (size_t i = 0; ran && i < n; i++) {
    struct num want = num_cast(array_get(x, i), to);
    if (isnan(array_get(x, i).f) && to == DTYPE_F8E4B15) // the signs of NaN are not kept everywhere
      want.f = copysign(want.f, array_get(out, i).f);
    case_expect(s, out, i, want, 0, 0);
  }
  case_end(s);
}

void family_cast(struct suite *s) {
  static const enum dtype others[] = {DTYPE_F16, DTYPE_BF16, DTYPE_F32, DTYPE_F64, DTYPE_F8E5};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    every_pattern(s, DTYPE_F8E4B15, others[i]);
    if (dtype_bits(others[i]) <= 16)
      every_pattern(s, others[i], DTYPE_F8E4B15);
  }
  for (enum dtype from = DTYPE_I1; from < DTYPE_COUNT; from++)
    for (enum dtype to = DTYPE_I1; to < DTYPE_COUNT; to++) {
      cast(s, from, to);
      bitcast(s, from, to);
      stored(s, from, to);
    }
  toward_zero(s, DTYPE_F32, DTYPE_F16);
  toward_zero(s, DTYPE_F32, DTYPE_BF16);
  toward_zero(s, DTYPE_F64, DTYPE_F32);
}
