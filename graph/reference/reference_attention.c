// SPDX-License-Identifier: Apache-2.0
// Scaled dot product attention by its definition, one row of scores at a time, and its gradient.
// Grouped queries: consecutive heads of queries share a head of keys.
#include "base/memory.h"
#include "graph/reference/reference.h"

#include <math.h>
#include <stdlib.h>

struct attention {
  const struct tensor *query, *key, *value, *mask;
  const struct tensor *first, *end; // of the keys that a query sees; NULL: all
  const struct tensor *score; // [batches, heads, rows, columns]; NULL: of queries, keys and mask
  const struct tensor *kept;  // a factor of each weight, after the softmax; NULL: 1
  int64_t batches, heads, key_heads, value_heads; // batches: all dimensions before the heads
  int64_t rows, columns, depth, width;            // of scores; of keys; of values
  int64_t sum_rows;                               // of logsumexp, which may be padded
  bool causal, failed;
  double scale;
  struct tensor *out, *lse;
  // of the gradient
  const struct tensor *gradient, *output, *sums;
  struct tensor *query_gradient, *key_gradient, *value_gradient;
  bool sums_are_weights; // softmax(scores) instead of logsumexp
  // The sum of gradient * output of a row, instead of `output`, and the derivative of a score for
  // `scale` times the product of query and key; NULL: not given.
  const struct tensor *delta, *factor;
};

static int64_t heads_of(const struct tensor *t) { return t->rank > 2 ? t->shape[t->rank - 3] : 1; }

static bool begin(const struct reference_call *c, struct attention *a, unsigned query, unsigned key,
                  unsigned value) {
  a->query = call_tensor(c, query);
  a->key = call_tensor(c, key);
  a->value = call_tensor(c, value);
  if (a->query->rank < 2 || a->key->rank != a->query->rank || a->value->rank != a->query->rank)
    return call_fail(c, "queries, keys and values have one rank, 2 at least");
  a->rows = a->query->shape[a->query->rank - 2];
  a->depth = a->query->shape[a->query->rank - 1];
  a->columns = a->key->shape[a->key->rank - 2];
  a->width = a->value->shape[a->value->rank - 1];
  a->heads = heads_of(a->query);
  a->key_heads = heads_of(a->key);
  a->value_heads = heads_of(a->value);
  if (a->key_heads < 1 || a->value_heads < 1 || a->heads % a->key_heads ||
      a->heads % a->value_heads)
    return call_fail(c, "%lld heads of queries do not share %lld of keys", (long long)a->heads,
                     (long long)a->key_heads);
  a->batches = 1;
  for (uint32_t d = 0; d + 3 < a->query->rank; d++) {
    a->batches *= a->query->shape[d];
    if (a->key->shape[d] != a->query->shape[d] || a->value->shape[d] != a->query->shape[d])
      return call_fail(c, "queries, keys and values of different batches");
  }
  return true;
}

// The index of a parameter by name; UINT32_MAX: the operator has none.
static unsigned parameter_index(const struct reference_call *c, const char *name) {
  int i = operator_parameter(c->node->op, name);
  return i < 0 ? UINT32_MAX : (unsigned)i;
}

static bool options(const struct reference_call *c, struct attention *a) {
  const unsigned given = parameter_index(c, "score"), first = parameter_index(c, "first"),
                 end = parameter_index(c, "end");
  const unsigned dropout = parameter_index(c, "dropout_p"),
                 causal = parameter_index(c, "is_causal"), scale = parameter_index(c, "scale");
  unsigned mask = parameter_index(c, "attn_mask");
  mask = mask == UINT32_MAX ? parameter_index(c, "attn_bias") : mask;
  if (dropout != UINT32_MAX && call_real(c, dropout) != 0)
    return call_fail(c, "the mask of dropout is not an operand");
  a->causal = causal != UINT32_MAX && node_truth(c->node, causal);
  a->scale = scale == UINT32_MAX || node_is_none(c->node, scale) ? 1 / sqrt((double)a->depth)
                                                                 : call_real(c, scale);
  a->mask = mask == UINT32_MAX ? NULL : call_tensor(c, mask);
  a->first = first == UINT32_MAX ? NULL : call_tensor(c, first);
  a->end = end == UINT32_MAX ? NULL : call_tensor(c, end);
  a->score = given == UINT32_MAX ? NULL : call_tensor(c, given);
  const unsigned kept = parameter_index(c, "kept");
  a->kept = kept == UINT32_MAX ? NULL : call_tensor(c, kept);
  if (a->mask && a->mask->rank > a->query->rank)
    return call_fail(c, "the mask has more dimensions than the queries");
  return true;
}

