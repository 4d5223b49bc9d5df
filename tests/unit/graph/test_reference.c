// SPDX-License-Identifier: Apache-2.0
// The interpreter beyond single operators: random numbers as in kernels, values without a result,
// rounding, wrapping, tensors in memory, large products, operators created by passes.
#include "graph/ir/graph_operators.h"
#include "graph/read/fx.h"
#include "graph/reference/inputs.h"
#include "graph/reference/interpret.h"
#include "graph/reference/reference.h"
#include "graph_fixture.h"

#include <tile/tile.h>

#include <check.h>
#include <math.h>
#include <stdlib.h>

// ---- graphs of a few lines ----

struct small {
  struct arena *arena;
  struct graph *graph;
  struct tensor *in[8], *out[8];
};

static struct small small_read(const char *parameters, const char *body, const char *results) {
  struct small s = {.arena = arena_create()};
  const char *text = arena_printf(s.arena,
                                  "class small(torch.nn.Module):\n    def forward(self%s%s):\n"
                                  "        %s\n        return (%s,)\n",
                                  *parameters ? ", " : "", parameters, body, results);
  s.graph = graph_fixture_in(s.arena, "small.py", str_from(text));
  ck_assert(graph_make_inputs(s.graph, NULL, 11, s.in));
  return s;
}

static bool small_run(struct small *s, struct interpret_options options) {
  return graph_interpret(s->graph, &options, NULL, s->in, s->out);
}

static void small_finish(struct small *s) {
  for (size_t i = 0; i < 8; i++) {
    tensor_destroy(s->in[i]);
    tensor_destroy(s->out[i]);
  }
  arena_destroy(s->arena);
}

static struct small small_must(const char *parameters, const char *body, const char *results,
                               struct interpret_options options) {
  struct small s = small_read(parameters, body, results);
  ck_assert_msg(small_run(&s, options), "%s", diag_first_error(s.graph->diag));
  return s;
}

static void set(struct tensor *t, int64_t value) {
  for (int64_t i = 0; i < t->numel; i++)
    t->at[i].integer = value;
}

// ---- random numbers ----

static void need(tile_status status) {
  ck_assert_msg(status == TILE_OK, "%s: %s", tile_status_name(status), tile_error_message());
}

enum { DRAWN = 1024 };

// What tl.rand gives for a key of 64 bits.
static void draw_on_cpu(uint64_t key, uint64_t first, float *ret) {
  static const char text[] = "def k(out: ptr[f32], key: i64, first: i64):\n"
                             "  i = arange(0, 1024)\n"
                             "  store(out + i, tl.rand(key, first + i.to(tl.int64)))\n";
  tile_device *device;
  tile_kernel *k;
  need(tile_device_open("cpu", &device));
  need(tile_kernel_from_source(device, "rand.tile", text, sizeof text - 1, "k", &k));
  tile_arg args[] = {tile_arg_pointer(ret, TILE_F32), tile_arg_i64((int64_t)key),
                     tile_arg_i64((int64_t)first)};
  need(tile_launch(k, NULL, (tile_grid){1, 1, 1}, args, 3));
  need(tile_stream_synchronize(device, NULL));
  tile_kernel_close(k);
  tile_device_close(device);
}

START_TEST(uniform_numbers_are_those_of_kernels) {
  static const struct {
    uint64_t seed, first;
    uint32_t which;
  } cases[] = {
      {0, 0, 0}, {7, 1000, 3}, {0xffffffffffffffffu, 0x123456789au, 77}, {1, 0, RANDOM_SECOND}};
  static float drawn[DRAWN];
  for (size_t c = 0; c < COUNT_OF(cases); c++) {
    draw_on_cpu(cases[c].seed + (uint64_t)cases[c].which * RANDOM_STRIDE, cases[c].first, drawn);
    for (uint64_t i = 0; i < DRAWN; i++) {
      float mine = random_uniform(cases[c].seed, cases[c].which, cases[c].first + i);
      ck_assert_msg(memcmp(&mine, &drawn[i], sizeof mine) == 0, "case %zu, number %llu", c,
                    (unsigned long long)i);
    }
  }
}
END_TEST

