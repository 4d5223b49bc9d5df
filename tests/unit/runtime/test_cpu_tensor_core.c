// SPDX-License-Identifier: Apache-2.0
// Matrix instructions of the CPU executor. Fragments are built element by element by the formulas
// of the PTX ISA (lane `l` has groupID g = l / 4 and threadID_in_group t = l % 4); results are
// compared with naive products.
#include "base/mma.h"
#include "runtime/device.h"
#include "suites.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static tile_device *device;

static void open_cpu(void) {
  setenv("TILE_CPU_THREADS", "2", 1);
  ck_assert_int_eq(tile_device_open("cpu", &device), TILE_OK);
}
static void close_cpu(void) { tile_device_close(device); }

// ---- fragments ----

struct at {
  unsigned row, col;
};

static struct at a_16bit(unsigned g, unsigned t, unsigned i) {
  return (struct at){i < 2 || (i >= 4 && i < 6) ? g : g + 8, t * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
}
static struct at b_16bit(unsigned g, unsigned t, unsigned i) {
  return (struct at){t * 2 + (i & 1) + (i >= 2 ? 8 : 0), g};
}
static struct at a_tf32(unsigned g, unsigned t, unsigned i) {
  return (struct at){i == 0 || i == 2 ? g : g + 8, i < 2 ? t : t + 4};
}
static struct at b_tf32(unsigned g, unsigned t, unsigned i) {
  return (struct at){i == 0 ? t : t + 4, g};
}
static struct at a_8bit(unsigned g, unsigned t, unsigned i) {
  return (struct at){i < 4 || (i >= 8 && i < 12) ? g : g + 8, t * 4 + (i & 3) + (i >= 8 ? 16 : 0)};
}
static struct at b_8bit(unsigned g, unsigned t, unsigned i) {
  return (struct at){t * 4 + (i & 3) + (i >= 4 ? 16 : 0), g};
}
static struct at a_f64(unsigned g, unsigned t, unsigned i) {
  (void)i;
  return (struct at){g, t};
}
static struct at b_f64(unsigned g, unsigned t, unsigned i) {
  (void)i;
  return (struct at){t, g};
}
static struct at c_of(unsigned g, unsigned t, unsigned i) {
  return (struct at){i < 2 ? g : g + 8, t * 2 + (i & 1)};
}

static const struct form {
  enum mma_id id;
  enum dtype a, b, c;
  unsigned m, k, a_elements, b_elements, c_elements;
  struct at (*a_at)(unsigned g, unsigned t, unsigned i),
      (*b_at)(unsigned g, unsigned t, unsigned i);
} forms[] = {
    {MMA_F16_F32, DTYPE_F16, DTYPE_F16, DTYPE_F32, 16, 16, 8, 4, 4, a_16bit, b_16bit},
    {MMA_F16_F16, DTYPE_F16, DTYPE_F16, DTYPE_F16, 16, 16, 8, 4, 4, a_16bit, b_16bit},
    {MMA_BF16_F32, DTYPE_BF16, DTYPE_BF16, DTYPE_F32, 16, 16, 8, 4, 4, a_16bit, b_16bit},
    {MMA_TF32_F32, DTYPE_F32, DTYPE_F32, DTYPE_F32, 16, 8, 4, 2, 4, a_tf32, b_tf32},
    {MMA_S8_S32, DTYPE_I8, DTYPE_I8, DTYPE_I32, 16, 32, 16, 8, 4, a_8bit, b_8bit},
    {MMA_F64_F64, DTYPE_F64, DTYPE_F64, DTYPE_F64, 8, 4, 1, 1, 2, a_f64, b_f64},
    {MMA_F64_F64_WIDE, DTYPE_F64, DTYPE_F64, DTYPE_F64, 16, 8, 4, 2, 4, a_tf32, b_tf32},
    {MMA_E4M3_E4M3_F32, DTYPE_F8E4NV, DTYPE_F8E4NV, DTYPE_F32, 16, 32, 16, 8, 4, a_8bit, b_8bit},
    {MMA_E4M3_E5M2_F32, DTYPE_F8E4NV, DTYPE_F8E5, DTYPE_F32, 16, 32, 16, 8, 4, a_8bit, b_8bit},
    {MMA_E5M2_E4M3_F32, DTYPE_F8E5, DTYPE_F8E4NV, DTYPE_F32, 16, 32, 16, 8, 4, a_8bit, b_8bit},
    {MMA_E5M2_E5M2_F32, DTYPE_F8E5, DTYPE_F8E5, DTYPE_F32, 16, 32, 16, 8, 4, a_8bit, b_8bit},
};

// ---- one product ----

struct product {
  const struct form *form;
  double a[16][32], b[32][8], c[16][8], d[16][8];
};

static void multiply(struct cpu_thread *t, void *const *args) {
  struct product *p = *(struct product *const *)args[0];
  const struct form *f = p->form;
  unsigned lane = (unsigned)t->thread_id % 32, g = lane / 4, i4 = lane % 4;
  double a[8], b[8], c[8]; // room for the words of any instruction
  for (unsigned i = 0; i < f->a_elements; i++) {
    struct at at = f->a_at(g, i4, i);
    dtype_store(f->a, (char *)a + i * dtype_bytes(f->a), p->a[at.row][at.col]);
  }
  for (unsigned i = 0; i < f->b_elements; i++) {
    struct at at = f->b_at(g, i4, i);
    dtype_store(f->b, (char *)b + i * dtype_bytes(f->b), p->b[at.row][at.col]);
  }
  for (unsigned i = 0; i < f->c_elements; i++) {
    struct at at = c_of(g, i4, i);
    dtype_store(f->c, (char *)c + i * dtype_bytes(f->c), p->c[at.row][at.col]);
  }
  tile_cpu_mma(t, f->id, a, b, c, c, NULL);
  for (unsigned i = 0; i < f->c_elements && t->thread_id < 32; i++) {
    struct at at = c_of(g, i4, i);
    p->d[at.row][at.col] = dtype_load(f->c, (char *)c + i * dtype_bytes(f->c));
  }
}

static tile_status launch(cpu_kernel_fn fn, unsigned warps, void *const *values, bool check) {
  struct kernel_info info = {
      .name = "multiply", .target = "cpu", .num_warps = warps, .uses_collectives = true};
  struct module *m = NULL;
  ck_assert_int_eq(module_from_cpu(device, fn, &info, NULL, NULL, &m), TILE_OK);
  tile_status s = module_launch(m, NULL, (tile_grid){1, 1, 1}, values, check ? LAUNCH_CHECKED : 0);
  module_destroy(m);
  return s;
}

static void run(struct product *p) {
  void *values[] = {&p};
  ck_assert_msg(launch(multiply, 2, values, false) == TILE_OK, "%s", tile_error_message());
}

static uint32_t seed = 7;
static double random_number(enum dtype t) {
  seed = seed * 1664525u + 1013904223u;
  double x = dtype_is_float(t) ? ((double)(seed >> 8) / (1 << 23) - 1) * 3
                               : (double)((int)(seed >> 24) - 128);
  char bytes[8];
  dtype_store(t, bytes, x);
  return dtype_load(t, bytes);
}

static double as_tf32(double x) {
  float f = (float)x;
  uint32_t bits;
  memcpy(&bits, &f, 4);
  bits &= 0xffffe000;
  memcpy(&f, &bits, 4);
  return (double)f;
}

static double operand(enum dtype t, double x) { return t == DTYPE_F32 ? as_tf32(x) : x; }

static double stored(enum dtype t, double x) {
  char bytes[8];
  dtype_store(t, bytes, x);
  return dtype_load(t, bytes);
}

// As documented in base/mma.h.
static double reference(const struct product *p, unsigned row, unsigned col) {
  const struct form *f = p->form;
  double sum = f->a == DTYPE_F64 ? p->c[row][col] : 0;
  for (unsigned k = 0; k < f->k; k++) {
    double x = operand(f->a, p->a[row][k]), y = operand(f->b, p->b[k][col]);
    sum = f->a == DTYPE_F64 ? fma(x, y, sum) : sum + x * y;
  }
  return f->a == DTYPE_F64 ? sum : stored(f->c, sum + p->c[row][col]);
}

START_TEST(every_instruction) {
  struct product p = {.form = &forms[_i]};
  ck_assert_uint_eq(COUNT_OF(forms), MMA_COUNT);
  for (unsigned round = 0; round < 3; round++) {
    for (unsigned i = 0; i < 16 * 32; i++) {
      p.a[i / 32][i % 32] = random_number(p.form->a);
      p.b[i / 16][i / 2 % 8] = random_number(p.form->b);
      p.c[i / 32][i / 4 % 8] = random_number(p.form->c);
    }
    run(&p);
    for (unsigned i = 0; i < p.form->m; i++)
      for (unsigned j = 0; j < 8; j++)
        ck_assert_msg(p.d[i][j] == reference(&p, i, j), "(%u, %u): %.17g, not %.17g", i, j,
                      p.d[i][j], reference(&p, i, j));
  }
}
END_TEST

// ---- numbers ----

static double one_element(enum mma_id id, double a0, double b0, double a1, double b1, double c) {
  static struct product p;
  memset(&p, 0, sizeof p);
  p.form = &forms[id];
  p.a[0][0] = a0;
  p.b[0][0] = b0;
  p.a[0][1] = a1;
  p.b[1][0] = b1;
  p.c[0][0] = c;
  run(&p);
  return p.d[0][0];
}

START_TEST(rounding) {
  // One rounding, at the end: adding 2^-20 alone to 16 in f32 would lose it.
  ck_assert(one_element(MMA_F16_F32, 1, 0x1p-20, 1, 0x1p-20, 16) == 16 + 0x1p-19);
  ck_assert(one_element(MMA_F16_F32, 1, 0x1p-14, 0x1p-10, 0x1p-14, 0) == 0x1p-14 + 0x1p-24);
  ck_assert(one_element(MMA_F16_F16, 1, 0x1p-11, 1, 0x1p-11, 1) == 1 + 0x1p-10);
  ck_assert(one_element(MMA_F16_F16, 1, 0x1p-11, 0, 0, 1) == 1);
  ck_assert(isinf(one_element(MMA_F16_F16, 300, 300, 0, 0, 0)));
  // tf32 drops digits beyond its 10.
  ck_assert(one_element(MMA_TF32_F32, 1 + 0x1p-10 + 0x1p-11, 1, 0, 0, 0) == 1 + 0x1p-10);
  ck_assert(one_element(MMA_F64_F64, 1 + 0x1p-30, 1 + 0x1p-30, 0, 0, -1) == 0x1p-29 + 0x1p-60);
  // 32-bit sums wrap around.
  ck_assert(one_element(MMA_S8_S32, 127, 1, 0, 0, INT32_MAX) == (double)INT32_MIN + 126);
}
END_TEST

START_TEST(special_values) {
  ck_assert(isnan(one_element(MMA_F16_F32, INFINITY, 0, 0, 0, 0)));
  ck_assert(isinf(one_element(MMA_F16_F32, INFINITY, 2, 0, 0, 0)));
  ck_assert(isinf(one_element(MMA_BF16_F32, 1, -INFINITY, 0, 0, 0)));
  ck_assert(isnan(one_element(MMA_E4M3_E5M2_F32, NAN, 1, 0, 0, 0)));
  ck_assert(isinf(one_element(MMA_E4M3_E5M2_F32, 1, INFINITY, 0, 0, 0)));
  ck_assert(isnan(one_element(MMA_TF32_F32, NAN, 1, 0, 0, 0)));
  // Subnormal operands count.
  ck_assert(one_element(MMA_F16_F32, 0x1p-24, 1, 0, 0, 0) == 0x1p-24);
  ck_assert(one_element(MMA_E4M3_E4M3_F32, -0x1p-9, 2, 0, 0, 0) == -0x1p-8);
  ck_assert(one_element(MMA_E5M2_E5M2_F32, 0x1p-16, 1, 0, 0, 0) == 0x1p-16);
}
END_TEST

// ---- divergence ----

static void words_of_some(struct cpu_thread *t, void *const *args) {
  (void)args;
  uint32_t words[16] = {0};
  if (t->thread_id % 32 != 9)
    tile_cpu_mma(t, MMA_F16_F32, words, words, words, words, NULL);
}

static void words_against_shuffle(struct cpu_thread *t, void *const *args) {
  (void)args;
  uint32_t words[16] = {0};
  if (t->thread_id % 32 >= 3)
    tile_cpu_mma(t, MMA_F16_F32, words, words, words, words, NULL);
  else
    tile_cpu_shuffle(t, 1, 0, NULL);
}

static void words_in_branches(struct cpu_thread *t, void *const *args) {
  static const struct cpu_location here = {"dot.tile", 3, 1}, there = {"dot.tile", 4, 1};
  (void)args;
  uint32_t words[16] = {0};
  tile_cpu_mma(t, MMA_F16_F32, words, words, words, words, t->thread_id % 32 == 5 ? &there : &here);
}

static void expect(cpu_kernel_fn fn, bool check, tile_status status, const char *text) {
  ck_assert_int_eq(launch(fn, 1, NULL, check), status);
  ck_assert_msg(strstr(tile_error_message(), text), "%s", tile_error_message());
}

START_TEST(all_lanes_must_come) {
  expect(words_of_some, false, TILE_LAUNCH_FAILED,
         "thread 0 waits at a matrix instruction that thread 9 does not reach (it has ended)");
  expect(words_against_shuffle, false, TILE_LAUNCH_FAILED, "thread 0 waits at a shuffle");
  expect(words_in_branches, true, TILE_CHECK_FAILED,
         "thread 5 does not reach (it waits elsewhere)");
  ck_assert_int_eq(launch(words_in_branches, 1, NULL, false), TILE_OK);
}
END_TEST

Suite *suite_cpu_tensor_core(void) {
  Suite *s = suite_create("cpu tensor core");
  TCase *t = tcase_create("products");
  tcase_add_checked_fixture(t, open_cpu, close_cpu);
  tcase_add_loop_test(t, every_instruction, 0, COUNT_OF(forms));
  tcase_add_test(t, rounding);
  tcase_add_test(t, special_values);
  tcase_add_test(t, all_lanes_must_come);
  suite_add_tcase(s, t);
  return s;
}
