// SPDX-License-Identifier: Apache-2.0
// Constant folding against C's own arithmetic in the operation's type, on edge values and on random
// ones: whatever is folded must be right, and what C leaves undefined must not be folded.
#include "mlir-dialects/build.h"
#include "pass_session.h"
#include "suites.h"

#include <math.h>
#include <stdlib.h>

#define PAIRS 48

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 uwide;

struct folded {
  struct pass_session s;
  MlirOperation func;
  struct builder b;
  MlirValue values[8192];
  size_t count;
};

static struct folded *begin(void) {
  struct folded *f = calloc(1, sizeof(*f));
  ck_assert_ptr_nonnull(f);
  f->s = pass_session_open("module {}");
  struct ir_context *c = f->s.context.c;
  MlirLocation loc = mlirLocationUnknownGet(c->mlir);
  f->func = build_func(c, f->s.context.module, "f", 0, NULL, 0, NULL, false, loc);
  f->b = builder_at_end(c, func_entry(f->func), loc);
  return f;
}

static void keep(struct folded *f, MlirValue v) {
  ck_assert_uint_lt(f->count, COUNT_OF(f->values));
  f->values[f->count++] = v;
}

// Runs the pass; afterwards values[i] are the operands of the return. The function's type says
// nothing of them, and the verifier is not asked.
static void fold(struct folded *f) {
  build_return(&f->b, f->count, f->values);
  ck_assert_int_ne(pass_canonicalize(&f->s.context), PASS_FAILED);
  MlirOperation end = mlirBlockGetTerminator(func_entry(f->func));
  for (size_t i = 0; i < f->count; i++)
    f->values[i] = mlirOperationGetOperand(end, (intptr_t)i);
}

static void finish(struct folded *f) {
  pass_session_close(&f->s);
  free(f);
}

static uint64_t random_state;

static uint64_t next_random(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  return random_state ^= random_state << 17;
}

// ---- integers ----

static int64_t int_operand(unsigned bits, unsigned pair, unsigned which) {
  static const int64_t edges[] = {0, 1, -1, 2, 7, INT64_MIN, INT64_MAX};
  unsigned n = COUNT_OF(edges);
  int64_t v = pair < n * n - 8 ? edges[(which ? pair / n : pair) % n] : (int64_t)next_random();
  if (v == INT64_MIN || v == INT64_MAX) // of the width
    v = v == INT64_MIN ? (int64_t)(UINT64_C(1) << (bits - 1))
                       : (int64_t)((UINT64_C(1) << (bits - 1)) - 1);
  return bits == 64 ? v : (int64_t)((uint64_t)v << (64 - bits)) >> (64 - bits);
}

// The result in 128 bits, to be cut to the width; false where there is none.
static bool int_reference(enum op_id id, int64_t a, int64_t b, unsigned bits, wide *ret) {
  uwide mask = ((uwide)1 << bits) - 1;
  uwide ua = (uwide)a & mask, ub = (uwide)b & mask;
  bool overflows = b == -1 && ua == (uwide)1 << (bits - 1);
  switch (id) {
  case OP_ARITH_ADDI: *ret = (wide)a + b; return true;
  case OP_ARITH_SUBI: *ret = (wide)a - b; return true;
  case OP_ARITH_MULI: *ret = (wide)a * b; return true;
  case OP_ARITH_DIVSI: *ret = b == 0 || overflows ? 0 : a / b; return b != 0 && !overflows;
  case OP_ARITH_REMSI: *ret = b == 0 || overflows ? 0 : a % b; return b != 0 && !overflows;
  case OP_ARITH_DIVUI: *ret = ub ? (wide)(ua / ub) : 0; return ub != 0;
  case OP_ARITH_REMUI: *ret = ub ? (wide)(ua % ub) : 0; return ub != 0;
  case OP_ARITH_ANDI: *ret = a & b; return true;
  case OP_ARITH_ORI: *ret = a | b; return true;
  case OP_ARITH_XORI: *ret = a ^ b; return true;
  case OP_ARITH_SHLI: *ret = ub < bits ? (wide)(ua << ub) : 0; return ub < bits;
  case OP_ARITH_SHRSI: *ret = ub < bits ? (wide)a >> ub : 0; return ub < bits;
  case OP_ARITH_SHRUI: *ret = ub < bits ? (wide)(ua >> ub) : 0; return ub < bits;
  case OP_ARITH_MAXSI: *ret = a > b ? a : b; return true;
  case OP_ARITH_MINSI: *ret = a < b ? a : b; return true;
  case OP_ARITH_MAXUI: *ret = ua > ub ? a : b; return true;
  default: *ret = ua < ub ? a : b; return true;
  }
}

