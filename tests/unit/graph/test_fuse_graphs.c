// SPDX-License-Identifier: Apache-2.0
// Fusion of graphs: the number of kernels of common patterns in all their forms, and the results of
// regions, which the interpreter of loops runs over the regions' axes.
#include "graph/reference/inputs.h"
#include "loops_check.h"
#include "regions_check.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

struct pattern {
  const char *name, *params, *body, *result;
  size_t regions;
  enum region_kind kind; // of the last one
};

#define X32 "x: \"f32[32, 64]\""
#define LINE "        "
#define OP(to, call) LINE to " = torch.ops.aten." call "\n"

static const struct pattern patterns[] = {
    {"sin-cos", X32, OP("a", "sin.default(x)") OP("b", "cos.default(a)"), "b", 1, REGION_MAP},
    {"bias, gelu, residual", X32 ", w: \"f32[64]\", b: \"f32[64]\", r: \"f32[32, 64]\"",
     OP("m", "mul.Tensor(x, w)") OP("a", "add.Tensor(m, b)") OP("g", "gelu.default(a)")
         OP("y", "add.Tensor(g, r)"),
     "y", 1, REGION_MAP},
    {"swiglu", X32 ", u: \"f32[32, 64]\"", OP("s", "silu.default(x)") OP("y", "mul.Tensor(s, u)"),
     "y", 1, REGION_MAP},
    {"rope", "x: \"f32[2, 4, 12, 32]\", c: \"f32[12, 32]\", s: \"f32[12, 32]\"",
     OP("m", "mul.Tensor(x, c)") OP("lo", "slice.Tensor(x, 3, 0, 16)")
         OP("hi", "slice.Tensor(x, 3, 16, 9223372036854775807)") OP("n", "neg.default(hi)")
             OP("t", "cat.default([n, lo], -1)") OP("u", "mul.Tensor(t, s)")
                 OP("y", "add.Tensor(m, u)"),
     "y", 1, REGION_MAP},
    {"transpose and add", X32 ", u: \"f32[64, 32]\"",
     OP("t", "permute.default(u, [1, 0])") OP("y", "add.Tensor(x, t)"), "y", 1, REGION_MAP},
    {"an input that is updated", X32 ", g: \"f32[32, 64]\"",
     OP("m", "mul.Tensor(g, 0.1)") OP("y", "sub.Tensor(x, m)") OP("e", "exp.default(x)")
         OP("c", "copy_.default(x, y)"),
     "y, e", 1, REGION_MAP},
    {"an input that is updated elsewhere than it is read", X32,
     OP("t", "flip.default(x, [0])") OP("y", "exp.default(t)") OP("z", "mul.Tensor(x, 2)")
         OP("c", "copy_.default(x, z)"),
     "y", 2, REGION_MAP},
    {"softmax", X32, OP("y", "_softmax.default(x, -1, False)"), "y", 1, REGION_ROWS},
    {"softmax of rows in columns", X32, OP("y", "_softmax.default(x, 0, False)"), "y", 1,
     REGION_ROWS},
    {"softmax of few", "x: \"f32[16, 9, 5]\"", OP("y", "_softmax.default(x, 2, False)"), "y", 1,
     REGION_ROWS},
    {"layer norm of few", "x: \"f32[160, 4]\"",
     OP("n", "native_layer_norm.default(x, [4], None, None, 1e-05)") LINE "y = n[0]\n", "y", 1,
     REGION_ROWS},
    {"sum of few", "x: \"f32[16, 9, 5]\"",
     OP("s", "sum.dim_IntList(x, [2])") OP("y", "exp.default(s)"), "y", 1, REGION_MAP},
    {"log softmax", X32, OP("y", "_log_softmax.default(x, 1, False)"), "y", 1, REGION_ROWS},
    {"layer norm", X32 ", w: \"f32[64]\", b: \"f32[64]\"",
     OP("n", "native_layer_norm.default(x, [64], w, b, 1e-05)") LINE "y = n[0]\n" LINE
                                                                     "m = n[1]\n" LINE "r = n[2]\n",
     "y, m, r", 1, REGION_ROWS},
    {"layer norm and gelu", X32 ", w: \"f32[64]\", b: \"f32[64]\"",
     OP("n", "native_layer_norm.default(x, [64], w, b, 1e-05)") LINE
     "a = n[0]\n" OP("y", "gelu.default(a)"),
     "y", 1, REGION_ROWS},
    {"layer norm of heads that are moved after", "x: \"f32[2, 12, 3, 40]\", w: \"f32[40]\"",
     OP("n", "native_layer_norm.default(x, [40], w, None, 1e-05)") LINE
     "a = n[0]\n" OP("p", "permute.default(a, [0, 2, 1, 3])")
         OP("y", "clone.default(p, memory_format = torch.contiguous_format)"),
     "y", 1, REGION_ROWS},
    {"residual and rms norm", X32 ", r: \"f32[32, 64]\", w: \"f32[64]\"",
     OP("a", "add.Tensor(x, r)") OP("p", "pow.Tensor_Scalar(a, 2)")
         OP("m", "mean.dim(p, [-1], True)") OP("e", "add.Tensor(m, 1e-06)")
             OP("q", "rsqrt.default(e)") OP("h", "mul.Tensor(a, q)") OP("y", "mul.Tensor(h, w)"),
     "y, a", 1, REGION_ROWS},
    {"cross entropy", X32 ", t: \"i64[32]\"",
     OP("l", "_log_softmax.default(x, 1, False)")
         OP("n", "nll_loss_forward.default(l, t, None, 1, -100)") LINE "y = n[0]\n",
     "y", 1, REGION_ROW_COLUMN},
    {"backward of softmax", X32 ", g: \"f32[32, 64]\"",
     OP("y", "_softmax_backward_data.default(g, x, 1, torch.float32)"), "y", 1, REGION_ROWS},
    {"backward of layer norm",
     "g: \"f32[96, 64]\", x: \"f32[96, 64]\", m: \"f32[96, 1]\", r: \"f32[96, 1]\", w: "
     "\"f32[64]\", b: \"f32[64]\"",
     OP("n", "native_layer_norm_backward.default(g, x, [64], m, r, w, b, [True, True, True])") LINE
     "dx = n[0]\n" LINE "dw = n[1]\n" LINE "db = n[2]\n",
     "dx, dw, db", 1, REGION_ROW_COLUMN},
    {"variance of columns", "x: \"f32[96, 64]\"", OP("y", "var.correction(x, [0], correction = 1)"),
     "y", 1, REGION_ROWS},
    {"sum of all", X32, OP("y", "sum.default(x)"), "y", 1, REGION_ROWS},
    {"argmax over two axes", "x: \"f32[12, 10, 11]\"",
     OP("p", "permute.default(x, [1, 0, 2])") OP("y", "argmax.default(p)"), "y", 1, REGION_ROWS},
    {"linear and gelu", X32 ", w: \"f32[96, 64]\", b: \"f32[96]\"",
     OP("l", "linear.default(x, w, b)") OP("y", "gelu.default(l)"), "y", 1, REGION_PRODUCT},
    {"linear, heads moved, bias of a half",
     "x: \"f16[2, 9, 64]\", w: \"f16[96, 64]\", b: \"f16[96]\"",
     OP("l", "linear.default(x, w, b)") OP("v", "view.default(l, [2, 9, 12, 8])")
         OP("p", "permute.default(v, [0, 2, 1, 3])") OP("e", "exp.default(p)")
             OP("y", "clone.default(e, memory_format = torch.contiguous_format)"),
     "y", 1, REGION_PRODUCT},
    {"a mlp with swiglu",
     X32 ", w: \"f32[96, 64]\", u: \"f32[96, 64]\", d: \"f32[64, 96]\", r: \"f32[32, 64]\"",
     OP("a", "linear.default(x, w)") OP("s", "silu.default(a)") OP("b", "linear.default(x, u)")
         OP("m", "mul.Tensor(s, b)") OP("o", "linear.default(m, d)") OP("y", "add.Tensor(o, r)"),
     "y", 2, REGION_PRODUCT},
};

