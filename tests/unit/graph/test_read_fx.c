// SPDX-License-Identifier: Apache-2.0
// Reading the text of graphs: captured graphs survive print and read, each form of the text is
// parsed, errors have their codes, and no text crashes the reader or makes it slow.
#include "base/file.h"
#include "graph/ir/graph_operators.h"
#include "graph/ir/sizes.h"
#include "graph/read/fx.h"
#include "graph_fixture.h"

#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void must(const struct graph_fixture *r) {
  graph_fixture_require(r->diag, r->graph != NULL, "graph.py");
}

// ---- captured graphs ----

static void round_trip(struct str text, const char *name) {
  struct graph_fixture r = graph_fixture_read("graph.py", text);
  must(&r);
  struct strbuf first = {0}, second = {0};
  graph_print(r.graph, &first);
  struct graph_fixture again = graph_fixture_read("graph.py", (struct str){first.ptr, first.len});
  must(&again);
  graph_print(again.graph, &second);
  ck_assert_msg(strcmp(strbuf_cstr(&first), strbuf_cstr(&second)) == 0, "%s", name);
  ck_assert_uint_eq(r.graph->nodes.len, again.graph->nodes.len);
  ck_assert_uint_eq(r.graph->inputs.len, again.graph->inputs.len);
  ck_assert_uint_eq(r.graph->outputs.len, again.graph->outputs.len);
  ck_assert_uint_eq(r.graph->mutations.len, again.graph->mutations.len);
  for (size_t i = 0; i < r.graph->nodes.len; i++)
    ck_assert_int_eq(r.graph->nodes.at[i]->op, again.graph->nodes.at[i]->op);
  strbuf_finish(&first);
  strbuf_finish(&second);
  graph_fixture_end(&r);
  graph_fixture_end(&again);
}

static unsigned round_trip_folder(const char *folder) {
  unsigned count = 0;
  DIR *d = opendir(folder);
  ck_assert_ptr_nonnull(d);
  for (struct dirent *e; (e = readdir(d));) {
    struct arena *a = arena_create();
    struct str text;
    if (str_ends(str_from(e->d_name), ".py")) {
      ck_assert_int_eq(
          file_read(a, arena_printf(a, "%s/%s", folder, e->d_name), SOURCE_MAX_BYTES, &text), 0);
      round_trip(text, e->d_name);
      count++;
    }
    arena_destroy(a);
  }
  closedir(d);
  return count;
}

START_TEST(captures) { ck_assert_uint_eq(round_trip_folder(CAPTURES), 6); }
END_TEST

// More of them, where the environment names a folder.
START_TEST(more_captures) {
  const char *folder = getenv("TILE_GRAPHS");
  if (folder)
    ck_assert_uint_gt(round_trip_folder(folder), 0);
}
END_TEST

// ---- forms of the text ----

// A graph of the lines between the parameters and the return.
#define GRAPH(parameters, ...)                                                                     \
  "class <lambda>(torch.nn.Module):\n    def forward(self, " parameters "):\n        " __VA_ARGS__ \
  "\n"

static void refused(const char *text, const char *says) {
  struct graph_fixture f = graph_fixture_read("g.py", str_from(text));
  ck_assert_msg(!f.graph && strstr(diag_first_error(f.diag), says), "%s",
                f.graph ? "it was read" : diag_first_error(f.diag));
  graph_fixture_end(&f);
}

static struct graph_fixture good(const char *text) {
  struct graph_fixture r = graph_fixture_read("graph.py", str_from(text));
  must(&r);
  return r;
}

static void check_type(const struct value *v, const char *type) {
  struct strbuf out = {0};
  value_type_print(v, true, &out);
  ck_assert_str_eq(strbuf_cstr(&out), type);
  strbuf_finish(&out);
}

START_TEST(plain) {
  struct graph_fixture r =
      good(GRAPH("a: \"f32[2, 3][3, 1]cuda:0\", b: \"f32[3][1]cuda:0\"",
                 "# File: x.py:1 in f, code: a + b\n"
                 "        add: \"f32[2, 3][3, 1]cuda:0\" = "
                 "torch.ops.aten.add.Tensor(a, b, alpha = 2);  a = b = None\n\n"
                 "        return (add, None, add)"));
  ck_assert_str_eq(r.graph->name, "<lambda>");
  ck_assert_uint_eq(r.graph->inputs.len, 2);
  ck_assert_uint_eq(r.graph->nodes.len, 1);
  ck_assert_uint_eq(r.graph->outputs.len, 3);
  ck_assert_ptr_null(r.graph->outputs.at[1]);
  ck_assert_ptr_eq(r.graph->outputs.at[0], r.graph->outputs.at[2]);
  ck_assert_str_eq(r.graph->outputs.at[0]->name, "add");
  check_type(r.graph->outputs.at[0], "f32[2, 3][3, 1]");
  ck_assert_int_eq(node_int(r.graph->nodes.at[0], 2), 2);
  graph_fixture_end(&r);
}
END_TEST

