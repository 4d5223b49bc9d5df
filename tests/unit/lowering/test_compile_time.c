// SPDX-License-Identifier: Apache-2.0
// Compile time grows with the kernel, not with its square. Processor time of this process is what
// is compared, and the limits are two and a half to ten times what is usual, for slow and busy
// machines.
#include "lowering/compile.h"
#include "suites.h"

#include <time.h>

static const char rows[] =
    "@jit\n"
    "def rows(x: ptr[f32], o: ptr[f32], s: ptr[f32], n: i32, COPIES: constexpr):\n"
    "    i = arange(0, 16)\n"
    "    at = i[:, None] * 64 + arange(0, 64)[None, :] * 64\n"
    "    w = load(x + at, mask=at < n, other=0)\n"
    "    for k in static_range(0, COPIES):\n"
    "        v = load(x + at + k * 7, mask=at < n, other=0)\n"
    "        store(o + at + k * 5, v * w, mask=at < n)\n"
    "        atomic_add(s + i * 3 + k, tl.sum(v * w, axis=1), mask=i < n)\n";

static const char softmax[] =
    "@jit\n"
    "def softmax(x: ptr[f32] % 16, o: ptr[f32] % 16, n: i32, rows: i32, stride: i32):\n"
    "    row = program_id(0) * 4 + arange(0, 4)\n"
    "    column = arange(0, 1024)\n"
    "    mask = (row < rows)[:, None] & (column < n)[None, :]\n"
    "    at = row[:, None] * stride + column[None, :]\n"
    "    v = load(x + at, mask=mask, other=float(\"-inf\"))\n"
    "    e = exp(v - tl.max(v, axis=1, keep_dims=True))\n"
    "    store(o + at, e / tl.sum(e, axis=1, keep_dims=True), mask=mask)\n";

// Milliseconds of the least of three compilations to PTX.
static double least_time(const char *text, const char *constant, const char *value) {
  double least = -1;
  for (int i = 0; i < 3; i++) {
    struct arena *a = arena_create();
    struct diag_engine *diag = diag_engine_create(a);
    struct lang_binding binding = {.name = constant, .kind = BIND_CONSTANT, .text = value};
    struct compile_request r = {.source = source_create(a, "time.tile", str_from(text)),
                                .bindings = &binding,
                                .binding_count = constant ? 1 : 0,
                                .target = target_find(STR("sm_90a")),
                                .emit = EMIT_PTX};
    struct compile_result result;
    clock_t start = clock();
    ck_assert(compile_kernel(a, diag, &r, &result));
    double ms = (double)(clock() - start) * 1e3 / CLOCKS_PER_SEC;
    least = least < 0 || ms < least ? ms : least;
    arena_destroy(a);
  }
  return least;
}

START_TEST(grows_with_the_kernel) {
  double small = least_time(rows, "COPIES", "24"), large = least_time(rows, "COPIES", "96");
  ck_assert_msg(large < small * 10, "24 copies take %.0f ms, 96 take %.0f", small, large);
}
END_TEST

START_TEST(softmax_is_compiled_at_once) {
  double ms = least_time(softmax, NULL, NULL);
  ck_assert_msg(ms < 400, "softmax takes %.0f ms", ms);
}
END_TEST

TCase *compile_time_tests(void) {
  TCase *t = tcase_create("compile time");
  tcase_set_timeout(t, 120);
  tcase_add_test(t, grows_with_the_kernel);
  tcase_add_test(t, softmax_is_compiled_at_once);
  return t;
}
