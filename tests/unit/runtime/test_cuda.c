// SPDX-License-Identifier: Apache-2.0
// CUDA devices over the fake driver: loading, every call failing in every way, targets, launches.
#include "fake_cuda.h"
#include "suites.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct fake_cuda *fake;
static struct kernel_param params[] = {
    {.name = "x", .is_pointer = true, .dtype = DTYPE_F32, .divisible_by = 16},
    {.name = "n", .dtype = DTYPE_I32, .divisible_by = 1},
};
static struct kernel_info info = {
    .name = "copy", .target = "sm_90a", .num_warps = 8, .param_count = 2, .params = params};

static void find_fake(void) {
  void *lib = dlopen(FAKE_CUDA_PATH, RTLD_NOW | RTLD_LOCAL);
  ck_assert_ptr_nonnull(lib);
  fake = dlsym(lib, FAKE_CUDA_STATE);
  ck_assert_ptr_nonnull(fake);
}

START_TEST(opens_and_closes) {
  tile_device *d = NULL;
  tile_device_properties p;
  ck_assert_int_eq(tile_device_count(), 1);
  ck_assert_int_eq(tile_device_open("auto", &d), TILE_OK);
  ck_assert_int_eq(tile_device_get_properties(d, &p), TILE_OK);
  ck_assert(!p.is_cpu);
  ck_assert_str_eq(p.name, "Fake GPU 0");
  ck_assert_str_eq(p.target, "sm_90a");
  ck_assert_int_eq(p.multiprocessors, 132);
  ck_assert_int_eq(p.driver_version, 13000);
  ck_assert(p.memory_gbs > 4916.0 && p.memory_gbs < 4917.0);
  ck_assert_int_eq(fake->live_contexts, 1);
  tile_device_close(d);
  ck_assert_int_eq(fake->live_contexts, 0);
}
END_TEST

START_TEST(target_by_capability) {
  static const struct {
    int major, minor;
    const char *target;
  } cases[] = {{8, 0, "sm_80"},  {8, 6, "sm_86"},    {8, 7, "sm_86"},  {8, 9, "sm_89"},
               {9, 0, "sm_90a"}, {10, 0, "sm_100a"}, {10, 3, "sm_89"}, {12, 0, "sm_89"}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tile_device *d = NULL;
    fake->major = cases[i].major;
    fake->minor = cases[i].minor;
    ck_assert_int_eq(tile_device_open("cuda", &d), TILE_OK);
    ck_assert_str_eq(device_target(d), cases[i].target);
    tile_device_close(d);
  }
  tile_device *d = NULL;
  fake->major = 7;
  fake->minor = 5;
  ck_assert_int_eq(tile_device_open("cuda", &d), TILE_NO_DEVICE);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "7.5"));
}
END_TEST

START_TEST(no_driver_no_device) {
  tile_device *d = NULL;
  setenv("TILE_LIBCUDA", "/nonexistent/libcuda.so", 1);
  ck_assert_int_eq(tile_device_open("cuda", &d), TILE_NO_DEVICE);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "/nonexistent/libcuda.so"));
  ck_assert_int_eq(tile_device_count(), 0);
  ck_assert_int_eq(tile_device_open("auto", &d), TILE_OK); // the CPU, then
  ck_assert(device_is_cpu(d));
  tile_device_close(d);
}
END_TEST

START_TEST(missing_symbol_is_named) {
  tile_device *d = NULL;
  setenv("TILE_LIBCUDA", OLD_CUDA_PATH, 1);
  ck_assert_int_eq(tile_device_open("cuda", &d), TILE_DRIVER_TOO_OLD);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "cuLaunchKernel"));
}
END_TEST

START_TEST(no_such_gpu) {
  tile_device *d = NULL;
  ck_assert_int_eq(tile_device_open("cuda:1", &d), TILE_NO_DEVICE);
  fake->device_count = 0;
  ck_assert_int_eq(tile_device_open("cuda", &d), TILE_NO_DEVICE);
  fake->device_count = 8;
  ck_assert_int_eq(tile_device_open("cuda:7", &d), TILE_OK);
  tile_device_close(d);
}
END_TEST

