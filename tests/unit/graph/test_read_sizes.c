// SPDX-License-Identifier: Apache-2.0
// Sizes in the text of graphs: symbols, their ranges, likely values, floats that become sizes,
// numbers taken from tensors.
#include "graph/ir/graph_operators.h"
#include "graph/ir/sizes.h"
#include "read_check.h"

#include <check.h>

START_TEST(sizes) {
  struct graph_fixture r = read_good(
      GRAPH("arg0_1: \"Sym(s77)\", arg1_1: \"f32[s77, 4*s77][4*s77, 1]cpu\"",
            "mul: \"Sym(4*s77)\" = arg0_1 * 4\n"
            "        sym_size_int: \"Sym(s77)\" = torch.ops.aten.sym_size.int(arg1_1, 0)\n"
            "        mul_1: \"Sym(4*s77**2)\" = sym_size_int * mul;  mul = None\n"
            "        view: \"f32[4*s77**2][1]cpu\" = torch.ops.aten.view.default(arg1_1, [mul_1])\n"
            "        sum_1: \"f32[s77][1]cpu\" = torch.ops.aten.sum.dim_IntList(arg1_1, [1])\n"
            "        return (view, sum_1, arg0_1)"));
  struct graph *g = r.graph;
  ck_assert_uint_eq(g->symbols.len, 1);
  ck_assert_str_eq(g->symbols.at[0]->symbol->name, "s77");
  ck_assert_ptr_eq(g->outputs.at[1]->shape[0], g->symbols.at[0]);
  read_check_type(g->outputs.at[2], "i64[][]");
  int64_t n, s = 3;
  ck_assert(expr_eval(g->outputs.at[0]->shape[0], 1, g->symbols.at, &s, &n));
  ck_assert_int_eq(n, 36);
  graph_fixture_end(&r);
}
END_TEST

// The ranges that an exported program gives its sizes.
START_TEST(ranges) {
  struct graph_fixture r =
      read_good("ExportedProgram:\n    class GraphModule(torch.nn.Module):\n"
                "        def forward(self, x: \"f32[s1, s2, s3]\"):\n"
                "            neg = torch.ops.aten.neg.default(x)\n            return (neg,)\n\n"
                "Graph signature:\n    x: USER_INPUT\n\n"
                "Range constraints: {s9: VR[-int_oo, -1], s1: VR[2, 16], u0: VR[-4, 4], s2: VR[0, "
                "int_oo]}\n");
  const struct expr *const *dims = r.graph->inputs.at[0]->shape;
  ck_assert_int_eq(dims[0]->lo, 2);
  ck_assert_int_eq(dims[0]->hi, 16);
  ck_assert_int_eq(dims[1]->lo, 0);
  ck_assert_int_eq(dims[1]->hi, INT32_MAX);
  ck_assert_int_eq(dims[2]->lo, 1);
  graph_fixture_end(&r);
}
END_TEST

// A size that is no extent but a stride of an input, and one that is neither.
START_TEST(sizes_of_strides) {
  struct graph_fixture r =
      read_good("def forward(self, n: \"Sym(s2)\", x: \"f32[s0, s1][s2, 1]\"):\n"
                "    y = torch.ops.aten.neg.default(x)\n    return (y,)\n");
  graph_find_sizes(r.graph);
  ck_assert_uint_eq(r.graph->given_sizes.len, 0);
  ck_assert_uint_eq(r.graph->size_sources.len, 3);
  ck_assert(r.graph->size_sources.at[2].is_stride && r.graph->size_sources.at[2].dim == 0);
  graph_fixture_end(&r);
  r = read_good("def forward(self, n: \"Sym(s2)\", x: \"f32[s0]\"):\n"
                "    y = torch.ops.aten.slice.Tensor(x, 0, n)\n    return (y,)\n");
  graph_find_sizes(r.graph);
  ck_assert_uint_eq(r.graph->given_sizes.len, 1);
  ck_assert(!graph_give_size(r.graph, "s0", 4) && graph_give_size(r.graph, "s2", 4));
  graph_fixture_end(&r);
}
END_TEST

