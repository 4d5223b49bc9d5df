// SPDX-License-Identifier: Apache-2.0
// Gradients by the public header: programs on the CPU, seeds, losses, values in between, second
// derivatives, sizes, custom operators; and errors.
#include <tile/operator.h>

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void ok(tile_status s) {
  ck_assert_msg(s == TILE_OK, "%s: %s", tile_status_name(s), tile_error_message());
}

static tile_graph *graph(void) {
  tile_graph *g = NULL;
  ok(tile_graph_create("test", &g));
  return g;
}

static tile_value *vector(tile_graph *g, const char *name, int64_t n) {
  return tile_graph_input(g, name, TILE_F32, 1, &n, NULL);
}

static tile_value *total(tile_value *x) { return tile_sum(x, NULL, 0, 0); }

// One loss, one input.
static tile_value *gradient(tile_graph *g, tile_value *loss, tile_value *input) {
  tile_value *ret = NULL;
  ok(tile_graph_gradient(g, &loss, 1, NULL, &input, 1, &ret));
  return ret;
}

// Runs the graph on the CPU: every tensor has `n` elements but those in `scalars`.
struct tensors {
  float *in[6], *out[6];
  int64_t in_shape[6][2], out_shape[6][2];
  int in_rank[6], out_rank[6];
  size_t ins, outs;
};

static void run(tile_graph *g, const struct tensors *t) {
  tile_device *device = NULL;
  tile_program *p = NULL;
  tile_tensor in[6] = {0}, out[6] = {0};
  ok(tile_device_open("cpu", &device));
  ok(tile_graph_status(g));
  ok(tile_program_from_graph(device, g, &p));
  for (size_t i = 0; i < t->ins; i++)
    in[i] = (tile_tensor){t->in[i], TILE_F32, t->in_rank[i], t->in_shape[i], NULL};
  for (size_t i = 0; i < t->outs; i++)
    out[i] = (tile_tensor){t->out[i], TILE_F32, t->out_rank[i], t->out_shape[i], NULL};
  ok(tile_program_run(p, NULL, 0, in, t->ins, out, t->outs));
  tile_program_close(p);
  tile_device_close(device);
}

static void near(const float *got, const double *want, size_t n, const char *what) {
  for (size_t i = 0; i < n; i++)
    ck_assert_msg(fabs((double)got[i] - want[i]) <= 1e-5 * (1 + fabs(want[i])),
                  "%s: element %zu is %g, not %g", what, i, (double)got[i], want[i]);
}

// ---- end to end ----

// Least squares, mean((x w + b - t)^2): the loss, and its gradients by w and b.
START_TEST(least_squares) {
  enum { ROWS = 17, COLUMNS = 3 };
  tile_graph *g = graph();
  const int64_t shape[] = {ROWS, COLUMNS};
  tile_value *x = tile_graph_input(g, "x", TILE_F32, 2, shape, NULL), *w = vector(g, "w", COLUMNS),
             *t = vector(g, "t", ROWS), *b = tile_graph_input(g, "b", TILE_F32, 0, NULL, NULL);
  tile_value *rest = tile_sub(tile_add(tile_matmul(x, w), b), t);
  tile_value *loss = tile_mean(tile_mul(rest, rest), NULL, 0, 0);
  tile_value *by[] = {w, b}, *of[2];
  ok(tile_graph_gradient(g, &loss, 1, NULL, by, 2, of));
  ok(tile_graph_output(g, loss));
  ok(tile_graph_output(g, of[0]));
  ok(tile_graph_output(g, of[1]));
  float xs[ROWS * COLUMNS], ws[COLUMNS] = {0.5f, -1, 2}, ts[ROWS], bs = 0.25f, got[2 + COLUMNS];
  double want[2 + COLUMNS] = {0};
  for (int i = 0; i < ROWS; i++) {
    double r = (double)bs;
    for (int k = 0; k < COLUMNS; k++) {
      xs[COLUMNS * i + k] = sinf((float)(3 * i + 5 * k));
      r += (double)xs[COLUMNS * i + k] * (double)ws[k];
    }
    ts[i] = cosf((float)i);
    r -= (double)ts[i];
    want[0] += r * r / ROWS;
    for (int k = 0; k < COLUMNS; k++)
      want[1 + k] += 2 * r * (double)xs[COLUMNS * i + k] / ROWS;
    want[1 + COLUMNS] += 2 * r / ROWS;
  }
  run(g, &(struct tensors){.in = {xs, ws, ts, &bs},
                           .in_shape = {{ROWS, COLUMNS}, {COLUMNS}, {ROWS}},
                           .in_rank = {2, 1, 1, 0},
                           .ins = 4,
                           .out = {&got[0], &got[1], &got[1 + COLUMNS]},
                           .out_shape = {{0}, {COLUMNS}},
                           .out_rank = {0, 1, 0},
                           .outs = 3});
  near(got, want, 2 + COLUMNS, "least squares");
  tile_graph_destroy(g);
}
END_TEST

