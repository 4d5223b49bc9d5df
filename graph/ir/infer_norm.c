// SPDX-License-Identifier: Apache-2.0
// Results of norms, losses and attention.
#include "graph/ir/infer.h"

static enum dtype wide(enum dtype t) { return t == DTYPE_F16 || t == DTYPE_BF16 ? DTYPE_F32 : t; }

// ---- softmax ----

bool infer_softmax(struct infer *in) {
  const struct value *v = infer_value(in, 0);
  const struct arg *last = &in->n->args[2];
  uint32_t d;
  enum dtype t = last->kind == ARG_DTYPE ? last->dtype : v->dtype;
  if (last->kind == ARG_BOOL && last->truth)
    t = DTYPE_F32;
  if (!infer_dim(in, 1, v->rank, &d))
    return false;
  if (last->kind == ARG_DTYPE && !dtype_is_float(t))
    return infer_error(in, E1005, "a result of dtype %s; floats are required", dtype_name(t));
  return dtype_is_float(t) ? infer_contiguous_like(in, 0, t, v) : infer_wants_float(in, v, "self");
}

static bool check_same_shape(struct infer *in, const struct value *a, const struct value *b) {
  bool same = a->rank == b->rank;
  for (uint32_t d = 0; d < a->rank && same; d++)
    same = infer_same_size(in, a->shape[d], b->shape[d]);
  return same || infer_error(in, E1004, "operands of different shapes, %s and %s",
                             infer_type_text(in, a), infer_type_text(in, b));
}

bool infer_softmax_backward(struct infer *in) {
  const struct value *grad = infer_value(in, 0), *output = infer_value(in, 1);
  uint32_t d;
  return infer_dim(in, 2, grad->rank, &d) && check_same_shape(in, grad, output) &&
         infer_contiguous_like(in, 0, in->n->args[3].dtype, grad);
}

// ---- norms over the last dimensions ----

// The number of leading dimensions outside of `normalized_shape`, argument i, which must equal the
// last sizes of v.
static bool find_outer(struct infer *in, unsigned i, const struct value *v, uint32_t *ret) {
  struct extent e;
  if (!infer_sizes(in, i, &e))
    return false;
  bool fits = e.rank <= v->rank && e.rank > 0;
  for (uint32_t d = 0; d < e.rank && fits; d++)
    fits = infer_same_size(in, e.shape[d], v->shape[v->rank - e.rank + d]);
  *ret = fits ? v->rank - e.rank : 0;
  return fits || infer_error(in, E1004, "`normalized_shape` %s is not the end of the shape of %s",
                             infer_shape_text(in, e.rank, e.shape), infer_type_text(in, v));
}

static bool check_affine(struct infer *in, unsigned i, const char *name, const struct value *v,
                         uint32_t outer) {
  const struct value *w = infer_value(in, i);
  bool fits = !w || w->rank == v->rank - outer;
  for (uint32_t d = 0; w && d < w->rank && fits; d++)
    fits = infer_same_size(in, w->shape[d], v->shape[outer + d]);
  return fits || infer_error(in, E1004, "`%s` is %s; `input` is %s", name, infer_type_text(in, w),
                             infer_type_text(in, v));
}

// One number per row: the shape of v with 1 from `outer` on.
static struct extent rows_of(struct infer *in, const struct value *v, uint32_t outer) {
  struct extent e = extent_of(v);
  for (uint32_t d = outer; d < v->rank; d++)
    e.shape[d] = expr_const(in->g->exprs, 1);
  extent_make_contiguous(in->g->exprs, &e);
  return e;
}

bool infer_layer_norm(struct infer *in) {
  const struct value *v = infer_value(in, 0);
  uint32_t outer;
  if (!infer_wants_float(in, v, "input") || !find_outer(in, 1, v, &outer) ||
      !check_affine(in, 2, "weight", v, outer) || !check_affine(in, 3, "bias", v, outer))
    return false;
  struct extent rows = rows_of(in, v, outer);
  return infer_contiguous_like(in, 0, v->dtype, v) && infer_extent(in, 1, wide(v->dtype), &rows) &&
         infer_extent(in, 2, wide(v->dtype), &rows);
}

