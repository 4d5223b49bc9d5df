// SPDX-License-Identifier: Apache-2.0
// Products of matrices whose addresses and sizes are in memory (grouped.tile), compared with sums
// in double precision. Usage: test-grouped FILE DEVICE.
#include "base/dtype.h"

#include <tile/tune.h>

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = 64 }; // elements behind a matrix that must keep their value
static const float guard_value = 77;

static const char *kernel_file, *device_name; // from the command line
static tile_device *device;

static void need(tile_status status) {
  ck_assert_msg(status == TILE_OK, "%s", tile_error_message());
}

// ---- matrices of f16, on the device and on the host ----

struct matrix {
  int rows, cols, stride;
  size_t bytes;
  uint16_t *host;
  void *at;
};

static double get(const struct matrix *x, int i, int j) {
  return dtype_load(DTYPE_F16, x->host + (size_t)i * (size_t)x->stride + j);
}

// Multiples of 1/8; `drawn` elements, then guards.
static struct matrix matrix_create(int rows, int cols, int stride, bool is_drawn) {
  size_t count = (size_t)rows * (size_t)stride;
  struct matrix x = {rows, cols, stride, (count + GUARD) * 2, NULL, NULL};
  x.host = malloc(x.bytes);
  for (size_t i = 0; i < count + GUARD; i++)
    dtype_store(DTYPE_F16, x.host + i,
                is_drawn && i < count ? (double)(rand() % 17 - 8) / 8 : (double)guard_value);
  need(tile_malloc(device, x.bytes, &x.at));
  need(tile_copy_to_device(device, NULL, x.at, x.host, x.bytes));
  return x;
}

static void matrix_destroy(struct matrix *x) {
  free(x->host);
  tile_free(device, x->at);
}

// An array of other types.
static void *upload(const void *from, size_t bytes) {
  void *at;
  need(tile_malloc(device, bytes, &at));
  need(tile_copy_to_device(device, NULL, at, from, bytes));
  return at;
}

static tile_arg f16(const struct matrix *x) { return tile_arg_pointer(x->at, TILE_F16); }

// ---- launches ----

static tile_kernel *open_kernel(const char *name) {
  tile_kernel *k;
  need(tile_kernel_open(device, kernel_file, name, &k));
  if (strcmp(device_name, "cuda") != 0)
    need(tile_kernel_set_check(k, 1));
  return k;
}

static void constant(tile_kernel *k, const char *name, int value) {
  char text[16];
  snprintf(text, sizeof text, "%d", value);
  need(tile_kernel_set_constant(k, name, text));
}

static void run(tile_kernel *k, unsigned x, unsigned y, const tile_arg *args, size_t count) {
  need(tile_launch(k, NULL, (tile_grid){x, y, 1}, args, count));
  need(tile_stream_synchronize(device, NULL));
}

// Row i of `a` times column j of `b`, or row j if it is transposed.
static double product(const struct matrix *a, int i, const struct matrix *b, int j, int k, bool t) {
  double sum = 0;
  for (int n = 0; n < k; n++)
    sum += get(a, i, n) * (t ? get(b, j, n) : get(b, n, j));
  return sum;
}

static void same(double got, double want, const char *what, int i, int j) {
  ck_assert_msg(fabs(got - want) <= 2e-3 * fabs(want) + 1e-3, "%s[%d, %d] is %g, not %g", what, i,
                j, got, want);
}

static void download(struct matrix *x) {
  need(tile_copy_to_host(device, NULL, x->host, x->at, x->bytes));
}

static void guards_are_kept(const struct matrix *x) {
  for (int i = 0; i < GUARD; i++)
    ck_assert_double_eq(dtype_load(DTYPE_F16, x->host + (size_t)x->rows * (size_t)x->stride + i),
                        guard_value);
  for (int i = 0; i < x->rows; i++)
    for (int j = x->cols; j < x->stride; j++)
      ck_assert_double_eq(get(x, i, j), guard_value);
}

// ---- groups ----

enum { MAX_GROUPS = 4 };
struct shape {
  int m, n, k;
};

static const struct {
  const char *kernel;
  int warps, bm, programs, groups;
  struct shape of[MAX_GROUPS];
} groupings[] = {
    // Whole tiles, as hints promise; a group of a single tile; more programs than tiles.
    {"by_pointers", 4, 64, 3, 3, {{128, 128, 96}, {64, 64, 32}, {64, 192, 64}}},
    {"by_pointers", 4, 64, 9, 1, {{64, 128, 128}}},
    // Edges in every dimension, no columns of A, one tile for many programs; maps made again by
    // each.
    {"by_descriptors", 4, 64, 2, 4, {{128, 128, 128}, {65, 40, 72}, {64, 64, 0}, {16, 200, 200}}},
    {"by_descriptors", 8, 128, 3, 3, {{200, 64, 512}, {129, 72, 64}, {128, 64, 640}}},
    {"by_descriptors", 4, 64, 5, 1, {{64, 64, 64}}},
};

