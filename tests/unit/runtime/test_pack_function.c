// SPDX-License-Identifier: Apache-2.0
// Functions of packs over the fake driver: the selected binary and specialisation, the values of a
// launch, the next binary after a rejected one; contexts and streams of the caller.
#include "fake_cuda.h"
#include "pack_example.h"
#include "suites.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct fake_cuda *fake;
static struct strbuf bytes;
static tile_pack *pack;
static tile_device *device;

static void open_pack(void) {
  void *lib = dlopen(FAKE_CUDA_PATH, RTLD_NOW | RTLD_LOCAL);
  ck_assert_ptr_nonnull(lib);
  fake = dlsym(lib, FAKE_CUDA_STATE);
  pack_example(&bytes);
  ck_assert_int_eq(tile_pack_from_memory(bytes.ptr, bytes.len, &pack), TILE_OK);
}

static void close_pack(void) {
  tile_device_close(device);
  tile_pack_close(pack);
  strbuf_finish(&bytes);
}

static void open_gpu(int major, int minor) {
  fake->major = major;
  fake->minor = minor;
  ck_assert_int_eq(tile_device_open("cuda", &device), TILE_OK);
}

static tile_function *get(const char *name) {
  tile_function *f = NULL;
  ck_assert_int_eq(tile_pack_get_function(pack, device, name, &f), TILE_OK);
  return f;
}

// The arguments of `add`.
static const tile_arg *add_args(uintptr_t x, uintptr_t out, int32_t n) {
  static tile_arg args[3];
  args[0] = tile_arg_pointer((void *)x, TILE_F32);
  args[1] = tile_arg_pointer((void *)out, TILE_F32);
  args[2] = tile_arg_i32(n);
  return args;
}

START_TEST(most_specific_first) {
  static const struct {
    uintptr_t x, out;
    int32_t n;
    const char *code;
    unsigned warps, param_count;
  } cases[] = {
      {0x1000, 0x2000, 1, "\177ELF add one sm_90a", 1, 2},
      {0x1000, 0x2000, 1024, "\177ELF add wide sm_90a", 8, 3},
      {0x1000, 0x2000, 0, "\177ELF add wide sm_90a", 8, 3},
      {0x1000, 0x2000, 1000, "\177ELF add any sm_90a", 4, 3},
      {0x1004, 0x2000, 1024, "\177ELF add any sm_90a", 4, 3},
      {0x1000, 0x2008, 1, "\177ELF add any sm_90a", 4, 3},
      {0x1000, 0x2000, -16, "\177ELF add wide sm_90a", 8, 3},
  };
  open_gpu(9, 0);
  tile_function *f = get("add");
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    const tile_arg *args = add_args(cases[i].x, cases[i].out, cases[i].n);
    fake->param_count = cases[i].param_count;
    memset(fake->params, 0xaa, sizeof fake->params);
    ck_assert_int_eq(tile_function_launch(f, NULL, (tile_grid){5, 1, 1}, args, 3), TILE_OK);
    ck_assert_str_eq(fake->launched, cases[i].code);
    ck_assert_uint_eq(fake->block, 32 * cases[i].warps);
    ck_assert_uint_eq(fake->shared_bytes, 100 << 10);
    ck_assert_uint_eq(fake->grid[0], 5);
    ck_assert_uint_eq(fake->params[0], cases[i].x);
    ck_assert_uint_eq(fake->params[1], cases[i].out);
    if (cases[i].param_count == 3)
      ck_assert_int_eq((int32_t)fake->params[2], cases[i].n);
  }
  ck_assert_int_eq(fake->live_modules, 3); // each was loaded once
  tile_function_close(f);
  ck_assert_int_eq(fake->live_modules, 0);
}
END_TEST

