// SPDX-License-Identifier: Apache-2.0
// Composed pointwise operators: functions of one, two or three operands.
#include "graph/ir/compose.h"

#include <math.h>

#define X node_value(n, 0)
#define Y node_value(n, 1)
#define A(i) n->args[i]

struct value *compose_more(struct build *b, struct value *x, double y) {
  return build_real(b, OP_ADD_TENSOR, x, y);
}

// y - x
struct value *compose_less(struct build *b, double y, struct value *x) {
  return BUILD(b, OP_SUB_TENSOR, ARG_F(y), TENSOR(x));
}

// Integers become floats.
static struct value *real(struct build *b, struct value *x) {
  return x && !dtype_is_float(x->dtype) ? build_convert(b, x, DTYPE_F32) : x;
}

static struct value *is_nan(struct build *b, struct value *x) { return build_unop(b, OP_ISNAN, x); }

// ---- the row's operator `part` ----

void compose_same(struct build *b, struct node *n) {
  n->results[0] = build_apply(b, operator_row(n->op)->part, n->arg_count, n->args);
}

void compose_parts(struct build *b, struct node *n) {
  struct node *all = graph_append(b->g, operator_row(n->op)->part, n->args, n->arg_count, b->at);
  if (all)
    n->result_count = all->result_count, n->results = all->results;
}

// Applies it to each element of the lists.
void compose_foreach(struct build *b, struct node *n) {
  size_t count = 0;
  for (uint32_t k = n->arg_count; k-- > 0;)
    count = n->args[k].kind == ARG_LIST ? n->args[k].list.count : count;
  n->result_count = (uint32_t)count;
  n->results = arena_array(b->g->arena, struct value *, count);
  for (size_t i = 0; i < count; i++) {
    struct arg args[OPERATOR_MAX_PARAMETERS];
    for (uint32_t k = 0; k < n->arg_count; k++) {
      args[k] = n->args[k];
      if (args[k].kind != ARG_LIST)
        continue;
      if (args[k].list.count != count) {
        compose_error(b, n, E1003, "lists of %zu and %zu elements", count, args[k].list.count);
        return;
      }
      args[k] = args[k].list.at[i];
    }
    struct node *one = graph_append(b->g, operator_row(n->op)->part, args, n->arg_count, b->at);
    n->results[i] = one ? one->results[0] : NULL;
  }
}

// ---- sums and products of three operands ----

static struct value *plus_times(struct build *b, struct value *x, struct value *y, struct arg by) {
  double one = by.kind == ARG_FLOAT ? by.real : 0;
  if (one == 1 || (by.kind == ARG_INT && expr_is(by.number, 1)))
    return build_add(b, x, y);
  return build_add(b, x, BUILD(b, OP_MUL_TENSOR, TENSOR(y), by));
}

void compose_addcmul(struct build *b, struct node *n) {
  n->results[0] = plus_times(b, X, build_mul(b, Y, node_value(n, 2)), A(3));
}

void compose_addcdiv(struct build *b, struct node *n) {
  n->results[0] = plus_times(b, X, build_div(b, Y, node_value(n, 2)), A(3));
}

// From the nearer end, so that both ends are exact.
void compose_lerp(struct build *b, struct node *n) {
  struct value *weight = node_value(n, 2);
  if (X->dtype != Y->dtype || (weight && weight->dtype != X->dtype)) {
    compose_error(b, n, E1005, "operands of different dtypes; `self` is %s", dtype_name(X->dtype));
    return;
  }
  struct value *step = build_sub(b, Y, X);
  if (!weight) {
    double w = node_real(n, 2);
    n->results[0] = fabs(w) < 0.5 ? build_add(b, X, build_scale(b, step, w))
                                  : build_sub(b, Y, build_scale(b, step, 1 - w));
    return;
  }
  struct value *near = build_real(b, OP_LT_TENSOR, build_unop(b, OP_ABS, weight), 0.5);
  n->results[0] = build_where(b, near, build_add(b, X, build_mul(b, weight, step)),
                              build_sub(b, Y, build_mul(b, compose_less(b, 1, weight), step)));
}

