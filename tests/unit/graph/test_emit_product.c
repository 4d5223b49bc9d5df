// SPDX-License-Identifier: Apache-2.0
// Kernels of matrix products: sizes around blocks, dtypes, strides, prologues and epilogues,
// split-K, batches, convolutions; and the choice of blocks.
#include "emit_check.h"
#include "graph/plan/product_plan.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

static const struct program_options on_cpu = {.target = "cpu"};
static const struct program_options on_gpu = {.target = "sm_90a"};

// What rounding to the dtype leaves of a sum's accuracy.
static double tolerance(const char *dtype) {
  return strcmp(dtype, "f32") == 0 ? 1e-5 : strcmp(dtype, "f16") == 0 ? 2e-3 : 1.6e-2;
}

#define TEXT(...) snprintf(text, sizeof text, __VA_ARGS__)
#define HEAD "class <lambda>(torch.nn.Module):\n    def forward(self, "
#define LINE "        "

static void check(const char *text, double allowed, const char *name) {
  struct arena *a = arena_create();
  check_agrees(check_program(a, text, &on_cpu, name), NULL, allowed, name);
  arena_destroy(a);
}

// ---- sizes, dtypes, strides ----

static void check_product(const char *t, int m, int n, int k, bool transposed) {
  char text[2000], name[80];
  snprintf(name, sizeof name, "%s %dx%dx%d%s", t, m, n, k, transposed ? " transposed" : "");
  if (transposed)
    TEXT(HEAD "a: \"%s[%d, %d]\", b: \"%s[%d, %d]\"):\n" LINE
              "c = torch.ops.aten.permute.default(a, [1, 0])\n" LINE
              "d = torch.ops.aten.permute.default(b, [1, 0])\n" LINE
              "e = torch.ops.aten.mm.default(c, d)\n" LINE "return (e,)\n",
         t, k, m, t, n, k);
  else
    TEXT(HEAD "a: \"%s[%d, %d]\", b: \"%s[%d, %d]\"):\n" LINE
              "c = torch.ops.aten.mm.default(a, b)\n" LINE "return (c,)\n",
         t, m, k, t, k, n);
  check(text, tolerance(t), name);
}

static const int sizes[][3] = {{15, 17, 16},    {16, 16, 15},  {17, 15, 129}, {127, 129, 17},
                               {129, 127, 127}, {1, 129, 127}, {129, 1, 33},  {2, 200, 64}};
static const char *const dtypes[] = {"f32", "bf16", "f16"};

START_TEST(sizes_around_blocks) {
  const int *s = sizes[_i / 3];
  check_product(dtypes[_i % 3], s[0], s[1], s[2], false);
  check_product(dtypes[_i % 3], s[0], s[1], s[2], true);
}
END_TEST

START_TEST(products_of_doubles) {
  check_product("f64", 17, 33, 20, false);
  check_product("f64", 17, 33, 20, true);
}
END_TEST

// ---- what stands before and behind ----

START_TEST(bias_activation_and_residual) {
  char text[2000];
  for (int i = 0; i < 3; i++) {
    const char *t = dtypes[i];
    TEXT(HEAD "x: \"%s[33, 48]\", w: \"%s[72, 48]\", b: \"%s[72]\", r: \"%s[33, 72]\"):\n" LINE
              "v = torch.ops.aten.permute.default(w, [1, 0])\n" LINE
              "y = torch.ops.aten.addmm.default(b, x, v)\n" LINE
              "g = torch.ops.aten.gelu.default(y)\n" LINE
              "z = torch.ops.aten.add.Tensor(g, r)\n" LINE "return (z, y)\n",
         t, t, t, t);
    struct arena *a = arena_create();
    struct program *p = check_program(a, text, &on_cpu, t);
    ck_assert_uint_eq(p->launches.len, 1); // the epilogue is in the product's kernel
    check_agrees(p, NULL, tolerance(t), t);
    arena_destroy(a);
  }
}
END_TEST

START_TEST(batch_of_one) {
  check(HEAD "x: \"f32[1, 33, 40]\", y: \"f32[1, 40, 18]\"):\n" LINE
             "p = torch.ops.aten.bmm.default(x, y)\n" LINE "return (p,)\n",
        1e-5, "a batch of one");
  check(HEAD "x: \"f32[1, 33, 40]\", y: \"f32[1, 40, 18]\"):\n" LINE
             "p = torch.ops.aten.bmm.default(x, y)\n" LINE
             "q = torch.ops.aten.relu.default(p)\n" LINE "return (p, q)\n",
        1e-5, "a batch of one, and what follows");
}
END_TEST

START_TEST(result_in_another_order) {
  check(HEAD "x: \"bf16[3, 33, 40]\", y: \"bf16[3, 40, 18]\"):\n" LINE
             "p = torch.ops.aten.bmm.default(x, y)\n" LINE
             "q = torch.ops.aten.permute.default(p, [1, 0, 2])\n" LINE
             "r = torch.ops.aten.clone.default(q, memory_format = torch.contiguous_format)\n" LINE
             "s = torch.ops.aten.view.default(r, [33, 54])\n" LINE "return (s,)\n",
        tolerance("bf16"), "another order");
}
END_TEST

