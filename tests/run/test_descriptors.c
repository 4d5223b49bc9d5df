// SPDX-License-Identifier: Apache-2.0
// Tensor descriptors as arguments of tile_launch, compared with references in double precision, and
// what the launch refuses. With $TILE_WORKER kernels are compiled in workers. Usage:
// test-descriptors FILE DEVICE.
#include "base/dtype.h"

#include <tile/tune.h>

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *kernel_file, *device_name; // from the command line
static tile_device *device;
static tile_kernel *kernel;

static void need(tile_status status) {
  ck_assert_msg(status == TILE_OK, "%s", tile_error_message());
}

// ---- tensors ----

// A tensor on the device, and its elements with their padding on the host.
struct tensor {
  tile_descriptor of;
  size_t bytes;
  void *host;
};

// Rows are rounded up to 16 bytes. Elements are drawn, small multiples of 1/8.
static struct tensor tensor_create(tile_type type, unsigned rank, const int *shape,
                                   const unsigned *block) {
  struct tensor t = {.of = {.element = type, .rank = rank}};
  int64_t stride = 1, chunk = 16 / dtype_bytes((enum dtype)type);
  for (unsigned i = rank; i-- > 0;) {
    t.of.shape[i] = shape[i];
    t.of.strides[i] = stride;
    t.of.block[i] = block ? block[i] : 0;
    stride = (stride * shape[i] + chunk - 1) / chunk * chunk;
  }
  t.bytes = (size_t)stride * dtype_bytes((enum dtype)type);
  t.host = malloc(t.bytes);
  for (int64_t i = 0; i < stride; i++)
    dtype_store((enum dtype)type, (char *)t.host + i * dtype_bytes((enum dtype)type),
                (double)(rand() % 17 - 8) / (dtype_is_int((enum dtype)type) ? 1 : 8));
  need(tile_malloc(device, t.bytes, &t.of.base));
  need(tile_copy_to_device(device, NULL, t.of.base, t.host, t.bytes));
  return t;
}

static void tensor_download(struct tensor *t) {
  need(tile_copy_to_host(device, NULL, t->host, t->of.base, t->bytes));
}

static void tensor_destroy(struct tensor *t) {
  free(t->host);
  tile_free(device, t->of.base);
}

// The element with row-major number `n`.
static char *at(const struct tensor *t, int64_t n) {
  int64_t offset = 0;
  for (unsigned i = t->of.rank; i-- > 0; n /= t->of.shape[i])
    offset += n % t->of.shape[i] * t->of.strides[i];
  return (char *)t->host + offset * dtype_bytes((enum dtype)t->of.element);
}

static double get(const struct tensor *t, int64_t n) {
  return dtype_load((enum dtype)t->of.element, at(t, n));
}

static int64_t count_of(const struct tensor *t) {
  int64_t n = 1;
  for (unsigned i = 0; i < t->of.rank; i++)
    n *= t->of.shape[i];
  return n;
}

static tile_arg arg(const struct tensor *t) { return tile_arg_descriptor(&t->of); }
static tile_arg pointer(const struct tensor *t) {
  return tile_arg_pointer(t->of.base, t->of.element);
}

// ---- launches ----

static void open_kernel(const char *name) {
  need(tile_kernel_open(device, kernel_file, name, &kernel));
  if (strcmp(device_name, "cuda") != 0)
    need(tile_kernel_set_check(kernel, 1));
}

static void constant(const char *name, int value) {
  char text[16];
  snprintf(text, sizeof text, "%d", value);
  need(tile_kernel_set_constant(kernel, name, text));
}

static tile_status launch(unsigned x, unsigned y, const tile_arg *args, size_t count) {
  tile_status s = tile_launch(kernel, NULL, (tile_grid){x, y, 1}, args, count);
  return s == TILE_OK ? tile_stream_synchronize(device, NULL) : s;
}

