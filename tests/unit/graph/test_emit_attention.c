// SPDX-License-Identifier: Apache-2.0
// Attention kernels: forms of scales and masks, sizes around blocks, dtypes, fully masked rows,
// strides.
#include "emit_check.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

static const struct program_options on_cpu = {.target = "cpu"};
static const struct program_options on_gpu = {.target = "sm_90a"};

#define TEXT(...) snprintf(text, sizeof text, __VA_ARGS__)
#define HEAD "class <lambda>(torch.nn.Module):\n    def forward(self, "
#define LINE "        "

static double tolerance(const char *dtype) {
  return strcmp(dtype, "f32") == 0 ? 1e-5 : strcmp(dtype, "f16") == 0 ? 3e-3 : 2e-2;
}

// One launch, whose kernel walks over the keys.
static const char *only_source(const struct program *p, const char *name) {
  ck_assert_msg(p->launches.len == 1, "%s: %zu launches", name, p->launches.len);
  const char *source = p->kernels.at[0]->source;
  ck_assert_msg(strstr(source, "tl.exp2(") && strstr(source, "tl.dot("), "%s: %s", name, source);
  return source;
}

static void check(const char *text, double allowed, const char *name) {
  struct arena *a = arena_create();
  struct program *p = check_program(a, text, &on_cpu, name);
  only_source(p, name);
  check_agrees(p, NULL, allowed, name);
  arena_destroy(a);
}

struct shape {
  int batch, heads, queries, keys, depth, columns;
};

static void operator_text(char *text, size_t size, const char *t, const struct shape *s,
                          bool is_causal, const char *mask) {
  char parameter[100] = "";
  if (mask)
    snprintf(parameter, sizeof parameter, ", m: \"%s[%d, 1, %d, %d]\"", mask, s->batch, s->queries,
             s->keys);
  snprintf(text, size,
           HEAD "q: \"%s[%d, %d, %d, %d]\", k: \"%s[%d, %d, %d, %d]\", v: \"%s[%d, %d, %d, %d]\"%s"
                "):\n" LINE "o = torch.ops.aten.scaled_dot_product_attention.default(q, k, v, %s, "
                "0.0, %s)\n" LINE "return (o,)\n",
           t, s->batch, s->heads, s->queries, s->depth, t, s->batch, s->heads, s->keys, s->depth, t,
           s->batch, s->heads, s->keys, s->columns, parameter, mask ? "m" : "None",
           is_causal ? "True" : "False");
}

static void check_operator(const char *t, const struct shape *s, bool is_causal, const char *mask) {
  char text[2000], name[100];
  operator_text(text, sizeof text, t, s, is_causal, mask);
  snprintf(name, sizeof name, "%s %d x %d, %d%s%s", t, s->queries, s->keys, s->depth,
           is_causal ? ", causal" : "", mask ? ", masked" : "");
  check(text, tolerance(t), name);
}

// ---- the operator ----

static const char *const dtypes[] = {"f32", "bf16", "f16"};

static const struct shape shapes[] = {
    {2, 2, 15, 17, 16, 16},   {1, 2, 16, 16, 32, 32}, {1, 1, 17, 129, 40, 24},
    {1, 2, 129, 127, 64, 64}, {2, 1, 127, 1, 64, 64}, {1, 3, 33, 64, 128, 128},
    {8, 2, 130, 300, 16, 16},
};

START_TEST(shapes_around_blocks) {
  const struct shape *s = &shapes[_i / 3];
  check_operator(dtypes[_i % 3], s, false, NULL);
  check_operator(dtypes[_i % 3], s, true, NULL);
}
END_TEST

