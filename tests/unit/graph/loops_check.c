// SPDX-License-Identifier: Apache-2.0
// Compares the interpreters of loops and of graphs. Both use double precision, so they differ only
// by the order of sums.
#include "loops_check.h"

#include "graph/passes/passes.h"
#include "graph/read/fx.h"
#include "graph/reference/inputs.h"
#include "graph/reference/interpret.h"
#include "graph_fixture.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

struct graph *graph_of_text(struct arena *a, struct str text, const char *name) {
  return graph_fixture_in(a, name, text);
}

struct loops *loops_of(struct graph *g, const char *name) {
  struct graph *d = graph_decompose(g, KEEPS_ATTENTION, false);
  graph_fixture_require(g->diag, d != NULL, name);
  d = graph_simplify(d);
  graph_fixture_require(g->diag, d != NULL, name);
  struct loops *l = loops_build(d);
  graph_fixture_require(g->diag, l != NULL, name);
  return l;
}

// Elements that strides of 0 make one: all become the first.
static void merge_elements(const struct value *v, struct tensor *t) {
  for (int64_t i = 0; i < t->numel; i++) {
    int64_t to = 0, below = 1, rest = i;
    for (uint32_t d = t->rank; d-- > 0;) {
      to += expr_is(v->strides[d], 0) ? 0 : rest % t->shape[d] * below;
      below *= t->shape[d];
      rest /= t->shape[d];
    }
    t->at[i] = t->at[to];
  }
}

static bool agrees(double a, double b) {
  if (isnan(a) || isnan(b))
    return isnan(a) && isnan(b);
  return a == b || fabs(a - b) <= 1e-7 + 1e-7 * fabs(b);
}

static void compare(const struct tensor *have, const struct tensor *want, size_t output,
                    const char *name) {
  ck_assert_msg(!have == !want, "%s: output %zu is there in one only", name, output);
  if (!have)
    return;
  ck_assert_int_eq(have->numel, want->numel);
  ck_assert_int_eq(have->dtype, want->dtype);
  bool real = dtype_is_float(have->dtype);
  for (int64_t i = 0; i < have->numel; i++) {
    double a = real ? have->at[i].real : (double)have->at[i].integer;
    double b = real ? want->at[i].real : (double)want->at[i].integer;
    if (!agrees(a, b)) // an assertion per element would take most of the time
      ck_abort_msg("%s: output %zu, element %lld: %.17g for %.17g", name, output, (long long)i, a,
                   b);
  }
}

void loops_agree(struct graph *g, struct loops *l, const int64_t *symbols, const char *name) {
  size_t outputs = g->outputs.len + g->mutations.len;
  struct tensor **in = calloc(g->inputs.len + 1, sizeof *in);
  struct tensor **have = calloc(outputs + 1, sizeof *have),
                **want = calloc(outputs + 1, sizeof *want);
  ck_assert(in && have && want);
  ck_assert(graph_make_inputs(g, symbols, 7, in));
  for (size_t i = 0; i < g->inputs.len; i++)
    merge_elements(g->inputs.at[i], in[i]);
  struct interpret_options o = {.seed = 5};
  graph_fixture_require(g->diag, graph_interpret(g, &o, symbols, in, want), name);
  ck_assert_msg(loops_interpret(l, o.seed, symbols, in, have), "%s: loops", name);
  for (size_t i = 0; i < outputs; i++)
    compare(have[i], want[i], i, name);
  for (size_t i = 0; i < g->inputs.len; i++)
    tensor_destroy(in[i]);
  for (size_t i = 0; i < outputs; i++) {
    tensor_destroy(have[i]);
    tensor_destroy(want[i]);
  }
  free(in);
  free(have);
  free(want);
}
