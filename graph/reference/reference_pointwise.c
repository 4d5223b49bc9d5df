// SPDX-License-Identifier: Apache-2.0
// Pointwise operators: broadcasts operands, converts them to one dtype, then applies a function to
// each element.
#include "graph/reference/reference.h"

#include <math.h>

enum { OPERANDS = 3 };

struct pointwise {
  union element (*f)(const struct pointwise *p, const union element *in);
  enum scalar_op scalar;   // for functions that are one operation
  enum dtype type, result; // computation dtype; result of `f`
  union element number[3]; // further arguments of `f`, of `type`
  bool option;
  // Operands: a tensor, or a converted number.
  unsigned count;
  const struct tensor *in[OPERANDS];
  enum dtype types[OPERANDS]; // what each is converted to
  union element constant[OPERANDS];
  struct tensor *out;
};

static void set_operand(const struct reference_call *c, struct pointwise *p, unsigned k, unsigned i,
                        enum dtype t) {
  p->types[k] = t;
  p->in[k] = call_tensor(c, i);
  if (!p->in[k])
    p->constant[k] = call_element(c, i, t);
  if (p->count <= k)
    p->count = k + 1;
}

static void pointwise_run(void *user, const int64_t *at, const int64_t *step, int64_t length) {
  const struct pointwise *p = user;
  const bool converts = p->result != p->out->dtype;
  for (int64_t i = 0; i < length; i++) {
    union element in[OPERANDS];
    for (unsigned k = 0; k < p->count; k++) {
      if (!p->in[k]) {
        in[k] = p->constant[k];
        continue;
      }
      in[k] = p->in[k]->at[at[1 + k] + i * step[1 + k]];
      if (p->in[k]->dtype != p->types[k])
        in[k] = element_convert(in[k], p->in[k]->dtype, p->types[k]);
    }
    union element e = p->f(p, in);
    p->out->at[at[0] + i * step[0]] = converts ? element_convert(e, p->result, p->out->dtype) : e;
  }
}

static bool run(const struct reference_call *c, struct pointwise *p) {
  static const int64_t nowhere[GRAPH_MAX_RANK];
  struct walk w;
  p->out = c->out[0];
  walk_init(&w, p->out->rank, p->out->shape);
  walk_add_broadcast(&w, p->out);
  for (unsigned k = 0; k < p->count; k++) {
    if (p->in[k])
      walk_add_broadcast(&w, p->in[k]);
    else
      walk_add(&w, 0, nowhere);
  }
  walk_run(c, &w, pointwise_run, p);
  return true;
}

// ---- single operations ----

static union element apply_scalar(const struct pointwise *p, const union element *in) {
  return scalar_eval(p->scalar, p->type, in);
}

bool reference_scalar(struct reference_call *c) {
  const struct operator_row *op = operator_row(c->node->op);
  const struct scalar_row *row = scalar_row(op->scalar);
  struct pointwise p = {.f = apply_scalar, .scalar = op->scalar};
  p.type = op->promotion == PROMOTE_FLOAT ? promote(c->node->args, row->arity, PROMOTE_FLOAT)
                                          : promote(c->node->args, row->arity, PROMOTE_SAME);
  if (scalar_op_is_logical(op->scalar))
    p.type = DTYPE_I1;
  p.result = row->type == 'B' ? DTYPE_I1 : p.type;
  for (unsigned k = 0; k < row->arity; k++)
    set_operand(c, &p, k, k, p.type);
  // A number is rounded to the dtype before comparing, as random numbers are in kernels.
  for (unsigned k = 0; row->type == 'B' && k < row->arity; k++)
    if (!p.in[k])
      p.constant[k] = element_round(p.constant[k], p.type);
  if (c->node->op == OP_POW_TENSOR_SCALAR && dtype_is_float(p.type) &&
      fabs(p.constant[1].real) == 0.5) { // keeps the signs of infinities and zeros
    p.scalar = p.constant[1].real > 0 ? SCALAR_SQRT : SCALAR_RSQRT;
    p.count = 1;
  }
  return run(c, &p);
}

// To or from the bits of floats.
bool reference_bits(struct reference_call *c) {
  bool is_float = dtype_is_float(c->out[0]->dtype);
  struct pointwise p = {.f = apply_scalar, .result = c->out[0]->dtype};
  p.type = call_tensor(c, 0)->dtype;
  p.scalar = is_float ? scalar_from_bits(p.result) : scalar_to_bits(p.type);
  set_operand(c, &p, 0, 0, p.type);
  return run(c, &p);
}

bool reference_where(struct reference_call *c) {
  struct pointwise p = {.f = apply_scalar, .scalar = SCALAR_WHERE};
  p.type = p.result = c->out[0]->dtype;
  set_operand(c, &p, 0, 0, DTYPE_I1);
  set_operand(c, &p, 1, 1, p.type);
  set_operand(c, &p, 2, 2, p.type);
  return run(c, &p);
}