// Processors have blocks that do not fit in registers, where the model of their caches says so.
START_TEST(blocks_of_processors_are_large) {
  const struct shape large = {4, 4, 256, 256, 64, 64}, short_ = {4, 4, 20, 256, 64, 64};
  char text[2000];
  struct arena *a = arena_create();
  operator_text(text, sizeof text, "f32", &large, false, NULL);
  const char *source = only_source(check_program(a, text, &on_cpu, "large"), "large");
  ck_assert_msg(strstr(source, "BLOCK_M: constexpr = 128") ||
                    strstr(source, "BLOCK_M: constexpr = 256"),
                "%s", source);
  ck_assert_msg(strstr(source, "BLOCK_N: constexpr = 256"), "%s", source);
  operator_text(text, sizeof text, "f32", &short_, false, NULL);
  source = only_source(check_program(a, text, &on_cpu, "short"), "short");
  ck_assert_msg(strstr(source, "BLOCK_M: constexpr = 32"), "%s", source);
  arena_destroy(a);
}
END_TEST

START_TEST(masks_are_loaded) {
  const struct shape s = {2, 2, 33, 70, 32, 32}, power = {2, 2, 33, 70, 64, 32};
  check_operator("f16", &s, false, "b8");
  check_operator("f16", &s, false, "f16");
  check_operator("f32", &s, false, "f32");
  check_operator("bf16", &power, false, "bf16");
  check_operator("f16", &power, false, "f32");
  check_operator("f32", &power, false, "f32");
}
END_TEST

// Heads that share keys are rows of one block for few queries (`batch` counts groups then), and
// blocks of their own for many; causal masks still are those of the queries.
START_TEST(grouped_heads) {
  static const struct {
    int heads, groups, queries, keys;
    bool is_packed;
  } cases[] = {{6, 2, 1, 70, true},   {6, 3, 5, 33, true},   {8, 1, 3, 65, true},
               {7, 7, 16, 40, false}, {4, 2, 40, 48, false}, {12, 4, 21, 90, true}};
  for (size_t i = 0; i < COUNT_OF(cases) * 2; i++) {
    char text[2000], packed[40];
    int heads = cases[i / 2].heads, groups = cases[i / 2].groups, n = cases[i / 2].queries,
        keys = cases[i / 2].keys;
    TEXT(HEAD
         "q: \"f16[2, %d, %d, 32]\", k: \"f16[2, %d, %d, 32]\", v: \"f16[2, %d, %d, 32]\"):\n" LINE
         "o = torch.ops.aten.scaled_dot_product_attention.default(q, k, v, None, 0.0, %s, "
         "scale = 0.3, enable_gqa = True)\n" LINE "return (o,)\n",
         heads, n, groups, keys, groups, keys, i % 2 ? "True" : "False");
    struct arena *a = arena_create();
    struct program *p = check_program(a, text, &on_cpu, text);
    snprintf(packed, sizeof packed, "(m < %d)", heads / groups * n);
    ck_assert_msg(!strstr(only_source(p, text), packed) == !cases[i / 2].is_packed, "%s", text);
    check_agrees(p, NULL, tolerance("f16"), text);
    arena_destroy(a);
  }
}
END_TEST

// Each head sees keys up to a bound of its own: rows of one block would not see more and more.
START_TEST(bounds_of_heads) {
  static const char text[] = HEAD
      "q: \"f16[2, 4, 3, 32]\", k: \"f16[2, 1, 150, 32]\", v: \"f16[2, 1, 150, 32]\"):\n" LINE
      "h = torch.ops.aten.arange.default(4)\n" LINE
      "h1 = torch.ops.aten.view.default(h, [4, 1, 1])\n" LINE
      "h2 = torch.ops.aten.mul.Tensor(h1, 35)\n" LINE "i = torch.ops.aten.arange.default(3)\n" LINE
      "i1 = torch.ops.aten.view.default(i, [3, 1])\n" LINE
      "i2 = torch.ops.aten.add.Tensor(i1, 120)\n" LINE
      "b = torch.ops.aten.sub.Tensor(i2, h2)\n" LINE "j = torch.ops.aten.arange.default(150)\n" LINE
      "m = torch.ops.aten.le.Tensor(j, b)\n" LINE
      "o = torch.ops.aten.scaled_dot_product_attention.default(q, k, v, m, 0.0, False, "
      "enable_gqa = True)\n" LINE "return (o,)\n";
  check(text, tolerance("f16"), "bounds of heads");
}
END_TEST

