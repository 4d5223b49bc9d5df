// SPDX-License-Identifier: Apache-2.0
// The JIT with the real compiler: kernels on the CPU device, and PTX passed to the fake driver.
#include "../runtime/fake_cuda.h"
#include "jit/jit.h"

#include <check.h>
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static const char add_text[] = "@jit\n"
                               "def add(x, y, out, n, BLOCK: constexpr):\n"
                               "    i = program_id(0) * BLOCK + arange(0, BLOCK)\n"
                               "    mask = i < n\n"
                               "    a = load(x + i, mask=mask)\n"
                               "    b = load(y + i, mask=mask)\n"
                               "    store(out + i, a + b, mask=mask)\n"
                               "\n"
                               "@jit\n"
                               "def careless(x, out, stride, BLOCK: constexpr):\n"
                               "    i = program_id(0) * BLOCK + arange(0, BLOCK)\n"
                               "    store(out + i, load(x + i * stride) * 2)\n"
                               "\n"
                               "@jit\n"
                               "def shifted(out, stride, BLOCK: constexpr):\n"
                               "    i = program_id(0) * BLOCK + arange(0, BLOCK)\n"
                               "    store(out + i * stride, i.to(f32))\n"
                               "\n"
                               "@jit\n"
                               "def summed(x, out, stride, BLOCK: constexpr):\n"
                               "    i = arange(0, BLOCK)\n"
                               "    s = sum(load(x + i), 0)\n"
                               "    p = program_id(0)\n"
                               "    store(out + p, s + sum(load(x + i + p * stride), 0))\n";

static tile_device *device;

static void open_cpu(void) {
  setenv("TILE_CPU_THREADS", "3", 1);
  ck_assert_int_eq(tile_device_open("cpu", &device), TILE_OK);
}

static void open_fake_gpu(void) { ck_assert_int_eq(tile_device_open("cuda", &device), TILE_OK); }
static void close_device(void) { tile_device_close(device); }

static tile_kernel *open_kernel(const char *name, const char *block) {
  tile_kernel *k = NULL;
  tile_status s =
      tile_kernel_from_source(device, "add.tile", add_text, sizeof add_text - 1, name, &k);
  ck_assert_msg(s == TILE_OK, "%s", tile_error_message());
  ck_assert_int_eq(tile_kernel_set_constant(k, "BLOCK", block), TILE_OK);
  return k;
}

static void *buffer(size_t bytes) {
  void *p = NULL;
  ck_assert_int_eq(tile_malloc(device, bytes, &p), TILE_OK);
  return p;
}

static tile_status launch_add(tile_kernel *k, void *x, void *y, void *out, tile_type type, int n,
                              unsigned block) {
  tile_arg args[] = {tile_arg_pointer(x, type), tile_arg_pointer(y, type),
                     tile_arg_pointer(out, type), tile_arg_i32(n)};
  return tile_launch(k, NULL, (tile_grid){((unsigned)n + block - 1) / block, 1, 1}, args, 4);
}

START_TEST(adds_floats_of_any_length) {
  static const int sizes[] = {1, 127, 128, 129, 1000, 9973};
  tile_kernel *k = open_kernel("add", "128");
  for (size_t at = 0; at < COUNT_OF(sizes); at++)
    for (size_t offset = 0; offset < 2; offset++) {
      size_t n = (size_t)sizes[at];
      float *x = buffer((n + 1) * 4), *y = buffer((n + 1) * 4), *out = buffer((n + 1) * 4);
      for (size_t i = 0; i < n + 1; i++) {
        x[i] = (float)i * 0.37f;
        y[i] = 1.0f / (float)(i + 1);
      }
      tile_status s = launch_add(k, x + offset, y + offset, out + offset, TILE_F32, (int)n, 128);
      ck_assert_msg(s == TILE_OK, "%s", tile_error_message());
      for (size_t i = offset; i < n + offset; i++)
        ck_assert(out[i] == (float)((double)x[i] + (double)y[i]));
      ck_assert(offset ? out[0] != out[0] : out[n] != out[n]); // still the poison
      tile_free(device, x);
      tile_free(device, y);
      tile_free(device, out);
    }
  tile_kernel_close(k);
}
END_TEST