// Every public operation once; the first failure ends it.
static tile_status use_everything(void) {
  tile_device *d = NULL, *same = NULL;
  tile_device_properties p;
  tile_stream *stream = NULL;
  tile_event *e0 = NULL, *e1 = NULL;
  tile_replay *replay = NULL;
  struct module *m = NULL;
  void *a = NULL, *b = NULL, *base = NULL, *staging = NULL, *cubin = NULL;
  size_t cubin_size = 0;
  size_t size;
  char bytes[64] = "";
  float ms;
  int n = 3, registers, local;
  tile_status s = tile_device_open("cuda", &d);
  if (s != TILE_OK)
    return s;
#define STEP(call)                                                                                 \
  if (s == TILE_OK)                                                                                \
  s = call
  STEP(tile_device_get_properties(d, &p));
  STEP(tile_malloc(d, 64, &a));
  STEP(tile_malloc(d, 64, &b));
  STEP(device_allocation(d, a, &base, &size));
  STEP(tile_stream_create(d, &stream));
  STEP(tile_event_create(d, &e0));
  STEP(tile_event_create(d, &e1));
  STEP(tile_copy_to_device(d, stream, a, bytes, 64));
  STEP(tile_copy_on_device(d, stream, b, a, 64));
  STEP(tile_memset(d, stream, b, 1, 64));
  STEP(device_staging_alloc(d, 64, &staging));
  STEP(module_assemble(d, "ptx", 3, ASSEMBLY_OPTIMIZED, &cubin, &cubin_size));
  STEP(module_load(d, cubin, cubin_size, &info, &m));
  STEP(module_resources(m, &registers, &local));
  STEP(tile_event_record(d, e0, stream));
  void *values[] = {&a, &n};
  STEP(module_launch(m, stream, (tile_grid){4, 1, 1}, values, 0));
  STEP(tile_event_record(d, e1, stream));
  bool records = s == TILE_OK;
  STEP(tile_replay_begin(d, stream));
  records &= s == TILE_OK;
  STEP(module_launch(m, stream, (tile_grid){4, 1, 1}, values, 0));
  if (records) { // also after a failure: it ends the capture
    tile_status ended = tile_replay_end(d, stream, &replay);
    s = s == TILE_OK ? ended : s;
    if (ended != TILE_OK)
      replay = NULL;
  }
  STEP(tile_replay_run(replay, stream));
  STEP(tile_event_elapsed(e0, e1, &ms));
  STEP(tile_copy_to_host(d, stream, bytes, b, 64));
  STEP(tile_stream_synchronize(d, stream));
  if (!fake->fail[CUDA_CALL_context_get]) // the only call that needs it
    STEP(tile_device_from_context(NULL, &same));
  if (s == TILE_OK && (s = tile_free(d, a)) == TILE_OK)
    a = NULL;
  if (s == TILE_OK && (s = tile_free(d, b)) == TILE_OK)
    b = NULL;
#undef STEP
  // The free may have failed before; it must not fail again.
  int failing = fake->fail[CUDA_CALL_mem_free];
  fake->fail[CUDA_CALL_mem_free] = 0;
  if (tile_free(d, a) != TILE_OK)
    free(a); // the fake GPU's memory is memory of the CPU
  if (tile_free(d, b) != TILE_OK)
    free(b);
  fake->fail[CUDA_CALL_mem_free] = failing;
  free(cubin);
  if (d)
    device_staging_free(d, staging);
  tile_replay_destroy(replay);
  module_destroy(m);
  tile_event_destroy(e0);
  tile_event_destroy(e1);
  tile_stream_destroy(stream);
  tile_device_close(same);
  tile_device_close(d);
  return s;
}

START_TEST(everything_works_and_is_given_back) {
  ck_assert_int_eq(use_everything(), TILE_OK);
  ck_assert_int_eq(fake->live_allocations, 0);
  ck_assert_int_eq(fake->live_streams, 0);
  ck_assert_int_eq(fake->live_graphs, 0);
  ck_assert_int_eq(fake->live_events, 0);
  ck_assert_int_eq(fake->live_modules, 0);
  ck_assert_int_eq(fake->live_contexts, 0);
  ck_assert_int_eq(fake->live_links, 0);
  static const enum cuda_call rare[] = {CUDA_CALL_error_name,   CUDA_CALL_error_text,
                                        CUDA_CALL_function_set, CUDA_CALL_tensor_map_encode,
                                        CUDA_CALL_launch_ex,    CUDA_CALL_is_capturing};
  for (int call = 0; call < CUDA_CALL_COUNT; call++) {
    bool is_rare = false;
    for (size_t i = 0; i < COUNT_OF(rare); i++)
      is_rare |= call == (int)rare[i];
    if (!is_rare)
      ck_assert_msg(fake->calls[call] > 0, "call %d was never made", call);
  }
}
END_TEST