// Two losses are added; a seed weights the elements of another output.
START_TEST(losses_and_seeds) {
  enum { N = 3 };
  tile_graph *g = graph();
  tile_value *x = vector(g, "x", N), *s = vector(g, "s", N);
  tile_value *losses[] = {total(tile_mul(x, x)), total(tile_exp(x)), tile_sin(x)};
  tile_value *seeds[] = {NULL, NULL, s}, *of = NULL;
  ok(tile_graph_gradient(g, losses, 3, seeds, &x, 1, &of));
  ok(tile_graph_output(g, of));
  float xs[N] = {0.5f, -1, 2}, weights[N] = {2, -3, 0.25f}, got[N];
  double want[N];
  for (int i = 0; i < N; i++)
    want[i] = 2 * (double)xs[i] + exp((double)xs[i]) + (double)weights[i] * cos((double)xs[i]);
  run(g, &(struct tensors){.in = {xs, weights},
                           .in_shape = {{N}, {N}},
                           .in_rank = {1, 1},
                           .ins = 2,
                           .out = {got},
                           .out_shape = {{N}},
                           .out_rank = {1},
                           .outs = 1});
  near(got, want, N, "losses");
  tile_graph_destroy(g);
}
END_TEST

// x^3 detach(x) twice differentiated: 6 x detach(x); and by a value in between.
START_TEST(second_derivatives) {
  enum { N = 17 };
  tile_graph *g = graph();
  tile_value *x = vector(g, "x", N);
  tile_operand arg = tile_g_tensor(x);
  tile_value *fixed = tile_graph_apply(g, "aten.detach.default", &arg, 1);
  tile_value *square = tile_mul(x, x);
  tile_value *first = gradient(g, total(tile_mul(tile_mul(square, x), fixed)), x);
  ok(tile_graph_output(g, gradient(g, total(first), x)));
  ok(tile_graph_output(g, gradient(g, total(tile_sin(square)), square)));
  float xs[N], got[2][N];
  double want[2][N];
  for (int i = 0; i < N; i++) {
    xs[i] = 0.25f * (float)i - 2;
    want[0][i] = 6 * (double)xs[i] * (double)xs[i];
    want[1][i] = cos((double)xs[i] * (double)xs[i]);
  }
  run(g, &(struct tensors){.in = {xs},
                           .in_shape = {{N}},
                           .in_rank = {1},
                           .ins = 1,
                           .out = {got[0], got[1]},
                           .out_shape = {{N}, {N}},
                           .out_rank = {1, 1},
                           .outs = 2});
  near(got[0], want[0], N, "second derivative");
  near(got[1], want[1], N, "by a value in between");
  tile_graph_destroy(g);
}
END_TEST

// Products with no, one and two zeros, and three: first, second and third derivatives, against the
// sums of products without some factors.
static double product_without(const double *x, int n, int a, int b, int c) {
  double product = 1;
  for (int i = 0; i < n; i++)
    product *= i == a || i == b || i == c ? 1 : x[i];
  return product;
}

