// SPDX-License-Identifier: Apache-2.0
// Emission: small kernels written as tilegpu IR are compiled for the CPU and run there, so that
// lowerings are judged by what they compute. Layouts: test_emit_layouts.c; PTX: tests/ptx.
#include "cpu_run.h"
#include "suites.h"

#include <math.h>
#include <stdlib.h>

static struct cpu_run run;
static void open_run(void) { cpu_run_open(&run); }
static void close_run(void) { cpu_run_close(&run); }

// ---- scalar operations ----

// %a, %b, %c are loaded from `in`, %r is stored to `out`.
static const char *scalar_kernel(const char *in, const char *out, const char *body) {
  return arena_printf(
      run.arena,
      "module { func.func @k(%%p: !tile.ptr<%s>, %%q: !tile.ptr<%s>) attributes {tile.kernel} {\n"
      "%%c1 = arith.constant 1 : i32\n%%c2 = arith.constant 2 : i32\n"
      "%%p1 = \"tile.addptr\"(%%p, %%c1) : (!tile.ptr<%s>, i32) -> !tile.ptr<%s>\n"
      "%%p2 = \"tile.addptr\"(%%p, %%c2) : (!tile.ptr<%s>, i32) -> !tile.ptr<%s>\n"
      "%%a = \"tile.load\"(%%p) {cache = \"\", evict = \"\", is_volatile = false, "
      "operandSegmentSizes = array<i32: 1, 0, 0>} : (!tile.ptr<%s>) -> %s\n"
      "%%b = \"tile.load\"(%%p1) {cache = \"\", evict = \"\", is_volatile = false, "
      "operandSegmentSizes = array<i32: 1, 0, 0>} : (!tile.ptr<%s>) -> %s\n"
      "%%c = \"tile.load\"(%%p2) {cache = \"\", evict = \"\", is_volatile = false, "
      "operandSegmentSizes = array<i32: 1, 0, 0>} : (!tile.ptr<%s>) -> %s\n"
      "%s\n\"tile.store\"(%%q, %%r) {cache = \"\", evict = \"\"} : (!tile.ptr<%s>, %s) -> ()\n"
      "return } }\n",
      in, out, in, in, in, in, in, in, in, in, in, in, body, out, out);
}

#define I32(op) "%r = " op " %a, %b : i32"
#define NAN_ ((double)NAN)
#define INF ((double)INFINITY)

