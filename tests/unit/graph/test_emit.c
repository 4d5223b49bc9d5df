// SPDX-License-Identifier: Apache-2.0
// Kernels of maps, rows, columns, scans and scatters: runs programs on the CPU and compares them
// with the interpreter, with block sizes for the CPU and for a GPU.
#include "emit_check.h"
#include "tests/sample.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct family {
  const char *name, *params, *body;
  double tolerance;
};

#define A "torch.ops.aten."

// x * c + cat(-second half of x, first half) * s
#define ROTATE(half)                                                                               \
  "p = " A "split.Tensor(x, " half ", -1)\na = p[0]\nb = p[1]\nm = " A "mul.Tensor(x, c)\nn = " A  \
  "neg.default(b)\nq = " A "cat.default([n, a], -1)\nr = " A "mul.Tensor(q, s)\nt = " A            \
  "add.Tensor(m, r)\nreturn (t,)\n"

static const struct family families[] = {
    {"sin-cos", "x: \"f32[1024]\"",
     "a = " A "sin.default(x)\nb = " A "cos.default(x)\nreturn (a, b)\n", 1e-6},
    {"lengths without divisors", "x: \"f32[37, 131]\", b: \"f32[131]\"",
     "a = " A "add.Tensor(x, b)\nc = " A "gelu.default(a)\nreturn (c,)\n", 1e-5},
    {"half precision", "x: \"bf16[64, 96]\", y: \"bf16[96]\"",
     "a = " A "mul.Tensor(x, y)\nb = " A "silu.default(a)\nreturn (b,)\n", 1e-2},
    {"transposed", "x: \"f32[70, 50]\", y: \"f32[50, 70]\"",
     "t = " A "t.default(x)\na = " A "add.Tensor(t, y)\nreturn (a,)\n", 1e-6},
    {"permuted", "x: \"f32[6, 20, 33]\"",
     "t = " A "permute.default(x, [0, 2, 1])\na = " A
     "clone.default(t, memory_format = torch.contiguous_format)\nb = " A
     "exp.default(a)\nreturn (b,)\n",
     1e-6},
    {"many axes", "x: \"f32[3, 4, 5, 6]\", y: \"f32[5, 1]\", z: \"f32[4, 1, 6]\"",
     "a = " A "mul.Tensor(x, y)\nb = " A "add.Tensor(a, z)\nreturn (b,)\n", 1e-6},
    {"integers", "x: \"i64[40, 8]\", y: \"i32[8]\", p: \"b8[8]\"",
     "a = " A "mul.Tensor(x, y)\nb = " A "div.Tensor(x, 3)\nc = " A
     "div.Tensor_mode(x, 3, rounding_mode = 'floor')\nd = " A "remainder.Scalar(x, -3)\ne = " A
     "logical_not.default(x)\nf = " A "mul.Tensor(p, x)\nh = " A "fmod.Scalar(x, 5)\ni = " A
     "bitwise_and.Tensor(p, p)\nreturn (a, b, c, d, e, f, h, i)\n",
     1e-6},
    {"shifts", "x: \"i64[40]\", y: \"u8[40]\"",
     "n = " A "bitwise_and.Scalar(x, 7)\na = " A "bitwise_left_shift.Tensor(x, n)\nb = " A
     "bitwise_right_shift.Tensor(x, 2)\nc = " A "bitwise_right_shift.Tensor(y, 1)\nd = " A
     "bitwise_left_shift.Tensor(y, 3)\ne = " A "bitwise_or.Tensor(c, d)\nf = " A
     "pow.Tensor_Scalar(y, 5)\nreturn (a, b, e, f)\n",
     0},
    {"numbers divided by tensors", "x: \"i64[40]\", y: \"f32[40]\"",
     "m = " A "maximum.default(x, 2)\na = " A "floor_divide.default(7, m)\nb = " A
     "remainder.Tensor(-7, m)\nc = " A "remainder.Tensor(2.5, y)\nreturn (a, b, c)\n",
     1e-5},
    {"choices between numbers", "c: \"b8[6, 4]\", x: \"f32[4]\"",
     "a = " A "where.self(c, x, 2.5)\nb = " A "where.self(c, 1, x)\nreturn (a, b)\n", 0},
    {"signs", "x: \"f32[40]\"", "l = " A "log.default(x)\na = " A "sign.default(l)\nreturn (a,)\n",
     0},
    {"order", "x: \"f32[6, 20]\"",
     "t = " A "topk.default(x, 3)\na = t[0]\nb = t[1]\nc = " A
     "sort.default(x, 0, True)\nd = c[0]\ne = c[1]\nreturn (a, b, d, e)\n",
     0},
    {"order of longer lines", "x: \"f32[3, 100]\"",
     "c = " A "sort.default(x)\nd = c[0]\ne = c[1]\nreturn (d, e)\n", 0},
    {"scatter at computed indices", "x: \"f32[3, 40]\", y: \"f32[3, 40]\"",
     "i = " A "argmax.default(x, 0)\nj = " A "unsqueeze.default(i, 0)\nk = " A
     "expand.default(j, [3, 40])\na = " A "scatter_add.default(x, 0, k, y)\nreturn (a,)\n",
     1e-5},
    {"running extrema", "x: \"f32[5, 40]\"",
     "a = " A "cumprod.default(x, 1)\nt = " A "cummax.default(x, 0)\nb = t[0]\nc = t[1]\nd = " A
     "logcumsumexp.default(x, 1)\nreturn (a, b, c, d)\n",
     1e-4},
    {"indices in parts", "x: \"f32[3, 70000]\", y: \"f16[30000, 8]\", z: \"i8[40, 1000]\"",
     "a = " A "argmax.default(x, 1)\nb = " A "argmin.default(y, 0)\nc = " A
     "argmax.default(z)\nd = " A "max.dim(y, 0)\ne = d[0]\nf = d[1]\nreturn (a, b, c, e, f)\n",
     0},
    {"the first of many", "x: \"f32[5, 700]\", y: \"i64[3, 5000]\"",
     "s = " A "_softmax.default(x, -1, False)\nt = " A "topk.default(s, 3)\na = t[0]\nb = t[1]\n"
     "u = " A "topk.default(y, 2, -1, False)\nc = u[0]\nd = u[1]\nreturn (a, b, c, d)\n",
     1e-5},
    {"functions", "x: \"f32[500]\", y: \"f32[500]\"",
     "a = " A "tanh.default(x)\nb = " A "expm1.default(x)\nc = " A "atan2.default(x, y)\nd = " A
     "sign.default(x)\ne = " A "round.default(x)\nf = " A "remainder.Tensor(x, y)\nh = " A
     "pow.Tensor_Scalar(x, 3)\ni = " A "erf.default(x)\nj = " A "trunc.default(x)\nk = " A
     "fmod.Tensor(x, y)\nl = " A "isinf.default(x)\nm = " A "erfc.default(x)\nn = " A
     "lgamma.default(x)\no = " A
     "erfinv.default(a)\nreturn (a, b, c, d, e, f, h, i, j, k, l, m, n, o)\n",
     1e-5},
    {"doubles", "x: \"f64[300]\"",
     "a = " A "mul.Tensor(x, 0.1)\nb = " A "exp.default(a)\nreturn (b,)\n", 1e-12},
    {"cat and pad", "x: \"f32[9, 20]\", y: \"f32[9, 13]\"",
     "a = " A "cat.default([x, y], 1)\nb = " A "constant_pad_nd.default(a, [1, 2], 0.5)\nc = " A
     "exp.default(b)\nreturn (c,)\n",
     1e-6},
    {"f16 and bf16 that read each other",
     "x: \"bf16[5, 7, 33, 48]\", c: \"bf16[33, 48]\", s: \"bf16[33, 48]\"", ROTATE("24"), 1e-2},
    {"tables for several heads",
     "x: \"f32[3, 6, 300, 64]\", c: \"f32[300, 64]\", s: \"f32[300, 64]\"", ROTATE("32"), 1e-6},
    {"short f16 and bf16 that read each other",
     "x: \"bf16[3, 5, 40, 64]\", c: \"bf16[40, 64]\", s: \"bf16[40, 64]\"", ROTATE("32"), 1e-2},
    {"parts of other buffers in half precision", "x: \"f32[70, 32]\", y: \"f32[70, 32]\"",
     "p = " A "split.Tensor(x, 16, -1)\na = p[0]\nq = " A
     "split.Tensor(y, 16, -1)\nb = q[1]\nc = " A "cat.default([b, a], -1)\nd = " A
     "add.Tensor(c, x)\nreturn (d,)\n",
     1e-6},
    {"thirds that read each other", "x: \"f32[40, 48]\"",
     "a = " A "slice.Tensor(x, 1, 0, 16)\nb = " A "slice.Tensor(x, 1, 16, 48)\nc = " A
     "cat.default([b, a], 1)\nd = " A "add.Tensor(c, x)\nreturn (d,)\n",
     1e-6},
    {"embedding", "w: \"f32[30, 24]\", i: \"i64[5, 7]\"",
     "a = " A "embedding.default(w, i)\nb = " A "mul.Tensor(a, 2)\nreturn (b,)\n", 1e-6},
    {"scatter", "w: \"f32[30, 24]\", i: \"i64[11]\", v: \"f32[11, 24]\"",
     "a = " A "index_put.default(w, [i], v, True)\nreturn (a,)\n", 1e-5},
    {"scans", "x: \"f32[20, 130]\", y: \"i64[130, 9]\"",
     "a = " A "cumsum.default(x, 1)\nb = " A "cumsum.default(y, 0)\nreturn (a, b)\n", 1e-5},
    {"softmax", "x: \"f32[50, 100]\"", "a = " A "_softmax.default(x, -1, False)\nreturn (a,)\n",
     1e-5},
    {"softmax of bf16", "x: \"bf16[16, 1024]\"",
     "a = " A "_softmax.default(x, -1, False)\nreturn (a,)\n", 1e-2},
    {"softmax of columns", "x: \"f32[100, 50]\"",
     "a = " A "_softmax.default(x, 0, False)\nreturn (a,)\n", 1e-5},
    {"long rows", "x: \"f32[2, 70000]\"", "a = " A "_softmax.default(x, -1, False)\nreturn (a,)\n",
     1e-4},
    {"many long rows", "x: \"bf16[40, 33001]\"",
     "a = " A "_softmax.default(x, -1, False)\nreturn (a,)\n", 1e-2},
    {"layer norm of many long rows", "x: \"f32[40, 33001]\", w: \"f32[33001]\"",
     "n = " A "native_layer_norm.default(x, [33001], w, None, 1e-05)\ny = n[0]\nm = "
     "n[1]\nr = n[2]\nreturn (y, m, r)\n",
     1e-3},
    {"two levels of many long rows", "x: \"f32[40, 20000]\", y: \"f32[40, 20000]\"",
     "a = " A "mul.Tensor(x, y)\nm = " A "mean.dim(a, [1], True)\nd = " A "sub.Tensor(a, m)\ne = " A
     "abs.default(d)\ns = " A "sum.dim_IntList(e, [1], True)\nq = " A "div.Tensor(d, s)\nl = " A
     "amax.default(a, [1])\nreturn (q, d, l, s)\n",
     1e-3},
    {"rows that are walked over", "x: \"bf16[70, 16500]\"",
     "a = " A "_softmax.default(x, -1, False)\nreturn (a,)\n", 1e-2},
    {"log softmax", "x: \"f32[300, 20000]\"",
     "a = " A "_log_softmax.default(x, -1, False)\nb = " A "sum.dim_IntList(a, [1])\nreturn (b,)\n",
     1e-4},
    {"layer norm", "x: \"bf16[40, 256]\", w: \"bf16[256]\", b: \"bf16[256]\"",
     "n = " A "native_layer_norm.default(x, [256], w, b, 1e-05)\ny = n[0]\nm = n[1]\nr = "
     "n[2]\nreturn (y, m, r)\n",
     1e-2},
    {"layer norm of odd rows", "x: \"f32[7, 333]\", w: \"f32[333]\", b: \"f32[333]\"",
     "n = " A "native_layer_norm.default(x, [333], w, b, 1e-05)\ny = n[0]\nreturn (y,)\n", 1e-4},
    {"layer norm of long rows", "x: \"f32[3, 70001]\"",
     "n = " A "native_layer_norm.default(x, [70001], None, None, 1e-05)\ny = n[0]\nm = "
     "n[1]\nreturn (y, m)\n",
     1e-3},
    {"reductions", "x: \"f32[4, 240, 5]\"",
     "a = " A "sum.dim_IntList(x, [1], True)\nb = " A "amax.default(x, [0, 2])\nc = " A
     "mean.dim(x, [-1])\nd = " A "prod.dim_int(x, 0)\ne = " A "sum.default(x)\nf = " A
     "amin.default(x, [1])\nreturn (a, b, c, d, e, f)\n",
     1e-4},
    {"logical reductions", "x: \"i64[40, 24]\"",
     "a = " A "gt.Scalar(x, 0)\nb = " A "any.dim(a, 1)\nc = " A "sum.dim_IntList(a, [1])\nd = " A
     "any.default(a)\ne = " A "amax.default(x, [1])\nf = " A
     "all.default(a)\nreturn (b, c, d, e, f)\n",
     1e-6},
    {"indices of the largest", "x: \"f32[40, 240]\"",
     "a = " A "argmax.default(x, 1)\nb = " A "argmin.default(x, 0, True)\nmax_1 = " A
     "max.dim(x, 1)\nc = max_1[0]\nd = max_1[1]\nreturn (a, b, c, d)\n",
     1e-6},
    {"column variance", "x: \"f32[600, 70]\"",
     "a = " A "var.correction(x, [0], correction = 1)\nb = " A
     "sum.dim_IntList(x, [0])\nreturn (a, b)\n",
     1e-4},
    {"variance of rows in parts", "x: \"f32[70, 33]\", y: \"f32[3, 40003]\"",
     "a = " A "var.correction(x, [0], correction = 1)\nb = " A
     "var.correction(y, [1], correction = 0)\nreturn (a, b)\n",
     1e-4},
    {"variance of many rows", "x: \"f32[20000, 33]\"",
     "a = " A "var.correction(x, [0], correction = 1)\nreturn (a,)\n", 1e-4},
    {"full sum", "x: \"f32[300000]\"", "a = " A "sum.default(x)\nreturn (a,)\n", 1e-4},
    {"sums of few rows in parts", "x: \"f32[3, 70000]\", y: \"i64[40000]\", z: \"bf16[90000]\"",
     "a = " A "mean.dim(x, [1])\nb = " A "amax.default(x, [1])\nc = " A "sum.default(y)\nd = " A
     "gt.Scalar(y, 0)\ne = " A "any.default(d)\nf = " A "mean.default(z)\nh = " A
     "var.correction(x, [1], correction = 1)\nreturn (a, b, c, e, f, h)\n",
     1e-2},
    {"sums of columns in parts", "x: \"f32[9000, 70]\", y: \"f32[20000, 5]\"",
     "a = " A "sum.dim_IntList(x, [0])\nb = " A "amin.default(x, [0])\nc = " A
     "mean.dim(y, [0])\nreturn (a, b, c)\n",
     1e-4},
    {"columns in parts that are written, too", "x: \"f32[9001, 70]\", y: \"f16[20000, 6]\"",
     "v = " A "var.correction(x, [0], correction = 0, keepdim = True)\nm = " A
     "mean.dim(x, [0], True)\nd = " A "sub.Tensor(x, m)\nq = " A "mul.Tensor(d, v)\nt = " A
     "amax.default(y, [0], True)\nu = " A "mul.Tensor(y, t)\nreturn (q, m, u, t)\n",
     1e-2},
    {"columns of many loads that are written, too",
     "x: \"f16[4000, 24]\", y: \"f16[4000, 24]\", z: \"f16[4000, 24]\", w: \"f16[4000, 24]\"",
     "a = " A "mul.Tensor(x, y)\nb = " A "mul.Tensor(z, w)\nc = " A "add.Tensor(a, b)\nu = " A
     "flip.default(x, [0])\nv = " A "flip.default(y, [0])\nd = " A "mul.Tensor(u, v)\nr = " A
     "flip.default(z, [0])\ns = " A "flip.default(w, [0])\ne = " A "mul.Tensor(r, s)\nf = " A
     "add.Tensor(d, e)\ng = " A "mul.Tensor(c, f)\nh = " A
     "_to_copy.default(g, dtype = torch.float32)\nm = " A "mean.dim(h, [0], True)\nk = " A
     "sub.Tensor(h, m)\nreturn (k, m)\n",
     1e-2},
    {"columns by rows that lie the other way", "x: \"f32[300, 24]\", g: \"f32[24, 300]\"",
     "c = " A "permute.default(g, [1, 0])\nm = " A "mean.dim(c, [1], True)\nd = " A
     "sub.Tensor(c, m)\np = " A "mul.Tensor(x, m)\nw = " A "sum.dim_IntList(p, [0])\ns = " A
     "sum.dim_IntList(c, [1], True)\nq = " A "mul.Tensor(d, s)\nreturn (q, w)\n",
     1e-4},
    {"rows and columns", "x: \"f32[90, 64]\", g: \"f32[90, 64]\"",
     "m = " A "mean.dim(x, [1], True)\nd = " A "sub.Tensor(x, m)\np = " A "mul.Tensor(d, g)\nw = " A
     "sum.dim_IntList(p, [0])\nb = " A "sum.dim_IntList(g, [0])\ns = " A
     "sum.dim_IntList(p, [1], True)\nq = " A "mul.Tensor(d, s)\nreturn (q, w, b)\n",
     1e-4},
    {"programs that walk over rows",
     "x: \"f32[600, 1100]\", g: \"bf16[600, 1100]\", w: \"f32[1100]\"",
     "m = " A "mean.dim(x, [1], True)\nd = " A "sub.Tensor(x, m)\np = " A
     "mul.Tensor(d, g)\ndw = " A "sum.dim_IntList(p, [0])\nb = " A "sum.dim_IntList(g, [0])\ne = " A
     "mul.Tensor(p, w)\ns = " A "sum.dim_IntList(e, [1], True)\nq = " A
     "mul.Tensor(d, s)\nreturn (q, dw, b)\n",
     1e-2},
    {"cross entropy", "x: \"f32[60, 500]\", t: \"i64[60]\"",
     "l = " A "_log_softmax.default(x, 1, False)\nn = " A
     "nll_loss_forward.default(l, t, None, 1, -100)\na = n[0]\nreturn (a,)\n",
     1e-4},
    {"cross entropy of long rows", "x: \"bf16[130, 2100]\", t: \"i64[130]\"",
     "c = " A "_to_copy.default(x, dtype = torch.float32)\nl = " A
     "_log_softmax.default(c, 1, False)\nn = " A
     "nll_loss_forward.default(l, t, None, 1, -100)\na = n[0]\nb = n[1]\nreturn (a, b)\n",
     1e-4},
    {"sums of long rows and of them all", "x: \"f32[133, 2048]\"",
     "a = " A "sum.dim_IntList(x, [1])\nb = " A "amax.default(x, [1])\nc = " A
     "mul.Tensor(a, b)\nd = " A "mean.default(c)\ne = " A "amin.default(a)\nreturn (b, d, e)\n",
     1e-4},
    {"long rows read once", "x: \"i64[150, 2500]\", y: \"bf16[150, 2500]\"",
     "a = " A "sum.dim_IntList(x, [1])\nb = " A "gt.Scalar(x, 0)\nc = " A "any.dim(b, 1)\nd = " A
     "amin.default(y, [1])\nreturn (a, c, d)\n",
     1e-4},
    {"dropout", "x: \"f32[70, 10]\"",
     "n = " A "native_dropout.default(x, 0.25, True)\na = n[0]\nb = n[1]\nreturn (a, b)\n", 1e-5},
};

