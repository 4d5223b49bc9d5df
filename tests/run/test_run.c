// SPDX-License-Identifier: Apache-2.0
// Runs kernels on the CPU executor through the public API and compares with references in double
// precision. Every case runs at the boundary lengths 1, B-1, B, B+1 and a prime; outputs are
// poisoned and guarded.
#include "base/dtype.h"

#include <tile/tile.h>

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *kernel_file, *device_name; // from the command line
static tile_device *device;

enum { BLOCK = 128, GUARD = 64 };

static unsigned every = 1; // a sample of the cases' types, for slow devices

static bool on_cpu(void) { return strcmp(device_name, "cpu") == 0; }
// Whether launches can be checked, and are slow.
static bool on_processor(void) { return on_cpu() || strncmp(device_name, "simulate", 8) == 0; }

static void need(tile_status status) {
  if (status != TILE_OK)
    ck_abort_msg("%s: %s", tile_status_name(status), tile_error_message());
}

// ---- arrays on the device, filled from doubles ----

struct buffer {
  enum dtype type;
  size_t count;
  void *device, *host;
};

static struct buffer buffer_create(enum dtype type, size_t count) {
  struct buffer b = {type, count, NULL, NULL};
  size_t bytes = (count + GUARD) * dtype_bytes(type);
  b.host = malloc(bytes);
  ck_assert_ptr_nonnull(b.host);
  memset(b.host, 0xA5, bytes);
  need(tile_malloc(device, bytes, &b.device));
  return b;
}

static void set(struct buffer *b, size_t i, double v) {
  dtype_store(b->type, (char *)b->host + i * dtype_bytes(b->type), v);
}

static double get(const struct buffer *b, size_t i) {
  return dtype_load(b->type, (const char *)b->host + i * dtype_bytes(b->type));
}

static void upload(struct buffer *b) {
  need(tile_copy_to_device(device, NULL, b->device, b->host,
                           (b->count + GUARD) * dtype_bytes(b->type)));
}

// Also checks that nothing was written past the end.
static void download(struct buffer *b) {
  need(tile_copy_to_host(device, NULL, b->host, b->device,
                         (b->count + GUARD) * dtype_bytes(b->type)));
  const unsigned char *guard = (unsigned char *)b->host + b->count * dtype_bytes(b->type);
  for (size_t i = 0; i < GUARD * dtype_bytes(b->type); i++)
    ck_assert_msg(guard[i] == 0xA5, "byte %zu behind the end was written", i);
}

static void buffer_destroy(struct buffer *b) {
  tile_free(device, b->device);
  free(b->host);
}

static tile_arg pointer(const struct buffer *b) {
  return tile_arg_pointer(b->device, (tile_type)b->type);
}

// A fixed sequence of doubles in [-1, 1).
static double draw(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(int64_t)(*state >> 11) / 4503599627370496.0 - 1.0;
}

static tile_kernel *open_kernel(const char *name) {
  tile_kernel *k;
  need(tile_kernel_open(device, kernel_file, name, &k));
  return k;
}

static void constant(tile_kernel *k, const char *name, int value) {
  char text[32];
  snprintf(text, sizeof(text), "%d", value);
  need(tile_kernel_set_constant(k, name, text));
}

// ---- elementwise ----

enum domain { ANY, NONZERO, SMALL_INTS };

struct operation {
  const char *name;
  double (*reference)(double a, double b);
  enum domain domain;
  const char *types; // kinds: f floats, i signed, u unsigned
  double scale;      // inputs are in [-scale, scale)
  double ulps,
      atol; // of f32; wider types are held to the same, narrower to half an ulp of their own more
};