START_TEST(adds_other_types) {
  tile_kernel *k = open_kernel("add", "64");
  int64_t *x = buffer(800), *y = buffer(800), *out = buffer(800);
  for (int i = 0; i < 100; i++) {
    x[i] = INT64_MAX - i;
    y[i] = -3 * i;
  }
  tile_status s = launch_add(k, x, y, out, TILE_I64, 100, 64);
  ck_assert_msg(s == TILE_OK, "%s", tile_error_message());
  for (int i = 0; i < 100; i++)
    ck_assert_int_eq(out[i], INT64_MAX - 4 * i);
  tile_free(device, x);
  tile_free(device, y);
  tile_free(device, out);
  tile_kernel_close(k);
}
END_TEST

START_TEST(an_argument_equal_to_one_is_compiled_in) {
  tile_kernel *k = open_kernel("careless", "64");
  float *x = buffer(128 * 4), *out = buffer(64 * 4);
  for (int i = 0; i < 128; i++)
    x[i] = (float)i;
  for (int stride = 1; stride <= 2; stride++) {
    tile_arg args[] = {tile_arg_pointer(x, TILE_F32), tile_arg_pointer(out, TILE_F32),
                       tile_arg_i32(stride)};
    struct jit_spec *spec = NULL;
    ck_assert_int_eq(tile_launch(k, NULL, (tile_grid){1, 1, 1}, args, 3), TILE_OK);
    ck_assert_int_eq(jit_specialise(k, args, 3, NULL, &spec), TILE_OK);
    ck_assert_uint_eq(jit_spec_info(spec)->param_count, stride == 1 ? 2 : 3);
    for (int i = 0; i < 64; i++)
      ck_assert(out[i] == (float)(2 * i * stride));
  }
  tile_free(device, x);
  tile_free(device, out);
  tile_kernel_close(k);
}
END_TEST

START_TEST(a_device_that_is_not_there_compiles) {
  tile_device_properties p;
  void *memory = NULL;
  ck_assert_int_eq(device_open_offline("sm_90a", &device), TILE_OK);
  ck_assert_int_eq(tile_device_get_properties(device, &p), TILE_OK);
  ck_assert_str_eq(p.target, "sm_90a");
  ck_assert_int_eq(tile_malloc(device, 64, &memory), TILE_NO_DEVICE);
  tile_kernel *k = open_kernel("careless", "64");
  tile_arg args[] = {tile_arg_pointer((void *)256, TILE_F32),
                     tile_arg_pointer((void *)512, TILE_F32), tile_arg_i32(1)};
  const struct jit_cost_job q = {.grid = {1, 1, 1}};
  struct kernel_cost cost = {0};
  ck_assert_int_eq(tile_kernel_set_warps(k, 2), TILE_OK);
  tile_status s = jit_cost(k, args, 3, &q, NULL, &cost);
  ck_assert_msg(s == TILE_OK, "%s", tile_error_message());
  ck_assert_uint_eq(cost.num_warps, 2);
  ck_assert(cost.global_read > 0 && cost.global_written > 0);
  struct jit_spec *spec = NULL;
  ck_assert_int_eq(jit_specialise(k, args, 3, NULL, &spec), TILE_OK);
  ck_assert_ptr_nonnull(strstr(jit_spec_code(spec).ptr, ".target sm_90a"));
  ck_assert_int_eq(tile_launch(k, NULL, (tile_grid){1, 1, 1}, args, 3), TILE_NO_DEVICE);
  tile_kernel_close(k);
  close_device();
}
END_TEST

