// SPDX-License-Identifier: Apache-2.0
// Packs whose functions take tensor descriptors, over the fake driver: what a launch passes, and
// which packs are refused.
#include "base/sha256.h"
#include "fake_cuda.h"
#include "runtime/pack.h"
#include "suites.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { PARAMS = 6 };

static struct fake_cuda *fake;
static struct strbuf bytes;
static tile_pack *pack;
static tile_device *device;

// copy(n, x: a descriptor of rank 2, last)
static const struct kernel_param params[PARAMS] = {
    {.name = "n", .dtype = DTYPE_I32, .divisible_by = 1},
    {.name = "x",
     .is_pointer = true,
     .dtype = DTYPE_F16,
     .divisible_by = 16,
     .descriptor_rank = 2,
     .block = {4, 1 << 16},
     .pads_nan = true},
    {.name = "x.shape[0]", .dtype = DTYPE_I32, .divisible_by = 1},
    {.name = "x.shape[1]", .dtype = DTYPE_I32, .divisible_by = 1},
    {.name = "x.strides[0]", .dtype = DTYPE_I64, .divisible_by = 8},
    {.name = "last", .is_pointer = true, .dtype = DTYPE_F32, .divisible_by = 1},
};

static void write_pack(void) {
  const struct pack_code code = {.symbol = "kernel",
                                 .target = "sm_80",
                                 .format = PACK_PTX,
                                 .capability = 80,
                                 .registers = PACK_UNKNOWN,
                                 .spill_stores = PACK_UNKNOWN,
                                 .bytes = STR("// the fake driver takes any text as a module of "
                                              "which it records the beginning only")};
  static const uint32_t divided[PARAMS] = {1, 16, 1, 32, 8, 1}, any[PARAMS] = {1, 16, 1, 1, 8, 1};
  const struct pack_variant variants[] = {{divided, 4, 3, &code, 1}, {any, 8, 3, &code, 1}};
  const struct pack_kernel k = {"copy", "copy", "", params, PARAMS, variants, 2};
  pack_write(&k, 1, &bytes);
  ck_assert(!bytes.failed);
}

static tile_status open_pack(void) {
  void *lib = dlopen(FAKE_CUDA_PATH, RTLD_NOW | RTLD_LOCAL);
  ck_assert_ptr_nonnull(lib);
  fake = dlsym(lib, FAKE_CUDA_STATE);
  return tile_pack_from_memory(bytes.ptr, bytes.len, &pack);
}

static tile_descriptor good(void) {
  return (tile_descriptor){.base = (void *)0x10000,
                           .element = TILE_F16,
                           .rank = 2,
                           .shape = {77, 64},
                           .strides = {72, 1},
                           .pads_nan = 1};
}

START_TEST(launches_pass_the_parts) {
  tile_function *f = NULL;
  tile_descriptor x = good();
  tile_arg args[] = {tile_arg_i32(-3), tile_arg_descriptor(&x),
                     tile_arg_pointer((void *)0x70, TILE_F32)};
  write_pack();
  ck_assert_uint_eq(pack_u32((uint8_t *)bytes.ptr + PACK_AT_VERSION), 3);
  ck_assert_int_eq(open_pack(), TILE_OK);
  ck_assert_int_eq(tile_pack_verify(pack), TILE_OK);
  fake->major = 8;
  ck_assert_int_eq(tile_device_open("cuda", &device), TILE_OK);
  ck_assert_int_eq(tile_pack_get_function(pack, device, "copy", &f), TILE_OK);
  fake->param_count = PARAMS;
  for (int i = 0; i < 2; i++) { // the second one has no size that 32 divides
    x.shape[1] -= i;
    x.block[0] = i ? 4 : 0, x.block[1] = i ? 1 << 16 : 0;
    ck_assert_int_eq(tile_function_launch(f, NULL, (tile_grid){1, 1, 1}, args, 3), TILE_OK);
    ck_assert_uint_eq(fake->block, i ? 256 : 128);
    ck_assert_uint_eq(fake->params[1], 0x10000);
    ck_assert_uint_eq(fake->params[2] & UINT32_MAX, 77);
    ck_assert_uint_eq(fake->params[3] & UINT32_MAX, i ? 63 : 64);
    ck_assert_uint_eq(fake->params[4], 72);
    ck_assert_uint_eq(fake->params[5], 0x70);
  }
  args[2] = tile_arg_i32(1); // the third argument, though the sixth parameter
  ck_assert_int_eq(tile_function_launch(f, NULL, (tile_grid){1, 1, 1}, args, 3),
                   TILE_INVALID_ARGUMENT);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "argument 3 (`last`) must be a pointer"));
  tile_function_close(f);
}
END_TEST