static struct graph *graph_of(struct arena *a, const char *name, const char *params,
                              const char *body, const char *result) {
  char *text = arena_printf(a,
                            "class G(torch.nn.Module):\n    def forward(self, %s):\n%s"
                            "        return (%s,)\n",
                            params, body, result);
  return graph_of_text(a, str_from(text), name);
}

static struct regions *check_graph(struct graph *g, const char *name, size_t count) {
  struct loops *l = loops_of(g, name);
  struct regions *r = regions_form(l, &(struct fuse_options){0});
  ck_assert_ptr_nonnull(r);
  struct strbuf out = {0};
  regions_print(r, &out);
  ck_assert_msg(r->list.len == count, "%s: %zu regions instead of %zu:\n%.3000s", name, r->list.len,
                count, strbuf_cstr(&out));
  strbuf_finish(&out);
  regions_hold(r, name);
  loops_agree(g, loops_of_regions(r), NULL, name);
  return r;
}

START_TEST(pattern) {
  const struct pattern *p = &patterns[_i];
  struct arena *a = arena_create();
  struct graph *g = graph_of(a, p->name, p->params, p->body, p->result);
  struct regions *r = check_graph(g, p->name, p->regions);
  ck_assert_int_eq(r->list.at[r->list.len - 1]->kind, p->kind);
  arena_destroy(a);
}
END_TEST

