// SPDX-License-Identifier: Apache-2.0
// Softmax, norms and their gradients: each works on lines of a tensor.
#include "graph/reference/norm.h"

#include <math.h>

bool norm_each_line(const struct reference_call *c, struct norm *n, const struct tensor *t,
                    uint32_t along, void (*line)(void *user, int64_t i)) {
  if (!lines_init(&n->lines, t, along))
    return call_fail(c, "out of memory for the indices of %lld elements", (long long)t->numel);
  call_for(c, n->lines.count, n->lines.length, line, n);
  lines_free(&n->lines);
  return true;
}

// ---- softmax ----

static void softmax_line(void *user, int64_t i) {
  const struct norm *n = user;
  const int64_t start = line_start(&n->lines, i), length = n->lines.length;
  double top = -HUGE_VAL, sum = 0;
  for (int64_t j = 0; j < length; j++) {
    const double x = n->in[line_offset(&n->lines, start, j)].real;
    top = x > top || isnan(x) ? x : top;
  }
  if (n->safe && top == -HUGE_VAL) {
    for (int64_t j = 0; j < length; j++)
      n->out[line_offset(&n->lines, start, j)].real = 0;
    return;
  }
  for (int64_t j = 0; j < length; j++)
    sum += exp(n->in[line_offset(&n->lines, start, j)].real - top);
  for (int64_t j = 0; j < length; j++) {
    const int64_t offset = line_offset(&n->lines, start, j);
    const double x = n->in[offset].real - top;
    n->out[offset].real = n->log ? x - log(sum) : exp(x) / sum;
  }
}

static void softmax_backward_line(void *user, int64_t i) {
  const struct norm *n = user;
  const int64_t start = line_start(&n->lines, i), length = n->lines.length;
  double sum = 0;
  for (int64_t j = 0; j < length; j++) {
    const int64_t offset = line_offset(&n->lines, start, j);
    const double term = n->gradient[offset].real * (n->log ? 1 : n->in[offset].real);
    sum += n->adds_sizes ? fabs(term) : term;
  }
  for (int64_t j = 0; j < length; j++) {
    const int64_t offset = line_offset(&n->lines, start, j);
    const double y = n->in[offset].real, g = n->gradient[offset].real;
    if (n->adds_sizes)
      n->out[offset].real = n->log ? fabs(g) + exp(y) * sum : fabs(y) * (fabs(g) + sum);
    else
      n->out[offset].real = n->log ? g - exp(y) * sum : y * (g - sum);
  }
}

static uint32_t along_dim(const struct reference_call *c, unsigned i, uint32_t rank) {
  const int64_t d = call_int(c, i);
  return rank ? 1u << (d < 0 ? d + rank : d) : 0;
}

static bool softmax(struct reference_call *c, bool log, bool safe) {
  const struct tensor *in = call_tensor(c, 0);
  struct tensor *out = c->out[0];
  for (int64_t i = 0; i < in->numel; i++)
    out->at[i] = element_convert(in->at[i], in->dtype, out->dtype);
  struct norm n = {.in = out->at, .out = out->at, .log = log, .safe = safe};
  return norm_each_line(c, &n, out, along_dim(c, 1, in->rank), softmax_line);
}

bool reference_softmax(struct reference_call *c) { return softmax(c, false, false); }
bool reference_log_softmax(struct reference_call *c) { return softmax(c, true, false); }
bool reference_safe_softmax(struct reference_call *c) { return softmax(c, false, true); }

static bool softmax_backward(struct reference_call *c, bool log) {
  const struct tensor *output = call_tensor(c, 1);
  struct norm n = {.gradient = call_tensor(c, 0)->at,
                   .in = output->at,
                   .out = c->out[0]->at,
                   .log = log,
                   .adds_sizes = c->adds_sizes};
  return norm_each_line(c, &n, output, along_dim(c, 2, output->rank), softmax_backward_line);
}

