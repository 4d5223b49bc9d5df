// SPDX-License-Identifier: Apache-2.0
// Reductions: each line of the reduced dimensions gives one element of the result.
#include "graph/reference/reference.h"

#include <math.h>

struct reduction {
  const struct tensor *in;
  struct lines lines;
  enum dtype type; // elements are converted to it
  struct tensor *out, *second;
  double correction;
  bool least; // minimum instead of maximum
};

static union element element_at(const struct reduction *r, int64_t start, int64_t j) {
  union element e = r->in->at[line_offset(&r->lines, start, j)];
  return r->in->dtype == r->type ? e : element_convert(e, r->in->dtype, r->type);
}

static bool reduce(struct reference_call *c, struct reduction *r, uint32_t along,
                   void (*line)(void *user, int64_t i)) {
  r->in = call_tensor(c, 0);
  if (!lines_init(&r->lines, r->in, along))
    return call_fail(c, "out of memory for the indices of %lld elements", (long long)r->in->numel);
  call_for(c, r->lines.count, r->lines.length, line, r);
  lines_free(&r->lines);
  return true;
}

// All dimensions if the operator has no parameter for them.
static uint32_t reduced_dims(const struct reference_call *c) {
  const uint32_t rank = call_tensor(c, 0)->rank, all = (1u << rank) - 1;
  size_t count;
  const struct parameter *p = operator_parameters(c->node->op, &count);
  if (count < 2 || !str_is(p[1].name, "dim") || rank == 0)
    return all;
  return call_dims(c, 1, rank);
}

// ---- sums and products ----

static void sum_line(void *user, int64_t i) {
  struct reduction *r = user;
  const int64_t start = line_start(&r->lines, i);
  if (dtype_is_float(r->type)) {
    double sum = 0;
    for (int64_t j = 0; j < r->lines.length; j++)
      sum += element_at(r, start, j).real;
    r->out->at[i].real = sum;
    return;
  }
  uint64_t sum = 0;
  for (int64_t j = 0; j < r->lines.length; j++)
    sum += (uint64_t)element_at(r, start, j).integer;
  r->out->at[i].integer = (int64_t)sum;
}

static void mean_line(void *user, int64_t i) {
  struct reduction *r = user;
  sum_line(user, i);
  r->out->at[i].real /= (double)r->lines.length;
}

static void prod_line(void *user, int64_t i) {
  struct reduction *r = user;
  const int64_t start = line_start(&r->lines, i);
  if (dtype_is_float(r->type)) {
    double product = 1;
    for (int64_t j = 0; j < r->lines.length; j++)
      product *= element_at(r, start, j).real;
    r->out->at[i].real = product;
    return;
  }
  uint64_t product = 1;
  for (int64_t j = 0; j < r->lines.length; j++)
    product *= (uint64_t)element_at(r, start, j).integer;
  r->out->at[i].integer = (int64_t)product;
}

static bool accumulate(struct reference_call *c, void (*line)(void *user, int64_t i)) {
  struct reduction r = {.out = c->out[0], .type = c->out[0]->dtype};
  return reduce(c, &r, reduced_dims(c), line);
}

bool reference_sum(struct reference_call *c) { return accumulate(c, sum_line); }
bool reference_mean(struct reference_call *c) { return accumulate(c, mean_line); }
bool reference_prod(struct reference_call *c) { return accumulate(c, prod_line); }

// ---- maximum and minimum ----

static bool is_better(const struct reduction *r, union element e, union element best) {
  if (!dtype_is_float(r->type)) {
    if (r->type == DTYPE_U64)
      return r->least ? (uint64_t)e.integer < (uint64_t)best.integer
                      : (uint64_t)e.integer > (uint64_t)best.integer;
    return r->least ? e.integer < best.integer : e.integer > best.integer;
  }
  if (isnan(best.real))
    return false;
  return isnan(e.real) || (r->least ? e.real < best.real : e.real > best.real);
}

// The index of the first extreme; NaN wins.
static void extreme_line(void *user, int64_t i) {
  struct reduction *r = user;
  const int64_t start = line_start(&r->lines, i);
  int64_t where = 0;
  union element best = element_at(r, start, 0);
  for (int64_t j = 1; j < r->lines.length; j++) {
    union element e = element_at(r, start, j);
    if (is_better(r, e, best)) {
      best = e;
      where = j;
    }
  }
  if (r->out)
    r->out->at[i] = best;
  if (r->second)
    r->second->at[i].integer = where;
}