START_TEST(binary_by_capability) {
  static const struct {
    int major, minor;
    const char *code;
  } cases[] = {
      {9, 0, "\177ELF add any sm_90a"}, {8, 0, "\177ELF add any sm_80"},
      {8, 6, "\177ELF add any sm_80"},  {8, 9, "\177ELF add any sm_80"},
      {8, 7, "// add any sm_80"}, // Tegra accepts no cubins built for other GPUs
      {10, 0, "// add any sm_80"},      {12, 1, "// add any sm_80"},
  };
  fake->param_count = 3;
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    open_gpu(cases[i].major, cases[i].minor);
    tile_function *f = get("add");
    ck_assert_int_eq(tile_function_launch(f, NULL, (tile_grid){1, 1, 1}, add_args(4, 4, 7), 3),
                     TILE_OK);
    ck_assert_str_eq(fake->launched, cases[i].code);
    tile_function_choice c;
    ck_assert_int_eq(tile_function_choose(f, add_args(4, 4, 7), 3, &c), TILE_OK);
    ck_assert_int_eq(c.is_binary, cases[i].code[0] == '\177');
    ck_assert_str_eq(c.target, strrchr(cases[i].code, ' ') + 1);
    ck_assert_uint_eq(c.specialisation, 2);
    ck_assert_uint_eq(c.specialisations, 3);
    ck_assert_int_eq(c.registers, c.is_binary ? 40 : -1);
    ck_assert_int_eq(c.spilled, c.is_binary ? 0 : -1);
    tile_function_close(f);
    tile_device_close(device);
  }
  device = NULL;
}
END_TEST

START_TEST(nothing_for_this_device) {
  tile_function *f = NULL;
  open_gpu(8, 9);
  ck_assert_int_eq(tile_pack_get_function(pack, device, "scale", &f), TILE_NOT_FOUND);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "compute capability 8.9"));
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "machine code for sm_90a, PTX for sm_90a"));
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "--target sm_89"));
  ck_assert_int_eq(tile_pack_get_function(pack, device, "ad", &f), TILE_NOT_FOUND);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "it has `add`, `scale`"));
  tile_device *host = NULL;
  ck_assert_int_eq(tile_device_open("cpu", &host), TILE_OK);
  ck_assert_int_eq(tile_pack_get_function(pack, host, "add", &f), TILE_NOT_FOUND);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "nothing that runs on this processor"));
  tile_device_close(host);
  ck_assert_int_eq(tile_pack_get_function(NULL, device, "add", &f), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_pack_get_function(pack, NULL, "add", &f), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_pack_get_function(pack, device, NULL, &f), TILE_INVALID_ARGUMENT);
}
END_TEST

START_TEST(a_refused_binary_gives_way_to_ptx) {
  open_gpu(8, 0);
  fake->refuse_cubins = true;
  fake->param_count = 3;
  tile_function *f = get("add");
  ck_assert_int_eq(tile_function_launch(f, NULL, (tile_grid){1, 1, 1}, add_args(4, 4, 7), 3),
                   TILE_OK);
  ck_assert_str_eq(fake->launched, "// add any sm_80");
  tile_function_close(f);
}
END_TEST

START_TEST(load_errors_come_through) {
  open_gpu(9, 0);
  tile_function *f = get("add");
  fake->fail[CUDA_CALL_module_load] = 2; // no memory: another binary would not help
  ck_assert_int_eq(tile_function_launch(f, NULL, (tile_grid){1, 1, 1}, add_args(4, 4, 7), 3),
                   TILE_OUT_OF_DEVICE_MEMORY);
  ck_assert_int_eq(fake->calls[CUDA_CALL_module_load], 1);
  fake->fail[CUDA_CALL_module_load] = 209;
  ck_assert_int_eq(tile_function_launch(f, NULL, (tile_grid){1, 1, 1}, add_args(4, 4, 7), 3),
                   TILE_DRIVER_TOO_OLD);
  fake->fail[CUDA_CALL_module_load] = 0; // the next attempt succeeds
  ck_assert_int_eq(tile_function_prepare(f), TILE_OK);
  ck_assert_int_eq(fake->live_modules, 3);
  tile_function_close(f);
  ck_assert_int_eq(fake->live_modules, 0);
}
END_TEST

