// SPDX-License-Identifier: Apache-2.0
// Graphs built by the public header: each call appends its operator, sizes stay symbols, the first
// error is kept, and the graph's text reads back.
#include <tile/graph.h>

#include <check.h>
#include <stdlib.h>
#include <string.h>

static tile_graph *graph(void) {
  tile_graph *g = NULL;
  ck_assert_int_eq(tile_graph_create("g", &g), TILE_OK);
  return g;
}

static tile_value *matrix(tile_graph *g, const char *name, int64_t rows, int64_t columns) {
  const int64_t shape[] = {rows, columns};
  return tile_graph_input(g, name, TILE_F32, 2, shape, NULL);
}

static const char *text_of(tile_graph *g) {
  const char *text = NULL;
  ck_assert_msg(tile_graph_text(g, &text) == TILE_OK, "%s", tile_error_message());
  return text;
}

static void must_have(tile_graph *g, const char *part) {
  const char *text = text_of(g);
  ck_assert_msg(strstr(text, part) != NULL, "no %s in %.2000s", part, text);
}

static void check_shape(const tile_value *v, int rank, const int64_t *shape) {
  ck_assert_ptr_nonnull(v);
  ck_assert_int_eq(tile_value_rank(v), rank);
  for (int d = 0; d < rank; d++)
    ck_assert_int_eq(tile_value_size(v, d), shape[d]);
}

// The graph comes back from its text.
static void check_text(tile_graph *g) {
  tile_graph *again = NULL;
  const char *text = text_of(g);
  ck_assert_msg(tile_graph_from_text("g.py", text, strlen(text), &again) == TILE_OK, "%s",
                tile_error_message());
  ck_assert_str_eq(text_of(again), text);
  tile_graph_destroy(again);
}

START_TEST(builds) {
  tile_graph *g = graph();
  tile_value *x = matrix(g, "x", 4, 8), *w = matrix(g, "w", 8, 16);
  const int64_t sixteen = 16, rows[] = {4, 16};
  tile_value *b = tile_graph_input(g, "b", TILE_F32, 1, &sixteen, NULL);
  tile_value *y = tile_gelu(tile_add(tile_matmul(x, w), b));
  check_shape(y, 2, rows);
  ck_assert_int_eq(tile_value_dtype(y), TILE_F32);
  ck_assert_int_eq(tile_value_size(y, -1), 16);
  ck_assert_int_eq(tile_value_size(y, 2), 0);
  ck_assert_int_eq(tile_graph_output(g, y), TILE_OK);
  must_have(g, "class g(");
  must_have(g, "def forward(self, x: \"f32[4, 8][8, 1]");
  must_have(g, "torch.ops.aten.gelu.default(add)");
  must_have(g, "return (gelu,)");
  check_text(g);
  tile_graph_destroy(g);
}
END_TEST