START_TEST(operands_are_parts_of_a_larger_one) {
  check(HEAD "x: \"f16[20, 96]\", w: \"f16[32, 24]\"):\n" LINE
             "y = torch.ops.aten.slice.Tensor(x, 1, 32, 64)\n" LINE
             "p = torch.ops.aten.mm.default(y, w)\n" LINE "return (p,)\n",
        tolerance("f16"), "a part");
}
END_TEST

START_TEST(operand_is_computed) {
  check(HEAD "x: \"bf16[40, 64]\", m: \"b8[40, 64]\", w: \"bf16[64, 40]\"):\n" LINE
             "z = torch.ops.aten.masked_fill.Scalar(x, m, 0.0)\n" LINE
             "p = torch.ops.aten.mm.default(z, w)\n" LINE "return (p,)\n",
        tolerance("bf16"), "computed");
}
END_TEST

// The product's kernel reads the integers: 4-bit ones, two in a byte, with a scale and a zero point
// for each group of 16 along k; 8-bit ones with a scale for each column; 8-bit ones only.
START_TEST(operand_is_quantised) {
  static const char *const texts[] = {
      HEAD "x: \"bf16[21, 80]\", w: \"u8[72, 40]\", s: \"bf16[72, 5]\", z: \"bf16[72, 5]\"):\n" LINE
           "lo = torch.ops.aten.bitwise_and.Scalar(w, 15)\n" LINE
           "hi = torch.ops.aten.bitwise_right_shift.Tensor_Scalar(w, 4)\n" LINE
           "both = torch.ops.aten.stack.default([lo, hi], -1)\n" LINE
           "v = torch.ops.aten.view.default(both, [72, 5, 16])\n" LINE
           "f = torch.ops.prims.convert_element_type.default(v, torch.bfloat16)\n" LINE
           "z1 = torch.ops.aten.unsqueeze.default(z, -1)\n" LINE
           "s1 = torch.ops.aten.unsqueeze.default(s, -1)\n" LINE
           "d = torch.ops.aten.sub.Tensor(f, z1)\n" LINE
           "e = torch.ops.aten.mul.Tensor(d, s1)\n" LINE
           "r = torch.ops.aten.view.default(e, [72, 80])\n" LINE
           "t = torch.ops.aten.permute.default(r, [1, 0])\n" LINE
           "p = torch.ops.aten.mm.default(x, t)\n" LINE "return (p,)\n",
      HEAD "x: \"bf16[21, 80]\", w: \"i8[80, 72]\", s: \"f32[72]\"):\n" LINE
           "f = torch.ops.prims.convert_element_type.default(w, torch.float32)\n" LINE
           "e = torch.ops.aten.mul.Tensor(f, s)\n" LINE
           "t = torch.ops.prims.convert_element_type.default(e, torch.bfloat16)\n" LINE
           "p = torch.ops.aten.mm.default(x, t)\n" LINE "return (p,)\n",
      HEAD "x: \"i8[21, 80]\", w: \"i8[80, 72]\"):\n" LINE
           "p = torch.ops.aten._int_mm.default(x, w)\n" LINE "return (p,)\n"};
  struct arena *a = arena_create();
  struct program *p = check_program(a, texts[_i], &on_cpu, "quantised");
  ck_assert_uint_eq(p->launches.len, 1);
  check_agrees(p, NULL, _i == 2 ? 0 : tolerance("bf16"), "quantised");
  arena_destroy(a);
}
END_TEST

// Two weights a byte: the kernel walks over bytes, and where 32 of them or more share a scale and a
// zero point, over these; a scale alone multiplies the sums of its weights. One row is a product
// too.
START_TEST(packed_weights) {
  static const struct {
    int rows, columns, k, group;
    bool has_groups;
  } cases[] = {{1, 96, 512, 128, true},  {9, 70, 384, 64, true},    {33, 80, 204, 204, false},
               {64, 65, 320, 32, false}, {17, 128, 256, 16, false}, {70, 64, 768, 256, true}};
  for (size_t j = 0; j < 2 * COUNT_OF(cases); j++) {
    size_t i = j / 2;
    bool has_zeros = j % 2;
    const char *groups = has_zeros ? "high = k0 //" : "+= tl.dot(a, b) * scale";
    char text[3000];
    int m = cases[i].rows, n = cases[i].columns, k = cases[i].k, group = cases[i].group;
    TEXT(HEAD "x: \"f16[%d, %d]\", w: \"u8[%d, %d]\", s: \"f16[%d, %d, 1]\", z: "
              "\"f16[%d, %d, 1]\"):\n" LINE "lo = torch.ops.aten.bitwise_and.Scalar(w, 15)\n" LINE
              "hi = torch.ops.aten.__rshift__.Scalar(w, 4)\n" LINE
              "both = torch.ops.aten.stack.default([lo, hi], -1)\n" LINE
              "v = torch.ops.aten.view.default(both, [%d, %d, %d])\n" LINE
              "f = torch.ops.prims.convert_element_type.default(v, torch.float16)\n" LINE
              "d = torch.ops.aten.sub.Tensor(f, %s)\n" LINE
              "e = torch.ops.aten.mul.Tensor(d, s)\n" LINE
              "r = torch.ops.aten.view.default(e, [%d, %d])\n" LINE
              "t = torch.ops.aten.permute.default(r, [1, 0])\n" LINE
              "p = torch.ops.aten.mm.default(x, t)\n" LINE "return (p,)\n",
         m, k, n, k / 2, n, k / group, n, k / group, n, k / group, group, has_zeros ? "z" : "8", n,
         k);
    struct arena *a = arena_create();
    struct program *p = check_program(a, text, &on_cpu, text);
    const char *source = p->kernels.at[0]->source;
    ck_assert_uint_eq(p->launches.len, 1);
    ck_assert_msg(strstr(source, ".permute(0, 2, 1).reshape(2 * BLOCK_K, BLOCK_N)"), "%s", source);
    ck_assert_msg(!strstr(source, groups) == !cases[i].has_groups, "%s", source);
    check_agrees(p, NULL, 2 * tolerance("f16"), text);
    arena_destroy(a);
  }
}
END_TEST