static double r_add(double a, double b) { return a + b; }
static double r_sub(double a, double b) { return a - b; }
static double r_mul(double a, double b) { return a * b; }
static double r_div(double a, double b) { return a / b; }
static double r_floordiv(double a, double b) { return trunc(a / b); }
static double r_mod(double a, double b) { return fmod(a, b); }
static double r_and(double a, double b) { return (double)((int64_t)a & (int64_t)b); }
static double r_or(double a, double b) { return (double)((int64_t)a | (int64_t)b); }
static double r_xor(double a, double b) { return (double)((int64_t)a ^ (int64_t)b); }
static double r_shl(double a, double b) { return (double)((int64_t)a << ((int64_t)b & 7)); }
static double r_shr(double a, double b) { return (double)((int64_t)a >> ((int64_t)b & 7)); }
static double r_neg(double a, double b) { return (void)b, -a; }
static double r_invert(double a, double b) { return (void)b, (double)~(int64_t)a; }
static double r_min(double a, double b) { return fmin(a, b); }
static double r_max(double a, double b) { return fmax(a, b); }
static double r_lt(double a, double b) { return a < b ? a : b; }
static double r_ge(double a, double b) { return a >= b ? a : b; }
static double r_eq(double a, double b) { return a == b ? a : -b; }
static double r_ne(double a, double b) { return a != b ? a : -b; }
static double r_clamp(double a, double b) { return (void)b, fmin(fmax(a, -0.5), 0.5); }
static double r_fma(double a, double b) { return fma(a, b, a); }
static double r_abs(double a, double b) { return (void)b, fabs(a); }
static double r_floor(double a, double b) { return (void)b, floor(a); }
static double r_ceil(double a, double b) { return (void)b, ceil(a); }
static double r_exp(double a, double b) { return (void)b, exp(a); }
static double r_exp2(double a, double b) { return (void)b, exp2(a); }
static double r_log(double a, double b) { return (void)b, log(fabs(a)); }
static double r_log2(double a, double b) { return (void)b, log2(fabs(a)); }
static double r_sin(double a, double b) { return (void)b, sin(a); }
static double r_cos(double a, double b) { return (void)b, cos(a); }
static double r_tanh(double a, double b) { return (void)b, tanh(a); }
static double r_sqrt(double a, double b) { return (void)b, sqrt(fabs(a)); }
static double r_rsqrt(double a, double b) { return (void)b, 1 / sqrt(fabs(a)); }
static double r_erf(double a, double b) { return (void)b, erf(a); }
static double r_sigmoid(double a, double b) { return (void)b, 1 / (1 + exp(-a)); }

static const struct operation operations[] = {
    {"add", r_add, ANY, "fiu", 8, 0.5, 0},
    {"sub", r_sub, ANY, "fi", 8, 0.5, 0},
    {"mul", r_mul, ANY, "fiu", 3, 0.5, 0},
    {"div", r_div, NONZERO, "f", 8, 2, 0},
    {"floordiv", r_floordiv, NONZERO, "iu", 100, 0, 0},
    {"mod", r_mod, NONZERO, "iu", 100, 0, 0},
    {"mod", r_mod, NONZERO, "f", 8, 0.5, 0},
    {"and", r_and, ANY, "iu", 100, 0, 0},
    {"or", r_or, ANY, "iu", 100, 0, 0},
    {"xor", r_xor, ANY, "iu", 100, 0, 0},
    {"shl", r_shl, SMALL_INTS, "iu", 1, 0, 0},
    {"shr", r_shr, ANY, "iu", 100, 0, 0},
    {"neg", r_neg, ANY, "fi", 100, 0, 0},
    {"invert", r_invert, ANY, "i", 100, 0, 0},
    {"minimum", r_min, ANY, "fiu", 100, 0, 0},
    {"maximum", r_max, ANY, "fiu", 100, 0, 0},
    {"where_lt", r_lt, ANY, "fiu", 100, 0, 0},
    {"where_ge", r_ge, ANY, "fiu", 100, 0, 0},
    {"where_eq", r_eq, ANY, "fi", 3, 0, 0},
    {"where_ne", r_ne, ANY, "fi", 3, 0, 0},
    {"clamp", r_clamp, ANY, "f", 1, 0, 0},
    {"fma", r_fma, ANY, "f", 3, 0.5, 0},
    {"abs", r_abs, ANY, "fi", 100, 0, 0},
    {"floor", r_floor, ANY, "f", 100, 0, 0},
    {"ceil", r_ceil, ANY, "f", 100, 0, 0},
    {"exp", r_exp, ANY, "f", 10, 16, 0},
    {"exp2", r_exp2, ANY, "f", 10, 3, 0},
    {"log", r_log, NONZERO, "f", 10, 4, 2.5e-7},
    {"log2", r_log2, NONZERO, "f", 10, 4, 2.5e-7},
    {"sin", r_sin, ANY, "f", 30, 4, 3e-7},
    {"cos", r_cos, ANY, "f", 30, 4, 3e-7},
    {"tanh", r_tanh, ANY, "f", 5, 8, 0},
    {"sqrt", r_sqrt, ANY, "f", 10, 2, 0},
    {"rsqrt", r_rsqrt, NONZERO, "f", 10, 4, 0},
    {"erf", r_erf, ANY, "f", 3, 8, 3e-7},
    {"sigmoid", r_sigmoid, ANY, "f", 10, 16, 0},
};

