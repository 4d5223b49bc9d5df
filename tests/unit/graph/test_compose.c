// SPDX-License-Identifier: Apache-2.0
// Composed operators, as far as reference_cases.txt cannot test them: gradients of attention by
// other names, random numbers, maxima by offsets, errors.
#include "graph/ir/graph_operators.h"
#include "graph/read/fx.h"
#include "graph/reference/inputs.h"
#include "graph/reference/interpret.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

static struct arena *arena;
static struct diag_engine *diag;

static void setup(void) {
  arena = arena_create();
  diag = diag_engine_create(arena);
}

static void teardown(void) { arena_destroy(arena); }

static struct graph *read(const char *parameters, const char *body) {
  const char *text = arena_printf(
      arena, "class G(torch.nn.Module):\n    def forward(self, %s):\n%s", parameters, body);
  return graph_read_fx(arena, diag, source_create(arena, "g.py", str_from(text)));
}

// What the graph gives for its random inputs.
static void run(const char *parameters, const char *body, struct tensor **ret) {
  struct graph *g = read(parameters, body);
  ck_assert_msg(g != NULL, "%s", diag_first_error(diag));
  struct tensor *inputs[16];
  const struct interpret_options options = {.seed = 7};
  ck_assert_uint_lt(g->inputs.len, 16);
  ck_assert(graph_make_inputs(g, NULL, 3, inputs));
  ck_assert_msg(graph_interpret(g, &options, NULL, inputs, ret), "%s", diag_first_error(diag));
  for (size_t i = 0; i < g->inputs.len; i++)
    tensor_destroy(inputs[i]);
}

// ---- attention ----

#define HEADS                                                                                      \
  "g: \"f32[2, 4, 6, 8]\", q: \"f32[2, 4, 6, 8]\", k: \"f32[2, 2, 5, 8]\", v: \"f32[2, 2, 5, 8]\""
#define FORWARD                                                                                    \
  "        f = aten._scaled_dot_product_flash_attention_for_cpu.default(q, k, v, 0.0, True)\n"     \
  "        o = f[0]\n        l = f[1]\n"                                                           \
  "        n = aten.full.default([], 0, dtype = torch.int64)\n"
#define RETURN "        a = r[0]\n        b = r[1]\n        c = r[2]\n        return (a, b, c)\n"

static const char *const backwards[] = {
    "        r = aten._scaled_dot_product_flash_attention_backward.default(g, q, k, v, o, l, None, "
    "None, 6, 5, 0.0, True, n, n)\n",
    "        p = aten.constant_pad_nd.default(l, [0, 26])\n"
    "        r = aten._scaled_dot_product_efficient_attention_backward.default(g, q, k, v, None, "
    "o, "
    "p, n, n, 0.0, [True, True, True, False], True)\n",
    "        p = aten.unsqueeze.default(l, 3)\n"
    "        r = aten._scaled_dot_product_cudnn_attention_backward.default(g, q, k, v, o, p, n, n, "
    "None, None, None, 6, 5, 0.0, True)\n",
};

START_TEST(gradients_of_attention) {
  struct tensor *want[3], *got[3];
  run(HEADS,
      FORWARD "        r = aten._scaled_dot_product_flash_attention_for_cpu_backward.default(g, q, "
              "k, v, o, l, 0.0, True)\n" RETURN,
      want);
  run(HEADS, arena_printf(arena, FORWARD "%s" RETURN, backwards[_i]), got);
  for (int i = 0; i < 3; i++) {
    ck_assert_int_eq(want[i]->numel, got[i]->numel);
    for (int64_t k = 0; k < want[i]->numel; k++)
      ck_assert_double_eq_tol(want[i]->at[k].real, got[i]->at[k].real, 1e-9);
    tensor_destroy(want[i]);
    tensor_destroy(got[i]);
  }
}
END_TEST

// ---- maxima ----

START_TEST(offsets_of_maxima) {
  struct tensor *out[2];
  run("x: \"f32[2, 3, 9, 8]\"",
      "        p = aten.max_pool2d_with_indices.default(x, [3, 2], [2, 2], [1, 0], [1, 2])\n"
      "        a = p[1]\n"
      "        o = prims._low_memory_max_pool_with_offsets.default(x, [3, 2], [2, 2], [1, 0], [1, "
      "2], "
      "False)\n"
      "        f = o[1]\n"
      "        b = prims._low_memory_max_pool_offsets_to_indices.default(f, [3, 2], [9, 8], [2, "
      "2], "
      "[1, 0], [1, 2])\n"
      "        return (a, b)\n",
      out);
  for (int64_t i = 0; i < out[0]->numel; i++)
    ck_assert_int_eq(out[0]->at[i].integer, out[1]->at[i].integer);
  tensor_destroy(out[0]);
  tensor_destroy(out[1]);
}
END_TEST

// ---- random numbers ----

struct bounds {
  const char *call;
  double low, high; // [low, high)
};