static void tear_down(void) {
  tile_kernel_close(kernel);
  kernel = NULL;
}

// ---- products ----

static const struct {
  int m, n, k;
  bool own_warps;
} products[] = {
    {128, 128, 128, false}, {128, 128, 192, true}, {100, 200, 136, false},
    {100, 203, 139, true},  {1, 8, 7, true},
};

static void compare_product(const struct tensor *a, const struct tensor *b,
                            const struct tensor *c) {
  int64_t m = a->of.shape[0], n = b->of.shape[0], k = a->of.shape[1];
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < n; j++) {
      double sum = 0, unit = 1e-2;
      for (int64_t x = 0; x < k; x++)
        sum += get(a, i * k + x) * get(b, j * k + x);
      double got = get(c, i * n + j);
      ck_assert_msg(fabs(got - sum) <= unit * (1 + fabs(sum)), "[%d, %d] is %g, not %g", (int)i,
                    (int)j, got, sum);
    }
}

START_TEST(products_of_descriptors) {
  int m = products[_i].m, n = products[_i].n, k = products[_i].k;
  struct tensor a = tensor_create(TILE_F16, 2, (int[]){m, k}, (unsigned[]){64, 64});
  struct tensor b = tensor_create(TILE_F16, 2, (int[]){n, k}, (unsigned[]){128, 64});
  struct tensor c = tensor_create(TILE_F16, 2, (int[]){m, n}, (unsigned[]){64, 128});
  open_kernel("product");
  constant("ROWS", 64);
  constant("COLS", 128);
  constant("STEP", 64);
  need(tile_kernel_set_constant(kernel, "OWN_WARPS", products[_i].own_warps ? "True" : "False"));
  tile_arg args[] = {arg(&a), arg(&b), arg(&c), tile_arg_i32(k)};
  need(launch((unsigned)(m + 63) / 64, (unsigned)(n + 127) / 128, args, 4));
  tensor_download(&c);
  compare_product(&a, &b, &c);
  tensor_destroy(&a), tensor_destroy(&b), tensor_destroy(&c);
}
END_TEST

// ---- every rank ----

static const struct {
  tile_type type;
  unsigned rank;
  int shape[5];
  unsigned block[5];
} shapes[] = {
    {TILE_F32, 1, {100}, {16}},
    {TILE_F16, 2, {33, 70}, {8, 32}},
    {TILE_I8, 2, {5, 50}, {4, 16}},
    {TILE_BF16, 3, {3, 9, 20}, {2, 4, 8}},
    {TILE_I32, 4, {2, 3, 5, 7}, {1, 2, 4, 4}},
    {TILE_F64, 5, {2, 1, 3, 2, 9}, {1, 1, 2, 2, 8}},
};

START_TEST(tensors_of_every_rank) {
  unsigned rank = shapes[_i].rank, blocks = 1;
  struct tensor from = tensor_create(shapes[_i].type, rank, shapes[_i].shape, shapes[_i].block);
  struct tensor to = tensor_create(shapes[_i].type, rank, shapes[_i].shape, shapes[_i].block);
  for (unsigned i = 0; i < rank; i++)
    blocks *= ((unsigned)shapes[_i].shape[i] + shapes[_i].block[i] - 1) / shapes[_i].block[i];
  open_kernel("scaled");
  constant("RANK", (int)rank);
  tile_arg args[] = {arg(&from), arg(&to), tile_arg_i32(3)};
  need(launch(blocks, 1, args, 3));
  tensor_download(&to);
  for (int64_t i = 0; i < count_of(&to); i++)
    ck_assert_double_eq(get(&to, i), 3 * get(&from, i));
  tensor_destroy(&from), tensor_destroy(&to);
}
END_TEST