static const enum dtype types[] = {DTYPE_F32, DTYPE_F16, DTYPE_BF16, DTYPE_F64,
                                   DTYPE_I8,  DTYPE_I16, DTYPE_I32,  DTYPE_I64,
                                   DTYPE_U8,  DTYPE_U16, DTYPE_U32,  DTYPE_U64};

static char kind_of(enum dtype t) {
  return dtype_is_float(t) ? 'f' : dtype_is_signed(t) ? 'i' : 'u';
}

static double input(const struct operation *o, enum dtype type, uint64_t *state) {
  double v = draw(state) * o->scale;
  if (kind_of(type) == 'u')
    v = fabs(v);
  if (!dtype_is_float(type))
    v = trunc(v);
  if (o->domain == NONZERO && fabs(v) < 0.25)
    v = 1;
  return v;
}

// Unit in the last place of `t` at v.
static double ulp(enum dtype t, double v) {
  int bits = t == DTYPE_F64    ? 52
             : t == DTYPE_F32  ? 23
             : t == DTYPE_F16  ? 10
             : t == DTYPE_BF16 ? 7
             : t == DTYPE_F8E5 ? 2
                               : 3;
  int smallest = t == DTYPE_F64                      ? -1022
                 : t == DTYPE_F16 || t == DTYPE_F8E5 ? -14
                 : t == DTYPE_F8E4NV                 ? -6
                                                     : -126;
  int e = v == 0 ? smallest : ilogb(v);
  return ldexp(1, (e < smallest ? smallest : e) - bits);
}

// The error bound of float arithmetic in type t: half an ulp for the final rounding, plus the error
// of the operation itself, which is computed in f32 for narrower types.
static double allowed(const struct operation *o, enum dtype t, double want) {
  if (!dtype_is_float(t))
    return 0;
  double own = o->ulps * (t == DTYPE_F64 ? ulp(DTYPE_F64, want) : ulp(DTYPE_F32, want));
  double absolute = t == DTYPE_F64 ? o->atol * 1e-8 : o->atol;
  if (t == DTYPE_F64 || t == DTYPE_F32)
    return own + absolute;
  return 0.501 * ulp(t, want) + own + absolute;
}