START_TEST(random_operators) {
  struct small s = small_must("x: \"f32[64, 64]\"",
                              "a = torch.ops.aten.rand.default([64, 64])\n"
                              "        d = torch.ops.aten.native_dropout.default(x, 0.25, True)\n"
                              "        y: \"f32[64, 64]\" = d[0]\n"
                              "        m: \"b8[64, 64]\" = d[1]\n"
                              "        n = torch.ops.aten.randn.default([64, 64])\n"
                              "        b = torch.ops.aten.bernoulli.p(x, 0.75)",
                              "a, y, m, n, b", (struct interpret_options){.seed = 5});
  double kept = 0, mean = 0, square = 0, ones = 0;
  for (int64_t i = 0; i < 4096; i++) {
    double u = (double)random_uniform(5, 1, (uint64_t)i);
    ck_assert_double_eq(s.out[0]->at[i].real, (double)random_uniform(5, 0, (uint64_t)i));
    ck_assert_int_eq(s.out[2]->at[i].integer, u > 0.25);
    ck_assert_double_eq_tol(s.out[1]->at[i].real, u > 0.25 ? s.in[0]->at[i].real / 0.75 : 0, 1e-12);
    ck_assert_int_eq(s.out[4]->at[i].real > 0, random_uniform(5, 3, (uint64_t)i) < 0.75F);
    kept += (double)s.out[2]->at[i].integer;
    ones += s.out[4]->at[i].real;
    mean += s.out[3]->at[i].real;
    square += s.out[3]->at[i].real * s.out[3]->at[i].real;
  }
  ck_assert_double_eq_tol(kept / 4096, 0.75, 0.03);
  ck_assert_double_eq_tol(ones / 4096, 0.75, 0.03);
  ck_assert_double_eq_tol(mean / 4096, 0, 0.06);
  ck_assert_double_eq_tol(square / 4096, 1, 0.1);
  small_finish(&s);
}
END_TEST

START_TEST(dropout_at_its_ends) {
  struct small s = small_must("x: \"f32[8]\"",
                              "d = torch.ops.aten.native_dropout.default(x, 1.0, True)\n"
                              "        y: \"f32[8]\" = d[0]\n"
                              "        m: \"b8[8]\" = d[1]\n"
                              "        e = torch.ops.aten.native_dropout.default(x, 0.5, False)\n"
                              "        z: \"f32[8]\" = e[0]\n"
                              "        w: \"b8[8]\" = e[1]",
                              "y, m, z, w", (struct interpret_options){.seed = 1});
  for (int64_t i = 0; i < 8; i++) {
    ck_assert_double_eq(s.out[0]->at[i].real, 0);
    ck_assert_int_eq(s.out[1]->at[i].integer, 0);
    ck_assert_double_eq(s.out[2]->at[i].real, s.in[0]->at[i].real);
    ck_assert_int_eq(s.out[3]->at[i].integer, 1);
  }
  small_finish(&s);
}
END_TEST

// ---- what has no result ----

