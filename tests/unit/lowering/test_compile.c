// SPDX-License-Identifier: Apache-2.0
// The compile entry point: every stage, the same bytes each time, from several threads at once.
#include "lowering/compile.h"
#include "suites.h"

#include <pthread.h>
#include <stdlib.h>

static const char add[] =
    "@jit\n"
    "def add(x: ptr[f32] % 16, y: ptr[f32] % 16, out: ptr[f32] % 16, n: i32, BLOCK: constexpr = "
    "512):\n"
    "    i = program_id(0) * BLOCK + arange(0, BLOCK)\n"
    "    static_print(\"block\", BLOCK)\n"
    "    store(out + i, load(x + i, mask=i < n) + load(y + i, mask=i < n), mask=i < n)\n";

// The output as a string of malloc; *ret_info is only valid for its numbers.
static char *compile(const char *text, const char *target, enum emit_kind emit,
                     struct kernel_info *ret_info, size_t *ret_len, struct strbuf *printed) {
  struct arena *a = arena_create();
  struct diag_engine *diag = diag_engine_create(a);
  struct compile_request r = {.source = source_create(a, "add.tile", str_from(text)),
                              .target = target_find(str_from(target)),
                              .emit = emit,
                              .static_print = printed};
  struct compile_result result;
  char *copy = NULL;
  if (compile_kernel(a, diag, &r, &result)) {
    copy = malloc(result.output.len + 1);
    memcpy(copy, result.output.ptr, result.output.len);
    copy[result.output.len] = '\0';
    if (ret_len)
      *ret_len = result.output.len;
    if (ret_info)
      *ret_info = result.info;
  }
  arena_destroy(a);
  return copy;
}

START_TEST(stages_give_their_text) {
  static const struct {
    enum emit_kind emit;
    const char *target, *has, *has_not;
  } stages[] = {
      {EMIT_AST, "sm_90a", "add", "tile.load"},
      {EMIT_TILE, "sm_90a", "\"tile.load\"", "#tilegpu"},
      {EMIT_TILEGPU, "sm_90a", "#tilegpu.blocked", "define"},
      {EMIT_LLVM, "sm_90a", "define ptx_kernel void @add", ".entry"},
      {EMIT_PTX, "sm_90a", ".visible .entry add(", "define"},
      {EMIT_PTX, "sm_80", ".target sm_80", "sm_90"},
      {EMIT_LLVM, "cpu", "define void @add(ptr %0, ptr %1)", "addrspace"},
  };
  for (size_t i = 0; i < COUNT_OF(stages); i++) {
    char *text = compile(add, stages[i].target, stages[i].emit, NULL, NULL, NULL);
    ck_assert_ptr_nonnull(text);
    ck_assert_msg(strstr(text, stages[i].has) != NULL, "%s:\n%s", stages[i].has, text);
    ck_assert_msg(strstr(text, stages[i].has_not) == NULL, "%s:\n%s", stages[i].has_not, text);
    free(text);
  }
}
END_TEST

START_TEST(cpu_code_is_an_object_file) {
  struct kernel_info info;
  size_t len;
  char *object = compile(add, "cpu", EMIT_OBJECT, &info, &len, NULL);
  ck_assert_ptr_nonnull(object);
  ck_assert(len > 64 && memcmp(object, "\177ELF", 4) == 0);
  ck_assert_uint_eq(info.num_warps, 4);
  ck_assert_uint_eq(info.num_stages, 3);
  ck_assert_uint_eq(info.param_count, 4);
  ck_assert(!info.uses_collectives);
  free(object);
}
END_TEST

START_TEST(static_print_goes_where_it_was_asked_to) {
  struct strbuf printed = {0};
  char *text = compile(add, "sm_80", EMIT_TILE, NULL, NULL, &printed);
  ck_assert_ptr_nonnull(strstr(strbuf_cstr(&printed), "block 512"));
  strbuf_finish(&printed);
  free(text);
}
END_TEST

// What an inspector saw.
struct seen {
  unsigned calls, loads;
};

static bool count_load(MlirOperation op, void *user) {
  struct seen *seen = user;
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  bool is_load = name.length == strlen("tile.load") && !memcmp(name.data, "tile.load", name.length);
  if (is_load &&
      !mlirAttributeIsNull(tensor_encoding(mlirValueGetType(mlirOperationGetResult(op, 0)))))
    seen->loads++;
  return true;
}

