// SPDX-License-Identifier: Apache-2.0
// A loop that copies a tile ahead, run on the CPU with its races looked for. One that gets too few
// barriers, since it claims to have more buffers than it uses, must be caught.
#include "cpu_run.h"
#include "suites.h"

enum { ELEMENTS = 256, TURNS = 5, WARPS = 4 };

static struct cpu_run run;
static void open_run(void) { cpu_run_open(&run); }
static void close_run(void) { cpu_run_close(&run); }

// out[i] = sum of in[t * 256 + i] over the iterations t; who copies an element is not who reads it.
static const char kernel[] =
    "#a = #tilegpu.linear<{block = [], lane = [[1], [2], [4], [8], [16]], register = [[128]], warp "
    "= [[32], [64]]}>\n"
    "#b = #tilegpu.linear<{block = [], lane = [[64], [2], [128], [8], [16]], register = [[32]], "
    "warp = [[1], [4]]}>\n"
    "#s = #tilegpu.shared<{max_phase = 1, order = [0], per_phase = 1, vec = 1}>\n"
    "!a = tensor<256xi32, #a>\n!b = tensor<256xi32, #b>\n!m = !tilegpu.memdesc<tensor<256xi32, "
    "#s>>\n"
    "!p = tensor<256x!tile.ptr<i32>, #a>\n!q = tensor<256x!tile.ptr<i32>, #b>\n"
    "module { func.func @k(%%in: !tile.ptr<i32>, %%out: !tile.ptr<i32>, %%n: i32) attributes "
    "{tile.kernel} {\n"
    "%%c0 = arith.constant 0 : i32\n%%c1 = arith.constant 1 : i32\n"
    "%%wide = arith.constant dense<256> : !a\n%%zero = arith.constant dense<0> : !b\n"
    "%%i = \"tile.make_range\"() {start = 0 : i32, end = 256 : i32} : () -> !a\n"
    "%%j = \"tile.make_range\"() {start = 0 : i32, end = 256 : i32} : () -> !b\n"
    "%%is = \"tile.splat\"(%%in) : (!tile.ptr<i32>) -> !p\n"
    "%%os = \"tile.splat\"(%%out) : (!tile.ptr<i32>) -> !q\n"
    "%%from = \"tile.addptr\"(%%is, %%i) : (!p, !a) -> !p\n"
    "%%to = \"tile.addptr\"(%%os, %%j) : (!q, !b) -> !q\n"
    "%%ring = \"tilegpu.local_alloc\"() {copies = %d : i32} : () -> !m\n"
    "%%b0 = \"tilegpu.local_index\"(%%ring, %%c0) : (!m, i32) -> !m\n"
    "\"tilegpu.async_copy\"(%%from, %%b0) {cache = \"\", evict = \"\"} : (!p, !m) -> ()\n"
    "\"tilegpu.async_commit\"() : () -> ()\n"
    "%%r:3 = scf.for %%t = %%c0 to %%n step %%c1 iter_args(%%sum = %%zero, %%k = %%c0, %%at = "
    "%%from) -> (!b, i32, !p) : i32 {\n"
    "%%next = arith.xori %%k, %%c1 : i32\n"
    "%%now = \"tilegpu.local_index\"(%%ring, %%k) {phase = 0 : i32} : (!m, i32) -> !m\n"
    "\"tilegpu.async_wait\"(%%now) {pending = 0 : i32} : (!m) -> ()\n"
    "%%ahead = \"tile.addptr\"(%%at, %%wide) : (!p, !a) -> !p\n"
    "%%last = \"tilegpu.local_index\"(%%ring, %%next) {phase = 1 : i32} : (!m, i32) -> !m\n"
    "\"tilegpu.async_copy\"(%%ahead, %%last) {cache = \"\", evict = \"\"} : (!p, !m) -> ()\n"
    "\"tilegpu.async_commit\"() : () -> ()\n"
    "%%x = \"tilegpu.local_load\"(%%%s) : (!m) -> !b\n"
    "%%more = arith.addi %%sum, %%x : !b\nscf.yield %%more, %%next, %%ahead : !b, i32, !p\n}\n"
    "\"tilegpu.async_wait\"() {pending = 0 : i32} : () -> ()\n"
    "\"tile.store\"(%%to, %%r#0) {cache = \"\", evict = \"\"} : (!q, !b) -> ()\nreturn } }\n";

// copies: what the loop says; it uses two.
static tile_status launch(int copies, const char *read, int32_t *out) {
  static int32_t in[ELEMENTS * (TURNS + 1)];
  for (int32_t i = 0; i < (int32_t)COUNT_OF(in); i++)
    in[i] = i * 7 + 1;
  struct strbuf ir = {0};
  strbuf_printf(&ir, kernel, copies, read);
  int32_t iterations = TURNS;
  void *from = in, *to = out, *values[] = {&from, &to, &iterations};
  tile_status s = cpu_run_ir(&run, strbuf_cstr(&ir), WARPS, 1, true, values);
  strbuf_finish(&ir);
  return s;
}

START_TEST(a_loop_with_its_phases_has_no_race) {
  int32_t out[ELEMENTS];
  ck_assert_msg(launch(2, "now", out) == TILE_OK, "%s", tile_error_message());
  for (int32_t i = 0; i < ELEMENTS; i++) {
    int32_t want = 0;
    for (int32_t t = 0; t < TURNS; t++)
      want += (t * ELEMENTS + i) * 7 + 1;
    ck_assert_int_eq(out[i], want);
  }
}
END_TEST

// With a third buffer, nobody would read any more what a copy writes.
START_TEST(a_missing_barrier_is_a_race) {
  int32_t out[ELEMENTS];
  ck_assert_int_ne(launch(3, "now", out), TILE_OK);
  ck_assert_msg(strstr(tile_error_message(), "asynchronous copy") != NULL, "%s",
                tile_error_message());
}
END_TEST

START_TEST(reading_before_the_wait_is_found) {
  int32_t out[ELEMENTS];
  ck_assert_int_ne(launch(2, "last", out), TILE_OK);
}
END_TEST

TCase *ring_races_tests(void) {
  TCase *t = tcase_create("ring_races");
  tcase_add_unchecked_fixture(t, open_run, close_run);
  tcase_add_test(t, a_loop_with_its_phases_has_no_race);
  tcase_add_test(t, a_missing_barrier_is_a_race);
  tcase_add_test(t, reading_before_the_wait_is_found);
  return t;
}