START_TEST(errors) {
  static const struct {
    const char *parameters, *body, *message;
    int64_t value; // of all elements of the last input
  } cases[] = {
      {"x: \"f32[4, 3]\", i: \"i64[2]\"", "r = torch.ops.aten.embedding.default(x, i)",
       "index 4 is out of range for a dimension of 4", 4},
      {"x: \"f32[4, 3]\", i: \"i64[2]\"", "r = torch.ops.aten.embedding.default(x, i)",
       "index -1 is out of range for a dimension of 4", -1},
      {"x: \"f32[4, 3]\", i: \"i64[4, 1]\"", "r = torch.ops.aten.gather.default(x, 1, i)",
       "index 3 is out of range for a dimension of 3", 3},
      {"x: \"f32[4, 3]\", i: \"i64[4, 1]\"", "r = torch.ops.aten.scatter.value(x, 1, i, 0.5)",
       "index -2 is out of range for a dimension of 3", -2},
      {"x: \"f32[4, 3]\", i: \"i64[2]\"", "r = torch.ops.aten.index_select.default(x, 0, i)",
       "index 9 is out of range for a dimension of 4", 9},
      {"x: \"f32[4, 3]\", i: \"i64[2]\"", "r = torch.ops.aten.index.Tensor(x, [None, i])",
       "index -4 is out of range for a dimension of 3", -4},
      {"x: \"f32[4, 3]\", v: \"f32[4, 2]\", i: \"i64[2]\"",
       "r = torch.ops.aten.index_put.default(x, [None, i], v, True)",
       "index 3 is out of range for a dimension of 3", 3},
      {"x: \"f32[2, 3]\", i: \"i64[2]\"",
       "r = torch.ops.aten.embedding_dense_backward.default(x, i, 5, -1, False)",
       "index 5 is out of range for a dimension of 5", 5},
      {"x: \"f32[2, 3]\", i: \"i64[2]\"",
       "t = torch.ops.aten.nll_loss_forward.default(x, i, None, 1, -100)\n"
       "        r: \"f32[]\" = t[0]",
       "target 3 is not one of 3 classes", 3},
      {"g: \"f32[1, 1, 1]\", x: \"f32[1, 2, 2]\", i: \"i64[1, 1, 1]\"",
       "r = torch.ops.aten.max_pool2d_with_indices_backward.default(g, x, [2, 2], [2, 2], [0, 0], "
       "[1, 1], False, i)",
       "index 4 is out of range for an image of 4", 4},
      {"q: \"f32[1, 1, 2, 2]\", l: \"f32[1, 1, 2]\"",
       "t = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward.default(q, q, q, "
       "q, q, l, 0.5, False)\n"
       "        r: \"f32[1, 1, 2, 2]\" = t[0]",
       "the mask of dropout is not an operand", 0},
  };
  for (size_t c = 0; c < COUNT_OF(cases); c++) {
    struct small s = small_read(cases[c].parameters, cases[c].body, "r");
    set(s.in[s.graph->inputs.len - 1], cases[c].value);
    ck_assert_msg(!small_run(&s, (struct interpret_options){0}), "%s", cases[c].message);
    ck_assert_ptr_null(s.out[0]);
    ck_assert_int_eq(diag_first_error_code(s.graph->diag), E1010);
    ck_assert_ptr_nonnull(strstr(diag_first_error(s.graph->diag), cases[c].message));
    small_finish(&s);
  }
}
END_TEST

START_TEST(inputs_are_checked) {
  struct small s = small_read("x: \"f32[4, 3]\"", "r = torch.ops.aten.neg.default(x)", "r");
  const int64_t other[2] = {4, 2};
  struct tensor *right = s.in[0], *wrong = tensor_create(DTYPE_F32, 2, other);
  s.in[0] = wrong;
  ck_assert(!small_run(&s, (struct interpret_options){0}));
  ck_assert_int_eq(diag_first_error_code(s.graph->diag), E1010);
  s.in[0] = right;
  tensor_destroy(wrong);
  small_finish(&s);
}
END_TEST

START_TEST(sizes_are_bounded) {
  static const int64_t large[2] = {1 << 20, 1 << 12}, negative[1] = {-1},
                       empty[3] = {0, INT64_MAX, 2};
  ck_assert_ptr_null(tensor_create(DTYPE_F32, 2, large));
  ck_assert_ptr_null(tensor_create(DTYPE_F32, 1, negative));
  ck_assert_ptr_null(tensor_create(DTYPE_F32, 3, empty));
  struct small s = small_read("", "r = torch.ops.aten.full.default([65536, 65536], 1.0)", "r");
  ck_assert(!small_run(&s, (struct interpret_options){0}));
  ck_assert_int_eq(diag_first_error_code(s.graph->diag), E1010);
  small_finish(&s);
}
END_TEST

