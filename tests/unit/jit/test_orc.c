// SPDX-License-Identifier: Apache-2.0
// CPU objects built with LLVM's code generator, linked by the JIT and run by the executor.
#include "jit/orc.h"
#include "runtime/runtime_internal.h"
#include "suites.h"

#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/TargetMachine.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static struct orc *orc;

static void set_up(void) { ck_assert_int_eq(orc_create(&orc), TILE_OK); }
static void tear_down(void) { orc_destroy(orc); }

// LLVM IR text to a position-independent object file.
static LLVMMemoryBufferRef assemble(const char *ir) {
  char *message = NULL, *triple = LLVMGetDefaultTargetTriple();
  LLVMContextRef context = LLVMContextCreate();
  LLVMMemoryBufferRef text = LLVMCreateMemoryBufferWithMemoryRangeCopy(ir, strlen(ir), "ir");
  LLVMModuleRef module = NULL;
  ck_assert_msg(!LLVMParseIRInContext(context, text, &module, &message), "%s", message);
  LLVMTargetRef target = NULL;
  ck_assert(!LLVMGetTargetFromTriple(triple, &target, &message));
  LLVMTargetMachineRef machine = LLVMCreateTargetMachine(
      target, triple, "", "", LLVMCodeGenLevelDefault, LLVMRelocPIC, LLVMCodeModelDefault);
  LLVMMemoryBufferRef object = NULL;
  ck_assert(
      !LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMObjectFile, &message, &object));
  LLVMDisposeTargetMachine(machine);
  LLVMDisposeModule(module);
  LLVMContextDispose(context);
  LLVMDisposeMessage(triple);
  return object;
}

static tile_status load(const char *ir, const char *symbol, cpu_kernel_fn *ret) {
  LLVMMemoryBufferRef object = assemble(ir);
  tile_status s = orc_load(orc, (struct str){LLVMGetBufferStart(object), LLVMGetBufferSize(object)},
                           symbol, ret);
  LLVMDisposeMemoryBuffer(object);
  return s;
}

// Rotates the lanes' numbers by one and adds exp2(5): out[i] = (i + 1) % 32 + 32.
static const char rotate[] =
    "declare i32 @tile_cpu_shuffle(ptr, i32, i32, ptr)\n"
    "declare void @tile_cpu_barrier(ptr, ptr)\n"
    "declare float @exp2f(float)\n"
    "define void @kernel(ptr %t, ptr %args) {\n"
    "  %id = load i32, ptr %t\n"
    "  %next = add i32 %id, 1\n"
    "  %v = call i32 @tile_cpu_shuffle(ptr %t, i32 %id, i32 %next, ptr null)\n"
    "  call void @tile_cpu_barrier(ptr %t, ptr null)\n"
    "  %five = sitofp i32 5 to float\n"
    "  %e = call float @exp2f(float %five)\n"
    "  %i = fptosi float %e to i32\n"
    "  %sum = add i32 %v, %i\n"
    "  %slot = load ptr, ptr %args\n"
    "  %out = load ptr, ptr %slot\n"
    "  %at = getelementptr i32, ptr %out, i32 %id\n"
    "  store i32 %sum, ptr %at\n"
    "  ret void\n"
    "}\n";

START_TEST(linked_code_runs) {
  cpu_kernel_fn fn = NULL;
  tile_device *device = NULL;
  struct module *m = NULL;
  struct kernel_info info = {.name = "kernel", .num_warps = 1, .uses_collectives = true};
  ck_assert_int_eq(load(rotate, "kernel", &fn), TILE_OK);
  ck_assert_int_eq(tile_device_open("cpu", &device), TILE_OK);
  ck_assert_int_eq(module_from_cpu(device, fn, &info, NULL, NULL, &m), TILE_OK);
  int32_t out[32] = {0}, *p = out;
  void *values[] = {&p};
  ck_assert_int_eq(module_launch(m, NULL, (tile_grid){1, 1, 1}, values, 0), TILE_OK);
  for (int i = 0; i < 32; i++)
    ck_assert_int_eq(out[i], (i + 1) % 32 + 32);
  module_destroy(m);
  tile_device_close(device);
}
END_TEST

static void expect_value(cpu_kernel_fn fn, int32_t value) {
  int32_t got = 0, *p = &got;
  void *args[] = {&p};
  fn(NULL, args);
  ck_assert_int_eq(got, value);
}

static const char *constant_kernel(char text[256], int value) {
  snprintf(text, 256,
           "define void @kernel(ptr %%t, ptr %%args) {\n"
           "  %%slot = load ptr, ptr %%args\n"
           "  %%out = load ptr, ptr %%slot\n"
           "  store i32 %d, ptr %%out\n"
           "  ret void\n"
           "}\n",
           value);
  return text;
}

