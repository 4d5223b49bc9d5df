// SPDX-License-Identifier: Apache-2.0
// Steps of optimizers, compiled for the CPU: three of them on a matrix and a vector, with PyTorch's
// results (of Lion: its formula's); loss scaling; launches; errors.
#include <tile/optimizer.h>

#include <check.h>
#include <math.h>
#include <stdlib.h>

enum { ROWS = 2, COLUMNS = 3, MATRIX = ROWS * COLUMNS, VECTOR = 2, MOST = 10 };

static void ok(tile_status s) {
  ck_assert_msg(s == TILE_OK, "%s: %s", tile_status_name(s), tile_error_message());
}

struct training {
  tile_graph *g;
  tile_device *device;
  tile_program *p;
  float data[MOST][MATRIX]; // w b gw gb rate, then what the optimizer adds
};

static struct training *training(const tile_optimizer *o) {
  struct training *t = calloc(1, sizeof *t);
  const int64_t matrix[] = {ROWS, COLUMNS}, vector = VECTOR;
  ok(tile_graph_create("step", &t->g));
  tile_value *parameters[] = {tile_graph_input(t->g, "w", TILE_F32, 2, matrix, NULL),
                              tile_graph_input(t->g, "b", TILE_F32, 1, &vector, NULL)};
  tile_value *gradients[] = {tile_graph_input(t->g, "gw", TILE_F32, 2, matrix, NULL),
                             tile_graph_input(t->g, "gb", TILE_F32, 1, &vector, NULL)};
  tile_value *rate = tile_graph_input(t->g, "rate", TILE_F32, 0, NULL, NULL);
  ok(tile_graph_optimize(t->g, o, rate, parameters, gradients, 2));
  ok(tile_device_open("cpu", &t->device));
  ok(tile_program_from_graph(t->device, t->g, &t->p));
  for (int i = 0; i < MATRIX; i++)
    t->data[0][i] = 0.25f * (float)i - 0.5f;
  t->data[1][0] = 0.5f, t->data[1][1] = -1;
  t->data[4][0] = 0.1f;
  return t;
}

static void run(struct training *t) {
  tile_tensor in[MOST] = {0};
  int64_t shapes[MOST][2];
  size_t count = tile_program_input_count(t->p);
  ck_assert_uint_le(count, MOST);
  for (size_t i = 0; i < count; i++) {
    tile_tensor_info info;
    ok(tile_program_input(t->p, i, &info));
    for (int d = 0; d < info.rank; d++)
      shapes[i][d] = info.shape[d];
    in[i] = (tile_tensor){t->data[i], TILE_F32, info.rank, shapes[i], NULL};
  }
  ok(tile_program_run(t->p, NULL, 0, in, count, NULL, 0));
}

static void finish(struct training *t) {
  tile_program_close(t->p);
  tile_device_close(t->device);
  tile_graph_destroy(t->g);
  free(t);
}

static void run_three(struct training *t, double scale) {
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < MATRIX; i++)
      t->data[2][i] = (float)(scale * sin(i + 2 * k));
    for (int i = 0; i < VECTOR; i++)
      t->data[3][i] = (float)(scale * cos(i + k));
    run(t);
  }
}

static void check(tile_optimizer o, const double *want, double matrix_tolerance) {
  struct training *t = training(&o);
  run_three(t, o.loss_scale > 0 ? o.loss_scale : 1);
  for (int i = 0; i < MATRIX + VECTOR; i++) {
    double got = (double)(i < MATRIX ? t->data[0][i] : t->data[1][i - MATRIX]);
    double tolerance = i < MATRIX ? matrix_tolerance : 2e-6;
    ck_assert_msg(fabs(got - want[i]) <= tolerance, "optimizer %d, element %d: %.8g, not %.8g",
                  (int)o.kind, i, got, want[i]);
  }
  finish(t);
}