static const struct bounds draws[] = {
    {"aten.rand_like.default(x)", 0, 1},
    {"aten.randn_like.default(x)", -8, 8},
    {"aten.randint.default(5, [400])", 0, 5},
    {"aten.randint.low(-3, 4, [400])", -3, 4},
    {"aten.randint_like.default(x, 5)", 0, 5},
    {"aten.randint_like.low_dtype(x, 2, 5)", 2, 5},
    {"aten.bernoulli.default(p)", 0, 1.5},
    {"aten.uniform.default(x, -2.0, 3.0)", -2, 3},
    {"aten.normal_functional.default(x, 100.0, 2.0)", 84, 116},
    {"aten.exponential.default(x)", 1e-9, 40},
    {"aten.multinomial.default(p, 50)", 0, 400},
    {"aten.multinomial.default(p, 50, True)", 0, 400},
};

START_TEST(random_numbers) {
  const struct bounds *d = &draws[_i];
  struct tensor *t;
  run("x: \"f32[400]\"",
      arena_printf(
          arena,
          "        p = aten.full.default([400], 0.25)\n        r = %s\n"
          "        c = aten._to_copy.default(r, dtype = torch.float64)\n        return (c,)\n",
          d->call),
      &t);
  double least = INFINITY, most = -INFINITY;
  for (int64_t i = 0; i < t->numel; i++) {
    least = fmin(least, t->at[i].real);
    most = fmax(most, t->at[i].real);
  }
  ck_assert_msg(least >= d->low && most < d->high && most > least, "%s: %g to %g", d->call, least,
                most);
  tensor_destroy(t);
}
END_TEST

// ---- errors ----

struct wrong {
  const char *parameters, *call, *says;
};

static const struct wrong wrongs[] = {
    {"x: \"f32[2, 5000]\"", "aten.sort.default(x)", "cannot be sorted"},
    {"x: \"f32[2, 5]\"", "aten.topk.default(x, 6)", "more elements than"},
    {"x: \"f32[2, 5]\"", "aten.glu.default(x)", "is odd"},
    {"x: \"f32[2, 5]\"", "aten.einsum.default('ijk->i', [x])", "does not fit"},
    {"x: \"f32[2, 5]\"", "aten.einsum.default('ij,jk->ik', [x])", "does not fit"},
    {"x: \"f32[2, 5]\"", "aten.einsum.default('ij->ik', [x])", "does not fit"},
    {"x: \"f32[0, 5]\"", "aten._fft_r2c.default(x, [0], 0, True)", "a length of 0"},
    {"x: \"c64[2, 5]\"", "aten._fft_c2r.default(x, [1], 0, 20)", "too short"},
    {"x: \"f32[s0, 5]\", y: \"f32[s1]\"", "aten.fft_rfft.default(x, 7, 0)", "resized by symbols"},
    {"x: \"f32[2, 5]\"", "aten.fft_rfft.default(x, 0)", "a length of 0"},
    {"x: \"f32[2, 5]\"", "aten.hann_window.default(4, dtype=torch.int32)", "floating-point"},
    {"x: \"f32[s0, 5]\"", "aten.hann_window.periodic(s0, False)", "may be 1"},
    {"x: \"f32[2, 2, 3]\"", "aten.affine_grid_generator.default(x, [2, 1, 4], False)", "theta is"},
    {"x: \"f32[2, 2, 3]\"", "aten.stft.default(x, 2)", "a signal has 1 or 2"},
    {"x: \"f32[5]\"", "aten.renorm.default(x, 2, 0, 1.0)", "it needs 2"},
    {"x: \"c64[2, 5]\"", "aten.fft_fft.default(x, None, -1, 'half')", "the norm `half`"},
    {"x: \"f32[2, 5]\", y: \"f32[2]\"", "aten.diagonal_scatter.default(x, y, 1, 0, 0)",
     "another shape"},
    {"x: \"f32[2, 5]\"", "aten.gcd.default(x, x)", "integers are required"},
    {"x: \"f32[s0, 1, 4]\", h: \"f32[1, 1, 3]\", w: \"f32[3, 4]\", u: \"f32[3, 3]\"",
     "aten.rnn_tanh.input(x, h, [w, u], False, 1, 0.0, False, False, False)", "symbolic number"},
    {"x: \"f32[20000, 1, 4]\", h: \"f32[1, 1, 3]\", w: \"f32[3, 4]\", u: \"f32[3, 3]\"",
     "aten.rnn_relu.input(x, h, [w, u], False, 1, 0.0, False, False, False)", "20000 steps"},
    {"x: \"f32[2, 1, 4]\", h: \"f32[1, 1, 3]\", w: \"f32[3, 4]\"",
     "aten.rnn_tanh.input(x, h, [w], False, 1, 0.0, False, False, False)", "1 weights"},
    {"x: \"f32[2, 3, 4, 4]\"", "aten.adaptive_max_pool2d.default(x, [2])", "output sizes"},
    {"x: \"f32[2, 3, 4]\"", "aten.avg_pool3d.default(x, [2])", "4 or 5"},
    {"x: \"f32[1, 1, s0, 4]\"", "aten._upsample_bicubic2d_aa.default(x, [4, 4], False)",
     "symbolic"},
    {"x: \"f32[1, 1, s0, 4]\"", "aten.upsample_bicubic2d.vec(x, None, False, [0.29, 2.0])",
     "not known"},
    {"x: \"f32[2, 3]\"", "aten.meshgrid.default([x])", "vectors are needed"},
    {"x: \"f32[2, 3]\", y: \"f32[4]\"", "aten.broadcast_tensors.default([x, y])",
     "do not broadcast"},
    {"x: \"f32[2, 3, 4]\"", "aten.diag.default(x)", "it needs 1 or 2"},
    {"x: \"f32[2, 3]\"", "aten.rrelu.default(x, 0.1, 0.3, True)", "random slopes"},
    {"x: \"f32[2, 3]\"", "aten.movedim.intlist(x, [0, 0], [0, 1])", "different dimensions"},
    {"x: \"f32[2, 3]\"", "aten.tensordot.default(x, x, [0], [2])", "not dimensions"},
    {"x: \"f32[2, 3]\"", "aten.sum_to_size.default(x, [1, 2, 3])", "3 sizes"},
    {"x: \"f32[2, 3]\", i: \"i64[2]\"", "aten.take_along_dim.default(x, i, 1)", "2 and 1"},
    {"x: \"f32[2, 3, 2]\"", "aten.block_diag.default([x])", "more than 2"},
    {"x: \"f32[2, 3]\", i: \"i64[3]\"", "aten.max_unpool2d.default(x, i, [4, 4])", "3 or 4"},
    {"x: \"f32[2, 3]\", y: \"f32[2]\"", "aten.cosine_embedding_loss.default(x, x, x)",
     "targets of 2"},
    {"x: \"f32[2, 3]\", y: \"i64[2, 3]\"", "aten.multi_margin_loss.default(x, y)", "targets of 2"},
    {"x: \"f32[2, 5]\", y: \"f32[2]\"", "aten.mv.default(y, x)", "dimensions"},
    {"x: \"f32[1, 5, 2, 2]\"", "aten.pixel_shuffle.default(x, 2)", "not a multiple of 4"},
    {"x: \"f32[2]\", y: \"f32[3]\"", "aten._foreach_add.List([x, y], [x])", "lists of 2 and 1"},
    {"x: \"f32[2]\", y: \"f32[3]\"", "aten.addcmul.default(x, y, x)", "do not broadcast"},
    {"x: \"f32[2]\"", "aten.addcmul.default(x, x)", "tensor2"},
    {"x: \"f32[4]\", i: \"i64[4]\"", "aten.scatter_reduce.two(x, 0, i, x, 'mode')", "mode"},
    {"x: \"f32[6]\"", "aten.unfold.default(x, 2, 3, 3)", "no such dimension"},
    {"x: \"f32[5]\"", "aten.pixel_shuffle.default(x, 2)", "[.., channels, rows, columns]"},
    {"x: \"f32[4]\", i: \"i64[2]\"", "aten.index_copy.default(x, -2, i, x)", "no such dimension"},
    {"x: \"f32[4, 2]\", w: \"f32[]\"",
     "aten._native_batch_norm_legit.no_stats(x, w, None, True, 0.1, 0.0)", "for its channels"},
    {"x: \"f32[2, 5]\"", "aten.reflection_pad1d.default(x, [1])", "paddings"},
};

