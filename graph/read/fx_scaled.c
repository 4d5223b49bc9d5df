// SPDX-License-Identifier: Apache-2.0
// Floats that are a size times a number (`2.0 * n`, `n / 4`), plus a number (`n - 0.5`), which
// become sizes again when they are rounded: `math_trunc(2.0 * n)`, in annotations
// `TruncToInt(2.0*ToFloat(s0))`.
#include "graph/ir/sizes.h"
#include "graph/read/fx_reader.h"

#include <math.h>

static bool number_of(const struct arg *a, double *ret) {
  int64_t n;
  if (a->kind == ARG_FLOAT)
    return *ret = a->real, true;
  if (a->kind != ARG_INT || !expr_is_const(a->number, &n))
    return false;
  return *ret = (double)n, true;
}

bool fx_scaled_of(const struct reader *r, const struct arg *a, struct fx_scaled *ret) {
  const struct fx_scaled *known = a->kind == ARG_VALUE ? ptrmap_get(&r->scaled, a->value) : NULL;
  if (known)
    return *ret = *known, true;
  if (a->kind != ARG_INT || expr_is_const(a->number, NULL))
    return false;
  return *ret = (struct fx_scaled){1, 0, a->number}, true;
}

bool fx_scale(const struct reader *r, enum token_kind op, const struct arg *a, const struct arg *b,
              struct fx_scaled *ret) {
  double by;
  bool swaps = (op == TOK_STAR || op == TOK_PLUS) && number_of(a, &by) && fx_scaled_of(r, b, ret);
  if (!swaps && (!number_of(b, &by) || !fx_scaled_of(r, a, ret)))
    return false;
  switch (op) {
  case TOK_STAR: ret->by *= by, ret->plus *= by; return true;
  case TOK_SLASH: ret->by /= by, ret->plus /= by; return true;
  case TOK_PLUS: ret->plus += by; return true;
  case TOK_MINUS: ret->plus -= by; return true;
  default: return false;
  }
}

void fx_note_scaled(struct reader *r, struct fx_scaled s, struct arg *a) {
  if (r->in_annotation) { // a float that only stands for itself
    struct value *v = arena_new(r->arena, struct value);
    v->dtype = DTYPE_F64;
    ptrmap_put(r->arena, &r->reals, v, v);
    *a = ARG_V(v);
  }
  if (a->kind == ARG_VALUE)
    ptrmap_put(r->arena, &r->scaled, a->value,
               arena_dup(r->arena, &s, sizeof s, _Alignof(struct fx_scaled)));
}

bool fx_is_rounding(struct str name) {
  static const char *const names[] = {"math_trunc", "math_floor", "math_ceil", "trunc",
                                      "TruncToInt", "FloorToInt", "CeilToInt"};
  for (size_t i = 0; i < COUNT_OF(names); i++)
    if (str_is(name, names[i]))
      return true;
  return false;
}

// by n + plus, where both are multiples of 2^-10, so that floats hold it.
static const struct expr *rounded_sum(struct exprs *x, const struct fx_scaled *s, bool up,
                                      bool to_zero) {
  const double unit = 0x1p10;
  double by = s->by * unit, plus = s->plus * unit;
  if (fabs(by) > 0x1p30 || fabs(plus) > 0x1p30 || by != floor(by) || plus != floor(plus))
    return NULL;
  const struct expr *sum = expr_addi(x, expr_muli(x, s->of, (int64_t)by), (int64_t)plus);
  if (to_zero && sum->lo < 0)
    return NULL;
  const struct expr *whole = expr_const(x, (int64_t)unit);
  return up ? expr_cdiv(x, sum, whole) : expr_floordiv(x, sum, whole);
}

const struct expr *fx_rounded(struct reader *r, struct str name, struct span at,
                              const struct arg *a) {
  struct fx_scaled s;
  double x;
  bool up = str_is(name, "math_ceil") || str_is(name, "CeilToInt"),
       is_floor = str_ends(name, "floor") || str_is(name, "FloorToInt");
  if (a->kind == ARG_INT)
    return a->number;
  if (number_of(a, &x)) {
    x = up ? ceil(x) : is_floor ? floor(x) : trunc(x);
    return fabs(x) <= GRAPH_MAX_SIZE ? expr_const(r->g->exprs, (int64_t)x) : NULL;
  }
  if (!fx_scaled_of(r, a, &s))
    return NULL;
  if (s.plus < 0 || s.plus > 0)
    return rounded_sum(r->g->exprs, &s, up, !up && !is_floor);
  return graph_scaled_size(r->g, s.of, s.by, up, at);
}
