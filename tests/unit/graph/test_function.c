// SPDX-License-Identifier: Apache-2.0
// Captured C functions, compiled for the CPU: results, which calls share a variant, dynamic
// dimensions, and errors.
#include <tile/graph.h>

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static tile_device *device(void) {
  tile_device *d = NULL;
  ck_assert_int_eq(tile_device_open("cpu", &d), TILE_OK);
  return d;
}

static void ok(tile_status s) {
  ck_assert_msg(s == TILE_OK, "%s: %s", tile_status_name(s), tile_error_message());
}

static void near(float got, float want, double tolerance) {
  ck_assert_msg(fabs((double)got - (double)want) <= tolerance, "%g, not %g", (double)got,
                (double)want);
}

static tile_tensor matrix(float *data, const int64_t *shape) {
  tile_tensor t = {0};
  t.data = data;
  t.type = TILE_F32;
  t.rank = 2;
  t.shape = shape;
  return t;
}

static void fill(float *x, size_t n, float first) {
  for (size_t i = 0; i < n; i++)
    x[i] = first + 0.25f * (float)(i % 97);
}

// out = sin(x)^2 + 2 y, out1 = x * y; counts its runs.
static tile_status two_outputs(tile_graph *g, tile_value *const *in, size_t n, tile_value **out,
                               size_t m, void *user) {
  (void)g;
  ++*(int *)user;
  if (n != 2 || m != 2)
    return TILE_INVALID_ARGUMENT;
  tile_value *s = tile_sin(in[0]);
  out[0] = tile_add(tile_mul(s, s), tile_mul_number(in[1], 2));
  out[1] = tile_mul(in[0], in[1]);
  return TILE_OK;
}

struct fixture {
  tile_device *device;
  tile_captured *f;
  int runs;
};

static struct fixture *fixture(tile_graph_function function) {
  struct fixture *x = calloc(1, sizeof *x);
  x->device = device();
  ok(tile_captured_create(x->device, function, &x->runs, &x->f));
  return x;
}

static void fixture_finish(struct fixture *x) {
  tile_captured_destroy(x->f);
  tile_device_close(x->device);
  free(x);
}

static tile_status call_two(struct fixture *f, int64_t rows, int64_t columns) {
  size_t n = (size_t)(rows * columns);
  float *memory = malloc((4 * n + 1) * sizeof *memory);
  const int64_t shape[] = {rows, columns};
  fill(memory, n, -3);
  fill(memory + n, n, 1);
  const tile_tensor in[] = {matrix(memory, shape), matrix(memory + n, shape)};
  const tile_tensor out[] = {matrix(memory + 2 * n, shape), matrix(memory + 3 * n, shape)};
  tile_status s = tile_captured_call(f->f, NULL, in, 2, out, 2);
  for (size_t i = 0; s == TILE_OK && i < n; i++) {
    float sine = sinf(memory[i]);
    near(memory[2 * n + i], sine * sine + 2 * memory[n + i], 1e-5);
    near(memory[3 * n + i], memory[i] * memory[n + i], 1e-5);
  }
  free(memory);
  return s;
}

START_TEST(variants) {
  struct fixture *f = fixture(two_outputs);
  for (int k = 0; k < 3; k++)
    ok(call_two(f, 5, 33));
  ck_assert_uint_eq(tile_captured_variants(f->f), 1);
  ck_assert_str_eq(tile_error_message(), ""); // nothing failed
  ok(call_two(f, 6, 33));
  ok(call_two(f, 5, 33));
  ck_assert_uint_eq(tile_captured_variants(f->f), 2);
  ck_assert_int_eq(f->runs, 2);
  fixture_finish(f);
}
END_TEST

START_TEST(dynamic) {
  struct fixture *f = fixture(two_outputs);
  ok(tile_captured_mark_dynamic(f->f, 0, 0, 1, 100));
  ok(tile_captured_mark_dynamic(f->f, 1, 0, 1, 100));
  for (int64_t rows = 1; rows <= 100; rows += 9)
    ok(call_two(f, rows, 17));
  ck_assert_uint_eq(tile_captured_variants(f->f), 1);
  ok(call_two(f, 101, 17)); // out of the range: a number
  ok(call_two(f, 5, 18));
  ck_assert_uint_eq(tile_captured_variants(f->f), 3);
  ck_assert_int_eq(f->runs, 3);
  fixture_finish(f);
}
END_TEST

static void count_choice(void *user, const tile_program_choice *choice) {
  *(unsigned *)user += choice->is_measured || choice->why;
}

