// SPDX-License-Identifier: Apache-2.0
// Trainers on the CPU: schedules, first elements, accumulation against a large batch, scales of the
// loss, reports, checkpoints bit for bit, recomputation, errors.
#include <tile/train.h>

#include <check.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WIDTH = 5, HIDDEN = 7, ROWS = 12 };

static void ok(tile_status s) {
  ck_assert_msg(s == TILE_OK, "%s: %s", tile_status_name(s), tile_error_message());
}

struct model {
  tile_device *device;
  tile_graph *g;
  tile_trainer *t;
  int64_t rows;
};

// Predicts a number of each row, with dropout if asked: (tanh(x w + b) v - y)^2, its mean.
static tile_value *loss_of(tile_graph *g, int64_t rows, bool drops) {
  const int64_t x_shape[] = {rows, WIDTH}, y_shape[] = {rows, 1}, w_shape[] = {WIDTH, HIDDEN},
                v_shape[] = {HIDDEN, 1}, hidden = HIDDEN;
  tile_value *x = tile_graph_input(g, "x", TILE_F32, 2, x_shape, NULL);
  tile_value *w = tile_graph_parameter(g, "w", TILE_F32, 2, w_shape, tile_initial_uniform(0.5));
  tile_value *b = tile_graph_parameter(g, "b", TILE_F32, 1, &hidden, tile_initial_constant(0.125));
  tile_value *y = tile_graph_input(g, "y", TILE_F32, 2, y_shape, NULL);
  tile_value *v = tile_graph_parameter(g, "v", TILE_BF16, 2, v_shape, tile_initial_normal(0.3));
  tile_value *h = tile_tanh(tile_add(tile_matmul(x, w), b));
  if (drops) {
    tile_operand args[] = {tile_g_tensor(h), tile_g_real(0.5), tile_g_bool(1)};
    h = tile_graph_apply(g, "aten.native_dropout.default", args, 3);
  }
  tile_value *off = tile_sub(tile_matmul(h, tile_convert(v, TILE_F32)), y);
  return tile_mean(tile_mul(off, off), NULL, 0, 0);
}

static struct model make(const tile_trainer_options *o, int64_t rows, bool drops) {
  struct model m = {.rows = rows};
  ok(tile_device_open("cpu", &m.device));
  ok(tile_graph_create("model", &m.g));
  ok(tile_trainer_create(m.device, m.g, loss_of(m.g, rows, drops), o, &m.t));
  return m;
}

static void finish(struct model *m) {
  tile_trainer_destroy(m->t);
  tile_graph_destroy(m->g);
  tile_device_close(m->device);
}

// Rows from `first` on of one endless table; `wrong`: the first number is infinite.
static void step(struct model *m, int64_t first, bool wrong) {
  float x[ROWS * WIDTH], y[ROWS];
  const int64_t x_shape[] = {m->rows, WIDTH}, y_shape[] = {m->rows, 1};
  for (int64_t r = 0; r < m->rows; r++) {
    y[r] = 0;
    for (int c = 0; c < WIDTH; c++) {
      float n = (float)sin((double)((first + r) * 31 + 7 * c));
      x[r * WIDTH + c] = n;
      y[r] += n * (c % 2 ? 0.5f : -0.25f);
    }
  }
  if (wrong)
    y[0] = INFINITY;
  tile_tensor in[2] = {{x, TILE_F32, 2, x_shape, NULL}, {y, TILE_F32, 2, y_shape, NULL}};
  ok(tile_trainer_step(m->t, NULL, in, 2));
}

static const void *data_of(struct model *m, const char *name) {
  tile_tensor t;
  ok(tile_trainer_parameter(m->t, name, &t));
  return t.data;
}

static tile_trainer_report report(struct model *m) {
  tile_trainer_report r;
  ok(tile_trainer_read(m->t, &r));
  return r;
}

