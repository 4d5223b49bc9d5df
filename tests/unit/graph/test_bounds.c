// SPDX-License-Identifier: Apache-2.0
// Bounds of single elements: results rounded to f32 are within them; a single wrong small element
// is detected among large ones.
#include "base/file.h"
#include "graph/read/fx.h"
#include "graph/reference/bounds.h"
#include "graph/reference/inputs.h"
#include "graph_fixture.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

static const struct bound_options strict = {.largest = -1};

struct fixture {
  struct arena *a;
  struct graph *g;
  struct tensor **in;
  struct bounds *b;
};

static struct fixture fixture_of(struct str text, const char *name) {
  struct fixture f = {.a = arena_create()};
  f.g = graph_fixture_in(f.a, name, text);
  f.in = arena_array(f.a, struct tensor *, f.g->inputs.len + 1);
  ck_assert(graph_make_inputs(f.g, NULL, 3, f.in));
  f.b = bounds_create(f.g, 1, NULL, f.in);
  ck_assert_ptr_nonnull(f.b);
  return f;
}

static void finish(struct fixture *f) {
  bounds_destroy(f->b);
  for (size_t i = 0; i < f->g->inputs.len; i++)
    tensor_destroy(f->in[i]);
  arena_destroy(f->a);
}

// As a kernel without errors would give it.
static struct tensor *rounded(const struct tensor *t) {
  struct tensor *copy = tensor_create(t->dtype, t->rank, t->shape);
  ck_assert_ptr_nonnull(copy);
  for (int64_t i = 0; i < t->numel; i++)
    copy->at[i] = dtype_is_float(t->dtype) ? element_round(t->at[i], t->dtype) : t->at[i];
  return copy;
}

// The smallest element that is not 0 but has a hundredth of the usual size at most; -1: none.
static int64_t small_element(const struct tensor *t) {
  int64_t found = -1;
  double sum = 0;
  for (int64_t i = 0; i < t->numel; i++)
    sum += fabs(t->at[i].real);
  for (int64_t i = 0; i < t->numel; i++) {
    double v = fabs(t->at[i].real);
    if (v > 1e-30 && v < 0.01 * sum / (double)t->numel &&
        (found < 0 || v < fabs(t->at[found].real)))
      found = i;
  }
  return found;
}

static void one_is_wrong(const struct fixture *f, size_t output, double factor, const char *name) {
  struct tensor *t = rounded(f->b->want[output]);
  int64_t i = small_element(t);
  ck_assert_msg(i >= 0, "%s", name);
  t->at[i].real *= factor;
  struct bound_verdict v = bounds_judge(f->b, output, t, &strict);
  ck_assert_msg(v.wrong == 1 && v.first == i, "%s: %lld elements are wrong", name,
                (long long)v.wrong);
  tensor_destroy(t);
}

#define GRAPH(inputs, body, result)                                                                \
  "def forward(self, " inputs "):\n" body "    return (" result ",)\n"

static const char *const texts[] = {
    GRAPH("x: 'f32[4096]'",
          "    r = torch.ops.aten.exp.default(x)\n"
          "    s = torch.ops.aten.pow.Tensor_Scalar(r, 5)\n",
          "s"),
    GRAPH("x: 'f32[64, 128]'",
          "    m = torch.ops.aten.mul.Tensor(x, 8)\n"
          "    s = torch.ops.aten._softmax.default(m, -1, False)\n",
          "s"),
    GRAPH("x: 'f32[64, 96]', y: 'f32[96, 64]'", "    m = torch.ops.aten.mm.default(x, y)\n", "m"),
    GRAPH("x: 'f32[64, 128]'",
          "    m = torch.ops.aten.native_layer_norm.default(x, [128], None, None, 1e-05)\n"
          "    n = m[0]\n",
          "n"),
};

enum { CANCELS = 2 }; // texts from here on

START_TEST(small_element_is_seen) {
  struct fixture f = fixture_of(str_from(texts[_i]), "bounds.py");
  struct tensor *t = rounded(f.b->want[0]);
  ck_assert_int_eq(bounds_judge(f.b, 0, t, &strict).wrong, 0);
  tensor_destroy(t);
  // What is left where terms cancel has few digits.
  one_is_wrong(&f, 0, _i >= CANCELS ? 1000 : 1.01, texts[_i]);
  finish(&f);
}
END_TEST