static void check_elementwise(tile_kernel *k, const struct operation *o, enum dtype type, int n) {
  struct buffer x = buffer_create(type, (size_t)n), y = buffer_create(type, (size_t)n);
  struct buffer out = buffer_create(type, (size_t)n);
  uint64_t state = (uint64_t)n * 77 + (uint64_t)type;
  for (int i = 0; i < n; i++) {
    set(&x, (size_t)i, input(o, type, &state));
    set(&y, (size_t)i, input(o, type, &state));
  }
  upload(&x), upload(&y), upload(&out);
  tile_arg args[] = {pointer(&x), pointer(&y), pointer(&out), tile_arg_i32(n)};
  need(tile_launch(k, NULL, (tile_grid){(unsigned)((n + BLOCK - 1) / BLOCK), 1, 1}, args, 4));
  download(&out);
  for (int i = 0; i < n; i++) {
    double a = get(&x, (size_t)i), b = get(&y, (size_t)i), want = o->reference(a, b),
           got = get(&out, (size_t)i);
    if (!dtype_is_float(type)) { // wrap as the type does
      unsigned bits = dtype_bits(type);
      uint64_t mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1,
               u = (uint64_t)(int64_t)want & mask;
      want =
          kind_of(type) == 'u' ? (double)u : (double)((int64_t)(u << (64 - bits)) >> (64 - bits));
    }
    ck_assert_msg(fabs(got - want) <= allowed(o, type, want),
                  "%s %s n=%d [%d]: f(%.9g, %.9g) = %.17g, expected %.17g", o->name,
                  dtype_name(type), n, i, a, b, got, want);
  }
  buffer_destroy(&x), buffer_destroy(&y), buffer_destroy(&out);
}

START_TEST(test_elementwise) {
  const struct operation *o = &operations[_i];
  const int lengths[] = {1, BLOCK - 1, BLOCK, BLOCK + 1, 1009};
  char quoted[64];
  snprintf(quoted, sizeof(quoted), "\"%s\"", o->name);
  for (size_t t = 0; t < COUNT_OF(types); t++) {
    if (!strchr(o->types, kind_of(types[t])) || (t + (size_t)_i) % every != 0)
      continue;
    tile_kernel *k = open_kernel("elementwise");
    constant(k, "BLOCK", BLOCK);
    need(tile_kernel_set_constant(k, "OP", quoted));
    if (on_processor())
      need(tile_kernel_set_check(k, 1));
    for (size_t i = 0; i < COUNT_OF(lengths); i++)
      check_elementwise(k, o, types[t], lengths[i]);
    tile_kernel_close(k);
  }
}
END_TEST

// ---- casts between all pairs of types ----

static void check_cast(enum dtype from, enum dtype to) {
  enum { N = 200 };
  struct buffer x = buffer_create(from, N), y = buffer_create(from, N), out = buffer_create(to, N);
  uint64_t state = 5;
  bool narrow = !dtype_is_float(from) || !dtype_is_float(to); // keep inside every integer type
  for (size_t i = 0; i < N; i++) {
    double v = draw(&state) * (narrow ? 100 : 400);
    if (kind_of(from) == 'u' || kind_of(to) == 'u')
      v = fabs(v);
    set(&x, i, i == 0 ? 0 : v);
    set(&y, i, 0);
  }
  upload(&x), upload(&y), upload(&out);
  tile_kernel *k = open_kernel("elementwise");
  constant(k, "BLOCK", BLOCK);
  need(tile_kernel_set_constant(k, "OP", "\"cast\""));
  tile_arg args[] = {pointer(&x), pointer(&y), pointer(&out), tile_arg_i32(N)};
  need(tile_launch(k, NULL, (tile_grid){2, 1, 1}, args, 4));
  download(&out);
  for (size_t i = 0; i < N; i++) {
    struct buffer want = {to, 1, NULL, (char[8]){0}};
    set(&want, 0, get(&x, i)); // base/dtype.h rounds once, to nearest even; integers truncate
    double w = get(&want, 0), g = get(&out, i);
    ck_assert_msg(g == w || (isnan(g) && isnan(w)), "%s to %s of %.9g: %.9g, expected %.9g",
                  dtype_name(from), dtype_name(to), get(&x, i), g, w);
  }
  tile_kernel_close(k);
  buffer_destroy(&x), buffer_destroy(&y), buffer_destroy(&out);
}