// Integers that are no size of a tensor may be 0, sizes of tensors are at least 1.
START_TEST(ranges_of_integers) {
  struct graph_fixture r = read_good("class <lambda>(torch.nn.Module):\n"
                                     "    def forward(self, n: \"Sym(s2)\", m: \"Sym(s0)\", "
                                     "x: \"f32[2*s0][1]cpu\"):\n"
                                     "        y = torch.ops.aten.mul.Tensor(x, n)\n"
                                     "        return (y, m)\n");
  ck_assert_int_eq(r.graph->symbols.at[0]->lo, 0);
  ck_assert_int_eq(r.graph->symbols.at[1]->lo, 1);
  graph_fixture_end(&r);
}
END_TEST

// An extent that grows with a size determines it: s0 * s0 + 3 * s0 = 40 gives 5.
START_TEST(sizes_of_polynomials) {
  struct graph_fixture r = read_good("def forward(self, x: \"f32[s0**2 + 3*s0]\"):\n"
                                     "    y = torch.ops.aten.view.default(x, [s0, -1])\n"
                                     "    return (y,)\n");
  struct graph *g = r.graph;
  graph_find_sizes(g);
  ck_assert_uint_eq(g->size_sources.len, 1);
  ck_assert_ptr_null(g->size_sources.at[0].coefficient);
  int64_t value = 0;
  const struct expr *extent = g->inputs.at[0]->shape[0];
  ck_assert_int_eq(size_solve(extent, 1, g->symbols.at, &value, 0, 40), 5);
  ck_assert_int_eq(size_solve(extent, 1, g->symbols.at, &value, 0, 41), -1);
  ck_assert(
      !size_grows(expr_sub(g->exprs, extent, expr_muli(g->exprs, extent, 2)), g->symbols.at[0]));
  graph_fixture_end(&r);
}
END_TEST

static bool make_likely(struct graph *g, void *user) {
  (void)user;
  graph_set_likely_size(g, "s1", 5); // if there is one
  return graph_set_likely_size(g, "s0", 40);
}

static struct graph *read_likely(struct graph_fixture *f, const char *text) {
  f->arena = arena_create();
  f->diag = diag_engine_create(f->arena);
  struct graph *g = graph_read_fx_likely(
      f->arena, f->diag, source_create(f->arena, "g.py", str_from(text)), make_likely, NULL);
  ck_assert_msg(g != NULL, "%s", diag_first_error(f->diag));
  return g;
}

// s0 // 32 is 1 for the likely sizes: it is broadcast, and stays 1. The text says so of a squeeze.
START_TEST(sizes_that_are_one) {
  struct graph_fixture f = {0};
  struct graph *g =
      read_likely(&f, "def forward(self, x: \"f32[(s0//32), 3]\", y: \"f32[s1, 3]\"):\n"
                      "    add: \"f32[s1, 3]\" = torch.ops.aten.add.Tensor(x, y)\n"
                      "    more = torch.ops.aten.mul.Tensor(x, 2)\n    return (add, more)\n");
  ck_assert(g->outputs.at[0]->shape[0]->kind == EXPR_SYMBOL);
  ck_assert(expr_is(g->outputs.at[1]->shape[0], 1) && expr_is(g->inputs.at[0]->shape[0], 1));
  ck_assert_uint_eq(g->requirements.len, 2); // s0 // 32 - 1 >= 0, and 1 - s0 // 32 >= 0
  graph_fixture_end(&f);
  g = read_likely(&f, "def forward(self, x: \"f32[(s0//4), 3]\"):\n"
                      "    y: \"f32[3]\" = torch.ops.aten.squeeze.dim(x, 0)\n"
                      "    z: \"f32[3]\" = torch.ops.aten.squeeze.default(x)\n"
                      "    return (y, z)\n");
  ck_assert_uint_eq(g->outputs.at[0]->rank, 1);
  ck_assert_uint_eq(g->outputs.at[1]->rank, 1);
  graph_fixture_end(&f);
}
END_TEST

// Two parts of s0 // 2 each, of symbolic size; their number is that of the likely sizes.
START_TEST(parts_of_symbolic_size) {
  struct graph_fixture f = {0};
  struct graph *g = read_likely(&f, "def forward(self, x: \"f32[s0]\"):\n"
                                    "    split = torch.ops.aten.split.Tensor(x, ((s0 + 1)//2))\n"
                                    "    a: \"f32[((s0 + 1)//2)]\" = split[0]\n"
                                    "    b: \"f32[s0 - ((s0 + 1)//2)]\" = split[1]\n"
                                    "    chunk = torch.ops.aten.chunk.default(x, 4)\n"
                                    "    c = chunk[3]\n    return (a, b, c)\n");
  ck_assert_uint_eq(g->nodes.at[0]->result_count, 2);
  ck_assert_uint_eq(g->nodes.at[1]->result_count, 4);
  graph_fixture_end(&f);
}
END_TEST