// wgmma reads 8-bit operands along k, so that only rows along k come by descriptors.
START_TEST(descriptors_of_bytes) {
  for (int i = 0; i < 2; i++) {
    char text[1000];
    TEXT(HEAD "x: \"f8e4m3fn[640, 384]\", w: \"f8e4m3fn[%s]\", a: \"f32[]\", b: \"f32[]\"):\n" LINE
              "%s"
              "p = torch.ops.aten._scaled_mm.default(x, %s, a, b, out_dtype = torch.float16)\n" LINE
              "return (p,)\n",
         i ? "384, 512" : "512, 384",
         i ? "" : "t = torch.ops.aten.permute.default(w, [1, 0])\n" LINE, i ? "w" : "t");
    struct arena *a = arena_create();
    struct program *p = check_program(a, text, &(struct program_options){.target = "sm_90a"}, text);
    const char *source = p->kernels.at[0]->source;
    ck_assert_msg((strstr(source, "b_tiles.load(") == NULL) == (i == 1), "%s", source);
    arena_destroy(a);
  }
}
END_TEST

START_TEST(gate_and_product) {
  check(HEAD
        "x: \"f16[32, 64]\", g: \"f16[96, 64]\", u: \"f16[96, 64]\"):\n" LINE
        "a = torch.ops.aten.permute.default(g, [1, 0])\n" LINE
        "b = torch.ops.aten.mm.default(x, a)\n" LINE "c = torch.ops.aten.silu.default(b)\n" LINE
        "d = torch.ops.aten.permute.default(u, [1, 0])\n" LINE
        "e = torch.ops.aten.mm.default(x, d)\n" LINE "f = torch.ops.aten.mul.Tensor(c, e)\n" LINE
        "return (f,)\n",
        tolerance("f16"), "swiglu");
}
END_TEST

// Gate and up projection go through one loop: their sums are in registers at once.
START_TEST(products_of_the_same_rows_share_a_kernel) {
  static const int shapes[][3] = {{40, 96, 64}, {37, 101, 75}};
  char text[2000];
  for (unsigned i = 0; i < 6; i++) {
    const int *n = shapes[i / 3];
    const char *t = dtypes[i % 3];
    TEXT(HEAD
         "x: \"%s[%d, %d]\", g: \"%s[%d, %d]\", u: \"%s[%d, %d]\"):\n" LINE
         "a = torch.ops.aten.permute.default(g, [1, 0])\n" LINE
         "b = torch.ops.aten.mm.default(x, a)\n" LINE "c = torch.ops.aten.silu.default(b)\n" LINE
         "d = torch.ops.aten.permute.default(u, [1, 0])\n" LINE
         "e = torch.ops.aten.mm.default(x, d)\n" LINE "f = torch.ops.aten.mul.Tensor(c, e)\n" LINE
         "return (f, e)\n",
         t, n[0], n[2], t, n[1], n[2], t, n[1], n[2]);
    struct arena *a = arena_create();
    struct program *p = check_program(a, text, &on_cpu, t);
    ck_assert_uint_eq(p->launches.len, 1);
    ck_assert_ptr_nonnull(strstr(p->kernels.at[0]->source, "acc1 = tl.dot(a0, b1, acc1"));
    check_agrees(p, NULL, tolerance(t), t);
    arena_destroy(a);
  }
}
END_TEST

// Gradients of weights that met the same rows: the columns are loaded once.
START_TEST(products_of_the_same_columns_share_a_kernel) {
  char text[2000];
  for (unsigned i = 0; i < 3; i++) {
    const char *t = dtypes[i];
    TEXT(HEAD "x: \"%s[50, 37]\", g: \"%s[50, 40]\", u: \"%s[50, 40]\"):\n" LINE
              "a = torch.ops.aten.permute.default(g, [1, 0])\n" LINE
              "b = torch.ops.aten.mm.default(a, x)\n" LINE
              "c = torch.ops.aten.permute.default(u, [1, 0])\n" LINE
              "d = torch.ops.aten.mm.default(c, x)\n" LINE "return (b, d)\n",
         t, t, t);
    struct arena *a = arena_create();
    struct program *p = check_program(a, text, &on_cpu, t);
    ck_assert_uint_eq(p->launches.len, 1);
    ck_assert_ptr_nonnull(strstr(p->kernels.at[0]->source, "acc1 = tl.dot(a1, b0, acc1"));
    check_agrees(p, NULL, tolerance(t), t);
    arena_destroy(a);
  }
}
END_TEST

