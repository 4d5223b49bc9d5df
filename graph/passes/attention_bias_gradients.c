// SPDX-License-Identifier: Apache-2.0
// Gradients of attention whose scores have a bias or a mask: operators like those of
// attention_gradients.c, with kernels that compute the bias (attention_bias_gradients.tile).
#include "graph/passes/attention_gradients.h"

#include <math.h>

static const char source[] = {
#include "attention_bias_gradients.inc"
    0};

// ---- the operators ----

#define PARAMETER(n, t)                                                                            \
  { .name = {n, sizeof n - 1}, .type = t }
#define PARAMETERS                                                                                 \
  {                                                                                                \
    PARAMETER("q", 'T'), PARAMETER("k", 'T'), PARAMETER("v", 'T'), PARAMETER("grad", 'T'),         \
        PARAMETER("lse", 'T'), PARAMETER("delta", 'T'), PARAMETER("bias", 'T'),                    \
        PARAMETER("scale", 'f'), PARAMETER("GROUP", 'i'), PARAMETER("D", 'i'),                     \
        PARAMETER("WIDTH", 'i'), PARAMETER("D_V", 'i'), PARAMETER("WIDTH_V", 'i'),                 \
        PARAMETER("BLOCK_M", 'i'), PARAMETER("BLOCK_N", 'i')                                       \
  }
#define SCHEMA                                                                                     \
  "(Tensor q, Tensor k, Tensor v, Tensor grad, Tensor lse, Tensor delta, Tensor bias, float "      \
  "scale, int GROUP, int D, int WIDTH, int D_V, int WIDTH_V, int BLOCK_M, int BLOCK_N) -> "
#define CONSTANTS "scale GROUP D WIDTH D_V WIDTH_V BLOCK_M BLOCK_N"
#define OF(t) " " t "_start " t "_stride0 " t "_stride1 " t "_stride2"
#define SIZES " q_size0 q_size1 q_size2 k_size1 k_size2" OF("q") OF("k") OF("v") OF("grad")
enum { PARAMETER_COUNT = 15 };
#define OPERATOR(operator, result_list, result_count, kernel_name, given_arguments, blocks, along, \
                 warps, function)                                                                  \
  {                                                                                                \
    .name = "tile." operator".default", .schema = "tile::" operator SCHEMA result_list,            \
    .parameters = PARAMETERS, .count = PARAMETER_COUNT, .results = result_count,                   \
    .given = {.kernel_source = source,                                                             \
              .kernel = kernel_name,                                                               \
              .arguments = "q k v grad lse delta " given_arguments SIZES,                          \
              .constants = CONSTANTS blocks,                                                       \
              .grid = along " * q_size0",                                                          \
              .num_warps = warps},                                                                 \
    .takes_strides = true, .computes_bias = true, .num_stages = 2, .infer = function               \
  }
#define ALONG_KEYS "cdiv(k_size2, BLOCK_N) * k_size1"
#define ALONG_QUERIES "cdiv(q_size2, BLOCK_M) * q_size1"

static bool like_key(const struct custom_operator *o, struct graph *g, const struct node *n,
                     struct custom_type *ret) {
  struct custom_type both[2];
  bool ok = attention_like_keys(o, g, n, both);
  ret[0] = both[0];
  return ok;
}

static bool like_value(const struct custom_operator *o, struct graph *g, const struct node *n,
                       struct custom_type *ret) {
  struct custom_type both[2];
  bool ok = attention_like_keys(o, g, n, both);
  ret[0] = both[1];
  return ok;
}

// The results of each in order: gradients of q; of k and v, or of k, then of v.
static struct custom_operator of_queries =
    OPERATOR("attention_bias_gradient_queries", "Tensor", 1, "attention_bias_queries", "out", "",
             ALONG_QUERIES, 8, attention_like_queries);
static struct custom_operator of_keys =
    OPERATOR("attention_bias_gradient_keys", "(Tensor, Tensor)", 2, "attention_bias_keys",
             "out0 out1", "", ALONG_KEYS, 8, attention_like_keys);
static struct custom_operator of_wide_queries =
    OPERATOR("attention_bias_gradient_wide_queries", "Tensor", 1, "attention_bias_queries", "out",
             "", ALONG_QUERIES, 4, attention_like_queries);
static struct custom_operator of_wide_keys =
    OPERATOR("attention_bias_gradient_wide_keys", "Tensor", 1, "attention_bias_part", "out",
             " OF_VALUES=False", ALONG_KEYS, 4, like_key);
static struct custom_operator of_wide_values =
    OPERATOR("attention_bias_gradient_wide_values", "Tensor", 1, "attention_bias_part", "out",
             " OF_VALUES=True", ALONG_KEYS, 4, like_value);
static struct custom_operator *const of_narrow_heads[] = {&of_queries, &of_keys},
                                     *const of_wide_heads[] = {&of_wide_queries, &of_wide_keys,
                                                               &of_wide_values};

// ---- shapes ----

enum { MOST_WIDTH = 256, LEAST_WIDTH = 16, ALIGNED_BYTES = 16 };

static bool is_row(const struct value *v, enum dtype t, int64_t *ret_columns) {
  return v->dtype == t && expr_is_const(v->shape[3], ret_columns) && *ret_columns > 0 &&
         *ret_columns <= MOST_WIDTH && *ret_columns % (ALIGNED_BYTES / dtype_bytes(t)) == 0;
}