// Floats that are a size times a number, rounded: sizes. 0.29 * 100 is 28.999..: no fraction.
START_TEST(sizes_times_floats) {
  struct graph_fixture r = read_good(
      "def forward(self, x: \"f32[s0]\"):\n"
      "    n: \"Sym(s0)\" = torch.ops.aten.sym_size.int(x, 0)\n"
      "    mul: \"Sym(2.5*ToFloat(s0))\" = n * 2.5\n"
      "    t: \"Sym(TruncToInt(2.5*ToFloat(s0)))\" = math_trunc(mul)\n"
      "    u: \"Sym(CeilToInt(IntTrueDiv(s0, 4)))\" = math_ceil(n / 4)\n"
      "    v: \"Sym(TruncToInt(0.6*ToFloat(s0)))\" = math_trunc(n * 0.6)\n"
      "    y: \"f32[TruncToInt(2.5*ToFloat(s0))]\" = torch.ops.aten.full.default([t], 1.0)\n"
      "    z: \"f32[CeilToInt(IntTrueDiv(s0, 4))]\" = torch.ops.aten.full.default([u], 1.0)\n"
      "    w = torch.ops.aten.full.default([v], 1.0)\n    return (y, z, w)\n");
  struct graph *g = r.graph;
  static const int64_t at_7[] = {17, 2, 4};
  for (size_t i = 0; i < 3; i++) {
    int64_t n, seven = 7;
    ck_assert(expr_eval(g->outputs.at[i]->shape[0], 1, g->symbols.at, &seven, &n));
    ck_assert_int_eq(n, at_7[i]);
  }
  graph_fixture_end(&r);
  read_refused("def forward(self, x: \"f32[s0]\"):\n"
               "    n = torch.ops.aten.sym_size.int(x, 0)\n"
               "    t = math_trunc(n * 0.29)\n    return (x,)\n",
               "which is not exact");
}
END_TEST

// A size plus a fraction is one too: centres of pixels.
START_TEST(sizes_plus_floats) {
  struct graph_fixture r =
      read_good("def forward(self, x: \"f32[s0]\"):\n"
                "    n: \"Sym(s0)\" = torch.ops.aten.sym_size.int(x, 0)\n"
                "    half: \"Sym((s0//2))\" = n // 2\n"
                "    a: \"f32[CeilToInt(FloatTrueDiv(ToFloat((s0//2)) - 0.5, 1.0))]\" = "
                "torch.ops.aten.arange.start(0.5, half)\n"
                "    b: \"f32[CeilToInt(IntTrueDiv(s0, 2) + 0.25)]\" = "
                "torch.ops.aten.arange.start_step(-0.5, n, 2)\n"
                "    c: \"Sym(FloorToInt(1.5*ToFloat(s0) + 2.75))\" = math_floor(n * 1.5 + 2.75)\n"
                "    w = torch.ops.aten.full.default([c], 1.0)\n    return (a, b, w)\n");
  struct graph *g = r.graph;
  static const int64_t at_7[] = {3, 4, 13};
  for (size_t i = 0; i < 3; i++) {
    int64_t n, seven = 7;
    ck_assert(expr_eval(g->outputs.at[i]->shape[0], 1, g->symbols.at, &seven, &n));
    ck_assert_int_eq(n, at_7[i]);
  }
  graph_fixture_end(&r);
  read_refused("def forward(self, x: \"f32[s0]\"):\n"
               "    n = torch.ops.aten.sym_size.int(x, 0)\n    t = math_ceil(n - 0.1)\n"
               "    return torch.ops.aten.full.default([t], 1.0)\n",
               "which is not exact");
}
END_TEST

