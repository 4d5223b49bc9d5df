// SPDX-License-Identifier: Apache-2.0
// Packs whose codes have tensor maps and producer warps, over the fake driver: what a launch
// passes, and what is refused.
#include "base/sha256.h"
#include "fake_cuda.h"
#include "runtime/pack.h"
#include "suites.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static struct fake_cuda *fake;
static struct strbuf bytes;
static tile_pack *pack;
static tile_device *device;

static struct kernel_param params[] = {
    {.name = "n", .dtype = DTYPE_I32, .divisible_by = 1},
    {.name = "x", .is_pointer = true, .dtype = DTYPE_F32, .divisible_by = 1},
    {.name = "rows", .dtype = DTYPE_I32, .divisible_by = 1},
};

// Maps of the tensor `x` of `rows` rows with 16 columns, by the numbers of these parameters.
#define MAPS(x, rows)                                                                              \
  "[{\"dtype\": \"f32\", \"base\": " x ", \"offset\": [0], \"sizes\": [[\"" rows "\"], [16]], "    \
  "\"strides\": [[16]], \"box\": [8, 16], \"swizzle\": 64, \"pads_nan\": false}]"

// For sm_90a with `any` and `one` as maps: if `n` is 1, the code lacks it. For sm_80 without maps.
static void write_pack(const char *any, const char *one, uint32_t producers) {
  const struct pack_code base = {.symbol = "kernel",
                                 .target = "sm_90a",
                                 .format = PACK_CUBIN,
                                 .capability = 90,
                                 .is_specific = true,
                                 .registers = PACK_UNKNOWN,
                                 .spill_stores = PACK_UNKNOWN,
                                 .producer_warps = producers,
                                 .maps = any,
                                 .bytes = STR("\177ELF any n, for sm_90a, padded until it is so "
                                              "long that the fake driver can record it all")};
  struct pack_code ones = base, old = base;
  ones.maps = one;
  old.target = "sm_80", old.capability = 80, old.is_specific = false, old.format = PACK_PTX;
  old.producer_warps = 0, old.maps = NULL;
  const struct pack_code codes[] = {base, old}, of_one[] = {ones, old};
  static const uint32_t hint_one[] = {0, 1, 1}, hint_any[] = {1, 1, 1};
  const struct pack_variant variants[] = {{hint_one, 4, 3, of_one, 2}, {hint_any, 8, 3, codes, 2}};
  const struct pack_kernel k = {"copy", "copy", "", params, 3, variants, 2};
  pack_write(&k, 1, &bytes);
  ck_assert(!bytes.failed);
}

static tile_status open_pack(void) {
  void *lib = dlopen(FAKE_CUDA_PATH, RTLD_NOW | RTLD_LOCAL);
  ck_assert_ptr_nonnull(lib);
  fake = dlsym(lib, FAKE_CUDA_STATE);
  return tile_pack_from_memory(bytes.ptr, bytes.len, &pack);
}

static tile_function *get(int major) {
  tile_function *f = NULL;
  fake->major = major;
  ck_assert_int_eq(tile_device_open("cuda", &device), TILE_OK);
  ck_assert_int_eq(tile_pack_get_function(pack, device, "copy", &f), TILE_OK);
  return f;
}

static tile_status launch(tile_function *f, int32_t n, int32_t rows) {
  const tile_arg args[] = {tile_arg_i32(n), tile_arg_pointer((void *)0x10000, TILE_F32),
                           tile_arg_i32(rows)};
  return tile_function_launch(f, NULL, (tile_grid){1, 1, 1}, args, 3);
}

static int encoded(void) { return fake->calls[CUDA_CALL_tensor_map_encode]; }