static char *text_of(const struct family *f) {
  struct strbuf out = {0};
  strbuf_printf(&out, "class <lambda>(torch.nn.Module):\n    def forward(self, %s):\n", f->params);
  for (const char *line = f->body; *line;) {
    const char *end = strchr(line, '\n');
    strbuf_printf(&out, "        %.*s\n", (int)(end - line), line);
    line = end + 1;
  }
  return strbuf_take(&out);
}

static void check(const struct family *f, const char *target, const struct reference *reference) {
  struct arena *a = arena_create();
  char *text = text_of(f);
  struct program *p = check_program(a, text, &(struct program_options){.target = target}, f->name);
  if (getenv("TILE_TEST_PRINT")) {
    struct strbuf out = {0};
    program_print_tile(p, &out);
    fprintf(stderr, "==== %s\n%s", f->name, strbuf_cstr(&out));
    strbuf_finish(&out);
  }
  for (size_t i = 0; i < p->kernels.len; i++)
    ck_assert_msg(!strstr(p->kernels.at[i]->source, " \n"), "%s: a blank ends a line", f->name);
  if (reference)
    check_agrees_with(reference, p, NULL, f->tolerance, f->name);
  else
    check_agrees(p, NULL, f->tolerance, f->name);
  free(text);
  arena_destroy(a);
}