// softmax(q k) v of one query is one kernel if its operands have 16 bits; others are sums.
START_TEST(one_query_written_out) {
  static const char *const types[] = {"f16", "bf16", "f32", "f64"};
  static const double allowed[] = {3e-3, 2e-2, 1e-5, 1e-14};
  for (int i = 0; i < 4; i++) {
    char text[2000];
    TEXT(HEAD "q: \"%s[6, 1, 24]\", k: \"%s[6, 24, 130]\", v: \"%s[6, 130, 40]\"):\n" LINE
              "s = torch.ops.aten.bmm.default(q, k)\n" LINE
              "t = torch.ops.aten.mul.Tensor(s, 0.3)\n" LINE
              "p = torch.ops.aten._softmax.default(t, -1, False)\n" LINE
              "o = torch.ops.aten.bmm.default(p, v)\n" LINE "return (o,)\n",
         types[i], types[i], types[i]);
    struct arena *a = arena_create();
    struct program *p = check_program(a, text, &on_cpu, types[i]);
    ck_assert_msg((p->launches.len == 1) == (i < 2), "%s: %zu launches", types[i], p->launches.len);
    check_agrees(p, NULL, allowed[i], types[i]);
    arena_destroy(a);
  }
}
END_TEST

// ---- spelled out ----

// softmax(mask(q k^T)) v with lines of its own for the mask: they make `m` from `s`.
static void check_spelled(const char *mask, const char *name, bool skips) {
  char text[4000];
  TEXT(HEAD
       "q: \"bf16[2, 2, 64, 32]\", k: \"bf16[2, 2, 64, 32]\", v: \"bf16[2, 2, 64, 32]\"):\n" LINE
       "a = torch.ops.aten.view.default(q, [4, 64, 32])\n" LINE
       "b = torch.ops.aten.permute.default(k, [0, 1, 3, 2])\n" LINE
       "c = torch.ops.aten.reshape.default(b, [4, 32, 64])\n" LINE
       "d = torch.ops.aten.bmm.default(a, c)\n" LINE
       "e = torch.ops.aten.view.default(d, [2, 2, 64, 64])\n" LINE
       "s = torch.ops.aten.div.Tensor(e, 5.656854249492381)\n" LINE
       "i = torch.ops.prims.iota.default(64, start = 0, step = 1, dtype = torch.int64)\n" LINE
       "j = torch.ops.aten.unsqueeze.default(i, 1)\n" LINE "%s" LINE
       "p = torch.ops.aten._softmax.default(m, -1, False)\n" LINE
       "f = torch.ops.aten.view.default(p, [4, 64, 64])\n" LINE
       "g = torch.ops.aten.view.default(v, [4, 64, 32])\n" LINE
       "h = torch.ops.aten.bmm.default(f, g)\n" LINE
       "o = torch.ops.aten.view.default(h, [2, 2, 64, 32])\n" LINE
       "t = torch.ops.aten.permute.default(o, [0, 2, 1, 3])\n" LINE
       "u = torch.ops.aten.clone.default(t, memory_format = torch.contiguous_format)\n" LINE
       "return (u,)\n",
       mask);
  struct arena *a = arena_create();
  struct program *p = check_program(a, text, &on_cpu, name);
  const char *source = only_source(p, name);
  ck_assert_msg(!strstr(source, "end = min(") == !skips, "%s: %s", name, source);
  check_agrees(p, NULL, tolerance("bf16"), name);
  arena_destroy(a);
}

#define CHOICE(condition, number)                                                                  \
  condition LINE "n = torch.ops.aten.full.default([], " number ", dtype = torch.bfloat16)\n" LINE  \
                 "m = torch.ops.aten.where.self(c1, s, n)\n"

