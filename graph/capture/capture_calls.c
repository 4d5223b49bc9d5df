// SPDX-License-Identifier: Apache-2.0
// The calls that apply one operator: those of the table, and those whose arguments need conversion.
#include "graph/capture/capture.h"

#define APPLY(g, name, ...)                                                                        \
  tile_graph_apply((g), (name), (const tile_operand[]){__VA_ARGS__},                               \
                   sizeof((const tile_operand[]){__VA_ARGS__}) / sizeof(tile_operand))
#define T(v) tile_g_tensor(v)
#define I(n) tile_g_int(n)
#define B(b) tile_g_bool(b)

// A number as operand: integral numbers keep the dtype of integer tensors.
static tile_operand number_for(enum dtype t, double number) {
  bool is_whole = number >= -9e15 && number <= 9e15 && (double)(int64_t)number == number;
  return dtype_is_float(t) || !is_whole ? tile_g_real(number) : tile_g_int((int64_t)number);
}

static tile_operand number_beside(const tile_value *x, double number) {
  return number_for(x->v->dtype, number);
}

// The sizes of v's last `rank` dimensions, over which a norm is computed.
static size_t last_sizes(const tile_value *v, int rank, int64_t *ret) {
  for (int i = 0; i < rank; i++)
    ret[i] = tile_value_size(v, i - rank);
  return (size_t)rank;
}

#define UNARY(name, operator)                                                                      \
  tile_value *tile_##name(tile_value *x) { return x ? APPLY(x->graph, operator, T(x)) : NULL; }
#define BINARY(name, operator)                                                                     \
  tile_value *tile_##name(tile_value *a, tile_value *b) {                                          \
    return a && b ? APPLY(a->graph, operator, T(a), T(b)) : NULL;                                  \
  }
#define NUMBER(name, operator)                                                                     \
  tile_value *tile_##name(tile_value *x, double number) {                                          \
    return x ? APPLY(x->graph, operator, T(x), number_beside(x, number)) : NULL;                   \
  }
#define none tile_g_none()
#define ints tile_g_ints(NULL, 0)
#define REDUCE(name, operator, all)                                                                \
  tile_value *tile_##name(tile_value *x, const int64_t *dims, size_t count, int keeps) {           \
    return x ? APPLY(x->graph, operator, T(x), count ? tile_g_ints(dims, count) : all, B(keeps))   \
             : NULL;                                                                               \
  }
#define DIM(name, operator)                                                                        \
  tile_value *tile_##name(tile_value *x, int64_t dim) {                                            \
    return x ? APPLY(x->graph, operator, T(x), I(dim)) : NULL;                                     \
  }
#define LIST(name, operator)                                                                       \
  tile_value *tile_##name(tile_value *x, const int64_t *numbers, size_t count) {                   \
    return x ? APPLY(x->graph, operator, T(x), tile_g_ints(numbers, count)) : NULL;                \
  }
#include "graph/capture/capture_calls.def"
#undef none
#undef ints

tile_value *tile_where(tile_value *condition, tile_value *a, tile_value *b) {
  return condition && a && b ? APPLY(condition->graph, "aten.where.self", T(condition), T(a), T(b))
                             : NULL;
}

tile_value *tile_clamp(tile_value *x, double lo, double hi) {
  return x ? APPLY(x->graph, "aten.clamp.default", T(x), number_beside(x, lo), number_beside(x, hi))
           : NULL;
}

tile_value *tile_gelu_tanh(tile_value *x) {
  return x ? APPLY(x->graph, "aten.gelu.default", T(x), tile_g_word("tanh")) : NULL;
}

tile_value *tile_convert(tile_value *x, tile_type dtype) {
  return x ? APPLY(x->graph, "prims.convert_element_type.default", T(x), tile_g_dtype(dtype))
           : NULL;
}

tile_value *tile_var(tile_value *x, const int64_t *dims, size_t count, double correction,
                     int keeps) {
  return x ? APPLY(x->graph, "aten.var.correction", T(x),
                   count ? tile_g_ints(dims, count) : tile_g_none(), tile_g_real(correction),
                   B(keeps))
           : NULL;
}