static const struct {
  const char *in, *out, *body;
  double a, b, c, want;
} scalars[] = {
    {"i32", "i32", I32("arith.addi"), 2147483647, 1, 0, -2147483648.0},
    {"i32", "i32", I32("arith.subi"), 3, 5, 0, -2},
    {"i32", "i32", I32("arith.muli"), -7, 6, 0, -42},
    {"i32", "i32", I32("arith.divsi"), -7, 2, 0, -3},
    {"i32", "i32", I32("arith.divsi"), 7, 0, 0, -1},
    {"i32", "i32", I32("arith.divsi"), -2147483648.0, -1, 0, -2147483648.0},
    {"i32", "i32", I32("arith.remsi"), -7, 2, 0, -1},
    {"i32", "i32", I32("arith.remsi"), -2147483648.0, -1, 0, 0},
    {"i32", "i32", I32("arith.remsi"), 9, 0, 0, 9},
    {"i32", "i32", I32("arith.divui"), -2, 2, 0, 2147483647},
    {"i32", "i32", I32("arith.remui"), -1, 10, 0, 5},
    {"i32", "i32", I32("arith.andi"), 12, 10, 0, 8},
    {"i32", "i32", I32("arith.ori"), 12, 10, 0, 14},
    {"i32", "i32", I32("arith.xori"), 12, 10, 0, 6},
    {"i32", "i32", I32("arith.shli"), 3, 4, 0, 48},
    {"i32", "i32", I32("arith.shrsi"), -16, 2, 0, -4},
    {"i32", "i32", I32("arith.shrui"), -16, 28, 0, 15},
    {"i32", "i32", I32("arith.maxsi"), -1, 1, 0, 1},
    {"i32", "i32", I32("arith.maxui"), -1, 1, 0, -1},
    {"i32", "i32", I32("arith.minsi"), -1, 1, 0, -1},
    {"i32", "i32", I32("arith.minui"), -1, 1, 0, 1},
    {"i32", "i32", "%r = math.absi %a : i32", -5, 0, 0, 5},
    {"i32", "i32", "%r = \"tile.mulhiui\"(%a, %b) : (i32, i32) -> i32", -1, -1, 0, -2},
    {"i32", "i1", "%r = arith.cmpi slt, %a, %b : i32", -1, 1, 0, 1},
    {"i32", "i1", "%r = arith.cmpi ult, %a, %b : i32", -1, 1, 0, 0},
    {"i32", "i1", "%r = arith.cmpi uge, %a, %b : i32", -1, 1, 0, 1},
    {"i32", "i64", "%r = arith.extsi %a : i32 to i64", -3, 0, 0, -3},
    {"i32", "i64", "%r = arith.extui %a : i32 to i64", -3, 0, 0, 4294967293.0},
    {"i32", "i8", "%r = arith.trunci %a : i32 to i8", 300, 0, 0, 44},
    {"i32", "f32", "%r = arith.sitofp %a : i32 to f32", -3, 0, 0, -3},
    {"i32", "f32", "%r = arith.uitofp %a : i32 to f32", -1, 0, 0, 4294967296.0},
    {"f32", "i32", "%r = arith.fptosi %a : f32 to i32", -3.9, 0, 0, -3},
    {"f32", "i32", "%r = arith.fptoui %a : f32 to i32", 3e9, 0, 0, -1294967296.0},
    {"f32", "i32", "%r = arith.bitcast %a : f32 to i32", 1, 0, 0, 1065353216},
    {"f32", "f32", "%r = arith.addf %a, %b : f32", 1.5, 2.25, 0, 3.75},
    {"f32", "f32", "%r = arith.subf %a, %b : f32", 1.5, 2.25, 0, -0.75},
    {"f32", "f32", "%r = arith.divf %a, %b : f32", 1, -4, 0, -0.25},
    {"f32", "f32", "%r = arith.remf %a, %b : f32", -7.5, 2, 0, -1.5},
    {"f32", "f32", "%r = arith.negf %a : f32", 2, 0, 0, -2},
    {"f32", "f32", "%r = math.absf %a : f32", -2.5, 0, 0, 2.5},
    {"f32", "f32", "%r = math.ceil %a : f32", -2.5, 0, 0, -2},
    {"f32", "f32", "%r = math.floor %a : f32", -2.5, 0, 0, -3},
    {"f32", "f32", "%r = math.fma %a, %b, %c : f32", 3, 4, 5, 17},
    {"f32", "f32", "%r = math.exp2 %a : f32", 3, 0, 0, 8},
    {"f32", "f32", "%r = math.log2 %a : f32", 8, 0, 0, 3},
    {"f32", "f32", "%r = math.sqrt %a : f32", 9, 0, 0, 3},
    {"f32", "f32", "%r = math.rsqrt %a : f32", 16, 0, 0, 0.25},
    {"f32", "f32", "%r = math.tanh %a : f32", 30, 0, 0, 1},
    {"f64", "f64", "%r = math.sqrt %a : f64", 2, 0, 0, 1.4142135623730951},
    {"f16", "f16", "%r = math.sqrt %a : f16", 9, 0, 0, 3},
    {"f16", "f16", "%r = arith.divf %a, %b : f16", 1, 4, 0, 0.25},
    {"bf16", "bf16", "%r = arith.mulf %a, %b : bf16", 3, 5, 0, 15},
    {"f32", "f32", "%r = arith.maxnumf %a, %b : f32", NAN_, 2, 0, 2},
    {"f32", "f32", "%r = arith.minnumf %a, %b : f32", 1, NAN_, 0, 1},
    {"f32", "f32", "%r = arith.maximumf %a, %b : f32", NAN_, 2, 0, NAN_},
    {"f32", "f32", "%r = arith.minimumf %a, %b : f32", 1, NAN_, 0, NAN_},
    {"f32", "f32",
     "%r = \"tile.clampf\"(%a, %b, %c) {propagate_nan = false} : (f32, f32, f32) -> "
     "f32",
     9, 0, 4, 4},
    {"f32", "f32",
     "%r = \"tile.clampf\"(%a, %b, %c) {propagate_nan = true} : (f32, f32, f32) -> "
     "f32",
     NAN_, 0, 4, NAN_},
    {"f32", "f32", "%r = \"tile.precise_sqrt\"(%a) : (f32) -> f32", 2, 0, 0,
     1.41421353816986083984},
    {"f32", "f32", "%r = \"tile.precise_divf\"(%a, %b) : (f32, f32) -> f32", 1, 3, 0,
     0.3333333432674407958984},
    {"f32", "i1", "%r = arith.cmpf olt, %a, %b : f32", NAN_, 1, 0, 0},
    {"f32", "i1", "%r = arith.cmpf une, %a, %b : f32", NAN_, 1, 0, 1},
    {"f32", "i1", "%r = arith.cmpf uno, %a, %b : f32", NAN_, 1, 0, 1},
    {"f32", "i1", "%r = arith.cmpf une, %a, %b : f32", 3, 2, 0, 1},
    {"f32", "i1", "%r = arith.cmpf une, %a, %b : f32", 3, 3, 0, 0},
    {"f32", "i1", "%r = arith.cmpf une, %a, %b : f32", 3, 4, 0, 1},
    {"f32", "i1", "%r = arith.cmpf ueq, %a, %b : f32", 3, 2, 0, 0},
    {"f32", "i1", "%r = arith.cmpf ueq, %a, %b : f32", 3, 3, 0, 1},
    {"f32", "i1", "%r = arith.cmpf ueq, %a, %b : f32", 3, 4, 0, 0},
    {"f32", "i1", "%r = arith.cmpf ugt, %a, %b : f32", 3, 2, 0, 1},
    {"f32", "i1", "%r = arith.cmpf ugt, %a, %b : f32", 3, 3, 0, 0},
    {"f32", "i1", "%r = arith.cmpf ugt, %a, %b : f32", 3, 4, 0, 0},
    {"f32", "i1", "%r = arith.cmpf uge, %a, %b : f32", 3, 2, 0, 1},
    {"f32", "i1", "%r = arith.cmpf uge, %a, %b : f32", 3, 3, 0, 1},
    {"f32", "i1", "%r = arith.cmpf uge, %a, %b : f32", 3, 4, 0, 0},
    {"f32", "i1", "%r = arith.cmpf ult, %a, %b : f32", 3, 2, 0, 0},
    {"f32", "i1", "%r = arith.cmpf ult, %a, %b : f32", 3, 3, 0, 0},
    {"f32", "i1", "%r = arith.cmpf ult, %a, %b : f32", 3, 4, 0, 1},
    {"f32", "i1", "%r = arith.cmpf ule, %a, %b : f32", 3, 2, 0, 0},
    {"f32", "i1", "%r = arith.cmpf ule, %a, %b : f32", 3, 3, 0, 1},
    {"f32", "i1", "%r = arith.cmpf ule, %a, %b : f32", 3, 4, 0, 1},
    {"f32", "i1", "%r = arith.cmpf uno, %a, %b : f32", 3, 2, 0, 0},
    {"f32", "i1", "%r = arith.cmpf uno, %a, %b : f32", 3, 3, 0, 0},
    {"f32", "i1", "%r = arith.cmpf uno, %a, %b : f32", 3, 4, 0, 0},
    {"f32", "i1", "%r = arith.cmpf one, %a, %b : f32", 3, 2, 0, 1},
    {"f32", "i1", "%r = arith.cmpf one, %a, %b : f32", 3, 3, 0, 0},
    {"f32", "i1", "%r = arith.cmpf one, %a, %b : f32", 3, 4, 0, 1},
    {"f32", "f16", "%r = arith.truncf %a : f32 to f16", 1.00048828125, 0, 0, 1},
    {"f32", "bf16", "%r = arith.truncf %a : f32 to bf16", 1.01171875, 0, 0, 1.015625},
    {"f32", "f16", "%r = \"tile.fp_to_fp\"(%a) {rounding = \"rtz\"} : (f32) -> f16", 65519.9, 0, 0,
     65504},
    {"f32", "f16", "%r = \"tile.fp_to_fp\"(%a) {rounding = \"rtz\"} : (f32) -> f16", -1e30, 0, 0,
     -65504},
    {"f32", "f16", "%r = \"tile.fp_to_fp\"(%a) {rounding = \"rtz\"} : (f32) -> f16", INF, 0, 0,
     INF},
    {"f32", "bf16", "%r = \"tile.fp_to_fp\"(%a) {rounding = \"rtz\"} : (f32) -> bf16", 1.01171875,
     0, 0, 1.0078125},
    {"f64", "f64", "%r = arith.remf %a, %b : f64", 1e300, 7, 0, 1},
};