// ---- sizes ----

START_TEST(symbolic_sizes) {
  struct arena *a = arena_create();
  struct graph *g = graph_of(
      a, "symbolic sizes",
      "x: \"f32[s0, 64]\", y: \"f32[s0, 64]\", w: \"f32[64]\", z: \"f32[s0, s1]\"",
      OP("p", "_softmax.default(x, -1, False)") OP("b", "add.Tensor(p, y)")
          OP("n", "native_layer_norm.default(b, [64], w, None, 1e-05)") LINE
      "c = n[0]\n" OP("v", "view.default(c, [s0, 4, 16])") OP("t", "permute.default(v, [1, 0, 2])")
          OP("q", "clone.default(t, memory_format = torch.contiguous_format)")
              OP("e", "exp.default(z)") OP("d", "_softmax.default(e, -1, False)")
                  OP("f", "add.Tensor(d, z)") OP("u", "t.default(z)") OP("m", "mm.default(u, x)")
                      OP("h", "relu.default(m)"),
      "q, f, h");
  struct regions *r = regions_form(loops_of(g, "symbolic"), &(struct fuse_options){0});
  ck_assert_uint_eq(r->list.len, 3);
  regions_hold(r, "symbolic");
  for (int i = 0; i < 2; i++)
    loops_agree(g, loops_of_regions(r), (const int64_t[]){i ? 7 : 1, i ? 19 : 40}, "symbolic");
  arena_destroy(a);
}
END_TEST

START_TEST(empty_sizes) {
  struct arena *a = arena_create();
  struct graph *g =
      graph_of(a, "empty sizes", "x: \"f32[0, 64]\", y: \"f32[32, 0]\", z: \"f32[4, 0, 8]\"",
               OP("s", "_softmax.default(x, -1, False)") OP("b", "sum.dim_IntList(y, [1])")
                   OP("p", "permute.default(z, [2, 1, 0])") OP("d", "exp.default(p)")
                       OP("m", "mm.default(y, x)") OP("f", "relu.default(m)"),
               "s, b, d, f");
  struct regions *r = regions_form(loops_of(g, "empty"), &(struct fuse_options){0});
  regions_hold(r, "empty");
  loops_agree(g, loops_of_regions(r), NULL, "empty");
  arena_destroy(a);
}
END_TEST