START_TEST(sizes_and_strides) {
  unsigned rank = shapes[_i].rank;
  struct tensor from = tensor_create(shapes[_i].type, rank, shapes[_i].shape, shapes[_i].block);
  struct tensor to = tensor_create(TILE_I64, 1, (int[]){16}, NULL);
  open_kernel("numbers");
  constant("RANK", (int)rank);
  tile_arg args[] = {arg(&from), pointer(&to)};
  need(launch(1, 1, args, 2));
  tensor_download(&to);
  for (unsigned i = 0; i < rank; i++) {
    ck_assert_int_eq(((int64_t *)to.host)[i], from.of.shape[i]);
    ck_assert_int_eq(((int64_t *)to.host)[rank + i], from.of.strides[i]);
  }
  tensor_destroy(&from), tensor_destroy(&to);
}
END_TEST

// The second launch has another padding, which is part of the specialisation.
START_TEST(padding) {
  struct tensor from = tensor_create(TILE_F32, 1, (int[]){10}, (unsigned[]){16});
  struct tensor to = tensor_create(TILE_F32, 1, (int[]){16}, (unsigned[]){16});
  open_kernel("scaled");
  constant("RANK", 1);
  tile_arg args[] = {arg(&from), arg(&to), tile_arg_f32(2)};
  for (int nan = 0; nan < 2; nan++) {
    from.of.pads_nan = nan;
    need(launch(1, 1, args, 3));
    tensor_download(&to);
    for (int i = 0; i < 16; i++)
      ck_assert(i < 10 ? get(&to, i) == 2 * get(&from, i)
                : nan  ? isnan(get(&to, i))
                       : get(&to, i) == 0);
  }
  tensor_destroy(&from), tensor_destroy(&to);
}
END_TEST

START_TEST(rows_and_atomics) {
  enum { COUNT = 8, N = 16 };
  static const int32_t which[COUNT] = {11, 2, 5, 0, 30, 7, 1, 40}; // the tensor has 31 rows
  struct tensor from = tensor_create(TILE_F32, 2, (int[]){31, N}, (unsigned[]){1, N});
  struct tensor copy = tensor_create(TILE_F32, 2, (int[]){31, N}, (unsigned[]){1, N});
  struct tensor to = tensor_create(TILE_F32, 2, (int[]){1, N}, (unsigned[]){1, N});
  struct tensor index = tensor_create(TILE_I32, 1, (int[]){COUNT}, NULL);
  double sums[N];
  for (int i = 0; i < N; i++) {
    sums[i] = get(&to, i);
    for (int k = 0; k < COUNT; k++)
      sums[i] += which[k] < 31 ? get(&from, which[k] * N + i) : 0;
  }
  need(tile_copy_to_device(device, NULL, index.of.base, which, sizeof which));
  open_kernel("rows");
  constant("COUNT", COUNT);
  tile_arg args[] = {arg(&from), arg(&to), arg(&copy), pointer(&index)};
  need(launch(1, 1, args, 4));
  tensor_download(&to);
  tensor_download(&copy);
  for (int i = 0; i < N; i++) {
    ck_assert_double_eq(get(&to, i), sums[i]);
    ck_assert_double_eq(get(&copy, 30 * N + i), get(&from, 30 * N + i));
  }
  tensor_destroy(&from), tensor_destroy(&copy), tensor_destroy(&to), tensor_destroy(&index);
}
END_TEST

// The same kernel takes either.
START_TEST(descriptors_or_pointers) {
  struct tensor from = tensor_create(TILE_F16, 1, (int[]){90}, (unsigned[]){32});
  struct tensor to = tensor_create(TILE_F16, 1, (int[]){90}, (unsigned[]){32});
  open_kernel("doubled");
  constant("BLOCK", 32);
  for (int i = 0; i < 4; i++) {
    tile_arg args[] = {i & 1 ? arg(&from) : pointer(&from), i & 2 ? arg(&to) : pointer(&to),
                       tile_arg_i32(90)};
    memset(to.host, 0, to.bytes);
    need(tile_copy_to_device(device, NULL, to.of.base, to.host, to.bytes));
    need(launch(3, 1, args, 3));
    tensor_download(&to);
    for (int k = 0; k < 90; k++)
      ck_assert_double_eq(get(&to, k), 2 * get(&from, k));
  }
  tensor_destroy(&from), tensor_destroy(&to);
}
END_TEST

