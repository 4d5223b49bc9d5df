// SPDX-License-Identifier: Apache-2.0
// Gradients of attention with any function of its scores: operators like those of
// attention_gradients.c, with kernels that compute the function (attention_score_gradients.tile).
#include "graph/passes/attention_gradients.h"

static const char source[] = {
#include "attention_score_gradients.inc"
    0};

// ---- the operators ----

#define PARAMETER(n, t)                                                                            \
  { .name = {n, sizeof n - 1}, .type = t }
#define OPTIONAL(n)                                                                                \
  { .name = {n, sizeof n - 1}, .type = 'T', .is_optional = true }
#define PARAMETERS                                                                                 \
  {                                                                                                \
    PARAMETER("q", 'T'), PARAMETER("k", 'T'), PARAMETER("v", 'T'), PARAMETER("grad", 'T'),         \
        PARAMETER("lse", 'T'), PARAMETER("delta", 'T'), PARAMETER("product", 'T'),                 \
        PARAMETER("score", 'T'), PARAMETER("derivative", 'T'), OPTIONAL("first"), OPTIONAL("end"), \
        OPTIONAL("first_query"), OPTIONAL("end_query"), OPTIONAL("kept"), PARAMETER("GROUP", 'i'), \
        PARAMETER("D", 'i'), PARAMETER("WIDTH", 'i'), PARAMETER("D_V", 'i'),                       \
        PARAMETER("WIDTH_V", 'i'), PARAMETER("BLOCK_M", 'i'), PARAMETER("BLOCK_N", 'i')            \
  }
#define SCHEMA                                                                                     \
  "(Tensor q, Tensor k, Tensor v, Tensor grad, Tensor lse, Tensor delta, Tensor product, Tensor "  \
  "score, Tensor derivative, Tensor? first, Tensor? end, Tensor? first_query, Tensor? end_query, " \
  "Tensor? kept, int GROUP, int D, int WIDTH, int D_V, int WIDTH_V, int BLOCK_M, int "             \
  "BLOCK_N) -> "
#define CONSTANTS "GROUP D WIDTH D_V WIDTH_V BLOCK_M BLOCK_N"
#define OF(t) " " t "_start " t "_stride0 " t "_stride1 " t "_stride2"
#define SIZES " q_size0 q_size1 q_size2 k_size1 k_size2" OF("q") OF("k") OF("v") OF("grad")
enum { PARAMETER_COUNT = 21 };
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
    .takes_strides = true, .computes_scores = true, .num_stages = 2, .infer = function             \
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

static bool like_all(const struct custom_operator *o, struct graph *g, const struct node *n,
                     struct custom_type *ret) {
  return attention_like_queries(o, g, n, ret) && attention_like_keys(o, g, n, ret + 1);
}

// The results of each in order: gradients of q; of k and v, or of k, then of v; or all three.
static struct custom_operator of_queries =
    OPERATOR("attention_score_gradient_queries", "Tensor", 1, "attention_score_queries", "out", "",
             ALONG_QUERIES, 8, attention_like_queries);
static struct custom_operator of_keys =
    OPERATOR("attention_score_gradient_keys", "(Tensor, Tensor)", 2, "attention_score_keys",
             "out0 out1", "", ALONG_KEYS, 8, attention_like_keys);
static struct custom_operator of_wide_queries =
    OPERATOR("attention_score_gradient_wide_queries", "Tensor", 1, "attention_score_queries", "out",
             "", ALONG_QUERIES, 4, attention_like_queries);
static struct custom_operator of_wide_keys =
    OPERATOR("attention_score_gradient_wide_keys", "Tensor", 1, "attention_score_part", "out",
             " OF_VALUES=False", ALONG_KEYS, 4, like_key);
static struct custom_operator of_wide_values =
    OPERATOR("attention_score_gradient_wide_values", "Tensor", 1, "attention_score_part", "out",
             " OF_VALUES=True", ALONG_KEYS, 4, like_value);
static struct custom_operator of_short_rows =
    OPERATOR("attention_score_gradient_short_rows", "(Tensor, Tensor, Tensor)", 3,
             "attention_score_whole", "out0 out1 out2", "", "q_size1", 4, like_all);
