// SPDX-License-Identifier: Apache-2.0
// Arithmetic of sizes and numbers in the text of a graph. Integers stay size expressions; a float
// computed from sizes (`numel / 16 - 1.0`) becomes a tensor of rank 0, computed by operators of the
// graph in f64, as in Python.
#include "graph/read/fx_reader.h"

#include <math.h>

static bool keep(struct reader *r, const struct expr *e, struct span at, struct arg *ret) {
  *ret = ARG_E(e);
  if (e->count > FX_MAX_TERMS) {
    fx_error(r, at, E1009, "a size of more than %d terms", FX_MAX_TERMS);
    return false;
  }
  if (e->kind == EXPR_CONST && e->overflows) {
    diag_help(fx_error(r, at, E1009, "a number that does not fit 64 bits"),
              "numbers have 64 bits; PyTorch writes 9223372036854775807 for `to the end`");
    return false;
  }
  return true;
}

// Counts a division, remainder, minimum or maximum: these nest, while sums and products are flat.
static bool nest(struct reader *r, struct span at, const struct arg *a) {
  if (a->kind != ARG_INT || expr_is_const(a->number, NULL) || ++r->number_depth <= FX_MAX_DIVISIONS)
    return true;
  fx_error(r, at, E0902, "a size of more than %d divisions", FX_MAX_DIVISIONS);
  return false;
}

// ---- floats ----

bool fx_is_real(const struct reader *r, const struct value *v) {
  return ptrmap_get(&r->reals, v) != NULL;
}

bool fx_is_number(const struct reader *r, const struct arg *a) {
  return a->kind == ARG_INT || a->kind == ARG_FLOAT ||
         (a->kind == ARG_VALUE && fx_is_real(r, a->value));
}

// Constant folding while the text is read.
static bool real_of(const struct arg *a, double *ret) {
  int64_t i;
  if (a->kind == ARG_FLOAT)
    *ret = a->real;
  else if (a->kind == ARG_INT && expr_is_const(a->number, &i))
    *ret = (double)i;
  else
    return false;
  return true;
}

static bool apply(struct reader *r, struct span at, enum operator_id op, const struct arg *args,
                  size_t count, struct arg *ret) {
  if (r->g->nodes.len >= GRAPH_MAX_NODES) {
    fx_error(r, at, E1009, "more than %d operators", GRAPH_MAX_NODES);
    return false;
  }
  struct value *v = graph_apply(r->g, op, args, count, at);
  if (!v)
    return r->failed = true, false;
  ptrmap_put(r->arena, &r->reals, v, v);
  *ret = ARG_V(v);
  return true;
}

// `t`: the dtype of a number that is no tensor yet.
static bool as_real(struct reader *r, struct span at, enum dtype t, struct arg *a) {
  const struct arg args[] = {*a, ARG_D(t)};
  return a->kind == ARG_VALUE || apply(r, at, OP_SCALAR_TENSOR, args, COUNT_OF(args), a);
}

// Annotations of floats are not checked.
static bool unknown_real(struct arg *ret) { return *ret = ARG_F((double)NAN), true; }

static bool is_integer(const struct arg *a) {
  return a->kind == ARG_INT || (a->kind == ARG_VALUE && !dtype_is_float(a->value->dtype));
}

static bool apply_to_both(struct reader *r, struct span at, enum operator_id op,
                          const struct arg *b, struct arg *a) {
  enum dtype t = is_integer(a) && is_integer(b) ? DTYPE_I64 : DTYPE_F64;
  struct arg args[2] = {*a, *b};
  return as_real(r, at, t, &args[0]) && as_real(r, at, t, &args[1]) && apply(r, at, op, args, 2, a);
}

static bool combine_floats(struct reader *r, enum token_kind op, struct span at,
                           const struct arg *b, struct arg *a) {
  enum operator_id id;
  double x = 0, y = 0;
  bool known = real_of(a, &x) && real_of(b, &y);
  if ((op == TOK_DOUBLE_SLASH || op == TOK_PERCENT) && is_integer(a) && is_integer(b))
    return apply_to_both(r, at, op == TOK_PERCENT ? OP_REMAINDER_TENSOR : OP_FLOOR_DIVIDE, b, a);
  switch (op) {
  case TOK_PLUS: x += y, id = OP_ADD_TENSOR; break;
  case TOK_MINUS: x -= y, id = OP_SUB_TENSOR; break;
  case TOK_STAR: x *= y, id = OP_MUL_TENSOR; break;
  case TOK_SLASH: x /= y, id = OP_DIV_TENSOR; break;
  default: fx_error(r, at, E1008, "`%s` of floats", token_kind_text(op)); return false;
  }
  if (known)
    return *a = ARG_F(x), true;
  if (r->in_annotation)
    return unknown_real(a);
  return apply_to_both(r, at, id, b, a);
}

