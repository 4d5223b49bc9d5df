// SPDX-License-Identifier: Apache-2.0
// Programmatic dependent launch over the fake driver: when launches have the attribute, and when
// not.
#include "base/sha256.h"
#include "fake_cuda.h"
#include "runtime/pack.h"
#include "suites.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static struct fake_cuda *fake;
static tile_device *device;
static struct kernel_param params[] = {
    {.name = "x", .is_pointer = true, .dtype = DTYPE_F32, .divisible_by = 16}};
static struct kernel_info info = {.name = "next",
                                  .target = "sm_90a",
                                  .num_warps = 4,
                                  .producer_warps = 2,
                                  .shared_bytes = 1024,
                                  .launch_pdl = true,
                                  .param_count = 1,
                                  .params = params};

static void use_fake(void) {
  setenv("TILE_LIBCUDA", FAKE_CUDA_PATH, 1);
  void *lib = dlopen(FAKE_CUDA_PATH, RTLD_NOW | RTLD_LOCAL);
  ck_assert_ptr_nonnull(lib);
  fake = dlsym(lib, FAKE_CUDA_STATE);
  fake->param_count = 1;
}

static void close_device(void) { tile_device_close(device); }

static struct module *loaded(void) {
  struct module *m = NULL;
  ck_assert_int_eq(tile_device_open("cuda", &device), TILE_OK);
  ck_assert_int_eq(module_load(device, "ptx", sizeof "ptx", &info, &m), TILE_OK);
  return m;
}

static tile_status launch(struct module *m, tile_stream *stream, unsigned flags) {
  uint64_t x = 0x1234567800;
  void *values[] = {&x};
  return module_launch(m, stream, (tile_grid){7, 2, 3}, values, flags);
}

// The configuration has what cuLaunchKernel is given.
START_TEST(attribute_is_passed) {
  struct module *m = loaded();
  tile_stream *stream = NULL;
  ck_assert_int_eq(tile_stream_create(device, &stream), TILE_OK);
  ck_assert_int_eq(launch(m, stream, 0), TILE_OK);
  ck_assert_str_eq(fake->work, "p");
  ck_assert(fake->grid[0] == 7 && fake->grid[1] == 2 && fake->grid[2] == 3);
  ck_assert_uint_eq(fake->block, 32 * 6);
  ck_assert_uint_eq(fake->shared_bytes, 1024);
  ck_assert_uint_eq(fake->params[0], 0x1234567800);
  ck_assert_ptr_nonnull(fake->stream);
  ck_assert_int_eq(launch(m, stream, LAUNCH_IN_ORDER), TILE_OK);
  ck_assert_int_eq(launch(m, NULL, 0), TILE_OK);
  ck_assert_str_eq(fake->work, "pkp");
  module_destroy(m);
  tile_stream_destroy(stream);
}
END_TEST

// As in cuda.h.
START_TEST(layout_of_the_configuration) {
  ck_assert_uint_eq(sizeof(struct cuda_launch_attribute), 72);
  ck_assert_uint_eq(offsetof(struct cuda_launch_attribute, value), 8);
  ck_assert_uint_eq(offsetof(struct cuda_launch_config, shared_bytes), 24);
  ck_assert_uint_eq(offsetof(struct cuda_launch_config, stream), 32);
  ck_assert_uint_eq(offsetof(struct cuda_launch_config, attributes), 40);
  ck_assert_uint_eq(offsetof(struct cuda_launch_config, attribute_count), 48);
  ck_assert_uint_eq(sizeof(struct cuda_launch_config), 56);
}
END_TEST

START_TEST(kernels_that_do_not_ask) {
  info.launch_pdl = false;
  struct module *m = loaded();
  ck_assert_int_eq(launch(m, NULL, 0), TILE_OK);
  ck_assert_str_eq(fake->work, "k");
  module_destroy(m);
}
END_TEST

// The request is ignored: the kernel waits for nothing then.
START_TEST(older_gpus_and_drivers) {
  static const struct {
    int major, version;
    const char *library;
  } cases[] = {{8, 13000, NULL}, {9, 12020, NULL}, {9, 13000, CUDA_WITHOUT_MAPS_PATH}};
  if (cases[_i].library) {
    setenv("TILE_LIBCUDA", cases[_i].library, 1);
    fake = dlsym(dlopen(cases[_i].library, RTLD_NOW | RTLD_LOCAL), FAKE_CUDA_STATE);
    fake->param_count = 1;
  }
  fake->major = cases[_i].major;
  fake->driver_version = cases[_i].version;
  struct module *m = loaded();
  ck_assert_int_eq(launch(m, NULL, 0), TILE_OK);
  ck_assert_str_eq(fake->work, "k");
  module_destroy(m);
}
END_TEST

START_TEST(newest_of_the_old_and_oldest_of_the_new) {
  fake->driver_version = 12030;
  struct module *m = loaded();
  ck_assert_int_eq(launch(m, NULL, 0), TILE_OK);
  ck_assert_str_eq(fake->work, "p");
  module_destroy(m);
}
END_TEST

// The driver makes edges of a recording's launches.
START_TEST(recordings) {
  struct module *m = loaded();
  tile_stream *stream = NULL;
  tile_replay *replay = NULL;
  void *memory = NULL;
  ck_assert_int_eq(tile_malloc(device, 64, &memory), TILE_OK);
  ck_assert_int_eq(tile_stream_create(device, &stream), TILE_OK);
  ck_assert_int_eq(tile_replay_begin(device, stream), TILE_OK);
  ck_assert_int_eq(launch(m, stream, LAUNCH_IN_ORDER), TILE_OK);
  ck_assert_int_eq(launch(m, stream, 0), TILE_OK);
  ck_assert_int_eq(tile_memset(device, stream, memory, 0, 64), TILE_OK);
  ck_assert_int_eq(launch(m, stream, LAUNCH_IN_ORDER), TILE_OK);
  ck_assert_int_eq(tile_replay_end(device, stream, &replay), TILE_OK);
  ck_assert_str_eq(fake->work, "kpmk");
  tile_replay_destroy(replay);
  tile_stream_destroy(stream);
  tile_free(device, memory);
  module_destroy(m);
}
END_TEST