static size_t launches_of(const char *text, const char *name) {
  struct arena *a = arena_create();
  struct program *p = check_program(a, text, &on_cpu, name);
  size_t n = p->launches.len;
  check_agrees(p, NULL, 1e-5, name);
  arena_destroy(a);
  return n;
}

#define THREE(x, y, z, a, b, c)                                                                    \
  "r = torch.ops.aten.addmm.default(" a ", " x ", u)\n" LINE "s = torch.ops.aten.addmm.default(" b \
  ", " y ", v)\n" LINE "t = torch.ops.aten.addmm.default(" c ", " z ", w)\n" LINE                  \
  "return (r, s, t)\n"

// Queries, keys and values of the same rows, but not those of others, of another size, or with a k
// that is worth splitting.
START_TEST(small_products_of_the_same_rows_share_a_kernel) {
  ck_assert_uint_eq(launches_of(HEAD "x: \"f32[33, 50]\", u: \"f32[50, 40]\", v: \"f32[50, 40]\", "
                                     "w: \"f32[50, 40]\", b: \"f32[40]\"):\n" LINE THREE(
                                         "x", "x", "x", "b", "b", "b"),
                                "three"),
                    1);
  ck_assert_uint_eq(
      launches_of(HEAD "x: \"f32[33, 50]\", y: \"f32[33, 50]\", u: \"f32[50, 40]\", v: \"f32[50, "
                       "40]\", w: \"f32[50, 40]\", b: \"f32[40]\"):\n" LINE THREE("x", "y", "x",
                                                                                  "b", "b", "b"),
                  "other rows"),
      2);
  ck_assert_uint_eq(
      launches_of(
          HEAD "x: \"f32[33, 50]\", u: \"f32[50, 40]\", v: \"f32[50, 24]\", w: \"f32[50, "
               "40]\", b: \"f32[40]\", c: \"f32[24]\"):\n" LINE THREE("x", "x", "x", "b", "c", "b"),
          "another size"),
      2);
  ck_assert_uint_gt(
      launches_of(
          HEAD "x: \"f32[9, 2100]\", u: \"f32[2100, 16]\", v: \"f32[2100, 16]\", "
               "w: \"f32[2100, 16]\", b: \"f32[16]\"):\n" LINE THREE("x", "x", "x", "b", "b", "b"),
          "long k"),
      2);
}
END_TEST

// ---- forms of the kernel ----

START_TEST(long_k_is_split) {
  char text[2000];
  for (int i = 0; i < 3; i++) {
    const char *t = dtypes[i];
    TEXT(HEAD "x: \"%s[9, 4100]\", w: \"%s[4100, 24]\", b: \"%s[24]\"):\n" LINE
              "y = torch.ops.aten.addmm.default(b, x, w)\n" LINE "return (y,)\n",
         t, t, t);
    struct arena *a = arena_create();
    struct program *p = check_program(a, text, &on_cpu, t);
    ck_assert_uint_eq(p->launches.len, 1);
    ck_assert_ptr_nonnull(strstr(p->kernels.at[0]->source, "if tl.atomic_add(count + "));
    check_agrees(p, NULL, tolerance(t), t);
    arena_destroy(a);
  }
}
END_TEST

START_TEST(batches_of_long_k_are_split) {
  struct arena *a = arena_create();
  struct program *p = check_program(
      a,
      HEAD "x: \"f32[3, 20, 4100]\", w: \"f32[3, 4100, 40]\", b: \"f32[3, 20, 40]\"):\n" LINE
           "y = torch.ops.aten.bmm.default(x, w)\n" LINE
           "z = torch.ops.aten.add.Tensor(y, b)\n" LINE "return (z, y)\n",
      &on_cpu, "batches");
  ck_assert_uint_eq(p->launches.len, 1);
  ck_assert_ptr_nonnull(strstr(p->kernels.at[0]->source, "tl.program_id(1) * tl.num_programs(0)"));
  check_agrees(p, NULL, tolerance("f32"), "batches");
  arena_destroy(a);
}
END_TEST

START_TEST(many_batches_share_an_axis_of_the_grid) {
  check(HEAD "x: \"f32[66000, 2, 3]\", y: \"f32[66000, 3, 2]\"):\n" LINE
             "p = torch.ops.aten.bmm.default(x, y)\n" LINE "return (p,)\n",
        tolerance("f32"), "many batches");
}
END_TEST

START_TEST(convolutions) {
  check(HEAD "x: \"f32[2, 3, 18, 17]\", k: \"f32[20, 3, 3, 3]\", b: \"f32[20]\"):\n" LINE
             "c = torch.ops.aten.convolution.default(x, k, b, [1, 1], [1, 1], [1, 1], False, "
             "[0, 0], 1)\n" LINE "r = torch.ops.aten.relu.default(c)\n" LINE "return (r,)\n",
        1e-5, "convolution");
  check(HEAD "x: \"bf16[2, 32, 18, 18]\", k: \"bf16[64, 16, 3, 3]\"):\n" LINE
             "c = torch.ops.aten.convolution.default(x, k, None, [2, 2], [1, 1], [1, 1], False, "
             "[0, 0], 2)\n" LINE "return (c,)\n",
        1.6e-2, "groups and strides");
}
END_TEST

