// SPDX-License-Identifier: Apache-2.0
// Functions of libdevice whose result is exact, bit for bit: integers, conversions, parts of
// numbers, arithmetic in the four rounding modes. The references are C's, in its rounding modes.
#include <tile/tile.h>

#include <check.h>
#include <fenv.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tile_device *device;

enum { COUNT = 4096, BLOCK = 256 };

static void need(tile_status status) {
  if (status != TILE_OK)
    ck_abort_msg("%s: %s", tile_status_name(status), tile_error_message());
}

// A value of any type as it lies in memory.
union bits {
  float f32;
  double f64;
  int32_t i32;
  uint32_t u32;
  int64_t i64;
  uint64_t u64;
};

struct exact {
  const char *name;
  tile_type in, out;
  int arity;
  int mode; // of rounding, for the reference
  union bits (*reference)(const union bits *x);
};

static const char *type_name(tile_type t) {
  return t == TILE_F32   ? "f32"
         : t == TILE_F64 ? "f64"
         : t == TILE_I32 ? "i32"
         : t == TILE_U32 ? "u32"
         : t == TILE_I64 ? "i64"
                         : "u64";
}
static size_t size_of(tile_type t) {
  return t == TILE_F32 || t == TILE_I32 || t == TILE_U32 ? 4 : 8;
}

// ---- references ----

#define REFERENCE(name, out, expression)                                                           \
  static union bits name(const union bits *x) {                                                    \
    (void)x;                                                                                       \
    return (union bits){.out = expression};                                                        \
  }

// Through memory, so that the operation uses the current rounding mode.
static float f32_of(volatile float x) { return x; }
static double f64_of(volatile double x) { return x; }

#define A32 f32_of(x[0].f32)
#define B32 f32_of(x[1].f32)
#define C32 f32_of(x[2].f32)
#define A64 f64_of(x[0].f64)
#define B64 f64_of(x[1].f64)
#define C64 f64_of(x[2].f64)
REFERENCE(add_f32, f32, f32_of(A32 + B32))
REFERENCE(sub_f32, f32, f32_of(A32 - B32))
REFERENCE(mul_f32, f32, f32_of(A32 *B32))
REFERENCE(div_f32, f32, f32_of(A32 / B32))
REFERENCE(rcp_f32, f32, f32_of(1.0F / A32))
REFERENCE(sqrt_f32, f32, f32_of(sqrtf(A32)))
REFERENCE(fma_f32, f32, f32_of(fmaf(A32, B32, C32)))
REFERENCE(add_f64, f64, f64_of(A64 + B64))
REFERENCE(sub_f64, f64, f64_of(A64 - B64))
REFERENCE(mul_f64, f64, f64_of(A64 *B64))
REFERENCE(div_f64, f64, f64_of(A64 / B64))
REFERENCE(rcp_f64, f64, f64_of(1.0 / A64))
REFERENCE(sqrt_f64, f64, f64_of(sqrt(A64)))
REFERENCE(fma_f64, f64, f64_of(fma(A64, B64, C64)))
REFERENCE(narrow, f32, f32_of((float)A64))
REFERENCE(i32_f32, f32, f32_of((float)x[0].i32))
REFERENCE(u32_f32, f32, f32_of((float)x[0].u32))
REFERENCE(i64_f32, f32, f32_of((float)x[0].i64))
REFERENCE(i64_f64, f64, f64_of((double)x[0].i64))

static double whole(double x) { return rint(f64_of(x)); } // in the rounding mode
static int64_t to_i64(double x, double lo, double hi, int64_t least, int64_t most, int64_t nan) {
  double r = whole(x);
  return isnan(r) ? nan : r >= hi ? most : r < lo ? least : (int64_t)r;
}
static uint64_t to_u64(double x, uint64_t nan) {
  double r = whole(x);
  return isnan(r) ? nan : r >= 0x1p64 ? UINT64_MAX : r < 0 ? 0 : (uint64_t)r;
}
REFERENCE(f32_i32, i32, (int32_t)to_i64((double)A32, -0x1p31, 0x1p31, INT32_MIN, INT32_MAX, 0))
REFERENCE(f64_i32, i32, (int32_t)to_i64(A64, -0x1p31, 0x1p31, INT32_MIN, INT32_MAX, 0))
REFERENCE(f32_u32, u32, (uint32_t)to_i64((double)A32, 0, 0x1p32, 0, UINT32_MAX, 0))
REFERENCE(f64_u32, u32, (uint32_t)to_i64(A64, 0, 0x1p32, 0, UINT32_MAX, 0))
REFERENCE(f64_i64, i64, to_i64(A64, -0x1p63, 0x1p63, INT64_MIN, INT64_MAX, INT64_MIN))
REFERENCE(f32_i64, i64, to_i64((double)A32, -0x1p63, 0x1p63, INT64_MIN, INT64_MAX, INT64_MIN))
REFERENCE(f64_u64, u64, to_u64(A64, (uint64_t)1 << 63))
REFERENCE(f32_u64, u64, to_u64((double)A32, (uint64_t)1 << 63))