// Each call of the table makes the operator that its name promises.
START_TEST(calls) {
  tile_graph *g = graph();
  tile_value *x = matrix(g, "x", 4, 8), *y = matrix(g, "y", 4, 8);
  const int64_t one = 1, eight = 8, heads[] = {2, 3, 5, 8};
  tile_value *w = tile_graph_input(g, "w", TILE_F32, 1, &eight, NULL);
  tile_value *n = tile_graph_input(g, "n", TILE_I64, 1, &eight, NULL);
  tile_value *q = tile_graph_input(g, "q", TILE_BF16, 4, heads, NULL);
  tile_value *m = matrix(g, "m", 16, 8);
  tile_value *mask = tile_graph_input(g, "mask", TILE_BF16, 2, (const int64_t[]){5, 5}, NULL);
  const struct {
    tile_value *made;
    const char *text;
  } made[] = {
      {tile_add(x, y), "aten.add.Tensor(x, y)"},
      {tile_sub(x, y), "aten.sub.Tensor(x, y)"},
      {tile_mul(x, y), "aten.mul.Tensor(x, y)"},
      {tile_div(x, y), "aten.div.Tensor(x, y)"},
      {tile_pow(x, y), "aten.pow.Tensor_Tensor(x, y)"},
      {tile_maximum(x, y), "aten.maximum.default(x, y)"},
      {tile_minimum(x, y), "aten.minimum.default(x, y)"},
      {tile_eq(x, y), "aten.eq.Tensor(x, y)"},
      {tile_ne(x, y), "aten.ne.Tensor(x, y)"},
      {tile_lt(x, y), "aten.lt.Tensor(x, y)"},
      {tile_le(x, y), "aten.le.Tensor(x, y)"},
      {tile_gt(x, y), "aten.gt.Tensor(x, y)"},
      {tile_ge(x, y), "aten.ge.Tensor(x, y)"},
      {tile_logical_and(x, y), "aten.logical_and.default(x, y)"},
      {tile_logical_or(x, y), "aten.logical_or.default(x, y)"},
      {tile_where(tile_lt(x, y), x, y), "aten.where.self(lt_1, x, y)"},
      {tile_add_number(x, 2.5), "aten.add.Tensor(x, 2.5)"},
      {tile_add_number(n, 2), "aten.add.Tensor(n, 2)"},
      {tile_sub_number(x, 0.5), "aten.sub.Tensor(x, 0.5)"},
      {tile_mul_number(x, 0.5), "aten.mul.Tensor(x, 0.5)"},
      {tile_div_number(x, 0.5), "aten.div.Tensor(x, 0.5)"},
      {tile_pow_number(x, 0.5), "aten.pow.Tensor_Scalar(x, 0.5)"},
      {tile_eq_number(x, 0.5), "aten.eq.Scalar(x, 0.5)"},
      {tile_ne_number(x, 0.5), "aten.ne.Scalar(x, 0.5)"},
      {tile_lt_number(x, 0.5), "aten.lt.Scalar(x, 0.5)"},
      {tile_le_number(x, 0.5), "aten.le.Scalar(x, 0.5)"},
      {tile_gt_number(x, 0.5), "aten.gt.Scalar(x, 0.5)"},
      {tile_ge_number(n, 3), "aten.ge.Scalar(n, 3)"},
      {tile_clamp(x, -0.5, 0.5), "aten.clamp.default(x, -0.5, 0.5)"},
      {tile_neg(x), "aten.neg.default(x)"},
      {tile_abs(x), "aten.abs.default(x)"},
      {tile_exp(x), "aten.exp.default(x)"},
      {tile_log(x), "aten.log.default(x)"},
      {tile_sqrt(x), "aten.sqrt.default(x)"},
      {tile_rsqrt(x), "aten.rsqrt.default(x)"},
      {tile_reciprocal(x), "aten.reciprocal.default(x)"},
      {tile_sin(x), "aten.sin.default(x)"},
      {tile_cos(x), "aten.cos.default(x)"},
      {tile_tanh(x), "aten.tanh.default(x)"},
      {tile_erf(x), "aten.erf.default(x)"},
      {tile_floor(x), "aten.floor.default(x)"},
      {tile_ceil(x), "aten.ceil.default(x)"},
      {tile_logical_not(x), "aten.logical_not.default(x)"},
      {tile_sigmoid(x), "aten.sigmoid.default(x)"},
      {tile_relu(x), "aten.relu.default(x)"},
      {tile_silu(x), "aten.silu.default(x)"},
      {tile_gelu(x), "aten.gelu.default(x)"},
      {tile_gelu_tanh(x), "aten.gelu.default(x, approximate = 'tanh')"},
      {tile_convert(x, TILE_BF16), "prims.convert_element_type.default(x, torch.bfloat16)"},
      {tile_sum(x, &one, 1, 1), "aten.sum.dim_IntList(x, [1], True)"},
      {tile_sum(x, NULL, 0, 0), "aten.sum.dim_IntList(x, None)"},
      {tile_mean(x, &one, 1, 0), "aten.mean.dim(x, [1])"},
      {tile_amax(x, &one, 1, 0), "aten.amax.default(x, [1])"},
      {tile_amax(x, NULL, 0, 0), "aten.amax.default(x)"},
      {tile_amin(x, &one, 1, 1), "aten.amin.default(x, [1], True)"},
      {tile_var(x, &one, 1, 0, 1), "aten.var.correction(x, [1], correction = 0"},
      {tile_argmax(x, 1, 0), "aten.argmax.default(x, 1)"},
      {tile_cumsum(x, 1), "aten.cumsum.default(x, 1)"},
      {tile_softmax(x, -1), "aten.softmax.int(x, -1)"},
      {tile_log_softmax(x, -1), "aten.log_softmax.int(x, -1)"},
      {tile_layer_norm(x, w, w, 1e-5), "aten.native_layer_norm.default(x, [8], w, w, 1e-05)"},
      {tile_rms_norm(x, w, 1e-6), "aten._fused_rms_norm.default(x, [8], w, 1e-06)"},
      {tile_matmul(x, tile_transpose(y, 0, 1)), "aten.matmul.default(x, transpose)"},
      {tile_linear(x, m, tile_graph_input(g, "c", TILE_F32, 1, (const int64_t[]){16}, NULL)),
       "aten.linear.default(x, m, c)"},
      {tile_attention(q, q, q, 1, 0),
       "aten.scaled_dot_product_attention.default(q, q, q, None, 0.0, True)"},
      {tile_masked_attention(q, q, q, mask, 0.5),
       "aten.scaled_dot_product_attention.default(q, q, q, mask, scale = 0.5)"},
  };
  for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
    ck_assert_msg(made[i].made != NULL, "%s: %s", made[i].text, tile_error_message());
    must_have(g, made[i].text);
  }
  tile_graph_destroy(g);
}
END_TEST