START_TEST(changed_code_is_not_loaded) {
  open_gpu(9, 0);
  tile_function *f = get("add");
  bytes.ptr[bytes.len - 3] ^= 1; // the last code belongs to `scale`
  ck_assert_int_eq(tile_pack_verify(pack), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_function_prepare(f), TILE_OK);
  size_t size;
  const void *code;
  ck_assert_int_eq(pack_code(pack, 0, &code, &size), TILE_OK);
  bytes.ptr[(const char *)code - bytes.ptr] ^= 1;
  tile_function *again = get("add");
  int loads = fake->calls[CUDA_CALL_module_load];
  ck_assert_int_eq(tile_function_prepare(again), TILE_IO_ERROR);
  ck_assert_int_eq(fake->calls[CUDA_CALL_module_load], loads);
  tile_function_close(again);
  tile_function_close(f);
}
END_TEST

START_TEST(arguments_are_checked) {
  open_gpu(9, 0);
  tile_function *f = get("add"), *scale = get("scale");
  tile_grid one = {1, 1, 1};
  tile_arg wrong[3];
  ck_assert_int_eq(tile_function_launch(f, NULL, one, add_args(4, 4, 7), 2), TILE_INVALID_ARGUMENT);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "takes 3 arguments, got 2"));
  ck_assert_int_eq(tile_function_launch(f, NULL, one, NULL, 3), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_function_launch(NULL, NULL, one, NULL, 0), TILE_INVALID_ARGUMENT);
  memcpy(wrong, add_args(4, 4, 7), sizeof wrong);
  wrong[1] = tile_arg_pointer(NULL, TILE_F16);
  ck_assert_int_eq(tile_function_launch(f, NULL, one, wrong, 3), TILE_INVALID_ARGUMENT);
  ck_assert_ptr_nonnull(strstr(
      tile_error_message(), "argument 2 (`out`) must be a pointer to f32, got a pointer to f16"));
  memcpy(wrong, add_args(4, 4, 7), sizeof wrong);
  wrong[2] = tile_arg_int(TILE_I32, (int64_t)1 << 40);
  ck_assert_int_eq(tile_function_launch(f, NULL, one, wrong, 3), TILE_INVALID_ARGUMENT);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "does not fit i32"));
  // `scale` has no specialisation without a hint.
  wrong[0] = tile_arg_pointer((void *)(uintptr_t)24, TILE_F16);
  wrong[1] = tile_arg_f32(0.5f);
  wrong[1].type = TILE_F16;
  ck_assert_int_eq(tile_function_launch(scale, NULL, one, wrong, 2), TILE_INVALID_ARGUMENT);
  ck_assert_ptr_nonnull(
      strstr(tile_error_message(), "(`x`) is promised to be a multiple of 16; 24"));
  wrong[0] = tile_arg_pointer((void *)(uintptr_t)32, TILE_F16);
  fake->param_count = 2;
  ck_assert_int_eq(tile_function_launch(scale, NULL, one, wrong, 2), TILE_OK);
  ck_assert_uint_eq(fake->params[1] & 0xffff, 0x3800); // 0.5 as f16
  tile_function_close(f);
  tile_function_close(scale);
}
END_TEST

static void *launch_often(void *function) {
  tile_arg args[3];
  args[0] = args[1] = tile_arg_pointer((void *)(uintptr_t)16, TILE_F32);
  for (int i = 0; i < 1000; i++) {
    args[2] = tile_arg_i32(i % 40);
    if (tile_function_launch(function, NULL, (tile_grid){1, 1, 1}, args, 3) != TILE_OK)
      return NULL;
  }
  return function;
}