// Neighbours in an image are neighbours in the text, for loads and stores that are contiguous.
START_TEST(indices_in_images_are_digits) {
  struct arena *a = arena_create();
  struct program *p = check_program(
      a,
      HEAD
      "x: \"f32[8, 64, 56, 56]\", w: \"f32[64, 64, 3, 3]\"):\n" LINE
      "y = torch.ops.aten.convolution.default(x, w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], "
      "1)\n" LINE "return (y,)\n",
      &on_gpu, "convolution");
  const char *source = p->kernels.at[0]->source;
  ck_assert_msg(strstr(source,
                       "m // 3136 * 200704 + m % 3136 + ka // 9 * 3136 + ka // 3 % 3 * 56 + "
                       "ka % 3 - 57") != NULL,
                "%s", source);
  ck_assert_msg(strstr(source, "m // 3136 * 200704 + m % 3136 + n * 3136") != NULL, "%s", source);
  arena_destroy(a);
}
END_TEST

START_TEST(sizes_that_are_symbols) {
  const char *text =
      HEAD "s0: \"Sym(s0)\", x: \"f32[s0, 40]\", w: \"f32[40, 56]\", b: \"f32[56]\"):\n" LINE
           "y = torch.ops.aten.addmm.default(b, x, w)\n" LINE
           "z = torch.ops.aten.relu.default(y)\n" LINE "return (z,)\n";
  for (int64_t size = 1; size < 200; size = size * 5 + 2) {
    struct arena *a = arena_create();
    check_agrees(check_program(a, text, &on_cpu, "symbols"), &size, 1e-5, "symbols");
    arena_destroy(a);
  }
}
END_TEST

// Shares of a k that is known when the program runs: some may be empty.
START_TEST(a_long_side_that_is_a_symbol) {
  const char *text = HEAD "s0: \"Sym(s0)\", x: \"f16[32*s0, 40]\", w: \"f16[32*s0, 24]\"):\n" LINE
                          "t = torch.ops.aten.permute.default(x, [1, 0])\n" LINE
                          "y = torch.ops.aten.mm.default(t, w)\n" LINE "return (y,)\n";
  static const int64_t longs[] = {1, 2, 33, 256};
  for (size_t i = 0; i < COUNT_OF(longs); i++) {
    struct arena *a = arena_create();
    struct program *p = check_program(a, text, &on_gpu, "long side");
    const char *source = p->kernels.at[0]->source;
    ck_assert_msg(strstr(source, "part = tl.program_id(2)") != NULL, "%s", source);
    check_agrees(p, &longs[i], 2e-3, "long side");
    arena_destroy(a);
  }
}
END_TEST

// What a tuner may choose serves every size: blocks that divide what is known of one.
START_TEST(spaces_serve_every_size) {
  const char *text = HEAD "s0: \"Sym(s0)\", x: \"f16[128*s0, 512]\", w: \"f16[512, 256]\"):\n" LINE
                          "y = torch.ops.aten.mm.default(x, w)\n" LINE "return (y,)\n";
  struct arena *a = arena_create();
  struct program *p = check_program(a, text, &on_gpu, "spaces");
  const char *space = p->kernels.at[0]->space;
  ck_assert_msg(strstr(space, "BLOCK_M=128,16,32,64,"), "%s", space);
  ck_assert_msg(!strstr(space, "BLOCK_M=128,16,32,64,256"), "%s", space);
  arena_destroy(a);
}
END_TEST

// ---- blocks ----

static struct product_plan plan_of_several(enum dtype t, int64_t m, int64_t n, int64_t k,
                                           unsigned products) {
  struct product_shape s = {
      .batch = 1, .m = m, .n = n, .k = k, .dtype = t, .products = products, .may_split = true};
  return product_choose(&s, &on_gpu);
}

static struct product_plan plan_of(enum dtype t, int64_t m, int64_t n, int64_t k) {
  return plan_of_several(t, m, n, k, 1);
}

// The blocks that were fastest on the device they are chosen for, by pointers.
START_TEST(blocks_are_the_measured_best) {
  struct product_plan p = plan_of(DTYPE_BF16, 4096, 4096, 4096);
  ck_assert_uint_eq(p.block_m * p.block_n, 128 * 256);
  ck_assert_uint_eq(p.num_warps, 8);
  p = plan_of(DTYPE_F16, 1024, 1024, 1024);
  ck_assert_uint_eq(p.block_m, 64);
  ck_assert_uint_eq(p.block_n, 128);
  ck_assert_uint_eq(p.block_k, 64);
  ck_assert_uint_eq(p.split_k, 1);
  p = plan_of_several(DTYPE_BF16, 4096, 11008, 4096, 2);
  ck_assert_uint_eq(p.block_m * p.block_n, 128 * 64);
  ck_assert_uint_eq(p.num_warps, 4);
}
END_TEST

START_TEST(descriptors_have_blocks_of_their_own) {
  struct product_shape s = {.batch = 1,
                            .m = 8192,
                            .n = 2304,
                            .k = 768,
                            .dtype = DTYPE_F16,
                            .products = 1,
                            .has_tiles = true};
  struct product_plan p = product_choose(&s, &on_gpu);
  ck_assert_uint_eq(p.block_m * p.block_n, 128 * 128);
  ck_assert_uint_eq(p.resident, 1);
  s.k = 40; // the rest of a block of k is zeros
  ck_assert_uint_eq(product_choose(&s, &on_gpu).block_k, 64);
  s.m = 12; // little to do: not for warpgroups
  ck_assert_uint_eq(product_choose(&s, &on_gpu).resident, 0);
}
END_TEST