// Element (row, column) of the mask for score matrix `i`, which numbers batches and heads.
static union element mask_at(const struct attention *a, int64_t i, int64_t row, int64_t column) {
  const struct tensor *t = a->mask;
  int64_t offset = 0, scale = 1;
  for (uint32_t back = 1; back <= t->rank; back++) {
    const uint32_t d = t->rank - back, q = a->query->rank - back;
    const int64_t size = back == 1 ? a->columns : back == 2 ? a->rows : a->query->shape[q];
    const int64_t at = back == 1 ? column : back == 2 ? row : i % size;
    if (back > 2)
      i /= size;
    offset += (t->shape[d] == 1 ? 0 : at) * scale;
    scale *= t->shape[d];
  }
  return t->at[offset];
}

static double dot(const union element *a, const union element *b, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; i++)
    sum += a[i].real * b[i].real;
  return sum;
}

// The first matrix of a shared head.
static int64_t shared(const struct attention *a, int64_t i, int64_t heads) {
  return i / a->heads * heads + i % a->heads / (a->heads / heads);
}

// The key at which the keys of a row begin or end: for each row, maybe of each batch.
static int64_t bound_at(const struct attention *a, const struct tensor *bound, int64_t i,
                        int64_t row) {
  int64_t batch = bound->rank == 1 ? 0 : i / a->heads;
  return bound->at[batch * a->rows + row].integer;
}

// Computes the masked scores of one row; returns the largest.
static double score_row(const struct attention *a, int64_t i, int64_t row, double *ret) {
  const union element *query = a->query->at + (i * a->rows + row) * a->depth;
  const union element *keys = a->key->at + shared(a, i, a->key_heads) * a->columns * a->depth;
  double top = -HUGE_VAL;
  for (int64_t j = 0; j < a->columns; j++) {
    double score = a->score ? a->score->at[(i * a->rows + row) * a->columns + j].real
                            : a->scale * dot(query, keys + j * a->depth, a->depth);
    if (a->mask && dtype_is_float(a->mask->dtype))
      score += mask_at(a, i, row, j).real;
    else if (a->mask && !mask_at(a, i, row, j).integer)
      score = -HUGE_VAL;
    if ((a->causal && j > row) || (a->first && j < bound_at(a, a->first, i, row)) ||
        (a->end && j >= bound_at(a, a->end, i, row)))
      score = -HUGE_VAL;
    ret[j] = score;
    top = score > top || isnan(score) ? score : top;
  }
  return top;
}

static double kept_at(const struct attention *a, int64_t i, int64_t row, int64_t column) {
  return a->kept ? a->kept->at[(i * a->rows + row) * a->columns + column].real : 1;
}

// Rows without an entry give 0, and a logsumexp of -inf.
static void attend_row(const struct attention *a, int64_t i, int64_t row, double *scores) {
  const double top = score_row(a, i, row, scores);
  const union element *values = a->value->at + shared(a, i, a->value_heads) * a->columns * a->width;
  double sum = 0;
  for (int64_t j = 0; j < a->columns; j++) {
    scores[j] = top == -HUGE_VAL ? 0 : exp(scores[j] - top);
    sum += scores[j];
  }
  if (a->lse)
    a->lse->at[i * a->sum_rows + row].real = top == -HUGE_VAL ? -HUGE_VAL : top + log(sum);
  for (int64_t j = 0; a->out && j < a->columns; j++)
    for (int64_t k = 0; scores[j] != 0 && k < a->width; k++)
      a->out->at[(i * a->rows + row) * a->width + k].real +=
          kept_at(a, i, row, j) * scores[j] / sum * values[j * a->width + k].real;
}

static void attend(void *user, int64_t i) {
  struct attention *a = user;
  double *scores = memory_alloc((size_t)(a->columns + 1) * sizeof *scores);
  if (!scores)
    a->failed = true;
  for (int64_t row = 0; scores && row < a->rows; row++)
    attend_row(a, i, row, scores);
  free(scores);
}