START_TEST(later_keys_are_skipped_however_it_is_said) {
  check_spelled(CHOICE("c1 = torch.ops.aten.le.Tensor(i, j)\n", "-inf"), "key <= query", true);
  check_spelled(CHOICE("c1 = torch.ops.aten.ge.Tensor(j, i)\n", "-inf"), "query >= key", true);
  check_spelled(CHOICE("c0 = torch.ops.aten.gt.Tensor(i, j)\n" LINE
                       "c1 = torch.ops.aten.logical_not.default(c0)\n",
                       "-inf"),
                "not key > query", true);
  check_spelled(CHOICE("c1 = torch.ops.aten.le.Tensor(i, j)\n", "-3.3895313892515355e+38"),
                "a large number", true);
  check_spelled("c1 = torch.ops.aten.le.Tensor(i, j)\n" LINE
                "z = torch.ops.aten.full.default([], 0.0, dtype = torch.bfloat16)\n" LINE
                "n = torch.ops.aten.full.default([], -inf, dtype = torch.bfloat16)\n" LINE
                "w = torch.ops.aten.where.self(c1, z, n)\n" LINE
                "m = torch.ops.aten.add.Tensor(s, w)\n",
                "added", true);
}
END_TEST

START_TEST(other_scores) {
  check_spelled("m = torch.ops.aten.mul.Tensor(s, 2.0)\n", "scaled twice", false);
  check_spelled("w = torch.ops.aten.tanh.default(s)\n" LINE
                "m = torch.ops.aten.mul.Tensor(w, 30.0)\n",
                "soft cap", false);
  check_spelled("x = torch.ops.aten.sub.Tensor(i, j)\n" LINE
                "y = torch.ops.aten.mul.Tensor(x, -0.25)\n" LINE
                "z = torch.ops.aten._to_copy.default(y, dtype = torch.bfloat16)\n" LINE
                "m = torch.ops.aten.add.Tensor(s, z)\n",
                "distances", false);
}
END_TEST

// Any batch and any length: the size of the scores might not fit 64 bits.
START_TEST(sizes_that_are_symbols) {
  const char *text =
      HEAD "s0: \"Sym(s0)\", s1: \"Sym(s1)\", q: \"bf16[s0, 4, s1, 32]\", k: \"bf16[s0, 4, s1, "
           "32]\", v: \"bf16[s0, 4, s1, 32]\"):\n" LINE
           "a = torch.ops.aten.view.default(q, [s0*4, s1, 32])\n" LINE
           "b = torch.ops.aten.permute.default(k, [0, 1, 3, 2])\n" LINE
           "c = torch.ops.aten.reshape.default(b, [s0*4, 32, s1])\n" LINE
           "d = torch.ops.aten.bmm.default(a, c)\n" LINE
           "e = torch.ops.aten.view.default(d, [s0, 4, s1, s1])\n" LINE
           "s = torch.ops.aten.mul.Tensor(e, 0.125)\n" LINE
           "i = torch.ops.prims.iota.default(s1, start = 0, step = 1, dtype = torch.int64)\n" LINE
           "j = torch.ops.aten.unsqueeze.default(i, 1)\n" LINE
           "g = torch.ops.aten.le.Tensor(i, j)\n" LINE
           "n = torch.ops.aten.full.default([], -inf, dtype = torch.bfloat16)\n" LINE
           "m = torch.ops.aten.where.self(g, s, n)\n" LINE
           "p = torch.ops.aten._softmax.default(m, -1, False)\n" LINE
           "f = torch.ops.aten.view.default(p, [s0*4, s1, s1])\n" LINE
           "h = torch.ops.aten.view.default(v, [s0*4, s1, 32])\n" LINE
           "o = torch.ops.aten.bmm.default(f, h)\n" LINE
           "u = torch.ops.aten.view.default(o, [s0, 4, s1, 32])\n" LINE "return (u,)\n";
  static const int64_t sizes[][2] = {{1, 1}, {2, 17}, {1, 70}};
  for (size_t i = 0; i < COUNT_OF(sizes); i++) {
    struct arena *a = arena_create();
    struct program *p = check_program(a, text, &on_cpu, "symbols");
    const char *source = only_source(p, "symbols");
    ck_assert_msg(strstr(source, "end = min(") != NULL, "%s", source);
    check_agrees(p, sizes[i], tolerance("bf16"), "symbols");
    arena_destroy(a);
  }
}
END_TEST