START_TEST(large_blocks_are_for_wgmma) {
  struct product_shape s = {
      .batch = 1, .m = 3000, .n = 6000, .k = 2048, .dtype = DTYPE_F16, .products = 1};
  struct product_plan p = product_choose(&s, &on_gpu);
  ck_assert_uint_eq(p.block_m * p.block_n, 128 * 256);
  ck_assert_uint_eq(p.block_k, 64);
  ck_assert_uint_eq(p.num_warps, 8);
  ck_assert_uint_eq(p.num_stages, 3);
  s.dtype = DTYPE_F32; // fma, not wgmma
  ck_assert_uint_eq(product_choose(&s, &on_gpu).block_n, 128);
}
END_TEST

START_TEST(blocks_suit_every_size) {
  static const int64_t lengths[] = {1, 2, 15, 16, 17, 100, 127, 768, 1000, 4097, 50257};
  static const enum dtype types[] = {DTYPE_F16, DTYPE_F32, DTYPE_F64, DTYPE_F8E5};
  for (size_t i = 0; i < COUNT_OF(lengths); i++)
    for (size_t j = 0; j < COUNT_OF(lengths); j++)
      for (size_t k = 0; k < COUNT_OF(lengths); k++)
        for (size_t t = 0; t < COUNT_OF(types); t++) {
          unsigned products = 1 + (i + j + k) % 3;
          struct product_plan p =
              plan_of_several(types[t], lengths[i], lengths[j], lengths[k], products);
          ck_assert(is_pow2(p.block_m) && is_pow2(p.block_n) && is_pow2(p.block_k));
          ck_assert(p.block_m <= 16 || p.block_m < 2 * lengths[i]);
          ck_assert(p.block_n <= 16 || p.block_n < 2 * lengths[j]);
          // All stages fit the shared memory of a multiprocessor.
          ck_assert_uint_le((p.block_m + products * p.block_n) * p.block_k * p.num_stages *
                                dtype_bytes(types[t]),
                            227 << 10);
        }
}
END_TEST

// ---- operands through tensor descriptors ----

static const char *source_of(struct arena *a, const char *text) {
  struct program *p = check_program(a, text, &on_gpu, "descriptors");
  ck_assert_uint_eq(p->launches.len, 1);
  return p->kernels.at[0]->source;
}

static bool has(const char *source, const char *part) { return strstr(source, part) != NULL; }

// Each operand in both orders; the result as a block.
START_TEST(matrices_in_any_order_have_descriptors) {
  static const char *const loads[2][2] = {
      {"a_tiles.load([m_first, k0])\n", "a_tiles.load([k0, m_first]).T\n"},
      {"b_tiles.load([k0, n_first])\n", "b_tiles.load([n_first, k0]).T\n"}};
  char text[1000];
  bool ta = _i & 1, tb = _i & 2;
  TEXT(HEAD "x: \"f16[%d, %d]\", w: \"f16[%d, %d]\"):\n" LINE
            "y = torch.ops.aten.permute.default(x, [%s])\n" LINE
            "v = torch.ops.aten.permute.default(w, [%s])\n" LINE
            "p = torch.ops.aten.mm.default(y, v)\n" LINE "return (p,)\n",
       ta ? 512 : 3072, ta ? 3072 : 512, tb ? 2048 : 512, tb ? 512 : 2048, ta ? "1, 0" : "0, 1",
       tb ? "1, 0" : "0, 1");
  struct arena *a = arena_create();
  const char *source = source_of(a, text);
  ck_assert_msg(has(source, loads[0][ta]) && has(source, loads[1][tb]), "%s", source);
  ck_assert(has(source, "in tl.range(tl.program_id(0), blocks, tl.num_programs(0))"));
  ck_assert(has(source, "out0_tiles.store([m_first, n_first], acc.to(tl.float16))"));
  arena_destroy(a);
}
END_TEST

