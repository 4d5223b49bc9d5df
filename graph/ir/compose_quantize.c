// SPDX-License-Identifier: Apache-2.0
// Composed operators of quantized models: quantization by scale and zero point, products of 8-bit
// integers.
#include "graph/ir/compose.h"

#define X node_value(n, 0)
#define A(i) n->args[i]

// The number or vector of argument i for each element of x; a vector runs along dimension `axis`.
static struct arg along(struct build *b, const struct node *n, unsigned i, const struct value *x,
                        uint32_t axis) {
  struct value *v = node_value(n, i);
  return v && v->rank == 1 ? TENSOR(build_along(b, v, axis, x->rank)) : A(i);
}

// round(x / scale) + zero_point
static struct value *steps_of(struct build *b, struct value *x, struct arg scale, struct arg zero) {
  struct value *steps = scale.kind == ARG_VALUE
                            ? build_mul(b, x, BUILD(b, OP_DIV_TENSOR, ARG_F(1.0), scale))
                            : BUILD(b, OP_MUL_TENSOR, TENSOR(x), ARG_F(1.0 / scale.real));
  return BUILD(b, OP_ADD_TENSOR, TENSOR(build_unop(b, OP_ROUND, steps)), zero);
}

// The same, at least `least` and at most `most`.
static struct value *quantized(struct build *b, struct value *x, struct arg scale, struct arg zero,
                               struct arg least, struct arg most) {
  return BUILD(b, OP_CLAMP, TENSOR(steps_of(b, x, scale, zero)), least, most);
}

static struct value *dequantized(struct build *b, struct value *q, struct arg scale,
                                 struct arg zero) {
  if (zero.kind != ARG_NONE)
    q = BUILD(b, OP_SUB_TENSOR, TENSOR(q), zero);
  return BUILD(b, OP_MUL_TENSOR, TENSOR(q), scale);
}

// x scale zero_point quant_min quant_max dtype
void compose_quantize(struct build *b, struct node *n) {
  struct value *q = quantized(b, build_convert(b, X, DTYPE_F32), A(1), A(2), A(3), A(4));
  n->results[0] = build_convert(b, q, A(5).dtype);
}

// x scales zero_points axis quant_min quant_max dtype
void compose_quantize_channels(struct build *b, struct node *n) {
  struct value *x = build_convert(b, X, DTYPE_F32);
  uint32_t axis = compose_dim(b, n, 3, X->rank);
  struct value *q = quantized(b, x, along(b, n, 1, X, axis), along(b, n, 2, X, axis), A(4), A(5));
  n->results[0] = build_convert(b, q, A(6).dtype);
}

static enum dtype result_dtype(const struct node *n, unsigned i) {
  return A(i).kind == ARG_DTYPE ? A(i).dtype : DTYPE_F32;
}

// x scale zero_point quant_min quant_max dtype out_dtype
void compose_dequantize(struct build *b, struct node *n) {
  n->results[0] = dequantized(b, build_convert(b, X, result_dtype(n, 6)), A(1), A(2));
}

// x scales zero_points axis quant_min quant_max dtype out_dtype
void compose_dequantize_channels(struct build *b, struct node *n) {
  enum dtype t = result_dtype(n, 7);
  uint32_t axis = compose_dim(b, n, 3, X->rank);
  struct value *q =
      dequantized(b, build_convert(b, X, t), along(b, n, 1, X, axis), along(b, n, 2, X, axis));
  n->results[0] = build_convert(b, q, t);
}

// x scale zero_point [axis] quant_min quant_max: quantized and back, and which steps are in range.
void compose_fake_quantize(struct build *b, struct node *n) {
  if (!dtype_is_float(X->dtype)) {
    compose_error(b, n, E1005, "`self` holds %s; floats are quantised", dtype_name(X->dtype));
    return;
  }
  bool by_channel = n->arg_count == 6;
  uint32_t axis = by_channel ? compose_dim(b, n, 3, X->rank) : 0;
  struct arg scale = along(b, n, 1, X, axis), zero = along(b, n, 2, X, axis),
             least = A(n->arg_count - 2), most = A(n->arg_count - 1);
  struct value *q = steps_of(b, build_convert(b, X, DTYPE_F32), scale, zero);
  struct value *whole = dequantized(b, BUILD(b, OP_CLAMP, TENSOR(q), least, most), scale, zero);
  n->results[0] = build_convert(b, whole, X->dtype);
  if (n->result_count > 1)
    n->results[1] = build_binop(b, OP_LOGICAL_AND, BUILD(b, OP_GE_TENSOR, TENSOR(q), least),
                                BUILD(b, OP_LE_TENSOR, TENSOR(q), most));
}

// x scale zero_point enabled quant_min quant_max: the same where `enabled` is not 0
void compose_fake_quantize_if(struct build *b, struct node *n) {
  const struct arg args[] = {A(0), A(1), A(2), arg_int(b->g, 0), A(4), A(5)};
  struct node *both =
      graph_append(b->g, OP_FAKE_QUANTIZE_PER_CHANNEL_MASK, args, COUNT_OF(args), b->at);
  struct value *on = build_int(b, OP_NE_TENSOR, node_value(n, 3), 0);
  if (!both)
    return;
  n->results[0] = build_where(b, on, both->results[0], X);
  n->results[1] =
      build_binop(b, OP_LOGICAL_OR, both->results[1], build_unop(b, OP_LOGICAL_NOT, on));
}

// ---- products ----

// i32 sums of products of 8-bit integers
void compose_int_mm(struct build *b, struct node *n) {
  for (unsigned i = 0; i < 2; i++)
    if (!dtype_is_int(node_value(n, i)->dtype) || dtype_bits(node_value(n, i)->dtype) != 8) {
      compose_error(b, n, E1005, "an operand of %s; both hold 8-bit integers",
                    dtype_name(node_value(n, i)->dtype));
      return;
    }
  n->results[0] = build_binop(b, OP_MM, build_convert(b, X, DTYPE_I32),
                              build_convert(b, node_value(n, 1), DTYPE_I32));
}

// x[m, k], w[n, k] in i8, a scale for each row of w
void compose_int8pack_mm(struct build *b, struct node *n) {
  struct value *w = build_convert(b, node_value(n, 1), X->dtype);
  if (!w || w->rank != 2 || X->rank != 2) {
    if (w)
      compose_error(b, n, E1004, "operands of %u and %u dimensions; both need 2", X->rank, w->rank);
    return;
  }
  struct value *sum = build_binop(b, OP_MM, X, build_swap(b, w, 0, 1));
  n->results[0] = build_convert(b, build_mul(b, sum, node_value(n, 2)), X->dtype);
}
