// SPDX-License-Identifier: Apache-2.0
// Partition: minimum cuts against all cuts of small networks; the forward and the backward graph
// compute what the whole graph does; budgets; what is saved and computed again.
#include "graph/autodiff/gradient.h"
#include "graph/autodiff/max_flow.h"
#include "graph/autodiff/partition.h"
#include "graph/ir/graph_operators.h"
#include "graph/passes/passes.h"
#include "graph/reference/inputs.h"
#include "graph/reference/interpret.h"
#include "graph_fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- flow ----

START_TEST(cuts_are_minimal) {
  enum { NODES = 7, EDGES = 14 };
  struct arena *a = arena_create();
  uint32_t state = (uint32_t)_i * 2654435761u + 1;
  struct flow f = flow_create(a, NODES);
  uint32_t from[EDGES], to[EDGES];
  int64_t capacity[EDGES];
  for (int i = 0; i < EDGES; i++) {
    state = state * 1664525u + 1013904223u;
    from[i] = (state >> 8) % NODES, to[i] = (state >> 16) % NODES;
    capacity[i] = (int64_t)((state >> 24) % 9);
    flow_add(&f, from[i], to[i], capacity[i]);
  }
  int64_t least = INT64_MAX, got = 0;
  for (unsigned side = 0; side < 1u << NODES; side++) { // node 0 is the source, 1 the sink
    int64_t cut = 0;
    for (int i = 0; i < EDGES; i++)
      cut += (side >> from[i] & 1) && !(side >> to[i] & 1) ? capacity[i] : 0;
    if ((side & 1) && !(side & 2))
      least = cut < least ? cut : least;
  }
  bool near[NODES];
  flow_cut(&f, 0, 1, near);
  ck_assert(near[0] && !near[1]);
  for (int i = 0; i < EDGES; i++)
    got += near[from[i]] && !near[to[i]] ? capacity[i] : 0;
  ck_assert_int_eq(got, least);
  arena_destroy(a);
}
END_TEST

// ---- graphs ----

static const char layer[] =
    "class layer(torch.nn.Module):\n"
    "    def forward(self, x: \"f64[8, 6]\", w: \"f64[6, 12]\", v: \"f64[12, 6]\"):\n"
    "        mm: \"f64[8, 12]\" = torch.ops.aten.mm.default(x, w)\n"
    "        gelu: \"f64[8, 12]\" = torch.ops.aten.gelu.default(mm)\n"
    "        sin: \"f64[8, 12]\" = torch.ops.aten.sin.default(gelu)\n"
    "        mm_1: \"f64[8, 6]\" = torch.ops.aten.mm.default(sin, v)\n"
    "        softmax: \"f64[8, 6]\" = torch.ops.aten._softmax.default(mm_1, 1, False)\n"
    "        exp: \"f64[8, 6]\" = torch.ops.aten.exp.default(softmax)\n"
    "        return (exp,)\n";

struct joint {
  struct graph_fixture f;
  struct graph *g;
};

// The graph with gradients by all inputs, weighted by a seed.
static struct joint joint_of(const char *text) {
  struct joint j = {graph_fixture_read("layer.py", str_from(text)), NULL};
  struct graph *g = j.f.graph;
  struct value *out = g->outputs.at[0], *ret[8];
  size_t count = g->inputs.len;
  struct value *seed =
      graph_add_input(g, "seed", out->dtype, out->rank, out->shape, NULL, SPAN_NONE);
  struct gradient_request r = {1, count, &out, &seed, g->inputs.at, false};
  graph_fixture_require(j.f.diag, graph_gradient(g, &r, SPAN_NONE, ret), "gradients");
  for (size_t i = 0; i < count; i++)
    graph_add_output(g, ret[i]);
  g = graph_decompose(g, KEEPS_ATTENTION, false);
  j.g = graph_simplify(g);
  graph_fixture_require(j.f.diag, j.g != NULL, "passes");
  return j;
}

static struct tensor *named(const struct graph *g, struct tensor **t, size_t count,
                            struct value *const *at, const char *name) {
  (void)g;
  for (size_t i = 0; i < count; i++)
    if (at[i] && strcmp(at[i]->name, name) == 0)
      return t[i];
  return NULL;
}