START_TEST(launches_pass_maps) {
  write_pack(MAPS("1", "p2"), MAPS("0", "p1"), 2);
  ck_assert_uint_eq(pack_u32((uint8_t *)bytes.ptr + PACK_AT_VERSION), 2);
  ck_assert_int_eq(open_pack(), TILE_OK);
  ck_assert_int_eq(tile_pack_verify(pack), TILE_OK);
  tile_function *f = get(9);
  fake->param_count = 4;
  for (int i = 0; i < 2; i++)
    ck_assert_int_eq(launch(f, 5, 77), TILE_OK);
  ck_assert_uint_eq(fake->block, 32 * (8 + 2));
  ck_assert_uint_eq(fake->params[1], 0x10000);
  ck_assert_uint_eq(fake->params[3], 0x10000 ^ 77); // the fake's encoding
  ck_assert_int_eq(encoded(), 1);
  // The code for `n` = 1 has the parameters `x` and `rows`.
  fake->param_count = 3;
  ck_assert_int_eq(launch(f, 1, 78), TILE_OK);
  ck_assert_uint_eq(fake->block, 32 * (4 + 2));
  ck_assert_uint_eq(fake->params[0], 0x10000);
  ck_assert_uint_eq(fake->params[2], 0x10000 ^ 78);
  ck_assert_int_eq(encoded(), 2);
  tile_function_close(f);
  tile_device_close(device);
  f = get(8);
  ck_assert_int_eq(launch(f, 5, 77), TILE_OK);
  ck_assert_uint_eq(fake->block, 32 * 8);
  ck_assert_int_eq(encoded(), 2);
  tile_function_close(f);
}
END_TEST

// Nothing that older libraries do not read.
START_TEST(without_maps_the_version_is_1) {
  write_pack(NULL, NULL, 0);
  ck_assert_uint_eq(pack_u32((uint8_t *)bytes.ptr + PACK_AT_VERSION), 1);
  ck_assert_int_eq(open_pack(), TILE_OK);
  strbuf_finish(&bytes);
  tile_pack_close(pack);
  write_pack(NULL, NULL, 1);
  ck_assert_uint_eq(pack_u32((uint8_t *)bytes.ptr + PACK_AT_VERSION), 2);
  ck_assert_int_eq(open_pack(), TILE_OK);
}
END_TEST

static const char *const malformed[] = {
    "[", "{}", "[{}]", "[1]", MAPS("0", "p2") /* no pointer */, MAPS("3", "p2"), MAPS("1", "p3"),
};

START_TEST(malformed_maps_are_refused) {
  write_pack(malformed[_i], MAPS("0", "p1"), 2);
  ck_assert_int_eq(open_pack(), TILE_OK);
  tile_function *f = get(9);
  for (int i = 0; i < 2; i++)
    ck_assert_int_eq(launch(f, 5, 77), TILE_IO_ERROR); // no other code instead
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "function `copy`: its tensor maps"));
  ck_assert_int_eq(launch(f, 1, 77), TILE_OK);
  tile_function_close(f);
}
END_TEST

static void hash_again(uint8_t *data) {
  struct sha256 h;
  size_t index = (size_t)pack_u64(data + PACK_AT_INDEX_BYTES);
  sha256_init(&h);
  sha256_update(&h, data, PACK_AT_SHA);
  sha256_update(&h, data + PACK_HEADER_BYTES, index - PACK_HEADER_BYTES);
  sha256_final(&h, data + PACK_AT_SHA);
}

START_TEST(version_1_has_no_maps) {
  write_pack(MAPS("1", "p2"), MAPS("0", "p1"), _i ? 2 : 0);
  bytes.ptr[PACK_AT_VERSION] = 1;
  hash_again((uint8_t *)bytes.ptr);
  ck_assert_int_eq(open_pack(), TILE_INVALID_ARGUMENT);
}
END_TEST

START_TEST(too_many_producers) {
  write_pack(NULL, NULL, 33);
  ck_assert_int_eq(open_pack(), TILE_INVALID_ARGUMENT);
}
END_TEST

static void use_fake(void) { setenv("TILE_LIBCUDA", FAKE_CUDA_PATH, 1); }

static void give_back(void) {
  tile_device_close(device);
  tile_pack_close(pack);
  strbuf_finish(&bytes);
}

Suite *suite_pack_maps(void) {
  Suite *s = suite_create("pack_maps");
  TCase *t = tcase_create("pack_maps");
  tcase_add_checked_fixture(t, use_fake, give_back);
  tcase_add_test(t, launches_pass_maps);
  tcase_add_test(t, without_maps_the_version_is_1);
  tcase_add_loop_test(t, malformed_maps_are_refused, 0, COUNT_OF(malformed));
  tcase_add_loop_test(t, version_1_has_no_maps, 0, 2);
  tcase_add_test(t, too_many_producers);
  suite_add_tcase(s, t);
  return s;
}