bool infer_rms_norm(struct infer *in) {
  const struct value *v = infer_value(in, 0);
  uint32_t outer;
  if (!infer_wants_float(in, v, "input") || !find_outer(in, 1, v, &outer) ||
      !check_affine(in, 2, "weight", v, outer))
    return false;
  struct extent rows = rows_of(in, v, outer);
  return infer_contiguous_like(in, 0, v->dtype, v) && infer_extent(in, 1, wide(v->dtype), &rows);
}

// Statistics of each row, in arguments 3 and 4.
static bool check_row_statistics(struct infer *in, const struct value *v, uint32_t outer) {
  struct extent rows = rows_of(in, v, outer);
  for (unsigned i = 3; i < 5; i++) {
    const struct value *w = infer_value(in, i);
    bool fits = w->rank == rows.rank;
    for (uint32_t d = 0; fits && d < rows.rank; d++)
      fits = infer_same_size(in, w->shape[d], rows.shape[d]);
    if (!fits)
      return infer_error(in, E1004, "`%s` is %s; it needs the shape %s", i == 3 ? "mean" : "rstd",
                         infer_type_text(in, w), infer_shape_text(in, rows.rank, rows.shape));
  }
  return true;
}

bool infer_layer_norm_backward(struct infer *in) {
  const struct value *grad = infer_value(in, 0), *v = infer_value(in, 1),
                     *weight = infer_value(in, 5);
  uint32_t outer;
  if (!infer_wants_float(in, v, "input") || !find_outer(in, 2, v, &outer) ||
      !check_same_shape(in, grad, v) || !check_row_statistics(in, v, outer) ||
      !check_affine(in, 5, "weight", v, outer) || !check_affine(in, 6, "bias", v, outer))
    return false;
  if (infer_in_output_mask(in, 0) && !infer_contiguous_like(in, 0, v->dtype, v))
    return false;
  for (unsigned i = 1; i < 3; i++)
    if (infer_in_output_mask(in, i) && weight &&
        !infer_contiguous_like(in, i, weight->dtype, weight))
      return false;
  return true;
}

// ---- norms over channels ----

// N:3, C:4 and HxW:5 give the shape of the input; each channel has its weight:1 and bias:2.
static bool check_groups(struct infer *in, const struct value *v) {
  struct exprs *x = in->g->exprs;
  const struct expr *channels = node_expr(in->n, 4), *groups = node_expr(in->n, 6);
  const struct expr *numel =
      expr_mul(x, expr_mul(x, node_expr(in->n, 3), channels), node_expr(in->n, 5));
  bool fits =
      v->rank >= 2 && infer_same_size(in, numel, value_numel(x, v)) &&
      infer_same_size(in, v->shape[1], channels) && groups->lo >= 1 &&
      infer_same_size(in, expr_mul(x, expr_floordiv(x, channels, groups), groups), channels);
  for (unsigned i = 1; fits && i < 3; i++) {
    const struct value *w = infer_value(in, i);
    fits = !w || (w->rank == 1 && infer_same_size(in, w->shape[0], channels));
  }
  return fits || infer_error(in, E1004, "`input` is %s, which its groups and channels do not fit",
                             infer_type_text(in, v));
}

bool infer_group_norm(struct infer *in) {
  const struct value *v = infer_value(in, 0);
  const struct expr *shape[2] = {node_expr(in->n, 3), node_expr(in->n, 6)};
  return infer_wants_float(in, v, "input") && check_groups(in, v) &&
         infer_contiguous_like(in, 0, v->dtype, v) &&
         infer_result(in, 1, wide(v->dtype), 2, shape, NULL) &&
         infer_result(in, 2, wide(v->dtype), 2, shape, NULL);
}

// Vectors of channels, from argument `first` on; statistics that are not used may be empty.
static bool check_channels(struct infer *in, const struct value *v, uint32_t first) {
  int weight = infer_parameter(in, "weight"), bias = infer_parameter(in, "bias");
  if (v->rank < 2)
    return infer_error(in, E1004, "`input` is %s; it needs 2 dimensions", infer_type_text(in, v));
  for (uint32_t i = first; i < in->n->arg_count; i++) {
    const struct value *w = node_value(in->n, i);
    bool may_be_empty = (int)i != weight && (int)i != bias;
    bool fits = !w || (w->rank == 1 && ((may_be_empty && expr_is(w->shape[0], 0)) ||
                                        infer_same_size(in, w->shape[0], v->shape[1])));
    if (!fits)
      return infer_error(in, E1004, "`input` is %s, but %s is given for its channels",
                         infer_type_text(in, v), infer_type_text(in, w));
  }
  return true;
}