bool attention_bias_gradients_fit(const struct attention_gradients *a) {
  int64_t columns, heads, shared;
  enum dtype t = a->q->dtype;
  return (t == DTYPE_F16 || t == DTYPE_BF16 || t == DTYPE_F32) && is_row(a->q, t, &columns) &&
         is_row(a->k, t, &columns) && is_row(a->v, t, &columns) && is_row(a->grad, t, &columns) &&
         a->v->shape[1] == a->k->shape[1] && expr_is_const(a->q->shape[1], &heads) &&
         expr_is_const(a->k->shape[1], &shared) && shared > 0 && heads > 0 && heads % shared == 0 &&
         a->q->shape[2]->lo >= 1 && a->k->shape[2]->lo >= 1;
}

static int64_t width_of(int64_t columns) {
  int64_t width = LEAST_WIDTH;
  while (width < columns)
    width *= 2;
  return width;
}

enum { WIDE = 128 }; // more columns are wide

struct blocks {
  int64_t m, n;
};

// Bits of the bias that a kernel loads for a score, at most.
static int64_t loaded_bits(const struct attention_gradients *a) {
  const struct value *mask = a->mask;
  bool is_of_pairs = mask && !expr_is(mask->shape[2], 1) && !expr_is(mask->shape[3], 1);
  return !is_of_pairs ? 0 : mask->dtype == DTYPE_I1 ? 8 : dtype_bits(mask->dtype);
}

// Of the walk over keys, or over queries. What is loaded for each score takes shared memory.
static struct blocks blocks_of(const struct decompose *d, const struct attention_gradients *a,
                               int64_t width, bool over_keys) {
  int64_t loaded = loaded_bits(a);
  if (a->q->dtype == DTYPE_F32) // no matrix instructions
    return width > WIDE ? (struct blocks){16, 16} : (struct blocks){32, 32};
  struct blocks narrow = over_keys ? (struct blocks){128, 128} : (struct blocks){64, 128},
                wide = {64, 64};
  if (!d->has_wgmma) {
    narrow = (struct blocks){64, 64}; // does not spill on sm_80
    wide = (struct blocks){32, 32};
  }
  struct blocks blocks = width > WIDE ? wide : narrow;
  bool is_full = width > WIDE || width == WIDE;
  if (loaded > 16 || (loaded && is_full && over_keys) || (loaded && width > WIDE))
    *(over_keys ? &blocks.n : &blocks.m) /= 2;
  return blocks;
}

// ---- building ----

// What is added to a score: mask and causal limit, in f32.
static struct value *bias_of(struct build *b, const struct attention_gradients *a) {
  struct value *bias = build_number(b, 0, DTYPE_F32);
  if (a->mask && a->mask->dtype == DTYPE_I1)
    bias = build_where_else(b, a->mask, bias, -(double)INFINITY);
  else if (a->mask)
    bias = build_convert(b, a->mask, DTYPE_F32);
  if (!a->is_causal)
    return bias;
  struct value *row = build_iota(b, a->q->shape[2], 2, 4),
               *column = build_iota(b, a->k->shape[2], 3, 4);
  return build_where_else(b, build_binop(b, OP_LE_TENSOR, column, row), bias, -(double)INFINITY);
}

bool attention_bias_gradients_build(struct decompose *d, const struct attention_gradients *a,
                                    struct value *ret[static 3]) {
  struct build *b = &d->b;
  struct graph *g = b->g;
  struct dims row = dims_one(3);
  struct value *product = build_mul(b, build_up(b, a->grad), build_up(b, a->out));
  struct value *in[] = {
      a->q, a->k, a->v, a->grad, a->lse, build_sum(b, product, &row, false), bias_of(b, a)};
  int64_t heads = 1, shared = 1, columns = 0, of_values = 0;
  expr_is_const(a->q->shape[1], &heads);
  expr_is_const(a->k->shape[1], &shared);
  expr_is_const(a->q->shape[3], &columns);
  expr_is_const(a->v->shape[3], &of_values);
  int64_t width = width_of(columns), width_v = width_of(of_values);
  int64_t widest = width > width_v ? width : width_v;
  bool is_wide = widest > WIDE;
  size_t operators = is_wide ? COUNT_OF(of_wide_heads) : COUNT_OF(of_narrow_heads);
  for (size_t of = 0; of < operators; of++) {
    struct arg args[PARAMETER_COUNT];
    size_t count = 0;
    for (size_t i = 0; i < COUNT_OF(in); i++) {
      if (!in[i])
        return false;
      args[count++] = TENSOR(in[i]);
    }
    args[count++] = ARG_F(a->scale);
    struct blocks blocks = blocks_of(d, a, widest, of == 0);
    const int64_t numbers[] = {heads / shared, columns,  width,   of_values,
                               width_v,        blocks.m, blocks.n};
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
      args[count++] = arg_int(g, numbers[i]);
    struct custom_operator *o = (is_wide ? of_wide_heads : of_narrow_heads)[of];
    const struct node *n = graph_append_custom(g, attention_operator(o), args, count, b->at);
    if (!n)
      return false;
    for (uint32_t i = 0; i < n->result_count; i++)
      ret[of + i] = n->results[i];
  }
  return true;
}