static const struct {
  const char *text, *has, *has_not;
} forms[] = {
    // a size that the launch knows; a part of a larger matrix
    {HEAD "s0: \"Sym(s0)\", x: \"bf16[s0, 1536]\", w: \"bf16[512, 2048]\"):\n" LINE
          "y = torch.ops.aten.slice.Tensor(x, 1, 1024, 1536)\n" LINE
          "p = torch.ops.aten.mm.default(y, w)\n" LINE "return (p,)\n",
     "tl.make_tensor_descriptor(in0 + 1024, [n0, 512], [1536, 1], ", "tl.load("},
    // rows that do not begin at multiples of 16 bytes
    {HEAD "x: \"f16[2048, 1028]\", w: \"f16[1028, 2048]\"):\n" LINE
          "p = torch.ops.aten.mm.default(x, w)\n" LINE "return (p,)\n",
     "tl.load(in0", "_tiles"},
    // a part that does not begin there
    {HEAD "x: \"f16[2048, 1536]\", w: \"f16[512, 2048]\"):\n" LINE
          "y = torch.ops.aten.slice.Tensor(x, 1, 4, 516)\n" LINE
          "p = torch.ops.aten.mm.default(y, w)\n" LINE "return (p,)\n",
     "tl.load(in0", "_tiles"},
    // the result is not: it goes to another order
    {HEAD "x: \"f16[2048, 512]\", w: \"f16[512, 2048]\"):\n" LINE
          "p = torch.ops.aten.mm.default(x, w)\n" LINE
          "q = torch.ops.aten.permute.default(p, [1, 0])\n" LINE
          "r = torch.ops.aten.clone.default(q, memory_format = torch.contiguous_format)\n" LINE
          "return (r,)\n",
     "tl.store(out0", "out0_tiles"},
    // what the epilogue loads is on its way during the loop: a block by a descriptor, a row before
    // it
    {HEAD "x: \"f16[4096, 512]\", w: \"f16[512, 2048]\", r: \"f16[4096, 2048]\"):\n" LINE
          "p = torch.ops.aten.mm.default(x, w)\n" LINE "q = torch.ops.aten.add.Tensor(p, r)\n" LINE
          "return (q,)\n",
     "acc = tl.dot(a, b, acc)\n        tile = residual_tiles.load([m_first, n_first])\n",
     "tl.store("},
    {HEAD "x: \"f16[4096, 512]\", w: \"f16[512, 2048]\", r: \"f16[2048]\"):\n" LINE
          "p = torch.ops.aten.mm.default(x, w)\n" LINE "q = torch.ops.aten.mul.Tensor(p, r)\n" LINE
          "return (q,)\n",
     "v0 = tl.load(in2 + n)\n        acc = tl.zeros", "residual_tiles"},
};

// Batches are dimensions in front of the matrix.
static const struct {
  const char *text, *parts[4];
} batched[] = {
    {HEAD "x: \"f16[24, 512, 256]\", w: \"f16[24, 256, 384]\"):\n" LINE
          "p = torch.ops.aten.bmm.default(x, w)\n" LINE "return (p,)\n",
     {"a_tiles = tl.make_tensor_descriptor(in0, [24, 512, 256], [131072, 256, 1], [1, BLOCK_M, "
      "BLOCK_K])",
      "a = a_tiles.load([batch, m_first, k0]).reshape(BLOCK_M, BLOCK_K)\n", "batch = pid // tiles",
      "out0_tiles.store([batch, m_first, n_first], acc.to(tl.float16).reshape(1, BLOCK_M, "
      "BLOCK_N))"}},
    // one operand for all
    {HEAD "x: \"f16[24, 512, 256]\", w: \"f16[256, 384]\"):\n" LINE
          "u = torch.ops.aten.unsqueeze.default(w, 0)\n" LINE
          "v = torch.ops.aten.expand.default(u, [24, 256, 384])\n" LINE
          "p = torch.ops.aten.bmm.default(x, v)\n" LINE "return (p,)\n",
     {"b_tiles = tl.make_tensor_descriptor(in1, [256, 384], [384, 1], [BLOCK_K, BLOCK_N])",
      "b = b_tiles.load([k0, n_first])\n", "a_tiles.load([batch, ", "blocks = tiles * 24"}},
    // heads beside each other; the other operand transposed
    {HEAD "x: \"f16[4, 512, 12, 64]\", w: \"f16[4, 384, 12, 64]\"):\n" LINE
          "u = torch.ops.aten.permute.default(x, [0, 2, 1, 3])\n" LINE
          "v = torch.ops.aten.permute.default(w, [0, 2, 3, 1])\n" LINE
          "p = torch.ops.aten.matmul.default(u, v)\n" LINE "return (p,)\n",
     {"tl.make_tensor_descriptor(in0, [4, 12, 512, 64], [393216, 64, 768, 1], [1, 1, BLOCK_M, "
      "BLOCK_K])",
      "a_tiles.load([batch // 12, batch % 12, m_first, k0]).reshape(BLOCK_M, BLOCK_K)\n",
      "b_tiles.load([batch // 12, batch % 12, n_first, k0]).reshape(BLOCK_N, BLOCK_K).T\n",
      "out0_tiles.store([batch, m_first, n_first]"}},
    // a number of batches that the launch knows
    {HEAD "s0: \"Sym(s0)\", x: \"f16[s0, 512, 256]\", w: \"f16[s0, 384, 256]\"):\n" LINE
          "v = torch.ops.aten.permute.default(w, [0, 2, 1])\n" LINE
          "p = torch.ops.aten.bmm.default(x, v)\n" LINE "return (p,)\n",
     {"tl.make_tensor_descriptor(in1, [n0, 384, 256], [98304, 256, 1], [1, BLOCK_N, BLOCK_K])",
      "b_tiles.load([batch.to(tl.int32), n_first, k0]).reshape(BLOCK_N, BLOCK_K).T\n",
      "blocks = tiles * n0\n",
      "m_first = ((first + (pid % tiles) % width % height) * BLOCK_M).to(tl.int32)\n"}},
};

START_TEST(batches_are_dimensions_of_descriptors) {
  struct arena *a = arena_create();
  const char *source = source_of(a, batched[_i].text);
  for (size_t i = 0; i < COUNT_OF(batched[_i].parts); i++)
    ck_assert_msg(has(source, batched[_i].parts[i]), "%s\nin\n%s", batched[_i].parts[i], source);
  arena_destroy(a);
}
END_TEST

