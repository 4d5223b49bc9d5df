// SPDX-License-Identifier: Apache-2.0
// Matrix instructions. Fragments are built element by element by the formulas of the PTX ISA for
// each shape (groupID g = lane / 4, threadID_in_group t = lane % 4); results are compared with
// naive products.
#include "ptx-simulator/matrix.h"
#include "suites.h"

#include <string.h>

static bool decode(const char *opcode, struct matrix_mma *ret) {
  struct str parts[16], rest = str_from(opcode);
  size_t count = 0;
  do {
    rest = str_split(rest, '.', &parts[count++]);
  } while (rest.ptr && count < COUNT_OF(parts));
  return matrix_mma_decode(parts, count, ret);
}

// ---- fragments of the PTX ISA ----

struct at {
  unsigned row, col;
};
typedef struct at fragment(unsigned g, unsigned t, unsigned i);

// .f16 and .bf16
static struct at a16_k8(unsigned g, unsigned t, unsigned i) {
  return (struct at){i < 2 ? g : g + 8, t * 2 + (i & 1)};
}
static struct at b16_k8(unsigned g, unsigned t, unsigned i) { return (struct at){t * 2 + i, g}; }
static struct at a16_k16(unsigned g, unsigned t, unsigned i) {
  return (struct at){i < 2 || (i >= 4 && i < 6) ? g : g + 8, t * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
}
static struct at b16_k16(unsigned g, unsigned t, unsigned i) {
  return (struct at){t * 2 + (i & 1) + (i >= 2 ? 8 : 0), g};
}
// .tf32, and .f64 with m = 16
static struct at a32_k4(unsigned g, unsigned t, unsigned i) {
  return (struct at){i == 0 ? g : g + 8, t};
}
static struct at b32_k4(unsigned g, unsigned t, unsigned i) {
  (void)i;
  return (struct at){t, g};
}
static struct at a32_k8(unsigned g, unsigned t, unsigned i) {
  return (struct at){i == 0 || i == 2 ? g : g + 8, i < 2 ? t : t + 4};
}
static struct at b32_k8(unsigned g, unsigned t, unsigned i) {
  return (struct at){i == 0 ? t : t + 4, g};
}
static struct at a64_k16(unsigned g, unsigned t, unsigned i) {
  return (struct at){i % 2 == 0 ? g : g + 8, i / 2 * 4 + t};
}
static struct at b64_k16(unsigned g, unsigned t, unsigned i) { return (struct at){t + i * 4, g}; }
static struct at a64_m8(unsigned g, unsigned t, unsigned i) {
  (void)i;
  return (struct at){g, t};
}
// 8 bits
static struct at a8_m8(unsigned g, unsigned t, unsigned i) { return (struct at){g, t * 4 + i}; }
static struct at a8_k16(unsigned g, unsigned t, unsigned i) {
  return (struct at){i < 4 ? g : g + 8, t * 4 + (i & 3)};
}
static struct at b8_k16(unsigned g, unsigned t, unsigned i) { return (struct at){t * 4 + i, g}; }
static struct at a8_k32(unsigned g, unsigned t, unsigned i) {
  return (struct at){i < 4 || (i >= 8 && i < 12) ? g : g + 8, t * 4 + (i & 3) + (i >= 8 ? 16 : 0)};
}
static struct at b8_k32(unsigned g, unsigned t, unsigned i) {
  return (struct at){t * 4 + (i & 3) + (i >= 4 ? 16 : 0), g};
}
static struct at c_of(unsigned g, unsigned t, unsigned i) {
  return (struct at){i < 2 ? g : g + 8, t * 2 + (i & 1)};
}

#define MMA_TEXT "mma.sync.aligned."
static const struct form {
  const char *shape, *types;
  unsigned m, k;
  enum dtype a, b, c;
  fragment *a_at, *b_at;
} forms[] = {
    {"m16n8k8", "f32.f16.f16.f32", 16, 8, DTYPE_F16, DTYPE_F16, DTYPE_F32, a16_k8, b16_k8},
    {"m16n8k8", "f16.f16.f16.f16", 16, 8, DTYPE_F16, DTYPE_F16, DTYPE_F16, a16_k8, b16_k8},
    {"m16n8k16", "f32.f16.f16.f32", 16, 16, DTYPE_F16, DTYPE_F16, DTYPE_F32, a16_k16, b16_k16},
    {"m16n8k16", "f16.f16.f16.f16", 16, 16, DTYPE_F16, DTYPE_F16, DTYPE_F16, a16_k16, b16_k16},
    {"m16n8k8", "f32.bf16.bf16.f32", 16, 8, DTYPE_BF16, DTYPE_BF16, DTYPE_F32, a16_k8, b16_k8},
    {"m16n8k16", "f32.bf16.bf16.f32", 16, 16, DTYPE_BF16, DTYPE_BF16, DTYPE_F32, a16_k16, b16_k16},
    {"m16n8k4", "f32.tf32.tf32.f32", 16, 4, DTYPE_F32, DTYPE_F32, DTYPE_F32, a32_k4, b32_k4},
    {"m16n8k8", "f32.tf32.tf32.f32", 16, 8, DTYPE_F32, DTYPE_F32, DTYPE_F32, a32_k8, b32_k8},
    {"m8n8k4", "f64.f64.f64.f64", 8, 4, DTYPE_F64, DTYPE_F64, DTYPE_F64, a64_m8, b32_k4},
    {"m16n8k4", "f64.f64.f64.f64", 16, 4, DTYPE_F64, DTYPE_F64, DTYPE_F64, a32_k4, b32_k4},
    {"m16n8k8", "f64.f64.f64.f64", 16, 8, DTYPE_F64, DTYPE_F64, DTYPE_F64, a32_k8, b32_k8},
    {"m16n8k16", "f64.f64.f64.f64", 16, 16, DTYPE_F64, DTYPE_F64, DTYPE_F64, a64_k16, b64_k16},
    {"m8n8k16", "s32.s8.s8.s32", 8, 16, DTYPE_I8, DTYPE_I8, DTYPE_I32, a8_m8, b8_k16},
    {"m16n8k16", "s32.u8.s8.s32", 16, 16, DTYPE_U8, DTYPE_I8, DTYPE_I32, a8_k16, b8_k16},
    {"m16n8k32", "s32.s8.s8.s32", 16, 32, DTYPE_I8, DTYPE_I8, DTYPE_I32, a8_k32, b8_k32},
    {"m16n8k32", "s32.s8.u8.s32", 16, 32, DTYPE_I8, DTYPE_U8, DTYPE_I32, a8_k32, b8_k32},
    {"m16n8k32", "s32.u8.u8.s32", 16, 32, DTYPE_U8, DTYPE_U8, DTYPE_I32, a8_k32, b8_k32},
    {"m16n8k16", "f32.e4m3.e5m2.f32", 16, 16, DTYPE_F8E4NV, DTYPE_F8E5, DTYPE_F32, a8_k16, b8_k16},
    {"m16n8k32", "f32.e4m3.e4m3.f32", 16, 32, DTYPE_F8E4NV, DTYPE_F8E4NV, DTYPE_F32, a8_k32,
     b8_k32},
    {"m16n8k32", "f32.e5m2.e4m3.f32", 16, 32, DTYPE_F8E5, DTYPE_F8E4NV, DTYPE_F32, a8_k32, b8_k32},
    {"m16n8k32", "f16.e5m2.e5m2.f16", 16, 32, DTYPE_F8E5, DTYPE_F8E5, DTYPE_F16, a8_k32, b8_k32},
};

static struct matrix_mma get(const struct form *f, const char *more) {
  struct strbuf text = {0};
  strbuf_printf(&text, MMA_TEXT "%s.row.col.%s%s", f->shape, more, f->types);
  struct matrix_mma in;
  ck_assert_msg(decode(strbuf_cstr(&text), &in), "%s", strbuf_cstr(&text));
  strbuf_finish(&text);
  return in;
}

// ---- one product ----

struct product {
  double a[16][32], b[32][8], c[16][8], d[16][8];
};

// Puts an element into a lane's registers.
static void put(enum dtype t, double x, unsigned i, unsigned register_bits, uint64_t *words) {
  uint64_t bits = 0;
  dtype_store(t, &bits, x);
  unsigned at = i * dtype_bits(t);
  words[at / register_bits] |= bits << at % register_bits;
}

static double take(enum dtype t, const uint64_t *words, unsigned i, unsigned register_bits) {
  unsigned at = i * dtype_bits(t);
  uint64_t bits = words[at / register_bits] >> at % register_bits;
  return dtype_load(t, &bits);
}

static void run(const struct form *f, const struct matrix_mma *in, struct product *p) {
  uint64_t a[32 * MATRIX_MAX_WORDS] = {0}, b[32 * MATRIX_MAX_WORDS] = {0},
                  c[32 * MATRIX_MAX_WORDS] = {0};
  const struct mma_instruction *s = &in->shape;
  for (unsigned lane = 0; lane < 32; lane++) {
    unsigned g = lane / 4, t = lane % 4;
    for (unsigned i = 0; i < f->m * f->k / 32; i++) {
      struct at at = f->a_at(g, t, i);
      put(f->a, p->a[at.row][at.col], i, in->bits, a + lane * s->a_words);
    }
    for (unsigned i = 0; i < f->k * 8 / 32; i++) {
      struct at at = f->b_at(g, t, i);
      put(f->b, p->b[at.row][at.col], i, in->bits, b + lane * s->b_words);
    }
    for (unsigned i = 0; i < f->m * 8 / 32; i++)
      put(f->c, p->c[c_of(g, t, i).row][c_of(g, t, i).col], i, in->bits, c + lane * s->c_words);
  }
  matrix_mma_run(in, a, b, c, c);
  for (unsigned lane = 0; lane < 32; lane++)
    for (unsigned i = 0; i < f->m * 8 / 32; i++) {
      struct at at = c_of(lane / 4, lane % 4, i);
      p->d[at.row][at.col] = take(f->c, c + lane * s->c_words, i, in->bits);
    }
}

// Small integers: the result does not depend on the order of summation.
static void fill(const struct form *f, struct product *p) {
  static uint32_t seed = 7;
  double *all = &p->a[0][0];
  for (size_t i = 0; i < sizeof *p / sizeof *all; i++) {
    seed = seed * 1664525u + 1013904223u;
    bool in_operands = i < COUNT_OF(p->a) * 32 + COUNT_OF(p->b) * 8;
    bool is_u8 = f->a == DTYPE_U8 || f->b == DTYPE_U8;
    all[i] = (double)(seed >> 24) / 16 - (is_u8 && in_operands ? 0 : 8);
    all[i] = (double)(int)all[i];
  }
}

START_TEST(products) {
  const struct form *f = &forms[_i];
  struct matrix_mma in = get(f, "");
  struct product p;
  fill(f, &p);
  run(f, &in, &p);
  for (unsigned row = 0; row < f->m; row++)
    for (unsigned n = 0; n < 8; n++) {
      double sum = p.c[row][n];
      for (unsigned k = 0; k < f->k; k++)
        sum += p.a[row][k] * p.b[k][n];
      ck_assert_msg(p.d[row][n] == sum, "%s %s: %u %u is %g, not %g", f->shape, f->types, row, n,
                    p.d[row][n], sum);
    }
}
END_TEST

// One rounding: adding the small terms one by one in f32 would lose them.
START_TEST(rounded_once) {
  const struct form *f = &forms[2];
  struct matrix_mma in = get(f, "");
  struct product p = {0};
  for (unsigned k = 0; k < 16; k++) {
    p.a[3][k] = k == 0 ? 4096 : 1;
    p.b[k][5] = k == 0 ? 4096 : 1;
  }
  run(f, &in, &p);
  ck_assert(p.d[3][5] == 0x1p24 + 16); // 15, to even
}
END_TEST

START_TEST(integers_wrap_or_saturate) {
  const struct form *f = &forms[16];
  struct product p = {0};
  for (unsigned k = 0; k < 32; k++)
    p.a[0][k] = p.b[k][0] = 255;
  p.c[0][0] = INT32_MAX - 10;
  p.c[0][1] = INT32_MIN;
  struct matrix_mma in = get(f, "");
  run(f, &in, &p);
  ck_assert(p.d[0][0] == (double)INT32_MIN + 32 * 255 * 255 - 11);
  in = get(f, "satfinite.");
  run(f, &in, &p);
  ck_assert(p.d[0][0] == INT32_MAX);
  ck_assert(p.d[0][1] == INT32_MIN);
}
END_TEST

START_TEST(not_a_number) {
  struct matrix_mma in = get(&forms[2], "");
  uint64_t a[32 * 4] = {0x7c00}, b[32 * 2] = {0}, c[32 * 4] = {0}; // infinity times zero
  matrix_mma_run(&in, a, b, c, c);
  ck_assert_uint_eq(c[0], 0x7fffffff);
}
END_TEST

static const char *const refused[] = {
    "mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32",
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32",
    "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f32",
    "mma.sync.aligned.m16n8k16.row.col.f16.bf16.bf16.f16",
    "mma.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32",
    "mma.sync.aligned.m16n8k8.row.col.s32.s8.s8.s32",
    "mma.sync.aligned.m16n8k16.row.col.satfinite.f32.f16.f16.f32",
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16",
    "mma.sync.m16n8k16.row.col.f32.f16.f16.f32.f32",
};

START_TEST(refused_opcodes) {
  struct matrix_mma in;
  ck_assert_msg(!decode(refused[_i], &in), "%s", refused[_i]);
}
END_TEST

// PTX ISA, ldmatrix: row r of a matrix goes to lanes 4 r to 4 r + 3, two elements each; with
// `.trans` columns do.
START_TEST(positions) {
  for (unsigned lane = 0; lane < 32; lane++)
    for (unsigned half = 0; half < 2; half++)
      for (unsigned word = 0; word < 4; word++) {
        struct matrix_position p = matrix_b16_position(lane, word, half, false);
        ck_assert_uint_eq(p.matrix, word);
        ck_assert_uint_eq(p.row * 4 + p.column / 2, lane);
        ck_assert_uint_eq(p.column % 2, half);
        struct matrix_position q = matrix_b16_position(lane, word, half, true);
        ck_assert_uint_eq(q.row, p.column);
        ck_assert_uint_eq(q.column, p.row);
      }
}
END_TEST

TCase *matrix_tests(void) {
  TCase *t = tcase_create("matrix");
  tcase_add_loop_test(t, products, 0, COUNT_OF(forms));
  tcase_add_test(t, rounded_once);
  tcase_add_test(t, integers_wrap_or_saturate);
  tcase_add_test(t, not_a_number);
  tcase_add_loop_test(t, refused_opcodes, 0, COUNT_OF(refused));
  tcase_add_test(t, positions);
  return t;
}