static bool combine_real(struct reader *r, enum token_kind op, struct span at, const struct arg *b,
                         struct arg *a) {
  struct fx_scaled s;
  bool is_scaled = fx_scale(r, op, a, b, &s);
  if (!combine_floats(r, op, at, b, a))
    return false;
  if (is_scaled)
    fx_note_scaled(r, s, a);
  return true;
}

// ---- operators ----

static bool combine_integers(struct reader *r, enum token_kind op, struct span at,
                             const struct expr *b, struct arg *a) {
  struct exprs *x = r->g->exprs;
  if ((op == TOK_DOUBLE_SLASH || op == TOK_PERCENT) && expr_is(b, 0)) {
    diag_help(fx_error(r, at, E1001, "a division by zero"), "mend the size that it divides by");
    return false;
  }
  switch (op) {
  case TOK_PLUS: return keep(r, expr_add(x, a->number, b), at, a);
  case TOK_MINUS: return keep(r, expr_sub(x, a->number, b), at, a);
  case TOK_STAR: return keep(r, expr_mul(x, a->number, b), at, a);
  case TOK_DOUBLE_SLASH: return keep(r, expr_floordiv(x, a->number, b), at, a) && nest(r, at, a);
  default: return keep(r, expr_mod(x, a->number, b), at, a) && nest(r, at, a);
  }
}

bool fx_combine(struct reader *r, enum token_kind op, struct span at, const struct arg *b,
                struct arg *a) {
  if (r->is_poisoned)
    return true;
  if (a->kind == ARG_INT && b->kind == ARG_INT && op != TOK_SLASH)
    return combine_integers(r, op, at, b->number, a);
  if (fx_is_number(r, a) && fx_is_number(r, b))
    return combine_real(r, op, at, b, a);
  diag_help(
      fx_error(r, at, E1008, "`%s` of values that are not numbers", token_kind_text(op)),
      "operators on tensors are written as `torch.ops.aten.add.Tensor(a, b)`: export the graph at "
      "the level of ATen");
  return false;
}

// 1 if e > 0, else 0, for an integer e.
static const struct expr *is_positive(struct exprs *x, const struct expr *e) {
  return expr_max(x, expr_min(x, e, expr_const(x, 1)), expr_const(x, 0));
}

static const struct expr *compare_integers(struct exprs *x, enum token_kind op,
                                           const struct expr *a, const struct expr *b) {
  const struct expr *more = is_positive(x, expr_sub(x, a, b)),
                    *less = is_positive(x, expr_sub(x, b, a)), *one = expr_const(x, 1);
  switch (op) {
  case TOK_GT: return more;
  case TOK_LT: return less;
  case TOK_GE: return expr_sub(x, one, less);
  case TOK_LE: return expr_sub(x, one, more);
  case TOK_NE: return expr_add(x, more, less);
  default: return expr_sub(x, expr_sub(x, one, more), less);
  }
}

bool fx_compare(struct reader *r, enum token_kind op, struct span at, const struct arg *b,
                struct arg *a) {
  static const enum operator_id operators[] = {
      [TOK_LT] = OP_LT_TENSOR, [TOK_GT] = OP_GT_TENSOR, [TOK_LE] = OP_LE_TENSOR,
      [TOK_GE] = OP_GE_TENSOR, [TOK_EQ] = OP_EQ_TENSOR, [TOK_NE] = OP_NE_TENSOR};
  if (a->kind == ARG_INT && b->kind == ARG_INT)
    return keep(r, compare_integers(r->g->exprs, op, a->number, b->number), at, a);
  if (r->in_annotation)
    return unknown_real(a);
  return apply_to_both(r, at, operators[op], b, a);
}

bool fx_power(struct reader *r, struct span at, const struct arg *exponent, struct arg *a) {
  int64_t n = -1;
  if (r->is_poisoned)
    return true;
  if (a->kind != ARG_INT || exponent->kind != ARG_INT || !expr_is_const(exponent->number, &n) ||
      n < 0 || n > 62) {
    fx_error(r, at, E1008, "`**` other than of an integer with a small exponent");
    return false;
  }
  const struct expr *base = a->number;
  *a = arg_int(r->g, 1);
  for (; n > 0; n--)
    if (!keep(r, expr_mul(r->g->exprs, a->number, base), at, a))
      return false;
  return true;
}

bool fx_negate(struct reader *r, struct span at, struct arg *a) {
  if (a->kind == ARG_FLOAT)
    return *a = ARG_F(-a->real), true;
  if (a->kind == ARG_INT)
    return keep(r, expr_muli(r->g->exprs, a->number, -1), at, a);
  if (r->is_poisoned)
    return true;
  if (fx_is_number(r, a) && r->in_annotation)
    return unknown_real(a);
  if (fx_is_number(r, a))
    return apply(r, at, OP_NEG, a, 1, a);
  fx_error(r, at, E1008, "`-` of a value that is not a number");
  return false;
}

// ---- functions ----

static const char *const whole_functions[] = {
    "Max",     "Min",     "max",     "min",     "FloorDiv", "Mod", "PythonMod", "CleanDiv",
    "CeilDiv", "sym_max", "sym_min", "sym_int", "sym_sum",  "Eq",  "Ne"};