// g - exp(y) * g, where y is almost 0: one rounding of exp is far more than a part of the result.
START_TEST(terms_that_cancel) {
  struct fixture f = fixture_of(
      STR(GRAPH(
          "x: 'f32[64, 1]', g: 'f32[64, 1]'",
          "    y = torch.ops.aten.mul.Tensor(x, 1e-06)\n"
          "    d = torch.ops.aten._log_softmax_backward_data.default(g, y, 1, torch.float32)\n",
          "d")),
      "terms.py");
  struct tensor *t = rounded(f.b->want[0]);
  for (int64_t i = 0; i < t->numel; i++)
    t->at[i].real += 0x1p-24 * f.in[1]->at[i].real;
  ck_assert_int_eq(bounds_judge(f.b, 0, t, &strict).wrong, 0);
  t->at[7].real += 1e-3 * f.in[1]->at[7].real;
  ck_assert_int_eq(bounds_judge(f.b, 0, t, &strict).wrong, 1);
  tensor_destroy(t);
  finish(&f);
}
END_TEST

// Many zeros beside elements of [0.5, 1): the usual spread of those is that of their own.
START_TEST(zeros_are_a_class) {
  struct fixture f =
      fixture_of(STR(GRAPH("x: 'f32[64]'",
                           "    e = torch.ops.aten.sigmoid.default(x)\n"
                           "    p = torch.ops.aten.constant_pad_nd.default(e, [0, 1000000], 0.0)\n",
                           "p")),
                 "zeros.py");
  struct tensor *t = rounded(f.b->want[0]);
  int64_t i = 0;
  while (i < 63 && t->at[i].real < 0.5)
    i++;
  for (unsigned k = 0; k < BOUND_RUNS; k++) // by chance nothing moves it
    f.b->noisy[k][0]->at[i] = f.b->want[0]->at[i];
  t->at[i].real *= 1 + 0x1p-20;
  ck_assert_int_eq(bounds_judge(f.b, 0, t, &strict).wrong, 0);
  t->at[99].real = 1e-6;
  ck_assert_int_eq(bounds_judge(f.b, 0, t, &strict).wrong, 1);
  tensor_destroy(t);
  finish(&f);
}
END_TEST

// Few elements, of sizes that are far apart: the spread of large ones is none of the small ones.
START_TEST(few_elements) {
  struct fixture f = fixture_of(STR(GRAPH("x: 'f32[9]'",
                                          "    e = torch.ops.aten.exp.default(x)\n"
                                          "    p = torch.ops.aten.pow.Tensor_Scalar(e, 9)\n",
                                          "p")),
                                "few.py");
  struct tensor *t = rounded(f.b->want[0]);
  ck_assert_int_eq(bounds_judge(f.b, 0, t, &strict).wrong, 0);
  tensor_destroy(t);
  one_is_wrong(&f, 0, 1.01, "few elements");
  finish(&f);
}
END_TEST

// Gradients and means of what is centred: the terms are far larger than what is left of them.
START_TEST(norms_that_cancel) {
  struct fixture f = fixture_of(
      STR(GRAPH(
          "x: 'f32[16, 96]'",
          "    c = torch.ops.aten.full.default([16, 96], 3.14159, dtype = torch.float32)\n"
          "    r = torch.ops.aten.flip.default(x, [1])\n"
          "    z = torch.ops.aten.sub.Tensor(x, r)\n"
          "    n = torch.ops.aten.native_layer_norm.default(z, [96], None, None, 1e-05)\n"
          "    m = n[1]\n"
          "    s = n[2]\n"
          "    d = torch.ops.aten.native_layer_norm_backward.default(c, z, [96], m, s, None, None, "
          "[True, False, False])\n"
          "    dx = d[0]\n"
          "    v = torch.ops.aten.view.default(c, [4, 4, 96])\n"
          "    b = torch.ops.aten._native_batch_norm_legit.no_stats(v, None, None, True, 0.1, "
          "1e-05)\n"
          "    y = b[0]\n",
          "dx, m, y")),
      "norms.py");
  for (size_t output = 0; output < 3; output++) {
    struct tensor *t = rounded(f.b->want[output]);
    const double size = output == 2 ? 1e3 : 1; // a constant over the root of eps
    for (int64_t i = 0; i < t->numel; i++)
      t->at[i].real += 0x1p-23 * size;
    ck_assert_int_eq(bounds_judge(f.b, output, t, &strict).wrong, 0);
    t->at[5].real += 1e-3 * size;
    ck_assert_int_eq(bounds_judge(f.b, output, t, &strict).wrong, 1);
    tensor_destroy(t);
  }
  finish(&f);
}
END_TEST