START_TEST(looking_reports_what_is_wrong) {
  ck_assert_int_eq(device_open_offline("sm_80", &device), TILE_OK);
  tile_kernel *k = open_kernel("careless", "65");
  tile_arg args[] = {tile_arg_pointer((void *)256, TILE_F32),
                     tile_arg_pointer((void *)512, TILE_F32), tile_arg_i32(2)};
  const struct jit_cost_job q = {.grid = {1, 1, 1}};
  struct kernel_cost cost = {0};
  ck_assert_int_eq(jit_cost(k, args, 3, &q, NULL, &cost), TILE_COMPILE_ERROR);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "add.tile:11"));
  ck_assert_int_eq(jit_cost(k, args, 2, &q, NULL, &cost), TILE_INVALID_ARGUMENT);
  ck_assert(cost.num_warps == 0);
  tile_kernel_close(k);
  close_device();
}
END_TEST

START_TEST(checks_name_line_and_buffer) {
  tile_kernel *k = open_kernel("careless", "64");
  float *x = buffer(100 * 4), *out = buffer(128 * 4);
  tile_arg args[] = {tile_arg_pointer(x, TILE_F32), tile_arg_pointer(out, TILE_F32),
                     tile_arg_i32(1)};
  ck_assert_int_eq(tile_kernel_set_check(k, 1), TILE_OK);
  ck_assert_int_eq(tile_kernel_set_warps(k, 2), TILE_OK); // one thread an element
  ck_assert_int_eq(tile_launch(k, NULL, (tile_grid){2, 1, 1}, args, 3), TILE_CHECK_FAILED);
  ck_assert_msg(strstr(tile_error_message(),
                       "add.tile:12:20: out-of-bounds load from `x`: element 100 of 100"),
                "%s", tile_error_message());
  const struct cpu_violation *v;
  uint64_t total;
  ck_assert_uint_eq(device_violations(device, &v, &total), 16);
  ck_assert_uint_eq(total, 28);
  ck_assert_int_eq(tile_launch(k, NULL, (tile_grid){1, 1, 1}, args, 3), TILE_OK);
  tile_free(device, x);
  tile_free(device, out);
  tile_kernel_close(k);
}
END_TEST

// ---- without checks: accesses that fault ----

static void expect_outside(tile_status s, const char *text) {
  ck_assert_int_eq(s, TILE_CHECK_FAILED);
  ck_assert_msg(strstr(tile_error_message(), text), "%s", tile_error_message());
}

START_TEST(faults_name_line_and_buffer) {
  tile_kernel *read = open_kernel("careless", "64"), *write = open_kernel("shifted", "64");
  float *x = buffer(64 * 4), *out = buffer(256 * 4);
  tile_arg reads[] = {tile_arg_pointer(x, TILE_F32), tile_arg_pointer(out, TILE_F32),
                      tile_arg_i32(1)};
  tile_arg writes[] = {tile_arg_pointer(out, TILE_F32), tile_arg_i32(1)};
  // Just after the buffer, far after, before it; reads and writes, on all worker threads.
  expect_outside(tile_launch(read, NULL, (tile_grid){4, 1, 1}, reads, 3),
                 "add.tile:12:20: out-of-bounds load from `x`: element 64 of 64");
  expect_outside(tile_launch(write, NULL, (tile_grid){5, 1, 1}, writes, 2),
                 "add.tile:17:5: out-of-bounds store to `out`: element 256 of 256");
  reads[2] = tile_arg_i32(1 << 22);
  expect_outside(tile_launch(read, NULL, (tile_grid){1, 1, 1}, reads, 3), "load from `x`");
  writes[1] = tile_arg_i32(1 << 22);
  expect_outside(tile_launch(write, NULL, (tile_grid){3, 1, 1}, writes, 2), "store to `out`");
  writes[1] = tile_arg_i32(-5000);
  expect_outside(tile_launch(write, NULL, (tile_grid){1, 1, 1}, writes, 2),
                 "store to `out`: element -5000 of 256");
  // The kernels and the device stay usable.
  reads[2] = tile_arg_i32(0);
  ck_assert_int_eq(tile_launch(read, NULL, (tile_grid){4, 1, 1}, reads, 3), TILE_OK);
  tile_free(device, x);
  tile_free(device, out);
  tile_kernel_close(read);
  tile_kernel_close(write);
}
END_TEST