REFERENCE(popc32, i32, __builtin_popcount(x[0].u32))
REFERENCE(popc64, i32, __builtin_popcountll(x[0].u64))
REFERENCE(clz32, i32, x[0].u32 ? __builtin_clz(x[0].u32) : 32)
REFERENCE(clz64, i32, x[0].u64 ? __builtin_clzll(x[0].u64) : 64)
REFERENCE(ffs32, i32, __builtin_ffs(x[0].i32))
REFERENCE(ffs64, i32, __builtin_ffsll(x[0].i64))
static uint64_t reversed(uint64_t v, int n) {
  uint64_t r = 0;
  for (int i = 0; i < n; i++)
    r |= (v >> i & 1) << (n - 1 - i);
  return r;
}
REFERENCE(brev32, u32, (uint32_t)reversed(x[0].u32, 32))
REFERENCE(brev64, u64, reversed(x[0].u64, 64))
static uint32_t permuted(uint32_t a, uint32_t b, uint32_t s) {
  uint64_t bytes = (uint64_t)b << 32 | a;
  uint32_t r = 0;
  for (int i = 0; i < 4; i++)
    r |= (uint32_t)(bytes >> (s >> (4 * i) & 7) * 8 & 255) << (8 * i);
  return r;
}
REFERENCE(perm, u32, permuted(x[0].u32, x[1].u32, x[2].u32))
REFERENCE(mulhi_i32, i32, (int32_t)((int64_t)x[0].i32 *x[1].i32 >> 32))
REFERENCE(mulhi_u32, u32, (uint32_t)((uint64_t)x[0].u32 *x[1].u32 >> 32))
__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 uwide;
REFERENCE(mulhi_i64, i64, (int64_t)((wide)x[0].i64 *x[1].i64 >> 64))
REFERENCE(mulhi_u64, u64, (uint64_t)((uwide)x[0].u64 *x[1].u64 >> 64))
static int32_t low24(int32_t v) { return (int32_t)((uint32_t)v << 8) >> 8; }
REFERENCE(mul24_i32, i32, (int32_t)((uint32_t)low24(x[0].i32) * (uint32_t)low24(x[1].i32)))
REFERENCE(mul24_u32, u32, (x[0].u32 & 0xffffff) * (x[1].u32 & 0xffffff))
REFERENCE(sad_i32, u32, (uint32_t)llabs((long long)x[0].i32 - (long long)x[1].i32) + x[2].u32)
REFERENCE(hadd_i32, i32, (int32_t)(((int64_t)x[0].i32 + x[1].i32) >> 1))
REFERENCE(rhadd_u32, u32, (uint32_t)(((uint64_t)x[0].u32 + x[1].u32 + 1) >> 1))

REFERENCE(next_f32, f32, nextafterf(x[0].f32, x[1].f32))
REFERENCE(next_f64, f64, nextafter(x[0].f64, x[1].f64))
static int32_t exponent(double x) {
  return x == 0 || isnan(x) ? INT32_MIN : isinf(x) ? INT32_MAX : ilogb(x);
}
REFERENCE(ilogb_f32, i32, exponent((double)x[0].f32))
REFERENCE(ilogb_f64, i32, exponent(x[0].f64))
REFERENCE(isnan_f32, i32, isnan(x[0].f32) != 0)
REFERENCE(isinf_f64, i32, isinf(x[0].f64) != 0)
REFERENCE(finite_f64, i32, isfinite(x[0].f64) != 0)
REFERENCE(sign_f32, i32, signbit(x[0].f32) != 0)
REFERENCE(sign_f64, i32, signbit(x[0].f64) != 0)
REFERENCE(same, u32, x[0].u32)
REFERENCE(same64, u64, x[0].u64)
REFERENCE(low_word, i32, (int32_t)x[0].u64)
REFERENCE(high_word, i32, (int32_t)(x[0].u64 >> 32))
REFERENCE(words, u64, (uint64_t)x[0].u32 << 32 | x[1].u32)
// The exponent of ldexp is a number of f32 or f64 itself, which the kernel makes an integer.
REFERENCE(ldexp_f32, f32, ldexpf(x[0].f32, (int)(x[1].u32 % 600) - 300))
REFERENCE(ldexp_f64, f64, ldexp(x[0].f64, (int)(x[1].u64 % 5000) - 2500))