START_TEST(movement) {
  tile_graph *g = graph();
  tile_value *x = matrix(g, "x", 4, 8), *both[2];
  const int64_t two = 2, swap[] = {1, 0}, flat[] = {-1}, wide[] = {3, 4, 8};
  tile_value *i = tile_graph_input(g, "i", TILE_I64, 1, &two, NULL);
  tile_value *j = tile_graph_input(g, "j", TILE_I64, 2, (const int64_t[]){4, 1}, NULL);
  both[0] = both[1] = x;
  check_shape(tile_view(x, flat, 1), 1, (const int64_t[]){32});
  check_shape(tile_expand(x, wide, 3), 3, wide);
  check_shape(tile_permute(x, swap, 2), 2, (const int64_t[]){8, 4});
  check_shape(tile_transpose(x, 0, -1), 2, (const int64_t[]){8, 4});
  check_shape(tile_squeeze(tile_unsqueeze(x, 1), 1), 2, (const int64_t[]){4, 8});
  check_shape(tile_select(x, 0, 1), 1, (const int64_t[]){8});
  check_shape(tile_slice(x, 1, 1, INT64_MAX, 2), 2, (const int64_t[]){4, 4});
  check_shape(tile_cat(both, 2, 0), 2, (const int64_t[]){8, 8});
  check_shape(tile_embedding(x, i), 2, (const int64_t[]){2, 8});
  check_shape(tile_gather(x, 1, j), 2, (const int64_t[]){4, 1});
  check_shape(tile_full(g, wide, 3, 1.5, TILE_F16), 3, wide);
  tile_value *last = tile_arange(g, 5);
  check_shape(last, 1, (const int64_t[]){5});
  ck_assert_int_eq(tile_value_dtype(last), TILE_I64);
  tile_graph_output(g, last);
  check_text(g);
  tile_graph_destroy(g);
}
END_TEST

START_TEST(several_results) {
  tile_graph *g = graph();
  tile_value *parts[3];
  tile_operand args[3];
  args[0] = tile_g_tensor(matrix(g, "x", 4, 9));
  args[1] = tile_g_int(3);
  args[2] = tile_g_int(1);
  ck_assert_int_eq(tile_graph_apply_many(g, "aten.split.Tensor", args, 3, parts, 3), TILE_OK);
  for (int i = 0; i < 3; i++)
    check_shape(parts[i], 2, (const int64_t[]){4, 3});
  tile_graph_output(g, tile_add(parts[0], parts[2]));
  check_text(g);
  ck_assert_int_eq(tile_graph_apply_many(g, "aten.split.Tensor", args, 3, parts, 4),
                   TILE_INVALID_ARGUMENT);
  tile_graph_destroy(g);
}
END_TEST