// Results after the second are the state of the random generator and sizes: zeros.
bool reference_attention(struct reference_call *c) {
  struct attention a = {.out = c->out[0], .lse = c->node->result_count > 1 ? c->out[1] : NULL};
  if (!begin(c, &a, 0, 1, 2) || !options(c, &a))
    return false;
  if (a.lse && a.lse->numel < a.batches * a.heads * a.rows)
    a.lse = NULL; // not used
  if (a.lse && a.batches * a.heads > 0)
    a.sum_rows = a.lse->numel / (a.batches * a.heads);
  call_for(c, a.batches * a.heads, a.rows * a.columns * (a.depth + a.width), attend, &a);
  return !a.failed || call_fail(c, "out of memory");
}

// ---- the gradient ----

static void add_scaled(union element *to, double scale, const union element *from, int64_t n) {
  for (int64_t i = 0; i < n; i++)
    to[i].real += scale * from[i].real;
}

// P = exp(score - lse); dV += P dO; dS = P (dO V - sum(dO O)); dQ = scale dS K; dK += scale dS Q
static void attend_backward_row(const struct attention *a, int64_t i, int64_t row, double *scores) {
  const int64_t offset = i * a->rows + row, head = shared(a, i, a->key_heads) * a->columns,
                value_head = shared(a, i, a->value_heads) * a->columns;
  const union element *gradient = a->gradient->at + offset * a->width;
  const double lse = a->sums_are_weights ? 0 : a->sums->at[offset].real,
               delta = a->delta ? a->delta->at[offset].real
                                : dot(gradient, a->output->at + offset * a->width, a->width);
  score_row(a, i, row, scores);
  for (int64_t j = 0; j < a->columns && lse != -HUGE_VAL; j++) {
    const double p =
        a->sums_are_weights ? a->sums->at[offset * a->columns + j].real : exp(scores[j] - lse);
    const double kept = kept_at(a, i, row, j);
    const double ds =
        p * (kept * dot(gradient, a->value->at + (value_head + j) * a->width, a->width) - delta);
    const double scale = a->scale * (a->factor ? a->factor->at[offset * a->columns + j].real : 1);
    if (a->value_gradient)
      add_scaled(a->value_gradient->at + (value_head + j) * a->width, p * kept, gradient, a->width);
    if (a->query_gradient)
      add_scaled(a->query_gradient->at + offset * a->depth, ds * scale,
                 a->key->at + (head + j) * a->depth, a->depth);
    if (a->key_gradient)
      add_scaled(a->key_gradient->at + (head + j) * a->depth, ds * scale,
                 a->query->at + offset * a->depth, a->depth);
  }
}

// All heads of one batch, since they may share keys.
static void attend_backward(void *user, int64_t batch) {
  struct attention *a = user;
  double *scores = memory_alloc((size_t)(a->columns + 1) * sizeof *scores);
  if (!scores)
    a->failed = true;
  for (int64_t i = batch * a->heads; scores && i < (batch + 1) * a->heads; i++)
    for (int64_t row = 0; row < a->rows; row++)
      attend_backward_row(a, i, row, scores);
  free(scores);
}

// grad_out:0 query:1 key:2 value:3 out:4 logsumexp:5
bool reference_attention_backward(struct reference_call *c) {
  struct attention a = {.gradient = call_tensor(c, 0),
                        .output = call_tensor(c, 4),
                        .sums = call_tensor(c, 5),
                        .query_gradient = c->out[0],
                        .key_gradient = c->out[1],
                        .value_gradient = c->out[2]};
  if (!begin(c, &a, 1, 2, 3) || !options(c, &a))
    return false;
  a.sums_are_weights = a.sums->rank == call_tensor(c, 1)->rank;
  call_for(c, a.batches, a.heads * a.rows * a.columns * (a.depth + a.width), attend_backward, &a);
  return !a.failed || call_fail(c, "out of memory");
}

// grad:0 query:1 key:2 value:3 logsumexp:4 delta:5 product:6 score:7 factor:8 scale:9
bool reference_attention_gradients(struct reference_call *c) {
  struct attention a = {.gradient = call_tensor(c, 0),
                        .sums = call_tensor(c, 4),
                        .delta = call_tensor(c, 5),
                        .factor = call_tensor(c, 8),
                        .query_gradient = c->out[0],
                        .key_gradient = c->out[1],
                        .value_gradient = c->out[2]};
  if (!begin(c, &a, 1, 2, 3) || !options(c, &a))
    return false;
  call_for(c, a.batches, a.heads * a.rows * a.columns * (a.depth + a.width), attend_backward, &a);
  return !a.failed || call_fail(c, "out of memory");
}