START_TEST(scalars_compute_what_they_say) {
  enum dtype in, out;
  ck_assert(dtype_parse(str_from(scalars[_i].in), &in));
  ck_assert(dtype_parse(str_from(scalars[_i].out), &out));
  uint64_t x[3] = {0}, y = 0;
  const double values[] = {scalars[_i].a, scalars[_i].b, scalars[_i].c};
  for (size_t i = 0; i < 3; i++)
    dtype_store(in, (char *)x + i * dtype_bytes(in), values[i]);
  void *p = x, *q = &y, *args[] = {&p, &q};
  const char *ir = scalar_kernel(scalars[_i].in, scalars[_i].out, scalars[_i].body);
  ck_assert_int_eq(cpu_run_ir(&run, ir, 1, 1, false, args), TILE_OK);
  double got = dtype_load(out, &y), want = scalars[_i].want;
  ck_assert_msg((isnan(got) && isnan(want)) || got == want, "%s: got %.17g, want %.17g",
                scalars[_i].body, got, want);
}
END_TEST

// ---- 8-bit floats, against base/dtype.c ----

static const char *cast_kernel(const char *from, const char *to, unsigned n) {
  return arena_printf(
      run.arena,
      "#L = #tilegpu.blocked<{order = [0], size_per_thread = [4], threads_per_warp = [32], "
      "warps_per_cta = [1]}>\n"
      "module { func.func @k(%%p: !tile.ptr<%s>, %%q: !tile.ptr<%s>) attributes {tile.kernel} {\n"
      "%%i = \"tile.make_range\"() {start = 0 : i32, end = %u : i32} : () -> tensor<%uxi32, #L>\n"
      "%%ps = \"tile.splat\"(%%p) : (!tile.ptr<%s>) -> tensor<%ux!tile.ptr<%s>, #L>\n"
      "%%pa = \"tile.addptr\"(%%ps, %%i) : (tensor<%ux!tile.ptr<%s>, #L>, tensor<%uxi32, #L>) -> "
      "tensor<%ux!tile.ptr<%s>, #L>\n"
      "%%x = \"tile.load\"(%%pa) {cache = \"\", evict = \"\", is_volatile = false, "
      "operandSegmentSizes = array<i32: 1, 0, 0>} : (tensor<%ux!tile.ptr<%s>, #L>) -> "
      "tensor<%ux%s, #L>\n"
      "%%y = \"tile.fp_to_fp\"(%%x) {rounding = \"rtne\"} : (tensor<%ux%s, #L>) -> "
      "tensor<%ux%s, #L>\n"
      "%%qs = \"tile.splat\"(%%q) : (!tile.ptr<%s>) -> tensor<%ux!tile.ptr<%s>, #L>\n"
      "%%qa = \"tile.addptr\"(%%qs, %%i) : (tensor<%ux!tile.ptr<%s>, #L>, tensor<%uxi32, #L>) -> "
      "tensor<%ux!tile.ptr<%s>, #L>\n"
      "\"tile.store\"(%%qa, %%y) {cache = \"\", evict = \"\"} : (tensor<%ux!tile.ptr<%s>, #L>, "
      "tensor<%ux%s, #L>) -> ()\n"
      "return } }\n",
      from, to, n, n, from, n, from, n, from, n, n, from, n, from, n, from, n, from, n, to, to, n,
      to, n, to, n, n, to, n, to, n, to);
}