START_TEST(as_in_pytorch) {
  static const double sgd[] = {-0.5152494931517754, -0.2523666718204626, 0.012692056668117235,
                               0.2660817667884482,  0.5046859746883472,  0.7389819190702592,
                               0.3875844530679003,  -0.9134162972720551},
                      nesterov[] = {-0.5777807579278618, -0.3448698697199814, -0.015565515333671396,
                                    0.3280497020663643,  0.5907358378585285,  0.7516587718279194,
                                    0.1734237944700996,  -0.863597963512},
                      adam[] = {-0.4724856409883731, -0.41746376453068235, -0.09130310685401721,
                                0.21628834635926075, 0.6771506466356794,   0.8409589747602767,
                                0.25717403072351275, -1.0417984188953753},
                      adamw[] = {-0.5699044211644625, -0.4157902880067193, -0.09107588757437143,
                                 0.21582394295572419, 0.6734849786835356,  0.8391875607989158,
                                 0.25318912148545136, -1.0424269234358456},
                      lion[] = {-0.4920374375, -0.34477121875, 0.1004975,    0.14676621875,
                                0.5910399375,  0.63830865625,  0.3940349375, -0.884577375},
                      muon[] = {-0.5224293, -0.2517750, 0.0248738,           0.2333237,
                                0.5113580,  0.7615118,  0.24726534031840483, -1.0266202784875655};
  tile_optimizer o = tile_optimizer_default(TILE_SGD);
  check(o, sgd, 2e-6);
  o.momentum = 0.9, o.nesterov = 1, o.weight_decay = 0.05, o.clip_norm = 1.5;
  check(o, nesterov, 2e-6);
  o.loss_scale = 1024;
  check(o, nesterov, 2e-6);
  o = tile_optimizer_default(TILE_ADAM), o.weight_decay = 0.05;
  check(o, adam, 2e-6);
  o = tile_optimizer_default(TILE_ADAMW), o.weight_decay = 0.05;
  check(o, adamw, 2e-6);
  o = tile_optimizer_default(TILE_LION), o.weight_decay = 0.05;
  check(o, lion, 2e-6);
  check(tile_optimizer_default(TILE_MUON), muon, 4e-3); // PyTorch iterates in bf16
}
END_TEST

// A run whose gradients are not finite changes nothing, the count of steps too.
START_TEST(loss_scale) {
  tile_optimizer o = tile_optimizer_default(TILE_ADAM);
  o.loss_scale = 128;
  struct training *t = training(&o);
  t->data[3][0] = INFINITY;
  run(t);
  ck_assert(t->data[0][5] > 0.74f && t->data[0][5] < 0.76f);
  ck_assert(t->data[5][0] < 0.5f); // step_count
  t->data[3][0] = 1;
  run(t);
  ck_assert(t->data[5][0] > 0.5f && t->data[1][0] < 0.45f);
  finish(t);
}
END_TEST

// Twelve small parameters do not take twelve launches.
START_TEST(launches) {
  enum { COUNT = 12 };
  tile_graph *g = NULL;
  tile_device *device = NULL;
  tile_program *p = NULL;
  tile_program_properties properties;
  tile_value *parameters[COUNT], *gradients[COUNT];
  const int64_t n = 64;
  ok(tile_graph_create("many", &g));
  for (int i = 0; i < COUNT; i++) {
    char name[] = {'p', (char)('a' + i), 0}, of[] = {'g', (char)('a' + i), 0};
    parameters[i] = tile_graph_input(g, name, TILE_F32, 1, &n, NULL);
    gradients[i] = tile_graph_input(g, of, TILE_F32, 1, &n, NULL);
  }
  tile_optimizer o = tile_optimizer_default(TILE_ADAMW);
  tile_value *rate = tile_graph_input(g, "rate", TILE_F32, 0, NULL, NULL);
  ok(tile_graph_optimize(g, &o, rate, parameters, gradients, COUNT));
  ok(tile_device_open("cpu", &device));
  ok(tile_program_from_graph(device, g, &p));
  ok(tile_program_get_properties(p, &properties));
  ck_assert_uint_le(properties.launches, COUNT / 2);
  tile_program_close(p);
  tile_device_close(device);
  tile_graph_destroy(g);
}
END_TEST

START_TEST(errors) {
  const int64_t n = 3, m = 2;
  for (int k = 0; k < 5; k++) {
    tile_graph *g = NULL;
    ok(tile_graph_create("wrong", &g));
    tile_optimizer o = tile_optimizer_default(TILE_ADAM);
    tile_value *x = tile_graph_input(g, "x", TILE_F32, 1, &n, NULL),
               *of = tile_graph_input(g, "of", TILE_F32, 1, k == 0 ? &m : &n, NULL),
               *rate = tile_graph_input(g, "rate", TILE_F32, k == 1, &n, NULL);
    if (k == 2)
      x = tile_sin(x);
    if (k == 3)
      o.beta1 = 1;
    if (k == 4)
      o.kind = (tile_optimizer_kind)9;
    ck_assert_int_eq(tile_graph_optimize(g, &o, rate, &x, &of, 1), TILE_INVALID_ARGUMENT);
    tile_graph_destroy(g);
  }
}
END_TEST

int main(void) {
  Suite *s = suite_create("optimizer");
  TCase *t = tcase_create("optimizer");
  tcase_set_timeout(t, 300);
  tcase_add_test(t, as_in_pytorch);
  tcase_add_test(t, loss_scale);
  tcase_add_test(t, launches);
  tcase_add_test(t, errors);
  suite_add_tcase(s, t);
  SRunner *r = srunner_create(s);
  srunner_run_all(r, CK_ENV);
  int failed = srunner_ntests_failed(r);
  srunner_free(r);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