// Numbers taken from tensors are values, but no sizes.
START_TEST(items) {
  struct graph_fixture r =
      read_good("def forward(self, x: \"f32[s0, 4]\", n: \"i64[1]\", f: \"f32[]\"):\n"
                "    item: \"Sym(u0)\" = torch.ops.aten.item.default(n)\n"
                "    real: \"Sym(zuf0)\" = torch.ops.aten._local_scalar_dense.default(f)\n"
                "    less: \"Sym(u0 - 1)\" = item - 1\n"
                "    a: \"f32[s0, 4]\" = torch.ops.aten.mul.Scalar(x, less)\n"
                "    b: \"f32[s0, 4]\" = torch.ops.aten.full_like.default(x, real)\n"
                "    c: \"f32[s0]\" = torch.ops.aten.select.int(x, 1, item)\n"
                "    d: \"b8[s0, 4]\" = torch.ops.aten.lt.Scalar(x, item)\n"
                "    return (a, b, c, d)\n");
  graph_fixture_end(&r);
  // Beside tensors of rank 0 they are numbers still: these give the result its type.
  r = read_good("def forward(self, s0: \"Sym(s0)\", x: \"f16[]\", i: \"i32[]\", n: \"i64[]\"):\n"
                "    item: \"Sym(u0)\" = torch.ops.aten.item.default(n)\n"
                "    part: \"Sym(FloatTrueDiv(0.3, ToFloat(u0)))\" = 0.3 / item\n"
                "    a: \"f16[]\" = torch.ops.aten.mul.Scalar(x, part)\n"
                "    b: \"i32[]\" = torch.ops.aten.sub.Tensor(i, item)\n"
                "    c: \"f32[]\" = torch.ops.aten.add.Tensor(i, part)\n"
                "    return (a, b, c)\n");
  graph_fixture_end(&r);
  read_refused("def forward(self, x: \"f32[8]\", n: \"i64[]\"):\n"
               "    item: \"Sym(u0)\" = torch.ops.aten.item.default(n)\n"
               "    y: \"f32[u0]\" = torch.ops.aten.slice.Tensor(x, 0, 0, item)\n    return (y,)\n",
               "no input has the size `u0`");
  read_refused("def forward(self, x: \"f32[8]\", n: \"i64[]\"):\n"
               "    item: \"Sym(u0)\" = torch.ops.aten.item.default(n)\n"
               "    y = torch.ops.aten.slice.Tensor(x, 0, 0, item)\n    return (y,)\n",
               "depends on the contents");
}
END_TEST

// They may stand behind any graph, and are printed there.
START_TEST(ranges_of_any_graph) {
  struct strbuf out = {0};
  struct graph_fixture r =
      read_good("class g(torch.nn.Module):\n"
                "    def forward(self, x: \"f32[s1, s2, s3]\"):\n"
                "        neg = torch.ops.aten.neg.default(x)\n        return (neg,)\n\n"
                "Range constraints: {s1: VR[2, 16], s3: VR[0, int_oo]}\n\n");
  const struct expr *const *dims = r.graph->inputs.at[0]->shape;
  ck_assert_int_eq(dims[0]->lo, 2);
  ck_assert_int_eq(dims[0]->hi, 16);
  ck_assert_int_eq(dims[1]->hi, INT32_MAX);
  graph_print(r.graph, &out);
  const char *line = strstr(strbuf_cstr(&out), "\nRange");
  ck_assert_ptr_nonnull(line);
  ck_assert_str_eq(line, "\nRange constraints: {s1: VR[2, 16], s3: VR[0, int_oo]}\n");
  struct graph_fixture again = read_good(strbuf_cstr(&out));
  ck_assert_int_eq(again.graph->inputs.at[0]->shape[0]->hi, 16);
  graph_fixture_end(&again);
  graph_fixture_end(&r);
  strbuf_finish(&out);
}
END_TEST

int main(void) {
  Suite *s = suite_create("read_sizes");
  TCase *t;
  t = tcase_create("sizes");
  tcase_add_test(t, sizes);
  tcase_add_test(t, ranges);
  tcase_add_test(t, sizes_of_strides);
  tcase_add_test(t, ranges_of_integers);
  tcase_add_test(t, sizes_of_polynomials);
  tcase_add_test(t, sizes_that_are_one);
  tcase_add_test(t, parts_of_symbolic_size);
  tcase_add_test(t, sizes_times_floats);
  tcase_add_test(t, sizes_plus_floats);
  tcase_add_test(t, items);
  tcase_add_test(t, ranges_of_any_graph);
  suite_add_tcase(s, t);
  SRunner *runner = srunner_create(s);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed != 0;
}