// Blocks that are left over are split; the result follows the sum.
START_TEST(left_over_blocks_are_split) {
  static const char text[] = HEAD "x: \"f16[256, 16384]\", w: \"f16[16384, 1024]\"):\n" LINE
                                  "p = torch.ops.aten.mm.default(x, w)\n" LINE "return (p,)\n";
  struct arena *a = arena_create();
  struct program *p = check_program(a, text, &on_gpu, "left over");
  ck_assert_uint_eq(p->launches.len, 1);
  const struct graph_kernel *k = p->kernels.at[0];
  static const char *const parts[] = {
      "whole = blocks // tl.num_programs(0) * tl.num_programs(0)\n", "if pid >= whole:\n",
      "    done = tl.atomic_add(", " + slot, 1) == SPLIT_K - 1\n",
      "        if done:\n            out0_tiles.store([m_first, n_first], "};
  for (size_t i = 0; i < COUNT_OF(parts); i++)
    ck_assert_msg(has(k->source, parts[i]), "%s\nin\n%s", parts[i], k->source);
  // Blocks have the sizes that the memory for parts was planned for.
  ck_assert_msg(has(k->space, "BLOCK_M=64, BLOCK_N=128, num_warps="), "%s", k->space);
  arena_destroy(a);
}
END_TEST

START_TEST(descriptors_where_memory_allows) {
  struct arena *a = arena_create();
  const char *source = source_of(a, forms[_i].text);
  ck_assert_msg(has(source, forms[_i].has), "%s", source);
  ck_assert_msg(!has(source, forms[_i].has_not), "%s", source);
  arena_destroy(a);
}
END_TEST

START_TEST(linear_and_gelu_is_one_kernel_on_the_gpu) {
  struct arena *a = arena_create();
  struct program *p = check_program(
      a,
      HEAD "x: \"bf16[4096, 4096]\", w: \"bf16[11008, 4096]\", b: \"bf16[11008]\"):\n" LINE
           "v = torch.ops.aten.permute.default(w, [1, 0])\n" LINE
           "y = torch.ops.aten.addmm.default(b, x, v)\n" LINE
           "g = torch.ops.aten.gelu.default(y)\n" LINE "return (g,)\n",
      &on_gpu, "linear");
  ck_assert_uint_eq(p->launches.len, 1);
  const struct graph_kernel *k = p->kernels.at[0];
  // Whole blocks: nothing in the loop is masked.
  ck_assert_ptr_nonnull(strstr(k->source, "tl.dot(a, b, acc)"));
  ck_assert_ptr_null(strstr(k->source, "mask="));
  ck_assert_ptr_nonnull(k->space);
  struct exprs *x = p->regions->loops->exprs;
  const struct launch *l = &p->launches.at[0];
  ck_assert_ptr_eq(grid_value(x, l->grid_rule[0], k), l->grid[0]);
  ck_assert_str_eq(launch_grid_text(a, x, l),
                   "min(11007 // BLOCK_N + 4095 // BLOCK_M + (11007 // BLOCK_N)*(4095 // BLOCK_M) "
                   "+ 1, 132),1,1");
  arena_destroy(a);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("emit product");
  TCase *c = tcase_create("on the cpu");
  tcase_set_timeout(c, 300);
  tcase_add_loop_test(c, sizes_around_blocks, 0, 3 * (int)COUNT_OF(sizes));
  tcase_add_test(c, products_of_doubles);
  tcase_add_test(c, bias_activation_and_residual);
  tcase_add_test(c, batch_of_one);
  tcase_add_test(c, result_in_another_order);
  tcase_add_test(c, operands_are_parts_of_a_larger_one);
  tcase_add_test(c, operand_is_computed);
  tcase_add_loop_test(c, operand_is_quantised, 0, 3);
  tcase_add_test(c, packed_weights);
  tcase_add_test(c, descriptors_of_bytes);
  tcase_add_test(c, gate_and_product);
  tcase_add_test(c, products_of_the_same_rows_share_a_kernel);
  tcase_add_test(c, products_of_the_same_columns_share_a_kernel);
  tcase_add_test(c, small_products_of_the_same_rows_share_a_kernel);
  tcase_add_test(c, long_k_is_split);
  tcase_add_test(c, batches_of_long_k_are_split);
  tcase_add_test(c, many_batches_share_an_axis_of_the_grid);
  tcase_add_test(c, convolutions);
  tcase_add_test(c, indices_in_images_are_digits);
  tcase_add_test(c, sizes_that_are_symbols);
  tcase_add_test(c, a_long_side_that_is_a_symbol);
  tcase_add_test(c, spaces_serve_every_size);
  suite_add_tcase(suite, c);
  c = tcase_create("blocks");
  tcase_add_test(c, blocks_are_the_measured_best);
  tcase_add_test(c, descriptors_have_blocks_of_their_own);
  tcase_add_test(c, large_blocks_are_for_wgmma);
  tcase_add_test(c, blocks_suit_every_size);
  tcase_add_loop_test(c, matrices_in_any_order_have_descriptors, 0, 4);
  tcase_add_loop_test(c, descriptors_where_memory_allows, 0, (int)COUNT_OF(forms));
  tcase_add_loop_test(c, batches_are_dimensions_of_descriptors, 0, (int)COUNT_OF(batched));
  tcase_add_test(c, left_over_blocks_are_split);
  tcase_add_test(c, linear_and_gelu_is_one_kernel_on_the_gpu);
  suite_add_tcase(suite, c);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? 0 : 1;
}