static bool same_bits_or_nan(enum dtype t, const void *a, const void *b) {
  return memcmp(a, b, dtype_bytes(t)) == 0 || (isnan(dtype_load(t, a)) && isnan(dtype_load(t, b)));
}

static const struct {
  enum dtype type;
  const char *mlir;
} fp8s[] = {{DTYPE_F8E5, "f8E5M2"}, {DTYPE_F8E4NV, "f8E4M3FN"}};

static const struct {
  enum dtype type;
  const char *mlir;
} wides[] = {{DTYPE_F32, "f32"}, {DTYPE_F16, "f16"}, {DTYPE_BF16, "bf16"}, {DTYPE_F64, "f64"}};

START_TEST(every_fp8_is_decoded) {
  uint8_t in[256];
  for (unsigned i = 0; i < 256; i++)
    in[i] = (uint8_t)i;
  for (size_t f = 0; f < COUNT_OF(fp8s); f++)
    for (size_t w = 0; w < COUNT_OF(wides); w++) {
      enum dtype t = wides[w].type;
      double out[256], want;
      void *p = in, *q = out, *args[] = {&p, &q};
      ck_assert_int_eq(
          cpu_run_ir(&run, cast_kernel(fp8s[f].mlir, wides[w].mlir, 256), 1, 1, false, args),
          TILE_OK);
      for (unsigned i = 0; i < 256; i++) {
        dtype_store(t, &want, dtype_load(fp8s[f].type, &in[i]));
        ck_assert_msg(same_bits_or_nan(t, (char *)out + i * dtype_bytes(t), &want), "%s %#x to %s",
                      fp8s[f].mlir, i, wides[w].mlir);
      }
    }
}
END_TEST