static struct custom_operator of_short_queries =
    OPERATOR("attention_score_gradient_short_queries", "Tensor", 1, "attention_score_queries",
             "out", "", ALONG_QUERIES, 4, attention_like_queries);
static struct custom_operator of_short_keys =
    OPERATOR("attention_score_gradient_short_keys", "(Tensor, Tensor)", 2, "attention_score_keys",
             "out0 out1", "", ALONG_KEYS, 4, attention_like_keys);
static struct custom_operator *const of_rows_at_once[] = {&of_short_rows},
                                     *const of_short_heads[] = {&of_short_queries, &of_short_keys},
                                     *const of_narrow_heads[] = {&of_queries, &of_keys},
                                     *const of_wide_heads[] = {&of_wide_queries, &of_wide_keys,
                                                               &of_wide_values};

// ---- shapes ----

enum { MOST_WIDTH = 256, LEAST_WIDTH = 16, ALIGNED_BYTES = 16 };

static bool is_row(const struct value *v, enum dtype t, int64_t *ret_columns) {
  return v->dtype == t && expr_is_const(v->shape[3], ret_columns) && *ret_columns > 0 &&
         *ret_columns <= MOST_WIDTH && *ret_columns % (ALIGNED_BYTES / dtype_bytes(t)) == 0;
}

// grad:0 query:1 key:2 value:3 logsumexp:4 delta:5 product:6 score:7 factor:8 scale:9
bool attention_score_gradients_fit(const struct node *n) {
  const struct value *grad = node_value(n, 0), *q = node_value(n, 1), *k = node_value(n, 2),
                     *v = node_value(n, 3);
  int64_t columns, heads, shared;
  enum dtype t = q->dtype;
  return (t == DTYPE_F16 || t == DTYPE_BF16 || t == DTYPE_F32) && is_row(q, t, &columns) &&
         is_row(k, t, &columns) && is_row(v, t, &columns) && is_row(grad, t, &columns) &&
         v->shape[1] == k->shape[1] && expr_is_const(q->shape[1], &heads) &&
         expr_is_const(k->shape[1], &shared) && shared > 0 && heads > 0 && heads % shared == 0 &&
         q->shape[2]->lo >= 1 && k->shape[2]->lo >= 1;
}

static int64_t width_of(int64_t columns) {
  int64_t width = LEAST_WIDTH;
  while (width < columns)
    width *= 2;
  return width;
}

enum {
  WIDE = 128, // more columns are wide
  SHORT = 64, // rows of at most so many queries or keys are one block
  FEW_COLUMNS = 64
};

bool attention_rows_are_short(const struct value *q, const struct value *k) {
  return q->shape[2]->hi <= SHORT && k->shape[2]->hi <= SHORT;
}

struct blocks {
  int64_t m, n;
};

enum { MOST_BEHIND = 64 }; // values looked at

// Bits that a kernel loads for a score, at most: of tensors of pairs behind it.
static int64_t loaded_bits(const struct value *v, const struct value *product, int *seen) {
  int64_t bits = 0;
  if (!v || v == product || ++*seen > MOST_BEHIND)
    return 0;
  if (!v->def || operator_row(v->def->op)->class == CLASS_GATHER) {
    bool is_of_pairs = v->rank > 1 && !expr_is(v->shape[v->rank - 1], 1) &&
                       !expr_is(v->shape[v->rank - 2], 1) && v->shape[v->rank - 2]->hi > 1;
    return !is_of_pairs ? 0 : dtype_bits(v->dtype) < 8 ? 8 : dtype_bits(v->dtype);
  }
  for (uint32_t i = 0; i < v->def->arg_count; i++)
    if (v->def->args[i].kind == ARG_VALUE)
      bits += loaded_bits(v->def->args[i].value, product, seen);
  return bits;
}