// All configurations of a tuning space give the same results.
static void check_configured(const struct family *f, const struct reference *reference,
                             unsigned round) {
  struct arena *a = arena_create();
  char *text = text_of(f), name[96];
  struct program *p = check_program(
      a, text, &(struct program_options){.target = round == 3 ? "sm_90a" : "cpu"}, f->name);
  check_configure(p, round, f->name);
  snprintf(name, sizeof name, "%s, configured %u", f->name, round);
  check_agrees_with(reference, p, NULL, f->tolerance, name);
  free(text);
  arena_destroy(a);
}

// With blocks for the CPU, with those for a GPU, and in three other configurations.
START_TEST(on_the_cpu) {
  const struct family *f = &families[_i];
  struct arena *a = arena_create();
  char *text = text_of(f);
  struct program *p = check_program(a, text, &(struct program_options){.target = "cpu"}, f->name);
  struct reference *reference = check_reference(p->graph, NULL, f->name);
  check(f, "cpu", reference);
  check(f, "sm_90a", reference);
  unsigned step = sample_step();
  for (unsigned round = 1; round < 4; round++)
    if ((round + (unsigned)_i) % step == 0)
      check_configured(f, reference, round);
  check_reference_destroy(reference);
  free(text);
  arena_destroy(a);
}
END_TEST