START_TEST(dynamic_sizes) {
  tile_graph *g = graph();
  int64_t n = tile_graph_size(g, "n", 1, 4096);
  ck_assert_int_lt(n, 0);
  ck_assert_int_eq(tile_graph_size(g, "n", 1, 4096), n);
  tile_value *x = matrix(g, "x", n, 8);
  ck_assert_int_eq(tile_value_size(x, 0), n);
  int64_t shape[] = {tile_size_mul(g, n, 8)};
  tile_value *flat = tile_view(x, shape, 1);
  ck_assert_ptr_nonnull(flat);
  ck_assert_int_eq(tile_size_div(g, tile_value_size(flat, 0), 8), n);
  ck_assert_int_eq(tile_size_add(g, 3, 4), 7);
  tile_graph_output(g, tile_add_number(flat, 1));
  must_have(g, "Sym(n)");
  must_have(g, "[8*n]");
  check_text(g);
  must_have(g, "Range constraints: {n: VR[1, 4096]}");
  ck_assert_int_eq(tile_size_div(g, n, 0), 0);
  ck_assert_int_eq(tile_graph_status(g), TILE_INVALID_ARGUMENT);
  tile_graph_destroy(g);
}
END_TEST

// What is likely is a size of the graph, within its range.
START_TEST(likely_sizes) {
  for (int wrong = 0; wrong < 4; wrong++) {
    tile_graph *g = graph();
    int64_t n = tile_graph_size(g, "n", 2, 4096), twice = tile_size_mul(g, n, 2);
    tile_graph_set_likely_size(g, wrong == 1 ? twice : wrong == 2 ? 7 : n, wrong == 3 ? 1 : 100);
    ck_assert_int_eq(tile_graph_status(g), wrong ? TILE_INVALID_ARGUMENT : TILE_OK);
    tile_graph_destroy(g);
  }
}
END_TEST

START_TEST(writes) {
  tile_graph *g = graph();
  tile_value *m = matrix(g, "m", 2, 2), *next = tile_mul_number(m, 0.5);
  ck_assert_int_eq(tile_graph_write(g, m, next), TILE_OK);
  tile_graph_output(g, tile_neg(next));
  must_have(g, "aten.copy_.default(m, mul)");
  check_text(g);
  ck_assert_int_eq(tile_graph_write(g, next, m), TILE_INVALID_ARGUMENT);
  tile_graph_destroy(g);
}
END_TEST