START_TEST(products_with_zeros) {
  enum { N = 5 };
  static const float cases[][N] = {
      {2, -1, 0.5f, 3, 1.5f}, {2, 0, 0.5f, 3, 1.5f}, {0, -1, 0.5f, 0, 1.5f}, {0, 0, 2, 0, -3}};
  const int64_t shape[] = {1, N};
  for (int by_dim = 0; by_dim < 2; by_dim++)
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
      tile_graph *g = graph();
      tile_value *x = vector(g, "x", N), *v = vector(g, "v", N);
      tile_operand args[2] = {tile_g_tensor(by_dim ? tile_view(x, shape, 2) : x), tile_g_int(-1)};
      tile_value *p = tile_graph_apply(g, by_dim ? "aten.prod.dim_int" : "aten.prod.default", args,
                                       by_dim ? 2 : 1);
      tile_value *first = gradient(g, total(p), x);
      tile_value *second = gradient(g, total(tile_mul(first, v)), x);
      tile_value *third = gradient(g, total(tile_mul(second, v)), x);
      ok(tile_graph_output(g, first));
      ok(tile_graph_output(g, second));
      ok(tile_graph_output(g, third));
      float xs[N], vs[N] = {1, -2, 0.5f, 3, 1}, got[3][N];
      double want[3][N] = {{0}}, at[N], w[N];
      for (int i = 0; i < N; i++)
        at[i] = (double)(xs[i] = cases[k][i]), w[i] = (double)vs[i];
      for (int i = 0; i < N; i++) {
        want[0][i] = product_without(at, N, i, i, i);
        for (int a = 0; a < N; a++)
          for (int b = 0; b < N; b++) {
            if (a != i && b == 0)
              want[1][i] += w[a] * product_without(at, N, i, a, a);
            if (a != i && b != i && a != b)
              want[2][i] += w[a] * w[b] * product_without(at, N, i, a, b);
          }
      }
      run(g, &(struct tensors){.in = {xs, vs},
                               .in_shape = {{N}, {N}},
                               .in_rank = {1, 1},
                               .ins = 2,
                               .out = {got[0], got[1], got[2]},
                               .out_shape = {{N}, {N}, {N}},
                               .out_rank = {1, 1, 1},
                               .outs = 3});
      near(got[0], want[0], N, "first derivative of a product");
      near(got[1], want[1], N, "second derivative of a product");
      near(got[2], want[2], N, "third derivative of a product");
      tile_graph_destroy(g);
    }
}
END_TEST

// Zeros without a path, NULL for integers.
START_TEST(unused_inputs) {
  const int64_t n = 3;
  tile_graph *g = graph();
  tile_value *x = vector(g, "x", n), *unused = vector(g, "unused", 2),
             *i = tile_graph_input(g, "i", TILE_I64, 1, &n, NULL);
  tile_value *loss = total(tile_mul(x, tile_convert(i, TILE_F32))), *by[] = {unused, i, x}, *of[3];
  ok(tile_graph_gradient(g, &loss, 1, NULL, by, 3, of));
  ck_assert_ptr_null(of[1]);
  ck_assert_int_eq(tile_value_size(of[0], 0), 2);
  ck_assert_ptr_nonnull(of[2]);
  tile_graph_destroy(g);
}
END_TEST

