// SPDX-License-Identifier: Apache-2.0
// Opening kernels, settings, argument checks, the compiler's bindings, the caches.
#include "../runtime/fake_cuda.h"
#include "fake_compiler.h"
#include "suites.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static tile_device *device;
static tile_kernel *kernel;
static struct fake_cuda *cuda;

// def kernel(x, out: ptr[f16], n: i32 % 8, scale, BLOCK: constexpr, ACT: constexpr)
static const struct lang_param params[] = {
    {.name = "x", .divisible_by = 1},
    {.name = "out", .is_typed = true, .is_pointer = true, .dtype = DTYPE_F16, .divisible_by = 1},
    {.name = "n", .is_typed = true, .dtype = DTYPE_I32, .divisible_by = 8},
    {.name = "BLOCK", .is_constexpr = true, .divisible_by = 1},
    {.name = "scale", .divisible_by = 1},
    {.name = "ACT", .is_constexpr = true, .has_default = true, .divisible_by = 1},
};

static tile_status open_text(const char *text, const char *name, tile_kernel **ret) {
  return tile_kernel_from_source(device, "k.tile", text, strlen(text), name, ret);
}

static void set_up(void) {
  memset(&fake_compiler, 0, sizeof fake_compiler);
  memcpy(fake_compiler.params, params, sizeof params);
  fake_compiler.param_count = COUNT_OF(params);
  cuda = dlsym(dlopen(FAKE_CUDA_PATH, RTLD_NOW | RTLD_LOCAL), FAKE_CUDA_STATE);
  ck_assert_int_eq(tile_device_open("cuda", &device), TILE_OK);
  ck_assert_int_eq(open_text("source", NULL, &kernel), TILE_OK);
}

static void tear_down(void) {
  tile_kernel_close(kernel);
  tile_device_close(device);
}

static char *aligned(int offset) { return (char *)(uintptr_t)0x70000000 + offset; }

struct call {
  tile_arg args[4];
};

static struct call good(void) {
  return (struct call){{tile_arg_pointer(aligned(0), TILE_F32),
                        tile_arg_pointer(aligned(64), TILE_F16), tile_arg_i32(800),
                        tile_arg_f32(0.5f)}};
}

static tile_status launch(struct call c) {
  return tile_launch(kernel, NULL, (tile_grid){3, 1, 1}, c.args, 4);
}

static void expect_error(struct call c, const char *part) {
  ck_assert_int_eq(launch(c), TILE_INVALID_ARGUMENT);
  ck_assert_msg(strstr(tile_error_message(), part), "%s", tile_error_message());
}

// ---- opening ----

START_TEST(what_does_not_open) {
  tile_kernel *k = NULL;
  ck_assert_int_eq(open_text("wrong", NULL, &k), TILE_COMPILE_ERROR);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "k.tile:1:1: error: `wrong` is not"));
  ck_assert_int_eq(open_text("source", "other", &k), TILE_NOT_FOUND);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "`other`"));
  ck_assert_int_eq(tile_kernel_open(device, "/nonexistent/k.tile", NULL, &k), TILE_NOT_FOUND);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "/nonexistent/k.tile"));
  ck_assert_int_eq(tile_kernel_open(device, "/", NULL, &k), TILE_IO_ERROR);
  ck_assert_int_eq(tile_kernel_open(NULL, "k.tile", NULL, &k), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_kernel_open(device, NULL, NULL, &k), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(open_text("source", NULL, NULL), TILE_INVALID_ARGUMENT);
  ck_assert_ptr_null(k);
  tile_kernel_close(NULL);
}
END_TEST

START_TEST(records_instead_of_a_message) {
  struct arena *a = arena_create();
  struct jit_report report = {a, diag_engine_create(a)};
  tile_kernel *k = NULL;
  ck_assert_int_eq(jit_kernel_open(device, "k.tile", STR("wrong"), NULL, &report, &k),
                   TILE_COMPILE_ERROR);
  ck_assert_uint_eq(diag_error_count(report.diag), 1);
  ck_assert_str_eq(tile_error_message(), "`wrong` is not a statement");
  struct strbuf json = {0};
  diag_render_json(report.diag, &json);
  ck_assert_ptr_nonnull(strstr(strbuf_cstr(&json), "k.tile"));
  strbuf_finish(&json);
  struct call c = good();
  struct jit_spec *spec = NULL;
  fake_compiler.fail = 1;
  ck_assert_int_eq(jit_specialise(kernel, c.args, 4, &report, &spec), TILE_COMPILE_ERROR);
  ck_assert_uint_eq(diag_error_count(report.diag), 2);
  arena_destroy(a);
}
END_TEST