// Of the walk over keys, or over queries. What is loaded for each score takes shared memory.
static struct blocks blocks_of(const struct decompose *d, const struct node *n, int64_t width,
                               bool over_keys) {
  int seen = 0;
  int64_t loaded = loaded_bits(node_value(n, 7), node_value(n, 6), &seen);
  if (node_value(n, 1)->dtype == DTYPE_F32) // no matrix instructions
    return width > WIDE ? (struct blocks){16, 16} : (struct blocks){32, 32};
  struct blocks narrow = over_keys ? (struct blocks){128, 128} : (struct blocks){64, 128},
                wide = {64, 64};
  if (!d->has_wgmma) {
    narrow = (struct blocks){64, 64}; // does not spill on sm_80
    wide = (struct blocks){32, 32};
  }
  bool is_short = attention_rows_are_short(node_value(n, 1), node_value(n, 2));
  struct blocks blocks = width > WIDE ? wide : is_short ? (struct blocks){SHORT, SHORT} : narrow;
  bool is_full = width > WIDE || width == WIDE;
  if (is_short && width <= WIDE)
    return blocks;
  if (loaded > 16 || (loaded && is_full && over_keys) || (loaded && width > WIDE))
    *(over_keys ? &blocks.n : &blocks.m) /= 2;
  return blocks;
}

// ---- building ----

struct widths {
  int64_t group, columns, of_values; // heads of queries for each of keys; of q and k, of v
  int64_t widest;                    // power of two
};

static struct widths widths_of(const struct node *n) {
  const struct value *q = node_value(n, 1), *k = node_value(n, 2), *v = node_value(n, 3);
  struct widths w = {1, 0, 0, 0};
  int64_t heads = 1, shared = 1;
  expr_is_const(q->shape[1], &heads);
  expr_is_const(k->shape[1], &shared);
  expr_is_const(q->shape[3], &w.columns);
  expr_is_const(v->shape[3], &w.of_values);
  w.group = heads / shared;
  w.widest = width_of(w.columns > w.of_values ? w.columns : w.of_values);
  return w;
}

static size_t put_sizes(struct decompose *d, const struct node *n, bool over_keys, struct arg *to) {
  struct widths w = widths_of(n);
  struct blocks blocks = blocks_of(d, n, w.widest, over_keys);
  const int64_t numbers[] = {
      w.group,  w.columns, width_of(w.columns), w.of_values, width_of(w.of_values),
      blocks.m, blocks.n};
  for (size_t i = 0; i < COUNT_OF(numbers); i++)
    to[i] = arg_int(d->b.g, numbers[i]);
  return COUNT_OF(numbers);
}

// The operators that give the three gradients together.
static struct custom_operator *const *operators_of(const struct node *n) {
  struct widths w = widths_of(n);
  const struct value *q = node_value(n, 1);
  if (w.widest > WIDE)
    return of_wide_heads;
  if (!attention_rows_are_short(q, node_value(n, 2)) || q->dtype == DTYPE_F32)
    return of_narrow_heads;
  return w.group == 1 && w.widest <= FEW_COLUMNS ? of_rows_at_once : of_short_heads;
}

bool attention_score_gradients_build(struct decompose *d, const struct node *n,
                                     struct value **ret) {
  enum { TENSORS = 14, DERIVATIVE = 8 };
  // Of the node's operands.
  static const unsigned order[TENSORS] = {1, 2, 3, 0, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14};
  struct arg args[PARAMETER_COUNT];
  struct custom_operator *const *operators = operators_of(n);
  for (size_t i = 0; i < TENSORS; i++)
    args[i] = ARG_V(node_value(n, order[i]));
  args[DERIVATIVE] = TENSOR(build_scale(&d->b, node_value(n, 8), node_real(n, 9)));
  for (size_t of = 0, given = 0; given < 3; of++) {
    size_t count = TENSORS + put_sizes(d, n, of == 0, args + TENSORS);
    const struct node *part =
        graph_append_custom(d->b.g, attention_operator(operators[of]), args, count, d->b.at);
    if (!part)
      return false;
    for (uint32_t i = 0; i < part->result_count; i++)
      decompose_give(d, n, ret, (uint32_t)given++, part->results[i]);
  }
  return true;
}