// Every value of either format, the points halfway between neighbours, and what lies just beside
// these; the ends of the range; in each wide type.
START_TEST(fp8_encoding_rounds_once) {
  enum { COUNT = 2048 };
  static double wide[COUNT];
  static uint8_t in[COUNT * 8], out[COUNT];
  for (size_t f = 0; f < COUNT_OF(fp8s); f++) {
    size_t n = 0;
    for (unsigned i = 0; i < 126; i++) {
      uint8_t low = (uint8_t)i, high = (uint8_t)(i + 1);
      double x = dtype_load(fp8s[f].type, &low), y = dtype_load(fp8s[f].type, &high);
      if (!isfinite(y))
        y = 2 * x - dtype_load(fp8s[f].type, &(uint8_t){(uint8_t)(i - 1)});
      double middle = (x + y) / 2;
      const double near[] = {x,
                             middle,
                             nextafter(middle, 0),
                             nextafter(middle, INF),
                             (double)nextafterf((float)middle, 0),
                             (double)nextafterf((float)middle, INFINITY),
                             -middle};
      for (size_t k = 0; k < COUNT_OF(near) && isfinite(x); k++)
        wide[n++] = near[k];
    }
    const double ends[] = {INF, -INF, NAN_, -0.0, 1e300, 1e-300, -1e-40, 465, 61440, 65504};
    for (size_t k = 0; k < COUNT_OF(ends); k++)
      wide[n++] = ends[k];
    ck_assert(n <= COUNT);
    for (size_t w = 0; w < COUNT_OF(wides); w++) {
      enum dtype t = wides[w].type;
      for (size_t i = 0; i < n; i++)
        dtype_store(t, in + i * dtype_bytes(t), wide[i]);
      void *p = in, *q = out, *args[] = {&p, &q};
      ck_assert_int_eq(
          cpu_run_ir(&run, cast_kernel(wides[w].mlir, fp8s[f].mlir, COUNT), 1, 1, false, args),
          TILE_OK);
      for (size_t i = 0; i < n; i++) {
        uint8_t want;
        double x = dtype_load(t, in + i * dtype_bytes(t));
        dtype_store(fp8s[f].type, &want, x);
        ck_assert_msg(same_bits_or_nan(fp8s[f].type, &out[i], &want), "%s %a to %s: %#x, want %#x",
                      wides[w].mlir, x, fp8s[f].mlir, out[i], want);
      }
    }
  }
}
END_TEST

// ---- control flow ----

START_TEST(loops_and_branches) {
  static const char ir[] =
      "module { func.func @k(%p: !tile.ptr<i32>, %n: i32) attributes {tile.kernel} {\n"
      "%c0 = arith.constant 0 : i32\n%c1 = arith.constant 1 : i32\n%c2 = arith.constant 2 : i32\n"
      "%sum = scf.for %i = %c0 to %n step %c2 iter_args(%acc = %c0) -> (i32) : i32 {\n"
      "  %big = arith.cmpi sgt, %i, %c2 : i32\n"
      "  %add = scf.if %big -> (i32) { %t = arith.muli %i, %c2 : i32\n scf.yield %t : i32 }\n"
      "         else { scf.yield %i : i32 }\n"
      "  %next = arith.addi %acc, %add : i32\n"
      "  scf.yield %next : i32 }\n"
      "%log:2 = scf.while (%x = %sum, %k = %c0) : (i32, i32) -> (i32, i32) {\n"
      "  %more = arith.cmpi sgt, %x, %c1 : i32\n"
      "  scf.condition(%more) %x, %k : i32, i32\n"
      "} do { ^bb0(%y: i32, %m: i32):\n"
      "  %half = arith.shrsi %y, %c1 : i32\n %m1 = arith.addi %m, %c1 : i32\n"
      "  scf.yield %half, %m1 : i32, i32 }\n"
      "\"tile.store\"(%p, %sum) {cache = \"\", evict = \"\"} : (!tile.ptr<i32>, i32) -> ()\n"
      "%p1 = \"tile.addptr\"(%p, %c1) : (!tile.ptr<i32>, i32) -> !tile.ptr<i32>\n"
      "\"tile.store\"(%p1, %log#1) {cache = \"\", evict = \"\"} : (!tile.ptr<i32>, i32) -> ()\n"
      "return } }\n";
  int32_t out[2] = {-1, -1}, n = 9;
  void *p = out, *args[] = {&p, &n};
  ck_assert_int_eq(cpu_run_ir(&run, ir, 4, 1, true, args), TILE_OK);
  ck_assert_int_eq(out[0], 0 + 2 + 8 + 12 + 16);
  ck_assert_int_eq(out[1], 5); // log2 of 38
  n = 0;
  ck_assert_int_eq(cpu_run_ir(&run, ir, 4, 1, true, args), TILE_OK);
  ck_assert_int_eq(out[0], 0);
  ck_assert_int_eq(out[1], 0);
}
END_TEST