START_TEST(test_cast) {
  enum dtype from = (enum dtype)(DTYPE_I8 + _i);
  for (enum dtype to = DTYPE_I8; to < DTYPE_COUNT; to++)
    if (((unsigned)from + (unsigned)to) % every == 0)
      check_cast(from, to);
}
END_TEST

// ---- shapes ----

START_TEST(test_outer) {
  const int rows = 37, columns = 70, stride = 75;
  struct buffer x = buffer_create(DTYPE_F32, (size_t)(rows * stride)),
                out = buffer_create(DTYPE_F32, x.count);
  struct buffer row = buffer_create(DTYPE_F32, (size_t)columns),
                column = buffer_create(DTYPE_F32, (size_t)rows);
  uint64_t state = 9;
  for (size_t i = 0; i < x.count; i++)
    set(&x, i, draw(&state));
  for (size_t i = 0; i < row.count; i++)
    set(&row, i, draw(&state));
  for (size_t i = 0; i < column.count; i++)
    set(&column, i, draw(&state));
  upload(&x), upload(&row), upload(&column), upload(&out);
  const int tiles[][2] = {{16, 32}, {32, 16}, {64, 128}, {1, 64}, {64, 1}, {2, 2}};
  for (size_t t = 0; t < COUNT_OF(tiles); t++)
    for (unsigned warps = 1; warps <= 8; warps *= 2) {
      tile_kernel *k = open_kernel("outer");
      constant(k, "R", tiles[t][0]);
      constant(k, "C", tiles[t][1]);
      need(tile_kernel_set_warps(k, warps));
      if (on_processor())
        need(tile_kernel_set_check(k, 1));
      need(tile_memset(device, NULL, out.device, 0xA5, (out.count + GUARD) * 4));
      tile_arg args[] = {pointer(&x),         pointer(&row),      pointer(&column),
                         pointer(&out),       tile_arg_i32(rows), tile_arg_i32(columns),
                         tile_arg_i32(stride)};
      tile_grid grid = {(unsigned)((rows + tiles[t][0] - 1) / tiles[t][0]),
                        (unsigned)((columns + tiles[t][1] - 1) / tiles[t][1]), 1};
      need(tile_launch(k, NULL, grid, args, 7));
      download(&out);
      for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
          size_t at = (size_t)(i * stride + j);
          double want = get(&x, at) + get(&row, (size_t)j) * get(&column, (size_t)i);
          ck_assert_msg(fabs(get(&out, at) - want) < 1e-6,
                        "tile %dx%d warps %u [%d, %d]: %g, expected %g", tiles[t][0], tiles[t][1],
                        warps, i, j, get(&out, at), want);
        }
      tile_kernel_close(k);
    }
  buffer_destroy(&x), buffer_destroy(&row), buffer_destroy(&column), buffer_destroy(&out);
}
END_TEST

START_TEST(test_transpose) {
  const int rows = 37, columns = 70;
  static const enum dtype kinds[] = {DTYPE_F32, DTYPE_F16, DTYPE_I8, DTYPE_I64};
  enum dtype type = kinds[_i];
  struct buffer x = buffer_create(type, (size_t)(rows * columns)),
                out = buffer_create(type, x.count);
  for (size_t i = 0; i < x.count; i++)
    set(&x, i, (double)(i % 101));
  upload(&x);
  const int tiles[][2] = {{16, 32}, {32, 16}, {64, 64}, {4, 128}, {1, 8}};
  for (size_t t = 0; t < COUNT_OF(tiles); t++)
    for (unsigned warps = 1; warps <= 8; warps *= 2) {
      tile_kernel *k = open_kernel("transpose");
      constant(k, "R", tiles[t][0]);
      constant(k, "C", tiles[t][1]);
      need(tile_kernel_set_warps(k, warps));
      need(tile_memset(device, NULL, out.device, 0xA5, (out.count + GUARD) * dtype_bytes(type)));
      tile_arg args[] = {pointer(&x), pointer(&out), tile_arg_i32(rows), tile_arg_i32(columns)};
      tile_grid grid = {(unsigned)((rows + tiles[t][0] - 1) / tiles[t][0]),
                        (unsigned)((columns + tiles[t][1] - 1) / tiles[t][1]), 1};
      need(tile_launch(k, NULL, grid, args, 4));
      download(&out);
      for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
          ck_assert_msg(get(&out, (size_t)(j * rows + i)) == get(&x, (size_t)(i * columns + j)),
                        "%s tile %dx%d warps %u [%d, %d]", dtype_name(type), tiles[t][0],
                        tiles[t][1], warps, i, j);
      tile_kernel_close(k);
    }
  buffer_destroy(&x), buffer_destroy(&out);
}
END_TEST