START_TEST(parameters_and_names) {
  size_t count;
  const struct lang_param *p = jit_kernel_params(kernel, &count);
  ck_assert_uint_eq(count, 4);
  ck_assert_str_eq(p[3].name, "scale");
  ck_assert_str_eq(jit_kernel_name(kernel), "kernel");
}
END_TEST

// ---- arguments ----

START_TEST(wrong_arguments_name_the_parameter) {
  struct call c = good();
  ck_assert_int_eq(tile_launch(kernel, NULL, (tile_grid){1, 1, 1}, c.args, 3),
                   TILE_INVALID_ARGUMENT);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "takes 4 arguments, got 3"));
  ck_assert_int_eq(tile_launch(kernel, NULL, (tile_grid){1, 1, 1}, NULL, 4), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_launch(NULL, NULL, (tile_grid){1, 1, 1}, c.args, 4), TILE_INVALID_ARGUMENT);
  c.args[1] = tile_arg_i32(3);
  expect_error(c, "argument 2 (`out`) must be a pointer to f16, got i32");
  c.args[1] = tile_arg_pointer(aligned(0), TILE_F32);
  expect_error(c, "argument 2 (`out`) must be a pointer to f16, got a pointer to f32");
  c = good();
  c.args[2] = tile_arg_pointer(aligned(0), TILE_I32);
  expect_error(c, "argument 3 (`n`) must be i32, got a pointer to i32");
  c.args[2] = tile_arg_i64(8);
  expect_error(c, "argument 3 (`n`) must be i32, got i64");
  c.args[2] = tile_arg_int(TILE_I32, (int64_t)1 << 31);
  expect_error(c, "argument 3 (`n`) is 2147483648, which does not fit i32");
  c.args[2] = tile_arg_i32(4);
  expect_error(c, "argument 3 (`n`) is declared a multiple of 8; 4 is not");
  c = good();
  c.args[3] = tile_arg_int(TILE_U8, 256);
  expect_error(c, "argument 4 (`scale`) is 256, which does not fit u8");
  c.args[3] = tile_arg_int(TILE_U8, -1);
  expect_error(c, "does not fit u8");
  c.args[3] = tile_arg_int(TILE_I1, 2);
  expect_error(c, "does not fit i1");
  c.args[3] = tile_arg_int((tile_type)77, 2);
  expect_error(c, "argument 4 (`scale`) has no known type (77)");
  ck_assert_int_eq(fake_compiler.compilations, 0);
}
END_TEST

static void expect_bindings(struct call c, const char *text) {
  ck_assert_int_eq(launch(c), TILE_OK);
  ck_assert_str_eq(fake_compiler.bindings, text);
}

START_TEST(what_the_compiler_is_told) {
  struct call c = good();
  tile_kernel_set_constant(kernel, "BLOCK", "128");
  expect_bindings(c, "x:*f32%16 out:*f16%16 n:i32%16 BLOCK='128' scale:f32");
  ck_assert_int_eq(fake_compiler.emit, EMIT_PTX);
  ck_assert_str_eq(fake_compiler.target, "sm_90a");
  c.args[2] = tile_arg_i32(24); // a multiple of 8 by declaration, not of 16
  expect_bindings(c, "x:*f32%16 out:*f16%16 n:i32%8 BLOCK='128' scale:f32");
  c.args[0] = tile_arg_pointer(aligned(4), TILE_U32);
  expect_bindings(c, "x:*u32 out:*f16%16 n:i32%8 BLOCK='128' scale:f32");
  c.args[3] = tile_arg_i64(1);
  expect_bindings(c, "x:*u32 out:*f16%16 n:i32%8 BLOCK='128' scale:i64=1");
  c.args[3] = tile_arg_i64(0);
  expect_bindings(c, "x:*u32 out:*f16%16 n:i32%8 BLOCK='128' scale:i64%16");
  c.args[3] = tile_arg_int(TILE_I1, 1);
  expect_bindings(c, "x:*u32 out:*f16%16 n:i32%8 BLOCK='128' scale:i1");
  c.args[3] = tile_arg_f64(16.0); // floats are not specialised on
  expect_bindings(c, "x:*u32 out:*f16%16 n:i32%8 BLOCK='128' scale:f64");
  int so_far = fake_compiler.compilations;
  c.args[3] = tile_arg_f64(1.0);
  ck_assert_int_eq(launch(c), TILE_OK);
  c.args[2] = tile_arg_i32(40);
  ck_assert_int_eq(launch(c), TILE_OK);
  ck_assert_int_eq(fake_compiler.compilations, so_far);
}
END_TEST