// The upper half alone; 0 for subnormal numbers.
static double upper(double x) {
  union bits b = {.f64 = x};
  b.u64 &= fabs(x) < 0x1p-1022 ? (uint64_t)1 << 63 : ~(uint64_t)UINT32_MAX;
  return isnan(x) ? x : b.f64;
}
REFERENCE(rcp_upper, f64, upper(1 / upper(x[0].f64)))

#define MODES(name, in, out, arity, reference)                                                     \
  {name "_rn", in, out, arity, FE_TONEAREST, reference},                                           \
      {name "_rz", in, out, arity, FE_TOWARDZERO, reference},                                      \
      {name "_rd", in, out, arity, FE_DOWNWARD, reference}, {                                      \
    name "_ru", in, out, arity, FE_UPWARD, reference                                               \
  }

static const struct exact cases[] = {
    MODES("add", TILE_F32, TILE_F32, 2, add_f32),
    MODES("sub", TILE_F32, TILE_F32, 2, sub_f32),
    MODES("mul", TILE_F32, TILE_F32, 2, mul_f32),
    MODES("div", TILE_F32, TILE_F32, 2, div_f32),
    MODES("rcp", TILE_F32, TILE_F32, 1, rcp_f32),
    MODES("sqrt", TILE_F32, TILE_F32, 1, sqrt_f32),
    MODES("fma", TILE_F32, TILE_F32, 3, fma_f32),
    MODES("add", TILE_F64, TILE_F64, 2, add_f64),
    MODES("sub", TILE_F64, TILE_F64, 2, sub_f64),
    MODES("mul", TILE_F64, TILE_F64, 2, mul_f64),
    MODES("div", TILE_F64, TILE_F64, 2, div_f64),
    MODES("rcp", TILE_F64, TILE_F64, 1, rcp_f64),
    MODES("sqrt", TILE_F64, TILE_F64, 1, sqrt_f64),
    MODES("fma", TILE_F64, TILE_F64, 3, fma_f64),
    MODES("double2float", TILE_F64, TILE_F32, 1, narrow),
    MODES("int2float", TILE_I32, TILE_F32, 1, i32_f32),
    MODES("uint2float", TILE_U32, TILE_F32, 1, u32_f32),
    MODES("ll2float", TILE_I64, TILE_F32, 1, i64_f32),
    MODES("ll2double", TILE_I64, TILE_F64, 1, i64_f64),
    MODES("float2int", TILE_F32, TILE_I32, 1, f32_i32),
    MODES("double2int", TILE_F64, TILE_I32, 1, f64_i32),
    MODES("float2uint", TILE_F32, TILE_U32, 1, f32_u32),
    MODES("double2uint", TILE_F64, TILE_U32, 1, f64_u32),
    MODES("float2ll", TILE_F32, TILE_I64, 1, f32_i64),
    MODES("double2ll", TILE_F64, TILE_I64, 1, f64_i64),
    MODES("float2ull", TILE_F32, TILE_U64, 1, f32_u64),
    MODES("double2ull", TILE_F64, TILE_U64, 1, f64_u64),
    {"popc", TILE_U32, TILE_I32, 1, 0, popc32},
    {"popc", TILE_I64, TILE_I32, 1, 0, popc64},
    {"clz", TILE_I32, TILE_I32, 1, 0, clz32},
    {"clz", TILE_U64, TILE_I32, 1, 0, clz64},
    {"ffs", TILE_I32, TILE_I32, 1, 0, ffs32},
    {"ffs", TILE_I64, TILE_I32, 1, 0, ffs64},
    {"brev", TILE_U32, TILE_U32, 1, 0, brev32},
    {"brev", TILE_U64, TILE_U64, 1, 0, brev64},
    {"byte_perm", TILE_U32, TILE_U32, 3, 0, perm},
    {"mulhi", TILE_I32, TILE_I32, 2, 0, mulhi_i32},
    {"mulhi", TILE_U32, TILE_U32, 2, 0, mulhi_u32},
    {"mulhi", TILE_I64, TILE_I64, 2, 0, mulhi_i64},
    {"mulhi", TILE_U64, TILE_U64, 2, 0, mulhi_u64},
    {"mul24", TILE_I32, TILE_I32, 2, 0, mul24_i32},
    {"mul24", TILE_U32, TILE_U32, 2, 0, mul24_u32},
    {"sad", TILE_I32, TILE_U32, 3, 0, sad_i32},
    {"hadd", TILE_I32, TILE_I32, 2, 0, hadd_i32},
    {"rhadd", TILE_U32, TILE_U32, 2, 0, rhadd_u32},
    {"nextafter", TILE_F32, TILE_F32, 2, 0, next_f32},
    {"nextafter", TILE_F64, TILE_F64, 2, 0, next_f64},
    {"ilogb", TILE_F32, TILE_I32, 1, 0, ilogb_f32},
    {"ilogb", TILE_F64, TILE_I32, 1, 0, ilogb_f64},
    {"isnan", TILE_F32, TILE_I32, 1, 0, isnan_f32},
    {"isinf", TILE_F64, TILE_I32, 1, 0, isinf_f64},
    {"isfinited", TILE_F64, TILE_I32, 1, 0, finite_f64},
    {"signbit", TILE_F32, TILE_I32, 1, 0, sign_f32},
    {"signbit", TILE_F64, TILE_I32, 1, 0, sign_f64},
    {"float_as_int", TILE_F32, TILE_I32, 1, 0, same},
    {"float_as_uint", TILE_F32, TILE_U32, 1, 0, same},
    {"int_as_float", TILE_I32, TILE_F32, 1, 0, same},
    {"uint_as_float", TILE_U32, TILE_F32, 1, 0, same},
    {"double_as_longlong", TILE_F64, TILE_I64, 1, 0, same64},
    {"longlong_as_double", TILE_I64, TILE_F64, 1, 0, same64},
    {"double2loint", TILE_F64, TILE_I32, 1, 0, low_word},
    {"double2hiint", TILE_F64, TILE_I32, 1, 0, high_word},
    {"hiloint2double", TILE_I32, TILE_F64, 2, 0, words},
    {"rcp64h", TILE_F64, TILE_F64, 1, 0, rcp_upper},
    {"ldexp", TILE_F32, TILE_F32, 2, 0, ldexp_f32},
    {"scalbn", TILE_F64, TILE_F64, 2, 0, ldexp_f64},
};