// The first `count` arguments are operands of the promoted dtype; arguments from `from` on are
// numbers.
static struct pointwise prepare(const struct reference_call *c, unsigned count, unsigned from,
                                unsigned numbers) {
  struct pointwise p = {.type = promote(c->node->args, count, PROMOTE_SAME)};
  p.result = p.type;
  for (unsigned k = 0; k < count; k++)
    set_operand(c, &p, k, k, p.type);
  for (unsigned k = 0; k < numbers; k++)
    p.number[k] = call_element(c, from + k, p.type);
  return p;
}

// ---- sums and quotients with more arguments ----

static union element add(const struct pointwise *p, const union element *in) {
  union element scaled[2] = {p->number[0], in[1]};
  union element sum[2] = {in[0], scalar_eval(SCALAR_MUL, p->type, scaled)};
  return scalar_eval(p->scalar, p->type, sum);
}

static union element reverse_sub(const struct pointwise *p, const union element *in) {
  union element scaled[2] = {p->number[0], in[0]};
  union element sum[2] = {in[1], scalar_eval(SCALAR_MUL, p->type, scaled)};
  return scalar_eval(SCALAR_SUB, p->type, sum);
}

bool reference_add(struct reference_call *c) {
  struct pointwise p = prepare(c, 2, 2, 1);
  p.f = add;
  p.scalar = SCALAR_ADD;
  return run(c, &p);
}

bool reference_sub(struct reference_call *c) {
  struct pointwise p = prepare(c, 2, 2, 1);
  p.f = add;
  p.scalar = SCALAR_SUB;
  return run(c, &p);
}

bool reference_rsub(struct reference_call *c) {
  struct pointwise p = prepare(c, 2, 2, 1);
  p.f = reverse_sub;
  return run(c, &p);
}

bool reference_div_mode(struct reference_call *c) {
  struct pointwise p = {.f = apply_scalar, .scalar = SCALAR_DIV};
  if (call_is_word(c, 2, "floor"))
    p.scalar = SCALAR_FLOOR_DIV;
  else if (call_is_word(c, 2, "trunc"))
    p.scalar = SCALAR_TRUNC_DIV;
  p.type = p.result =
      promote(c->node->args, 2, p.scalar == SCALAR_DIV ? PROMOTE_FLOAT : PROMOTE_SAME);
  set_operand(c, &p, 0, 0, p.type);
  set_operand(c, &p, 1, 1, p.type);
  return run(c, &p);
}

// ---- bounds ----

bool reference_clamp(struct reference_call *c) {
  struct pointwise p = {.f = apply_scalar, .scalar = SCALAR_MAXIMUM};
  bool has_low = !node_is_none(c->node, 1), has_high = !node_is_none(c->node, 2);
  p.type = p.result = c->out[0]->dtype;
  set_operand(c, &p, 0, 0, p.type);
  set_operand(c, &p, 1, has_low ? 1 : 0, p.type);
  run(c, &p);
  if (!has_high)
    return true;
  p.scalar = SCALAR_MINIMUM;
  set_operand(c, &p, 1, 2, p.type);
  p.in[0] = c->out[0]; // each element is read before it is written
  return run(c, &p);
}

static union element hardtanh(const struct pointwise *p, const union element *in) {
  union element low[2] = {in[0], p->number[0]};
  union element high[2] = {scalar_eval(SCALAR_MAXIMUM, p->type, low), p->number[1]};
  return scalar_eval(SCALAR_MINIMUM, p->type, high);
}

bool reference_hardtanh(struct reference_call *c) {
  struct pointwise p = prepare(c, 1, 1, 2);
  p.f = hardtanh;
  return run(c, &p);
}

static union element relu(const struct pointwise *p, const union element *in) {
  union element bounds[2] = {in[0], {.integer = 0}}; // all bits zero are 0.0 too
  return scalar_eval(SCALAR_MAXIMUM, p->type, bounds);
}

bool reference_relu(struct reference_call *c) {
  struct pointwise p = prepare(c, 1, 0, 0);
  p.f = relu;
  return run(c, &p);
}

static union element threshold_backward(const struct pointwise *p, const union element *in) {
  union element operands[2] = {in[1], p->number[0]};
  bool stops = scalar_eval(SCALAR_LE, p->type, operands).integer != 0;
  return stops ? (union element){.integer = 0} : in[0];
}

bool reference_threshold_backward(struct reference_call *c) {
  struct pointwise p = prepare(c, 2, 2, 1);
  p.f = threshold_backward;
  return run(c, &p);
}

static union element masked_fill(const struct pointwise *p, const union element *in) {
  (void)p;
  return in[1].integer ? in[2] : in[0];
}

bool reference_masked_fill(struct reference_call *c) {
  struct pointwise p = {.f = masked_fill};
  p.type = p.result = c->out[0]->dtype;
  set_operand(c, &p, 0, 0, p.type);
  set_operand(c, &p, 1, 1, DTYPE_I1);
  set_operand(c, &p, 2, 2, p.type);
  return run(c, &p);
}