// What is added to scores whose factor is `scale`: `added` of a parameter of that type.
static void added_text(char *text, size_t size, const char *type, const char *scale,
                       const char *added) {
  snprintf(text, size,
           HEAD "q: \"bf16[2, 64, 32]\", k: \"bf16[2, 64, 32]\", v: \"bf16[2, 64, 32]\", b: "
                "\"%s\"):\n" LINE "c = torch.ops.aten.permute.default(k, [0, 2, 1])\n" LINE
                "d = torch.ops.aten.bmm.default(q, c)\n" LINE
                "s = torch.ops.aten.mul.Tensor(d, %s)\n" LINE "%s" LINE
                "p = torch.ops.aten._softmax.default(m, -1, False)\n" LINE
                "o = torch.ops.aten.bmm.default(p, v)\n" LINE "return (o,)\n",
           type, scale, added);
}

static void check_added(const char *type, const char *scale, const char *added, bool starts,
                        const char *name) {
  char text[4000];
  added_text(text, sizeof text, type, scale, added);
  struct arena *a = arena_create();
  struct program *p = check_program(a, text, &on_cpu, name);
  const char *source = only_source(p, name);
  ck_assert_msg(!strstr(source, "s = tl.dot(q, k)") == starts, "%s: %s", name, source);
  check_agrees(p, NULL, tolerance("bf16"), name);
  arena_destroy(a);
}

// Products begin with what is added to scores, where the factor of these is a power of two.
START_TEST(what_is_added) {
  static const char sum[] = "m = torch.ops.aten.add.Tensor(s, b)\n";
  check_added("bf16[2, 64, 64]", "0.125", sum, true, "a mask of each");
  check_added("bf16[2, 64, 64]", "0.3", sum, false, "another factor");
  check_added("bf16[2, 64, 64]", "2.0", sum, false, "a large factor");
  check_added("bf16[2, 64, 64]", "1.0", sum, true, "no factor");
  check_added("bf16[64, 64]", "0.25", sum, true, "one for all");
  check_added("bf16[2, 1, 64]", "0.25", sum, true, "of keys");
  check_added("bf16[2, 1, 64]", "0.3", sum, false, "of keys, another factor");
  check_added("bf16[2, 64, 1]", "0.5", sum, true, "of queries");
  check_added("b8[2, 64, 64]", "0.5",
              "x = torch.ops.aten._to_copy.default(b, dtype = torch.bfloat16)\n" LINE
              "m = torch.ops.aten.sub.Tensor(s, x)\n",
              false, "subtracted");
  check_added(
      "bf16[2, 64, 64]", "0.5",
      "x = torch.ops.aten.add.Tensor(s, b)\n" LINE
      "i = torch.ops.prims.iota.default(64, start = 0, step = 1, dtype = torch.int64)\n" LINE
      "j = torch.ops.aten.unsqueeze.default(i, 1)\n" LINE
      "y = torch.ops.aten.sub.Tensor(i, j)\n" LINE
      "z = torch.ops.aten._to_copy.default(y, dtype = torch.bfloat16)\n" LINE
      "m = torch.ops.aten.add.Tensor(x, z)\n",
      true, "two of them");
  check_added("bf16[2, 64, 64]", "0.5",
              "x = torch.ops.aten.add.Tensor(s, b)\n" LINE
              "m = torch.ops.aten.mul.Tensor(x, 0.5)\n",
              false, "scaled again");
}
END_TEST

// A mask of the least number, which leaves equal shares to rows that see nothing else, and one of
// infinities, whose rows are NaN.
START_TEST(masks_of_huge_numbers) {
  static const char *const choices[] = {"-3.3895313892515355e+38", "-inf"};
  for (unsigned i = 0; i < 2; i++) {
    char added[1000];
    snprintf(added, sizeof added,
             "i = torch.ops.prims.iota.default(64, start = 0, step = 1, dtype = torch.int64)\n" LINE
             "g = torch.ops.aten.lt.Tensor(i, b)\n" LINE
             "z = torch.ops.aten.full.default([], 0.0, dtype = torch.bfloat16)\n" LINE
             "n = torch.ops.aten.full.default([], %s, dtype = torch.bfloat16)\n" LINE
             "w = torch.ops.aten.where.self(g, z, n)\n" LINE
             "x = torch.ops.aten.maximum.default(w, n)\n" LINE
             "m = torch.ops.aten.add.Tensor(s, x)\n",
             choices[i]);
    check_added("i64[2, 64, 1]", "0.5", added, true, choices[i]);
  }
}
END_TEST