static void check_strided(const struct buffer *x, const struct buffer *out, int columns, int first,
                          int step, int width) {
  for (size_t e = 0; e < out->count; e++) {
    int i = (int)e / (2 * width), j = (int)e % width, at = j * step + first;
    bool is_second = (int)e % (2 * width) >= width;
    bool is_on = at >= 0 && at < columns && !(is_second && i == 0);
    double want = is_on ? get(x, (size_t)(i * columns + at)) : is_second ? 7 : 0;
    ck_assert_msg(get(out, e) == want, "%s width %d step %d first %d [%d, %d]: %g, not %g",
                  dtype_name(x->type), width, step, first, i, j, get(out, e), want);
  }
}

// In vectors: every second element is taken from two vectors, others are gathered. What lies
// outside the rows is not in the array.
START_TEST(test_strided) {
  enum { R = 4 };
  static const enum dtype kinds[] = {DTYPE_F32, DTYPE_F16, DTYPE_I8, DTYPE_I64, DTYPE_F64};
  const int widths[] = {2, 4, 8, 16, 32}, firsts[] = {-3, 0, 1};
  enum dtype type = kinds[_i];
  for (size_t w = 0; w < COUNT_OF(widths); w++)
    for (int step = 1; step <= 3; step++)
      for (size_t f = 0; f < COUNT_OF(firsts); f++) {
        int c = widths[w], first = firsts[f], columns = step * c - 2 > 1 ? step * c - 2 : 1;
        struct buffer x = buffer_create(type, (size_t)(R * columns)),
                      out = buffer_create(type, (size_t)(R * 2 * c));
        for (size_t i = 0; i < x.count; i++)
          set(&x, i, (double)(i % 97 + 10));
        upload(&x), upload(&out);
        tile_kernel *k = open_kernel("strided");
        constant(k, "STEP", step), constant(k, "R", R), constant(k, "C", c);
        tile_arg args[] = {pointer(&x), pointer(&out), tile_arg_i32(columns), tile_arg_i32(first),
                           tile_arg_i32(columns)};
        need(tile_launch(k, NULL, (tile_grid){1, 1, 1}, args, 5));
        download(&out);
        check_strided(&x, &out, columns, first, step, c);
        tile_kernel_close(k);
        buffer_destroy(&x), buffer_destroy(&out);
      }
}
END_TEST