// ---- masks, checks ----

#define COPY_IR(other)                                                                             \
  "#L = #tilegpu.blocked<{order = [0], size_per_thread = [4], threads_per_warp = [32], "           \
  "warps_per_cta = [1]}>\n"                                                                        \
  "module { func.func @copy(%p: !tile.ptr<f16> {tile.divisibility = 16 : i32, tile.name = \"x\"}," \
  " %q: !tile.ptr<f16> {tile.divisibility = 16 : i32, tile.name = \"out\"}, %n: i32) attributes "  \
  "{tile.kernel} {\n"                                                                              \
  "%i = \"tile.make_range\"() {start = 0 : i32, end = 128 : i32} : () -> tensor<128xi32, #L>\n"    \
  "%ns = \"tile.splat\"(%n) : (i32) -> tensor<128xi32, #L>\n"                                      \
  "%m = arith.cmpi slt, %i, %ns : tensor<128xi32, #L>\n"                                           \
  "%o = arith.constant dense<7.0> : tensor<128xf16, #L>\n"                                         \
  "%ps = \"tile.splat\"(%p) : (!tile.ptr<f16>) -> tensor<128x!tile.ptr<f16>, #L>\n"                \
  "%pa = \"tile.addptr\"(%ps, %i) : (tensor<128x!tile.ptr<f16>, #L>, tensor<128xi32, #L>) -> "     \
  "tensor<128x!tile.ptr<f16>, #L>\n"                                                               \
  "%x = \"tile.load\"(%pa, %m" other "tensor<128x!tile.ptr<f16>, #L>, tensor<128xi1, #L>"

#define COPY_END                                                                                   \
  ") -> tensor<128xf16, #L>\n"                                                                     \
  "%qs = \"tile.splat\"(%q) : (!tile.ptr<f16>) -> tensor<128x!tile.ptr<f16>, #L>\n"                \
  "%qa = \"tile.addptr\"(%qs, %i) : (tensor<128x!tile.ptr<f16>, #L>, tensor<128xi32, #L>) -> "     \
  "tensor<128x!tile.ptr<f16>, #L>\n"                                                               \
  "\"tile.store\"(%qa, %x) {cache = \"\", evict = \"\"} : (tensor<128x!tile.ptr<f16>, #L>, "       \
  "tensor<128xf16, #L>) -> ()\n"                                                                   \
  "return } }\n"

static const char copy_zero[] =
    COPY_IR(") {cache = \"\", evict = \"\", is_volatile = false, operandSegmentSizes = array<i32: "
            "1, 1, 0>} : (") COPY_END;
static const char copy_other[] =
    COPY_IR(", %o) {cache = \"\", evict = \"\", is_volatile = false, operandSegmentSizes = "
            "array<i32: 1, 1, 1>} : (") ", tensor<128xf16, #L>" COPY_END;

START_TEST(masked_off_lanes_are_other_or_zero) {
  uint16_t x[128], out[128];
  for (int32_t n = 0; n <= 128; n += 37) {
    for (int i = 0; i < 128; i++)
      x[i] = (uint16_t)(0x3c00 + i);
    void *p = x, *q = out, *args[] = {&p, &q, &n};
    ck_assert_int_eq(cpu_run_ir(&run, copy_zero, 1, 1, false, args), TILE_OK);
    for (int i = 0; i < 128; i++)
      ck_assert_int_eq(out[i], i < n ? x[i] : 0);
    ck_assert_int_eq(cpu_run_ir(&run, copy_other, 1, 1, false, args), TILE_OK);
    for (int i = 0; i < 128; i++)
      ck_assert_int_eq(out[i], i < n ? x[i] : 0x4700);
  }
}
END_TEST