// The first call of a variant chooses block sizes, and gives its results all the same.
START_TEST(tuned) {
  struct fixture *f = fixture(two_outputs);
  unsigned kernels = 0;
  tile_program_tuning tuning = {0};
  tuning.candidates = 3;
  tuning.told = count_choice;
  tuning.user = &kernels;
  ok(tile_captured_set_tuning(f->f, &tuning));
  ok(call_two(f, 5, 33));
  ck_assert_uint_eq(kernels, 1);
  ok(call_two(f, 5, 33));
  ck_assert_uint_eq(kernels, 1);
  ok(call_two(f, 6, 33));
  ck_assert_uint_eq(kernels, 2);
  ok(tile_captured_set_tuning(f->f, NULL));
  ok(call_two(f, 7, 33));
  ck_assert_uint_eq(kernels, 2);
  ck_assert_int_eq(tile_captured_set_tuning(NULL, NULL), TILE_INVALID_ARGUMENT);
  fixture_finish(f);
}
END_TEST

START_TEST(limit) {
  struct fixture *f = fixture(two_outputs);
  ok(tile_captured_set_limit(f->f, 2));
  ok(call_two(f, 1, 8));
  ok(call_two(f, 2, 8));
  ck_assert_int_eq(call_two(f, 3, 8), TILE_LIMIT);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "tile_captured_mark_dynamic"));
  ok(call_two(f, 2, 8));
  ck_assert_int_eq(tile_captured_set_limit(f->f, 0), TILE_INVALID_ARGUMENT);
  fixture_finish(f);
}
END_TEST

static tile_status identity_and_twice(tile_graph *g, tile_value *const *in, size_t n,
                                      tile_value **out, size_t m, void *user) {
  (void)g, (void)n, (void)m;
  ++*(int *)user;
  out[0] = in[0];
  out[1] = out[2] = tile_add_number(in[0], 1);
  return TILE_OK;
}

// Inputs that lie otherwise, outputs that are inputs, come twice, or lie otherwise.
START_TEST(strides) {
  struct fixture *f = fixture(identity_and_twice);
  float x[24], y[3][24];
  const int64_t shape[] = {4, 6}, transposed[] = {1, 4}, loose[] = {6, 1};
  fill(x, 24, 0);
  for (int k = 0; k < 2; k++) {
    tile_tensor in = matrix(x, shape), out[3];
    in.strides = k ? transposed : loose;
    for (int i = 0; i < 3; i++)
      out[i] = matrix(y[i], shape);
    out[2].strides = transposed;
    memset(y, 0, sizeof y);
    ok(tile_captured_call(f->f, NULL, &in, 1, out, 3));
    for (int r = 0; r < 4; r++)
      for (int c = 0; c < 6; c++) {
        float want = k ? x[r + 4 * c] : x[6 * r + c];
        near(y[0][6 * r + c], want, 0);
        near(y[1][6 * r + c], want + 1, 0);
        near(y[2][r + 4 * c], want + 1, 0);
      }
  }
  ck_assert_uint_eq(tile_captured_variants(f->f), 2);
  fixture_finish(f);
}
END_TEST

// softmax(layer_norm(x) w^T) of rows, with a dynamic number of rows: products and rows with
// symbols.
static tile_status rows_of_products(tile_graph *g, tile_value *const *in, size_t n,
                                    tile_value **out, size_t m, void *user) {
  (void)g, (void)n, (void)m;
  ++*(int *)user;
  out[0] = tile_softmax(
      tile_matmul(tile_layer_norm(in[0], in[2], in[3], 1e-5), tile_transpose(in[1], 0, 1)), -1);
  return TILE_OK;
}

enum { WIDTH = 24, CLASSES = 10, MOST_ROWS = 33 };

static void reference_row(const float *x, const float *w, const float *weight, const float *bias,
                          double *ret) {
  double mean = 0, variance = 0, sum = 0;
  for (int k = 0; k < WIDTH; k++)
    mean += (double)x[k] / WIDTH;
  for (int k = 0; k < WIDTH; k++)
    variance += ((double)x[k] - mean) * ((double)x[k] - mean) / WIDTH;
  for (int c = 0; c < CLASSES; c++) {
    ret[c] = 0;
    for (int k = 0; k < WIDTH; k++)
      ret[c] +=
          (((double)x[k] - mean) / sqrt(variance + 1e-5) * (double)weight[k] + (double)bias[k]) *
          (double)w[c * WIDTH + k];
    ret[c] = exp(ret[c]);
    sum += ret[c];
  }
  for (int c = 0; c < CLASSES; c++)
    ret[c] /= sum;
}