START_TEST(none_is_no_argument_of_the_code) {
  struct call c = good();
  ck_assert_int_eq(launch(c), TILE_OK);
  c.args[0] = c.args[1] = tile_arg_none();
  expect_bindings(c, "x='None' out='None' n:i32%16 scale:f32");
  c.args[1] = good().args[1];
  c.args[3] = tile_arg_none();
  cuda->param_count = 2;
  cuda->params[0] = cuda->params[1] = 0;
  expect_bindings(c, "x='None' out:*f16%16 n:i32%16 scale='None'");
  ck_assert_uint_eq(cuda->params[0], 0x70000040);
  ck_assert_uint_eq((uint32_t)cuda->params[1], 800);
  ck_assert_int_eq(launch(c), TILE_OK);
  ck_assert_int_eq(fake_compiler.compilations, 3);
  c.args[2] = tile_arg_none();
  expect_error(c, "argument 3 (`n`) must be i32, got None");
}
END_TEST

START_TEST(values_reach_the_driver) {
  struct call c = good();
  cuda->param_count = 4;
  ck_assert_int_eq(launch(c), TILE_OK);
  ck_assert_uint_eq(cuda->grid[0], 3);
  ck_assert_uint_eq(cuda->block, 128);
  ck_assert_uint_eq(cuda->params[0], 0x70000000);
  ck_assert_uint_eq(cuda->params[1], 0x70000040);
  ck_assert_uint_eq((uint32_t)cuda->params[2], 800);
  float scale;
  memcpy(&scale, &cuda->params[3], sizeof scale);
  ck_assert(scale == 0.5f);
  // An argument equal to 1 is no parameter of the kernel any more.
  c.args[3] = tile_arg_i32(1);
  cuda->param_count = 3;
  cuda->params[2] = 0;
  ck_assert_int_eq(launch(c), TILE_OK);
  ck_assert_uint_eq((uint32_t)cuda->params[2], 800);
  ck_assert_str_eq(tile_kernel_param_name(kernel, c.args, 4, 2), "n");
  ck_assert_ptr_null(tile_kernel_param_name(kernel, c.args, 4, 3));
  ck_assert_ptr_null(tile_kernel_param_name(kernel, c.args, 4, -1));
  c.args[3] = tile_arg_int(TILE_F16, 0);
  c.args[3].value.real = 1.5;
  cuda->param_count = 4;
  ck_assert_int_eq(launch(c), TILE_OK);
  ck_assert_uint_eq((uint16_t)cuda->params[3], 0x3e00);
}
END_TEST

// ---- settings ----