// Running statistics, read or returned, have one entry per channel.
static bool check_running(struct infer *in, const struct value *v) {
  for (unsigned i = 3; i < 5; i++) {
    const struct value *w = infer_value(in, i);
    if (!w || w->rank != 1 || !infer_same_size(in, w->shape[0], v->shape[1]))
      return infer_error(in, E1004, "`input` is %s, its running statistics are %s",
                         infer_type_text(in, v), w ? infer_type_text(in, w) : "None");
  }
  return true;
}

// (y, mean, rstd[, new running mean, new running var]); without training mean and rstd are empty on
// the CPU.
bool infer_batch_norm(struct infer *in) {
  const struct value *v = infer_value(in, 0);
  bool functional = in->op->id == OP_NATIVE_BATCH_NORM_FUNCTIONAL;
  bool training = functional && node_truth(in->n, 5);
  if (!infer_wants_float(in, v, "input") || !check_channels(in, v, 1) || !check_running(in, v) ||
      !infer_dense_like(in, 0, v->dtype, v))
    return false;
  const struct expr *count = training ? v->shape[1] : expr_const(in->g->exprs, 0);
  for (unsigned i = 1; i < 3; i++)
    if (!infer_result(in, i, wide(v->dtype), 1, &count, NULL))
      return false;
  for (unsigned i = 3; functional && i < 5; i++) {
    const struct value *running = infer_value(in, i);
    if (!infer_contiguous_like(in, i, running->dtype, running))
      return false;
  }
  return true;
}

bool infer_batch_norm_backward(struct infer *in) {
  const struct value *v = infer_value(in, 1), *weight = infer_value(in, 2);
  if (!check_same_shape(in, infer_value(in, 0), v) || !check_channels(in, v, 2) ||
      (!node_truth(in->n, 7) && !check_running(in, v)))
    return false;
  if (infer_in_output_mask(in, 0) && !infer_dense_like(in, 0, v->dtype, v))
    return false;
  for (unsigned i = 1; i < 3; i++)
    if (infer_in_output_mask(in, i) &&
        !infer_result(in, i, weight ? weight->dtype : wide(v->dtype), 1, &v->shape[1], NULL))
      return false;
  return true;
}

// ---- losses ----

static bool check_nll(struct infer *in, const struct value *v, const struct value *target,
                      const struct value *weight) {
  bool fits =
      (v->rank == 1 && target->rank == 0) ||
      (v->rank == 2 && target->rank == 1 && infer_same_size(in, v->shape[0], target->shape[0]));
  if (!fits)
    return infer_error(in, E1004, "`self` is %s, `target` is %s", infer_type_text(in, v),
                       infer_type_text(in, target));
  if (weight &&
      (weight->rank != 1 || !infer_same_size(in, weight->shape[0], v->shape[v->rank - 1])))
    return infer_error(in, E1004, "`self` is %s, `weight` is %s", infer_type_text(in, v),
                       infer_type_text(in, weight));
  return infer_wants_float(in, v, "self") && infer_wants_integer(in, target, "target", false);
}

static bool check_reduction(struct infer *in, unsigned i) {
  int64_t how = node_int(in->n, i);
  return (how >= 0 && how <= 2) ||
         infer_error(in, E1004, "`reduction` is %lld; 0 is none, 1 the mean, 2 the sum",
                     (long long)how);
}

bool infer_nll_loss(struct infer *in) {
  const struct value *v = infer_value(in, 0);
  if (!check_reduction(in, 3) || !check_nll(in, v, infer_value(in, 1), infer_value(in, 2)))
    return false;
  bool each = node_int(in->n, 3) == 0 && v->rank == 2; // no reduction
  return infer_result(in, 0, v->dtype, each, v->shape, NULL) &&
         infer_result(in, 1, v->dtype, 0, NULL, NULL);
}