// ---- numbers ----

START_TEST(values_are_rounded_where_asked) {
  static const char body[] = "h = torch.ops.prims.convert_element_type.default(x, torch.bfloat16)\n"
                             "        r = torch.ops.aten.mul.Tensor(h, 3)";
  struct small exact = small_must("x: \"f32[100]\"", body, "r", (struct interpret_options){0});
  struct small rounded =
      small_must("x: \"f32[100]\"", body, "r", (struct interpret_options){.rounds = true});
  for (int64_t i = 0; i < 100; i++) {
    double x = exact.in[0]->at[i].real;
    ck_assert_double_eq(exact.out[0]->at[i].real, 3 * x);
    double half = (double)bfloat_to_float(bfloat_from_float((float)x));
    ck_assert_double_eq(rounded.out[0]->at[i].real,
                        (double)bfloat_to_float(bfloat_from_float((float)(3 * half))));
  }
  small_finish(&exact);
  small_finish(&rounded);
}
END_TEST

START_TEST(integers_are_exact_and_wrap) {
  struct small s = small_read("x: \"i64[1]\", y: \"i32[1]\", z: \"u8[1]\"",
                              "a = torch.ops.aten.add.Tensor(x, 1)\n"
                              "        b = torch.ops.aten.mul.Tensor(y, y)\n"
                              "        c = torch.ops.aten.sub.Tensor(z, 10)\n"
                              "        d = torch.ops.aten.eq.Scalar(x, 9007199254740993)\n"
                              "        e = torch.ops.aten.sum.default(y)",
                              "a, b, c, d, e");
  set(s.in[0], 9007199254740993); // 2^53 + 1
  set(s.in[1], 65537);
  set(s.in[2], 3);
  ck_assert(small_run(&s, (struct interpret_options){0}));
  ck_assert_int_eq(s.out[0]->at[0].integer, 9007199254740994);
  ck_assert_int_eq(s.out[1]->at[0].integer, 131073); // 65537^2 - 2^32
  ck_assert_int_eq(s.out[2]->at[0].integer, 249);
  ck_assert_int_eq(s.out[3]->at[0].integer, 1);
  ck_assert_int_eq(s.out[4]->dtype, DTYPE_I64);
  small_finish(&s);
}
END_TEST

START_TEST(tensors_in_memory) {
  static const int64_t shape[2] = {2, 3}, strides[2] = {1, 4};
  int64_t longs[12] = {0};
  uint16_t halves[12] = {0};
  ck_assert_int_eq(tensor_span(2, shape, strides), 10);
  struct tensor *t = tensor_create(DTYPE_I64, 2, shape);
  for (int64_t i = 0; i < 12; i++)
    longs[i] = INT64_MAX - i;
  tensor_load(t, longs, strides);
  ck_assert_int_eq(t->at[4].integer, INT64_MAX - 5); // row 1, column 1
  memset(longs, 0, sizeof longs);
  tensor_store(t, longs, strides);
  ck_assert_int_eq(longs[9], INT64_MAX - 9);
  ck_assert_int_eq(longs[2], 0); // between rows
  tensor_destroy(t);
  t = tensor_create(DTYPE_F16, 2, shape);
  t->at[5].real = 1 + 0x1p-11 + 0x1p-20;
  tensor_store(t, halves, strides);
  ck_assert_int_eq(halves[9], 0x3c01);
  tensor_load(t, halves, strides);
  ck_assert_double_eq(t->at[5].real, 1 + 0x1p-10);
  tensor_destroy(t);
}
END_TEST

// ---- products ----