START_TEST(equal_names_do_not_clash) {
  char text[256];
  cpu_kernel_fn first = NULL, second = NULL;
  ck_assert_int_eq(load(constant_kernel(text, 1), "kernel", &first), TILE_OK);
  ck_assert_int_eq(load(constant_kernel(text, 2), "kernel", &second), TILE_OK);
  expect_value(first, 1);
  expect_value(second, 2);
}
END_TEST

START_TEST(the_process_is_out_of_reach) {
  cpu_kernel_fn fn = NULL;
  ck_assert_int_eq(load("declare i32 @system(ptr)\n"
                        "define void @kernel(ptr %t, ptr %args) {\n"
                        "  %r = call i32 @system(ptr %t)\n"
                        "  ret void\n"
                        "}\n",
                        "kernel", &fn),
                   TILE_INTERNAL);
  ck_assert_msg(strstr(tile_error_message(), "system"), "%s", tile_error_message());
  ck_assert_ptr_null((void *)(uintptr_t)fn);
  // The next object still links.
  char text[256];
  ck_assert_int_eq(load(constant_kernel(text, 3), "kernel", &fn), TILE_OK);
  expect_value(fn, 3);
}
END_TEST

START_TEST(what_is_no_object_is_refused) {
  cpu_kernel_fn fn = NULL;
  char text[256];
  ck_assert_int_eq(orc_load(orc, STR("no object at all"), "kernel", &fn), TILE_INTERNAL);
  ck_assert_int_eq(orc_load(orc, STR(""), "kernel", &fn), TILE_INTERNAL);
  ck_assert_int_eq(load(constant_kernel(text, 3), "other", &fn), TILE_INTERNAL);
  ck_assert_msg(strstr(tile_error_message(), "other"), "%s", tile_error_message());
}
END_TEST

// Through half precision and back where the processor has no instruction for it.
START_TEST(half_precision_helpers) {
  cpu_kernel_fn fn = NULL;
  ck_assert_int_eq(load("define void @kernel(ptr %t, ptr %args) {\n"
                        "  %slot = load ptr, ptr %args\n"
                        "  %out = load ptr, ptr %slot\n"
                        "  %n = load i32, ptr %out\n"
                        "  %f = sitofp i32 %n to float\n"
                        "  %h = fptrunc float %f to half\n"
                        "  %g = fpext half %h to float\n"
                        "  %d = sitofp i32 %n to double\n"
                        "  %b = fptrunc double %d to bfloat\n"
                        "  %c = fpext bfloat %b to float\n"
                        "  %s = fadd float %g, %c\n"
                        "  %r = fptosi float %s to i32\n"
                        "  store i32 %r, ptr %out\n"
                        "  ret void\n"
                        "}\n",
                        "kernel", &fn),
                   TILE_OK);
  int32_t value = 2049, *p = &value; // 2048 as f16 (ties to even) and as bf16
  void *args[] = {&p};
  fn(NULL, args);
  ck_assert_int_eq(value, 4096);
}
END_TEST

static void *load_some(void *failed) {
  for (int i = 0; i < 10; i++) {
    char text[256];
    cpu_kernel_fn fn = NULL;
    if (load(constant_kernel(text, i), "kernel", &fn) != TILE_OK)
      *(bool *)failed = true;
    else
      expect_value(fn, i);
  }
  return NULL;
}

START_TEST(threads_link_together) {
  pthread_t t[4];
  bool failed[4] = {false};
  for (int i = 0; i < 4; i++)
    pthread_create(&t[i], NULL, load_some, &failed[i]);
  for (int i = 0; i < 4; i++) {
    pthread_join(t[i], NULL);
    ck_assert(!failed[i]);
  }
}
END_TEST

START_TEST(the_cpu_has_a_description) {
  struct arena *a = arena_create();
  const char *first = orc_cpu_description(a), *second = orc_cpu_description(a);
  ck_assert_ptr_nonnull(first);
  ck_assert_str_eq(first, second);
  ck_assert_uint_gt(strlen(first), 3);
  arena_destroy(a);
}
END_TEST

Suite *suite_orc(void) {
  Suite *s = suite_create("orc");
  TCase *t = tcase_create("objects");
  tcase_add_checked_fixture(t, set_up, tear_down);
  tcase_set_timeout(t, 60);
  tcase_add_test(t, linked_code_runs);
  tcase_add_test(t, equal_names_do_not_clash);
  tcase_add_test(t, the_process_is_out_of_reach);
  tcase_add_test(t, what_is_no_object_is_refused);
  tcase_add_test(t, half_precision_helpers);
  tcase_add_test(t, threads_link_together);
  tcase_add_test(t, the_cpu_has_a_description);
  suite_add_tcase(s, t);
  return s;
}