START_TEST(learns) {
  tile_trainer_options o = tile_trainer_options_default(TILE_ADAMW);
  o.schedule.rate = 0.02;
  struct model m = make(&o, ROWS, false);
  ck_assert_int_eq(report(&m).step, 0);
  step(&m, 0, false);
  tile_trainer_report first = report(&m), last;
  ck_assert_int_eq(first.step, 1);
  for (int i = 1; i < 150; i++)
    step(&m, ROWS * (i % 9), false);
  last = report(&m);
  ck_assert_int_eq(last.step, 150);
  ck_assert_int_eq(tile_trainer_steps(m.t), 150);
  ck_assert_msg(last.loss < first.loss / 20, "from %g to %g", (double)first.loss,
                (double)last.loss);
  ck_assert(last.norm > 0 && isfinite(last.norm) && fabs((double)last.rate - 0.02) < 1e-8);
  tile_trainer_report at;
  ok(tile_trainer_read_step(m.t, 149, &at));
  ck_assert_int_eq(at.step, 149);
  ck_assert_int_eq(tile_trainer_read_step(m.t, 80, &at), TILE_NOT_FOUND);
  ck_assert_int_eq(tile_trainer_read_step(m.t, 151, &at), TILE_NOT_FOUND);
  finish(&m);
}
END_TEST

// The rates that steps report, against the formula in double precision.
static void check_rates(tile_schedule s, int steps) {
  tile_trainer_options o = tile_trainer_options_default(TILE_SGD);
  o.schedule = s;
  struct model m = make(&o, 1, false);
  for (int i = 0; i < steps; i++) {
    step(&m, i, false);
    double part = s.decay == TILE_DECAY_NONE
                      ? 0
                      : fmin(fmax((double)(i - s.warmup) / (double)(s.steps - s.warmup), 0), 1);
    double rate = s.decay == TILE_DECAY_COSINE
                      ? s.least + (s.rate - s.least) * (1 + cos(3.14159265358979324 * part)) / 2
                      : s.rate + (s.least - s.rate) * part;
    if (s.warmup && i + 1 < s.warmup)
      rate *= (double)(i + 1) / (double)s.warmup;
    double got = (double)report(&m).rate;
    ck_assert_msg(fabs(got - rate) <= 1e-6 * s.rate, "step %d: %g, not %g", i, got, rate);
  }
  finish(&m);
}

START_TEST(schedules) {
  check_rates((tile_schedule){TILE_DECAY_NONE, 0.003, 0, 4, 0}, 6);
  check_rates((tile_schedule){TILE_DECAY_LINEAR, 0.01, 0.001, 0, 7}, 9);
  check_rates((tile_schedule){TILE_DECAY_COSINE, 0.02, 0.002, 3, 11}, 13);
}
END_TEST

START_TEST(first_elements) {
  tile_trainer_options o = tile_trainer_options_default(TILE_LION);
  o.seed = 11;
  struct model a = make(&o, 2, false), b = make(&o, 5, false);
  o.seed = 12;
  struct model c = make(&o, 2, false);
  const float *w = data_of(&a, "w"), *first = data_of(&a, "b");
  double sum = 0;
  ck_assert_mem_eq(w, data_of(&b, "w"), sizeof(float) * WIDTH * HIDDEN);
  ck_assert_mem_eq(data_of(&a, "v"), data_of(&b, "v"), 2 * HIDDEN);
  ck_assert(memcmp(w, data_of(&c, "w"), sizeof(float) * WIDTH * HIDDEN) != 0);
  for (int i = 0; i < WIDTH * HIDDEN; i++) {
    ck_assert(fabsf(w[i]) <= 0.5f);
    sum += (double)(w[i] * w[i]);
  }
  // A uniform number's variance is a twelfth of its range squared.
  ck_assert_double_eq_tol(sum / (WIDTH * HIDDEN), 1.0 / 12, 0.04);
  for (int i = 0; i < HIDDEN; i++)
    ck_assert(!(first[i] < 0.125f) && !(first[i] > 0.125f));
  finish(&a);
  finish(&b);
  finish(&c);
}
END_TEST

static void expect_near(struct model *a, struct model *b, const char *name, int count,
                        double tolerance) {
  const float *x = data_of(a, name), *y = data_of(b, name);
  for (int i = 0; i < count; i++)
    ck_assert_msg(fabs((double)x[i] - (double)y[i]) <= tolerance, "%s %d: %g, %g", name, i,
                  (double)x[i], (double)y[i]);
}