// Runs the forward graph, then the backward one, and compares with the whole one.
static void check_same(const struct graph *g, const struct partition *p) {
  const struct interpret_options options = {0};
  struct tensor *in[8] = {0}, *whole[8] = {0}, *front[32] = {0}, *to[32] = {0}, *back[8] = {0};
  ck_assert(graph_make_inputs(g, NULL, 3, in));
  ck_assert(graph_interpret(g, &options, NULL, in, whole));
  ck_assert(graph_verify(p->forward) && graph_verify(p->backward));
  for (size_t i = 0; i < p->forward->inputs.len; i++)
    to[i] = named(g, in, g->inputs.len, g->inputs.at, p->forward->inputs.at[i]->name);
  ck_assert(graph_interpret(p->forward, &options, NULL, to, front));
  for (size_t i = 0; i < p->backward->inputs.len; i++) {
    const char *name = p->backward->inputs.at[i]->name;
    to[i] = named(g, in, g->inputs.len, g->inputs.at, name);
    for (size_t k = 0; k < p->saved.len && !to[i]; k++)
      if (strcmp(p->saved.at[k]->name, name) == 0)
        to[i] = front[p->first_saved + k];
    ck_assert_msg(to[i] != NULL, "%s", name);
  }
  ck_assert(graph_interpret(p->backward, &options, NULL, to, back));
  for (size_t i = 1; i < g->outputs.len; i++)
    for (int64_t k = 0; k < whole[i]->numel; k++)
      ck_assert_double_eq_tol(whole[i]->at[k].real, back[i - 1]->at[k].real, 1e-12);
  for (size_t i = 0; i < COUNT_OF(front); i++)
    tensor_destroy(front[i]);
  for (size_t i = 0; i < COUNT_OF(in); i++) {
    tensor_destroy(in[i]);
    tensor_destroy(whole[i]);
    tensor_destroy(back[i]);
  }
}

static bool has_class(const struct partition *p, enum operator_class class) {
  for (size_t i = 0; i < p->recomputed.len; i++)
    if (operator_row(p->recomputed.at[i]->def->op)->class == class)
      return true;
  return false;
}

// Both products are saved, and with them the row's maximum and sum: everything else is cheap.
START_TEST(products_are_saved) {
  struct joint j = joint_of(layer);
  struct partition *p = graph_partition(j.g, 1, 1, &(struct partition_options){0});
  graph_fixture_require(j.f.diag, p != NULL, "partition");
  check_same(j.g, p);
  ck_assert(!has_class(p, CLASS_PRODUCT) && !has_class(p, CLASS_REDUCTION));
  ck_assert(has_class(p, CLASS_POINTWISE));
  ck_assert_int_lt(p->saved_bytes, p->without_bytes);
  // mm, and of the softmax at most the second product, the maximum and the sum.
  ck_assert_int_le(p->saved_bytes, 8 * (8 * 12 + 8 * 6 + 8 + 8));
  ck_assert_int_ge(p->saved_bytes, 8 * 8 * 12);
  graph_fixture_end(&j.f);
}
END_TEST

START_TEST(a_budget_repeats_products) {
  struct joint j = joint_of(layer);
  struct partition *p = graph_partition(j.g, 1, 1, &(struct partition_options){.budget = 400});
  ck_assert_ptr_nonnull(p);
  check_same(j.g, p);
  ck_assert(has_class(p, CLASS_PRODUCT));
  ck_assert(p->fits && p->saved_bytes <= 400);
  struct strbuf text = {0};
  partition_print(p, &text);
  ck_assert_ptr_nonnull(strstr(strbuf_cstr(&text), "= aten.mm.default"));
  strbuf_finish(&text);
  graph_fixture_end(&j.f);
}
END_TEST

// The mask follows from the seed and the number of the operator: it is drawn again, not saved.
START_TEST(random_numbers_are_drawn_again) {
  struct joint j = joint_of("class dropped(torch.nn.Module):\n"
                            "    def forward(self, x: \"f64[64, 3]\"):\n"
                            "        d = torch.ops.aten.native_dropout.default(x, 0.5, True)\n"
                            "        y: \"f64[64, 3]\" = d[0]\n"
                            "        sin: \"f64[64, 3]\" = torch.ops.aten.sin.default(y)\n"
                            "        return (sin,)\n");
  struct partition *p = graph_partition(j.g, 1, 1, &(struct partition_options){.budget = 1});
  ck_assert_ptr_nonnull(p);
  check_same(j.g, p);
  ck_assert(has_class(p, CLASS_RANDOM));
  ck_assert_int_eq(p->saved_bytes, 0);
  ck_assert(p->fits);
  graph_fixture_end(&j.f);
}
END_TEST

int main(void) {
  Suite *s = suite_create("partition");
  TCase *t = tcase_create("partition");
  tcase_add_loop_test(t, cuts_are_minimal, 0, 200);
  tcase_add_test(t, products_are_saved);
  tcase_add_test(t, a_budget_repeats_products);
  tcase_add_test(t, random_numbers_are_drawn_again);
  suite_add_tcase(s, t);
  SRunner *r = srunner_create(s);
  srunner_run_all(r, CK_ENV);
  int failed = srunner_ntests_failed(r);
  srunner_free(r);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
