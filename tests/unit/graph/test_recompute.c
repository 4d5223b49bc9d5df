// SPDX-License-Identifier: Apache-2.0
// Recomputation within one program: less memory, the same results; regions; errors.
#include <tile/graph.h>

#include <check.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 192, WIDTH = 24, LAYERS = 6, PARAMETERS = 2 * LAYERS, INPUTS = 1 + PARAMETERS };

static void ok(tile_status s) {
  ck_assert_msg(s == TILE_OK, "%s: %s", tile_status_name(s), tile_error_message());
}

struct form {
  int64_t limit; // of the saved bytes; -1: none is set
  bool has_regions, has_dropout;
  bool has_seed; // of the gradients: a value of the graph
  tile_type type;
};

struct step {
  tile_graph *g;
  tile_device *device;
  tile_program *p;
  tile_program_properties properties;
  char *results[1 + PARAMETERS]; // the loss, the gradients
  size_t sizes[1 + PARAMETERS];  // bytes
};

// ---- the model: residual layers of a norm, a product, gelu and dropout ----

static tile_value *layer(tile_graph *g, const struct form *f, tile_value *x, tile_value *w,
                         tile_value *scale) {
  if (f->has_regions)
    ok(tile_graph_begin_region(g));
  tile_value *y = tile_gelu(tile_matmul(tile_rms_norm(x, scale, 1e-5), w));
  if (f->has_dropout) {
    tile_operand args[] = {tile_g_tensor(y), tile_g_real(0.25), tile_g_bool(1)};
    y = tile_graph_apply(g, "aten.native_dropout.default", args, 3);
  }
  y = tile_add(x, tile_sin(y));
  if (f->has_regions)
    ok(tile_graph_end_region(g));
  return y;
}

static void build(struct step *s, const struct form *f) {
  const int64_t rows[] = {ROWS, WIDTH}, square[] = {WIDTH, WIDTH}, width = WIDTH;
  tile_value *parameters[PARAMETERS], *gradients[PARAMETERS];
  ok(tile_graph_create("layers", &s->g));
  if (f->limit >= 0)
    ok(tile_graph_limit_saved(s->g, f->limit));
  tile_value *x = tile_graph_input(s->g, "x", f->type, 2, rows, NULL);
  for (int i = 0; i < LAYERS; i++) {
    char name[32];
    snprintf(name, sizeof name, "w%d", i);
    parameters[2 * i] = tile_graph_input(s->g, name, f->type, 2, square, NULL);
    snprintf(name, sizeof name, "scale%d", i);
    parameters[2 * i + 1] = tile_graph_input(s->g, name, f->type, 1, &width, NULL);
    x = layer(s->g, f, x, parameters[2 * i], parameters[2 * i + 1]);
  }
  x = tile_convert(x, TILE_F32);
  tile_value *loss = tile_mean(tile_mul(x, x), NULL, 0, 0);
  ok(tile_graph_output(s->g, loss));
  tile_value *seed =
      f->has_seed ? tile_sum(tile_mul(parameters[1], parameters[1]), NULL, 0, 0) : NULL;
  ok(tile_graph_gradient(s->g, &loss, 1, &seed, parameters, PARAMETERS, gradients));
  for (int i = 0; i < PARAMETERS; i++)
    ok(tile_graph_output(s->g, gradients[i]));
}

// ---- running ----

static float element(size_t input, size_t i) {
  return 0.3f * (float)sin((double)(7 * input + 3) * (double)(i + 1));
}

static void fill(void *to, tile_type type, size_t input, size_t count) {
  for (size_t i = 0; i < count; i++) {
    float x = element(input, i);
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (type == TILE_F32)
      ((float *)to)[i] = x;
    else
      ((uint16_t *)to)[i] = (uint16_t)(bits >> 16);
  }
}

static tile_tensor tensor_of(const tile_tensor_info *info, int64_t *shape, size_t *ret_count) {
  *ret_count = 1;
  for (int d = 0; d < info->rank; d++)
    *ret_count *= (size_t)(shape[d] = info->shape[d]);
  return (tile_tensor){.type = info->type, .rank = info->rank, .shape = shape};
}