// The results of destructors, context queries and error texts are ignored.
static bool may_be_ignored(int call) {
  return call == CUDA_CALL_context_get || call == CUDA_CALL_context_release ||
         call == CUDA_CALL_stream_destroy || call == CUDA_CALL_event_destroy ||
         call == CUDA_CALL_module_unload || call == CUDA_CALL_link_destroy ||
         call == CUDA_CALL_graph_destroy || call == CUDA_CALL_exec_destroy ||
         call == CUDA_CALL_cpu_free || call == CUDA_CALL_error_name ||
         call == CUDA_CALL_error_text || call == CUDA_CALL_function_set;
}

START_TEST(every_call_fails_in_every_way) {
  static const struct {
    int code;
    tile_status status;
  } codes[] = {
      {1, TILE_INVALID_ARGUMENT}, {2, TILE_OUT_OF_DEVICE_MEMORY}, {3, TILE_NO_DEVICE},
      {100, TILE_NO_DEVICE},      {101, TILE_NO_DEVICE},          {201, TILE_INVALID_ARGUMENT},
      {209, TILE_DRIVER_TOO_OLD}, {218, TILE_INTERNAL},           {222, TILE_DRIVER_TOO_OLD},
      {700, TILE_LAUNCH_FAILED},  {701, TILE_LAUNCH_FAILED},      {715, TILE_LAUNCH_FAILED},
      {719, TILE_LAUNCH_FAILED},  {801, TILE_DRIVER_TOO_OLD},     {999, TILE_LAUNCH_FAILED},
      {12345, TILE_LAUNCH_FAILED}};
  // Optional calls have tests of their own (test_launch_maps.c, test_launch_pdl.c).
  for (int call = 0; call < CUDA_CALL_tensor_map_encode; call++) {
    for (size_t i = 0; i < COUNT_OF(codes); i++) {
      fake->fail[call] = codes[i].code;
      tile_status s = use_everything();
      fake->fail[call] = 0;
      if (may_be_ignored(call)) {
        ck_assert_int_eq(s, TILE_OK);
        continue;
      }
      tile_status expected = codes[i].status;
      bool assembles = call == CUDA_CALL_link_add || call == CUDA_CALL_link_complete;
      if (assembles && (expected == TILE_INTERNAL || expected == TILE_INVALID_ARGUMENT))
        expected = TILE_COMPILE_ERROR;
      if (call == CUDA_CALL_init && expected != TILE_DRIVER_TOO_OLD)
        expected = TILE_NO_DEVICE;
      ck_assert_msg(s == expected, "call %d, code %d: got %s", call, codes[i].code,
                    tile_status_name(s));
      ck_assert_ptr_nonnull(strstr(tile_error_message(), "cu"));
    }
  }
}
END_TEST

START_TEST(allocations_are_found_by_any_address_in_them) {
  tile_device *d = NULL;
  void *p = NULL, *base = NULL;
  size_t size = 0;
  char name[32];
  fake->device_count = 2;
  ck_assert_int_eq(tile_device_open("cuda:1", &d), TILE_OK);
  device_open_name(d, name);
  ck_assert_str_eq(name, "cuda:1");
  ck_assert_int_eq(tile_malloc(d, 1000, &p), TILE_OK);
  ck_assert_int_eq(device_allocation(d, (char *)p + 999, &base, &size), TILE_OK);
  ck_assert_ptr_eq(base, p);
  ck_assert_uint_eq(size, 1000);
  ck_assert_int_eq(device_allocation(d, &size, &base, &size), TILE_INVALID_ARGUMENT);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "in no allocation of this GPU"));
  ck_assert_int_eq(tile_free(d, p), TILE_OK);
  ck_assert_int_eq(device_allocation(d, p, &base, &size), TILE_INVALID_ARGUMENT);
  tile_device_close(d);
}
END_TEST

START_TEST(errors_say_call_name_and_hint) {
  fake->fail[CUDA_CALL_stream_wait] = 700;
  ck_assert_int_eq(use_everything(), TILE_LAUNCH_FAILED);
  const char *m = tile_error_message();
  ck_assert_ptr_nonnull(strstr(m, "cuStreamSynchronize"));
  ck_assert_ptr_nonnull(strstr(m, "CUDA_ERROR_FAKE (700)"));
  ck_assert_ptr_nonnull(strstr(m, "help: a kernel accessed memory outside its buffers"));
  // Our names are used if the driver has none.
  fake->fail[CUDA_CALL_error_name] = fake->fail[CUDA_CALL_error_text] = 1;
  use_everything();
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "CUDA_ERROR_ILLEGAL_ADDRESS (700)"));
}
END_TEST

