// SPDX-License-Identifier: Apache-2.0
// Lowering to loops, one case per family of operators: the loops compute what the graph does, in
// the expected number of stages.
#include "loops_check.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct family {
  const char *name, *params, *body;
  unsigned stages; // 0: does not matter
};

#define A "torch.ops.aten."

static const struct family families[] = {
    {"sin-cos", "x: \"f32[4, 8][8, 1]\"",
     "a = " A "sin.default(x)\nb = " A "cos.default(a)\nreturn (b,)\n", 1},
    {"broadcasts", "x: \"f32[4, 8][8, 1]\", b: \"f32[8][1]\", s: \"f32[][]\"",
     "a = " A "mul.Tensor(x, s)\nc = " A "add.Tensor(a, b, alpha = 2)\nreturn (c, a)\n", 2},
    {"half precision", "x: \"bf16[4, 8][8, 1]\", y: \"f16[8][1]\", z: \"f32[8][1]\"",
     "a = " A "mul.Tensor(x, x)\nb = " A "add.Tensor(y, z)\nc = " A
     "gelu.default(a)\nreturn (c, b)\n",
     2},
    {"integers", "x: \"i64[4, 8][8, 1]\", y: \"i32[8][1]\", p: \"b8[8][1]\"",
     "a = " A "mul.Tensor(x, y)\nb = " A "div.Tensor(x, 3)\nc = " A
     "div.Tensor_mode(x, 3, rounding_mode = 'floor')\n"
     "d = " A "bitwise_and.Tensor(p, p)\ne = " A "logical_not.default(x)\nf = " A
     "mul.Tensor(p, x)\n"
     "h = " A "remainder.Scalar(x, 3)\nreturn (a, b, c, d, e, f, h)\n",
     0},
    {"comparisons", "x: \"f32[4, 8][8, 1]\", y: \"f32[8][1]\"",
     "a = " A "gt.Tensor(x, y)\nb = " A "where.self(a, x, y)\nc = " A "eq.Scalar(x, 0)\nd = " A
     "clamp.default(b, -0.5, 0.5)\n"
     "return (d, c)\n",
     2},
    {"views", "x: \"f32[4, 6][6, 1]\"",
     "a = " A "view.default(x, [2, 2, 6])\nb = " A "permute.default(a, [2, 0, 1])\nc = " A
     "view.default(b, [6, -1])\n"
     "d = " A "unsqueeze.default(c, 1)\ne = " A "expand.default(d, [6, 3, 4])\nf = " A
     "slice.Tensor(e, 2, 1, 4, 2)\n"
     "h = " A "select.int(f, 0, -1)\ni = " A "exp.default(h)\nj = " A "squeeze.dim(d, 1)\nk = " A
     "sin.default(j)\n"
     "return (i, k)\n",
     0},
    {"more views", "x: \"f32[5, 5][1, 5]\", y: \"f32[3, 8][8, 1]\"",
     "a = " A "diagonal.default(x, 1)\nb = " A "neg.default(a)\nc = " A
     "as_strided.default(y, [3, 4], [8, 2], 1)\n"
     "d = " A "neg.default(c)\nsplit = " A "split.Tensor(y, 3, 1)\nf = split[2]\nh = " A
     "exp.default(f)\nreturn (b, d, h)\n",
     0},
    {"strides of strides", "x: \"f32[6, 8][8, 1]\"",
     "e = " A "exp.default(x)\na = " A "as_strided.default(e, [4, 4], [8, 1], 3)\nb = " A
     "as_strided.default(a, [3, 2], [9, 1])\nc = " A "neg.default(b)\nreturn (c,)\n",
     1},
    {"reshape across", "x: \"f32[6, 4][4, 1]\"",
     "t = " A "t.default(x)\na = " A "clone.default(t, memory_format = torch.contiguous_format)\n"
     "b = " A "view.default(a, [3, 8])\nc = " A "exp.default(b)\nreturn (c,)\n",
     1},
    {"reductions", "x: \"f32[4, 24, 5][120, 5, 1]\"",
     "a = " A "sum.dim_IntList(x, [1], True)\nb = " A "amax.default(x, [0, 2])\nc = " A
     "mean.dim(x, [-1])\n"
     "d = " A "prod.dim_int(x, 1)\ne = " A "sum.default(x)\nf = " A
     "amin.default(x, [1])\nreturn (a, b, c, d, e, f)\n",
     0},
    {"logical reductions", "x: \"i64[4, 24][24, 1]\"",
     "a = " A "gt.Scalar(x, 0)\nb = " A "any.dim(a, 1)\nc = " A "sum.dim_IntList(a, [1])\nd = " A
     "any.default(a)\n"
     "e = " A "amax.default(x, [1])\nreturn (b, c, d, e)\n",
     0},
    {"indices of the largest", "x: \"f32[4, 24][24, 1]\"",
     "a = " A "argmax.default(x, 1)\nb = " A "argmin.default(x, 0, True)\nmax_1 = " A
     "max.dim(x, 1)\nc = max_1[0]\nd = max_1[1]\n"
     "return (a, b, c, d)\n",
     0},
    {"short reductions are written out", "x: \"f32[4, 24, 3][72, 3, 1]\"",
     "a = " A "sum.dim_IntList(x, [2])\nb = " A "exp.default(a)\nreturn (b,)\n", 1},
    {"softmax", "x: \"f32[16, 64][64, 1]\"",
     "a = " A "_softmax.default(x, -1, False)\nreturn (a,)\n", 3},
    {"layer norm", "x: \"bf16[16, 64][64, 1]\", w: \"bf16[64][1]\", b: \"bf16[64][1]\"",
     "n = " A "native_layer_norm.default(x, [64], w, b, 1e-05)\ny = n[0]\nm = n[1]\nr = "
     "n[2]\nreturn (y, m, r)\n",
     0},
    {"variance of columns", "x: \"bf16[512, 6][6, 1]\"",
     "f = " A "_to_copy.default(x, dtype = torch.float32)\nv = " A
     "var.correction(f, [0], correction = 1)\nreturn (v,)\n",
     3},
    {"variance and mean of columns", "x: \"f32[40, 6, 10][60, 10, 1]\", y: \"f32[300, 6][6, 1]\"",
     "n = " A
     "var_mean.correction(x, [0, 2], correction = 0, keepdim = True)\na = n[0]\nb = n[1]\nm = " A
     "var_mean.correction(y, [0], correction = 0)\nc = m[0]\nd = m[1]\nreturn (a, b, c, d)\n",
     0},
    {"scan", "x: \"f32[4, 24][24, 1]\", p: \"b8[4, 24][24, 1]\"",
     "a = " A "cumsum.default(x, 1)\nb = " A "cumsum.default(p, 0)\nc = " A
     "mul.Tensor(a, b)\nreturn (c,)\n",
     3},
    {"cat", "x: \"f32[4, 3][3, 1]\", y: \"f32[4, 1][1, 1]\", z: \"f32[4, 4][4, 1]\"",
     "a = " A "cat.default([x, y, z], 1)\nb = " A "neg.default(a)\nreturn (b,)\n", 1},
    {"long cat", "x: \"f32[4, 3][3, 1]\", y: \"f32[2, 3][3, 1]\"",
     "e = " A "exp.default(y)\na = " A "cat.default([x, y, x, e, x, y, x, y, x, y])\nb = " A
     "neg.default(a)\nreturn (b,)\n",
     2},
    {"moves", "x: \"f32[4, 6][6, 1]\", y: \"f32[4, 2][2, 1]\", z: \"f32[6][1]\"",
     "a = " A "constant_pad_nd.default(x, [1, -2, 0, 3], 2.5)\nb = " A "flip.default(x, [0, 1])\n"
     "c = " A "slice_scatter.default(x, y, 1, 1, 5, 2)\nd = " A
     "select_scatter.default(x, z, 0, 2)\n"
     "e = " A "roll.default(x, [1, -2], [0, 1])\nf = " A
     "tril.default(x, 1)\nreturn (a, b, c, d, e, f)\n",
     6},
    {"made of nothing", "x: \"f32[3, 4][4, 1]\"",
     "a = " A "full.default([3, 4], 2.0, dtype = torch.float32)\nb = " A
     "arange.start_step(1, 9, 2, dtype = torch.int64)\n"
     "c = " A "mul.Tensor(a, b)\nd = " A "add.Tensor(c, x)\nreturn (d, b)\n",
     2},
    {"random numbers", "x: \"f32[16, 64][64, 1]\"",
     "r = " A "rand.default([16, 64], dtype = torch.float32)\na = " A "gt.Scalar(r, 0.5)\nb = " A
     "mul.Tensor(a, x)\n"
     "n = " A "native_dropout.default(x, 0.25, True)\nc = n[0]\nd = n[1]\nreturn (b, c, d)\n",
     0},
    {"gathers",
     "w: \"f32[10, 8][8, 1]\", i: \"i64[2, 3][3, 1]\", j: \"i64[10, 4][4, 1]\", k: \"i64[5][1]\"",
     "a = " A "embedding.default(w, i)\nb = " A "gather.default(w, 1, j)\nc = " A
     "index_select.default(w, 0, k)\n"
     "d = " A "index.Tensor(w, [i])\ne = " A "index.Tensor(w, [None, i])\nreturn (a, b, c, d, e)\n",
     5},
    {"indices apart", "w: \"f32[6, 3, 5][15, 5, 1]\", i: \"i64[4, 1][1, 1]\", j: \"i64[2][1]\"",
     "a = " A "index.Tensor(w, [i, None, j])\nn = " A "neg.default(j)\nm = " A
     "sub.Tensor(n, 1)\nb = " A "index.Tensor(w, [None, None, m])\n"
     "return (a, b)\n",
     2},
    {"scatters",
     "x: \"f32[6, 8][8, 1]\", i: \"i64[6, 1][1, 1]\", j: \"i64[3, 8][8, 1]\", s: \"f32[6, 8][8, "
     "1]\"",
     "a = " A "scatter.value(x, 1, i, -1.0)\nb = " A "scatter_add.default(x, 0, j, s)\nc = " A
     "scatter_add.default(x, 1, i, s)\n"
     "return (a, b, c)\n",
     4},
    {"index_put",
     "x: \"f32[6, 8][8, 1]\", i: \"i64[4][1]\", v: \"f32[4, 8][8, 1]\", h: \"bf16[6, 8][8, 1]\", "
     "u: \"bf16[4, 8][8, 1]\"",
     "a = " A "index_put.default(x, [i], v, True)\nb = " A
     "index_put.default(h, [i], u, True)\nc = " A "mul.Tensor(a, b)\nreturn (c,)\n",
     0},
    {"embedding's gradient", "g: \"f32[2, 3, 8][24, 8, 1]\", i: \"i64[2, 3][3, 1]\"",
     "a = " A "embedding_dense_backward.default(g, i, 10, 0, False)\nreturn (a,)\n", 2},
    {"products", "x: \"f32[32, 48][48, 1]\", w: \"f32[40, 48][48, 1]\", b: \"f32[40][1]\"",
     "t = " A "t.default(w)\na = " A "addmm.default(b, x, t)\nc = " A
     "gelu.default(a)\nreturn (c,)\n",
     2},
    {"batches of products",
     "x: \"bf16[4, 32, 48][1536, 48, 1]\", y: \"bf16[4, 24, 48][1152, 48, 1]\"",
     "t = " A "transpose.int(y, 1, 2)\na = " A "bmm.default(x, t)\nreturn (a,)\n", 1},
    {"small products",
     "x: \"f32[2, 8, 1][8, 1, 1]\", y: \"f32[2, 1, 5][5, 5, 1]\", v: \"f32[1, 64][64, 1]\", w: "
     "\"f32[64, 9][9, 1]\"",
     "a = " A "bmm.default(x, y)\nb = " A "mm.default(v, w)\nreturn (a, b)\n", 2},
    {"operands of products",
     "x: \"f32[32, 48][48, 1]\", y: \"f32[32, 48][48, 1]\", w: \"f32[48, 40][40, 1]\"",
     "a = " A "mul.Tensor(x, 0.5)\nb = " A "mm.default(a, w)\nc = " A "add.Tensor(x, y)\nd = " A
     "mm.default(c, w)\nreturn (b, d)\n",
     4},
    {"half precision of f32 in products", "x: \"f32[32, 48][48, 1]\", w: \"f32[48, 40][40, 1]\"",
     "a = " A "_to_copy.default(x, dtype = torch.bfloat16)\nb = " A
     "_to_copy.default(w, dtype = torch.bfloat16)\nc = " A "mm.default(a, b)\nreturn (c,)\n",
     3},
    {"nothing", "x: \"f32[0, 4][4, 1]\", y: \"f32[3, 0][1, 1]\", z: \"f32[2, 4][4, 1]\"",
     "a = " A "sum.dim_IntList(x, [0])\nb = " A "mm.default(y, x)\nc = " A "exp.default(x)\nd = " A
     "cat.default([z, x])\ne = " A "view.default(x, [2, 0, 3])\nf = " A "sin.default(e)\ng = " A
     "prod.dim_int(y, 1)\nh = " A "constant_pad_nd.default(x, [0, 0, 1, 0], 3.0)\n"
     "return (a, b, c, d, f, g, h)\n",
     0},
    {"indices of truth", "x: \"i64[4, 24][24, 1]\"",
     "a = " A "gt.Scalar(x, 0)\nb = " A "argmax.default(a, 1)\nreturn (b,)\n", 1},
    {"attention",
     "q: \"f32[2, 3, 16, 8][384, 128, 8, 1]\", k: \"f32[2, 3, 16, 8][384, 128, 8, 1]\", v: "
     "\"f32[2, 3, 16, 8][384, 128, 8, 1]\", m: \"f32[2, 1, 16, 16][256, 256, 16, 1]\"",
     "s = " A
     "_scaled_dot_product_flash_attention_for_cpu.default(q, k, v, 0.0, True)\na = s[0]\nl = s[1]\n"
     "t = " A "_scaled_dot_product_flash_attention_for_cpu.default(q, k, v, 0.0, False, attn_mask "
     "= m, scale = 0.25)\nb = t[0]\n"
     "return (a, l, b)\n",
     0},
    {"convolution",
     "x: \"f32[2, 6, 9, 9][486, 81, 9, 1]\", w: \"f32[8, 6, 3, 3][54, 9, 3, 1]\", b: \"f32[8][1]\"",
     "a = " A "convolution.default(x, w, b, [2, 2], [1, 1], [1, 1], False, [0, 0], 1)\nc = " A
     "relu.default(a)\nreturn (c,)\n",
     2},
    {"convolution by groups",
     "x: \"f32[2, 6, 8][48, 8, 1]\", w: \"f32[6, 1, 3][3, 3, 1]\", u: \"f32[8, 3, 3][9, 3, 1]\"",
     "a = " A "convolution.default(x, w, None, [1], [1], [1], False, [0], 6)\n"
     "b = " A "convolution.default(x, u, None, [1], [2], [2], False, [0], 2)\nreturn (a, b)\n",
     2},
    {"gradients of a convolution",
     "g: \"f32[2, 8, 5, 5][200, 25, 5, 1]\", x: \"f32[2, 6, 9, 9][486, 81, 9, 1]\", w: \"f32[8, 6, "
     "3, 3][54, 9, 3, 1]\"",
     "t = " A "convolution_backward.default(g, x, w, [8], [2, 2], [1, 1], [1, 1], False, [0, 0], "
     "1, [True, True, True])\n"
     "a = t[0]\nb = t[1]\nc = t[2]\nreturn (a, b, c)\n",
     6}, // four phases of the input's
    {"gradients by groups",
     "g: \"f32[2, 6, 7, 7][294, 49, 7, 1]\", x: \"f32[2, 6, 7, 7][294, 49, 7, 1]\", w: \"f32[6, 1, "
     "3, 3][9, 9, 3, 1]\"",
     "t = " A "convolution_backward.default(g, x, w, [0], [1, 1], [1, 1], [1, 1], False, [0, 0], "
     "6, [True, True, False])\n"
     "a = t[0]\nb = t[1]\nreturn (a, b)\n",
     2},
    {"pooling", "x: \"f32[2, 3, 8, 8][192, 64, 8, 1]\"",
     "t = " A "max_pool2d_with_indices.default(x, [3, 3], [2, 2], [1, 1])\na = t[0]\ni = t[1]\n"
     "b = " A "avg_pool2d.default(x, [2, 2], [2, 2])\nc = " A
     "max_pool2d_with_indices_backward.default(a, x, [3, 3], [2, 2], [1, 1], [1, 1], False, i)\n"
     "return (a, b, c)\n",
     0},
    {"outputs as they lie", "x: \"f32[4, 6][6, 1]\"",
     "a = " A "exp.default(x)\nt = " A "t.default(a)\ne = " A
     "expand.default(x, [2, 4, 6])\nreturn (t, a, x, e, a)\n",
     5},
    {"products written as views", "x: \"f32[32, 48][48, 1]\", w: \"f32[40, 48][48, 1]\"",
     "u = " A "t.default(w)\na = " A "mm.default(x, u)\nb = " A "view.default(a, [4, 8, 40])\n"
     "c = " A "permute.default(b, [2, 0, 1])\nreturn (c,)\n",
     1},
    {"writes to inputs", "x: \"f32[4, 6][6, 1]\", y: \"f32[4, 6][6, 1]\"",
     "a = " A "flip.default(x, [0])\nb = " A "add.Tensor(y, x)\nc = " A
     "copy_.default(x, a)\nd = " A "copy_.default(y, b)\nreturn (b,)\n",
     0},
};