// Blocks from the annotation, with and without those of the descriptor.
START_TEST(declared_blocks) {
  struct tensor from = tensor_create(TILE_F32, 2, (int[]){4, 16}, NULL);
  struct tensor to = tensor_create(TILE_F32, 2, (int[]){4, 16}, (unsigned[]){4, 16});
  struct tensor deep = tensor_create(TILE_F32, 3, (int[]){1, 4, 16}, NULL);
  struct tensor half = tensor_create(TILE_F16, 2, (int[]){4, 16}, NULL);
  open_kernel("declared");
  constant("ROWS", 4);
  constant("COLS", 8);
  tile_arg args[] = {arg(&from), arg(&to)};
  need(launch(1, 1, args, 2));
  tensor_download(&to);
  for (int i = 0; i < 64; i++)
    ck_assert_double_eq(get(&to, i), get(&from, i) + 1);
  from.of.block[0] = 8, from.of.block[1] = 16;
  ck_assert_int_eq(launch(1, 1, args, 2), TILE_COMPILE_ERROR);
  ck_assert_msg(strstr(tile_error_message(), "blocks of 4 elements in dimension 0, but given with "
                                             "8 [E0413]"),
                "%s", tile_error_message());
  const struct {
    tile_arg arg;
    const char *message;
  } wrong[] = {
      {arg(&deep), "argument 1 (`source`) must be a tensor descriptor with 2 dimensions, got 3"},
      {arg(&half), "argument 1 (`source`) must be a tensor descriptor of f32, got a tensor "
                   "descriptor of f16"},
      {pointer(&to), "must be a tensor descriptor of f32, got a pointer to f32"},
      {tile_arg_i32(1), "must be a tensor descriptor of f32, got i32"},
      {tile_arg_none(), "must be a tensor descriptor of f32, got None"},
  };
  for (size_t i = 0; i < COUNT_OF(wrong); i++) {
    args[0] = wrong[i].arg;
    ck_assert_int_eq(launch(1, 1, args, 2), TILE_INVALID_ARGUMENT);
    ck_assert_msg(strstr(tile_error_message(), wrong[i].message), "%s", tile_error_message());
  }
  tensor_destroy(&from), tensor_destroy(&to), tensor_destroy(&deep), tensor_destroy(&half);
}
END_TEST

START_TEST(descriptors_in_tuples) {
  struct tensor x = tensor_create(TILE_F32, 1, (int[]){30}, (unsigned[]){16});
  struct tensor y = tensor_create(TILE_F32, 1, (int[]){20}, (unsigned[]){16});
  struct tensor to = tensor_create(TILE_F32, 1, (int[]){30}, (unsigned[]){16});
  open_kernel("summed");
  need(tile_kernel_set_tuple(kernel, "parts", 2));
  tile_arg args[] = {arg(&x), arg(&y), arg(&to)};
  need(launch(2, 1, args, 3));
  tensor_download(&to);
  for (int i = 0; i < 30; i++)
    ck_assert_double_eq(get(&to, i), get(&x, i) + (i < 20 ? get(&y, i) : 0));
  tensor_destroy(&x), tensor_destroy(&y), tensor_destroy(&to);
}
END_TEST

// The blocks come from the pre_hook of the configuration in use.
START_TEST(blocks_of_hooks) {
  struct tensor from = tensor_create(TILE_F32, 2, (int[]){5, 40}, NULL);
  struct tensor to = tensor_create(TILE_F32, 2, (int[]){5, 40}, NULL);
  open_kernel("halved");
  if (_i)
    need(tile_kernel_set_constant(kernel, "WIDE", "True"));
  tile_arg args[] = {arg(&from), arg(&to)};
  need(launch(3, _i ? 3 : 5, args, 2));
  tensor_download(&to);
  for (int i = 0; i < 200; i++)
    ck_assert_double_eq(get(&to, i), get(&from, i) / 2);
  tensor_destroy(&from), tensor_destroy(&to);
}
END_TEST