START_TEST(integers_fold_as_c_computes) {
  static const enum dtype types[] = {DTYPE_I8, DTYPE_I16, DTYPE_I32, DTYPE_I64};
  enum dtype type = types[_i];
  unsigned bits = dtype_bits(type);
  struct folded *f = begin();
  struct ir_context *c = f->s.context.c;
  random_state = 88172645463325252u + (uint64_t)_i;
  static int64_t operands[PAIRS][2];
  for (unsigned p = 0; p < PAIRS; p++) {
    operands[p][0] = int_operand(bits, p, 0);
    operands[p][1] = int_operand(bits, p, 1);
    MlirValue x = build_const_int(&f->b, mlir_of_dtype(c, type), operands[p][0]);
    MlirValue y = build_const_int(&f->b, mlir_of_dtype(c, type), operands[p][1]);
    for (enum op_id id = OP_ARITH_ADDI; id <= OP_ARITH_MINUI; id++)
      keep(f, build_binary(&f->b, id, x, y));
  }
  fold(f);
  size_t at = 0;
  for (unsigned p = 0; p < PAIRS; p++)
    for (enum op_id id = OP_ARITH_ADDI; id <= OP_ARITH_MINUI; id++, at++) {
      wide want;
      int64_t got;
      bool defined = int_reference(id, operands[p][0], operands[p][1], bits, &want);
      bool is_constant = value_const_int(c, f->values[at], &got);
      ck_assert_msg(is_constant == defined, "%s of %lld, %lld %s", op_info(id)->name,
                    (long long)operands[p][0], (long long)operands[p][1],
                    defined ? "is not folded" : "has no value and is folded");
      if (!defined)
        continue;
      int64_t cut = (int64_t)((uint64_t)want << (64 - bits)) >> (64 - bits);
      ck_assert_msg(got == cut, "%s of %lld, %lld: %lld, not %lld", op_info(id)->name,
                    (long long)operands[p][0], (long long)operands[p][1], (long long)got,
                    (long long)cut);
    }
  finish(f);
}
END_TEST

START_TEST(comparisons_fold_as_c_compares) {
  struct folded *f = begin();
  struct ir_context *c = f->s.context.c;
  random_state = 1234567;
  static int64_t operands[PAIRS][2];
  for (unsigned p = 0; p < PAIRS; p++) {
    operands[p][0] = int_operand(32, p, 0);
    operands[p][1] = int_operand(32, p, 1);
    MlirValue x = build_const_int(&f->b, mlir_of_dtype(c, DTYPE_I32), operands[p][0]);
    MlirValue y = build_const_int(&f->b, mlir_of_dtype(c, DTYPE_I32), operands[p][1]);
    for (int predicate = 0; predicate < 10; predicate++)
      keep(f, build_cmpi(&f->b, predicate, x, y));
  }
  fold(f);
  for (unsigned p = 0; p < PAIRS; p++) {
    int32_t a = (int32_t)operands[p][0], b = (int32_t)operands[p][1];
    uint32_t ua = (uint32_t)a, ub = (uint32_t)b;
    bool want[] = {a == b, a != b, a<b, a <= b, a> b, a >= b, ua<ub, ua <= ub, ua> ub, ua >= ub};
    for (int predicate = 0; predicate < 10; predicate++) {
      int64_t got = -1;
      ck_assert(value_const_int(c, f->values[p * 10 + (unsigned)predicate], &got));
      ck_assert_msg(got == want[predicate], "predicate %d of %d, %d", predicate, a, b);
    }
  }
  finish(f);
}
END_TEST