static void compare_group(struct matrix *a, struct matrix *b, struct matrix *c, int k) {
  download(c);
  for (int i = 0; i < c->rows; i++)
    for (int j = 0; j < c->cols; j++)
      same(get(c, i, j), product(a, i, b, j, k, false), "c", i, j);
  guards_are_kept(c);
}

START_TEST(groups) {
  struct matrix m[3][MAX_GROUPS];
  uint64_t tables[3][MAX_GROUPS];
  int32_t sizes[6 * MAX_GROUPS];
  int n = groupings[_i].groups;
  bool pads = strcmp(groupings[_i].kernel, "by_pointers") != 0; // rows of A and B
  for (int g = 0; g < n; g++) {
    struct shape s = groupings[_i].of[g];
    int dims[3][2] = {{s.m, s.k}, {s.k, s.n}, {s.m, s.n}};
    for (int x = 0; x < 3; x++) {
      int stride = dims[x][1] + (pads ? 8 * (g % 2) : 0);
      m[x][g] = matrix_create(dims[x][0], dims[x][1], stride ? stride : 8, x < 2);
      tables[x][g] = (uint64_t)(uintptr_t)m[x][g].at;
      sizes[6 * g + 3 + x] = m[x][g].stride;
    }
    memcpy(sizes + 6 * g, &s, sizeof s);
  }
  tile_kernel *k = open_kernel(groupings[_i].kernel);
  need(tile_kernel_set_warps(k, (unsigned)groupings[_i].warps));
  constant(k, "BM", groupings[_i].bm);
  void *at[4];
  for (int x = 0; x < 3; x++)
    at[x] = upload(tables[x], sizeof tables[x]);
  at[3] = upload(sizes, sizeof sizes);
  tile_arg args[] = {tile_arg_pointer(at[0], TILE_U64), tile_arg_pointer(at[1], TILE_U64),
                     tile_arg_pointer(at[2], TILE_U64), tile_arg_pointer(at[3], TILE_I32),
                     tile_arg_int(TILE_I32, n)};
  run(k, (unsigned)groupings[_i].programs, 1, args, 5);
  for (int g = 0; g < n; g++)
    compare_group(&m[0][g], &m[1][g], &m[2][g], groupings[_i].of[g].k);
  tile_kernel_close(k);
  for (int x = 0; x < 4; x++)
    tile_free(device, at[x]);
  for (int g = 0; g < n; g++)
    for (int x = 0; x < 3; x++)
      matrix_destroy(&m[x][g]);
}
END_TEST

// ---- a matrix for each tile ----

START_TEST(experts) {
  enum { M = 240, N = 80, K = 144, EXPERTS = 3 };
  static const int32_t expert_of[] = {2, 0, 0, 1};
  struct matrix x = matrix_create(M, K, K, true), w = matrix_create(EXPERTS * N, K, K, true);
  struct matrix bias = matrix_create(EXPERTS, N, N, true), out = matrix_create(M, N, N, false);
  void *table = upload(expert_of, sizeof expert_of);
  tile_kernel *k = open_kernel("experts");
  tile_arg args[] = {f16(&x),
                     f16(&w),
                     f16(&bias),
                     f16(&out),
                     tile_arg_pointer(table, TILE_I32),
                     tile_arg_int(TILE_I32, M),
                     tile_arg_int(TILE_I32, N),
                     tile_arg_int(TILE_I32, K)};
  run(k, 3, 1, args, 8);
  download(&out);
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      int e = expert_of[i / 64];
      same(get(&out, i, j), product(&x, i, &w, e * N + j, K, true) + get(&bias, e, j), "out", i, j);
    }
  guards_are_kept(&out);
  tile_kernel_close(k);
  tile_free(device, table);
  matrix_destroy(&x), matrix_destroy(&w), matrix_destroy(&bias), matrix_destroy(&out);
}
END_TEST

// ---- sequences of different lengths ----