// The gradient of one loss, or, without reduction, of a loss for each row; and a number of rows.
static bool check_nll_gradient(struct infer *in, const struct value *v) {
  const struct value *grad = infer_value(in, 0), *total = infer_value(in, 6);
  bool each = node_int(in->n, 4) == 0 && v->rank == 2;
  if (each ? grad->rank != 1 || !infer_same_size(in, grad->shape[0], v->shape[0])
           : !infer_is_one(in, grad))
    return infer_error(in, E1004, "`grad_output` is %s; it needs the shape of the loss, %s",
                       infer_type_text(in, grad), infer_shape_text(in, each, v->shape));
  return infer_is_one(in, total) || infer_error(in, E1004, "`total_weight` is %s; it is one number",
                                                infer_type_text(in, total));
}

bool infer_nll_loss_backward(struct infer *in) {
  const struct value *v = infer_value(in, 1);
  return check_reduction(in, 4) && check_nll(in, v, infer_value(in, 2), infer_value(in, 3)) &&
         check_nll_gradient(in, v) && infer_contiguous_like(in, 0, v->dtype, v);
}

// ---- attention ----

static bool check_heads(struct infer *in, const struct value *q, const struct value *k,
                        const struct value *v) {
  bool fits = q->rank >= 2 && q->rank == k->rank && k->rank == v->rank;
  uint32_t last = q->rank - 1;
  fits = fits && infer_same_size(in, q->shape[last], k->shape[last]) &&
         infer_same_size(in, k->shape[last - 1], v->shape[last - 1]);
  // Grouped-query attention: a head of k and v may serve several of q.
  bool grouped = in->op->id == OP_SDPA ? node_truth(in->n, 7) : in->op->id != OP_TILE_ATTENTION;
  int64_t heads, fewer;
  if (fits && grouped && q->rank > 2 && expr_is_const(q->shape[q->rank - 3], &heads) &&
      expr_is_const(k->shape[q->rank - 3], &fewer) && (fewer < 1 || heads % fewer))
    grouped = false;
  // One head of k and v is broadcast to those of q.
  grouped = grouped || (fits && in->op->id == OP_SDPA && q->rank > 2 &&
                        expr_is(k->shape[q->rank - 3], 1) && expr_is(v->shape[q->rank - 3], 1));
  for (uint32_t d = 0; fits && d + 2 < q->rank; d++)
    fits = (grouped && d + 3 == q->rank) || (infer_same_size(in, q->shape[d], k->shape[d]) &&
                                             infer_same_size(in, k->shape[d], v->shape[d]));
  return fits ? infer_same_dtype(in, q, k) && infer_same_dtype(in, k, v)
              : infer_error(in, E1004, "query is %s, key is %s, value is %s",
                            infer_type_text(in, q), infer_type_text(in, k), infer_type_text(in, v));
}

static bool check_mask(struct infer *in, const struct value *q, const struct value *k) {
  int at = infer_parameter(in, "attn_mask");
  if (at < 0)
    at = infer_parameter(in, "attn_bias");
  const struct value *mask = at >= 0 ? node_value(in->n, (unsigned)at) : NULL;
  if (!mask)
    return true;
  struct extent scores = extent_of(q), wide_scores;
  scores.shape[q->rank - 1] = k->shape[k->rank - 2];
  wide_scores = scores;
  if (!infer_broadcast(in, &wide_scores, mask))
    return false;
  for (uint32_t d = 0; d < scores.rank; d++)
    if (wide_scores.rank != scores.rank || wide_scores.shape[d] != scores.shape[d])
      return infer_error(in, E1004, "the mask is %s; scores are %s", infer_type_text(in, mask),
                         infer_shape_text(in, scores.rank, scores.shape));
  return true;
}

// A score for each query and key, and the product that it is computed from: [B, H, queries, keys].
static bool check_scores(struct infer *in, const struct value *q, const struct value *k,
                         const char *const *names, size_t count) {
  const struct expr *scores[4] = {q->shape[0], q->shape[1], q->shape[2], k->shape[2]};
  for (size_t i = 0; i < count; i++) {
    const struct value *v = node_value(in->n, (unsigned)infer_parameter(in, names[i]));
    if (v && (q->rank != 4 || !dtype_is_float(v->dtype) || !value_has_shape(v, 4, scores)))
      return infer_error(in, E1004, "`%s` is %s, queries are %s, keys %s", names[i],
                         infer_type_text(in, v), infer_type_text(in, q), infer_type_text(in, k));
  }
  return true;
}