START_TEST(load_errors_carry_the_log) {
  fake->fail[CUDA_CALL_module_load] = 218;
  fake->error_log = "ptxas fatal: line 3";
  ck_assert_int_eq(use_everything(), TILE_INTERNAL);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "ptxas fatal: line 3"));
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "`copy`"));
}
END_TEST

static const char serialised[] =
    "ptxas info    : Used 168 registers\n"
    "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are "
    "serialized\n";

// The status of assembling a text in this way.
static tile_status assembled(enum assembly how) {
  tile_device *d = NULL;
  void *cubin = NULL;
  size_t size = 0;
  ck_assert_int_eq(tile_device_open("cuda", &d), TILE_OK);
  tile_status s = module_assemble(d, "text", 4, how, &cubin, &size);
  ck_assert_int_eq(fake->live_links, 0);
  free(cubin);
  tile_device_close(d);
  return s;
}

START_TEST(serialised_products_are_slow) {
  fake->info_log = serialised;
  ck_assert_int_eq(use_everything(), TILE_OK);
  ck_assert_int_eq(assembled(ASSEMBLY_OPTIMIZED), TILE_OK);
  ck_assert_int_eq(assembled(ASSEMBLY_TIER1), TILE_COMPILE_ERROR); // optimised code may be better
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "(C7510)"));
}
END_TEST

START_TEST(serialised_products_are_an_error_if_strict) {
  setenv("TILE_DEBUG", "strict", 1);
  fake->info_log = "ptxas info    : (C7601) something else\nptxas info : (C75 \n";
  ck_assert_int_eq(use_everything(), TILE_OK);
  fake->info_log = serialised;
  ck_assert_int_eq(use_everything(), TILE_COMPILE_ERROR);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "(C7510) Potential Performance Loss"));
  ck_assert_int_eq(fake->live_modules, 0);
  ck_assert_int_eq(assembled(ASSEMBLY_OPTIMIZED), TILE_COMPILE_ERROR);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "(C7510)"));
}
END_TEST

START_TEST(assembling_says_what_is_wrong) {
  tile_device *d = NULL, *host = NULL;
  void *cubin = NULL;
  size_t size = 0;
  ck_assert_int_eq(tile_device_open("cuda", &d), TILE_OK);
  ck_assert_int_eq(module_assemble(d, "bad text", 8, ASSEMBLY_OPTIMIZED, &cubin, &size),
                   TILE_COMPILE_ERROR);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "ptxas fatal: bad"));
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "cuLinkAddData_v2"));
  ck_assert_int_eq(fake->live_links, 0);
  ck_assert_int_eq(module_assemble(d, "good text", 9, ASSEMBLY_OPTIMIZED, &cubin, &size), TILE_OK);
  ck_assert_uint_eq(size, sizeof "\177ELFgood text");
  ck_assert_mem_eq(cubin, "\177ELFgood text", size);
  free(cubin);
  tile_device_close(d);
  ck_assert_int_eq(tile_device_open("cpu", &host), TILE_OK);
  ck_assert_int_eq(module_assemble(host, "good text", 9, ASSEMBLY_OPTIMIZED, &cubin, &size),
                   TILE_INVALID_ARGUMENT);
  tile_device_close(host);
}
END_TEST

START_TEST(function_that_fails_to_prepare_is_unloaded) {
  tile_device *d = NULL;
  struct module *m = NULL;
  struct kernel_info big = info;
  big.shared_bytes = 100 << 10;
  ck_assert_int_eq(tile_device_open("cuda", &d), TILE_OK);
  ck_assert_int_eq(module_load(d, "ptx", 3, &big, &m), TILE_OK);
  ck_assert_int_eq(fake->max_shared, 100 << 10);
  module_destroy(m);
  fake->fail[CUDA_CALL_function_set] = 1;
  ck_assert_int_eq(module_load(d, "ptx", 3, &big, &m), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(fake->live_modules, 0);
  big.shared_bytes = 300 << 10;
  ck_assert_int_eq(module_load(d, "ptx", 3, &big, &m), TILE_LIMIT);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "307200"));
  tile_device_close(d);
}
END_TEST