static void inspect(void *user, struct ir_context *c, MlirModule module) {
  ((struct seen *)user)->calls++;
  ck_assert(!mlirOperationIsNull(module_kernel(c, module)));
  ir_walk(mlirModuleGetOperation(module), count_load, user);
}

START_TEST(inspectors_see_the_module_with_layouts) {
  static const struct {
    enum emit_kind emit;
    unsigned calls;
  } stages[] = {{EMIT_AST, 0}, {EMIT_TILE, 0}, {EMIT_TILEGPU, 1}, {EMIT_PTX, 1}};
  for (size_t i = 0; i < COUNT_OF(stages); i++) {
    struct arena *a = arena_create();
    struct seen seen = {0};
    struct compile_request r = {.source = source_create(a, "add.tile", str_from(add)),
                                .target = target_find(STR("sm_80")),
                                .emit = stages[i].emit,
                                .inspect = inspect,
                                .inspect_user = &seen};
    struct compile_result result;
    ck_assert(compile_kernel(a, diag_engine_create(a), &r, &result));
    ck_assert_uint_eq(seen.calls, stages[i].calls);
    ck_assert_uint_eq(seen.loads, 2 * stages[i].calls);
    arena_destroy(a);
  }
}
END_TEST

START_TEST(errors_give_no_output) {
  ck_assert_ptr_null(
      compile("@jit\ndef f(x: ptr[f32]):\n    store(x, y)\n", "sm_80", EMIT_PTX, NULL, NULL, NULL));
  ck_assert_ptr_null(compile("def f(:\n", "sm_80", EMIT_AST, NULL, NULL, NULL));
}
END_TEST

struct job {
  const char *target;
  enum emit_kind emit;
  size_t len;
  char *output;
};

static void *run_job(void *user) {
  struct job *j = user;
  j->output = compile(add, j->target, j->emit, NULL, &j->len, NULL);
  return NULL;
}

START_TEST(threads_compile_the_same_bytes) {
  enum { COUNT = 8 };
  struct job jobs[COUNT];
  pthread_t threads[COUNT];
  for (size_t i = 0; i < COUNT; i++) {
    jobs[i] = (struct job){i % 2 ? "cpu" : "sm_90a", i % 2 ? EMIT_OBJECT : EMIT_PTX, 0, NULL};
    ck_assert_int_eq(pthread_create(&threads[i], NULL, run_job, &jobs[i]), 0);
  }
  for (size_t i = 0; i < COUNT; i++)
    pthread_join(threads[i], NULL);
  for (size_t i = 0; i < COUNT; i++) {
    ck_assert_ptr_nonnull(jobs[i].output);
    ck_assert_uint_eq(jobs[i].len, jobs[i % 2].len);
    ck_assert_int_eq(memcmp(jobs[i].output, jobs[i % 2].output, jobs[i].len), 0);
  }
  for (size_t i = 0; i < COUNT; i++)
    free(jobs[i].output);
}
END_TEST

START_TEST(targets_are_found_by_name) {
  for (const char *const *n = target_names(); *n; n++) {
    const struct target *t = target_find(str_from(*n));
    ck_assert_ptr_nonnull(t);
    ck_assert_str_eq(t->name, *n);
    ck_assert_int_eq(t->is_cpu, strncmp(*n, "cpu", 3) == 0);
    ck_assert(t->is_cpu || (t->sm >= 80 && t->ptx_version >= 80));
    ck_assert(is_pow2(t->max_vector_bits) && t->shared_limit >= 48 * 1024);
  }
  ck_assert_ptr_null(target_find(STR("sm_70")));
  ck_assert_ptr_null(target_find(STR("")));
}
END_TEST

TCase *compile_tests(void) {
  TCase *t = tcase_create("compile");
  tcase_set_timeout(t, 120);
  tcase_add_test(t, stages_give_their_text);
  tcase_add_test(t, cpu_code_is_an_object_file);
  tcase_add_test(t, static_print_goes_where_it_was_asked_to);
  tcase_add_test(t, inspectors_see_the_module_with_layouts);
  tcase_add_test(t, errors_give_no_output);
  tcase_add_test(t, threads_compile_the_same_bytes);
  tcase_add_test(t, targets_are_found_by_name);
  return t;
}