// Where the keys that a query sees begin or end, or the queries that see a key: integers that rise
// with the row; those of keys may have a row of their own in each batch.
static bool check_bounds(struct infer *in, const char *const names[2], const struct expr *batches,
                         const struct expr *rows) {
  const struct expr *each[] = {batches, rows};
  for (unsigned i = 0; i < 2; i++) {
    const struct value *v = node_value(in->n, (unsigned)infer_parameter(in, names[i]));
    bool fits = !v || (v->rank == 1 && v->shape[0] == rows) ||
                (v->rank == 2 && batches && value_has_shape(v, 2, each));
    if (!fits || (v && !dtype_is_int(v->dtype)))
      return infer_error(in, E1004, "`%s` is %s, for %s rows", names[i], infer_type_text(in, v),
                         infer_shape_text(in, 1, &rows));
  }
  return true;
}

static const char *const of_keys[2] = {"first", "end"}, *const of_queries[2] = {"first_query",
                                                                                "end_query"};

// [B, H, S, D] stored as [B, S, H, D].
static void heads_inside(struct exprs *x, struct extent *e) {
  const struct expr *stride = expr_const(x, 1);
  static const uint32_t order[] = {3, 1, 2, 0};
  for (int i = 0; i < 4; i++) {
    e->strides[order[i]] = stride;
    stride = expr_mul(x, stride, e->shape[order[i]]);
  }
}

// The factor of each weight: as many dimensions as the queries, as broadcast heads of keys.
static bool check_kept(struct infer *in, const struct value *q, const struct value *k) {
  int at = infer_parameter(in, "kept");
  const struct value *kept = at >= 0 ? node_value(in->n, (unsigned)at) : NULL;
  if (!kept)
    return true;
  bool fits = dtype_is_float(kept->dtype) && kept->rank == q->rank &&
              infer_same_size(in, kept->shape[q->rank - 1], k->shape[k->rank - 2]);
  for (uint32_t d = 0; fits && d + 1 < q->rank; d++)
    fits = infer_same_size(in, kept->shape[d], q->shape[d]);
  return fits ||
         infer_error(in, E1004, "`kept` is %s, queries are %s, keys %s", infer_type_text(in, kept),
                     infer_type_text(in, q), infer_type_text(in, k));
}

bool infer_sdpa(struct infer *in) {
  const struct value *q = infer_value(in, 0), *k = infer_value(in, 1), *v = infer_value(in, 2);
  struct exprs *x = in->g->exprs;
  enum operator_id op = in->op->id;
  static const char *const scores[] = {"product", "score"};
  if (!infer_wants_float(in, q, "query") || !check_heads(in, q, k, v) || !check_mask(in, q, k) ||
      !check_kept(in, q, k) ||
      (op == OP_TILE_ATTENTION && (!check_scores(in, q, k, scores, 2) ||
                                   !check_bounds(in, of_keys, q->shape[0], q->shape[q->rank - 2]))))
    return false;
  struct extent e = extent_of(q), sums;
  e.shape[q->rank - 1] = v->shape[v->rank - 1];
  extent_make_contiguous(x, &e);
  sums = e;
  sums.rank = e.rank - 1;
  if (q->rank == 4 && op != OP_SDPA && op != OP_TILE_ATTENTION)
    heads_inside(x, &e);
  if (op == OP_SDPA_CUDNN)
    sums.shape[sums.rank++] = expr_const(x, 1);
  if (op == OP_SDPA_EFFICIENT) // rows of 32, or none
    sums.shape[sums.rank - 1] =
        node_truth(in->n, 4)
            ? expr_muli(x, expr_cdiv(x, sums.shape[sums.rank - 1], expr_const(x, 32)), 32)
            : expr_const(x, 0);
  extent_make_contiguous(x, &sums);
  if (op == OP_SDPA_CPU && sums.rank == 3) { // stored as [B, S, H] too
    sums.strides[1] = expr_const(x, 1);
    sums.strides[2] = sums.shape[1];
  }
  if (!infer_extent(in, 0, q->dtype, &e))
    return false;
  if (in->n->result_count > 1 && !infer_extent(in, 1, wide(q->dtype), &sums))
    return false;
  // The state of the random generator; the others are lengths, which are never used.
  for (unsigned i = op == OP_SDPA_EFFICIENT ? 2 : 6; i < in->n->result_count && i < 8; i++)
    if (!infer_result(in, i, DTYPE_I64, 0, NULL, NULL))
      return false;
  return true;
}

