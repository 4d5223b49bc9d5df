// SPDX-License-Identifier: Apache-2.0
// Batch norm and its gradient: a line is a channel, over all images.
#include "graph/reference/norm.h"

#include <math.h>

static void add_momentum(struct tensor *out, const struct tensor *old, const union element *fresh,
                         double scale, double momentum, bool adds_sizes) {
  for (int64_t i = 0; out && i < out->numel; i++) {
    const double before = old->at[i].real;
    out->at[i].real =
        momentum * fresh[i].real * scale + (1 - momentum) * (adds_sizes ? fabs(before) : before);
  }
}

struct channel_stats {
  struct tensor *mean, *var, *rstd;
};

static bool create_stats(struct channel_stats *s, int64_t channels) {
  s->mean = tensor_create(DTYPE_F64, 1, &channels);
  s->var = tensor_create(DTYPE_F64, 1, &channels);
  s->rstd = tensor_create(DTYPE_F64, 1, &channels);
  return s->mean && s->var && s->rstd;
}

static void destroy_stats(struct channel_stats *s) {
  tensor_destroy(s->mean);
  tensor_destroy(s->var);
  tensor_destroy(s->rstd);
}

struct stats_job {
  struct norm *n;
  struct channel_stats *s;
};

static void stats_line(void *user, int64_t i) {
  const struct stats_job *job = user;
  job->s->rstd->at[i].real =
      norm_line_stats(job->n, i, &job->s->mean->at[i].real, &job->s->var->at[i].real);
}

// The statistics of the batch, or the running ones.
static bool channel_stats(const struct reference_call *c, struct channel_stats *s,
                          const struct tensor *in, const struct tensor *running_mean,
                          const struct tensor *running_var, bool of_batch, double eps) {
  struct norm n = {.in = in->at, .centres = true, .eps = eps, .adds_sizes = c->adds_sizes};
  struct stats_job job = {&n, s};
  if (!create_stats(s, in->rank > 1 ? in->shape[1] : 1))
    return call_fail(c, "out of memory");
  if (of_batch) {
    if (!lines_init(&n.lines, in, ((1u << in->rank) - 1) & ~2u))
      return call_fail(c, "out of memory");
    call_for(c, n.lines.count, n.lines.length, stats_line, &job);
    lines_free(&n.lines);
    return true;
  }
  if (!running_mean || !running_var)
    return call_fail(c, "there are no running statistics");
  for (int64_t i = 0; i < s->mean->numel; i++) {
    s->mean->at[i] = running_mean->at[i];
    s->var->at[i] = running_var->at[i];
    s->rstd->at[i].real = 1 / sqrt(running_var->at[i].real + eps);
  }
  return true;
}

static void save(struct tensor *out, const struct tensor *of) {
  for (int64_t i = 0; out && i < out->numel && i < of->numel; i++)
    out->at[i] = of->at[i];
}

// input:0 weight:1 bias:2 running_mean:3 running_var:4; results y, mean, rstd
static bool batch_norm(struct reference_call *c, bool of_batch, double eps,
                       struct channel_stats *s) {
  const struct tensor *in = call_tensor(c, 0);
  if (!channel_stats(c, s, in, call_tensor(c, 3), call_tensor(c, 4), of_batch, eps))
    return false;
  struct norm n = {.in = in->at,
                   .weight = elements(call_tensor(c, 1)),
                   .bias = elements(call_tensor(c, 2)),
                   .weight_lines = s->mean->numel,
                   .mean = s->mean->at,
                   .rstd = s->rstd->at,
                   .adds_sizes = c->adds_sizes,
                   .out = elements(c->out[0])};
  save(c->out[1], s->mean);
  save(c->out[2], s->rstd);
  return !c->out[0] || norm_each_line(c, &n, in, ((1u << in->rank) - 1) & ~2u, norm_line);
}

bool reference_batch_norm_no_training(struct reference_call *c) {
  struct channel_stats s = {0};
  bool ok = batch_norm(c, false, call_real(c, 6), &s);
  destroy_stats(&s);
  return ok;
}

// Results 3 and 4: the updated running statistics; their variance is the unbiased one.
bool reference_batch_norm_functional(struct reference_call *c) {
  const struct tensor *in = call_tensor(c, 0), *mean = call_tensor(c, 3), *var = call_tensor(c, 4);
  const bool trains = node_truth(c->node, 5);
  const double momentum = trains ? call_real(c, 6) : 0;
  struct channel_stats s = {0};
  bool ok = batch_norm(c, trains, call_real(c, 7), &s);
  if (ok) {
    const double count = s.mean->numel ? (double)(in->numel / s.mean->numel) : 0;
    add_momentum(c->out[3], mean, s.mean->at, 1, momentum, c->adds_sizes);
    add_momentum(c->out[4], var, s.var->at, trains ? count / (count - 1) : 1, momentum,
                 c->adds_sizes);
  }
  destroy_stats(&s);
  return ok;
}

// Sums per channel of the gradient, and of the gradient times the normalised input.
static void channel_gradients(struct reference_call *c, const struct tensor *gradient,
                              const struct tensor *in, const struct tensor *mean,
                              const struct tensor *rstd) {
  const int64_t channels = mean->numel;
  const struct norm n = {.adds_sizes = c->adds_sizes};
  int64_t size = 1;
  for (uint32_t d = 2; d < in->rank; d++)
    size *= in->shape[d];
  for (int64_t i = 0; i < in->numel; i++) {
    const int64_t channel = i / size % channels;
    const double g = norm_centred(&n, gradient->at[i].real, 0);
    if (c->out[1])
      c->out[1]->at[channel].real +=
          g * norm_centred(&n, in->at[i].real, mean->at[channel].real) * rstd->at[channel].real;
    if (c->out[2])
      c->out[2]->at[channel].real += g;
  }
}

// grad_out:0 input:1 weight:2 running_mean:3 running_var:4 save_mean:5 save_invstd:6 train:7 eps:8
bool reference_batch_norm_backward(struct reference_call *c) {
  const struct tensor *gradient = call_tensor(c, 0), *in = call_tensor(c, 1),
                      *mean = call_tensor(c, 5), *rstd = call_tensor(c, 6);
  const bool trains = node_truth(c->node, 7), saved = trains && mean && rstd && mean->numel;
  struct channel_stats s = {0};
  if (!saved) {
    if (!channel_stats(c, &s, in, call_tensor(c, 3), call_tensor(c, 4), trains, call_real(c, 8))) {
      destroy_stats(&s);
      return false;
    }
    mean = s.mean;
    rstd = s.rstd;
  }
  channel_gradients(c, gradient, in, mean, rstd);
  struct norm n = {.in = in->at,
                   .gradient = gradient->at,
                   .weight = elements(call_tensor(c, 2)),
                   .weight_lines = mean->numel,
                   .mean = mean->at,
                   .rstd = rstd->at,
                   .fixed = !trains,
                   .adds_sizes = c->adds_sizes,
                   .out = elements(c->out[0])};
  bool ok =
      !c->out[0] || norm_each_line(c, &n, in, ((1u << in->rank) - 1) & ~2u, norm_backward_line);
  destroy_stats(&s);
  return ok;
}