// Sizes that decide: nothing is computed.
static const struct pattern large[] = {
    {"cross entropy of many classes", "x: \"bf16[8192, 32000]\", t: \"i64[8192]\"",
     OP("l", "_log_softmax.default(x, 1, False)")
         OP("n", "nll_loss_forward.default(l, t, None, 1, -100)") LINE "y = n[0]\n",
     "y", 1, REGION_ROW_COLUMN},
    {"backward of layer norm",
     "g: \"bf16[8192, 4096]\", x: \"bf16[8192, 4096]\", m: \"f32[8192, 1]\", r: "
     "\"f32[8192, 1]\", w: \"bf16[4096]\", b: \"bf16[4096]\"",
     OP("n", "native_layer_norm_backward.default(g, x, [4096], m, r, w, b, [True, True, True])")
         LINE "dx = n[0]\n" LINE "dw = n[1]\n" LINE "db = n[2]\n",
     "dx, dw, db", 1, REGION_ROW_COLUMN},
    {"columns too wide to be kept beside rows", "g: \"bf16[64, 1048576]\"",
     OP("a", "sum.dim_IntList(g, [1])") OP("b", "sum.dim_IntList(g, [0])"), "a, b", 2, REGION_ROWS},
    {"softmax of few long rows", "x: \"bf16[64, 1048576]\"",
     OP("y", "_softmax.default(x, -1, False)"), "y", 1, REGION_ROWS},
};

START_TEST(large_sizes) {
  const struct pattern *p = &large[_i];
  struct arena *a = arena_create();
  struct graph *g = graph_of(a, p->name, p->params, p->body, p->result);
  struct regions *r = regions_form(loops_of(g, p->name), &(struct fuse_options){0});
  ck_assert_msg(r->list.len == p->regions, "%s: %zu regions", p->name, r->list.len);
  regions_hold(r, p->name);
  ck_assert_int_eq(r->list.at[r->list.len - 1]->kind, p->kind);
  arena_destroy(a);
}
END_TEST

// ---- attention ----

// From the scores s to the probabilities p.
static const struct {
  const char *name, *body;
} spellings[] = {
    {"scaled", OP("t", "mul.Tensor(s, 0.125)") OP("p", "_softmax.default(t, -1, False)")},
    {"divided, mask added", OP("t", "div.Tensor(s, 8.0)") OP("u", "add.Tensor(t, mask)")
                                OP("p", "_softmax.default(u, -1, False)")},
    {"mask added, then scaled", OP("t", "add.Tensor(mask, s)") OP("u", "mul.Tensor(t, 0.125)")
                                    OP("p", "_softmax.default(u, -1, False)")},
    {"masked by where", OP("c", "gt.Scalar(mask, 0)") OP("i", "full.default([], -inf)") OP(
                            "t", "where.self(c, i, s)") OP("p", "_softmax.default(t, -1, False)")},
    {"causal", OP("o", "arange.default(20)") OP("oc", "unsqueeze.default(o, 1)")
                   OP("c", "le.Tensor(o, oc)") OP("i", "full.default([], -inf)")
                       OP("t", "where.self(c, s, i)") OP("p", "_softmax.default(t, -1, False)")},
    {"written out",
     OP("m", "amax.default(s, [-1], True)") OP("t", "sub.Tensor(s, m)") OP("e", "exp.default(t)")
         OP("z", "sum.dim_IntList(e, [-1], True)") OP("p", "div.Tensor(e, z)")},
    {"without the maximum", OP("t", "mul.Tensor(s, 0.01)") OP("e", "exp.default(t)")
                                OP("z", "sum.dim_IntList(e, [-1], True)")
                                    OP("r", "reciprocal.default(z)") OP("p", "mul.Tensor(e, r)")},
    {"safe", OP("t", "mul.Tensor(s, 0.125)") OP("u", "add.Tensor(t, mask)")
                 OP("p", "_safe_softmax.default(u, -1)")},
};