// Four batches of three rows are one of twelve.
START_TEST(accumulation) {
  tile_trainer_options o = tile_trainer_options_default(TILE_SGD);
  o.schedule.rate = 0.1;
  o.optimizer.clip_norm = 0.3;
  struct model whole = make(&o, ROWS, false);
  o.accumulate = 4;
  struct model parts = make(&o, ROWS / 4, false);
  for (int k = 0; k < 3; k++) {
    step(&whole, k * ROWS, false);
    for (int i = 0; i < 4; i++) {
      ck_assert_int_eq(report(&parts).step, k);
      step(&parts, k * ROWS + i * (ROWS / 4), false);
    }
    tile_trainer_report x = report(&whole), y = report(&parts);
    ck_assert_int_eq(y.step, k + 1);
    ck_assert_double_eq_tol((double)x.loss, (double)y.loss, 1e-6);
    ck_assert_double_eq_tol((double)x.norm, (double)y.norm, 1e-5);
  }
  expect_near(&whole, &parts, "w", WIDTH * HIDDEN, 1e-6);
  expect_near(&whole, &parts, "b", HIDDEN, 1e-6);
  finish(&whole);
  finish(&parts);
}
END_TEST

// A scale that is a power of two changes nothing, a step with an infinite loss neither.
START_TEST(scales) {
  for (unsigned accumulate = 1; accumulate <= 2; accumulate++) {
    tile_trainer_options o = tile_trainer_options_default(TILE_ADAM);
    o.accumulate = accumulate;
    o.schedule.rate = 0.01;
    struct model plain = make(&o, 4, false);
    o.optimizer.loss_scale = 1024;
    o.scale_interval = 3;
    struct model scaled = make(&o, 4, false);
    const float expected[] = {1024, 1024, 1024, 2048, 2048, 1024, 1024, 1024, 2048};
    float before[WIDTH * HIDDEN];
    for (int k = 0; k < 9; k++) {
      bool is_wrong = k == 4;
      memcpy(before, data_of(&scaled, "w"), sizeof before);
      for (unsigned i = 0; i < accumulate; i++) {
        step(&scaled, 4 * k + (int)i, is_wrong && i == 0);
        if (!is_wrong)
          step(&plain, 4 * k + (int)i, false);
      }
      tile_trainer_report r = report(&scaled);
      ck_assert_int_eq(r.step, k + 1);
      ck_assert_int_eq(r.skipped, k >= 4);
      ck_assert(is_wrong != (bool)isfinite(r.norm));
      if (k != 4)
        ck_assert_int_eq((int)r.loss_scale, (int)expected[k]);
      ck_assert_int_eq(memcmp(before, data_of(&scaled, "w"), sizeof before) == 0, is_wrong);
    }
    expect_near(&plain, &scaled, "w", WIDTH * HIDDEN, 1e-6);
    finish(&plain);
    finish(&scaled);
  }
}
END_TEST

// ---- checkpoints ----

static char folder[64], path[96];

static void set_up(void) {
  strcpy(folder, "/tmp/tile-trainer-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/t.safetensors", folder);
}

static void tear_down(void) {
  unlink(path);
  rmdir(folder);
}

static void expect_equal(struct model *a, struct model *b) {
  tile_trainer_report x = report(a), y = report(b);
  ck_assert_mem_eq(data_of(a, "w"), data_of(b, "w"), sizeof(float) * WIDTH * HIDDEN);
  ck_assert_mem_eq(data_of(a, "b"), data_of(b, "b"), sizeof(float) * HIDDEN);
  ck_assert_mem_eq(data_of(a, "v"), data_of(b, "v"), 2 * HIDDEN);
  ck_assert_mem_eq(&x.loss, &y.loss, sizeof x.loss);
  ck_assert_mem_eq(&x.norm, &y.norm, sizeof x.norm);
  ck_assert_int_eq(x.step, y.step);
}

// Stopped within an accumulation, with dropout, which draws other numbers in each step.
START_TEST(goes_on_bit_for_bit) {
  tile_trainer_options o = tile_trainer_options_default(TILE_ADAMW);
  o.accumulate = (unsigned)_i;
  o.seed = 3;
  o.schedule = (tile_schedule){TILE_DECAY_COSINE, 0.02, 0.001, 2, 20};
  o.optimizer.loss_scale = 256;
  o.scale_interval = 2;
  struct model a = make(&o, 4, true);
  for (int k = 0; k < 7; k++)
    step(&a, 4 * k, false);
  ok(tile_trainer_save(a.t, NULL, path));
  o.seed = 99; // the file's counts
  struct model b = make(&o, 4, true);
  step(&b, 77, false);
  ok(tile_trainer_load(b.t, NULL, path));
  ck_assert_int_eq(tile_trainer_steps(b.t), 7);
  for (int k = 7; k < 13; k++) {
    step(&a, 4 * k, false);
    step(&b, 4 * k, false);
    expect_equal(&a, &b);
  }
  finish(&a);
  finish(&b);
}
END_TEST