// A broadcast row and a symbolic number of rows: one program for all sizes.
START_TEST(symbolic_sizes) {
  enum { COLUMNS = 3, MOST = 17 };
  tile_graph *g = graph();
  const int64_t shape[] = {tile_graph_size(g, "rows", 1, 1 << 20), COLUMNS};
  tile_value *x = tile_graph_input(g, "x", TILE_F32, 2, shape, NULL), *b = vector(g, "b", COLUMNS);
  tile_value *y = tile_add(x, b), *loss = tile_mean(tile_mul(y, tile_mul(y, y)), NULL, 0, 0);
  tile_value *by[] = {x, b}, *of[2];
  ok(tile_graph_gradient(g, &loss, 1, NULL, by, 2, of));
  ok(tile_graph_output(g, of[0]));
  ok(tile_graph_output(g, of[1]));
  tile_device *device = NULL;
  tile_program *p = NULL;
  ok(tile_device_open("cpu", &device));
  ok(tile_program_from_graph(device, g, &p));
  static const int64_t rows[] = {1, 2, MOST};
  for (size_t k = 0; k < 3; k++) {
    int64_t sizes[] = {rows[k], COLUMNS}, columns = COLUMNS;
    float xs[MOST * COLUMNS], bs[COLUMNS] = {1, -2, 0.5f}, gx[MOST * COLUMNS], gb[COLUMNS];
    double want_x[MOST * COLUMNS], want_b[COLUMNS] = {0};
    for (int64_t i = 0; i < rows[k] * COLUMNS; i++) {
      xs[i] = cosf((float)i);
      double v = (double)xs[i] + (double)bs[i % COLUMNS];
      want_x[i] = 3 * v * v / (double)(rows[k] * COLUMNS);
      want_b[i % COLUMNS] += want_x[i];
    }
    const tile_tensor in[] = {{xs, TILE_F32, 2, sizes, NULL}, {bs, TILE_F32, 1, &columns, NULL}};
    const tile_tensor out[] = {{gx, TILE_F32, 2, sizes, NULL}, {gb, TILE_F32, 1, &columns, NULL}};
    ok(tile_program_run(p, NULL, 0, in, 2, out, 2));
    near(gx, want_x, (size_t)(rows[k] * COLUMNS), "x");
    near(gb, want_b, COLUMNS, "b");
  }
  tile_program_close(p);
  tile_device_close(device);
  tile_graph_destroy(g);
}
END_TEST

// ---- custom operators: y = x^2 by a kernel ----

static tile_status infer_square(tile_graph *g, const tile_operand *args, size_t count,
                                tile_result *results, size_t result_count, void *user) {
  (void)g, (void)count, (void)result_count, (void)user;
  results->dtype = TILE_F32;
  results->rank = 1;
  results->shape[0] = tile_value_size(args[0].as.tensor, 0);
  return TILE_OK;
}

static tile_status gradient_square(tile_graph *g, const tile_operand *args, size_t count,
                                   tile_value *const *results, tile_value *const *gradients,
                                   size_t result_count, tile_value **out, void *user) {
  (void)g, (void)count, (void)results, (void)result_count, (void)user;
  out[0] = tile_mul_number(tile_mul(gradients[0], args[0].as.tensor), 2);
  return TILE_OK;
}

static void register_square(const char *schema, int has_gradient) {
  tile_operator o = {0};
  o.schema = schema;
  o.infer = infer_square;
  o.kernel_source = "@jit\n"
                    "def square(x: const_ptr[f32], out: ptr[f32], out_numel: i32,\n"
                    "           BLOCK: constexpr = 64):\n"
                    "    i = program_id(0) * BLOCK + arange(0, BLOCK)\n"
                    "    v = load(x + i, mask=i < out_numel)\n"
                    "    store(out + i, v * v, mask=i < out_numel)\n";
  o.kernel = "square";
  o.arguments = "x out out_numel";
  o.constants = "BLOCK=64";
  o.grid = "cdiv(out_numel, BLOCK)";
  if (has_gradient)
    o.gradient = gradient_square;
  ok(tile_operator_register(&o));
}