START_TEST(settings_are_checked) {
  ck_assert_int_eq(tile_kernel_set_constant(kernel, "BLOK", "1"), TILE_INVALID_ARGUMENT);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "did you mean `BLOCK`?"));
  ck_assert_int_eq(tile_kernel_set_constant(kernel, "n", "1"), TILE_INVALID_ARGUMENT);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "run-time parameter"));
  ck_assert_int_eq(tile_kernel_set_constant(kernel, NULL, "1"), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_kernel_set_constant(kernel, "BLOCK", NULL), TILE_INVALID_ARGUMENT);
  static const unsigned wrong_warps[] = {0, 3, 64, 1u << 31};
  for (size_t i = 0; i < COUNT_OF(wrong_warps); i++)
    ck_assert_int_eq(tile_kernel_set_warps(kernel, wrong_warps[i]), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_kernel_set_stages(kernel, 0), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_kernel_set_stages(kernel, 17), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_kernel_set_max_registers(kernel, 8), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_kernel_set_max_registers(kernel, 256), TILE_INVALID_ARGUMENT);
  static const unsigned wrong_ctas[] = {0, 3, 32, 1u << 31};
  for (size_t i = 0; i < COUNT_OF(wrong_ctas); i++)
    ck_assert_int_eq(tile_kernel_set_num_ctas(kernel, wrong_ctas[i]), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_kernel_set_num_ctas(NULL, 2), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_kernel_set_warp_specialize(kernel, "maybe"), TILE_INVALID_ARGUMENT);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "auto, on or off, not `maybe`"));
  ck_assert_int_eq(tile_kernel_set_warp_specialize(kernel, NULL), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_kernel_set_warp_specialize(NULL, "on"), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_kernel_set_check(kernel, 1), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_kernel_set_check(kernel, 0), TILE_OK);
  ck_assert_int_eq(tile_kernel_add_folder(kernel, NULL), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_kernel_add_folder(kernel, ""), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_kernel_add_folder(NULL, "lib"), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_kernel_set_target(NULL, "sm_80"), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_kernel_set_target(kernel, NULL), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_kernel_set_target(kernel, "sm_1"), TILE_INVALID_ARGUMENT);
  ck_assert_int_eq(tile_kernel_set_target(kernel, "cpu"), TILE_INVALID_ARGUMENT);
}
END_TEST

START_TEST(settings_make_new_code_and_find_the_old) {
  struct call c = good();
  ck_assert_int_eq(launch(c), TILE_OK);
  ck_assert_int_eq(fake_compiler.compilations, 1);
  ck_assert_int_eq(tile_kernel_set_warps(kernel, 8), TILE_OK);
  ck_assert_int_eq(launch(c), TILE_OK);
  ck_assert_int_eq(fake_compiler.compilations, 2);
  ck_assert_uint_eq(fake_compiler.num_warps, 8);
  ck_assert_int_eq(tile_kernel_set_stages(kernel, 2), TILE_OK);
  ck_assert_int_eq(tile_kernel_set_max_registers(kernel, 64), TILE_OK);
  ck_assert_int_eq(tile_kernel_set_constant(kernel, "ACT", "\"relu\""), TILE_OK);
  ck_assert_int_eq(tile_kernel_set_target(kernel, "sm_80"), TILE_OK);
  ck_assert_int_eq(launch(c), TILE_OK);
  ck_assert_int_eq(fake_compiler.compilations, 3);
  ck_assert_uint_eq(fake_compiler.num_stages, 2);
  ck_assert_str_eq(fake_compiler.target, "sm_80");
  ck_assert_ptr_nonnull(strstr(fake_compiler.bindings, "ACT='\"relu\"'"));
  // Back to the first setting: nothing is compiled.
  ck_assert_int_eq(tile_kernel_set_constant(kernel, "ACT", "None"), TILE_OK);
  ck_assert_int_eq(launch(c), TILE_OK);
  ck_assert_int_eq(tile_kernel_set_constant(kernel, "ACT", "\"relu\""), TILE_OK);
  ck_assert_int_eq(launch(c), TILE_OK);
  ck_assert_int_eq(fake_compiler.compilations, 4);
  ck_assert_int_eq(tile_kernel_set_warp_specialize(kernel, "off"), TILE_OK);
  ck_assert_int_eq(launch(c), TILE_OK);
  ck_assert_int_eq(fake_compiler.compilations, 5);
  ck_assert_int_eq(tile_kernel_set_warp_specialize(kernel, "auto"), TILE_OK);
  ck_assert_int_eq(launch(c), TILE_OK);
  ck_assert_int_eq(fake_compiler.compilations, 5);
}
END_TEST

START_TEST(folders_are_handed_on) {
  struct call c = good();
  ck_assert_int_eq(launch(c), TILE_OK);
  ck_assert_str_eq(fake_compiler.folders, "");
  ck_assert(!fake_compiler.is_detached);
  ck_assert_int_eq(tile_kernel_add_folder(kernel, "lib"), TILE_OK);
  ck_assert_int_eq(tile_kernel_add_folder(kernel, "more/lib"), TILE_OK);
  ck_assert_int_eq(launch(c), TILE_OK);
  ck_assert_str_eq(fake_compiler.folders, "lib more/lib ");
  ck_assert_int_eq(tile_kernel_set_warps(kernel, 8), TILE_OK); // keeps them
  ck_assert_int_eq(launch(c), TILE_OK);
  ck_assert_str_eq(fake_compiler.folders, "lib more/lib ");
  ck_assert_int_eq(fake_compiler.compilations, 3);
  tile_kernel *k;
  ck_assert_int_eq(tile_kernel_from_source(device, NULL, "text", 4, NULL, &k), TILE_OK);
  ck_assert_int_eq(tile_kernel_prepare(k, c.args, 4), TILE_OK);
  ck_assert(fake_compiler.is_detached);
  tile_kernel_close(k);
}
END_TEST