// The first error is kept; all that follows is quiet.
START_TEST(errors) {
  tile_graph *g = graph(), *other = graph();
  tile_value *x = matrix(g, "x", 4, 8), *z = matrix(other, "z", 4, 8);
  ck_assert_ptr_null(tile_gelu(tile_add(x, tile_matmul(x, x))));
  ck_assert_int_eq(tile_graph_status(g), TILE_COMPILE_ERROR);
  char *first = strdup(tile_error_message());
  ck_assert_ptr_nonnull(strstr(first, "[E1004]"));
  ck_assert_ptr_null(tile_graph_apply(g, "aten.nothing.default", NULL, 0));
  ck_assert_ptr_null(tile_neg(x));
  ck_assert_int_eq(tile_graph_output(g, x), TILE_COMPILE_ERROR);
  ck_assert_str_eq(tile_error_message(), first);
  free(first);
  tile_graph_destroy(g);

  g = graph();
  x = matrix(g, "x", 4, 8);
  ck_assert_ptr_null(tile_add(x, z));
  ck_assert_int_eq(tile_graph_status(g), TILE_INVALID_ARGUMENT);
  tile_graph_destroy(g);

  g = graph();
  tile_operand arg = tile_g_tensor(matrix(g, "x", 4, 8));
  ck_assert_ptr_null(tile_graph_apply(g, "aten.sigmoidd.default", &arg, 1));
  ck_assert_int_eq(tile_graph_status(g), TILE_NOT_FOUND);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "did you mean `aten.sigmoid.default`"));
  tile_graph_destroy(g);

  g = graph();
  ck_assert_ptr_null(matrix(g, "x", -5, 8));
  ck_assert_int_eq(tile_graph_status(g), TILE_INVALID_ARGUMENT);
  tile_graph_destroy(g);

  g = graph();
  ck_assert_ptr_null(matrix(g, "x", INT64_C(1) << 40, INT64_C(1) << 40));
  ck_assert_int_eq(tile_graph_status(g), TILE_LIMIT);
  tile_graph_destroy(g);

  g = graph();
  tile_value *const none[] = {NULL};
  tile_operand list = tile_g_tensors(none, 1);
  ck_assert_ptr_null(tile_graph_apply(g, "aten.cat.default", &list, 1));
  ck_assert_int_eq(tile_graph_status(g), TILE_INVALID_ARGUMENT);
  tile_graph_destroy(g);
  tile_graph_destroy(other);
  tile_graph_destroy(NULL);
}
END_TEST

START_TEST(from_text) {
  tile_graph *g = NULL;
  static const char good[] =
      "def forward(self, x: f32[4]):\n    neg = torch.ops.aten.neg.default(x)\n    return neg\n";
  static const char bad[] =
      "def forward(self, x: f32[4]):\n    neg = torch.ops.aten.negg.default(x)\n    return neg\n";
  ck_assert_int_eq(tile_graph_from_text("good.py", good, strlen(good), &g), TILE_OK);
  must_have(g, "aten.neg.default(x)");
  tile_graph_destroy(g);
  g = NULL;
  ck_assert_int_eq(tile_graph_from_text("bad.py", bad, strlen(bad), &g), TILE_COMPILE_ERROR);
  ck_assert_ptr_null(g);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "bad.py:2:"));
  ck_assert_ptr_nonnull(strstr(tile_error_json(), "\"code\": \"E1002\""));
  ck_assert_ptr_nonnull(strstr(tile_error_json(), "\"file\": \"bad.py\", \"line\": 2"));
  ck_assert_int_eq(tile_graph_from_text(NULL, NULL, 0, &g), TILE_INVALID_ARGUMENT);
}
END_TEST

START_TEST(operators_by_name) {
  static const char *const known[] = {"aten.add.Tensor",    "aten.add_.Tensor",
                                      "aten.relu",          "aten.sym_size.int",
                                      "aten.copy_.default", "higher_order.cond"};
  static const char *const unknown[] = {
      "aten.nonzero.default", "aten.add",       "", "add", "aten.",
      "mylib.scale.default",  "aten.__.default"};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    ck_assert_msg(tile_graph_has_operator(known[i]), "%s", known[i]);
  for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
    ck_assert_msg(!tile_graph_has_operator(unknown[i]), "%s", unknown[i]);
  ck_assert(!tile_graph_has_operator(NULL));
  char longest[4096];
  memset(longest, 'a', sizeof longest);
  longest[sizeof longest - 1] = '\0';
  ck_assert(!tile_graph_has_operator(longest));
}
END_TEST

int main(void) {
  Suite *s = suite_create("capture");
  TCase *t = tcase_create("graphs");
  tcase_add_test(t, builds);
  tcase_add_test(t, calls);
  tcase_add_test(t, movement);
  tcase_add_test(t, several_results);
  tcase_add_test(t, dynamic_sizes);
  tcase_add_test(t, likely_sizes);
  tcase_add_test(t, writes);
  tcase_add_test(t, errors);
  tcase_add_test(t, from_text);
  tcase_add_test(t, operators_by_name);
  suite_add_tcase(s, t);
  SRunner *runner = srunner_create(s);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed != 0;
}