// Without strides, quotes, class, annotations of results.
START_TEST(compact) {
  struct graph_fixture r = good("def forward(self, x: f32[256], y: bf16[4, 64]):\n"
                                "    sin: f32[256] = torch.ops.aten.sin.default(x)\n"
                                "    cos = torch.ops.aten.cos(sin)\n"
                                "    return cos, y\n");
  check_type(r.graph->outputs.at[0], "f32[256][1]");
  check_type(r.graph->outputs.at[1], "bf16[4, 64][64, 1]");
  graph_fixture_end(&r);
}
END_TEST

START_TEST(expanded) {
  struct graph_fixture r =
      good("class GraphModule(torch.nn.Module):\n"
           "    def forward(\n        self,\n        x: \"f32[8][1]cpu\",  # the input\n"
           "        s: \"b8[][]cpu\"\n    ) -> \"f32[8]\":\n"
           "        where: \"f32[8][1]cpu\" = torch.ops.aten.where.self(s, x, x);  s = x = None\n"
           "        return [where]\n");
  ck_assert_str_eq(r.graph->name, "GraphModule");
  ck_assert_int_eq(r.graph->inputs.at[1]->dtype, DTYPE_I1);
  ck_assert_uint_eq(r.graph->inputs.at[1]->rank, 0);
  graph_fixture_end(&r);
}
END_TEST

START_TEST(tuples) {
  struct graph_fixture r = good(
      GRAPH("x: \"f32[4, 6][6, 1]cpu\"",
            "split = torch.ops.aten.split.Tensor(x, 2, -1);  x = None\n"
            "        getitem: \"f32[4, 2][6, 1]cpu\" = split[0]\n"
            "        getitem_2: \"f32[4, 2][6, 1]cpu\" = split[2];  split = None\n"
            "        add: \"f32[4, 2][2, 1]cpu\" = torch.ops.aten.add.Tensor(getitem, getitem_2)\n"
            "        return (add,)"));
  const struct node *n = r.graph->nodes.at[0];
  ck_assert_uint_eq(n->result_count, 3);
  ck_assert_str_eq(n->name, "split");
  ck_assert_str_eq(n->results[2]->name, "getitem_2");
  check_type(n->results[0], "f32[4, 2][6, 1]");
  graph_fixture_end(&r);
}
END_TEST

START_TEST(literals) {
  struct graph_fixture r = good(GRAPH(
      "x: \"f32[4][1]cpu\"",
      "full = torch.ops.aten.full.default([2, 3], -inf, dtype = torch.float16, layout = "
      "torch.strided, device = "
      "device(type='cuda', index=0), pin_memory = False)\n"
      "        full_1 = torch.ops.aten.full.default([], 1e-05, dtype = torch.float32)\n"
      "        full_2 = torch.ops.aten.full.default((7,), nan)\n"
      "        slice_1 = torch.ops.aten.slice.Tensor(x, 0, 1, 9223372036854775807)\n"
      "        clone = torch.ops.aten.clone.default(x, memory_format = torch.contiguous_format)\n"
      "        gelu = torch.ops.aten.gelu.default(x, approximate = 'tanh')\n"
      "        clamp = torch.ops.aten.clamp.default(x, max = 2.5)\n"
      "        full_3 = torch.ops.aten.full.default([1], -9223372036854775808, dtype = "
      "torch.int64)\n"
      "        return (full, full_1, full_2, slice_1, clone, gelu, clamp, full_3)"));
  struct graph *g = r.graph;
  check_type(g->outputs.at[0], "f16[2, 3][3, 1]");
  ck_assert_double_lt(node_real(g->nodes.at[0], 1), -1e300);
  ck_assert_double_eq(node_real(g->nodes.at[1], 1), 1e-05);
  ck_assert(node_real(g->nodes.at[2], 1) != node_real(g->nodes.at[2], 1));
  check_type(g->outputs.at[2], "f32[7][1]");
  check_type(g->outputs.at[3], "f32[3][1]");
  ck_assert(str_is(g->nodes.at[5]->args[1].string, "tanh"));
  ck_assert(node_is_none(g->nodes.at[6], 1));
  ck_assert_double_eq(node_real(g->nodes.at[6], 2), 2.5);
  ck_assert_int_eq(node_int(g->nodes.at[7], 1), INT64_MIN);
  graph_fixture_end(&r);
}
END_TEST