static bool extreme(struct reference_call *c, bool least, struct tensor *values,
                    struct tensor *indices) {
  const struct tensor *in = call_tensor(c, 0);
  struct reduction r = {.least = least, .type = in->dtype, .out = values, .second = indices};
  if (in->numel == 0 && (values ? values : indices)->numel > 0)
    return call_fail(c, "there is no %s element of an empty line", least ? "smallest" : "largest");
  return in->numel == 0 || reduce(c, &r, reduced_dims(c), extreme_line);
}

bool reference_amax(struct reference_call *c) { return extreme(c, false, c->out[0], NULL); }
bool reference_amin(struct reference_call *c) { return extreme(c, true, c->out[0], NULL); }
bool reference_argmax(struct reference_call *c) { return extreme(c, false, NULL, c->out[0]); }
bool reference_argmin(struct reference_call *c) { return extreme(c, true, NULL, c->out[0]); }
bool reference_max_dim(struct reference_call *c) { return extreme(c, false, c->out[0], c->out[1]); }
bool reference_min_dim(struct reference_call *c) { return extreme(c, true, c->out[0], c->out[1]); }

// ---- any and all ----

static void any_line(void *user, int64_t i) {
  struct reduction *r = user;
  const int64_t start = line_start(&r->lines, i);
  bool found = false;
  for (int64_t j = 0; j < r->lines.length && !found; j++)
    found = element_at(r, start, j).integer != 0;
  r->out->at[i].integer = found;
}

static void all_line(void *user, int64_t i) {
  struct reduction *r = user;
  const int64_t start = line_start(&r->lines, i);
  bool holds = true;
  for (int64_t j = 0; j < r->lines.length && holds; j++)
    holds = element_at(r, start, j).integer != 0;
  r->out->at[i].integer = holds;
}

static bool truth(struct reference_call *c, void (*line)(void *user, int64_t i)) {
  struct reduction r = {.out = c->out[0], .type = DTYPE_I1};
  return reduce(c, &r, reduced_dims(c), line);
}

bool reference_any(struct reference_call *c) { return truth(c, any_line); }
bool reference_all(struct reference_call *c) { return truth(c, all_line); }

// ---- variance ----

static void var_line(void *user, int64_t i) {
  struct reduction *r = user;
  const int64_t start = line_start(&r->lines, i), n = r->lines.length;
  double sum = 0, squares = 0, divisor = (double)n - r->correction;
  for (int64_t j = 0; j < n; j++)
    sum += element_at(r, start, j).real;
  const double mean = sum / (double)n;
  for (int64_t j = 0; j < n; j++) {
    double d = element_at(r, start, j).real - mean;
    squares += d * d;
  }
  if (r->out)
    r->out->at[i].real = squares / (divisor > 0 ? divisor : 0);
  if (r->second)
    r->second->at[i].real = mean;
}

static bool variance(struct reference_call *c, double correction, struct tensor *mean) {
  struct reduction r = {
      .type = DTYPE_F64, .out = c->out[0], .second = mean, .correction = correction};
  return reduce(c, &r, reduced_dims(c), var_line);
}

bool reference_var_dim(struct reference_call *c) {
  return variance(c, node_truth(c->node, 2) ? 1 : 0, NULL);
}

static double correction_of(const struct reference_call *c) {
  return node_is_none(c->node, 2) ? 1 : call_real(c, 2);
}

bool reference_var_correction(struct reference_call *c) {
  return variance(c, correction_of(c), NULL);
}

bool reference_var_mean(struct reference_call *c) {
  return variance(c, correction_of(c), c->out[1]);
}

bool reference_prod_others(struct reference_call *c) {
  const struct tensor *x = call_tensor(c, 0);
  int64_t dims[GRAPH_MAX_RANK], step = 1;
  call_ints(c, 1, dims);
  uint32_t d = (uint32_t)(dims[0] < 0 ? dims[0] + x->rank : dims[0]);
  for (uint32_t i = d + 1; i < x->rank; i++)
    step *= x->shape[i];
  for (int64_t i = 0; i < x->numel; i++) {
    int64_t at = i / step % x->shape[d];
    double product = 1;
    for (int64_t k = 0; k < x->shape[d]; k++)
      product *= k == at ? 1 : x->at[i + (k - at) * step].real;
    c->out[0]->at[i].real = product;
  }
  return true;
}