START_TEST(other_files_change_nothing) {
  tile_trainer_options o = tile_trainer_options_default(TILE_SGD);
  struct model sgd = make(&o, 4, false), same = make(&o, 4, false);
  o.optimizer.kind = TILE_LION;
  struct model lion = make(&o, 4, false);
  step(&lion, 0, false);
  ok(tile_trainer_save(lion.t, NULL, path));
  ck_assert_int_eq(tile_trainer_load(sgd.t, NULL, path), TILE_INVALID_ARGUMENT);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "`w_moment1` is not asked for"));
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "`v_moment1` is not asked for"));
  ck_assert_int_eq(tile_trainer_steps(sgd.t), 0);
  const tile_weight none = {.name = "w", .type = TILE_F32, .rank = 0, .data = folder};
  ok(tile_weights_save(path, &none, 1, NULL, 0));
  ck_assert_int_eq(tile_trainer_load(sgd.t, NULL, path), TILE_INVALID_ARGUMENT);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "lacks the seed"));
  ck_assert_int_eq(tile_trainer_load(sgd.t, NULL, "/nowhere/t"), TILE_NOT_FOUND);
  expect_equal(&sgd, &same);
  finish(&sgd);
  finish(&same);
  finish(&lion);
}
END_TEST

// ---- a fixed order ----

// Gradients of an embedding whose indices repeat: sums of rows, scattered or as a product.
static void embedding_gradient(bool is_deterministic, float *ret) {
  enum { TOKENS = 300, KINDS = 5, COLUMNS = 3 };
  const int64_t at_shape[] = {TOKENS / 10, 10}, w_shape[] = {TOKENS / 10, 10, COLUMNS},
                table_shape[] = {KINDS, COLUMNS};
  int64_t index[TOKENS];
  float weights[TOKENS * COLUMNS], table[KINDS * COLUMNS] = {0};
  tile_device *device;
  tile_graph *g = NULL;
  tile_program *p;
  tile_value *gradient = NULL;
  ok(tile_device_open("cpu", &device));
  ok(tile_graph_create("rows", &g));
  ok(tile_graph_set_deterministic(g, is_deterministic));
  tile_value *at = tile_graph_input(g, "at", TILE_I64, 2, at_shape, NULL),
             *w = tile_graph_input(g, "w", TILE_F32, 3, w_shape, NULL),
             *of = tile_graph_input(g, "table", TILE_F32, 2, table_shape, NULL);
  tile_value *loss = tile_sum(tile_mul(tile_embedding(of, at), w), NULL, 0, 0);
  ok(tile_graph_gradient(g, &loss, 1, NULL, &of, 1, &gradient));
  ok(tile_graph_output(g, gradient));
  ok(tile_program_from_graph(device, g, &p));
  for (int i = 0; i < TOKENS; i++)
    index[i] = i * i % KINDS;
  for (int i = 0; i < TOKENS * COLUMNS; i++)
    weights[i] = (float)cos(i);
  tile_tensor in[] = {{index, TILE_I64, 2, at_shape, NULL},
                      {weights, TILE_F32, 3, w_shape, NULL},
                      {table, TILE_F32, 2, table_shape, NULL}},
              out = {ret, TILE_F32, 2, table_shape, NULL};
  ok(tile_program_run(p, NULL, 0, in, 3, &out, 1));
  for (int r = 0; r < KINDS; r++)
    for (int c = 0; c < COLUMNS; c++) {
      double sum = 0;
      for (int i = 0; i < TOKENS; i++)
        sum += index[i] == r ? (double)weights[i * COLUMNS + c] : 0;
      ck_assert_double_eq_tol((double)ret[r * COLUMNS + c], sum, 1e-4);
    }
  tile_program_close(p);
  tile_graph_destroy(g);
  tile_device_close(device);
}

START_TEST(fixed_order) {
  float first[15], again[15];
  embedding_gradient(false, first);
  embedding_gradient(true, first);
  for (int i = 0; i < 5; i++) {
    embedding_gradient(true, again);
    ck_assert_mem_eq(first, again, sizeof first);
  }
}
END_TEST