static struct graph *attention_graph(struct arena *a, int i, const char *more) {
  char *body = arena_printf(
      a,
      OP("k1", "permute.default(k, [0, 1, 3, 2])") OP("q1", "view.default(q, [6, 20, 16])")
          OP("k2", "clone.default(k1, memory_format = torch.contiguous_format)")
              OP("k3", "view.default(k2, [6, 16, 20])") OP("v1", "view.default(v, [6, 20, 16])")
                  OP("b", "bmm.default(q1, k3)") OP("s", "view.default(b, [2, 3, 20, 20])") "%s" OP(
                      "p1", "view.default(p, [6, 20, 20])") OP("o1", "bmm.default(p1, v1)")
                      OP("y", "view.default(o1, [2, 3, 20, 16])"),
      spellings[i].body);
  return graph_of(a, spellings[i].name,
                  "q: \"f32[2, 3, 20, 16]\", k: \"f32[2, 3, 20, 16]\", v: \"f32[2, 3, 20, 16]\", "
                  "mask: \"f32[2, 1, 20, 20]\"",
                  body, more);
}

START_TEST(attention_however_spelled) {
  struct arena *a = arena_create();
  struct graph *g = attention_graph(a, _i, "y");
  struct regions *r = check_graph(g, spellings[_i].name, 1);
  ck_assert_int_eq(r->list.at[0]->kind, REGION_ATTENTION);
  ck_assert_str_eq(r->list.at[0]->name, "attention");
  arena_destroy(a);
}
END_TEST

#define HEADS "q: \"f16[2, 3, 20, 16]\", k: \"f16[2, 3, 24, 16]\", v: \"f16[2, 3, 24, 16]\""
#define SCORES OP("kt", "transpose.int(k, -2, -1)") OP("s", "matmul.default(q, kt)")
#define VALUES OP("p", "_softmax.default(t, -1, False)") OP("y", "matmul.default(p, v)")
#define TO(to, of, dtype)                                                                          \
  LINE to " = torch.ops.prims.convert_element_type.default(" of ", torch." dtype ")\n"