bool infer_sdpa_backward(struct infer *in) {
  const struct value *q = infer_value(in, 1), *k = infer_value(in, 2), *v = infer_value(in, 3);
  if (!check_heads(in, q, k, v) || !check_mask(in, q, k) || !check_kept(in, q, k) ||
      !check_same_shape(in, infer_value(in, 0), infer_value(in, 4)))
    return false;
  const struct value *grad = infer_value(in, 0), *sums = infer_value(in, 5);
  bool fits =
      grad->rank == q->rank && infer_same_size(in, grad->shape[q->rank - 1], v->shape[q->rank - 1]);
  // A decomposed forward graph keeps the weights instead: [.., rows of q, rows of k].
  if (fits && sums->rank == q->rank)
    fits = infer_same_size(in, sums->shape[q->rank - 1], k->shape[k->rank - 2]);
  else
    fits = fits && sums->rank + 1 == q->rank;
  for (uint32_t d = 0; fits && d + 1 < q->rank; d++)
    fits = infer_same_size(in, grad->shape[d], q->shape[d]) &&
           infer_same_size(in, sums->shape[d], q->shape[d]);
  if (!fits)
    return infer_error(in, E1004, "query is %s, `grad_out` is %s, `logsumexp` is %s",
                       infer_type_text(in, q), infer_type_text(in, grad),
                       infer_type_text(in, sums));
  const struct value *like[3] = {q, k, v};
  for (unsigned i = 0; i < 3; i++) {
    struct extent e = extent_of(like[i]);
    extent_make_contiguous(in->g->exprs, &e);
    if (e.rank == 4)
      heads_inside(in->g->exprs, &e);
    if (!infer_extent(in, i, like[i]->dtype, &e))
      return false;
  }
  return true;
}

// grad:0 query:1 key:2 value:3 logsumexp:4 delta:5, and what belongs to scores
bool infer_attention_gradients(struct infer *in) {
  static const char *const scores[] = {"product", "score", "factor"};
  const struct value *like[3] = {infer_value(in, 1), infer_value(in, 2), infer_value(in, 3)};
  const struct value *q = like[0], *grad = infer_value(in, 0);
  if (q->rank != 4)
    return infer_error(in, E1004, "query is %s, not [batch, heads, rows, columns]",
                       infer_type_text(in, q));
  const struct expr *of_out[4] = {q->shape[0], q->shape[1], q->shape[2], like[2]->shape[3]};
  bool fits = check_heads(in, q, like[1], like[2]) && check_kept(in, q, like[1]) &&
              check_scores(in, q, like[1], scores, 3) &&
              check_bounds(in, of_keys, NULL, q->shape[2]) &&
              check_bounds(in, of_queries, NULL, like[1]->shape[2]);
  if (fits && !value_has_shape(grad, 4, of_out))
    return infer_error(in, E1004, "the gradient is %s, query is %s, value is %s",
                       infer_type_text(in, grad), infer_type_text(in, q),
                       infer_type_text(in, like[2]));
  for (unsigned i = 4; fits && i < 6; i++)
    if (!value_has_shape(infer_value(in, i), 3, of_out))
      return infer_error(in, E1004, "`%s` is %s, query is %s", i == 4 ? "logsumexp" : "delta",
                         infer_type_text(in, infer_value(in, i)), infer_type_text(in, q));
  for (unsigned i = 0; fits && i < 3; i++) {
    struct extent e = extent_of(like[i]);
    extent_make_contiguous(in->g->exprs, &e);
    fits = infer_extent(in, i, like[i]->dtype, &e);
  }
  return fits;
}