START_TEST(sizes) {
  struct graph_fixture r = good(
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
  check_type(g->outputs.at[2], "i64[][]");
  int64_t n, s = 3;
  ck_assert(expr_eval(g->outputs.at[0]->shape[0], 1, g->symbols.at, &s, &n));
  ck_assert_int_eq(n, 36);
  graph_fixture_end(&r);
}
END_TEST

START_TEST(attributes) {
  struct graph_fixture r = good(GRAPH(
      "x: \"f32[3][1]cpu\"",
      "_tensor_constant0: \"f32[3][1]cpu\" = self._tensor_constant0\n"
      "        add = torch.ops.aten.add.Tensor(x, _tensor_constant0);  _tensor_constant0 = None\n"
      "        return add"));
  ck_assert_uint_eq(r.graph->inputs.len, 2);
  ck_assert_str_eq(r.graph->inputs.at[1]->name, "_tensor_constant0");
  graph_fixture_end(&r);
}
END_TEST

START_TEST(writes) {
  struct graph_fixture r =
      good(GRAPH("m: \"f32[3][1]cpu\", x: \"f32[3][1]cpu\"",
                 "add: \"f32[3][1]cpu\" = torch.ops.aten.add.Tensor(m, x)\n"
                 "        copy_: \"f32[3][1]cpu\" = torch.ops.aten.copy_.default(m, "
                 "add);  add = copy_ = None\n"
                 "        mul: \"f32[3][1]cpu\" = torch.ops.aten.mul.Tensor(m, 2)\n"
                 "        return (mul,)"));
  ck_assert_uint_eq(r.graph->mutations.len, 1);
  ck_assert_ptr_eq(r.graph->mutations.at[0].input, r.graph->inputs.at[0]);
  ck_assert_str_eq(r.graph->mutations.at[0].value->name, "add");
  // What is read afterwards is what was written.
  ck_assert_ptr_eq(node_value(r.graph->nodes.at[1], 0), r.graph->mutations.at[0].value);
  graph_fixture_end(&r);
}
END_TEST

// In the dtype of the input; each operator sees what the one before it wrote.
START_TEST(writes_in_place) {
  struct graph_fixture r =
      good(GRAPH("m: \"f32[3][1]cpu\", x: \"f64[3][1]cpu\"",
                 "a: \"f32[3][1]cpu\" = torch.ops.aten.add_.Tensor(m, x)\n"
                 "        b: \"f32[3][1]cpu\" = torch.ops.aten.mul_.Tensor(m, 2)\n"
                 "        c = torch.ops.aten.zero_.default(x)\n"
                 "        return (a,)"));
  ck_assert_uint_eq(r.graph->mutations.len, 2);
  const struct value *last = r.graph->mutations.at[0].value;
  ck_assert_int_eq(last->def->op, OP_MUL_TENSOR);
  ck_assert_int_eq(node_value(last->def, 0)->dtype, DTYPE_F32);
  ck_assert_int_eq(node_value(last->def, 0)->def->op, OP_COPY);
  graph_fixture_end(&r);
}
END_TEST

// Colours of a terminal, an exported program with its signature.
START_TEST(wrappings) {
  struct graph_fixture r =
      good("\033[32mclass\033[0m <lambda>(torch.nn.Module):\n    def forward(self, x: "
           "\"f32\033[34m[3]\033[0m\"):\n"
           "        \033[2mneg\033[0m = torch.ops.aten.neg.default(x)\n        return neg\n");
  graph_fixture_end(&r);
  r = good("ExportedProgram:\n    class GraphModule(torch.nn.Module):\n        def forward(self, "
           "p_w: \"f32[3]\", x: \"f32[3]\"):\n"
           "            mul: \"f32[3]\" = torch.ops.aten.mul.Tensor(x, p_w);  x = p_w = None\n     "
           "       return (mul,)\n\n"
           "Graph signature:\n    # inputs\n    p_w: PARAMETER target='w'\n    x: "
           "USER_INPUT\n\nRange constraints: {}\n");
  ck_assert_str_eq(r.graph->name, "GraphModule");
  graph_fixture_end(&r);
}
END_TEST

// The ranges that an exported program gives its sizes.
START_TEST(ranges) {
  struct graph_fixture r =
      good("ExportedProgram:\n    class GraphModule(torch.nn.Module):\n"
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
  struct graph_fixture r = good("def forward(self, n: \"Sym(s2)\", x: \"f32[s0, s1][s2, 1]\"):\n"
                                "    y = torch.ops.aten.neg.default(x)\n    return (y,)\n");
  graph_find_sizes(r.graph);
  ck_assert_uint_eq(r.graph->given_sizes.len, 0);
  ck_assert_uint_eq(r.graph->size_sources.len, 3);
  ck_assert(r.graph->size_sources.at[2].is_stride && r.graph->size_sources.at[2].dim == 0);
  graph_fixture_end(&r);
  r = good("def forward(self, n: \"Sym(s2)\", x: \"f32[s0]\"):\n"
           "    y = torch.ops.aten.slice.Tensor(x, 0, n)\n    return (y,)\n");
  graph_find_sizes(r.graph);
  ck_assert_uint_eq(r.graph->given_sizes.len, 1);
  ck_assert(!graph_give_size(r.graph, "s0", 4) && graph_give_size(r.graph, "s2", 4));
  graph_fixture_end(&r);
}
END_TEST

// Integers that are no size of a tensor may be 0, sizes of tensors are at least 1.
START_TEST(ranges_of_integers) {
  struct graph_fixture r = good("class <lambda>(torch.nn.Module):\n"
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
  struct graph_fixture r = good("def forward(self, x: \"f32[s0**2 + 3*s0]\"):\n"
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
  struct graph_fixture r =
      good("def forward(self, x: \"f32[s0]\"):\n"
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
  refused("def forward(self, x: \"f32[s0]\"):\n"
          "    n = torch.ops.aten.sym_size.int(x, 0)\n"
          "    t = math_trunc(n * 0.29)\n    return (x,)\n",
          "which is not exact");
}
END_TEST

// A size plus a fraction is one too: centres of pixels.
START_TEST(sizes_plus_floats) {
  struct graph_fixture r =
      good("def forward(self, x: \"f32[s0]\"):\n"
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
  refused("def forward(self, x: \"f32[s0]\"):\n"
          "    n = torch.ops.aten.sym_size.int(x, 0)\n    t = math_ceil(n - 0.1)\n"
          "    return torch.ops.aten.full.default([t], 1.0)\n",
          "which is not exact");
}
END_TEST

// Numbers taken from tensors are values, but no sizes.
START_TEST(items) {
  struct graph_fixture r =
      good("def forward(self, x: \"f32[s0, 4]\", n: \"i64[1]\", f: \"f32[]\"):\n"
           "    item: \"Sym(u0)\" = torch.ops.aten.item.default(n)\n"
           "    real: \"Sym(zuf0)\" = torch.ops.aten._local_scalar_dense.default(f)\n"
           "    less: \"Sym(u0 - 1)\" = item - 1\n"
           "    a: \"f32[s0, 4]\" = torch.ops.aten.mul.Scalar(x, less)\n"
           "    b: \"f32[s0, 4]\" = torch.ops.aten.full_like.default(x, real)\n"
           "    c: \"f32[s0]\" = torch.ops.aten.select.int(x, 1, item)\n"
           "    d: \"b8[s0, 4]\" = torch.ops.aten.lt.Scalar(x, item)\n"
           "    return (a, b, c, d)\n");
  graph_fixture_end(&r);
  refused("def forward(self, x: \"f32[8]\", n: \"i64[]\"):\n"
          "    item: \"Sym(u0)\" = torch.ops.aten.item.default(n)\n"
          "    y: \"f32[u0]\" = torch.ops.aten.slice.Tensor(x, 0, 0, item)\n    return (y,)\n",
          "no input has the size `u0`");
  refused("def forward(self, x: \"f32[8]\", n: \"i64[]\"):\n"
          "    item: \"Sym(u0)\" = torch.ops.aten.item.default(n)\n"
          "    y = torch.ops.aten.slice.Tensor(x, 0, 0, item)\n    return (y,)\n",
          "depends on the contents");
}
END_TEST

// They may stand behind any graph, and are printed there.
START_TEST(ranges_of_any_graph) {
  struct strbuf out = {0};
  struct graph_fixture r =
      good("class g(torch.nn.Module):\n"
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
  struct graph_fixture again = good(strbuf_cstr(&out));
  ck_assert_int_eq(again.graph->inputs.at[0]->shape[0]->hi, 16);
  graph_fixture_end(&again);
  graph_fixture_end(&r);
  strbuf_finish(&out);
}
END_TEST

// ---- what is wrong ----

#define X "x: \"f32[2, 3][3, 1]cpu\""
static const struct {
  enum diag_code code;
  const char *text;
} wrongs[] = {
    {E1001, ""},
    {E1001, "x = 1\n"},
    {E1001, "class <lambda>(torch.nn.Module):\n    def forward(self, " X "):\n"},
    {E1001, GRAPH(X, "neg = torch.ops.aten.neg.default(x)")},
    {E1001, GRAPH("x", "return x")},
    {E1001, GRAPH(X, "return x") "Range constraints: {s0: 3}\n"},
    {E1001, GRAPH(X, "return x") "Range constraints: {s0: VR[4, 3]}\n"},
    {E1001, GRAPH(X, "return x") "Range constraints: {s0: VR[1, 3]} more\n"},
    {E1001, GRAPH(X, "return x") "Range\n"},
    {E1001, GRAPH("x: \"f33[2]\"", "return x")},
    {E1001, GRAPH("x: \"f32[2\"", "return x")},
    {E1001, GRAPH("x: \"f32[2, 3][1]\"", "return x")},
    {E1001, GRAPH("x: \"f32[-2]\"", "return x")},
    {E1001, GRAPH("x: \"f32[2.5]\"", "return x")},
    {E0103, GRAPH(X, "neg = torch.ops.aten.neg.default(x\n        return neg")},
    {E1001, GRAPH(X, "neg = torch.ops.aten.neg.default(x) x\n        return neg")},
    {E1001, GRAPH(X, "x = torch.ops.aten.neg.default(x)\n        return x")},
    {E1001, GRAPH(X, "c = self.c\n        return c")},
    {E1001, GRAPH(X, "return x\n        neg = torch.ops.aten.neg.default(x)")},
    {E1001, GRAPH(X, "return 1.5")},
    {E1001, GRAPH("x: \"f32[s0//0]\"", "return x")},
    {E1002, GRAPH(X, "neg = torch.ops.aten.negg.default(x)\n        return neg")},
    {E1003, GRAPH(X, "neg = torch.ops.aten.neg.default(x, x)\n        return neg")},
    {E1003, GRAPH(X, "neg = torch.ops.aten.neg.default()\n        return neg")},
    {E1003, GRAPH(X, "neg = torch.ops.aten.neg.default(y = x)\n        return neg")},
    {E1003, GRAPH(X, "neg = torch.ops.aten.neg.default(x, self = x)\n        return neg")},
    {E1003, GRAPH(X, "s = torch.ops.aten.sym_size.int(x, 2)\n        return s")},
    {E1003, GRAPH(X, "s = torch.ops.aten.split.Tensor(x, 1)\n        g = s[2]\n        return g")},
    {E1006, GRAPH(X, "neg: \"f32[3, 2]\" = torch.ops.aten.neg.default(x)\n        return neg")},
    {E1006, GRAPH(X, "neg: \"f16[2, 3]\" = torch.ops.aten.neg.default(x)\n        return neg")},
    {E1006, GRAPH(X, "neg: \"f32[6]\" = torch.ops.aten.neg.default(x)\n        return neg")},
    {E1006, GRAPH(X, "neg: \"f32[u0, 3]\" = torch.ops.aten.neg.default(x)\n        return neg")},
    {E1006, GRAPH(X, "neg: \"Sym(3)\" = torch.ops.aten.neg.default(x)\n        return neg")},
    {E1006, GRAPH(X, "s: \"Sym(3)\" = torch.ops.aten.sym_size.int(x, 0)\n        return s")},
    {E1007, GRAPH(X, "neg = torch.ops.aten.neg.default(y)\n        return neg")},
    {E1007, GRAPH(X, "a = torch.ops.aten.neg.default(b)\n        b = "
                     "torch.ops.aten.neg.default(a)\n        return a")},
    {E1007, GRAPH(X, "a = torch.ops.aten.neg.default(x);  x = None\n        return x")},
    {E1008, GRAPH(X, "a = x.float()\n        return a")},
    {E1008, GRAPH(X, "a = x + x\n        return a")},
    {E1008, GRAPH(X, "a = x > 1\n        return a")},
    {E1008, GRAPH(X, "a = x[0]\n        return a")},
    {E1008, GRAPH(X, "x += 1\n        return x")},
    {E1008, GRAPH(X, "a = torch.nn.functional.relu(x)\n        return a")},
    {E1008, GRAPH(X, "a = self.linear(x)\n        return a")},
    {E1003, GRAPH(X, "a = torch.ops.higher_order.cond(x, x, x)\n        return a")},
    {E1008, GRAPH(X, "a = len(x)\n        return a")},
    {E1008, GRAPH("args_list", "return args_list")},
    {E1001, GRAPH("x: \"c16[2]\"", "return x")},
    {E1008, GRAPH("x: \"DTensor(f32[2])\"", "return x")},
    {E1008, GRAPH(X, "return x\n\nclass B(torch.nn.Module):\n    def forward(self):\n        "
                     "return 1")},
    {E1008, GRAPH(X, "v = torch.ops.aten.view.dtype(x, torch.int32)\n        "
                     "c = torch.ops.aten.fill_.Scalar(v, 1)\n        return c")},
    {E1008, GRAPH("x: \"c64[2]\"", "v = torch.ops.aten.view_as_real.default(x)\n        "
                                   "c = torch.ops.aten.fill_.Scalar(v, 1)\n        return c")},
    {E1008, GRAPH("x: \"f32[2, 3][1, 2]\"",
                  "v = torch.ops.aten.as_strided.default(x, [2], [3])\n        "
                  "c = torch.ops.aten.fill_.Scalar(v, 1)\n        return c")},
    {E1003, GRAPH(X, "a = torch.ops.aten.copy_.default(x, 1)\n        return a")},
    {E1003, GRAPH(X, "a = torch.ops.aten.relu_.default(1)\n        return a")},
    {E1009, GRAPH("x: \"f32[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\"", "return x")},
    {E1009, GRAPH("x: \"f32[18446744073709551616]\"", "return x")},
    {E1009, GRAPH("x: \"f32[9223372036854775807 * 2]\"", "return x")},
    {E0911, GRAPH("x: \"f32[1099511627776, 1099511627776]\"", "return x")},
    {E0911, GRAPH("x: \"f32[2][9223372036854775807]\"", "return x")},
    {E0911, GRAPH("x: \"f32[1]\"",
                  "y = torch.ops.aten.expand.default(x, [9223372036854775807])\n        return y")},
};

START_TEST(wrong) {
  struct graph_fixture r = graph_fixture_read("graph.py", str_from(wrongs[_i].text));
  struct strbuf out = {0};
  diag_render_text(r.diag, (struct diag_style){0}, &out);
  ck_assert_msg(!r.graph && diag_first_error_code(r.diag) == wrongs[_i].code, "%s\n%s",
                wrongs[_i].text, strbuf_cstr(&out));
  // Each with a location.
  ck_assert_msg(strncmp(strbuf_cstr(&out), "graph.py:", 9) == 0, "%s", strbuf_cstr(&out));
  strbuf_finish(&out);
  graph_fixture_end(&r);
}
END_TEST

// All unknown operators in one message, with their uses; what depends on them stays silent.
START_TEST(unknown_operators) {
  struct graph_fixture r = graph_fixture_read(
      "graph.py", STR(GRAPH(X, "a = torch.ops.aten.frobnicate.default(x)\n        b = "
                               "torch.ops.aten.frobnicate.default(a)\n"
                               "        c: \"f32[7]\" = torch.ops.aten.sofmax.int(b)\n        d = "
                               "torch.ops.aten.neg.default(c)\n"
                               "        return (a, b, c, d)")));
  ck_assert_uint_eq(diag_error_count(r.diag), 1);
  ck_assert_int_eq(diag_first_error_code(r.diag), E1002);
  ck_assert_ptr_nonnull(
      strstr(diag_first_error(r.diag), "`aten.frobnicate.default` (2), `aten.sofmax.int` (1)"));
  struct strbuf out = {0};
  diag_render_text(r.diag, (struct diag_style){0}, &out);
  ck_assert_ptr_nonnull(strstr(strbuf_cstr(&out), "`aten.softmax.int`"));
  strbuf_finish(&out);
  graph_fixture_end(&r);
}
END_TEST

// ---- hostile text ----

static void swallow(const char *bytes, size_t n) {
  // An exact copy, so that the sanitizer sees a read past the end.
  char *copy = malloc(n + (n == 0));
  memcpy(copy, bytes, n);
  struct graph_fixture r = graph_fixture_read("graph.py", (struct str){copy, n});
  struct strbuf out = {0};
  if (r.graph)
    graph_print(r.graph, &out);
  diag_render_text(r.diag, (struct diag_style){0}, &out);
  strbuf_finish(&out);
  graph_fixture_end(&r);
  free(copy);
}

static struct str capture(struct arena *a, const char *name) {
  struct str text;
  ck_assert_int_eq(file_read(a, arena_printf(a, "%s/%s", CAPTURES, name), SOURCE_MAX_BYTES, &text),
                   0);
  return text;
}

START_TEST(cut_off) {
  struct arena *a = arena_create();
  struct str text = capture(a, "gpt2.inductor.train.bw1.py");
  for (size_t n = 0; n < text.len; n++)
    swallow(text.ptr, n);
  text = capture(a, "gpt2.none.infer.inf1.py");
  for (size_t n = 0; n < text.len; n += 97)
    swallow(text.ptr, n);
  arena_destroy(a);
}
END_TEST

static uint64_t next(uint64_t *state) {
  *state += 0x9e3779b97f4a7c15u;
  uint64_t z = *state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

START_TEST(mutated) {
  static const char *const pieces[] = {"0",
                                       "-",
                                       "[",
                                       "]",
                                       "(",
                                       ")",
                                       ",",
                                       "=",
                                       "None",
                                       "\"",
                                       ";",
                                       "\n",
                                       "s0",
                                       "inf",
                                       "self",
                                       "torch.",
                                       "9223372036854775807",
                                       "** 62",
                                       "// 0",
                                       "\033[",
                                       "x[0]",
                                       "*",
                                       "        "};
  struct arena *a = arena_create();
  struct str text = capture(a, _i % 2 ? "gpt2.inductor.train.bw1.py" : "gpt2.none.train.bw2.py");
  uint64_t state = (uint64_t)_i;
  for (int round = 0; round < 60; round++) {
    struct strbuf b = {0};
    size_t from = 0;
    for (int k = (int)(next(&state) % 4) + 1; k > 0 && from < text.len; k--) {
      size_t at = from + next(&state) % (text.len - from);
      strbuf_put(&b, text.ptr + from, at - from);
      from = at + next(&state) % 8 * (next(&state) % 2);
      if (next(&state) % 4)
        strbuf_puts(&b, pieces[next(&state) % COUNT_OF(pieces)]);
      else
        strbuf_putc(&b, (char)next(&state));
    }
    if (from < text.len)
      strbuf_put(&b, text.ptr + from, text.len - from);
    swallow(b.ptr, b.len);
    strbuf_finish(&b);
  }
  arena_destroy(a);
}
END_TEST

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// What takes a second for this many lines would take hours if it were quadratic.
enum { LINES = 100000 };

static void check_time(const struct strbuf *b, bool is_good) {
  double begin = seconds();
  struct graph_fixture r = graph_fixture_read("graph.py", (struct str){b->ptr, b->len});
  if (is_good)
    must(&r);
  ck_assert_double_lt(seconds() - begin, 20);
  graph_fixture_end(&r);
}

START_TEST(many_lines) {
  static const struct {
    const char *line;
    bool is_good;
  } forms[] = {
      {"y%d: \"f32[8][1]cpu\" = torch.ops.aten.sin.default(y%d);  y%d = None\n", true},
      {"y%d: \"Sym(s0 + %d)\" = y%d * 1\n", false},
      {"y%d = torch.ops.aten.nope%d.default(y%d)\n", false},
      {"y%d = torch.ops.aten.neg.default(z%d, %d)\n", false},
      {"y%d = torch.ops.aten.view.default(y%d, [-1]);  z%d = None\n", true},
      {"y%d = torch.ops.aten.neg.default(y0);  z%d%d = None\n", true},
      {"y%d = torch.ops.aten.copy_.default(y0, x1);  z%d%d = None\n", true},
  };
  struct strbuf b = {0};
  strbuf_puts(
      &b,
      "class <lambda>(torch.nn.Module):\n    def forward(self, y0: \"f32[8]\", x1: \"f32[8]\"):\n");
  for (int i = 1; i <= LINES; i++) {
    char line[160];
    // The formats are the three above the array; each takes three numbers.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(line, sizeof line, forms[_i].line, i, i - 1, i - 1);
#pragma GCC diagnostic pop
    strbuf_printf(&b, "        %s", line);
  }
  strbuf_printf(&b, "        return (y%d,)\n", LINES);
  check_time(&b, forms[_i].is_good);
  strbuf_finish(&b);
}
END_TEST

START_TEST(deep) {
  static const char *const opens[] = {"[", "(", "-", "neg(", "x + ", "x // ", "Max(1, "};
  for (size_t k = 0; k < COUNT_OF(opens); k++)
    for (int n = 200; n <= 200000; n *= 10) {
      struct strbuf b = {0};
      strbuf_puts(
          &b, "class G(torch.nn.Module):\n    def forward(self, x: \"Sym(s0)\"):\n        y = ");
      for (int i = 0; i < n; i++)
        strbuf_puts(&b, opens[k]);
      strbuf_puts(&b, "1\n        return y\n");
      swallow(b.ptr, b.len);
      strbuf_finish(&b);
    }
}
END_TEST

// Operators with very many results.
START_TEST(many_results) {
  struct strbuf b = {0};
  strbuf_puts(&b, "def forward(self, x: f32[65536]):\n");
  for (int i = 0; i < 200; i++)
    strbuf_printf(&b, "    y%d = torch.ops.aten.unbind.int(x)\n", i);
  strbuf_puts(&b, "    return (x,)\n");
  struct graph_fixture r = graph_fixture_read("graph.py", (struct str){b.ptr, b.len});
  ck_assert_ptr_null(r.graph);
  ck_assert_int_eq(diag_first_error_code(r.diag), E1009);
  graph_fixture_end(&r);
  strbuf_finish(&b);
}
END_TEST

// Symbolic numbers that grow from line to line end with a limit.
START_TEST(growing_sizes) {
  static const char *const steps[] = {"y%d = y%d * y%d\n", "y%d = y%d // x + y%d\n",
                                      "y%d = Max(y%d, y%d * x + 1)\n",
                                      "y%d = (y%d + x) * (y%d + z)\n"};
  for (size_t k = 0; k < COUNT_OF(steps); k++) {
    struct strbuf b = {0};
    strbuf_puts(&b, "class G(torch.nn.Module):\n    def forward(self, x: \"Sym(s0)\", z: "
                    "\"Sym(s1)\"):\n        y0 = x + z\n");
    for (int i = 1; i <= 2000; i++) {
      char line[96];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
      snprintf(line, sizeof line, steps[k], i, i - 1, i - 1);
#pragma GCC diagnostic pop
      strbuf_printf(&b, "        %s", line);
    }
    strbuf_puts(&b, "        return (y2000,)\n");
    check_time(&b, false);
    strbuf_finish(&b);
  }
}
END_TEST

int main(void) {
  Suite *s = suite_create("read_fx");
  TCase *t = tcase_create("forms");
  tcase_add_test(t, plain);
  tcase_add_test(t, compact);
  tcase_add_test(t, expanded);
  tcase_add_test(t, tuples);
  tcase_add_test(t, literals);
  tcase_add_test(t, sizes);
  tcase_add_test(t, attributes);
  tcase_add_test(t, writes);
  tcase_add_test(t, writes_in_place);
  tcase_add_test(t, wrappings);
  tcase_add_test(t, ranges);
  tcase_add_test(t, sizes_of_strides);
  tcase_add_test(t, sizes_of_polynomials);
  tcase_add_test(t, ranges_of_integers);
  tcase_add_test(t, sizes_that_are_one);
  tcase_add_test(t, parts_of_symbolic_size);
  tcase_add_test(t, sizes_times_floats);
  tcase_add_test(t, sizes_plus_floats);
  tcase_add_test(t, items);
  tcase_add_test(t, ranges_of_any_graph);
  tcase_add_loop_test(t, wrong, 0, COUNT_OF(wrongs));
  tcase_add_test(t, unknown_operators);
  suite_add_tcase(s, t);
  t = tcase_create("captures");
  tcase_set_timeout(t, 120);
  tcase_add_test(t, captures);
  tcase_add_test(t, more_captures);
  suite_add_tcase(s, t);
  t = tcase_create("hostile");
  tcase_set_timeout(t, 300);
  tcase_add_test(t, cut_off);
  tcase_add_loop_test(t, mutated, 0, 8);
  tcase_add_loop_test(t, many_lines, 0, 7);
  tcase_add_test(t, deep);
  tcase_add_test(t, many_results);
  tcase_add_test(t, growing_sizes);
  suite_add_tcase(s, t);
  SRunner *runner = srunner_create(s);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed != 0;
}