// Rows from 10 on see no key at all.
START_TEST(rows_without_keys) {
  check_spelled(CHOICE("c1 = torch.ops.aten.lt.Scalar(j, 10)\n", "-inf"), "empty rows are NaN",
                false);
  check_spelled(CHOICE("c1 = torch.ops.aten.lt.Scalar(j, 10)\n", "-30000.0"),
                "equal scores are equal shares", false);
  check_spelled(CHOICE("c1 = torch.ops.aten.lt.Scalar(j, 10)\n", "-3.3895313892515355e+38"),
                "equal shares of the largest number", false);
}
END_TEST

// Attention and the logarithms of its sums, `l` being made of a[1] by `line`, in one launch.
static void check_sums(const char *line, const char *name) {
  char text[2000];
  TEXT(HEAD "q: \"f32[2, 3, 33, 32]\", k: \"f32[2, 3, 40, 32]\", v: \"f32[2, 3, 40, 32]\"):\n" LINE
            "a = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default(q, k, v, 0.0, "
            "True)\n" LINE "o = a[0]\n" LINE "%s\n" LINE "return (o, l)\n",
       line);
  struct arena *a = arena_create();
  struct program *p = check_program(a, text, &on_cpu, name);
  only_source(p, name);
  check_agrees(p, NULL, 1e-5, name);
  arena_destroy(a);
}

START_TEST(sums_for_the_backward_pass) {
  check_sums("l = a[1]", "as they come");
  check_sums("l: \"f32[2, 3, 33][99, 33, 1]\" = a[1]", "dense");
  check_sums("l: \"f32[2, 3, 33][99, 1, 3]\" = a[1]", "heads side by side");
  check_sums("l: \"f32[2, 3, 33][1, 70, 2]\" = a[1]", "far apart");
  check_sums("m = a[1]\n" LINE "l = torch.ops.aten.permute.default(m, [2, 0, 1])", "permuted");
}
END_TEST

// Queries, keys and values of one buffer.
START_TEST(parts_of_one_buffer) {
  check(HEAD
        "x: \"f16[2, 48, 192]\"):\n" LINE "s = torch.ops.aten.split.Tensor(x, 64, 2)\n" LINE
        "a = s[0]\n" LINE "b = s[1]\n" LINE "c = s[2]\n" LINE
        "d = torch.ops.aten.view.default(a, [2, 48, 2, 32])\n" LINE
        "q = torch.ops.aten.permute.default(d, [0, 2, 1, 3])\n" LINE
        "e = torch.ops.aten.view.default(b, [2, 48, 2, 32])\n" LINE
        "k = torch.ops.aten.permute.default(e, [0, 2, 1, 3])\n" LINE
        "f = torch.ops.aten.view.default(c, [2, 48, 2, 32])\n" LINE
        "v = torch.ops.aten.permute.default(f, [0, 2, 1, 3])\n" LINE
        "o = torch.ops.aten.scaled_dot_product_attention.default(q, k, v, None, 0.0, True)\n" LINE
        "t = torch.ops.aten.permute.default(o, [0, 2, 1, 3])\n" LINE
        "u = torch.ops.aten.reshape.default(t, [2, 48, 64])\n" LINE "return (u,)\n",
        tolerance("f16"), "one buffer");
}
END_TEST

// ---- on the GPU ----