// ---- arguments: any bits, specials, and pairs whose sums and quotients nearly vanish ----
// Third ones, of fma: near what the product of the others leaves, or far below and above.

static uint64_t random_bits(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  uint64_t high = *state >> 32;
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return high << 32 | *state >> 32;
}

static double special(uint64_t which) {
  static const double values[] = {0.0,  -0.0,  1,    -1,    0.5,   -0.5,   1.5,       -2.5,
                                  1e10, -1e10, 1e38, 1e-38, 1e-45, -1e-45, 3.4e38,    INFINITY,
                                  3,    NAN,   1e19, -1e19, 1e308, 5e-324, -INFINITY, 2147483647.5};
  return values[which % (sizeof values / sizeof *values)];
}

static double third(double a, double b, uint64_t random) {
  union bits c = {.f64 = -(a * b)};
  uint64_t apart = random >> 8 & 7; // a few digits, down to those that the product lost
  if (apart == 7)
    return fma(a, b, c.f64) * (random & 1 ? -1 : 1) * (random & 2 ? 1 : 0.5);
  c.u64 ^= (random & 3) >> (apart == 6);
  static const int powers[] = {0, 52, 53, -53, -54, 106, 0, 0};
  return ldexp(c.f64, powers[apart]);
}

static union bits argument(tile_type t, int k, int i, const union bits *before, uint64_t *state) {
  union bits b = {.u64 = random_bits(state)};
  if (t == TILE_F32) {
    if (i % 4 == 0)
      b.f32 = (float)special((uint64_t)(i / 4 * (k ? 7 : 1) + k));
    else if (i % 4 == 1) // between the powers 2**-40 and 2**40
      b.u32 = (b.u32 & 0x807fffff) | (uint32_t)(87 + b.u64 / 65536 % 80) << 23;
    else if (i % 4 == 2 && k == 1)
      b.u32 = before[0].u32 ^ 0x80000000u ^ (uint32_t)(b.u32 % 3);
  } else if (t == TILE_F64) {
    if (i % 4 == 0)
      b.f64 = special((uint64_t)(i / 4 * (k ? 7 : 1) + k));
    else if (i % 4 == 1)
      b.u64 = (b.u64 & 0x800fffffffffffff) | (uint64_t)(983 + b.u64 / 65536 % 80) << 52;
    else if (i % 4 == 2 && k == 1)
      b.u64 = before[0].u64 ^ ((uint64_t)1 << 63) ^ b.u64 % 3;
    if (k == 2 && i % 8 > 4)
      b.f64 = third(before[0].f64, before[1].f64, b.u64);
  } else if (i % 3 == 0) {
    b.u64 >>= b.u64 % 64; // small ones, and zero
    b.u64 = i % 2 ? b.u64 : ~b.u64;
  }
  return b;
}