// ---- floats ----

static float float_operand(unsigned i) {
  static const float edges[] = {0.0f, -0.0f,  1.0f,    -1.5f,       INFINITY, -INFINITY,
                                NAN,  1e-42f, 3.4e38f, 16777217.0f, 0.1f,     -1e-38f};
  if (i < COUNT_OF(edges))
    return edges[i];
  uint32_t bits = (uint32_t)next_random();
  float f;
  memcpy(&f, &bits, sizeof(f));
  return f;
}

static float float_reference(enum op_id id, float a, float b) {
  switch (id) {
  case OP_ARITH_ADDF: return a + b;
  case OP_ARITH_SUBF: return a - b;
  case OP_ARITH_MULF: return a * b;
  case OP_ARITH_DIVF: return a / b;
  case OP_ARITH_REMF: return fmodf(a, b);
  case OP_ARITH_MAXNUMF: return fmaxf(a, b);
  case OP_ARITH_MINNUMF: return fminf(a, b);
  case OP_ARITH_MAXIMUMF: return isnan(a) || isnan(b) ? NAN : fmaxf(a, b);
  default: return isnan(a) || isnan(b) ? NAN : fminf(a, b);
  }
}

START_TEST(floats_fold_as_c_computes) {
  struct folded *f = begin();
  struct ir_context *c = f->s.context.c;
  enum { N = 24 };
  static const enum op_id ids[] = {OP_ARITH_ADDF,    OP_ARITH_SUBF,     OP_ARITH_MULF,
                                   OP_ARITH_DIVF,    OP_ARITH_REMF,     OP_ARITH_MAXNUMF,
                                   OP_ARITH_MINNUMF, OP_ARITH_MAXIMUMF, OP_ARITH_MINIMUMF};
  random_state = 99;
  float x[N];
  MlirValue v[N];
  for (unsigned i = 0; i < N; i++) {
    x[i] = float_operand(i);
    v[i] = build_const_float(&f->b, mlir_of_dtype(c, DTYPE_F32), (double)x[i]);
  }
  for (unsigned i = 0; i < N * N; i++)
    for (size_t o = 0; o < COUNT_OF(ids); o++)
      keep(f, build_binary(&f->b, ids[o], v[i / N], v[i % N]));
  fold(f);
  size_t at = 0;
  for (unsigned i = 0; i < N * N; i++)
    for (size_t o = 0; o < COUNT_OF(ids); o++, at++) {
      double got;
      float a = x[i / N], b = x[i % N], want = float_reference(ids[o], a, b);
      ck_assert_msg(value_const_float(c, f->values[at], &got), "%s of %g, %g is not folded",
                    op_info(ids[o])->name, (double)a, (double)b);
      bool zeros = a == 0 && b == 0; // fmaxf may answer either zero
      bool same = isnan(want) ? isnan(got)
                              : got == (double)want && (zeros || !signbit(got) == !signbit(want));
      ck_assert_msg(same, "%s of %a, %a: %a, not %a", op_info(ids[o])->name, (double)a, (double)b,
                    got, (double)want);
    }
  finish(f);
}
END_TEST

// Predicates by their meaning, not by their bits.
static bool compare_reference(int predicate, float a, float b) {
  bool unordered = isnan(a) || isnan(b);
  switch (predicate) {
  case 1: return !unordered && a == b;
  case 2: return !unordered && a > b;
  case 3: return !unordered && a >= b;
  case 4: return !unordered && a < b;
  case 5: return !unordered && a <= b;
  case 6: return !unordered && a != b;
  case 7: return !unordered;
  case 8: return unordered || a == b;
  case 9: return unordered || a > b;
  case 10: return unordered || a >= b;
  case 11: return unordered || a < b;
  case 12: return unordered || a <= b;
  case 13: return unordered || a != b;
  case 14: return unordered;
  default: return predicate == 15;
  }
}