// The grid uses sizes of the descriptor; the second launch finds the first one's choice, the third
// has another size.
START_TEST(tuned_launches) {
  tile_tuned *tuned;
  struct tensor from = tensor_create(TILE_F32, 2, (int[]){5, 40}, NULL);
  struct tensor to = tensor_create(TILE_F32, 2, (int[]){5, 40}, NULL);
  tile_arg args[] = {arg(&from), arg(&to)};
  need(tile_tuned_open(device, kernel_file, "halved", &tuned));
  need(tile_tuned_set_policy(tuned, TILE_TUNE_NEVER));
  need(tile_tuned_set_grid(tuned, "cdiv(source.shape[0], ROWS), cdiv(target.shape[1], COLS)"));
  for (int i = 0; i < 3; i++) {
    from.of.shape[1] = to.of.shape[1] = i == 2 ? 33 : 40;
    memset(to.host, 0, to.bytes);
    need(tile_copy_to_device(device, NULL, to.of.base, to.host, to.bytes));
    need(tile_tuned_launch(tuned, NULL, args, 2));
    need(tile_stream_synchronize(device, NULL));
    tensor_download(&to);
    for (int64_t k = 0; k < count_of(&to); k++)
      ck_assert_double_eq(get(&to, k), get(&from, k) / 2);
  }
  ck_assert(((float *)to.host)[33] == 0); // behind the row
  args[0] = tile_arg_descriptor(NULL);
  ck_assert_int_eq(tile_tuned_launch(tuned, NULL, args, 2), TILE_INVALID_ARGUMENT);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "argument 1 (`source`)"));
  tile_tuned_close(tuned);
  tensor_destroy(&from), tensor_destroy(&to);
}
END_TEST

// ---- what the launch refuses ----

static void refuses(const tile_descriptor *d, const char *message) {
  struct tensor to = tensor_create(TILE_F32, 2, (int[]){8, 16}, (unsigned[]){8, 16});
  tile_arg args[] = {d ? tile_arg_descriptor(d) : tile_arg_descriptor(NULL), arg(&to),
                     tile_arg_f32(1)};
  tile_status s = launch(1, 1, args, 3);
  ck_assert_int_eq(s, TILE_INVALID_ARGUMENT);
  ck_assert_msg(strstr(tile_error_message(), message), "%s\nwithout: %s", tile_error_message(),
                message);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "kernel `scaled`: argument 1 (`source`)"));
  tensor_destroy(&to);
}

// Expects that the descriptor with this change is refused.
#define REFUSES(change, message)                                                                   \
  do {                                                                                             \
    tile_descriptor d = good;                                                                      \
    d.change;                                                                                      \
    refuses(&d, message);                                                                          \
  } while (0)