static tile_kernel *open_kernel(const struct exact *c) {
  static const char *const arguments[] = {"", "a", "a, b", "a, b, c"};
  const char *in = type_name(c->in), *out = type_name(c->out);
  bool scales = c->reference == ldexp_f32 || c->reference == ldexp_f64;
  const char *extra = !scales ? ""
                      : c->in == TILE_F32
                          ? "  b = (b.to(tl.uint32, bitcast=True) % 600).to(tl.int32) - 300\n"
                          : "  b = (b.to(tl.uint64, bitcast=True) % 5000).to(tl.int32) - 2500\n";
  char text[1024];
  snprintf(text, sizeof text,
           "def k(pa: ptr[%s], pb: ptr[%s], pc: ptr[%s], py: ptr[%s]):\n"
           "  o = program_id(0) * %d + arange(0, %d)\n"
           "  a = load(pa + o)\n  b = load(pb + o)\n  c = load(pc + o)\n%s"
           "  store(py + o, libdevice.%s(%s))\n",
           in, in, in, out, BLOCK, BLOCK, extra, c->name, arguments[c->arity]);
  tile_kernel *k;
  need(tile_kernel_from_source(device, "exact.tile", text, strlen(text), "k", &k));
  return k;
}

static bool agree(tile_type t, union bits a, union bits b) {
  if (t == TILE_F32)
    return a.u32 == b.u32 || (isnan(a.f32) && isnan(b.f32));
  if (t == TILE_F64)
    return a.u64 == b.u64 || (isnan(a.f64) && isnan(b.f64));
  return size_of(t) == 4 ? a.u32 == b.u32 : a.u64 == b.u64;
}

START_TEST(test_exact) {
  const struct exact *c = &cases[_i];
  static union bits x[COUNT][3];
  static unsigned char memory[4][COUNT * 8];
  uint64_t state = (uint64_t)_i + 1;
  size_t in = size_of(c->in), out = size_of(c->out);
  for (int i = 0; i < COUNT; i++)
    for (int k = 0; k < 3; k++) {
      x[i][k] = argument(c->in, k, i, x[i], &state);
      memcpy(memory[k] + (size_t)i * in, &x[i][k], in);
    }
  tile_kernel *kernel = open_kernel(c);
  tile_arg args[4];
  for (int k = 0; k < 4; k++)
    args[k] = tile_arg_pointer(memory[k], k == 3 ? c->out : c->in);
  need(tile_launch(kernel, NULL, (tile_grid){COUNT / BLOCK, 1, 1}, args, 4));
  need(tile_stream_synchronize(device, NULL));
  for (int i = 0; i < COUNT; i++) {
    union bits got = {.u64 = 0};
    memcpy(&got, memory[3] + (size_t)i * out, out);
    fesetround(c->mode);
    union bits want = c->reference(x[i]);
    fesetround(FE_TONEAREST);
    ck_assert_msg(
        agree(c->out, got, want),
        "%s %s(%llx %.9g, %llx %.9g, %llx): %llx %.17g, expected %llx %.17g", c->name,
        type_name(c->in), (unsigned long long)x[i][0].u64,
        c->in == TILE_F32 ? (double)x[i][0].f32 : x[i][0].f64, (unsigned long long)x[i][1].u64,
        c->in == TILE_F32 ? (double)x[i][1].f32 : x[i][1].f64, (unsigned long long)x[i][2].u64,
        (unsigned long long)got.u64, c->out == TILE_F32 ? (double)got.f32 : got.f64,
        (unsigned long long)want.u64, c->out == TILE_F32 ? (double)want.f32 : want.f64);
  }
  tile_kernel_close(kernel);
}
END_TEST

static void open_device(void) { need(tile_device_open("cpu", &device)); }
static void close_device(void) { tile_device_close(device); }

int main(void) {
  Suite *suite = suite_create("math exact");
  TCase *c = tcase_create("host");
  tcase_set_timeout(c, 300);
  tcase_add_checked_fixture(c, open_device, close_device);
  tcase_add_loop_test(c, test_exact, 0, (int)(sizeof cases / sizeof *cases));
  suite_add_tcase(suite, c);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed != 0;
}