START_TEST(rows) {
  struct fixture *f = fixture(rows_of_products);
  static float x[MOST_ROWS * WIDTH], w[CLASSES * WIDTH], weight[WIDTH], bias[WIDTH],
      y[MOST_ROWS * CLASSES];
  const int64_t width[] = {WIDTH}, classes[] = {CLASSES, WIDTH};
  for (int i = 0; i < MOST_ROWS * WIDTH; i++)
    x[i] = sinf((float)(i * i % 101));
  for (int i = 0; i < CLASSES * WIDTH; i++)
    w[i] = 0.25f * cosf((float)(7 * i % 53));
  fill(weight, WIDTH, 0.5f);
  fill(bias, WIDTH, -1);
  ok(tile_captured_mark_dynamic(f->f, 0, 0, 1, MOST_ROWS));
  for (int64_t n = 1; n <= MOST_ROWS; n += 8) {
    const int64_t shape[] = {n, WIDTH}, result[] = {n, CLASSES};
    tile_tensor in[4], out = matrix(y, result);
    double want[CLASSES];
    in[0] = matrix(x, shape);
    in[1] = matrix(w, classes);
    in[2] = in[3] = matrix(weight, width);
    in[2].rank = in[3].rank = 1;
    in[3].data = bias;
    memset(y, 0, sizeof y);
    ok(tile_captured_call(f->f, NULL, in, 4, &out, 1));
    for (int64_t r = 0; r < n; r++) {
      reference_row(x + r * WIDTH, w, weight, bias, want);
      for (int c = 0; c < CLASSES; c++)
        near(y[r * CLASSES + c], (float)want[c], 1e-4);
    }
  }
  ck_assert_int_eq(f->runs, 1);
  fixture_finish(f);
}
END_TEST

static tile_status wrong_shapes(tile_graph *g, tile_value *const *in, size_t n, tile_value **out,
                                size_t m, void *user) {
  (void)g, (void)n, (void)m, (void)user;
  out[0] = tile_matmul(in[0], in[0]);
  return TILE_OK;
}

static tile_status no_output(tile_graph *g, tile_value *const *in, size_t n, tile_value **out,
                             size_t m, void *user) {
  (void)g, (void)n, (void)m, (void)user, (void)in, (void)out;
  return TILE_OK;
}

static tile_status gives_up(tile_graph *g, tile_value *const *in, size_t n, tile_value **out,
                            size_t m, void *user) {
  (void)g, (void)n, (void)m, (void)user, (void)in, (void)out;
  return TILE_NOT_FOUND;
}

START_TEST(refusals) {
  float x[24] = {0}, y[24];
  const int64_t shape[] = {4, 6}, other[] = {6, 4}, negative[] = {4, -6};
  struct fixture *f = fixture(wrong_shapes);
  tile_tensor in = matrix(x, shape), out = matrix(y, shape);
  ck_assert_int_eq(tile_captured_call(f->f, NULL, &in, 1, &out, 1), TILE_COMPILE_ERROR);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "[E1004]"));
  ck_assert_uint_eq(tile_captured_variants(f->f), 0);
  fixture_finish(f);
  f = fixture(no_output);
  ck_assert_int_eq(tile_captured_call(f->f, NULL, &in, 1, &out, 1), TILE_INVALID_ARGUMENT);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "output 0"));
  fixture_finish(f);
  f = fixture(gives_up);
  ck_assert_int_eq(tile_captured_call(f->f, NULL, &in, 1, &out, 1), TILE_NOT_FOUND);
  fixture_finish(f);

  f = fixture(two_outputs);
  tile_tensor ins[2], outs[2];
  ins[0] = ins[1] = in;
  outs[0] = outs[1] = out;
  ck_assert_int_eq(tile_captured_call(f->f, NULL, ins, 1, outs, 2), TILE_INVALID_ARGUMENT);
  outs[1] = matrix(y, other);
  ck_assert_int_eq(tile_captured_call(f->f, NULL, ins, 2, outs, 2), TILE_INVALID_ARGUMENT);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "output 1 is f32[6, 4]"));
  outs[1] = out;
  outs[1].type = TILE_F16;
  ck_assert_int_eq(tile_captured_call(f->f, NULL, ins, 2, outs, 2), TILE_INVALID_ARGUMENT);
  outs[1] = matrix(NULL, shape);
  ck_assert_int_eq(tile_captured_call(f->f, NULL, ins, 2, outs, 2), TILE_INVALID_ARGUMENT);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "no memory"));
  outs[1] = matrix(y, negative);
  ck_assert_int_eq(tile_captured_call(f->f, NULL, ins, 2, outs, 2), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_captured_call(NULL, NULL, ins, 2, outs, 2), TILE_INVALID_ARGUMENT);
  fixture_finish(f);
  ck_assert_int_eq(tile_captured_create(NULL, no_output, NULL, NULL), TILE_INVALID_ARGUMENT);
}
END_TEST

