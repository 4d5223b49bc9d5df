// SPDX-License-Identifier: Apache-2.0
// Reductions and scans on the CPU: random layouts of tiles of rank 1 to 4, all element types, up
// to 32 warps, against the same done element by element.
#include "collective.h"
#include "suites.h"

static void read_input(const struct function *f, unsigned at, int64_t *ret) {
  for (unsigned i = 0; i < f->count; i++)
    ret[i] = collective_input[i][at];
}

static void check_values(const struct function *f, unsigned at, const int64_t *want,
                         const char *ir) {
  for (unsigned i = 0; i < f->count; i++)
    ck_assert_msg(collective_result(f, i, at) == want[i], "value %u of %u: %lld, not %lld\n%s", i,
                  at, (long long)collective_result(f, i, at), (long long)want[i], ir);
}

// i1 sums and the like stay within their type.
static void check_group(const struct function *f, enum collective kind, unsigned first,
                        unsigned stride, unsigned size, unsigned reduced_at, const char *ir) {
  int64_t so_far[MAX_VALUES], x[MAX_VALUES];
  for (unsigned k = 0; k < size; k++) {
    unsigned at = first + stride * (kind == SCAN_REVERSE ? size - 1 - k : k);
    read_input(f, at, x);
    if (k == 0)
      memcpy(so_far, x, sizeof x);
    else
      f->combine(so_far, x);
    if (kind != REDUCE)
      check_values(f, at, so_far, ir);
  }
  if (kind == REDUCE)
    check_values(f, reduced_at, so_far, ir);
}

static void check_all(const struct function *f, const struct tile *t, unsigned axis,
                      enum collective kind, const char *ir) {
  unsigned inner = 0, size = 1u << t->bits[axis];
  for (unsigned d = axis + 1; d < t->rank; d++)
    inner += t->bits[d];
  for (unsigned at = 0; at < t->count / size; at++) {
    unsigned high = at >> inner << inner, low = at & ((1u << inner) - 1);
    check_group(f, kind, high * size + low, 1u << inner, size, at, ir);
  }
}

static void random_rounds(unsigned rounds, enum collective first, enum collective last) {
  for (unsigned round = 0; round < rounds; round++) {
    const struct function *f = &collective_functions[round % collective_function_count];
    enum collective kind = first + pick(last - first + 1);
    unsigned warp_bits = round % 7 == 0 ? 3 + pick(3) : pick(3);
    struct tile t = random_tile(round % 8 ? 8 : 11); // up to 8 registers, now and then 64
    unsigned axis = pick(t.rank);
    struct encoding layout = random_distribution(t.rank, t.bits, warp_bits, pick(2));
    const char *ir = collective_kernel(f, &t, axis, &layout, kind);
    collective_fill(f, t.count);
    collective_launch(f, ir, 1u << warp_bits, true);
    check_all(f, &t, axis, kind, ir);
  }
}

START_TEST(reductions) { random_rounds(150, REDUCE, REDUCE); }
END_TEST

START_TEST(scans) { random_rounds(240, SCAN, SCAN_REVERSE); }
END_TEST

// The last of 512 pointers, and what the scan has there, cross lanes and warps as 64 bits.
START_TEST(pointers_travel) {
  static const char ir[] =
      "#A = #tilegpu.blocked<{order = [0], size_per_thread = [2], threads_per_warp = [32], "
      "warps_per_cta = [4]}>\n"
      "module {\n"
      "func.func private @last(%a: !tile.ptr<i32>, %b: !tile.ptr<i32>) -> !tile.ptr<i32> {\n"
      "return %b : !tile.ptr<i32>\n}\n"
      "func.func private @first(%a: !tile.ptr<i32>, %b: !tile.ptr<i32>) -> !tile.ptr<i32> {\n"
      "return %a : !tile.ptr<i32>\n}\n"
      "func.func @k(%p0: !tile.ptr<i32>, %q0: !tile.ptr<i32>) attributes {tile.kernel} {\n"
      "%r = \"tile.make_range\"() {start = 0 : i32, end = 512 : i32} : () -> tensor<512xi32, #A>\n"
      "%s = \"tile.splat\"(%q0) : (!tile.ptr<i32>) -> tensor<512x!tile.ptr<i32>, #A>\n"
      "%q = \"tile.addptr\"(%s, %r) : (tensor<512x!tile.ptr<i32>, #A>, tensor<512xi32, #A>) -> "
      "tensor<512x!tile.ptr<i32>, #A>\n"
      "%l = \"tile.reduce\"(%q) {axis = 0 : i32, combine = @last, operandSegmentSizes = array<i32: "
      "1, "
      "0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>} : "
      "(tensor<512x!tile.ptr<i32>, #A>) -> !tile.ptr<i32>\n"
      "%v = arith.constant 77 : i32\n"
      "\"tile.store\"(%l, %v) {cache = \"\", evict = \"\"} : (!tile.ptr<i32>, i32) -> ()\n"
      "%f = \"tile.scan\"(%q) {axis = 0 : i32, combine = @first, reverse = false, "
      "operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: "
      "1, "
      "0, 0, 0, 0, 0, 0, 0>} : (tensor<512x!tile.ptr<i32>, #A>) -> tensor<512x!tile.ptr<i32>, #A>\n"
      "%one = arith.constant dense<1> : tensor<512xi32, #A>\n"
      "%o = \"tile.atomic_rmw\"(%f, %one) {kind = \"add\", sem = \"relaxed\", scope = \"gpu\"} : "
      "(tensor<512x!tile.ptr<i32>, #A>, tensor<512xi32, #A>) -> tensor<512xi32, #A>\n"
      "return } }\n";
  static int32_t out[512];
  struct cpu_run run;
  cpu_run_open(&run);
  memset(out, 0, sizeof out);
  void *p = out, *q = out, *values[] = {&p, &q};
  ck_assert_msg(cpu_run_ir(&run, ir, 4, 1, true, values) == TILE_OK, "%s", tile_error_message());
  ck_assert_int_eq(out[511], 77);
  ck_assert_int_eq(out[0], 512); // all of the scan's pointers are the first
  cpu_run_close(&run);
}
END_TEST

TCase *emit_reduce_tests(void) {
  TCase *t = tcase_create("emit_reduce");
  tcase_add_checked_fixture(t, open_collective_run, close_collective_run);
  tcase_set_timeout(t, 300);
  tcase_add_test(t, reductions);
  tcase_add_test(t, scans);
  tcase_add_test(t, pointers_travel);
  return t;
}