static char *text_of(struct arena *a, const struct family *f) {
  struct strbuf out = {0};
  strbuf_printf(&out, "class G(torch.nn.Module):\n    def forward(self, %s):\n", f->params);
  for (const char *p = f->body; *p;) {
    size_t n = strcspn(p, "\n");
    strbuf_printf(&out, "        %.*s\n", (int)n, p);
    p += n + (p[n] == '\n');
  }
  char *text = arena_strdup(a, strbuf_cstr(&out));
  strbuf_finish(&out);
  return text;
}

START_TEST(family) {
  const struct family *f = &families[_i];
  struct arena *a = arena_create();
  struct graph *g = graph_of_text(a, str_from(text_of(a, f)), f->name);
  struct loops *l = loops_of(g, f->name);
  struct strbuf out = {0};
  loops_print(l, &out);
  if (getenv("TILE_TEST_PRINT"))
    printf("# %s\n%s\n", f->name, strbuf_cstr(&out));
  loops_agree(g, l, NULL, f->name);
  ck_assert_msg(f->stages == 0 || l->stages.len == f->stages, "%s: %zu stages:\n%s", f->name,
                l->stages.len, strbuf_cstr(&out));
  strbuf_finish(&out);
  arena_destroy(a);
}
END_TEST

static const struct family wrong[] = {
    {"convolution over four dimensions",
     "x: \"f32[1, 2, 3, 3, 3, 3][162, 81, 27, 9, 3, 1]\", w: \"f32[2, 2, 1, 1, 1, 1][2, 1, 1, 1, "
     "1, 1]\"",
     "a = " A "convolution.default(x, w, None, [1, 1, 1, 1], [0, 0, 0, 0], [1, 1, 1, 1], False, "
     "[0, 0, 0, 0], 1)\nreturn (a,)\n",
     0},
    {"attention with queries of more than 1024 elements",
     "q: \"f32[1, 2, 4, 1088][8704, 4352, 1088, 1]\", v: \"f32[1, 2, 4, 16][128, 64, 16, 1]\"",
     "a = " A "scaled_dot_product_attention.default(q, q, v)\nreturn (a,)\n", 0},
    {"attention with values of more than 1024 elements",
     "q: \"f32[1, 2, 4, 16][128, 64, 16, 1]\", v: \"f32[1, 2, 4, 1088][8704, 4352, 1088, 1]\"",
     "a = " A "scaled_dot_product_attention.default(q, q, v)\nreturn (a,)\n", 0},
    {"attention with more heads than programs have numbers",
     "q: \"f32[4, 1073741824, 1, 2][2147483648, 2, 2, 1]\"",
     "a = " A "scaled_dot_product_attention.default(q, q, q)\nreturn (a,)\n", 0},
};

START_TEST(refused) {
  struct arena *a = arena_create();
  struct diag_engine *diag;
  struct graph *g = graph_of_text(a, str_from(text_of(a, &wrong[_i])), wrong[_i].name);
  diag = g->diag;
  ck_assert_ptr_null(loops_build(g));
  ck_assert_int_eq(diag_first_error_code(diag), E1011);
  arena_destroy(a);
}
END_TEST

int main(void) {
  Suite *s = suite_create("loops");
  TCase *c = tcase_create("families");
  tcase_add_loop_test(c, family, 0, COUNT_OF(families));
  tcase_add_loop_test(c, refused, 0, COUNT_OF(wrong));
  suite_add_tcase(s, c);
  SRunner *runner = srunner_create(s);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