static void run(struct step *s) {
  static int64_t shapes[INPUTS + 1 + PARAMETERS][2];
  tile_tensor in[INPUTS], out[1 + PARAMETERS];
  size_t count;
  for (size_t i = 0; i < INPUTS; i++) {
    tile_tensor_info info;
    ok(tile_program_input(s->p, i, &info));
    in[i] = tensor_of(&info, shapes[i], &count);
    ok(tile_malloc(s->device, 4 * count, &in[i].data));
    fill(in[i].data, info.type, i, count);
  }
  for (size_t i = 0; i < 1 + PARAMETERS; i++) {
    tile_tensor_info info;
    ok(tile_program_output(s->p, i, &info));
    out[i] = tensor_of(&info, shapes[INPUTS + i], &count);
    s->sizes[i] = count * (info.type == TILE_F32 ? 4 : 2);
    out[i].data = s->results[i] = calloc(1, s->sizes[i]);
  }
  ok(tile_program_run(s->p, NULL, 5, in, INPUTS, out, 1 + PARAMETERS));
  for (size_t i = 0; i < INPUTS; i++)
    ok(tile_free(s->device, in[i].data));
}

static struct step made(const struct form *f) {
  struct step s = {0};
  build(&s, f);
  ok(tile_device_open("cpu", &s.device));
  ok(tile_program_from_graph(s.device, s.g, &s.p));
  ok(tile_program_get_properties(s.p, &s.properties));
  run(&s);
  return s;
}

static void finish(struct step *s) {
  tile_program_close(s->p);
  tile_device_close(s->device);
  tile_graph_destroy(s->g);
  for (size_t i = 0; i < 1 + PARAMETERS; i++)
    free(s->results[i]);
}

static double at(const struct step *s, size_t i, size_t k, bool is_f32) {
  uint32_t bits =
      is_f32 ? ((uint32_t *)s->results[i])[k] : (uint32_t)((uint16_t *)s->results[i])[k] << 16;
  float x;
  memcpy(&x, &bits, sizeof x);
  return (double)x;
}

// Up to rounding: kernels that fuse other operators add in another order.
static void expect_same(const struct step *a, const struct step *b, tile_type type) {
  for (size_t i = 0; i < 1 + PARAMETERS; i++) {
    bool is_f32 = type == TILE_F32 || i == 0;
    size_t count = a->sizes[i] / (is_f32 ? 4 : 2);
    double most = 0, off = 0;
    ck_assert_uint_eq(a->sizes[i], b->sizes[i]);
    for (size_t k = 0; k < count; k++) {
      most = fmax(most, fabs(at(a, i, k, is_f32)));
      off = fmax(off, fabs(at(a, i, k, is_f32) - at(b, i, k, is_f32)));
    }
    ck_assert_msg(most > 0 && off <= most * (type == TILE_F32 ? 1e-6 : 2e-2),
                  "result %zu differs by %g of %g", i, off, most);
  }
}

static void print(const char *what, const struct step *s) {
  if (getenv("TILE_TEST_PRINT"))
    printf("%s: saved %lld, peak %lld, eager %lld, %zu launches\n", what,
           (long long)s->properties.saved_bytes, (long long)s->properties.arena_bytes,
           (long long)s->properties.eager_bytes, s->properties.launches);
}