bool reference_softmax_backward(struct reference_call *c) { return softmax_backward(c, false); }
bool reference_log_softmax_backward(struct reference_call *c) { return softmax_backward(c, true); }

// ---- norms ----

// A term of a sum, or its absolute value.
static double term(const struct norm *n, double v) { return n->adds_sizes ? fabs(v) : v; }

static double weight_at(const struct norm *n, int64_t i, int64_t j) {
  if (!n->weight)
    return 1;
  return term(n, n->weight[n->weight_lines ? i % n->weight_lines : j].real);
}

static double bias_at(const struct norm *n, int64_t i, int64_t j) {
  if (!n->bias)
    return 0;
  return term(n, n->bias[n->weight_lines ? i % n->weight_lines : j].real);
}

double norm_centred(const struct norm *n, double x, double mean) {
  return term(n, x) + term(n, -mean);
}

double norm_line_stats(const struct norm *n, int64_t i, double *ret_mean, double *ret_var) {
  const int64_t start = line_start(&n->lines, i), length = n->lines.length;
  double sum = 0, sizes = 0, squares = 0;
  for (int64_t j = 0; n->centres && j < length; j++) {
    const double x = n->in[line_offset(&n->lines, start, j)].real;
    sum += x;
    sizes += fabs(x);
  }
  const double mean = n->centres ? sum / (double)length : 0;
  for (int64_t j = 0; j < length; j++) {
    const double d = n->in[line_offset(&n->lines, start, j)].real - mean;
    squares += d * d;
  }
  *ret_mean = n->adds_sizes && n->centres ? sizes / (double)length : mean;
  *ret_var = squares / (double)length;
  return 1 / sqrt(*ret_var + n->eps);
}

void norm_line(void *user, int64_t i) {
  const struct norm *n = user;
  const int64_t start = line_start(&n->lines, i);
  double mean, var, rstd;
  if (n->mean) {
    mean = n->mean[i].real;
    rstd = n->rstd[i].real;
  } else {
    rstd = norm_line_stats(n, i, &mean, &var);
  }
  if (n->mean_out)
    n->mean_out[i].real = mean;
  if (n->rstd_out)
    n->rstd_out[i].real = rstd;
  for (int64_t j = 0; n->out && j < n->lines.length; j++) {
    const int64_t offset = line_offset(&n->lines, start, j);
    n->out[offset].real =
        norm_centred(n, n->in[offset].real, mean) * rstd * weight_at(n, i, j) + bias_at(n, i, j);
  }
}

// The last dimensions as a bit mask, as many as the list of parameter i has.
static uint32_t trailing(const struct reference_call *c, unsigned i, uint32_t rank) {
  const struct arg *list;
  const uint32_t count = (uint32_t)node_list(c->node, i, &list);
  return ((1u << count) - 1) << (rank - (count < rank ? count : rank));
}

bool reference_layer_norm(struct reference_call *c) {
  const struct tensor *in = call_tensor(c, 0);
  struct norm n = {.in = in->at,
                   .weight = elements(call_tensor(c, 2)),
                   .bias = elements(call_tensor(c, 3)),
                   .eps = call_real(c, 4),
                   .centres = true,
                   .adds_sizes = c->adds_sizes,
                   .out = elements(c->out[0]),
                   .mean_out = elements(c->out[1]),
                   .rstd_out = elements(c->out[2])};
  return norm_each_line(c, &n, in, trailing(c, 1, in->rank), norm_line);
}

// The epsilon of the dtype that norms are computed in.
static double epsilon_of(enum dtype t) { return t == DTYPE_F64 ? 0x1p-52 : 0x1p-23; }

bool reference_rms_norm(struct reference_call *c) {
  const struct tensor *in = call_tensor(c, 0);
  struct norm n = {.in = in->at,
                   .weight = elements(call_tensor(c, 2)),
                   .eps = node_is_none(c->node, 3) ? epsilon_of(in->dtype) : call_real(c, 3),
                   .out = elements(c->out[0]),
                   .rstd_out = elements(c->out[1])};
  return norm_each_line(c, &n, in, trailing(c, 1, in->rank), norm_line);
}