START_TEST(faults_between_barriers) {
  tile_kernel *k = open_kernel("summed", "128");
  float *x = buffer(128 * 4), *out = buffer(64 * 4);
  tile_arg args[] = {tile_arg_pointer(x, TILE_F32), tile_arg_pointer(out, TILE_F32),
                     tile_arg_i32(128)};
  for (int i = 0; i < 3; i++)
    expect_outside(tile_launch(k, NULL, (tile_grid){40, 1, 1}, args, 3),
                   "add.tile:24:28: out-of-bounds load from `x`: element 128 of 128");
  ck_assert_int_eq(tile_launch(k, NULL, (tile_grid){1, 1, 1}, args, 3), TILE_OK);
  tile_free(device, x);
  tile_free(device, out);
  tile_kernel_close(k);
}
END_TEST

// Memory that is not the device's: its bounds are unknown, and the message has the address's
// element only.
START_TEST(faults_in_foreign_memory) {
  tile_kernel *k = open_kernel("careless", "64");
  long page = sysconf(_SC_PAGESIZE);
  char *own = mmap(NULL, (size_t)page * 2, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ck_assert_ptr_ne(own, MAP_FAILED);
  ck_assert_int_eq(mprotect(own, (size_t)page, PROT_READ | PROT_WRITE), 0);
  float *out = buffer(1024 * 4);
  tile_arg args[] = {tile_arg_pointer(own + page - 64 * 4, TILE_F32),
                     tile_arg_pointer(out, TILE_F32), tile_arg_i32(1)};
  ck_assert_int_eq(tile_launch(k, NULL, (tile_grid){1, 1, 1}, args, 3), TILE_OK);
  ck_assert_int_eq(tile_launch(k, NULL, (tile_grid){2, 1, 1}, args, 3), TILE_LAUNCH_FAILED);
  ck_assert_msg(strstr(tile_error_message(), "load from `x`: element 64 (kernel `careless`"), "%s",
                tile_error_message());
  munmap(own, (size_t)page * 2);
  tile_free(device, out);
  tile_kernel_close(k);
}
END_TEST

static sigjmp_buf embedder;
static volatile sig_atomic_t embedder_faults;
static void on_embedder_fault(int number) {
  (void)number;
  embedder_faults = embedder_faults + 1;
  siglongjmp(embedder, 1);
}

// A fault outside kernels: during a launch of another thread it also goes to the embedder's
// handler.
static void *launch_often(void *user) {
  tile_kernel *k = user;
  float *out = buffer(1024 * 4);
  tile_arg args[] = {tile_arg_pointer(out, TILE_F32), tile_arg_i32(1)};
  for (int i = 0; i < 200; i++)
    ck_assert_int_eq(tile_launch(k, NULL, (tile_grid){16, 1, 1}, args, 2), TILE_OK);
  tile_free(device, out);
  return NULL;
}

START_TEST(faults_of_others_are_theirs) {
  tile_kernel *k = open_kernel("shifted", "64");
  struct sigaction ours = {.sa_handler = on_embedder_fault}, before, now;
  int *volatile nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  sigaction(SIGSEGV, &ours, &before);
  pthread_t other;
  ck_assert_int_eq(pthread_create(&other, NULL, launch_often, k), 0);
  for (volatile int i = 0; i < 1000; i++)
    if (sigsetjmp(embedder, 1) == 0)
      *nowhere = 1;
  pthread_join(other, NULL);
  ck_assert_int_eq(embedder_faults, 1000);
  // The embedder's handler is restored, also after a launch that faulted.
  float *out = buffer(256 * 4);
  tile_arg args[] = {tile_arg_pointer(out, TILE_F32), tile_arg_i32(1)};
  expect_outside(tile_launch(k, NULL, (tile_grid){5, 1, 1}, args, 2), "store to `out`");
  sigaction(SIGSEGV, NULL, &now);
  ck_assert(now.sa_handler == on_embedder_fault);
  if (sigsetjmp(embedder, 1) == 0)
    *nowhere = 1;
  ck_assert_int_eq(embedder_faults, 1001);
  sigaction(SIGSEGV, &before, NULL);
  munmap(nowhere, 4096);
  tile_free(device, out);
  tile_kernel_close(k);
}
END_TEST

START_TEST(errors_are_diagnostics) {
  tile_kernel *k = NULL;
  static const char text[] = "@jit\n"
                             "def f(x, BLOCK: constexpr):\n"
                             "    store(x + arange(0, BLOCK), undefined_name)\n";
  ck_assert_int_eq(tile_kernel_from_source(device, "f.tile", text, sizeof text - 1, NULL, &k),
                   TILE_OK);
  float *x = buffer(256);
  tile_arg args[] = {tile_arg_pointer(x, TILE_F32)};
  // BLOCK has no value, then the name is unknown.
  ck_assert_int_eq(tile_kernel_prepare(k, args, 1), TILE_COMPILE_ERROR);
  ck_assert_msg(strstr(tile_error_message(), "BLOCK"), "%s", tile_error_message());
  ck_assert_int_eq(tile_kernel_set_constant(k, "BLOCK", "64"), TILE_OK);
  ck_assert_int_eq(tile_kernel_prepare(k, args, 1), TILE_COMPILE_ERROR);
  ck_assert_msg(strstr(tile_error_message(), "f.tile:3:33: error:") &&
                    strstr(tile_error_message(), "undefined_name"),
                "%s", tile_error_message());
  tile_free(device, x);
  tile_kernel_close(k);
}
END_TEST

static void *launch_shared(void *user) {
  tile_kernel *k = user;
  float *x = buffer(4000), *out = buffer(4000);
  for (int i = 0; i < 1000; i++)
    x[i] = (float)i;
  bool right = true;
  for (int round = 0; round < 10; round++) {
    right &= launch_add(k, x, x, out, TILE_F32, 1000, 128) == TILE_OK;
    for (int i = 0; i < 1000; i++)
      right &= out[i] == 2.0f * (float)i;
  }
  tile_free(device, x);
  tile_free(device, out);
  return right ? user : NULL;
}

START_TEST(threads_launch_one_new_kernel) {
  tile_kernel *k = open_kernel("add", "128");
  pthread_t t[4];
  for (int i = 0; i < 4; i++)
    pthread_create(&t[i], NULL, launch_shared, k);
  for (int i = 0; i < 4; i++) {
    void *result = NULL;
    pthread_join(t[i], &result);
    ck_assert_ptr_eq(result, k);
  }
  tile_kernel_close(k);
}
END_TEST

START_TEST(cpu_objects_come_back_from_disk) {
  char folder[] = "tile-jit-XXXXXX", command[64];
  ck_assert_ptr_nonnull(mkdtemp(folder));
  setenv("TILE_CACHE_DIR", folder, 1);
  for (int round = 0; round < 2; round++) {
    tile_kernel *k = open_kernel("add", "128");
    float *x = buffer(400), *out = buffer(400);
    for (int i = 0; i < 100; i++)
      x[i] = (float)i;
    ck_assert_int_eq(launch_add(k, x, x, out, TILE_F32, 100, 128), TILE_OK);
    ck_assert(out[99] == 198.0f);
    tile_arg args[] = {tile_arg_pointer(x, TILE_F32), tile_arg_pointer(x, TILE_F32),
                       tile_arg_pointer(out, TILE_F32), tile_arg_i32(100)};
    struct jit_spec *spec = NULL;
    ck_assert_int_eq(jit_specialise(k, args, 4, NULL, &spec), TILE_OK);
    ck_assert_int_eq(jit_spec_timing(spec).from_disk, round == 1);
    tile_free(device, x);
    tile_free(device, out);
    tile_kernel_close(k);
  }
  snprintf(command, sizeof command, "rm -rf %s", folder);
  ck_assert_int_eq(system(command), 0);
}
END_TEST

// ---- PTX ----

START_TEST(ptx_fits_its_launch) {
  struct fake_cuda *cuda = dlsym(dlopen(FAKE_CUDA_PATH, RTLD_NOW | RTLD_LOCAL), FAKE_CUDA_STATE);
  tile_kernel *k = open_kernel("add", "1024");
  float *x = (float *)(uintptr_t)0x10000;
  tile_arg args[] = {tile_arg_pointer(x, TILE_F32), tile_arg_pointer(x, TILE_F32),
                     tile_arg_pointer(x, TILE_F32), tile_arg_i32(4096)};
  const char *code = NULL;
  size_t size = 0;
  cuda->param_count = 4;
  tile_status s = tile_launch(k, NULL, (tile_grid){4, 1, 1}, args, 4);
  ck_assert_msg(s == TILE_OK, "%s", tile_error_message());
  ck_assert_uint_eq(cuda->block, 128);
  ck_assert_uint_eq(cuda->params[0], 0x10000);
  ck_assert_uint_eq((uint32_t)cuda->params[3], 4096);
  ck_assert_int_eq(tile_kernel_get_code(k, args, 4, &code, &size), TILE_OK);
  ck_assert_uint_eq(strlen(code), size);
  ck_assert_ptr_nonnull(strstr(code, ".target sm_90a"));
  ck_assert_ptr_nonnull(strstr(code, ".entry add"));
  ck_assert_ptr_nonnull(strstr(code, "ld.global.v4"));
  tile_kernel_resources r;
  ck_assert_int_eq(tile_kernel_get_resources(k, args, 4, &r), TILE_OK);
  ck_assert_uint_eq(r.num_warps, 4);
  ck_assert_uint_eq(r.threads, 128);
  ck_assert_uint_eq(r.num_ctas, 1);
  ck_assert_int_eq(tile_kernel_get_resources(k, args, 4, NULL), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_kernel_get_resources(k, args, 3, &r), TILE_INVALID_ARGUMENT);
  // Pointers with the alignment of an element only: no vectors.
  for (int i = 0; i < 3; i++)
    args[i] = tile_arg_pointer(x + 1, TILE_F32);
  ck_assert_int_eq(tile_kernel_get_code(k, args, 4, &code, &size), TILE_OK);
  ck_assert_ptr_null(strstr(code, "ld.global.v4"));
  ck_assert_int_eq(tile_kernel_set_target(k, "sm_80"), TILE_OK);
  ck_assert_int_eq(tile_kernel_get_code(k, args, 4, &code, &size), TILE_OK);
  ck_assert_ptr_nonnull(strstr(code, ".target sm_80"));
  tile_kernel_close(k);
}
END_TEST

static const char product_text[] =
    "@jit\n"
    "def product(x, y, out, B: constexpr):\n"
    "    i = arange(0, B)[:, None]\n"
    "    j = arange(0, B)[None, :]\n"
    "    acc = zeros([B, B], float32)\n"
    "    for k in range(0, 128, B):\n"
    "        acc = dot(load(x + i * 128 + k + j), load(y + (k + i) * 32 + j), acc)\n"
    "    store(out + i * B + j, acc)\n";

static bool ran_quick_code(const struct fake_cuda *cuda) {
  static const char mark[] = "\177ELFquick ";
  return strncmp(cuda->launched, mark, sizeof mark - 1) == 0;
}

START_TEST(products_run_before_their_best_code_is_there) {
  struct fake_cuda *cuda = dlsym(dlopen(FAKE_CUDA_PATH, RTLD_NOW | RTLD_LOCAL), FAKE_CUDA_STATE);
  float *x = (float *)(uintptr_t)0x10000;
  tile_arg args[] = {tile_arg_pointer(x, TILE_F16), tile_arg_pointer(x, TILE_F16),
                     tile_arg_pointer(x, TILE_F32), tile_arg_i32(4096)};
  tile_grid one = {1, 1, 1};
  tile_kernel *k = NULL;
  cuda->param_count = 1;
  ck_assert_int_eq(tile_kernel_from_source(device, "product.tile", product_text,
                                           sizeof product_text - 1, "product", &k),
                   TILE_OK);
  ck_assert_int_eq(tile_kernel_set_constant(k, "B", "32"), TILE_OK);
  jit_kernel_set_assembled_apart(k, true);
  jit_kernel_set_tier1_first(k, true);
  tile_status s = tile_launch(k, NULL, one, args, 3);
  ck_assert_msg(s == TILE_OK, "%s", tile_error_message());
  ck_assert(ran_quick_code(cuda) && !jit_kernel_is_optimized(k));
  ck_assert_int_eq(cuda->live_modules, 1);

  // If the optimized module cannot be built, tier-1 code stays in use.
  cuda->fail[CUDA_CALL_link_complete] = 999;
  jit_kernel_optimize(k);
  cuda->fail[CUDA_CALL_link_complete] = 0;
  ck_assert_int_eq(tile_launch(k, NULL, one, args, 3), TILE_OK);
  ck_assert(ran_quick_code(cuda) && jit_kernel_is_optimized(k));
  tile_kernel_close(k);
  ck_assert_int_eq(cuda->live_modules, 0);

  ck_assert_int_eq(tile_kernel_from_source(device, "product.tile", product_text,
                                           sizeof product_text - 1, "product", &k),
                   TILE_OK);
  ck_assert_int_eq(tile_kernel_set_constant(k, "B", "32"), TILE_OK);
  jit_kernel_set_assembled_apart(k, true);
  jit_kernel_set_tier1_first(k, true);
  ck_assert_int_eq(tile_launch(k, NULL, one, args, 3), TILE_OK);
  jit_kernel_optimize(k);
  ck_assert_int_eq(cuda->live_modules, 2); // the first may still be running
  ck_assert_int_eq(tile_launch(k, NULL, one, args, 3), TILE_OK);
  ck_assert(!ran_quick_code(cuda) && jit_kernel_is_optimized(k));
  ck_assert_int_eq(cuda->capture_mode, 0); // as it was before modules were loaded
  tile_kernel_close(k);
  ck_assert_int_eq(cuda->live_modules, 0);

  // Tier-1 code that is not what the PTX asks for is not used.
  ck_assert_int_eq(tile_kernel_from_source(device, "product.tile", product_text,
                                           sizeof product_text - 1, "product", &k),
                   TILE_OK);
  ck_assert_int_eq(tile_kernel_set_constant(k, "B", "32"), TILE_OK);
  jit_kernel_set_assembled_apart(k, true);
  jit_kernel_set_tier1_first(k, true);
  cuda->quick_log = "ptxas info : (C7510) Potential Performance Loss";
  ck_assert_int_eq(tile_launch(k, NULL, one, args, 3), TILE_OK);
  cuda->quick_log = NULL;
  ck_assert(!ran_quick_code(cuda) && jit_kernel_is_optimized(k));
  tile_kernel_close(k);

  // Without products tier-1 code gains nothing.
  k = open_kernel("add", "1024");
  jit_kernel_set_assembled_apart(k, true);
  jit_kernel_set_tier1_first(k, true);
  args[0] = args[1] = args[2];
  ck_assert_int_eq(tile_launch(k, NULL, one, args, 4), TILE_OK);
  ck_assert(!ran_quick_code(cuda) && jit_kernel_is_optimized(k));
  tile_kernel_close(k);
}
END_TEST

START_TEST(prepared_launches_compute_and_check) {
  enum { N = 200 };
  float x[N], y[N], out[N];
  for (int i = 0; i < N; i++)
    x[i] = (float)i, y[i] = 2, out[i] = 0;
  tile_kernel *k = open_kernel("add", "128");
  tile_arg args[] = {tile_arg_pointer(x, TILE_F32), tile_arg_pointer(y, TILE_F32),
                     tile_arg_pointer(out, TILE_F32), tile_arg_i32(N)};
  tile_prepared *p;
  ck_assert_int_eq(tile_prepared_create(k, args, 4, &p), TILE_OK);
  ck_assert_int_eq(tile_prepared_launch(p, NULL, (tile_grid){2, 1, 1}), TILE_OK);
  ck_assert_int_eq(tile_prepared_set(p, 1, args[0]), TILE_OK);
  ck_assert_int_eq(tile_prepared_launch(p, NULL, (tile_grid){1, 1, 1}), TILE_OK);
  for (int i = 0; i < N; i++)
    ck_assert(out[i] == (i < 128 ? 2 * x[i] : x[i] + 2));
  tile_prepared_destroy(p);
  // Registered memory has bounds: an access outside of it is found.
  ck_assert_int_eq(tile_kernel_set_check(k, 1), TILE_OK);
  ck_assert_int_eq(tile_memory_register(device, x, sizeof x), TILE_OK);
  ck_assert_int_eq(tile_memory_register(device, y, sizeof y), TILE_OK);
  ck_assert_int_eq(tile_memory_register(device, out, (N - 8) * sizeof *out), TILE_OK);
  ck_assert_int_eq(tile_prepared_create(k, args, 4, &p), TILE_OK);
  ck_assert_int_eq(tile_prepared_launch(p, NULL, (tile_grid){2, 1, 1}), TILE_CHECK_FAILED);
  ck_assert_msg(strstr(tile_error_message(), "add.tile:7"), "%s", tile_error_message());
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "`out`"));
  tile_prepared_destroy(p);
  tile_kernel_close(k);
}
END_TEST

