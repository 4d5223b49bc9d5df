// SPDX-License-Identifier: Apache-2.0
// Gradients of attention by kernels of their own (attention_gradients.h): two operators that have a
// kernel, as those of users have (include/tile/operator.h).
#include "graph/passes/attention_gradients.h"

#include "graph/ir/custom.h"

static const char source[] = {
#include "attention_gradients.inc"
    0};

// ---- the operators ----

// Both have six tensors, whose strides the kernels get, and numbers, which are their constants.
#define PARAMETER(n, t)                                                                            \
  { .name = {n, sizeof n - 1}, .type = t }
#define TENSORS                                                                                    \
  PARAMETER("q", 'T'), PARAMETER("k", 'T'), PARAMETER("v", 'T'), PARAMETER("grad", 'T'),           \
      PARAMETER("lse", 'T'), PARAMETER("delta", 'T')
#define FORM PARAMETER("scale", 'f'), PARAMETER("IS_CAUSAL", 'b')
#define BLOCKS                                                                                     \
  PARAMETER("GROUP", 'i'), PARAMETER("D", 'i'), PARAMETER("WIDTH", 'i'),                           \
      PARAMETER("BLOCK_M", 'i'), PARAMETER("BLOCK_N", 'i')
#define OF(t) " " t "_start " t "_stride0 " t "_stride1 " t "_stride2"
#define SIZES " q_size0 q_size1 q_size2 k_size1 k_size2" OF("q") OF("k") OF("v") OF("grad")
enum { MOST_PARAMETERS = 14 };

static struct custom_type type_of(const struct value *v) {
  struct custom_type t = {.dtype = v->dtype, .rank = v->rank};
  for (uint32_t i = 0; i < v->rank; i++)
    t.shape[i] = v->shape[i];
  return t;
}

bool attention_like_keys(const struct custom_operator *o, struct graph *g, const struct node *n,
                         struct custom_type *ret) {
  (void)o, (void)g;
  ret[0] = type_of(node_custom_args(n)[1].value);
  ret[1] = type_of(node_custom_args(n)[2].value);
  return true;
}

bool attention_like_queries(const struct custom_operator *o, struct graph *g, const struct node *n,
                            struct custom_type *ret) {
  (void)o, (void)g;
  ret[0] = type_of(node_custom_args(n)[0].value);
  return true;
}

static struct custom_operator of_keys_operator = {
    .name = "tile.attention_gradient_keys.default",
    .schema =
        "tile::attention_gradient_keys(Tensor q, Tensor k, Tensor v, Tensor grad, Tensor lse, "
        "Tensor delta, float scale, bool IS_CAUSAL, bool HAS_ROWS, int GROUP, int D, int WIDTH, "
        "int BLOCK_M, int BLOCK_N) -> (Tensor, Tensor)",
    .parameters = {TENSORS, FORM, PARAMETER("HAS_ROWS", 'b'), BLOCKS},
    .count = MOST_PARAMETERS,
    .results = 2,
    .given = {.kernel_source = source,
              .kernel = "attention_keys",
              .arguments = "q k v grad lse delta out0 out1" SIZES,
              .constants = "scale IS_CAUSAL HAS_ROWS GROUP D WIDTH BLOCK_M BLOCK_N",
              .grid = "cdiv(k_size2, BLOCK_N) * k_size1 * k_size0",
              .num_warps = 8},
    .takes_strides = true,
    .num_stages = 2, // three take up to 20 % longer (128 columns, causal)
    .infer = attention_like_keys};

static struct custom_operator of_queries_operator = {
    .name = "tile.attention_gradient_queries.default",
    .schema =
        "tile::attention_gradient_queries(Tensor q, Tensor k, Tensor v, Tensor grad, Tensor "
        "lse, Tensor delta, float scale, bool IS_CAUSAL, bool IS_WHOLE, int GROUP, int D, int "
        "WIDTH, int BLOCK_M, int BLOCK_N) -> Tensor",
    .parameters = {TENSORS, FORM, PARAMETER("IS_WHOLE", 'b'), BLOCKS},
    .count = MOST_PARAMETERS,
    .results = 1,
    .given = {.kernel_source = source,
              .kernel = "attention_queries",
              .arguments = "q k v grad lse delta out" SIZES,
              .constants = "scale IS_CAUSAL IS_WHOLE GROUP D WIDTH BLOCK_M BLOCK_N",
              .grid = "cdiv(q_size2, BLOCK_M) * q_size1 * q_size0",
              .num_warps = 8},
    .takes_strides = true,
    .num_stages = 2,
    .infer = attention_like_queries};

