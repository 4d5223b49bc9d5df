// SPDX-License-Identifier: Apache-2.0
// Central differences.
#include "central_differences.h"

#include "graph/autodiff/gradient.h"
#include "graph/reference/interpret.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 64, MOST_ELEMENTS = 12 };

struct check {
  struct graph *g;
  struct tensor *in[MOST];
  size_t inputs; // of the graph before seeds were added
  struct difference_report *report;
  double bound;
};

struct level { // what is differentiated, and its weights
  struct value *of[MOST], *seeds[MOST];
  size_t count, nodes; // nodes: of the graph, so far
};

static double weight_of(size_t i) { return 0.3 + 0.7 * fabs(sin(1 + 3.7 * (double)i)); }

// An input of weights for each value.
static void add_seeds(struct check *c, struct level *l) {
  for (size_t i = 0; i < l->count; i++) {
    const struct value *v = l->of[i];
    int64_t shape[GRAPH_MAX_RANK];
    size_t at = c->g->inputs.len;
    ck_assert_uint_lt(at, MOST);
    for (uint32_t d = 0; d < v->rank; d++)
      ck_assert(expr_is_const(v->shape[d], &shape[d]));
    l->seeds[i] = graph_add_input(c->g, "seed", v->dtype, v->rank, v->shape, NULL, v->span);
    struct tensor *t = c->in[at] = tensor_create(v->dtype, v->rank, shape);
    for (int64_t k = 0; k < t->numel; k++)
      t->at[k].real = weight_of(at + (size_t)k);
  }
}

// The weighted sum of a level's values.
static double evaluate(struct check *c, const struct level *l) {
  struct tensor *out[MOST + 1] = {0};
  const struct interpret_options options = {0};
  struct graph view = *c->g;
  view.outputs.at = (struct value **)(uintptr_t)l->of, view.outputs.len = l->count;
  view.nodes.len = l->nodes;
  view.mutations.len = 0;
  double sum = 0;
  if (!graph_interpret(&view, &options, NULL, c->in, out))
    return NAN;
  for (size_t i = 0; i < l->count; i++) {
    const struct tensor *w = NULL;
    for (size_t k = 0; k < c->g->inputs.len; k++)
      if (c->g->inputs.at[k] == l->seeds[i])
        w = c->in[k];
    for (int64_t k = 0; k < out[i]->numel; k++)
      sum += w->at[k].real * out[i]->at[k].real;
    tensor_destroy(out[i]);
  }
  return sum;
}

struct slopes {
  double central, apart; // half the sum and the difference of the one-sided slopes
};

static struct slopes slopes_of(struct check *c, const struct level *l, double *x, double here,
                               double step) {
  double at = *x;
  *x = at + step;
  double up = evaluate(c, l);
  *x = at - step;
  double down = evaluate(c, l);
  *x = at;
  return (struct slopes){(up - down) / (2 * step), fabs(up + down - 2 * here) / step};
}

// At a kink the one-sided slopes differ, however small the step; on a smooth function in proportion
// to it.
static bool is_smooth(struct slopes wide, struct slopes narrow) {
  double scale = 1 + fabs(narrow.central);
  if (!isfinite(wide.central) || !isfinite(narrow.central) || !isfinite(narrow.apart))
    return false;
  if (fabs(wide.central - narrow.central) > 2e-3 * scale)
    return false;
  return wide.apart < 1e-5 * scale || narrow.apart < 0.75 * wide.apart;
}

static void compare(struct check *c, const struct level *l, size_t input,
                    const struct tensor *gradient) {
  struct tensor *t = c->in[input];
  double here = evaluate(c, l);
  for (int64_t i = 0; i < t->numel && i < MOST_ELEMENTS; i++) {
    int64_t k = t->numel <= MOST_ELEMENTS ? i : (i * 7919 + 3) % t->numel;
    double at = t->at[k].real, step = 1e-3 * (1 + fabs(at)), got = gradient->at[k].real;
    struct slopes wide = slopes_of(c, l, &t->at[k].real, here, step),
                  narrow = slopes_of(c, l, &t->at[k].real, here, step / 2);
    if (!isfinite(at) || !is_smooth(wide, narrow)) {
      c->report->skipped++;
      continue;
    }
    c->report->checked++;
    // Richardson's extrapolation: the error of order step^2 cancels.
    double want = (4 * narrow.central - wide.central) / 3;
    double bound = c->bound * (1 + fabs(want)) + 0.1 * fabs(wide.central - narrow.central);
    if (!(fabs(got - want) <= bound) && !*c->report->wrong)
      snprintf(c->report->wrong, sizeof c->report->wrong,
               "element %lld of `%s` (%g): %.9g, by differences %.9g", (long long)k,
               c->g->inputs.at[input]->name, at, got, want);
  }
}

// Appends the gradients of a level and compares them; they are the next level.
static bool differentiate(struct check *c, const struct level *l, struct level *next) {
  struct value *inputs[MOST], *ret[MOST];
  size_t at[MOST], count = 0;
  for (size_t i = 0; i < c->inputs; i++)
    if (dtype_is_float(c->g->inputs.at[i]->dtype))
      inputs[count] = c->g->inputs.at[i], at[count++] = i;
  struct gradient_request r = {.output_count = l->count,
                               .input_count = count,
                               .outputs = l->of,
                               .seeds = l->seeds,
                               .inputs = inputs,
                               .allows_no_path = true};
  if (!graph_gradient(c->g, &r, SPAN_NONE, ret) || !graph_verify(c->g))
    return false;
  struct tensor *out[MOST + 1] = {0};
  const struct interpret_options options = {0};
  struct graph view = *c->g;
  view.outputs.at = ret, view.outputs.len = count;
  view.mutations.len = 0;
  next->nodes = c->g->nodes.len;
  if (!graph_interpret(&view, &options, NULL, c->in, out))
    return false;
  next->count = 0;
  for (size_t i = 0; i < count; i++) {
    ck_assert(value_same_shape(ret[i], inputs[i]) && ret[i]->dtype == inputs[i]->dtype);
    compare(c, l, at[i], out[i]);
    tensor_destroy(out[i]);
    next->of[next->count++] = ret[i];
  }
  return true;
}

bool check_differences(struct graph *g, struct tensor *const *in,
                       struct difference_report ret[static 2]) {
  struct check c = {.g = g, .inputs = g->inputs.len};
  struct level *l = calloc(3, sizeof *l);
  bool ok = true;
  l->nodes = g->nodes.len;
  ret[0] = ret[1] = (struct difference_report){0};
  for (size_t i = 0; i < c.inputs; i++)
    c.in[i] = in[i];
  for (size_t i = 0; i < g->outputs.len; i++)
    if (g->outputs.at[i] && dtype_is_float(g->outputs.at[i]->dtype))
      l->of[l->count++] = g->outputs.at[i];
  for (unsigned i = 0; ok && i < 2; i++) {
    add_seeds(&c, &l[i]);
    c.report = &ret[i];
    c.bound = i ? 1e-4 : 1e-5; // some functions are accurate to ten digits
    ok = differentiate(&c, &l[i], &l[i + 1]);
  }
  for (size_t i = c.inputs; i < g->inputs.len; i++)
    tensor_destroy(c.in[i]);
  free(l);
  return ok;
}