// As models write it.
static const struct pattern attentions[] = {
    {"in f32", HEADS,
     SCORES TO("f", "s", "float32") OP("t", "mul.Tensor(f, 0.25)")
         OP("p32", "_softmax.default(t, -1, False)") TO("p", "p32", "float16")
             OP("y", "matmul.default(p, v)"),
     "y", 1, REGION_ATTENTION},
    {"both scaled before", HEADS,
     OP("q2", "mul.Tensor(q, 0.5)") OP("k2", "mul.Tensor(k, 0.5)")
         OP("kt", "permute.default(k2, [0, 1, 3, 2])") OP("t", "matmul.default(q2, kt)") VALUES,
     "y", 1, REGION_ATTENTION},
    {"smallest number as mask", HEADS ", m: \"b8[2, 1, 1, 24]\"",
     SCORES OP("n", "logical_not.default(m)") OP("f", "masked_fill.Scalar(s, n, -65504.0)")
         OP("t", "mul.Tensor(f, 0.25)") VALUES,
     "y", 1, REGION_ATTENTION},
    {"baddbmm",
     "q: \"f16[6, 20, 16]\", k: \"f16[6, 24, 16]\", v: \"f16[6, 24, 16]\", m: \"f16[6, 20, 24]\"",
     OP("kt", "permute.default(k, [0, 2, 1])")
         OP("t", "baddbmm.default(m, q, kt, beta = 1, alpha = 0.25)")
             OP("p", "_softmax.default(t, -1, False)") OP("y", "bmm.default(p, v)"),
     "y", 1, REGION_ATTENTION},
    {"keys of several queries",
     "q: \"f16[2, 6, 20, 16]\", k: \"f16[2, 2, 24, 16]\", v0: \"f16[2, 2, 24, 16]\"",
     OP("ku", "unsqueeze.default(k, 2)") OP("ke", "expand.default(ku, [2, 2, 3, 24, 16])")
         OP("kc", "clone.default(ke, memory_format = torch.contiguous_format)")
             OP("kk", "view.default(kc, [2, 6, 24, 16])") OP("vu", "unsqueeze.default(v0, 2)")
                 OP("ve", "expand.default(vu, [2, 2, 3, 24, 16])")
                     OP("vc", "clone.default(ve, memory_format = torch.contiguous_format)")
                         OP("v", "view.default(vc, [2, 6, 24, 16])")
                             OP("kt", "transpose.int(kk, -2, -1)") OP("s", "matmul.default(q, kt)")
                                 OP("t", "mul.Tensor(s, 0.25)") VALUES,
     "y", 1, REGION_ATTENTION},
    {"heads of one tensor, moved back", "x: \"f16[2, 20, 144]\"",
     OP("h", "view.default(x, [2, 20, 3, 3, 16])") OP("h2", "permute.default(h, [2, 0, 3, 1, 4])")
         OP("q", "select.int(h2, 0, 0)") OP("k", "select.int(h2, 0, 1)")
             OP("v", "select.int(h2, 0, 2)") SCORES OP("t", "mul.Tensor(s, 0.25)")
                 VALUES OP("yt", "permute.default(y, [0, 2, 1, 3])")
                     OP("yc", "clone.default(yt, memory_format = torch.contiguous_format)")
                         OP("z", "view.default(yc, [2, 20, 48])"),
     "z", 1, REGION_ATTENTION},
    {"a bias by distance, and tanh", HEADS ", w: \"f32[3, 1, 1]\"",
     SCORES TO("f", "s", "float32") OP("a", "mul.Tensor(f, 0.25)") OP("i", "arange.default(24)")
         TO("j", "i", "float32") OP("b", "mul.Tensor(w, j)") OP("c", "add.Tensor(a, b)")
             OP("t", "tanh.default(c)") OP("p32", "_softmax.default(t, -1, False)")
                 TO("p", "p32", "float16") OP("y", "matmul.default(p, v)"),
     "y", 1, REGION_ATTENTION},
    {"heads too wide for a program",
     "q: \"f16[1, 2, 20, 320]\", k: \"f16[1, 2, 24, 320]\", v: \"f16[1, 2, 24, 320]\"",
     SCORES OP("t", "mul.Tensor(s, 0.25)") VALUES, "y", 3, REGION_PRODUCT},
};

START_TEST(attention_of_models) {
  const struct pattern *p = &attentions[_i];
  struct arena *a = arena_create();
  struct graph *g = graph_of(a, p->name, p->params, p->body, p->result);
  struct regions *r = check_graph(g, p->name, p->regions);
  ck_assert_int_eq(r->list.at[r->list.len - 1]->kind, p->kind);
  arena_destroy(a);
}
END_TEST

START_TEST(probabilities_that_are_kept) {
  struct arena *a = arena_create();
  struct graph *g = attention_graph(a, 0, "y, p");
  struct regions *r = check_graph(g, "kept", 3);
  ck_assert_int_eq(r->list.at[0]->kind, REGION_PRODUCT);
  arena_destroy(a);
}
END_TEST

int main(void) {
  Suite *s = suite_create("fuse-graphs");
  TCase *c = tcase_create("patterns");
  tcase_set_timeout(c, 120);
  tcase_add_loop_test(c, pattern, 0, sizeof patterns / sizeof *patterns);
  tcase_add_loop_test(c, attention_however_spelled, 0, sizeof spellings / sizeof *spellings);
  tcase_add_loop_test(c, attention_of_models, 0, sizeof attentions / sizeof *attentions);
  tcase_add_test(c, probabilities_that_are_kept);
  tcase_add_test(c, symbolic_sizes);
  tcase_add_test(c, empty_sizes);
  tcase_add_loop_test(c, large_sizes, 0, sizeof large / sizeof *large);
  suite_add_tcase(s, c);
  SRunner *runner = srunner_create(s);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