static const char *source_of_program(const char *text, struct arena *a) {
  struct program *p = check_program(a, text, &(struct program_options){.target = "sm_90a"}, "text");
  ck_assert_uint_eq(p->kernels.len, 1);
  return p->kernels.at[0]->source;
}

START_TEST(short_sources) {
  struct arena *a = arena_create();
  struct family f = families[0];
  f.params = "x: \"f32[1048576]\"";
  char *text = text_of(&f);
  const char *source = source_of_program(text, a);
  ck_assert_str_eq(
      source,
      "# sin, cos: 1048576\n"
      "@jit\n"
      "def sin_cos(in0: const_ptr[f32], out0: ptr[f32], out1: ptr[f32], BLOCK: constexpr = 1024):\n"
      "    x = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
      "    v0 = tl.load(in0 + x)\n"
      "    tl.store(out0 + x, tl.sin(v0))\n"
      "    tl.store(out1 + x, tl.cos(v0))\n");
  free(text);
  arena_destroy(a);
}
END_TEST

// The last program combines the partial results, without another launch.
START_TEST(one_launch_for_reductions_in_parts) {
  static const struct {
    const char *params, *body;
  } cases[] = {{"x: \"bf16[4096, 4096]\"", "a = " A "sum.default(x)\nreturn (a,)\n"},
               {"x: \"f32[4, 1000000]\"", "a = " A "mean.dim(x, [1])\nreturn (a,)\n"},
               {"x: \"bf16[32768, 4096]\"",
                "a = " A "var.correction(x, [0], correction = 1)\nreturn (a,)\n"},
               {"x: \"bf16[8192, 32000]\", t: \"i64[8192]\"",
                "l = " A "_log_softmax.default(x, 1, False)\nn = " A
                "nll_loss_forward.default(l, t, None, 1, -100)\na = n[0]\nreturn (a,)\n"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct arena *a = arena_create();
    char *text = text_of(&(struct family){"parts", cases[i].params, cases[i].body, 0});
    const char *source = source_of_program(text, a);
    ck_assert_msg(strstr(source, "tl.atomic_add(count") != NULL, "%s", cases[i].params);
    free(text);
    arena_destroy(a);
  }
}
END_TEST

static bool source_has(const char *params, const char *body, const char *what) {
  struct arena *a = arena_create();
  struct family f = {"rows", params, body, 0};
  char *text = text_of(&f);
  struct program *p = check_program(a, text, &(struct program_options){.target = "sm_90a"}, "text");
  bool found = false;
  for (size_t i = 0; i < p->kernels.len; i++)
    found = found || strstr(p->kernels.at[i]->source, what);
  free(text);
  arena_destroy(a);
  return found;
}

// Rows that are read twice use one launch with a work queue if a chunk is still in cache for the
// second read.
START_TEST(queue_for_long_rows) {
  static const struct {
    const char *params;
    bool draws;
  } cases[] = {{"x: \"bf16[64, 1048576]\"", true},  {"x: \"f32[64, 1048576]\"", true},
               {"x: \"bf16[1024, 131072]\"", true}, {"x: \"bf16[4096, 32768]\"", false},
               {"x: \"bf16[4, 1048576]\"", false},   // little enough for the cache
               {"x: \"bf16[8, 33554432]\"", false}}; // a row is too much for it
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    ck_assert_msg(source_has(cases[i].params,
                             "a = " A "_softmax.default(x, -1, False)\nreturn (a,)\n",
                             "atomic_poll") == cases[i].draws,
                  "%s", cases[i].params);
  // Nothing is read again.
  ck_assert(!source_has("x: \"bf16[64, 1048576]\"",
                        "a = " A "sum.dim_IntList(x, [1])\nreturn (a,)\n", "atomic_poll"));
}
END_TEST

START_TEST(queue_with_blocks_for_a_gpu) {
  check(&(struct family){"many long rows", "x: \"f32[130, 33001]\"",
                         "a = " A "_softmax.default(x, -1, False)\nreturn (a,)\n", 1e-4},
        "sm_90a", NULL);
}
END_TEST

// A long row occupies a multiprocessor: programs walk over rows and prefetch the next one. Shorter
// rows do not.
START_TEST(programs_walk_over_long_rows) {
  static const struct {
    const char *params;
    bool walks;
  } cases[] = {{"x: \"bf16[4096, 32768]\"", true},
               {"x: \"bf16[4096, 32000]\"", true},
               {"x: \"bf16[4096, 8192]\"", false},
               {"x: \"bf16[400, 32768]\"", false},
               {"x: \"f32[4096, 32768]\"", false}}; // two rows do not fit
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct arena *a = arena_create();
    struct family f = {"softmax", cases[i].params,
                       "a = " A "_softmax.default(x, -1, False)\nreturn (a,)\n", 0};
    char *text = text_of(&f);
    bool walks = strstr(source_of_program(text, a), "num_stages=2") != NULL;
    ck_assert_msg(walks == cases[i].walks, "%s", cases[i].params);
    free(text);
    arena_destroy(a);
  }
}
END_TEST