static void check_product(struct thread_pool *pool, int64_t m, int64_t n, int64_t k, bool flips) {
  union element *a = calloc((size_t)(m * k) + 1, sizeof *a),
                *b = calloc((size_t)(k * n) + 1, sizeof *b),
                *c = calloc((size_t)(m * n) + 1, sizeof *c);
  for (int64_t i = 0; i < m * k; i++)
    a[i].real = (double)(i * 7 % 11 - 5);
  for (int64_t i = 0; i < k * n; i++)
    b[i].real = (double)(i * 5 % 13 - 6);
  struct matrix left = flips ? (struct matrix){a, 1, m} : (struct matrix){a, k, 1},
                right = flips ? (struct matrix){b, 1, k} : (struct matrix){b, n, 1};
  matrix_product(pool, true, m, n, k, left, right, (struct matrix){c, n, 1});
  bool exact = true;
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < n; j++) {
      double sum = 0;
      for (int64_t l = 0; l < k; l++)
        sum += a[i * left.row + l * left.column].real * b[l * right.row + j * right.column].real;
      exact &= fabs(c[i * n + j].real - sum) < 0.5; // of small integers
    }
  ck_assert_msg(exact, "%lld x %lld x %lld", (long long)m, (long long)n, (long long)k);
  free(a);
  free(b);
  free(c);
}

START_TEST(products_of_all_shapes) {
  static const int64_t sizes[] = {0, 1, 3, 4, 5, 63, 65, 130};
  struct thread_pool *pool = thread_pool_create(3);
  for (size_t m = 0; m < COUNT_OF(sizes); m++)
    for (size_t n = 0; n < COUNT_OF(sizes); n++)
      for (size_t k = 0; k < COUNT_OF(sizes); k++)
        check_product((m + n) % 2 ? pool : NULL, sizes[m], sizes[n], sizes[k], k % 2);
  check_product(pool, 70, 500, 300, false);
  check_product(pool, 500, 70, 300, true);
  thread_pool_destroy(pool);
}
END_TEST

// ---- operators that are defined by others ----

static void check_equal(const struct tensor *a, const struct tensor *b) {
  ck_assert_int_eq(a->numel, b->numel);
  for (int64_t i = 0; i < a->numel; i++) {
    const double x = a->at[i].real, y = b->at[i].real;
    ck_assert_msg(fabs(x - y) <= 1e-9 * (1 + fabs(y)), "element %lld: %.12g, not %.12g",
                  (long long)i, x, y);
  }
}

START_TEST(attention_is_softmax_between_products) {
  struct small s = small_must(
      "q: \"f32[2, 3, 5, 8]\", k: \"f32[2, 3, 7, 8]\", v: \"f32[2, 3, 7, 4]\", m: \"f32[5, 7]\"",
      "o = torch.ops.aten.scaled_dot_product_attention.default(q, k, v, m, scale = 0.3)\n"
      "        t = torch.ops.aten.transpose.int(k, -2, -1)\n"
      "        p = torch.ops.aten.matmul.default(q, t)\n"
      "        c = torch.ops.aten.mul.Tensor(p, 0.3)\n"
      "        d = torch.ops.aten.add.Tensor(c, m)\n"
      "        e = torch.ops.aten._softmax.default(d, -1, False)\n"
      "        r = torch.ops.aten.matmul.default(e, v)",
      "o, r", (struct interpret_options){0});
  check_equal(s.out[0], s.out[1]);
  small_finish(&s);
}
END_TEST

// The same by every name that it has.
START_TEST(attention_by_other_names) {
  static const char *const calls[] = {
      "_scaled_dot_product_flash_attention.default(q, k, v, 0.0, True)",
      "_scaled_dot_product_efficient_attention.default(q, k, v, None, True, 0.0, True)",
      "_scaled_dot_product_cudnn_attention.default(q, k, v, None, True, 0.0, True)",
      "_scaled_dot_product_flash_attention_for_cpu.default(q, k, v, 0.0, True)"};
  struct arena *a = arena_create();
  for (size_t i = 0; i < COUNT_OF(calls); i++) {
    struct small s = small_must(
        "q: \"f32[2, 3, 5, 8]\", k: \"f32[2, 3, 5, 8]\", v: \"f32[2, 3, 5, 8]\"",
        arena_printf(a,
                     "o = torch.ops.aten.scaled_dot_product_attention.default(q, k, v, None, 0.0, "
                     "True)\n        t = torch.ops.aten.%s\n        r = t[0]\n        l = t[1]",
                     calls[i]),
        "o, r, l", (struct interpret_options){0});
    check_equal(s.out[0], s.out[1]);
    // Rows of the second are multiples of 32.
    ck_assert_int_eq(s.out[2]->numel, i == 1 ? 2 * 3 * 32 : 30);
    double score = 0; // row 0 sees one key
    for (int64_t d = 0; d < 8; d++)
      score += s.in[0]->at[d].real * s.in[1]->at[d].real / sqrt(8);
    ck_assert_double_eq_tol(s.out[2]->at[0].real, score, 1e-12);
    small_finish(&s);
  }
  arena_destroy(a);
}
END_TEST