START_TEST(test_reshape) {
  const int shapes[][2] = {{8, 16}, {16, 8}, {1, 64}, {128, 2}, {32, 64}};
  for (size_t s = 0; s < COUNT_OF(shapes); s++)
    for (unsigned warps = 1; warps <= 8; warps *= 2) {
      size_t count = (size_t)(shapes[s][0] * shapes[s][1]);
      struct buffer x = buffer_create(DTYPE_F32, count), out = buffer_create(DTYPE_F32, count);
      for (size_t i = 0; i < count; i++)
        set(&x, i, (double)i);
      upload(&x), upload(&out);
      tile_kernel *k = open_kernel("reshaped");
      constant(k, "R", shapes[s][0]);
      constant(k, "C", shapes[s][1]);
      need(tile_kernel_set_warps(k, warps));
      tile_arg args[] = {pointer(&x), pointer(&out)};
      need(tile_launch(k, NULL, (tile_grid){1, 1, 1}, args, 2));
      download(&out);
      for (size_t i = 0; i < count; i++)
        ck_assert_msg(get(&out, i) == 2.0 * (double)i, "%dx%d [%zu]: %g", shapes[s][0],
                      shapes[s][1], i, get(&out, i));
      tile_kernel_close(k);
      buffer_destroy(&x), buffer_destroy(&out);
    }
}
END_TEST

// ---- control flow ----

START_TEST(test_loop) {
  const int n = 300;
  struct buffer x = buffer_create(DTYPE_F32, (size_t)n), out = buffer_create(DTYPE_F32, (size_t)n);
  uint64_t state = 3;
  for (size_t i = 0; i < x.count; i++)
    set(&x, i, draw(&state));
  upload(&x);
  tile_kernel *k = open_kernel("looped");
  constant(k, "BLOCK", BLOCK);
  for (int count = 0; count < 24; count += 4) {
    upload(&out);
    tile_arg args[] = {pointer(&x), pointer(&out), tile_arg_i32(n), tile_arg_i32(count)};
    need(tile_launch(k, NULL, (tile_grid){3, 1, 1}, args, 4));
    download(&out);
    double factor = 0;
    for (int step = 0; step < count && step != 17; step++)
      factor += step % 3 ? step : 0;
    for (size_t i = 0; i < x.count; i++)
      ck_assert_msg(fabs(get(&out, i) - get(&x, i) * factor) <= 1e-4,
                    "count %d [%zu]: %g, expected %g", count, i, get(&out, i), get(&x, i) * factor);
  }
  tile_kernel_close(k);
  buffer_destroy(&x), buffer_destroy(&out);
}
END_TEST

START_TEST(test_while) {
  enum { N = 60 };
  struct buffer x = buffer_create(DTYPE_I32, N), out = buffer_create(DTYPE_I32, N);
  for (size_t i = 0; i < N; i++)
    set(&x, i, (double)(i + 1));
  upload(&x), upload(&out);
  tile_kernel *k = open_kernel("collatz");
  tile_arg args[] = {pointer(&x), pointer(&out)};
  need(tile_launch(k, NULL, (tile_grid){N, 1, 1}, args, 2));
  download(&out);
  for (size_t i = 0; i < N; i++) {
    long v = (long)i + 1, steps = 0;
    for (; v != 1; steps++)
      v = v % 2 ? 3 * v + 1 : v / 2;
    ck_assert_msg(get(&out, i) == (double)steps, "collatz(%zu) = %g, expected %ld", i + 1,
                  get(&out, i), steps);
  }
  tile_kernel_close(k);
  buffer_destroy(&x), buffer_destroy(&out);
}
END_TEST

START_TEST(test_atomics) {
  const int n = 5000;
  struct buffer x = buffer_create(DTYPE_I32, (size_t)n), histogram = buffer_create(DTYPE_I32, 16);
  double want[16] = {0};
  for (int i = 0; i < n; i++) {
    int v = i * 37 % 1013;
    set(&x, (size_t)i, v);
    want[v & 15]++;
  }
  upload(&x);
  for (unsigned warps = 1; warps <= 8; warps *= 2)
    for (int block = 16; block <= 1024; block *= 8) { // from fewer elements than threads to more
      for (size_t i = 0; i < 16; i++)
        set(&histogram, i, 0);
      memset((char *)histogram.host + 64, 0xA5, GUARD * 4);
      upload(&histogram);
      tile_kernel *k = open_kernel("count_digits");
      constant(k, "BLOCK", block);
      need(tile_kernel_set_warps(k, warps));
      tile_arg args[] = {pointer(&x), pointer(&histogram), tile_arg_i32(n)};
      need(tile_launch(k, NULL, (tile_grid){4, 1, 1}, args, 3));
      download(&histogram);
      for (size_t i = 0; i < 16; i++)
        ck_assert_msg(get(&histogram, i) == want[i], "warps %u block %d bin %zu: %g, expected %g",
                      warps, block, i, get(&histogram, i), want[i]);
      tile_kernel_close(k);
    }
  buffer_destroy(&x), buffer_destroy(&histogram);
}
END_TEST