// ---- malformed packs ----

static void hash_again(uint8_t *data) {
  struct sha256 h;
  size_t index = (size_t)pack_u64(data + PACK_AT_INDEX_BYTES);
  sha256_init(&h);
  sha256_update(&h, data, PACK_AT_SHA);
  sha256_update(&h, data + PACK_HEADER_BYTES, index - PACK_HEADER_BYTES);
  sha256_final(&h, data + PACK_AT_SHA);
}

static const struct {
  unsigned param, field;
  uint8_t value;
} changes[] = {
    {1, PACK_PARAM_DESCRIPTOR, 0},                   // a block without a rank
    {1, PACK_PARAM_DESCRIPTOR, PACK_DESCRIPTOR_NAN}, // padding without a rank
    {1, PACK_PARAM_DESCRIPTOR, 3},                   // reaches behind the last parameter
    {1, PACK_PARAM_DESCRIPTOR, 1},                   // a block of two dimensions
    {1, PACK_PARAM_DESCRIPTOR, 5},                   // so does it
    {1, PACK_PARAM_DESCRIPTOR, 6},                   // more than 5 dimensions
    {1, PACK_PARAM_DESCRIPTOR, 2 + 16},              // an unknown bit
    {1, PACK_PARAM_IS_POINTER, 0},                   // no pointer
    {0, PACK_PARAM_DESCRIPTOR, 1},                   // a number as base
    {2, PACK_PARAM_DTYPE, DTYPE_I64},                // sizes are i32
    {3, PACK_PARAM_IS_POINTER, 1},                   // and no pointers
    {4, PACK_PARAM_DTYPE, DTYPE_I32},                // strides are i64
    {5, PACK_PARAM_DESCRIPTOR, 1},                   // at the end
    {2, PACK_PARAM_BLOCK, 1},                        // a block of a number
    {1, PACK_PARAM_BLOCK + 1, 255},                  // sizes of a third dimension
};

START_TEST(malformed_descriptors_are_refused) {
  write_pack();
  uint8_t *at = (uint8_t *)bytes.ptr + PACK_HEADER_BYTES + PACK_KERNEL_BYTES;
  at[changes[_i].param * PACK_PARAM_BYTES + changes[_i].field] = changes[_i].value;
  hash_again((uint8_t *)bytes.ptr);
  ck_assert_int_eq(open_pack(), TILE_INVALID_ARGUMENT);
}
END_TEST

START_TEST(version_2_has_no_descriptors) {
  write_pack();
  bytes.ptr[PACK_AT_VERSION] = 2;
  hash_again((uint8_t *)bytes.ptr);
  ck_assert_int_eq(open_pack(), TILE_INVALID_ARGUMENT);
  bytes.ptr[PACK_AT_VERSION] = 3;
  hash_again((uint8_t *)bytes.ptr);
  ck_assert_int_eq(open_pack(), TILE_OK);
}
END_TEST

static void use_fake(void) { setenv("TILE_LIBCUDA", FAKE_CUDA_PATH, 1); }

static void give_back(void) {
  tile_device_close(device);
  tile_pack_close(pack);
  strbuf_finish(&bytes);
}

Suite *suite_pack_descriptors(void) {
  Suite *s = suite_create("pack_descriptors");
  TCase *t = tcase_create("pack_descriptors");
  tcase_add_checked_fixture(t, use_fake, give_back);
  tcase_add_test(t, launches_pass_the_parts);
  tcase_add_loop_test(t, malformed_descriptors_are_refused, 0, COUNT_OF(changes));
  tcase_add_test(t, version_2_has_no_descriptors);
  suite_add_tcase(s, t);
  return s;
}