START_TEST(no_fixed_order) {
  const int64_t n = 4;
  tile_device *device;
  tile_graph *g = NULL;
  tile_program *p = NULL;
  ok(tile_device_open("cpu", &device));
  ok(tile_graph_create("scatter", &g));
  ok(tile_graph_set_deterministic(g, 1));
  tile_value *x = tile_graph_input(g, "x", TILE_F32, 1, &n, NULL),
             *at = tile_graph_input(g, "at", TILE_I64, 1, &n, NULL);
  tile_operand args[] = {tile_g_tensor(x), tile_g_int(0), tile_g_tensor(at), tile_g_tensor(x)};
  ok(tile_graph_output(g, tile_graph_apply(g, "aten.scatter_add.default", args, 4)));
  ck_assert_int_eq(tile_program_from_graph(device, g, &p), TILE_COMPILE_ERROR);
  ck_assert_msg(strstr(tile_error_message(), "in any order") != NULL, "%s", tile_error_message());
  tile_graph_destroy(g);
  tile_device_close(device);
}
END_TEST

// With a stream and one batch buffer steps replay a recording; with two, none. Same results.
START_TEST(replays) {
  tile_trainer_options o = tile_trainer_options_default(TILE_ADAM);
  o.accumulate = (unsigned)_i;
  struct model plain = make(&o, 2, false), recorded = make(&o, 2, false);
  tile_stream *stream;
  ok(tile_stream_create(recorded.device, &stream));
  float x[3][2 * WIDTH], y[3][2];
  const int64_t x_shape[] = {2, WIDTH}, y_shape[] = {2, 1};
  for (int k = 0; k < 16; k++) {
    int at = k < 8 ? 0 : 1 + k % 2; // the same memory, then two in turn
    for (int i = 0; i < 2 * WIDTH; i++)
      x[at][i] = (float)cos(k * 17 + i);
    y[at][0] = y[at][1] = (float)(k % 3);
    tile_tensor in[2] = {{x[at], TILE_F32, 2, x_shape, NULL}, {y[at], TILE_F32, 2, y_shape, NULL}};
    ok(tile_trainer_step(plain.t, NULL, in, 2));
    ok(tile_trainer_step(recorded.t, stream, in, 2));
    expect_equal(&plain, &recorded);
  }
  ck_assert_int_eq(report(&recorded).step, 16 / (_i > 1 ? _i : 1));
  finish(&plain);
  tile_trainer_destroy(recorded.t);
  tile_stream_destroy(stream);
  recorded.t = NULL;
  finish(&recorded);
}
END_TEST

START_TEST(finds_nan) {
  tile_trainer_options o = tile_trainer_options_default(TILE_SGD);
  struct model m = make(&o, 1, false);
  float x[WIDTH] = {1, 2, 3, 4, 5}, y = 0;
  const int64_t x_shape[] = {1, WIDTH}, y_shape[] = {1, 1};
  tile_tensor in[2] = {{x, TILE_F32, 2, x_shape, NULL}, {&y, TILE_F32, 2, y_shape, NULL}};
  const char *report = "";
  ok(tile_trainer_find_nan(m.t, NULL, in, 2, &report));
  ck_assert_ptr_null(report);
  y = 1e30f; // its square is beyond f32
  ok(tile_trainer_find_nan(m.t, NULL, in, 2, &report));
  ck_assert_ptr_nonnull(report);
  ck_assert_msg(strstr(report, "first operator: `aten.mul.Tensor`") != NULL, "%s", report);
  ck_assert_msg(strstr(report, "1e+30") != NULL, "%s", report);
  ck_assert_int_eq(tile_trainer_steps(m.t), 2);
  finish(&m);
}
END_TEST

// ---- recomputation, errors ----

START_TEST(limited) {
  tile_trainer_options o = tile_trainer_options_default(TILE_SGD);
  o.schedule.rate = 0.1;
  struct model a = make(&o, ROWS, true);
  o.limits_saved = 1;
  o.saved_bytes = 64;
  struct model b = make(&o, ROWS, true);
  tile_program_properties p;
  ok(tile_program_get_properties(tile_trainer_program(b.t), &p));
  ck_assert_int_le(p.saved_bytes, 64);
  for (int k = 0; k < 3; k++) {
    step(&a, k, false);
    step(&b, k, false);
  }
  expect_near(&a, &b, "w", WIDTH * HIDDEN, 1e-5);
  finish(&a);
  finish(&b);
}
END_TEST