// 64-bit indices are compared in 32 bits: limits on every side of a block, and extreme ones.
START_TEST(test_wide_masks) {
  enum { WIDE = 1024, PROGRAMS = 3 };
  const int firsts[] = {0, 5, -2, INT32_MAX - PROGRAMS, INT32_MIN};
  struct buffer out = buffer_create(DTYPE_I32, WIDE * PROGRAMS);
  tile_kernel *k = open_kernel("below");
  constant(k, "BLOCK", WIDE);
  for (size_t f = 0; f < COUNT_OF(firsts); f++) {
    const int64_t begin = (int64_t)firsts[f] * WIDE;
    const int64_t bounds[] = {
        begin - 1, begin,     begin + 1,     begin + 700, begin + WIDE, begin + 2 * WIDE + 1, 0, -1,
        INT64_MIN, INT64_MAX, INT64_MIN + 5, INT32_MAX,   INT32_MIN};
    for (size_t b = 0; b < COUNT_OF(bounds); b++) {
      upload(&out);
      tile_arg args[] = {pointer(&out), tile_arg_i32(firsts[f]), tile_arg_i64(bounds[b])};
      need(tile_launch(k, NULL, (tile_grid){PROGRAMS, 1, 1}, args, 3));
      download(&out);
      for (int i = 0; i < WIDE * PROGRAMS; i++)
        ck_assert_msg(get(&out, (size_t)i) == (begin + i < bounds[b]), "%lld < %lld is not %g",
                      (long long)begin + i, (long long)bounds[b], get(&out, (size_t)i));
    }
  }
  tile_kernel_close(k);
  buffer_destroy(&out);
}
END_TEST

// Runs in a child process, since CUDA must not be initialised before Check forks.
static bool has_gpu(void) {
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    tile_device *d;
    _exit(tile_device_open(device_name, &d) == TILE_OK ? 0 : 77);
  }
  int status;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

// Each test runs in a separate process, which opens the device.
static void open_device(void) { need(tile_device_open(device_name, &device)); }
static void close_device(void) { tile_device_close(device); }

int main(int argc, char **argv) {
  if (argc < 3)
    return 2;
  if (argc > 3)
    every = (unsigned)strtoul(argv[3], NULL, 10);
  kernel_file = argv[1];
  device_name = argv[2];
  if (!on_processor() && !has_gpu()) {
    printf("1..0 # SKIP no GPU\n");
    return 0;
  }
  Suite *suite = suite_create("run");
  TCase *c = tcase_create("cpu");
  tcase_set_timeout(c, 300);
  tcase_add_checked_fixture(c, open_device, close_device);
  tcase_add_loop_test(c, test_elementwise, 0, (int)COUNT_OF(operations));
  tcase_add_loop_test(c, test_cast, 0, DTYPE_COUNT - DTYPE_I8);
  tcase_add_test(c, test_outer);
  tcase_add_loop_test(c, test_transpose, 0, 4);
  tcase_add_loop_test(c, test_strided, 0, 5);
  tcase_add_test(c, test_reshape);
  tcase_add_test(c, test_loop);
  tcase_add_test(c, test_while);
  tcase_add_test(c, test_atomics);
  tcase_add_test(c, test_wide_masks);
  suite_add_tcase(suite, c);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed != 0;
}
