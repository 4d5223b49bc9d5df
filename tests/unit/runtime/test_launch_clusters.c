// SPDX-License-Identifier: Apache-2.0
// Clusters over the fake driver: which launches have the attribute, and how packs keep it.
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
static struct kernel_info info;

static void use_fake(void) {
  setenv("TILE_LIBCUDA", FAKE_CUDA_PATH, 1);
  void *lib = dlopen(FAKE_CUDA_PATH, RTLD_NOW | RTLD_LOCAL);
  ck_assert_ptr_nonnull(lib);
  fake = dlsym(lib, FAKE_CUDA_STATE);
  fake->param_count = 1;
  info = (struct kernel_info){.name = "pair",
                              .target = "sm_90a",
                              .num_warps = 4,
                              .num_ctas = 2,
                              .param_count = 1,
                              .params = params};
}

static void close_device(void) { tile_device_close(device); }

static struct module *loaded(void) {
  struct module *m = NULL;
  ck_assert_int_eq(tile_device_open("cuda", &device), TILE_OK);
  ck_assert_int_eq(module_load(device, "ptx", sizeof "ptx", &info, &m), TILE_OK);
  return m;
}

static void launch(struct module *m, unsigned programs, unsigned flags) {
  uint64_t x = 0x1234567800;
  void *values[] = {&x};
  ck_assert_int_eq(module_launch(m, NULL, (tile_grid){programs, 3, 1}, values, flags), TILE_OK);
}

// Grids that are no multiple have no clusters.
START_TEST(attribute_is_passed) {
  struct module *m = loaded();
  launch(m, 6, 0);
  ck_assert_str_eq(fake->work, "c");
  ck_assert_uint_eq(fake->cluster, 2);
  ck_assert(fake->grid[0] == 6 && fake->grid[1] == 3 && !fake->large_clusters);
  launch(m, 7, 0);
  launch(m, 2, LAUNCH_IN_ORDER);
  ck_assert_str_eq(fake->work, "ckc");
  module_destroy(m);
}
END_TEST

START_TEST(with_dependent_launches) {
  info.launch_pdl = true;
  info.num_ctas = 4;
  struct module *m = loaded();
  launch(m, 8, 0);
  ck_assert_uint_eq(fake->cluster, 4);
  launch(m, 8, LAUNCH_IN_ORDER);
  launch(m, 6, 0);
  launch(m, 6, LAUNCH_IN_ORDER);
  ck_assert_str_eq(fake->work, "bcpk");
  module_destroy(m);
}
END_TEST

START_TEST(sixteen) {
  info.num_ctas = 16;
  struct module *m = loaded();
  ck_assert(fake->large_clusters);
  launch(m, 16, 0);
  ck_assert_uint_eq(fake->cluster, 16);
  module_destroy(m);
}
END_TEST

START_TEST(drivers_without_the_call) {
  setenv("TILE_LIBCUDA", CUDA_WITHOUT_MAPS_PATH, 1);
  fake = dlsym(dlopen(CUDA_WITHOUT_MAPS_PATH, RTLD_NOW | RTLD_LOCAL), FAKE_CUDA_STATE);
  fake->param_count = 1;
  struct module *m = loaded();
  launch(m, 2, 0);
  ck_assert_str_eq(fake->work, "k");
  module_destroy(m);
}
END_TEST

// 0: no clusters, and then an old version.
START_TEST(functions_of_packs) {
  uint32_t ctas = _i ? 1u << _i : 0;
  const struct pack_code code = {.symbol = "pair",
                                 .target = "sm_90a",
                                 .format = PACK_CUBIN,
                                 .capability = 90,
                                 .is_specific = true,
                                 .registers = PACK_UNKNOWN,
                                 .spill_stores = PACK_UNKNOWN,
                                 .num_ctas = ctas,
                                 .bytes =
                                     STR("\177ELF of a kernel, padded until it is so long that "
                                         "the fake driver can record it")};
  static const uint32_t hints[] = {16};
  const struct pack_variant variant = {hints, 4, 3, &code, 1};
  const struct pack_kernel k = {"pair", "pair", "", params, 1, &variant, 1};
  const tile_arg x = tile_arg_pointer((void *)0x10000, TILE_F32);
  struct strbuf bytes = {0};
  tile_pack *pack = NULL;
  tile_function *f = NULL;
  pack_write(&k, 1, &bytes);
  ck_assert(!bytes.failed);
  ck_assert_uint_eq(pack_u32((uint8_t *)bytes.ptr + PACK_AT_VERSION), _i ? 3 : 1);
  ck_assert_int_eq(tile_device_open("cuda", &device), TILE_OK);
  ck_assert_int_eq(tile_pack_from_memory(bytes.ptr, bytes.len, &pack), TILE_OK);
  ck_assert_int_eq(tile_pack_get_function(pack, device, "pair", &f), TILE_OK);
  ck_assert_int_eq(tile_function_launch(f, NULL, (tile_grid){16, 1, 1}, &x, 1), TILE_OK);
  ck_assert_str_eq(fake->work, _i ? "c" : "k");
  ck_assert_uint_eq(fake->cluster, ctas);
  tile_function_close(f);
  tile_pack_close(pack);
  strbuf_finish(&bytes);
}
END_TEST

Suite *suite_launch_clusters(void) {
  Suite *s = suite_create("clusters");
  TCase *t = tcase_create("fake driver");
  tcase_add_checked_fixture(t, use_fake, close_device);
  tcase_add_test(t, attribute_is_passed);
  tcase_add_test(t, with_dependent_launches);
  tcase_add_test(t, sixteen);
  tcase_add_test(t, drivers_without_the_call);
  tcase_add_loop_test(t, functions_of_packs, 0, 5);
  suite_add_tcase(s, t);
  return s;
}