tile_value *tile_argmax(tile_value *x, int64_t dim, int keeps) {
  return x ? APPLY(x->graph, "aten.argmax.default", T(x), I(dim), B(keeps)) : NULL;
}

tile_value *tile_layer_norm(tile_value *x, tile_value *weight, tile_value *bias, double eps) {
  int64_t sizes[GRAPH_MAX_RANK];
  if (!x || !weight || !bias)
    return NULL;
  size_t rank = last_sizes(weight, tile_value_rank(weight), sizes);
  return APPLY(x->graph, "aten.native_layer_norm.default", T(x), tile_g_ints(sizes, rank),
               T(weight), T(bias), tile_g_real(eps));
}

tile_value *tile_rms_norm(tile_value *x, tile_value *weight, double eps) {
  int64_t sizes[GRAPH_MAX_RANK];
  if (!x || !weight)
    return NULL;
  size_t rank = last_sizes(weight, tile_value_rank(weight), sizes);
  return APPLY(x->graph, "aten._fused_rms_norm.default", T(x), tile_g_ints(sizes, rank), T(weight),
               tile_g_real(eps));
}

tile_value *tile_linear(tile_value *x, tile_value *weight, tile_value *bias) {
  return x && weight && bias ? APPLY(x->graph, "aten.linear.default", T(x), T(weight), T(bias))
                             : NULL;
}

static tile_value *attention(tile_value *q, tile_value *k, tile_value *v, tile_operand mask,
                             int is_causal, double scale) {
  return APPLY(q->graph, "aten.scaled_dot_product_attention.default", T(q), T(k), T(v), mask,
               tile_g_real(0), B(is_causal), scale == 0 ? tile_g_none() : tile_g_real(scale));
}

tile_value *tile_attention(tile_value *q, tile_value *k, tile_value *v, int is_causal,
                           double scale) {
  return q && k && v ? attention(q, k, v, tile_g_none(), is_causal, scale) : NULL;
}

tile_value *tile_masked_attention(tile_value *q, tile_value *k, tile_value *v, tile_value *mask,
                                  double scale) {
  return q && k && v && mask ? attention(q, k, v, T(mask), 0, scale) : NULL;
}

tile_value *tile_transpose(tile_value *x, int64_t dim0, int64_t dim1) {
  return x ? APPLY(x->graph, "aten.transpose.int", T(x), I(dim0), I(dim1)) : NULL;
}

tile_value *tile_select(tile_value *x, int64_t dim, int64_t index) {
  return x ? APPLY(x->graph, "aten.select.int", T(x), I(dim), I(index)) : NULL;
}

tile_value *tile_slice(tile_value *x, int64_t dim, int64_t start, int64_t end, int64_t step) {
  return x ? APPLY(x->graph, "aten.slice.Tensor", T(x), I(dim), I(start), I(end), I(step)) : NULL;
}

tile_value *tile_cat(tile_value *const *values, size_t count, int64_t dim) {
  for (size_t i = 0; i < count; i++)
    if (!values || !values[i])
      return NULL;
  return count ? APPLY(values[0]->graph, "aten.cat.default", tile_g_tensors(values, count), I(dim))
               : NULL;
}

tile_value *tile_gather(tile_value *x, int64_t dim, tile_value *index) {
  return x && index ? APPLY(x->graph, "aten.gather.default", T(x), I(dim), T(index)) : NULL;
}

tile_value *tile_full(tile_graph *g, const int64_t *shape, size_t rank, double number,
                      tile_type dtype) {
  if (!g)
    return NULL;
  enum dtype t = (unsigned)dtype < DTYPE_COUNT ? (enum dtype)dtype : DTYPE_F32;
  return APPLY(g, "aten.full.default", tile_g_ints(shape, rank), number_for(t, number),
               tile_g_dtype(dtype));
}

tile_value *tile_arange(tile_graph *g, int64_t end) {
  return g ? APPLY(g, "aten.arange.default", I(end), tile_g_dtype(TILE_I64)) : NULL;
}