START_TEST(sequences) {
  enum { ROWS = 210, N = 96, K = 80 };
  static const int32_t starts[] = {0, 70, 70, 134, ROWS}; // one of them is empty
  struct matrix x = matrix_create(ROWS, K, K, true), w = matrix_create(K, N, N, true);
  struct matrix out = matrix_create(ROWS, N, N, false);
  void *table = upload(starts, sizeof starts);
  tile_kernel *k = open_kernel("ragged");
  tile_arg args[] = {f16(&x),
                     f16(&w),
                     f16(&out),
                     tile_arg_pointer(table, TILE_I32),
                     tile_arg_int(TILE_I32, N),
                     tile_arg_int(TILE_I32, K)};
  run(k, 2, 4, args, 6);
  download(&out);
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < N; j++)
      same(get(&out, i, j), product(&x, i, &w, j, K, false), "out", i, j);
  guards_are_kept(&out);
  tile_kernel_close(k);
  tile_free(device, table);
  matrix_destroy(&x), matrix_destroy(&w), matrix_destroy(&out);
}
END_TEST

// ---- sums and maxima of parts, by atomic operations of blocks ----

static const struct {
  tile_type type;
  bool max;
  int warps, bm;
} parts[] = {{TILE_F32, false, 4, 64},  {TILE_F16, false, 8, 128}, {TILE_BF16, false, 4, 64},
             {TILE_I32, false, 4, 128}, {TILE_I32, true, 4, 64},   {TILE_U32, true, 8, 128},
             {TILE_F16, true, 4, 64},   {TILE_BF16, true, 8, 128}};

// Small integers: all sums are exact. Elements of out begin at 3.
START_TEST(parts_of_k) {
  enum { M = 144, N = 80, K = 256, PARTS = 4, FIRST = 3 };
  enum dtype type = (enum dtype)parts[_i].type;
  size_t count = M * N, bytes = (count + GUARD) * dtype_bytes(type);
  struct matrix x = matrix_create(M, K, K, true), w = matrix_create(K, N, N, true);
  for (size_t i = 0; i < M * K; i++)
    dtype_store(DTYPE_F16, x.host + i, (double)(rand() % 3));
  for (size_t i = 0; i < K * N; i++)
    dtype_store(DTYPE_F16, w.host + i, rand() % 8 == 0);
  need(tile_copy_to_device(device, NULL, x.at, x.host, x.bytes));
  need(tile_copy_to_device(device, NULL, w.at, w.host, w.bytes));
  char *host = malloc(bytes);
  for (size_t i = 0; i < count + GUARD; i++)
    dtype_store(type, host + i * dtype_bytes(type), FIRST);
  void *out = upload(host, bytes);
  tile_kernel *k = open_kernel("split_k");
  need(tile_kernel_set_constant(k, "MAX", parts[_i].max ? "True" : "False"));
  need(tile_kernel_set_warps(k, (unsigned)parts[_i].warps));
  constant(k, "BM", parts[_i].bm);
  tile_arg args[] = {f16(&x),
                     f16(&w),
                     tile_arg_pointer(out, parts[_i].type),
                     tile_arg_int(TILE_I32, M),
                     tile_arg_int(TILE_I32, N),
                     tile_arg_int(TILE_I32, K)};
  unsigned tiles = (unsigned)((M + parts[_i].bm - 1) / parts[_i].bm * 2);
  run(k, tiles, PARTS, args, 6);
  need(tile_copy_to_host(device, NULL, host, out, bytes));
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      double want = FIRST, part[PARTS] = {0};
      for (int n = 0; n < K; n++)
        part[n / 64 % PARTS] += get(&x, i, n) * get(&w, n, j);
      for (int n = 0; n < PARTS; n++)
        want = parts[_i].max ? fmax(want, part[n]) : want + part[n];
      same(dtype_load(type, host + (size_t)(i * N + j) * dtype_bytes(type)), want, "out", i, j);
    }
  for (size_t i = count; i < count + GUARD; i++)
    ck_assert_double_eq(dtype_load(type, host + i * dtype_bytes(type)), FIRST);
  tile_kernel_close(k);
  tile_free(device, out);
  free(host);
  matrix_destroy(&x), matrix_destroy(&w);
}
END_TEST

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  kernel_file = argv[1], device_name = argv[2];
  if (tile_device_open(device_name, &device) == TILE_NO_DEVICE) {
    printf("1..0 # SKIP no device `%s`\n", device_name);
    return 0;
  }
  TCase *t = tcase_create("grouped");
  tcase_set_timeout(t, 300);
  tcase_add_loop_test(t, groups, 0, COUNT_OF(groupings));
  tcase_add_test(t, experts);
  tcase_add_test(t, sequences);
  tcase_add_loop_test(t, parts_of_k, 0, COUNT_OF(parts));
  Suite *s = suite_create("grouped");
  suite_add_tcase(s, t);
  SRunner *r = srunner_create(s);
  srunner_set_fork_status(r, CK_NOFORK);
  srunner_run_all(r, CK_ENV);
  int failed = srunner_ntests_failed(r);
  srunner_free(r);
  tile_device_close(device);
  return failed ? 1 : 0;
}