START_TEST(errors) {
  const struct wrong *w = &wrongs[_i];
  struct graph *g =
      read(w->parameters, arena_printf(arena, "        r = %s\n        return (r,)\n", w->call));
  ck_assert_msg(g == NULL && strstr(diag_first_error(diag), w->says), "%s: %s", w->call,
                diag_first_error(diag));
}
END_TEST

// Every row is told from the others by its name, and has a function and no rule.
START_TEST(rows) {
  for (unsigned id = OPERATOR_COUNT; id < OPERATOR_ALL; id++) {
    const struct operator_row *row = operator_row((enum operator_id)id);
    enum operator_id found;
    size_t count;
    ck_assert(row->id == id && row->compose && !row->infer);
    ck_assert_msg(operator_find(str_from(row->name), &found) && found == id, "%s", row->name);
    operator_parameters(row->id, &count);
    ck_assert_uint_le(count, OPERATOR_MAX_PARAMETERS);
  }
}
END_TEST

int main(void) {
  Suite *s = suite_create("compose");
  TCase *t = tcase_create("compose");
  tcase_add_checked_fixture(t, setup, teardown);
  tcase_add_loop_test(t, gradients_of_attention, 0, 3);
  tcase_add_test(t, offsets_of_maxima);
  tcase_add_loop_test(t, random_numbers, 0, (int)COUNT_OF(draws));
  tcase_add_loop_test(t, errors, 0, (int)COUNT_OF(wrongs));
  tcase_add_test(t, rows);
  suite_add_tcase(s, t);
  SRunner *r = srunner_create(s);
  srunner_run_all(r, CK_ENV);
  int failed = srunner_ntests_failed(r);
  srunner_free(r);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