START_TEST(checks_name_location_and_parameter) {
  tile_device *d = run.device;
  void *x, *out;
  ck_assert_int_eq(tile_malloc(d, 256, &x), TILE_OK);
  ck_assert_int_eq(tile_malloc(d, 200, &out), TILE_OK); // 100 elements
  int32_t n = 128;
  void *args[] = {&x, &out, &n};
  ck_assert_int_eq(cpu_run_ir(&run, copy_zero, 1, 1, true, args), TILE_CHECK_FAILED);
  const struct cpu_violation *v;
  uint64_t total;
  size_t count = device_violations(d, &v, &total);
  ck_assert_uint_gt(count, 0);
  ck_assert_int_eq(v[0].access, CPU_STORE);
  ck_assert_int_eq(v[0].param, 1);
  ck_assert_int_eq(v[0].element, 100);
  ck_assert_str_eq(v[0].location.file, "test.mlir");
  ck_assert_uint_eq(v[0].location.line, 12);
  tile_free(d, x);
  tile_free(d, out);
}
END_TEST

// ---- what cannot be compiled ----

static void expect_code(const char *ir, const char *target, uint32_t warps, enum diag_code code) {
  struct compile_result r;
  ck_assert(!cpu_run_compile(&run, ir, target, warps, EMIT_LLVM, false, &r));
  ck_assert_str_eq(diag_code_name(diag_first_error_code(run.diag)), diag_code_name(code));
}

START_TEST(failures_are_diagnostics) {
  expect_code("module { func.func @f() { return } }", "sm_80", 4, E0604);
  expect_code("module { func.func @f() attributes {tile.kernel} { return } }", "sm_80", 3, E0606);
  expect_code("module { func.func @f() attributes {tile.kernel} { return } }", "sm_80", 64, E0606);
  expect_code("module { func.func private @g()\n func.func @f() attributes {tile.kernel} { "
              "func.call @g() : () -> ()\n return } }",
              "sm_80", 4, E0604);
  expect_code(
      "module { func.func @f(%p: !tile.ptr<i8>, %v: i8) attributes {tile.kernel} {\n"
      "%o = \"tile.atomic_rmw\"(%p, %v) {kind = \"add\", sem = \"relaxed\", scope = \"gpu\"} "
      ": (!tile.ptr<i8>, i8) -> i8\n return } }",
      "sm_90a", 4, E0604);
  expect_code("module { func.func @f(%x: f8E5M2) attributes {tile.kernel} {\n"
              "%y = arith.addf %x, %x : f8E5M2\n return } }",
              "sm_90a", 4, E0604);
}
END_TEST

#define BIG_GATHER                                                                                 \
  "#A = #tilegpu.blocked<{order = [0], size_per_thread = [4], threads_per_warp = [32], "           \
  "warps_per_cta = [32]}>\n"                                                                       \
  "module { func.func @f() attributes {tile.kernel} {\n"                                           \
  "%x = arith.constant dense<1.0> : tensor<65536xf32, #A>\n"                                       \
  "%i = arith.constant dense<1> : tensor<65536xi32, #A>\n"                                         \
  "%y = \"tile.gather\"(%x, %i) {axis = 0 : i32} : (tensor<65536xf32, #A>, "                       \
  "tensor<65536xi32, #A>) -> tensor<65536xf32, #A>\n"                                              \
  "return } }"

START_TEST(too_much_shared_memory_is_found_before_llvm) {
  expect_code(BIG_GATHER, "sm_90a", 32, E0605);
  expect_code(BIG_GATHER, "cpu", 32, E0605);
}
END_TEST

START_TEST(many_registers_are_warned_of) {
  struct compile_result r;
  ck_assert(cpu_run_compile(&run,
                            "#A = #tilegpu.blocked<{order = [0], size_per_thread = [4], "
                            "threads_per_warp = [32], warps_per_cta = [1]}>\n"
                            "module { func.func @f() attributes {tile.kernel} {\n"
                            "%x = arith.constant dense<1.0> : tensor<16384xf32, #A>\n return } }",
                            "sm_90a", 1, EMIT_LLVM, false, &r));
  struct strbuf text = {0};
  diag_render_text(run.diag, (struct diag_style){0}, &text);
  ck_assert_ptr_nonnull(strstr(strbuf_cstr(&text), "each thread holds 512 elements"));
  ck_assert_ptr_nonnull(strstr(strbuf_cstr(&text), "[E0607]"));
  strbuf_finish(&text);
}
END_TEST

// ---- facts and text ----