// In the table from the first graph on that has one; a second thread's attempt is refused.
const struct custom_operator *attention_operator(struct custom_operator *o) {
  if (!custom_find(str_from(o->name)))
    custom_add(o);
  return o;
}

// ---- building ----

enum {
  MOST_WIDTH = 128,
  LEAST_WIDTH = 16,
  ALIGNED_COLUMNS = 8,
  FEW_COLUMNS = 64,
  CHUNK = 16 /* bytes */
};

static bool constant_dim(const struct value *v, uint32_t dim, int64_t *ret) {
  return expr_is_const(v->shape[dim], ret) && *ret > 0;
}

bool attention_gradients_fit(const struct attention_gradients *a) {
  int64_t columns, of_values, heads, of_keys;
  enum dtype t = a->q->dtype;
  return (t == DTYPE_F16 || t == DTYPE_BF16) && a->k->dtype == t && a->v->dtype == t &&
         a->grad->dtype == t && constant_dim(a->q, 3, &columns) &&
         constant_dim(a->v, 3, &of_values) && columns == of_values &&
         columns % ALIGNED_COLUMNS == 0 && columns <= MOST_WIDTH && constant_dim(a->q, 1, &heads) &&
         constant_dim(a->k, 1, &of_keys) && heads % of_keys == 0 && a->q->shape[2]->lo >= 1 &&
         a->k->shape[2]->lo >= 1;
}

struct blocks {
  int64_t m, n;
};

static const struct blocks queries_by_wgmma = {128, 128}, by_mma = {64, 64}; // no spills on sm_80

// A thread holds the gradients of keys and values: with 128 columns blocks of queries are half.
static struct blocks keys_by_wgmma(const struct attention_gradients *a) {
  int64_t columns = 0;
  expr_is_const(a->q->shape[3], &columns);
  return (struct blocks){columns > FEW_COLUMNS ? 64 : 128, 128};
}

static size_t put_blocks(struct graph *g, const struct attention_gradients *a,
                         const struct blocks *blocks, struct arg *to) {
  int64_t columns = 0, heads = 0, of_keys = 1, width = LEAST_WIDTH;
  expr_is_const(a->q->shape[3], &columns);
  expr_is_const(a->q->shape[1], &heads);
  expr_is_const(a->k->shape[1], &of_keys);
  while (width < columns)
    width *= 2;
  const int64_t numbers[] = {heads / of_keys, columns, width, blocks->m, blocks->n};
  for (size_t i = 0; i < COUNT_OF(numbers); i++)
    to[i] = arg_int(g, numbers[i]);
  return COUNT_OF(numbers);
}

bool attention_gradients_build(struct decompose *d, const struct attention_gradients *a,
                               struct value *ret[static 3]) {
  struct build *b = &d->b;
  struct graph *g = b->g;
  const struct blocks keys = d->has_wgmma ? keys_by_wgmma(a) : by_mma,
                      queries = d->has_wgmma ? queries_by_wgmma : by_mma;
  struct dims row = dims_one(3);
  struct value *product = build_mul(b, build_up(b, a->grad), build_up(b, a->out));
  struct value *in[] = {a->q, a->k, a->v, a->grad, a->lse, build_sum(b, product, &row, false)};
  struct arg args[MOST_PARAMETERS];
  size_t n = 0;
  for (size_t i = 0; i < COUNT_OF(in); i++) {
    if (!in[i])
      return false;
    args[n++] = TENSOR(in[i]);
  }
  args[n++] = ARG_F(a->scale);
  args[n++] = ARG_B(a->is_causal);
  args[n] = ARG_B(expr_is_multiple(a->q->shape[2], CHUNK / (int64_t)sizeof(float)));
  size_t count = n + 1 + put_blocks(g, a, &keys, args + n + 1);
  const struct node *k = graph_append_custom(g, attention_operator(&of_keys_operator), args, count, b->at);
  args[n] = ARG_B(expr_is_multiple(a->k->shape[2], queries.n));
  count = n + 1 + put_blocks(g, a, &queries, args + n + 1);
  const struct node *q = graph_append_custom(g, attention_operator(&of_queries_operator), args, count, b->at);
  if (!k || !q)
    return false;
  ret[0] = q->results[0];
  ret[1] = k->results[0];
  ret[2] = k->results[1];
  return true;
}