static struct value *apply(struct graph *g, enum operator_id op, size_t count,
                           const struct arg *args) {
  struct value *v = graph_apply(g, op, args, count, SPAN_NONE);
  ck_assert_msg(v != NULL, "%s", diag_first_error(g->diag));
  return v;
}

// What passes make has no text of PyTorch's: built by hand beside what it stands for.
START_TEST(gradients_of_convolutions) {
  struct small s = small_read(
      "g: \"f32[2, 4, 4, 5]\", x: \"f32[2, 6, 7, 7]\", w: \"f32[4, 3, 3, 2]\"",
      "t = torch.ops.aten.convolution_backward.default(g, x, w, None, [2, 1], [1, 0], [1, 2], "
      "False, [0, 0], 2, [True, True, False])\n"
      "        r: \"f32[2, 6, 7, 7]\" = t[0]\n        u: \"f32[4, 3, 3, 2]\" = t[1]",
      "r, u");
  struct graph *g = s.graph;
  const int64_t stride[] = {2, 1}, padding[] = {1, 0}, dilation[] = {1, 2};
  struct value *gradient = g->inputs.at[0], *x = g->inputs.at[1], *w = g->inputs.at[2];
  struct arg to_input[] = {
      ARG_V(gradient),         arg_exprs(g, 4, x->shape), ARG_V(w),     arg_ints(g, 2, stride),
      arg_ints(g, 2, padding), arg_ints(g, 2, dilation),  arg_int(g, 2)};
  struct arg to_weight[] = {
      ARG_V(gradient),         arg_exprs(g, 4, w->shape), ARG_V(x),     arg_ints(g, 2, stride),
      arg_ints(g, 2, padding), arg_ints(g, 2, dilation),  arg_int(g, 2)};
  graph_add_output(g, apply(g, OP_CONVOLUTION_GRAD_INPUT, 7, to_input));
  graph_add_output(g, apply(g, OP_CONVOLUTION_GRAD_WEIGHT, 7, to_weight));
  ck_assert(small_run(&s, (struct interpret_options){0}));
  check_equal(s.out[0], s.out[2]);
  check_equal(s.out[1], s.out[3]);
  small_finish(&s);
}
END_TEST

START_TEST(numbered_streams) {
  struct small s = small_read("", "a = torch.ops.aten.rand.default([6])", "a");
  struct graph *g = s.graph;
  const int64_t size[] = {6};
  struct arg args[] = {arg_ints(g, 1, size), arg_int(g, 41)};
  graph_add_output(g, apply(g, OP_TILE_RAND, 2, args));
  ck_assert(small_run(&s, (struct interpret_options){.seed = 9}));
  for (int64_t i = 0; i < 6; i++)
    ck_assert_double_eq(s.out[1]->at[i].real, (double)random_uniform(9, 41, (uint64_t)i));
  small_finish(&s);
}
END_TEST

// ---- values and outputs ----