// Cosines and sines are loaded once for several heads. Parts of an axis that fill cache lines are
// computed together, each loaded once; shorter parts load with rotated indices.
START_TEST(rotary_embedding) {
  static const struct {
    const char *params, *body;
    unsigned loads;
    bool chooses;
  } cases[] = {
      {"x: \"bf16[8, 32, 2048, 128]\", c: \"bf16[2048, 128]\", s: \"bf16[2048, 128]\"",
       ROTATE("64"), 6, false},
      {"x: \"bf16[8, 32, 2048, 64]\", c: \"bf16[2048, 64]\", s: \"bf16[2048, 64]\"", ROTATE("32"),
       4, true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct arena *a = arena_create();
    struct family f = {"rope", cases[i].params, cases[i].body, 0};
    char *text = text_of(&f);
    const char *source = source_of_program(text, a), *at = source;
    unsigned loads = 0;
    for (; (at = strstr(at, "tl.load(")); at++)
      loads++;
    ck_assert_msg(loads == cases[i].loads && !strstr(source, "mask"), "%s", source);
    ck_assert_msg((strstr(source, "where") != NULL) == cases[i].chooses, "%s", source);
    ck_assert_msg(strstr(source, "ZBLOCK: constexpr = 4") != NULL, "%s", source);
    free(text);
    arena_destroy(a);
  }
}
END_TEST

int main(void) {
  Suite *s = suite_create("emit");
  TCase *c = tcase_create("emit");
  int count = (int)(sizeof families / sizeof families[0]);
  tcase_add_loop_test(c, on_the_cpu, 0, count);
  tcase_add_test(c, short_sources);
  tcase_add_test(c, one_launch_for_reductions_in_parts);
  tcase_add_test(c, programs_walk_over_long_rows);
  tcase_add_test(c, rotary_embedding);
  tcase_add_test(c, queue_for_long_rows);
  tcase_add_test(c, queue_with_blocks_for_a_gpu);
  tcase_set_timeout(c, 300);
  suite_add_tcase(s, c);
  SRunner *r = srunner_create(s);
  srunner_run_all(r, CK_ENV);
  int failed = srunner_ntests_failed(r);
  srunner_free(r);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