START_TEST(options_accept_more) {
  struct fixture f = fixture_of(str_from(texts[0]), "bounds.py");
  struct tensor *t = rounded(f.b->want[0]);
  int64_t i = small_element(t);
  double away = 0.01 * t->at[i].real;
  t->at[i].real += away;
  const struct bound_options absolute = {.largest = -1, .absolute = 1.1 * fabs(away)},
                             part = {.largest = 1e-3};
  ck_assert_int_eq(bounds_judge(f.b, 0, t, &strict).wrong, 1);
  ck_assert_int_eq(bounds_judge(f.b, 0, t, &absolute).wrong, 0);
  ck_assert_int_eq(bounds_judge(f.b, 0, t, &part).wrong, 0);
  t->at[i].real = (double)NAN;
  ck_assert_int_eq(bounds_judge(f.b, 0, t, &part).wrong, 1);
  t->at[i].real = (double)INFINITY;
  ck_assert_int_eq(bounds_judge(f.b, 0, t, &part).wrong, 1);
  tensor_destroy(t);
  finish(&f);
}
END_TEST

// Of a whole step of training.
START_TEST(capture) {
  struct arena *a = arena_create();
  struct str text;
  const char *path = CAPTURES "/gpt2.inductor.train.bw1.py";
  ck_assert_int_eq(file_read(a, path, SOURCE_MAX_BYTES, &text), 0);
  struct fixture f = fixture_of(text, path);
  for (size_t i = 0; i < f.b->count; i++)
    if (f.b->want[i]) {
      struct tensor *t = rounded(f.b->want[i]);
      ck_assert_int_eq(bounds_judge(f.b, i, t, &strict).wrong, 0);
      tensor_destroy(t);
    }
  finish(&f);
  arena_destroy(a);
}
END_TEST

// An input that equals elements of another, as a saved maximum does, equals them with noise too:
// the gradient of a maximum is not 0 / 0.
START_TEST(equal_inputs) {
  struct fixture f = {.a = arena_create()};
  f.g = graph_fixture_in(f.a, "saved.py",
                         STR("def forward(self, x: \"f32[64, 3]\", m: \"f32[64, 1]\"):\n"
                             "    eq = torch.ops.aten.eq.Tensor(x, m)\n"
                             "    n = torch.ops.aten.sum.dim_IntList(eq, [1], True)\n"
                             "    d = torch.ops.aten.div.Tensor(eq, n)\n"
                             "    y = torch.ops.aten.mul.Tensor(d, x)\n    return (y,)\n"));
  f.in = arena_array(f.a, struct tensor *, 3);
  ck_assert(graph_make_inputs(f.g, NULL, 3, f.in));
  for (int64_t i = 0; i < 64; i++)
    f.in[1]->at[i] = f.in[0]->at[3 * i + 1];
  f.b = bounds_create(f.g, 1, NULL, f.in);
  ck_assert_ptr_nonnull(f.b);
  struct tensor *got = rounded(f.b->want[0]);
  for (int64_t i = 0; i < got->numel; i++)
    got->at[i].real *= 1 + 4e-6; // less than rounding may make of it, more than 4 units
  ck_assert_int_eq(bounds_judge(f.b, 0, got, &strict).wrong, 0);
  tensor_destroy(got);
  finish(&f);
}
END_TEST

int main(void) {
  Suite *s = suite_create("bounds");
  TCase *t = tcase_create("bounds");
  tcase_set_timeout(t, 120);
  tcase_add_loop_test(t, small_element_is_seen, 0, sizeof texts / sizeof texts[0]);
  tcase_add_test(t, equal_inputs);
  tcase_add_test(t, terms_that_cancel);
  tcase_add_test(t, zeros_are_a_class);
  tcase_add_test(t, few_elements);
  tcase_add_test(t, norms_that_cancel);
  tcase_add_test(t, options_accept_more);
  tcase_add_test(t, capture);
  suite_add_tcase(s, t);
  SRunner *r = srunner_create(s);
  srunner_run_all(r, CK_ENV);
  int failed = srunner_ntests_failed(r);
  srunner_free(r);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