START_TEST(outputs_may_repeat_and_be_inputs) {
  struct small s = small_must("x: \"f32[3]\"",
                              "a = torch.ops.aten.neg.default(x)\n"
                              "        b = torch.ops.aten.exp.default(a)\n"
                              "        c = torch.ops.aten.empty_like.default(b)",
                              "a, x, a, None, b", (struct interpret_options){0});
  ck_assert_ptr_ne(s.out[0], s.out[2]);
  ck_assert_ptr_ne(s.out[1], s.in[0]);
  ck_assert_ptr_null(s.out[3]);
  for (int64_t i = 0; i < 3; i++) {
    ck_assert_double_eq(s.out[0]->at[i].real, -s.in[0]->at[i].real);
    ck_assert_double_eq(s.out[2]->at[i].real, -s.in[0]->at[i].real);
    ck_assert_double_eq(s.out[1]->at[i].real, s.in[0]->at[i].real);
    ck_assert_double_eq(s.out[4]->at[i].real, exp(-s.in[0]->at[i].real));
  }
  small_finish(&s);
}
END_TEST

// ---- symbolic sizes ----

START_TEST(sizes_are_inputs) {
  static const char text[] =
      "class small(torch.nn.Module):\n"
      "    def forward(self, s0: \"Sym(s0)\", x: \"f32[s0, 4]\", y: \"f32[s0]\"):\n"
      "        a = torch.ops.aten.view.default(x, [-1])\n"
      "        b = torch.ops.aten.arange.default(s0)\n"
      "        c = torch.ops.aten.full.default([s0, 4], 2.0)\n"
      "        d = torch.ops.aten.unsqueeze.default(y, 1)\n"
      "        e = torch.ops.aten.mul.Tensor(c, d)\n"
      "        f = torch.ops.aten.slice.Tensor(e, 0, 1, 9223372036854775807)\n"
      "        return (a, b, f)\n";
  for (int64_t size = 1; size < 6; size++) {
    struct small s = {.arena = arena_create()};
    s.graph = graph_fixture_in(s.arena, "small.py", str_from(text));
    ck_assert_uint_eq(s.graph->symbols.len, 1);
    ck_assert(graph_make_inputs(s.graph, &size, 1, s.in));
    const struct interpret_options options = {0};
    ck_assert_msg(graph_interpret(s.graph, &options, &size, s.in, s.out), "%s",
                  diag_first_error(s.graph->diag));
    // A size that is an input of the text is one of `symbols`, no tensor.
    ck_assert_uint_eq(s.graph->inputs.len, 2);
    ck_assert_int_eq(s.out[0]->numel, 4 * size);
    ck_assert_int_eq(s.out[1]->at[size - 1].integer, size - 1);
    ck_assert_int_eq(s.out[2]->numel, 4 * (size - 1));
    for (int64_t i = 0; i < s.out[2]->numel; i++)
      ck_assert_double_eq(s.out[2]->at[i].real, 2 * s.in[1]->at[1 + i / 4].real);
    small_finish(&s);
  }
}
END_TEST

// ---- plausible inputs ----

static struct input_hint hint_of(const char *parameters, const char *body, size_t i) {
  struct small s = small_read(parameters, body, "r");
  struct input_hint h;
  ck_assert(graph_hint_input(s.graph, NULL, i, &h));
  small_finish(&s);
  return h;
}