START_TEST(failures_name_the_call) {
  struct module *m = loaded();
  fake->fail[CUDA_CALL_launch_ex] = 701;
  ck_assert_int_eq(launch(m, NULL, 0), TILE_LAUNCH_FAILED);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "launch of `next`: cuLaunchKernelEx"));
  ck_assert_int_eq(launch(m, NULL, LAUNCH_IN_ORDER), TILE_OK);
  fake->fail[CUDA_CALL_driver_version] = 999;
  tile_device *other = NULL;
  ck_assert_int_eq(tile_device_open("cuda", &other), TILE_LAUNCH_FAILED);
  fake->fail[CUDA_CALL_driver_version] = 0;
  module_destroy(m);
}
END_TEST

// ---- packs ----

static void write_pack(bool launch_pdl, struct strbuf *out) {
  const struct pack_code code = {.symbol = "next",
                                 .target = "sm_90a",
                                 .format = PACK_CUBIN,
                                 .capability = 90,
                                 .is_specific = true,
                                 .registers = PACK_UNKNOWN,
                                 .spill_stores = PACK_UNKNOWN,
                                 .launch_pdl = launch_pdl,
                                 .bytes =
                                     STR("\177ELF of a kernel, padded until it is so long that "
                                         "the fake driver can record it")};
  static const uint32_t hints[] = {16};
  const struct pack_variant variant = {hints, 4, 3, &code, 1};
  const struct pack_kernel k = {"next", "next", "", params, 1, &variant, 1};
  pack_write(&k, 1, out);
  ck_assert(!out->failed);
}

START_TEST(functions_of_packs) {
  struct strbuf bytes = {0};
  tile_pack *pack = NULL;
  tile_function *f = NULL;
  write_pack(_i, &bytes);
  ck_assert_uint_eq(pack_u32((uint8_t *)bytes.ptr + PACK_AT_VERSION), _i ? 3 : 1);
  ck_assert_int_eq(tile_device_open("cuda", &device), TILE_OK);
  ck_assert_int_eq(tile_pack_from_memory(bytes.ptr, bytes.len, &pack), TILE_OK);
  ck_assert_int_eq(tile_pack_get_function(pack, device, "next", &f), TILE_OK);
  const tile_arg x = tile_arg_pointer((void *)0x10000, TILE_F32);
  const tile_launch_options in_order = {1}, defaults = {0};
  tile_grid one = {1, 1, 1};
  ck_assert_int_eq(tile_function_launch(f, NULL, one, &x, 1), TILE_OK);
  ck_assert_int_eq(tile_function_launch_with(f, NULL, one, &x, 1, &in_order), TILE_OK);
  ck_assert_int_eq(tile_function_launch_with(f, NULL, one, &x, 1, &defaults), TILE_OK);
  ck_assert_int_eq(tile_function_launch_with(f, NULL, one, &x, 1, NULL), TILE_OK);
  ck_assert_str_eq(fake->work, _i ? "pkpp" : "kkkk");
  tile_function_close(f);
  tile_pack_close(pack);
  strbuf_finish(&bytes);
}
END_TEST

// An older version has no flags, and no version has others.
START_TEST(malformed_flags) {
  struct strbuf bytes = {0};
  tile_pack *pack = NULL;
  write_pack(true, &bytes);
  uint8_t *data = (uint8_t *)bytes.ptr;
  size_t index = (size_t)pack_u64(data + PACK_AT_INDEX_BYTES);
  struct tile_pack view;
  ck_assert_int_eq(pack_read(data, bytes.len, &view), TILE_OK);
  if (_i)
    data[PACK_AT_VERSION] = 2;
  else
    data[pack_entry(&view, PACK_CODES, 0) - data + PACK_CODE_FLAGS] = 10;
  struct sha256 h;
  sha256_init(&h);
  sha256_update(&h, data, PACK_AT_SHA);
  sha256_update(&h, data + PACK_HEADER_BYTES, index - PACK_HEADER_BYTES);
  sha256_final(&h, data + PACK_AT_SHA);
  ck_assert_int_eq(tile_pack_from_memory(bytes.ptr, bytes.len, &pack), TILE_INVALID_ARGUMENT);
  strbuf_finish(&bytes);
}
END_TEST

Suite *suite_launch_pdl(void) {
  Suite *s = suite_create("programmatic dependent launch");
  TCase *t = tcase_create("fake driver");
  tcase_add_checked_fixture(t, use_fake, close_device);
  tcase_add_test(t, attribute_is_passed);
  tcase_add_test(t, layout_of_the_configuration);
  tcase_add_test(t, kernels_that_do_not_ask);
  tcase_add_loop_test(t, older_gpus_and_drivers, 0, 3);
  tcase_add_test(t, newest_of_the_old_and_oldest_of_the_new);
  tcase_add_test(t, recordings);
  tcase_add_test(t, failures_name_the_call);
  tcase_add_loop_test(t, functions_of_packs, 0, 2);
  tcase_add_loop_test(t, malformed_flags, 0, 2);
  suite_add_tcase(s, t);
  return s;
}