START_TEST(float_comparisons_fold_as_c_compares) {
  struct folded *f = begin();
  struct ir_context *c = f->s.context.c;
  static const float x[] = {0.0f, -0.0f, 1.0f, -2.0f, INFINITY, NAN};
  enum { N = 6 };
  MlirValue v[N];
  for (unsigned i = 0; i < N; i++)
    v[i] = build_const_float(&f->b, mlir_of_dtype(c, DTYPE_F32), (double)x[i]);
  for (unsigned i = 0; i < N * N; i++)
    for (int predicate = 0; predicate < 16; predicate++)
      keep(f, build_cmpf(&f->b, predicate, v[i / N], v[i % N]));
  fold(f);
  for (unsigned i = 0; i < N * N; i++)
    for (int predicate = 0; predicate < 16; predicate++) {
      int64_t got = -1;
      ck_assert(value_const_int(c, f->values[i * 16 + (unsigned)predicate], &got));
      ck_assert_msg(got == compare_reference(predicate, x[i / N], x[i % N]),
                    "predicate %d of %g, %g", predicate, (double)x[i / N], (double)x[i % N]);
    }
  finish(f);
}
END_TEST

START_TEST(conversions_fold_as_c_converts) {
  struct folded *f = begin();
  struct ir_context *c = f->s.context.c;
  MlirType f32 = mlir_of_dtype(c, DTYPE_F32), i32 = mlir_of_dtype(c, DTYPE_I32);
  MlirType i8 = mlir_of_dtype(c, DTYPE_I8), i64 = mlir_of_dtype(c, DTYPE_I64);
  MlirValue big = build_const_int(&f->b, i32, 16777217), minus = build_const_int(&f->b, i8, -1);
  MlirValue half = build_const_float(&f->b, f32, -2.5), huge = build_const_float(&f->b, f32, 3e9);
  keep(f, build_cast(&f->b, OP_ARITH_SITOFP, big, f32));
  keep(f, build_cast(&f->b, OP_ARITH_UITOFP, minus, f32));
  keep(f, build_cast(&f->b, OP_ARITH_EXTSI, minus, i64));
  keep(f, build_cast(&f->b, OP_ARITH_EXTUI, minus, i64));
  keep(f, build_cast(&f->b, OP_ARITH_FPTOSI, half, i32));
  keep(f, build_cast(&f->b, OP_ARITH_FPTOSI, huge, i32)); // out of range: no value
  keep(f, build_cast(&f->b, OP_ARITH_FPTOUI, huge, i32));
  keep(f, build_cast(&f->b, OP_ARITH_TRUNCF, build_const_float(&f->b, f32, 65520.0),
                     mlir_of_dtype(c, DTYPE_F16)));
  keep(f, build_cast(&f->b, OP_TILE_BITCAST, half, i32));
  keep(f, build_cast(&f->b, OP_TILE_BITCAST, build_const_int(&f->b, i32, 0x3f800000), f32));
  fold(f);
  int64_t i;
  double d;
  ck_assert(value_const_float(c, f->values[0], &d) && d == 16777216.0);
  ck_assert(value_const_float(c, f->values[1], &d) && d == 255.0);
  ck_assert(value_const_int(c, f->values[2], &i) && i == -1);
  ck_assert(value_const_int(c, f->values[3], &i) && i == 255);
  ck_assert(value_const_int(c, f->values[4], &i) && i == -2);
  ck_assert(!value_const_int(c, f->values[5], &i));
  ck_assert(value_const_int(c, f->values[6], &i) && (uint32_t)i == 3000000000u);
  ck_assert(value_const_float(c, f->values[7], &d) && isinf(d));
  ck_assert(value_const_int(c, f->values[8], &i) && (uint32_t)i == 0xc0200000u);
  ck_assert(value_const_float(c, f->values[9], &d) && d == 1.0);
  finish(f);
}
END_TEST

TCase *canonicalize_tests(void) {
  TCase *t = tcase_create("canonicalize");
  tcase_add_loop_test(t, integers_fold_as_c_computes, 0, 4);
  tcase_add_test(t, comparisons_fold_as_c_compares);
  tcase_add_test(t, floats_fold_as_c_computes);
  tcase_add_test(t, float_comparisons_fold_as_c_compares);
  tcase_add_test(t, conversions_fold_as_c_converts);
  return t;
}