START_TEST(kernel_facts_come_from_the_arguments) {
  struct compile_result r;
  ck_assert(cpu_run_compile(
      &run,
      "module { func.func @f(%p: !tile.ptr<f16> {tile.name = \"x\", tile.divisibility = 16 : i32, "
      "tile.const}, %n: i32 {tile.dtype = \"u32\"}) attributes {tile.kernel} { return } }",
      "sm_90a", 8, EMIT_PTX, false, &r));
  ck_assert_str_eq(r.info.name, "f");
  ck_assert_str_eq(r.info.target, "sm_90a");
  ck_assert_uint_eq(r.info.num_warps, 8);
  ck_assert_uint_eq(r.info.param_count, 2);
  ck_assert_str_eq(r.info.params[0].name, "x");
  ck_assert(r.info.params[0].is_pointer && r.info.params[0].is_const);
  ck_assert_int_eq(r.info.params[0].dtype, DTYPE_F16);
  ck_assert_uint_eq(r.info.params[0].divisible_by, 16);
  ck_assert_int_eq(r.info.params[1].dtype, DTYPE_U32);
  ck_assert_str_eq(r.info.params[1].name, "arg1");
  ck_assert(!r.info.uses_collectives);
  ck_assert_ptr_nonnull(strstr(r.output.ptr, ".reqntid 256"));
  ck_assert_int_eq(r.output.ptr[r.output.len], '\0');
}
END_TEST

// Names that would meet those of routines, or that PTX cannot spell.
START_TEST(kernel_names_become_symbols) {
  static const char *const names[][2] = {{"add", "add"},
                                         {"_private_2", "_private_2"},
                                         {"fmod", "fmod_kernel"},
                                         {"tanh", "tanh_kernel"},
                                         {"tile_cpu_barrier", "tile_cpu_barrier_kernel"},
                                         {"_", "__kernel"},
                                         {"gr\xc3\xb6\xc3\x9f"
                                          "e",
                                          "gr_uc3_ub6_uc3_u9fe"}};
  for (size_t i = 0; i < COUNT_OF(names); i++) {
    struct compile_result r;
    const char *ir = arena_printf(
        run.arena,
        "module { func.func @\"%s\"(%%p: !tile.ptr<f64>) attributes {tile.kernel} {\n"
        "%%x = arith.constant 7.5 : f64\n%%y = arith.constant 2.0 : f64\n"
        "%%r = arith.remf %%x, %%y : f64\n"
        "\"tile.store\"(%%p, %%r) {cache = \"\", evict = \"\"} : (!tile.ptr<f64>, f64) -> ()\n"
        "return } }\n",
        names[i][0]);
    ck_assert(cpu_run_compile(&run, ir, "sm_90a", 1, EMIT_PTX, false, &r));
    ck_assert_str_eq(r.info.name, names[i][1]);
    const char *entry = arena_printf(run.arena, ".entry %s(", names[i][1]);
    ck_assert_ptr_nonnull(strstr(r.output.ptr, entry));
    double out = 0;
    void *p = &out, *args[] = {&p};
    ck_assert_int_eq(cpu_run_ir(&run, ir, 1, 1, false, args), TILE_OK);
    ck_assert(out == 1.5);
  }
}
END_TEST

START_TEST(the_version_names_all_parts) {
  const char *v = compiler_version();
  ck_assert_ptr_nonnull(strstr(v, "tile "));
  ck_assert_ptr_nonnull(strstr(v, "LLVM 22."));
  ck_assert_ptr_nonnull(strstr(v, "build "));
  ck_assert_ptr_eq(v, compiler_version());
}
END_TEST

TCase *emit_tests(void) {
  TCase *t = tcase_create("emit");
  tcase_add_checked_fixture(t, open_run, close_run);
  tcase_set_timeout(t, 300);
  tcase_add_loop_test(t, scalars_compute_what_they_say, 0, COUNT_OF(scalars));
  tcase_add_test(t, every_fp8_is_decoded);
  tcase_add_test(t, fp8_encoding_rounds_once);
  tcase_add_test(t, loops_and_branches);
  tcase_add_test(t, masked_off_lanes_are_other_or_zero);
  tcase_add_test(t, checks_name_location_and_parameter);
  tcase_add_test(t, failures_are_diagnostics);
  tcase_add_test(t, too_much_shared_memory_is_found_before_llvm);
  tcase_add_test(t, many_registers_are_warned_of);
  tcase_add_test(t, kernel_facts_come_from_the_arguments);
  tcase_add_test(t, kernel_names_become_symbols);
  tcase_add_test(t, the_version_names_all_parts);
  return t;
}