// Prepared: the call that follows captures nothing.
START_TEST(prepared) {
  struct fixture *f = fixture(two_outputs);
  const int64_t shape[] = {7, 9};
  const tile_tensor in[] = {matrix(NULL, shape), matrix(NULL, shape)};
  ok(tile_captured_prepare(f->f, in, 2, in, 2));
  ck_assert_int_eq(f->runs, 1);
  ok(call_two(f, 7, 9));
  ck_assert_int_eq(f->runs, 1);
  fixture_finish(f);
}
END_TEST

// x in 8 bits and back twice: as bf16, of which only casts that are kept lose something, and as
// float8, which always does.
static tile_status casts(tile_graph *g, tile_value *const *in, size_t n, tile_value **out, size_t m,
                         void *user) {
  (void)n, (void)m;
  tile_value *half = tile_convert(in[0], TILE_BF16), *eight = tile_convert(in[0], TILE_F8E4NV);
  out[0] = tile_neg(tile_convert(half, TILE_F32));
  out[1] = tile_neg(tile_convert(eight, TILE_F32));
  return tile_graph_set_keep_casts(g, *(const int *)user);
}

START_TEST(kept_casts) {
  tile_device *d = device();
  for (int keeps = 0; keeps < 2; keeps++) {
    tile_captured *f = NULL;
    float x[4] = {257.5F, -0.1F, 3, 1000}, half[4], eight[4];
    const float kept[4] = {-258, 0.10009765625F, -3, -1000},
                small[4] = {-256, 0.1015625F, -3, -448};
    const int64_t shape[] = {2, 2};
    const tile_tensor in = matrix(x, shape), out[] = {matrix(half, shape), matrix(eight, shape)};
    ok(tile_captured_create(d, casts, &keeps, &f));
    ok(tile_captured_call(f, NULL, &in, 1, out, 2));
    for (int i = 0; i < 4; i++) {
      near(half[i], keeps ? kept[i] : -x[i], 0);
      near(eight[i], small[i], 0);
    }
    tile_captured_destroy(f);
  }
  ck_assert_int_eq(tile_graph_set_keep_casts(NULL, 1), TILE_INVALID_ARGUMENT);
  tile_device_close(d);
}
END_TEST

// A graph that was built, as a program.
START_TEST(program) {
  tile_device *d = device();
  tile_graph *g = NULL;
  tile_program *p = NULL;
  ok(tile_graph_create("g", &g));
  const int64_t sizes[] = {tile_graph_size(g, "n", 1, 1000), 4};
  tile_value *x = tile_graph_input(g, "x", TILE_F32, 2, sizes, NULL);
  ok(tile_graph_output(g, tile_mul(tile_add_number(x, 1), x)));
  ok(tile_program_from_graph(d, g, &p));
  ck_assert_ptr_null(tile_neg(x)); // closed
  for (int64_t n = 1; n < 20; n += 6) {
    float in[80], out[80];
    const int64_t shape[] = {n, 4};
    fill(in, 80, -1);
    const tile_tensor from = matrix(in, shape), to = matrix(out, shape);
    ok(tile_program_run(p, NULL, 0, &from, 1, &to, 1));
    for (int64_t i = 0; i < 4 * n; i++)
      near(out[i], (in[i] + 1) * in[i], 1e-5);
  }
  float large[4004] = {0};
  const int64_t shape[] = {1001, 4};
  const tile_tensor from = matrix(large, shape);
  ck_assert_int_eq(tile_program_run(p, NULL, 0, &from, 1, &from, 1), TILE_INVALID_ARGUMENT);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "`n`"));
  tile_program_close(p);
  tile_graph_destroy(g);
  tile_device_close(d);
}
END_TEST

int main(void) {
  Suite *s = suite_create("function");
  TCase *t = tcase_create("calls");
  tcase_set_timeout(t, 120);
  tcase_add_test(t, variants);
  tcase_add_test(t, dynamic);
  tcase_add_test(t, tuned);
  tcase_add_test(t, limit);
  tcase_add_test(t, strides);
  tcase_add_test(t, rows);
  tcase_add_test(t, refusals);
  tcase_add_test(t, prepared);
  tcase_add_test(t, kept_casts);
  tcase_add_test(t, program);
  suite_add_tcase(s, t);
  SRunner *runner = srunner_create(s);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed != 0;
}