START_TEST(threads_share_a_function) {
  open_gpu(9, 0);
  tile_function *f = get("add");
  pthread_t threads[4];
  for (int i = 0; i < 4; i++)
    pthread_create(&threads[i], NULL, launch_often, f);
  for (int i = 0; i < 4; i++) {
    void *result = NULL;
    pthread_join(threads[i], &result);
    ck_assert_ptr_eq(result, f);
  }
  ck_assert_int_eq(fake->live_modules, 3);
  tile_function_close(f);
}
END_TEST

START_TEST(contexts_and_streams_of_others) {
  void *lib = dlopen(FAKE_CUDA_PATH, RTLD_NOW | RTLD_LOCAL), *context = NULL, *mine = NULL;
  int (*retain)(void **, int), (*set)(void *), (*stream_create)(void **, unsigned),
      (*stream_destroy)(void *);
  *(void **)&retain = dlsym(lib, "cuDevicePrimaryCtxRetain");
  *(void **)&set = dlsym(lib, "cuCtxSetCurrent");
  *(void **)&stream_create = dlsym(lib, "cuStreamCreate");
  *(void **)&stream_destroy = dlsym(lib, "cuStreamDestroy_v2");
  tile_device *d = NULL;
  ck_assert_int_eq(tile_device_from_context(NULL, &d), TILE_INVALID_ARGUMENT);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "no current CUDA context"));
  ck_assert_int_eq(tile_device_from_context(NULL, NULL), TILE_INVALID_ARGUMENT);
  retain(&context, 0);
  ck_assert_int_eq(tile_device_from_context(context, &d), TILE_OK); // not current, and it stays so
  tile_device_close(d);
  ck_assert_int_eq(tile_device_from_context(NULL, &d), TILE_INVALID_ARGUMENT);
  set(context);
  ck_assert_int_eq(tile_device_from_context(NULL, &d), TILE_OK);
  ck_assert_int_eq(fake->live_contexts, 1);
  ck_assert_int_eq(stream_create(&mine, 0), 0);
  tile_stream *stream = NULL;
  ck_assert_int_eq(tile_stream_from_handle(d, mine, &stream), TILE_OK);
  tile_function *f = NULL;
  ck_assert_int_eq(tile_pack_get_function(pack, d, "add", &f), TILE_OK);
  fake->param_count = 3;
  ck_assert_int_eq(tile_function_launch(f, stream, (tile_grid){1, 1, 1}, add_args(4, 4, 7), 3),
                   TILE_OK);
  ck_assert_ptr_eq(fake->stream, mine);
  tile_stream_destroy(stream);
  ck_assert_int_eq(fake->live_streams, 1); // still the caller's
  stream_destroy(mine);
  tile_function_close(f);
  tile_device_close(d);
  ck_assert_int_eq(fake->live_contexts, 1); // the caller's, too
  tile_device *host = NULL;
  ck_assert_int_eq(tile_device_open("cpu", &host), TILE_OK);
  ck_assert_int_eq(tile_stream_from_handle(host, NULL, &stream), TILE_INVALID_ARGUMENT);
  tile_device_close(host);
}
END_TEST

Suite *suite_pack_function(void) {
  Suite *s = suite_create("pack_function");
  TCase *t = tcase_create("fake driver");
  tcase_add_checked_fixture(t, open_pack, close_pack);
  tcase_set_timeout(t, 60);
  tcase_add_test(t, most_specific_first);
  tcase_add_test(t, binary_by_capability);
  tcase_add_test(t, nothing_for_this_device);
  tcase_add_test(t, a_refused_binary_gives_way_to_ptx);
  tcase_add_test(t, load_errors_come_through);
  tcase_add_test(t, changed_code_is_not_loaded);
  tcase_add_test(t, arguments_are_checked);
  tcase_add_test(t, threads_share_a_function);
  tcase_add_test(t, contexts_and_streams_of_others);
  suite_add_tcase(s, t);
  return s;
}