// Those of the second row appear in annotations only.
static const char *const real_functions[] = {"sym_float",  "sym_sqrt",     "_sym_sqrt",
                                             "IntTrueDiv", "FloatTrueDiv", "ToFloat",
                                             "FloatPow",   "RoundDecimal", "OpaqueUnaryFn_sqrt"};

static bool is_among(struct str name, const char *const *names, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (str_is(name, names[i]))
      return true;
  return false;
}

static bool is_real_function(struct str name) {
  return is_among(name, real_functions, COUNT_OF(real_functions));
}

bool fx_is_number_function(struct str name) {
  return is_among(name, whole_functions, COUNT_OF(whole_functions)) || is_real_function(name) ||
         fx_is_rounding(name);
}

static const struct expr *fold(struct reader *r, struct str f, const struct expr *a,
                               const struct expr *b) {
  struct exprs *x = r->g->exprs;
  if (str_is(f, "Eq") || str_is(f, "Ne"))
    return compare_integers(x, str_is(f, "Eq") ? TOK_EQ : TOK_NE, a, b);
  if (str_ends(f, "ax"))
    return expr_max(x, a, b);
  if (str_ends(f, "in"))
    return expr_min(x, a, b);
  if (str_ends(f, "sum"))
    return expr_add(x, a, b);
  if (expr_is(b, 0))
    return NULL;
  if (str_ends(f, "Mod"))
    return expr_mod(x, a, b);
  return str_is(f, "CeilDiv") ? expr_cdiv(x, a, b) : expr_floordiv(x, a, b);
}

static bool apply_real_function(struct reader *r, struct str f, struct span at, struct arg a,
                                struct arg *ret) {
  double x;
  struct fx_scaled s;
  bool is_root = str_ends(f, "sqrt"), is_scaled = !is_root && fx_scaled_of(r, &a, &s);
  if (real_of(&a, &x))
    return *ret = ARG_F(is_root ? sqrt(x) : x), true;
  if (!as_real(r, at, DTYPE_F64, &a))
    return false;
  *ret = a;
  if (is_scaled)
    fx_note_scaled(r, s, ret);
  return !is_root || apply(r, at, OP_SQRT, &a, 1, ret);
}

// Of an annotation: only a size times a number is known.
static bool annotated_real(struct reader *r, struct str f, const struct arg *in, size_t count,
                           struct arg *ret) {
  struct fx_scaled s;
  bool divides = str_ends(f, "TrueDiv") && count == 2;
  bool is_scaled = divides ? fx_scale(r, TOK_SLASH, &in[0], &in[1], &s)
                           : str_ends(f, "loat") && count == 1 && fx_scaled_of(r, in, &s);
  unknown_real(ret);
  if (is_scaled)
    fx_note_scaled(r, s, ret);
  return true;
}

// The floats nearest to most decimal fractions are a little more or less than these, so that a
// product is rounded to either side: `int(0.7 * 90)` is 62.
static void report_unrounded(struct reader *r, struct str f, struct span at, const struct arg *a) {
  struct fx_scaled s;
  if (fx_scaled_of(r, a, &s))
    diag_help(
        fx_error(r, at, E1008, "`%.*s` of a size times %.15g%s, which is not exact", STR_ARG(f),
                 s.by, s.plus < 0 || s.plus > 0 ? " plus a fraction" : ""),
        "no fraction gives the same for all sizes (`int(0.7 * 90)` is 62): write whole numbers "
        "in the model, as in `n * 7 // 10`, or pass the result to it as an integer");
  else
    diag_help(fx_error(r, at, E1008, "`%.*s` of a float that is not known", STR_ARG(f)),
              "sizes may be computed from floats as a size times a number: `math_trunc(0.5 * n)`");
}

bool fx_apply_number_function(struct reader *r, struct str f, struct span at, const struct arg *in,
                              size_t count, struct arg *ret) {
  if (r->is_poisoned)
    return *ret = (struct arg){0}, true;
  if (is_real_function(f) && r->in_annotation)
    return annotated_real(r, f, in, count, ret);
  if (is_real_function(f) && count == 1 && fx_is_number(r, in) && str_ends(f, "t"))
    return apply_real_function(r, f, at, *in, ret);
  const struct expr *e =
      count && in[0].kind == ARG_INT && !is_real_function(f) ? in[0].number : NULL;
  if (fx_is_rounding(f) && count == 1 && !(e = fx_rounded(r, f, at, in))) {
    report_unrounded(r, f, at, in);
    return false;
  }
  for (size_t i = 1; e && i < count; i++)
    e = in[i].kind == ARG_INT ? fold(r, f, e, in[i].number) : NULL;
  if (!e) {
    fx_error(r, at, E1001, "`%.*s` needs integers, and no division by zero", STR_ARG(f));
    return false;
  }
  return keep(r, e, at, ret) && nest(r, at, ret);
}