// With half of the bytes that the minimal cut saves, the whole arena is half as large as without.
static void check_limits(struct form f) {
  f.limit = -1;
  struct step whole = made(&f);
  print("whole", &whole);
  f.limit = 0;
  struct step cheap = made(&f);
  print("minimal cut", &cheap);
  ck_assert_int_eq(whole.properties.saved_bytes, 0);
  ck_assert_int_gt(cheap.properties.saved_bytes, 0);
  ck_assert_int_le(cheap.properties.arena_bytes, whole.properties.arena_bytes);
  expect_same(&whole, &cheap, f.type);
  f.limit = cheap.properties.saved_bytes / 2;
  struct step half = made(&f);
  print("half", &half);
  ck_assert_int_le(half.properties.saved_bytes, f.limit);
  ck_assert_int_lt(half.properties.arena_bytes, cheap.properties.arena_bytes);
  // Beside values, both may hold two parts of the sums of a weight's gradient.
  const int64_t parts = 2 * 4 * WIDTH * WIDTH;
  ck_assert_int_le(half.properties.arena_bytes - parts, (whole.properties.arena_bytes - parts) / 2);
  expect_same(&whole, &half, f.type);
  finish(&whole);
  finish(&cheap);
  finish(&half);
}

START_TEST(limits_f32) { check_limits((struct form){.type = TILE_F32}); }
END_TEST
START_TEST(limits_bf16) { check_limits((struct form){.type = TILE_BF16}); }
END_TEST
START_TEST(limits_with_dropout) {
  check_limits((struct form){.type = TILE_F32, .has_dropout = true});
}
END_TEST

START_TEST(limits_with_a_seed) { check_limits((struct form){.type = TILE_F32, .has_seed = true}); }
END_TEST

// Of each region only what enters it is kept: one tensor a layer.
START_TEST(regions) {
  struct form f = {.type = TILE_F32, .limit = 0, .has_dropout = true};
  struct step plain = made(&f);
  f.has_regions = true;
  struct step marked = made(&f);
  print("plain", &plain);
  print("regions", &marked);
  ck_assert_int_le(marked.properties.saved_bytes, 4 * ROWS * WIDTH * LAYERS);
  ck_assert_int_lt(marked.properties.saved_bytes, plain.properties.saved_bytes);
  ck_assert_int_lt(marked.properties.arena_bytes, plain.properties.arena_bytes);
  expect_same(&plain, &marked, f.type);
  finish(&plain);
  finish(&marked);
}
END_TEST

START_TEST(errors) {
  tile_graph *g = NULL;
  const int64_t n = 3;
  tile_value *ret;
  ck_assert_int_eq(tile_graph_limit_saved(NULL, 0), TILE_INVALID_ARGUMENT);
  ok(tile_graph_create("late", &g));
  tile_value *x = tile_graph_input(g, "x", TILE_F32, 1, &n, NULL), *loss = tile_sum(x, NULL, 0, 0);
  ok(tile_graph_gradient(g, &loss, 1, NULL, &x, 1, &ret));
  ck_assert_int_eq(tile_graph_limit_saved(g, 0), TILE_INVALID_ARGUMENT);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "before the gradients"));
  tile_graph_destroy(g);
  ok(tile_graph_create("negative", &g));
  ck_assert_int_eq(tile_graph_limit_saved(g, -1), TILE_INVALID_ARGUMENT);
  tile_graph_destroy(g);
  ok(tile_graph_create("nested", &g));
  ok(tile_graph_begin_region(g));
  ck_assert_int_eq(tile_graph_begin_region(g), TILE_INVALID_ARGUMENT);
  tile_graph_destroy(g);
  ok(tile_graph_create("unopened", &g));
  ck_assert_int_eq(tile_graph_end_region(g), TILE_INVALID_ARGUMENT);
  tile_graph_destroy(g);
}
END_TEST

int main(void) {
  Suite *s = suite_create("recompute");
  TCase *t = tcase_create("recompute");
  tcase_set_timeout(t, 300);
  tcase_add_test(t, limits_f32);
  tcase_add_test(t, limits_bf16);
  tcase_add_test(t, limits_with_dropout);
  tcase_add_test(t, limits_with_a_seed);
  tcase_add_test(t, regions);
  tcase_add_test(t, errors);
  suite_add_tcase(s, t);
  SRunner *r = srunner_create(s);
  srunner_run_all(r, CK_ENV);
  int failed = srunner_ntests_failed(r);
  srunner_free(r);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