START_TEST(the_source_is_read_once) {
  struct call c = good(), other = good();
  other.args[2] = tile_arg_i32(808);
  ck_assert_int_eq(launch(c), TILE_OK);
  ck_assert_int_eq(launch(other), TILE_OK);
  ck_assert_int_eq(tile_kernel_set_warps(kernel, 8), TILE_OK);
  ck_assert_int_eq(launch(c), TILE_OK);
  ck_assert_int_eq(fake_compiler.reads, 1);
  ck_assert(fake_compiler.has_unit);
}
END_TEST

START_TEST(what_was_read_is_not_read_again) {
  struct arena *a = arena_create();
  struct jit_report report = {.arena = a, .diag = diag_engine_create(a)};
  struct call c = good();
  struct jit_spec *spec;
  tile_kernel *k;
  report.unit = lang_unit_read(a, report.diag, source_create(a, "k.tile", STR("source")));
  fake_compiler.reads = 0;
  ck_assert_int_eq(jit_kernel_open(device, "k.tile", STR("source"), NULL, &report, &k), TILE_OK);
  ck_assert_int_eq(jit_specialise(k, c.args, 4, &report, &spec), TILE_OK);
  ck_assert_int_eq(fake_compiler.reads, 0);
  ck_assert(fake_compiler.has_unit);
  tile_kernel_close(k);
  arena_destroy(a);
}
END_TEST

START_TEST(many_specialisations) {
  struct call c = good();
  static const tile_type types[] = {TILE_I8,  TILE_I16, TILE_I32, TILE_I64, TILE_U8,
                                    TILE_U16, TILE_F16, TILE_F32, TILE_F64, TILE_BF16};
  for (int round = 0; round < 2; round++)
    for (size_t t = 0; t < COUNT_OF(types); t++)
      for (int offset = 0; offset < 2; offset++)
        for (int n = 0; n < 2; n++) {
          c.args[0] = tile_arg_pointer(aligned(4 * offset), types[t]);
          c.args[2] = tile_arg_i32(8 + 8 * n);
          ck_assert_int_eq(launch(c), TILE_OK);
        }
  ck_assert_int_eq(fake_compiler.compilations, 40);
  ck_assert_int_eq(cuda->live_modules, 40);
  tile_kernel_close(kernel);
  kernel = NULL;
  ck_assert_int_eq(cuda->live_modules, 0);
}
END_TEST

// ---- failures ----

START_TEST(a_failed_compilation_may_be_tried_again) {
  struct call c = good();
  fake_compiler.fail = 2;
  ck_assert_int_eq(launch(c), TILE_COMPILE_ERROR);
  ck_assert_ptr_nonnull(strstr(tile_error_message(), "k.tile:1:1: error: the fake compiler"));
  ck_assert_int_eq(tile_kernel_prepare(kernel, c.args, 4), TILE_COMPILE_ERROR);
  ck_assert_int_eq(launch(c), TILE_OK);
}
END_TEST

START_TEST(a_failed_load_may_be_tried_again) {
  struct call c = good();
  const char *code;
  size_t size;
  cuda->fail[CUDA_CALL_module_load] = 2;
  ck_assert_int_eq(launch(c), TILE_OUT_OF_DEVICE_MEMORY);
  // The code is compiled although the driver would reject it.
  ck_assert_int_eq(tile_kernel_get_code(kernel, c.args, 4, &code, &size), TILE_OK);
  ck_assert_int_eq(strncmp(code, "// x:", 5), 0);
  ck_assert_uint_eq(strlen(code), size);
  cuda->fail[CUDA_CALL_module_load] = 0;
  ck_assert_int_eq(launch(c), TILE_OK);
  ck_assert_int_eq(fake_compiler.compilations, 1);
  ck_assert_int_eq(tile_kernel_get_code(kernel, c.args, 4, NULL, &size), TILE_INVALID_ARGUMENT);
}
END_TEST