// input:0 weight:1 bias:2 N:3 C:4 HxW:5 group:6 eps:7
bool reference_group_norm(struct reference_call *c) {
  const struct tensor *in = call_tensor(c, 0);
  const int64_t images = call_int(c, 3), channels = call_int(c, 4), size = call_int(c, 5),
                groups = call_int(c, 6);
  if (groups < 1 || channels % groups != 0 || images * channels * size != in->numel)
    return call_fail(c, "%lld channels in %lld groups", (long long)channels, (long long)groups);
  struct tensor grouped = {.rank = 2, .numel = in->numel, .at = in->at};
  grouped.shape[0] = images * groups;
  grouped.shape[1] = in->numel / (grouped.shape[0] ? grouped.shape[0] : 1);
  struct norm n = {.in = in->at,
                   .eps = call_real(c, 7),
                   .centres = true,
                   .adds_sizes = c->adds_sizes,
                   .out = elements(c->out[0]),
                   .mean_out = elements(c->out[1]),
                   .rstd_out = elements(c->out[2])};
  if (!norm_each_line(c, &n, &grouped, 2, norm_line))
    return false;
  const struct tensor *weight = call_tensor(c, 1), *bias = call_tensor(c, 2);
  for (int64_t i = 0; c->out[0] && i < in->numel; i++) {
    const int64_t channel = i / size % channels;
    union element *to = &c->out[0]->at[i];
    to->real = to->real * (weight ? term(&n, weight->at[channel].real) : 1) +
               (bias ? term(&n, bias->at[channel].real) : 0);
  }
  return true;
}

// ---- gradients of norms ----

void norm_backward_line(void *user, int64_t i) {
  const struct norm *n = user;
  const int64_t start = line_start(&n->lines, i), length = n->lines.length;
  const double mean = n->mean[i].real, rstd = n->rstd[i].real;
  double sum = 0, product = 0;
  for (int64_t j = 0; j < length; j++) {
    const int64_t offset = line_offset(&n->lines, start, j);
    const double g = term(n, n->gradient[offset].real) * weight_at(n, i, j);
    sum += g;
    product += g * norm_centred(n, n->in[offset].real, mean) * rstd;
  }
  for (int64_t j = 0; j < length; j++) {
    const int64_t offset = line_offset(&n->lines, start, j);
    const double x = norm_centred(n, n->in[offset].real, mean) * rstd;
    const double g = term(n, n->gradient[offset].real) * weight_at(n, i, j);
    const double taken = (sum + x * product) / (double)length;
    n->out[offset].real = rstd * (n->fixed ? g : n->adds_sizes ? g + taken : g - taken);
  }
}

// grad_out:0 input:1 normalized_shape:2 mean:3 rstd:4 weight:5 bias:6 output_mask:7
bool reference_layer_norm_backward(struct reference_call *c) {
  const struct tensor *gradient = call_tensor(c, 0), *in = call_tensor(c, 1),
                      *mean = call_tensor(c, 3), *rstd = call_tensor(c, 4);
  struct norm n = {.in = in->at,
                   .gradient = gradient->at,
                   .mean = mean->at,
                   .rstd = rstd->at,
                   .weight = elements(call_tensor(c, 5)),
                   .adds_sizes = c->adds_sizes,
                   .out = elements(c->out[0])};
  const int64_t length = mean->numel ? in->numel / mean->numel : 0;
  for (int64_t i = 0; i < in->numel; i++) {
    const double g = term(&n, gradient->at[i].real),
                 x = norm_centred(&n, in->at[i].real, mean->at[i / length].real) *
                     rstd->at[i / length].real;
    if (c->out[1])
      c->out[1]->at[i % length].real += g * x;
    if (c->out[2])
      c->out[2]->at[i % length].real += g;
  }
  return !c->out[0] || norm_each_line(c, &n, in, trailing(c, 2, in->rank), norm_backward_line);
}