START_TEST(custom_operators) {
  enum { N = 3 };
  register_square("gradtest::square(Tensor x) -> Tensor", 1);
  register_square("gradtest::opaque(Tensor x) -> Tensor", 0);
  tile_graph *g = graph();
  tile_value *x = vector(g, "x", N);
  tile_operand arg = tile_g_tensor(tile_sin(x));
  tile_value *y = tile_graph_apply(g, "gradtest.square.default", &arg, 1);
  ok(tile_graph_output(g, gradient(g, total(y), x)));
  float xs[N] = {0.5f, -1, 2}, got[N];
  double want[N];
  for (int i = 0; i < N; i++)
    want[i] = 2 * sin((double)xs[i]) * cos((double)xs[i]);
  run(g, &(struct tensors){.in = {xs},
                           .in_shape = {{N}},
                           .in_rank = {1},
                           .ins = 1,
                           .out = {got},
                           .out_shape = {{N}},
                           .out_rank = {1},
                           .outs = 1});
  near(got, want, N, "square");
  tile_graph_destroy(g);

  g = graph();
  x = vector(g, "x", N), arg = tile_g_tensor(x);
  tile_value *loss = total(tile_graph_apply(g, "gradtest.opaque.default", &arg, 1)), *of;
  ck_assert_int_eq(tile_graph_gradient(g, &loss, 1, NULL, &x, 1, &of), TILE_COMPILE_ERROR);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "E1012"));
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "gradtest.opaque.default"));
  tile_graph_destroy(g);
}
END_TEST

START_TEST(a_definition_by_operators_has_no_gradient_of_its_own) {
  tile_operator o = {0};
  o.schema = "gradtest::twice(Tensor x) -> Tensor";
  o.build = (tile_status(*)(tile_graph *, const tile_operand *, size_t, tile_value **, size_t,
                            void *))(void (*)(void))infer_square;
  o.gradient = gradient_square;
  ck_assert_int_eq(tile_operator_register(&o), TILE_INVALID_ARGUMENT);
}
END_TEST

// ---- errors ----

static void refused(tile_value *loss, tile_value *seed, tile_graph *g, tile_value *x,
                    const char *code) {
  tile_value *of = NULL;
  ck_assert_int_eq(tile_graph_gradient(g, &loss, 1, &seed, &x, 1, &of), TILE_COMPILE_ERROR);
  ck_assert_msg(strstr(tile_error_message(), code) != NULL, "%s", tile_error_message());
  ck_assert_ptr_null(of);
  tile_graph_destroy(g);
}

START_TEST(errors) {
  tile_graph *g = graph();
  tile_value *x = vector(g, "x", 3), *y = vector(g, "y", 2);
  refused(tile_mul(x, x), NULL, g, x, "E1013"); // three elements
  g = graph(), x = vector(g, "x", 3), y = vector(g, "y", 2);
  refused(tile_mul(x, x), y, g, x, "E1013"); // a seed of two
  g = graph(), x = vector(g, "x", 3);
  refused(tile_argmax(x, 0, 0), NULL, g, x, "E1013"); // an integer
  g = graph(), x = vector(g, "x", 3), y = vector(g, "y", 2);
  refused(total(x), NULL, g, y, "E1014");
  g = graph(), x = vector(g, "x", 3);
  refused(total(tile_floor(x)), NULL, g, x, "E1014");
  tile_graph *other = graph();
  g = graph(), x = vector(g, "x", 3), y = vector(other, "y", 2);
  tile_value *of = NULL, *loss = total(x);
  ck_assert_int_eq(tile_graph_gradient(g, &loss, 1, NULL, &y, 1, &of), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_graph_gradient(g, NULL, 1, NULL, &x, 1, &of), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_graph_gradient(NULL, &loss, 1, NULL, &x, 1, &of), TILE_INVALID_ARGUMENT);
  tile_graph_destroy(other);
  tile_graph_destroy(g);
}
END_TEST

int main(void) {
  Suite *s = suite_create("gradient");
  TCase *t = tcase_create("gradient");
  tcase_set_timeout(t, 300);
  tcase_add_test(t, least_squares);
  tcase_add_test(t, losses_and_seeds);
  tcase_add_test(t, second_derivatives);
  tcase_add_test(t, products_with_zeros);
  tcase_add_test(t, unused_inputs);
  tcase_add_test(t, symbolic_sizes);
  tcase_add_test(t, custom_operators);
  tcase_add_test(t, a_definition_by_operators_has_no_gradient_of_its_own);
  tcase_add_test(t, errors);
  suite_add_tcase(s, t);
  SRunner *r = srunner_create(s);
  srunner_run_all(r, CK_ENV);
  int failed = srunner_ntests_failed(r);
  srunner_free(r);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