START_TEST(hints) {
  // Through views, conversions and sums to what an index chooses from.
  struct input_hint h =
      hint_of("w: \"f32[10, 4]\", i: \"i32[6]\"",
              "a = torch.ops.aten.view.default(i, [2, 3])\n"
              "        b = torch.ops.prims.convert_element_type.default(a, torch.int64)\n"
              "        c = torch.ops.aten.add.Tensor(b, 2)\n"
              "        r = torch.ops.aten.embedding.default(w, c)",
              1);
  ck_assert_int_eq(h.use, INPUT_INDEX);
  ck_assert_int_eq(h.limit, 8);
  h = hint_of("x: \"f32[10, 4]\", i: \"i64[3]\"", "r = torch.ops.aten.index.Tensor(x, [None, i])",
              1);
  ck_assert_int_eq(h.limit, 4);
  h = hint_of("x: \"f32[6, 4]\", i: \"i64[6]\"",
              "t = torch.ops.aten.nll_loss_forward.default(x, i, None, 1, -100)\n"
              "        r: \"f32[]\" = t[0]",
              1);
  ck_assert_int_eq(h.limit, 4);
  h = hint_of("x: \"f32[6]\", y: \"f32[6]\"",
              "a = torch.ops.aten.add.Tensor(x, 1e-05)\n"
              "        b = torch.ops.aten.rsqrt.default(a)\n"
              "        r = torch.ops.aten.div.Tensor(b, y)",
              0);
  ck_assert_int_eq(h.use, INPUT_POSITIVE);
  h = hint_of("x: \"f32[6, 16]\", w: \"f32[5, 16]\"",
              "t = torch.ops.aten.t.default(w)\n        r = torch.ops.aten.mm.default(x, t)", 1);
  ck_assert_int_eq(h.use, INPUT_PLAIN);
  ck_assert_double_eq_tol(h.scale, 0.25, 1e-12);
  h = hint_of("m: \"i64[6]\"", "r = torch.ops.aten.ne.Scalar(m, 0)", 0);
  ck_assert_int_eq(h.use, INPUT_PLAIN);
  ck_assert_int_eq(h.limit, 2);
}
END_TEST

START_TEST(inputs_follow_the_seed) {
  struct small s = small_read("x: \"f32[100, 100]\", y: \"f32[100, 100]\"",
                              "r = torch.ops.aten.add.Tensor(x, y)", "r");
  struct tensor *again[2], *other[2];
  ck_assert(graph_make_inputs(s.graph, NULL, 11, again));
  ck_assert(graph_make_inputs(s.graph, NULL, 12, other));
  double sum = 0, square = 0;
  int64_t equal = 0;
  for (int64_t i = 0; i < 10000; i++) {
    ck_assert_double_eq(s.in[0]->at[i].real, again[0]->at[i].real);
    equal += fabs(s.in[0]->at[i].real - other[0]->at[i].real) < 1e-12;
    equal += fabs(s.in[0]->at[i].real - s.in[1]->at[i].real) < 1e-12;
    sum += s.in[0]->at[i].real;
    square += s.in[0]->at[i].real * s.in[0]->at[i].real;
  }
  ck_assert_int_lt(equal, 20);
  ck_assert_double_eq_tol(sum / 10000, 0, 0.02);
  ck_assert_double_eq_tol(square / 10000, 0.25, 0.01);
  for (int i = 0; i < 2; i++) {
    tensor_destroy(again[i]);
    tensor_destroy(other[i]);
  }
  small_finish(&s);
}
END_TEST

int main(void) {
  Suite *s = suite_create("reference");
  TCase *t = tcase_create("reference");
  tcase_set_timeout(t, 120);
  tcase_add_test(t, uniform_numbers_are_those_of_kernels);
  tcase_add_test(t, random_operators);
  tcase_add_test(t, dropout_at_its_ends);
  tcase_add_test(t, numbered_streams);
  tcase_add_test(t, errors);
  tcase_add_test(t, inputs_are_checked);
  tcase_add_test(t, sizes_are_bounded);
  tcase_add_test(t, values_are_rounded_where_asked);
  tcase_add_test(t, integers_are_exact_and_wrap);
  tcase_add_test(t, tensors_in_memory);
  tcase_add_test(t, products_of_all_shapes);
  tcase_add_test(t, attention_is_softmax_between_products);
  tcase_add_test(t, attention_by_other_names);
  tcase_add_test(t, gradients_of_convolutions);
  tcase_add_test(t, outputs_may_repeat_and_be_inputs);
  tcase_add_test(t, sizes_are_inputs);
  tcase_add_test(t, hints);
  tcase_add_test(t, inputs_follow_the_seed);
  suite_add_tcase(s, t);
  SRunner *r = srunner_create(s);
  srunner_run_all(r, CK_ENV);
  int failed = srunner_ntests_failed(r);
  srunner_free(r);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