// ---- two operands ----

void compose_swapped(struct build *b, struct node *n) {
  struct arg args[] = {A(1), A(0)};
  n->results[0] = build_apply(b, operator_row(n->op)->part, 2, args);
}

// The larger one is factored out of the root.
void compose_hypot(struct build *b, struct node *n) {
  struct value *x = build_unop(b, OP_ABS, X), *y = build_unop(b, OP_ABS, Y);
  struct value *most = build_binop(b, OP_MAXIMUM, x, y), *least = build_binop(b, OP_MINIMUM, x, y);
  struct value *ratio = build_div(b, least, most);
  struct value *root = build_unop(b, OP_SQRT, compose_more(b, build_mul(b, ratio, ratio), 1));
  struct value *length =
      build_where(b, build_real(b, OP_EQ_TENSOR, most, 0), most, build_mul(b, most, root));
  // Infinite if one side is, even if the other is NaN.
  struct value *infinite = BUILD(b, OP_LOGICAL_OR, TENSOR(build_real(b, OP_EQ_TENSOR, x, INFINITY)),
                                 TENSOR(build_real(b, OP_EQ_TENSOR, y, INFINITY)));
  n->results[0] = build_where_else(b, build_unop(b, OP_LOGICAL_NOT, infinite), length, INFINITY);
}

// The sign of a zero is that of its reciprocal.
static struct value *is_negative(struct build *b, struct value *x) {
  struct value *below = build_int(b, OP_LT_TENSOR, x, 0);
  if (!x || !dtype_is_float(x->dtype))
    return below;
  struct value *zero = build_real(b, OP_EQ_TENSOR, x, 0);
  struct value *under = build_real(b, OP_LT_TENSOR, build_unop(b, OP_RECIPROCAL, x), 0);
  return build_binop(b, OP_LOGICAL_OR, below, build_binop(b, OP_LOGICAL_AND, zero, under));
}

void compose_signbit(struct build *b, struct node *n) { n->results[0] = is_negative(b, X); }

void compose_copysign(struct build *b, struct node *n) {
  struct value *size = build_unop(b, OP_ABS, real(b, X));
  struct value *other = build_unop(b, OP_NEG, size);
  if (Y)
    n->results[0] = build_where(b, is_negative(b, Y), other, size);
  else
    n->results[0] = signbit(node_real(n, 1)) ? other : size;
}

// If one is NaN, the other.
void compose_fmax(struct build *b, struct node *n) {
  struct value *most = build_binop(b, operator_row(n->op)->part, X, Y);
  n->results[0] = build_where(b, is_nan(b, X), Y, build_where(b, is_nan(b, Y), X, most));
}

// max + log(1 + exp(min - max))
static struct value *log_sum(struct build *b, struct value *x, struct value *y, double base) {
  struct value *most = build_binop(b, OP_MAXIMUM, x, y);
  struct value *gap = build_unop(b, OP_NEG, build_unop(b, OP_ABS, build_sub(b, x, y)));
  struct value *part =
      build_unop(b, OP_LOG1P, build_unop(b, OP_EXP, build_scale(b, gap, log(base))));
  struct value *sum = build_add(b, most, build_scale(b, part, 1 / log(base)));
  struct value *equal = build_binop(b, OP_EQ_TENSOR, x, y); // both may be infinite
  struct value *endless = build_unop(b, OP_ISINF, x);
  return build_where(b, build_binop(b, OP_LOGICAL_AND, equal, endless), x, sum);
}

void compose_logaddexp(struct build *b, struct node *n) {
  n->results[0] = log_sum(b, X, Y, exp(1));
}

void compose_logaddexp2(struct build *b, struct node *n) { n->results[0] = log_sum(b, X, Y, 2); }