// ---- copies ----

static union element same(const struct pointwise *p, const union element *in) {
  (void)p;
  return in[0];
}

static bool convert(struct reference_call *c, unsigned from) {
  struct pointwise p = {.f = same};
  p.type = p.result = c->out[0]->dtype;
  set_operand(c, &p, 0, from, p.type);
  return run(c, &p);
}

bool reference_convert(struct reference_call *c) { return convert(c, 0); }
bool reference_copy(struct reference_call *c) { return convert(c, 1); }

// ---- functions of floats: operands and numbers are floats ----

#define REAL_FUNCTION(name, count, from, numbers, ...)                                             \
  static union element name(const struct pointwise *p, const union element *in) {                  \
    const double x = in[0].real, y = count > 1 ? in[count - 1].real : 0, a = p->number[0].real,    \
                 b = p->number[1].real, s = p->number[2].real;                                     \
    (void)x, (void)y, (void)a, (void)b, (void)s;                                                   \
    return from_real(__VA_ARGS__);                                                                 \
  }                                                                                                \
  bool reference_##name(struct reference_call *c) {                                                \
    struct pointwise p = prepare(c, count, from, numbers);                                         \
    if (!dtype_is_float(p.type))                                                                   \
      return call_fail(c, "integers are not supported here");                                      \
    p.f = name;                                                                                    \
    p.option = c->node->arg_count > count && call_is_word(c, c->node->arg_count - 1, "tanh");      \
    return run(c, &p);                                                                             \
  }

#define SQRT_HALF 0.70710678118654752440
#define TWO_OVER_SQRT_PI 1.12837916709551257390
#define SQRT_TWO_OVER_PI 0.79788456080286535588

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

static double bound(double x, double low, double high) {
  return x < low ? low : x > high ? high : x;
}

static double gelu_of(double x, bool by_tanh) {
  if (by_tanh)
    return 0.5 * x * (1 + tanh(SQRT_TWO_OVER_PI * (x + 0.044715 * x * x * x)));
  return 0.5 * x * (1 + erf(x * SQRT_HALF));
}

static double gelu_slope(double x, bool by_tanh) {
  if (!by_tanh)
    return 0.5 * (1 + erf(x * SQRT_HALF)) +
           x * 0.5 * SQRT_HALF * TWO_OVER_SQRT_PI * exp(-0.5 * x * x);
  double t = tanh(SQRT_TWO_OVER_PI * (x + 0.044715 * x * x * x));
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * SQRT_TWO_OVER_PI * (1 + 3 * 0.044715 * x * x);
}

REAL_FUNCTION(gelu, 1, 0, 0, gelu_of(x, p->option))
REAL_FUNCTION(silu, 1, 0, 0, sigmoid(x) * x)
REAL_FUNCTION(hardswish, 1, 0, 0, bound(x + 3, 0, 6) / 6 * x)
REAL_FUNCTION(hardsigmoid, 1, 0, 0, bound(x + 3, 0, 6) / 6)
REAL_FUNCTION(leaky_relu, 1, 1, 1, x > 0 ? x : x * a)
REAL_FUNCTION(elu, 1, 1, 3, x > 0 ? x * b : expm1(x * s) * a * b)
REAL_FUNCTION(softplus, 1, 1, 2, a *x > b ? x : log1p(exp(x * a)) / a)
// Below, x is the gradient and y the forward operand or result.
REAL_FUNCTION(gelu_backward, 2, 0, 0, gelu_slope(y, p->option) * x)
REAL_FUNCTION(silu_backward, 2, 0, 0, sigmoid(y) * (1 + y * (1 - sigmoid(y))) * x)
REAL_FUNCTION(tanh_backward, 2, 0, 0, (1 - y * y) * x)
REAL_FUNCTION(sigmoid_backward, 2, 0, 0, (1 - y) * y * x)
REAL_FUNCTION(hardswish_backward, 2, 0, 0, y <= -3 ? 0 : y < 3 ? x * (y / 3 + 0.5) : x)
REAL_FUNCTION(hardsigmoid_backward, 2, 0, 0, y > -3 && y < 3 ? x / 6 : 0)
REAL_FUNCTION(hardtanh_backward, 2, 2, 2, y <= a || y >= b ? 0 : x)

static union element dropout_backward(const struct pointwise *p, const union element *in) {
  return from_real(in[0].real * in[1].real * p->number[0].real);
}

bool reference_native_dropout_backward(struct reference_call *c) {
  struct pointwise p = {
      .f = dropout_backward, .type = c->out[0]->dtype, .result = c->out[0]->dtype};
  set_operand(c, &p, 0, 0, p.type);
  set_operand(c, &p, 1, 1, p.type);
  p.number[0] = from_real(call_real(c, 2));
  return run(c, &p);
}
