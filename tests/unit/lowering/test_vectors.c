// SPDX-License-Identifier: Apache-2.0
// Kernels for a processor as loops over vectors: which loops and accesses the emission makes, and
// which kernels it leaves to the executor of threads.
#include "lowering/compile.h"
#include "suites.h"

#include <stdlib.h>

static char *last_remark;

// LLVM's text, of malloc; NULL after errors.
static char *compile(const char *text, bool check, struct kernel_info *ret_info) {
  struct arena *a = arena_create();
  struct diag_engine *diag = diag_engine_create(a);
  struct compile_request r = {.source = source_create(a, "vectors.tile", str_from(text)),
                              .target = target_find(STR("cpu")),
                              .emit = EMIT_LLVM,
                              .check = check};
  struct compile_result result;
  char *copy = NULL;
  if (compile_kernel(a, diag, &r, &result)) {
    copy = strndup(result.output.ptr, result.output.len);
    *ret_info = result.info;
  }
  free(last_remark);
  struct strbuf out = {0};
  diag_render_text(diag, (struct diag_style){.remarks = true}, &out);
  last_remark = strdup(out.ptr ? strbuf_cstr(&out) : "");
  strbuf_finish(&out);
  arena_destroy(a);
  return copy;
}

static unsigned count(const char *text, const char *what) {
  unsigned n = 0;
  for (const char *at = text; (at = strstr(at, what)) != NULL; at += strlen(what))
    n++;
  return n;
}

struct expected {
  const char *what;
  unsigned least, most;
};

static void check_text(const char *kernel, const struct expected *e, size_t n) {
  struct kernel_info info = {0};
  char *text = compile(kernel, false, &info);
  ck_assert_msg(text != NULL, "%s", last_remark);
  ck_assert_msg(info.calls_programs, "%s", last_remark);
  for (size_t i = 0; i < n; i++) {
    unsigned found = count(text, e[i].what);
    ck_assert_msg(found >= e[i].least && found <= e[i].most, "%u of `%s`, expected %u to %u", found,
                  e[i].what, e[i].least, e[i].most);
  }
  free(text);
}

// Loads, arithmetic and both stores share one loop; nothing is kept.
START_TEST(a_chain_is_one_loop) {
  static const struct expected e[] = {{" = phi i64", 1, 1},
                                      {"call <16 x float> @llvm.masked.load", 1, 4},
                                      {"call void @llvm.masked.store", 2, 8},
                                      {"gather", 0, 0},
                                      {"store <16 x float>", 0, 0}};
  check_text("@jit\n"
             "def k(x: ptr[f32], y: ptr[f32], z: ptr[f32], n: i32):\n"
             "    i = program_id(0) * 4096 + arange(0, 4096)\n"
             "    v = load(x + i, mask=i < n)\n"
             "    store(y + i, v * 2.5 - 1.0, mask=i < n)\n"
             "    store(z + i, abs(v), mask=i < n)\n",
             e, COUNT_OF(e));
}
END_TEST

// The exponential is computed once and kept; the row's sum divides by one scalar quotient.
START_TEST(expensive_values_are_kept) {
  static const struct expected e[] = {{"@llvm.rint.v16f32(<16 x float> %", 1, 4},
                                      {"fdiv float", 1, 2},
                                      {"fdiv <16 x float>", 0, 0}};
  check_text("@jit\n"
             "def k(x: ptr[f32], y: ptr[f32]):\n"
             "    i = arange(0, 2048)\n"
             "    e = exp(load(x + i))\n"
             "    store(y + i, e / sum(e, axis=0))\n",
             e, COUNT_OF(e));
}
END_TEST