void compose_ldexp(struct build *b, struct node *n) {
  n->results[0] = build_mul(b, real(b, X), build_unop(b, OP_EXP2, real(b, Y)));
}

void compose_heaviside(struct build *b, struct node *n) {
  struct value *step = build_convert(b, build_real(b, OP_GT_TENSOR, X, 0), X->dtype);
  n->results[0] = build_where(b, build_real(b, OP_EQ_TENSOR, X, 0), Y, step);
}

// x log y, 0 for x = 0
void compose_xlogy(struct build *b, struct node *n) {
  struct arg y = A(1);
  if (!Y)
    y = ARG_V(build_number(b, node_real(n, 1), X->dtype));
  struct value *x = X ? X : build_number(b, node_real(n, 0), Y->dtype);
  struct value *product =
      build_mul(b, x, build_unop(b, operator_row(n->op)->part, real(b, y.value)));
  struct value *zero = build_int(b, OP_EQ_TENSOR, x, 0);
  struct value *none =
      build_binop(b, OP_LOGICAL_AND, zero, build_unop(b, OP_LOGICAL_NOT, is_nan(b, y.value)));
  n->results[0] = build_where_else(b, build_unop(b, OP_LOGICAL_NOT, none), product, 0);
}

void compose_where_numbers(struct build *b, struct node *n) {
  struct arg args[3] = {A(0), A(1), A(2)};
  struct value *other = node_value(n, 1) ? node_value(n, 1) : node_value(n, 2);
  enum dtype t = other ? promote(n->args + 1, 2, PROMOTE_SAME) : DTYPE_NONE;
  for (int i = 1; i < 3 && other; i++)
    if (args[i].kind != ARG_VALUE)
      args[i] = TENSOR(build_number(b, node_real(n, (unsigned)i), t));
  n->results[0] = build_apply(b, OP_WHERE_SELF, 3, args);
}

// ---- one operand ----

static struct value *log_by(struct build *b, struct value *x, double base) {
  return build_scale(b, build_unop(b, OP_LOG, real(b, x)), 1 / log(base));
}

void compose_log10(struct build *b, struct node *n) { n->results[0] = log_by(b, X, 10); }

void compose_square(struct build *b, struct node *n) { n->results[0] = build_mul(b, X, X); }

void compose_frac(struct build *b, struct node *n) {
  n->results[0] = build_sub(b, X, build_unop(b, OP_TRUNC, X));
}

// The sign of x times a function of |x|.
static struct value *odd(struct build *b, struct value *x, struct value *of_size) {
  return build_where(b, is_negative(b, x), build_unop(b, OP_NEG, of_size), of_size);
}

// log1p(s + s^2 / (1 + sqrt(1 + s^2))), or log(s) + log(2) if the square overflows
void compose_asinh(struct build *b, struct node *n) {
  struct value *x = build_up(b, real(b, X)), *s = build_unop(b, OP_ABS, x);
  struct value *square = build_mul(b, s, s);
  struct value *root = build_unop(b, OP_SQRT, compose_more(b, square, 1));
  struct value *near =
      build_unop(b, OP_LOG1P, build_add(b, s, build_div(b, square, compose_more(b, root, 1))));
  struct value *far = compose_more(b, build_unop(b, OP_LOG, s), log(2));
  struct value *y = build_where(b, build_real(b, OP_GT_TENSOR, s, 1e9), far, near);
  n->results[0] = build_convert(b, odd(b, x, y), real(b, X)->dtype);
}