START_TEST(launch_parameters) {
  tile_device *d = NULL;
  struct module *m = NULL;
  tile_stream *stream = NULL;
  uint64_t x = 0x1234567800, n = 77;
  ck_assert_int_eq(tile_device_open("cuda", &d), TILE_OK);
  ck_assert_int_eq(tile_stream_create(d, &stream), TILE_OK);
  info.shared_bytes = 1024;
  ck_assert_int_eq(module_load(d, "ptx", 3, &info, &m), TILE_OK);
  void *values[] = {&x, &n};
  fake->param_count = 2;
  ck_assert_int_eq(module_launch(m, stream, (tile_grid){7, 0, 3}, values, 0), TILE_OK);
  ck_assert_uint_eq(fake->grid[0], 7);
  ck_assert_uint_eq(fake->grid[1], 1);
  ck_assert_uint_eq(fake->grid[2], 3);
  ck_assert_uint_eq(fake->block, 256);
  ck_assert_uint_eq(fake->shared_bytes, 1024);
  ck_assert_ptr_nonnull(fake->stream);
  ck_assert_uint_eq(fake->params[0], x);
  ck_assert_uint_eq(fake->params[1], n);
  ck_assert_int_eq(module_launch(m, NULL, (tile_grid){1, 65536, 1}, values, 0),
                   TILE_INVALID_ARGUMENT);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "grid's y is 65536; this GPU allows 65535"));
  ck_assert_int_eq(module_launch(m, NULL, (tile_grid){0x80000000u, 1, 1}, values, 0),
                   TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(module_launch(m, NULL, (tile_grid){1, 1, 1u << 20}, values, 0),
                   TILE_INVALID_ARGUMENT);
  module_destroy(m);
  tile_stream_destroy(stream);
  tile_device_close(d);
}
END_TEST

static void *allocate_in_thread(void *device) {
  void *p = NULL;
  tile_status s = tile_malloc(device, 10, &p);
  if (s == TILE_OK)
    s = tile_free(device, p);
  return s == TILE_OK ? device : NULL;
}

START_TEST(context_follows_the_thread) {
  tile_device *d = NULL;
  pthread_t t;
  void *result = NULL;
  ck_assert_int_eq(tile_device_open("cuda", &d), TILE_OK);
  pthread_create(&t, NULL, allocate_in_thread, d);
  pthread_join(t, &result);
  ck_assert_ptr_eq(result, d);
  int set = fake->calls[CUDA_CALL_context_set];
  ck_assert_ptr_eq(allocate_in_thread(d), d);
  ck_assert_int_eq(fake->calls[CUDA_CALL_context_set], set + 1); // once for two calls
  tile_device_close(d);
}
END_TEST

START_TEST(cpu_code_and_gpu_do_not_mix) {
  tile_device *gpu = NULL, *host = NULL;
  struct module *m = NULL;
  ck_assert_int_eq(tile_device_open("cuda", &gpu), TILE_OK);
  ck_assert_int_eq(tile_device_open("cpu", &host), TILE_OK);
  ck_assert_int_eq(module_load(host, "ptx", 3, &info, &m), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(module_from_cpu(gpu, NULL, &info, NULL, NULL, &m), TILE_INVALID_ARGUMENT);
  tile_device_close(gpu);
  tile_device_close(host);
}
END_TEST

Suite *suite_cuda(void) {
  Suite *s = suite_create("cuda");
  TCase *t = tcase_create("fake driver");
  tcase_add_checked_fixture(t, find_fake, NULL);
  tcase_set_timeout(t, 60);
  tcase_add_test(t, opens_and_closes);
  tcase_add_test(t, target_by_capability);
  tcase_add_test(t, no_driver_no_device);
  tcase_add_test(t, missing_symbol_is_named);
  tcase_add_test(t, no_such_gpu);
  tcase_add_test(t, everything_works_and_is_given_back);
  tcase_add_test(t, every_call_fails_in_every_way);
  tcase_add_test(t, allocations_are_found_by_any_address_in_them);
  tcase_add_test(t, errors_say_call_name_and_hint);
  tcase_add_test(t, load_errors_carry_the_log);
  tcase_add_test(t, serialised_products_are_slow);
  tcase_add_test(t, serialised_products_are_an_error_if_strict);
  tcase_add_test(t, assembling_says_what_is_wrong);
  tcase_add_test(t, function_that_fails_to_prepare_is_unloaded);
  tcase_add_test(t, launch_parameters);
  tcase_add_test(t, context_follows_the_thread);
  tcase_add_test(t, cpu_code_and_gpu_do_not_mix);
  suite_add_tcase(s, t);
  return s;
}