START_TEST(diagnostics_are_json_too) {
  static const char text[] = "@jit\ndef f(x, B: constexpr = 16):\n    store(x, wrong)\n";
  int32_t x = 0;
  tile_kernel *k = NULL;
  ck_assert_int_eq(
      tile_kernel_from_source(device, "mistaken.tile", text, sizeof text - 1, NULL, &k), TILE_OK);
  tile_arg arg = tile_arg_pointer(&x, TILE_I32);
  ck_assert_int_eq(tile_launch(k, NULL, (tile_grid){1, 1, 1}, &arg, 1), TILE_COMPILE_ERROR);
  const char *json = tile_error_json();
  ck_assert_ptr_nonnull(strstr(json, "{\"status\": \"compile error\""));
  ck_assert_ptr_nonnull(strstr(json, "\"code\": \"E0201\""));
  ck_assert_ptr_nonnull(strstr(json, "\"file\": \"mistaken.tile\", \"line\": 3, \"column\": 14"));
  tile_kernel_close(k);
}
END_TEST

int main(void) {
  setenv("TILE_LIBCUDA", FAKE_CUDA_PATH, 1);
  setenv("TILE_CACHE_DIR", "", 1);
  Suite *s = suite_create("compiled");
  TCase *host = tcase_create("cpu");
  tcase_add_checked_fixture(host, open_cpu, close_device);
  tcase_set_timeout(host, 120);
  tcase_add_test(host, adds_floats_of_any_length);
  tcase_add_test(host, adds_other_types);
  tcase_add_test(host, an_argument_equal_to_one_is_compiled_in);
  tcase_add_test(host, checks_name_line_and_buffer);
  tcase_add_test(host, faults_name_line_and_buffer);
  tcase_add_test(host, faults_between_barriers);
  tcase_add_test(host, faults_in_foreign_memory);
  tcase_add_test(host, faults_of_others_are_theirs);
  tcase_add_test(host, errors_are_diagnostics);
  tcase_add_test(host, diagnostics_are_json_too);
  tcase_add_test(host, prepared_launches_compute_and_check);
  tcase_add_test(host, threads_launch_one_new_kernel);
  tcase_add_test(host, cpu_objects_come_back_from_disk);
  suite_add_tcase(s, host);
  TCase *ptx = tcase_create("ptx");
  tcase_add_checked_fixture(ptx, open_fake_gpu, close_device);
  tcase_add_test(ptx, ptx_fits_its_launch);
  tcase_add_test(ptx, products_run_before_their_best_code_is_there);
  suite_add_tcase(s, ptx);
  TCase *absent = tcase_create("without a device");
  tcase_add_test(absent, a_device_that_is_not_there_compiles);
  tcase_add_test(absent, looking_reports_what_is_wrong);
  suite_add_tcase(s, absent);
  SRunner *r = srunner_create(s);
  srunner_run_all(r, CK_ENV);
  int failed = srunner_ntests_failed(r);
  srunner_free(r);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