// Rows of a matrix that is read by columns: neighbours for the stores, so loads are gathers.
START_TEST(transposed_loads_are_gathers) {
  static const struct expected e[] = {{"call <16 x float> @llvm.masked.gather", 1, 4},
                                      {"scatter", 0, 0},
                                      {"store <16 x float>", 1, 4}};
  check_text("@jit\n"
             "def k(x: ptr[f32], y: ptr[f32]):\n"
             "    i = arange(0, 64)[:, None]\n"
             "    j = arange(0, 32)[None, :]\n"
             "    store(y + i * 32 + j, load(x + j * 64 + i))\n",
             e, COUNT_OF(e));
}
END_TEST

// Two vectors of neighbours, and none of pointers; the mask is that of both.
START_TEST(every_second_element_is_no_gather) {
  static const struct expected e[] = {{"gather", 0, 0},
                                      {"call <16 x float> @llvm.masked.load", 2, 8},
                                      {"shufflevector <16 x float>", 1, 4}};
  check_text("@jit\n"
             "def k(x: ptr[f32], y: ptr[f32], n: i32):\n"
             "    i = arange(0, 8)[:, None]\n"
             "    j = arange(0, 64)[None, :]\n"
             "    store(y + i * 64 + j, load(x + i * n + j * 2 - 1, mask=(j > 0) & (j * 2 < n)))\n",
             e, COUNT_OF(e));
}
END_TEST

// A product that a loop carries has one buffer, and pointers that advance are scalars.
START_TEST(sums_of_products_stay) {
  static const struct expected e[] = {
      {"define internal void @product_", 1, 2}, {"phi ptr", 0, 0}, {"gather", 0, 0}};
  check_text("@jit\n"
             "def k(x: ptr[f32], y: ptr[f32], z: ptr[f32], n: i32):\n"
             "    i = arange(0, 32)\n"
             "    a = x + i[:, None] * 32 + i[None, :]\n"
             "    b = y + i[:, None] * 32 + i[None, :]\n"
             "    acc = zeros((32, 32), float32)\n"
             "    for k in range(n):\n"
             "        acc = dot(load(a), load(b), acc)\n"
             "        a += 1024\n"
             "        b += 1024\n"
             "    store(z + i[:, None] * 32 + i[None, :], acc)\n",
             e, COUNT_OF(e));
}
END_TEST

START_TEST(checked_launches_run_threads) {
  static const char kernel[] = "@jit\n"
                               "def k(x: ptr[f32]):\n"
                               "    store(x + arange(0, 512), 1.0)\n";
  struct kernel_info info = {0};
  char *text = compile(kernel, true, &info);
  ck_assert_ptr_nonnull(text);
  ck_assert(!info.calls_programs);
  free(text);
}
END_TEST

START_TEST(what_is_not_offered_runs_threads) {
  static const char *const kernels[] = {
      "@jit\n"
      "def k(x: ptr[f32]):\n"
      "    device_print(\"x\", load(x + arange(0, 8)))\n",
      "@jit\n"
      "def two(a, b):\n"
      "    return a + b, a - b\n"
      "@jit\n"
      "def k(x: ptr[f32]):\n"
      "    v = load(x + arange(0, 128))\n"
      "    store(x + arange(0, 128), map_elementwise(two, v, pack=2)[0])\n"};
  for (size_t i = 0; i < COUNT_OF(kernels); i++) {
    struct kernel_info info = {0};
    char *text = compile(kernels[i], false, &info);
    ck_assert_msg(text != NULL, "%s", last_remark);
    ck_assert(!info.calls_programs);
    ck_assert_ptr_nonnull(strstr(last_remark, "runs thread by thread, not in vectors"));
    free(text);
  }
}
END_TEST

TCase *vectors_tests(void) {
  TCase *t = tcase_create("vectors");
  tcase_add_test(t, a_chain_is_one_loop);
  tcase_add_test(t, expensive_values_are_kept);
  tcase_add_test(t, transposed_loads_are_gathers);
  tcase_add_test(t, every_second_element_is_no_gather);
  tcase_add_test(t, sums_of_products_stay);
  tcase_add_test(t, checked_launches_run_threads);
  tcase_add_test(t, what_is_not_offered_runs_threads);
  return t;
}