START_TEST(whole_blocks_have_no_mask) {
  char text[2000];
  const struct shape s = {4, 16, 4096, 4096, 64, 64};
  operator_text(text, sizeof text, "bf16", &s, true, NULL);
  struct arena *a = arena_create();
  struct program *p = check_program(a, text, &on_gpu, "attention");
  const char *source = only_source(p, "attention");
  ck_assert_ptr_nonnull(strstr(source, "for k0 in range(0, whole, BLOCK_N):"));
  ck_assert_ptr_nonnull(strstr(source, "for k0 in range(whole, end, BLOCK_N):"));
  const char *mask = strstr(source, "tl.where(");
  ck_assert_ptr_nonnull(mask);
  ck_assert_ptr_null(strstr(mask + 1, "tl.where(")); // in the second loop alone
  ck_assert_ptr_null(strstr(source, "mask="));
  ck_assert_uint_eq(p->kernels.at[0]->num_warps, 4);
  ck_assert_uint_eq(p->kernels.at[0]->num_stages, 2);
  arena_destroy(a);
}
END_TEST

// Keys and values of 128 columns come by descriptors where blocks are whole and fill the GPU.
START_TEST(descriptors_of_keys_and_values) {
  static const struct {
    struct shape shape;
    const char *type, *mask;
    bool by_tiles;
  } cases[] = {{{5, 30, 300, 384, 128, 128}, "f16", NULL, true},
               {{5, 30, 300, 384, 128, 128}, "bf16", "f16", false},
               {{5, 30, 300, 392, 128, 128}, "f16", NULL, false},
               {{5, 30, 300, 384, 64, 64}, "f16", NULL, false},
               {{5, 30, 300, 384, 128, 64}, "f16", NULL, false},
               {{5, 30, 300, 384, 96, 96}, "f16", NULL, false},
               {{5, 30, 300, 384, 128, 128}, "f32", NULL, false},
               {{5, 8, 300, 384, 128, 128}, "f16", NULL, false}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[2000];
    operator_text(text, sizeof text, cases[i].type, &cases[i].shape, i % 2, cases[i].mask);
    struct arena *a = arena_create();
    struct program *p = check_program(a, text, &on_gpu, "attention");
    const char *source = only_source(p, "attention");
    ck_assert_msg((strstr(source, "v_tiles.load([v_row + k0, v_column])") != NULL) ==
                      cases[i].by_tiles,
                  "%zu: %s", i, source);
    ck_assert_msg((p->kernels.at[0]->num_warps == 8) == cases[i].by_tiles, "%zu", i);
    arena_destroy(a);
  }
}
END_TEST

// Kernels by descriptors are persistent; where later queries see more keys, blocks come in pairs of
// the same work. Results in whole blocks are stored by descriptors, also those of heads side by
// side.
START_TEST(orders_of_blocks) {
  static const struct {
    struct shape shape;
    bool is_causal;
    const char *loop, *store;
  } cases[] = {
      {{3, 24, 768, 640, 128, 128}, false, "tl.num_programs(0)):", "out_tiles.store("},
      {{3, 24, 768, 768, 128, 128}, true, "in tl.range(0, 2 * pairs):", "out_tiles.store("},
      {{3, 24, 800, 768, 128, 128}, true, "in tl.range(0, 2 * pairs):", "tl.store(out0"},
      {{3, 40, 384, 384, 128, 128}, true, "batch = tl.program_id(1)", "out_tiles.store("},
      {{3, 24, 768, 768, 64, 64}, true, "in tl.range(0, 2 * pairs):", "out_tiles.store("},
      {{1, 8, 16384, 16384, 128, 128}, true, "batch = tl.program_id(1)", "out_tiles.store("}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    char text[2000];
    operator_text(text, sizeof text, "f16", &cases[i].shape, cases[i].is_causal, NULL);
    struct arena *a = arena_create();
    struct program *p = check_program(a, text, &on_gpu, "attention");
    const char *source = only_source(p, "attention");
    ck_assert_msg(strstr(source, cases[i].loop) && strstr(source, cases[i].store), "%zu: %s", i,
                  source);
    arena_destroy(a);
  }
}
END_TEST