// log1p(t + sqrt(2 t + t^2)) of t = x - 1
void compose_acosh(struct build *b, struct node *n) {
  struct value *x = build_up(b, real(b, X)), *t = compose_more(b, x, -1);
  struct value *root = build_unop(b, OP_SQRT, build_mul(b, t, compose_more(b, t, 2)));
  struct value *near = build_unop(b, OP_LOG1P, build_add(b, t, root));
  struct value *far = compose_more(b, build_unop(b, OP_LOG, x), log(2));
  struct value *y = build_where(b, build_real(b, OP_GT_TENSOR, x, 1e9), far, near);
  struct value *below = build_real(b, OP_LT_TENSOR, x, 1);
  y = build_where_else(b, build_unop(b, OP_LOGICAL_NOT, below), y, (double)NAN);
  n->results[0] = build_convert(b, y, real(b, X)->dtype);
}

// log1p(2 s / (1 - s)) / 2
void compose_atanh(struct build *b, struct node *n) {
  struct value *x = build_up(b, real(b, X)), *s = build_unop(b, OP_ABS, x);
  struct value *ratio = build_div(b, build_scale(b, s, 2), compose_less(b, 1, s));
  struct value *y = build_scale(b, build_unop(b, OP_LOG1P, ratio), 0.5);
  n->results[0] = build_convert(b, odd(b, x, y), real(b, X)->dtype);
}

// log(x / (1 - x)), x clamped to [eps, 1 - eps]
void compose_logit(struct build *b, struct node *n) {
  struct value *x = X;
  if (!node_is_none(n, 1)) {
    double eps = node_real(n, 1);
    x = build_real(b, OP_MINIMUM, build_real(b, OP_MAXIMUM, x, eps), 1 - eps);
  }
  n->results[0] = build_unop(b, OP_LOG, build_div(b, x, compose_less(b, 1, x)));
}

void compose_nan_to_num(struct build *b, struct node *n) {
  struct value *x = X;
  n->results[0] = x;
  if (!dtype_is_float(x->dtype)) {
    n->results[0] = BUILD(b, OP_CLONE, TENSOR(x));
    return;
  }
  double largest = x->dtype == DTYPE_F16    ? 65504
                   : x->dtype == DTYPE_BF16 ? 0x1.fep127
                   : x->dtype == DTYPE_F64  ? 0x1.fffffffffffffp1023
                                            : 0x1.fffffep127;
  double nan = node_is_none(n, 1) ? 0 : node_real(n, 1),
         high = node_is_none(n, 2) ? largest : node_real(n, 2),
         low = node_is_none(n, 3) ? -largest : node_real(n, 3);
  struct value *y = build_where_else(b, build_real(b, OP_NE_TENSOR, x, INFINITY), x, high);
  y = build_where_else(b, build_real(b, OP_NE_TENSOR, x, -INFINITY), y, low);
  n->results[0] = build_where_else(b, build_unop(b, OP_LOGICAL_NOT, is_nan(b, x)), y, nan);
}

// sin(pi x) / (pi x)
void compose_sinc(struct build *b, struct node *n) {
  struct value *x = build_up(b, real(b, X)), *is_zero = build_real(b, OP_EQ_TENSOR, x, 0);
  if (!is_zero)
    return;
  struct value *one = build_number(b, 1, x->dtype); // the quotient has a gradient everywhere
  struct value *t = build_scale(b, build_where(b, is_zero, one, x), 3.14159265358979323846);
  struct value *y = build_div(b, build_unop(b, OP_SIN, t), t);
  struct value *near = build_scale(b, build_mul(b, x, x), -1.64493406684822643647); // -pi^2 / 6
  n->results[0] =
      build_convert(b, build_where(b, is_zero, compose_more(b, near, 1), y), real(b, X)->dtype);
}

// -x log x
void compose_entr(struct build *b, struct node *n) {
  struct value *x = X, *y = build_mul(b, build_unop(b, OP_NEG, x), build_unop(b, OP_LOG, x));
  y = build_where_else(b, build_real(b, OP_NE_TENSOR, x, 0), y, 0);
  n->results[0] = build_where_else(
      b, build_unop(b, OP_LOGICAL_NOT, build_real(b, OP_LT_TENSOR, x, 0)), y, -INFINITY);
}