// ---- the disk cache ----

static char cache_folder[64];

static void reopen(void) {
  tile_kernel_close(kernel);
  ck_assert_int_eq(open_text("source", NULL, &kernel), TILE_OK);
}

START_TEST(the_disk_cache_spares_a_compilation) {
  struct call c = good();
  snprintf(cache_folder, sizeof cache_folder, "tile-jit-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(cache_folder));
  setenv("TILE_CACHE_DIR", cache_folder, 1);
  reopen();
  ck_assert_int_eq(launch(c), TILE_OK);
  reopen();
  ck_assert_int_eq(launch(c), TILE_OK);
  ck_assert_int_eq(fake_compiler.compilations, 1);
  struct jit_spec *spec = NULL;
  ck_assert_int_eq(jit_specialise(kernel, c.args, 4, NULL, &spec), TILE_OK);
  ck_assert(jit_spec_timing(spec).from_disk);
  ck_assert_uint_eq(jit_spec_info(spec)->param_count, 4);
  ck_assert_int_eq(strncmp(jit_spec_code(spec).ptr, "// x:", 5), 0);
  // Everything that changes the code changes the key.
  tile_kernel_set_warps(kernel, 8);
  ck_assert_int_eq(launch(c), TILE_OK);
  tile_kernel_set_constant(kernel, "BLOCK", "64");
  ck_assert_int_eq(launch(c), TILE_OK);
  tile_kernel_set_target(kernel, "sm_80");
  ck_assert_int_eq(launch(c), TILE_OK);
  c.args[0] = tile_arg_pointer(aligned(4), TILE_F32);
  ck_assert_int_eq(launch(c), TILE_OK);
  ck_assert_int_eq(fake_compiler.compilations, 5);
  tile_kernel_close(kernel);
  ck_assert_int_eq(open_text("other source", NULL, &kernel), TILE_OK);
  c = good();
  ck_assert_int_eq(launch(c), TILE_OK);
  ck_assert_int_eq(fake_compiler.compilations, 6);
  // Not used when it is off or when passes are printed.
  reopen();
  jit_kernel_set_disk_cache(kernel, false);
  ck_assert_int_eq(launch(c), TILE_OK);
  reopen();
  struct pass_options options = {0};
  jit_kernel_set_passes(kernel, &options);
  ck_assert_int_eq(launch(c), TILE_OK);
  ck_assert_int_eq(fake_compiler.compilations, 8);
  // A damaged entry is compiled again.
  char command[160];
  snprintf(command, sizeof command,
           "find %s -type f -size +0 -name '????????*' -exec truncate -s 50 {} +", cache_folder);
  ck_assert_int_eq(system(command), 0);
  reopen();
  ck_assert_int_eq(launch(c), TILE_OK);
  ck_assert_int_eq(fake_compiler.compilations, 9);
  snprintf(command, sizeof command, "rm -rf %s", cache_folder);
  ck_assert_int_eq(system(command), 0);
}
END_TEST

Suite *suite_specialise(void) {
  Suite *s = suite_create("specialise");
  TCase *t = tcase_create("fake compiler");
  tcase_add_checked_fixture(t, set_up, tear_down);
  tcase_add_test(t, what_does_not_open);
  tcase_add_test(t, records_instead_of_a_message);
  tcase_add_test(t, parameters_and_names);
  tcase_add_test(t, wrong_arguments_name_the_parameter);
  tcase_add_test(t, what_the_compiler_is_told);
  tcase_add_test(t, none_is_no_argument_of_the_code);
  tcase_add_test(t, values_reach_the_driver);
  tcase_add_test(t, settings_are_checked);
  tcase_add_test(t, settings_make_new_code_and_find_the_old);
  tcase_add_test(t, folders_are_handed_on);
  tcase_add_test(t, the_source_is_read_once);
  tcase_add_test(t, what_was_read_is_not_read_again);
  tcase_add_test(t, many_specialisations);
  tcase_add_test(t, a_failed_compilation_may_be_tried_again);
  tcase_add_test(t, a_failed_load_may_be_tried_again);
  tcase_add_test(t, the_disk_cache_spares_a_compilation);
  suite_add_tcase(s, t);
  return s;
}