// Queries, keys and values are parts of one projection's rows, four heads of queries for each of
// keys.
START_TEST(descriptors_of_shared_heads) {
  struct arena *a = arena_create();
  struct program *p = check_program(
      a,
      HEAD "x: \"bf16[5, 384, 1536]\"):\n" LINE
           "a = torch.ops.aten.slice.Tensor(x, 2, 0, 1024)\n" LINE
           "b = torch.ops.aten.slice.Tensor(x, 2, 1024, 1280)\n" LINE
           "c = torch.ops.aten.slice.Tensor(x, 2, 1280, 1536)\n" LINE
           "d = torch.ops.aten.view.default(a, [5, 384, 8, 128])\n" LINE
           "e = torch.ops.aten.view.default(b, [5, 384, 2, 128])\n" LINE
           "f = torch.ops.aten.view.default(c, [5, 384, 2, 128])\n" LINE
           "q = torch.ops.aten.transpose.int(d, 1, 2)\n" LINE
           "k = torch.ops.aten.transpose.int(e, 1, 2)\n" LINE
           "v = torch.ops.aten.transpose.int(f, 1, 2)\n" LINE
           "o = torch.ops.aten.scaled_dot_product_attention.default(q, k, v, None, 0.0, False, "
           "enable_gqa = True)\n" LINE "return (o,)\n",
      &(struct program_options){.target = "sm_90a", .multiprocessors = 100}, "shared heads");
  const char *source = only_source(p, "shared heads");
  ck_assert_msg(strstr(source, "k_row = batch // 8 * 384") ||
                    strstr(source, "k_row = 384 * (batch // 8)"),
                "%s", source);
  ck_assert_msg(strstr(source, "q_row = "), "%s", source);
  arena_destroy(a);
}
END_TEST

// What is loaded for each score leaves room for two programs; weights are added up by a product
// then.
START_TEST(masks_take_room) {
  static const struct {
    int depth;
    const char *mask, *block;
    bool by_product;
  } cases[] = {{64, NULL, "BLOCK_N: constexpr = 64", false},
               {64, "bf16", "BLOCK_N: constexpr = 64", true},
               {64, "f32", "BLOCK_N: constexpr = 32", true},
               {64, "b8", "BLOCK_N: constexpr = 64", false},
               {128, NULL, "BLOCK_N: constexpr = 128", false},
               {128, "bf16", "BLOCK_N: constexpr = 32", true}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[2000];
    const struct shape s = {4, 16, 2048, 2048, cases[i].depth, cases[i].depth};
    operator_text(text, sizeof text, "bf16", &s, false, cases[i].mask);
    struct arena *a = arena_create();
    struct program *p = check_program(a, text, &on_gpu, "attention");
    const char *source = only_source(p, "attention");
    ck_assert_msg(strstr(source, cases[i].block) != NULL, "%zu: %s", i, source);
    ck_assert_uint_eq(p->kernels.at[0]->num_stages, 2);
    ck_assert_int_eq(strstr(source, "tl.dot(p, ones, ") != NULL, cases[i].by_product);
    arena_destroy(a);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("emit attention");
  TCase *c = tcase_create("attention");
  tcase_set_timeout(c, 300);
  tcase_add_loop_test(c, shapes_around_blocks, 0, 3 * (int)(sizeof shapes / sizeof shapes[0]));
  tcase_add_test(c, blocks_of_processors_are_large);
  tcase_add_test(c, masks_are_loaded);
  tcase_add_test(c, grouped_heads);
  tcase_add_test(c, bounds_of_heads);
  tcase_add_test(c, one_query_written_out);
  tcase_add_test(c, later_keys_are_skipped_however_it_is_said);
  tcase_add_test(c, other_scores);
  tcase_add_test(c, sizes_that_are_symbols);
  tcase_add_test(c, what_is_added);
  tcase_add_test(c, masks_of_huge_numbers);
  tcase_add_test(c, rows_without_keys);
  tcase_add_test(c, sums_for_the_backward_pass);
  tcase_add_test(c, parts_of_one_buffer);
  tcase_add_test(c, whole_blocks_have_no_mask);
  tcase_add_test(c, descriptors_of_keys_and_values);
  tcase_add_test(c, orders_of_blocks);
  tcase_add_test(c, descriptors_of_shared_heads);
  tcase_add_test(c, masks_take_room);
  suite_add_tcase(suite, c);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? 0 : 1;
}