static void expect_error(tile_graph *g, tile_value *loss, const tile_trainer_options *o,
                         tile_status status, const char *why) {
  tile_device *device;
  tile_trainer *t = NULL;
  ok(tile_device_open("cpu", &device));
  ck_assert_int_eq(tile_trainer_create(device, g, loss, o, &t), status);
  ck_assert_msg(strstr(tile_error_message(), why) != NULL, "%s", tile_error_message());
  ck_assert_ptr_null(t);
  tile_graph_destroy(g);
  tile_device_close(device);
}

static tile_graph *graph(void) {
  tile_graph *g = NULL;
  ok(tile_graph_create("wrong", &g));
  return g;
}

START_TEST(errors) {
  tile_trainer_options o = tile_trainer_options_default(TILE_ADAM);
  const int64_t n = 3;
  tile_graph *g = graph();
  tile_value *x = tile_graph_input(g, "x", TILE_F32, 1, &n, NULL);
  expect_error(g, tile_sum(x, NULL, 0, 0), &o, TILE_INVALID_ARGUMENT, "no parameters");
  g = graph();
  x = tile_graph_parameter(g, "x", TILE_F32, 1, &n, tile_initial_constant(1));
  expect_error(g, x, &o, TILE_COMPILE_ERROR, "");
  g = graph();
  tile_graph_parameter(g, "x", TILE_F32, 1, &n, tile_initial_constant(1));
  x = tile_graph_input(g, "y", TILE_F32, 0, NULL, NULL);
  expect_error(g, x, &o, TILE_COMPILE_ERROR, "E1014");
  g = graph();
  tile_graph_parameter(g, "x", TILE_F32, 1, &n, tile_initial_constant(1));
  ck_assert_ptr_null(tile_graph_parameter(g, "x", TILE_F32, 1, &n, tile_initial_constant(1)));
  expect_error(g, NULL, &o, TILE_INVALID_ARGUMENT, "of this name is there");
  g = graph();
  ck_assert_ptr_null(tile_graph_parameter(g, "i", TILE_I32, 1, &n, tile_initial_constant(1)));
  expect_error(g, NULL, &o, TILE_INVALID_ARGUMENT, "float tensor");
  g = graph();
  x = tile_graph_parameter(g, "step_count", TILE_F32, 1, &n, tile_initial_constant(1));
  expect_error(g, tile_sum(x, NULL, 0, 0), &o, TILE_INVALID_ARGUMENT, "the name `step_count`");
  o.scale_interval = 5;
  g = graph();
  x = tile_graph_parameter(g, "x", TILE_F32, 1, &n, tile_initial_constant(1));
  expect_error(g, tile_sum(x, NULL, 0, 0), &o, TILE_INVALID_ARGUMENT, "first scale");
  o.scale_interval = 0;
  o.schedule.decay = TILE_DECAY_LINEAR;
  g = graph();
  x = tile_graph_parameter(g, "x", TILE_F32, 1, &n, tile_initial_constant(1));
  expect_error(g, tile_sum(x, NULL, 0, 0), &o, TILE_INVALID_ARGUMENT, "warmup");
  o.schedule.decay = TILE_DECAY_NONE;
  struct model m = make(&o, 2, false);
  ck_assert_int_eq(tile_trainer_step(m.t, NULL, NULL, 0), TILE_INVALID_ARGUMENT);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "2 inputs"));
  tile_tensor t;
  ck_assert_int_eq(tile_trainer_parameter(m.t, "trainer_step", &t), TILE_NOT_FOUND);
  finish(&m);
}
END_TEST

int main(void) {
  Suite *s = suite_create("trainer");
  TCase *t = tcase_create("trainer");
  tcase_set_timeout(t, 300);
  tcase_add_checked_fixture(t, set_up, tear_down);
  tcase_add_test(t, learns);
  tcase_add_test(t, schedules);
  tcase_add_test(t, first_elements);
  tcase_add_test(t, accumulation);
  tcase_add_test(t, scales);
  tcase_add_loop_test(t, goes_on_bit_for_bit, 1, 4);
  tcase_add_test(t, other_files_change_nothing);
  tcase_add_test(t, fixed_order);
  tcase_add_test(t, no_fixed_order);
  tcase_add_loop_test(t, replays, 1, 3);
  tcase_add_test(t, finds_nan);
  tcase_add_test(t, limited);
  tcase_add_test(t, errors);
  suite_add_tcase(s, t);
  SRunner *r = srunner_create(s);
  srunner_run_all(r, CK_ENV);
  int failed = srunner_ntests_failed(r);
  srunner_free(r);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