START_TEST(wrong_descriptors) {
  struct tensor t = tensor_create(TILE_F32, 2, (int[]){8, 16}, (unsigned[]){8, 16});
  const tile_descriptor good = t.of;
  open_kernel("scaled");
  constant("RANK", 2);
  refuses(NULL, "is NULL");
  REFUSES(base = NULL, "the base of the tensor descriptor is NULL");
  REFUSES(base = (char *)good.base + 8, "8, which is not a multiple of 16 bytes");
  REFUSES(element = TILE_I1, "have no type that one can have");
  REFUSES(element = TILE_NONE, "have no type that one can have");
  REFUSES(element = (tile_type)99, "have no type that one can have");
  REFUSES(rank = 0, "has 0 dimensions, but 1 to 5 are possible");
  REFUSES(rank = 6, "has 6 dimensions, but 1 to 5 are possible");
  REFUSES(shape[0] = 0, "shape[0] of the tensor descriptor is 0, but 1 to 2147483647 elements");
  REFUSES(shape[1] = -3, "shape[1] of the tensor descriptor is -3");
  REFUSES(shape[1] = (int64_t)1 << 31, "shape[1] of the tensor descriptor is 2147483648");
  REFUSES(strides[0] = 18, "strides[0] of the tensor descriptor is 18, but its bytes have to be");
  REFUSES(strides[0] = -16, "strides[0] of the tensor descriptor is -16, but");
  REFUSES(strides[0] = (int64_t)1 << 38, "strides[0] of the tensor descriptor is 274877906944");
  REFUSES(strides[0] = INT64_MAX, "strides[0] of the tensor descriptor is 9223372036854775807");
  REFUSES(strides[1] = 2, "strides[1] of the tensor descriptor is 2, but the last stride is 1");
  REFUSES(block[0] = 6, "block[0] of the tensor descriptor is 6, but it has to be a power of two");
  REFUSES(block[0] = 0, "block[0] of the tensor descriptor is 0, but it has to be a power of two");
  REFUSES(block[0] = 1u << 17, "block[1] of the tensor descriptor is 16, but a block has at most");
  REFUSES(block[1] = 2, "block[1] of the tensor descriptor is 2, but the last dimension of a block "
                        "has at least 16 bytes");
  tile_descriptor d = good;
  d.element = TILE_I32, d.pads_nan = 1;
  refuses(&d, "only f16, bf16, f32 and f64 can be NaN");
  d = good;
  d.shape[0] = INT32_MAX, d.strides[0] = ((int64_t)1 << 40) / 4 - 4;
  refuses(&d, "ends behind the last address");
  tensor_destroy(&t);
}
END_TEST

START_TEST(unknown_blocks) {
  struct tensor t = tensor_create(TILE_F32, 1, (int[]){16}, NULL);
  open_kernel("scaled");
  constant("RANK", 1);
  tile_arg args[] = {arg(&t), arg(&t), tile_arg_f32(1)};
  ck_assert_int_eq(launch(1, 1, args, 3), TILE_COMPILE_ERROR);
  ck_assert_msg(strstr(tile_error_message(), "the shape of the blocks of `source` is not known"),
                "%s", tile_error_message());
  tensor_destroy(&t);
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
  if (getenv("TILE_WORKER") &&
      tile_device_set_worker(device, &(tile_worker_options){0}) != TILE_OK) {
    printf("Bail out! %s\n", tile_error_message());
    return 1;
  }
  TCase *t = tcase_create("descriptors");
  tcase_set_timeout(t, 300);
  tcase_add_checked_fixture(t, NULL, tear_down);
  tcase_add_loop_test(t, products_of_descriptors, 0, COUNT_OF(products));
  tcase_add_loop_test(t, tensors_of_every_rank, 0, COUNT_OF(shapes));
  tcase_add_loop_test(t, sizes_and_strides, 0, COUNT_OF(shapes));
  tcase_add_test(t, padding);
  tcase_add_test(t, rows_and_atomics);
  tcase_add_test(t, descriptors_or_pointers);
  tcase_add_test(t, declared_blocks);
  tcase_add_test(t, descriptors_in_tuples);
  tcase_add_loop_test(t, blocks_of_hooks, 0, 2);
  tcase_add_test(t, tuned_launches);
  tcase_add_test(t, wrong_descriptors);
  tcase_add_test(t, unknown_blocks);
  Suite *s = suite_create("descriptors");
  suite_add_tcase(s, t);
  SRunner *r = srunner_create(s);
  srunner_set_fork_status(r, CK_NOFORK);
  srunner_run_all(r, CK_ENV);
  int failed = srunner_ntests_failed(r);
  srunner_free(r);
  tile_device_close(device);
  return failed ? 1 : 0;
}
