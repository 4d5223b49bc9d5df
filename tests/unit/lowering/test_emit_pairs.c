// SPDX-License-Identifier: Apache-2.0
// Join, split, unsplat, maps and calls on the CPU: random layouts on both sides, so that elements
// move between threads in every way there is.
#include "cpu_run.h"
#include "ir_text.h"
#include "suites.h"

enum { ROUNDS = 30, MAX_TILE = 1024 };

static struct cpu_run run;
static uint32_t seed = 77;
static void open_run(void) { cpu_run_open(&run); }
static void close_run(void) { cpu_run_close(&run); }

static void launch(const char *ir, unsigned warp_bits, void *const *values) {
  ck_assert_msg(cpu_run_ir(&run, ir, 1u << warp_bits, 1, true, values) == TILE_OK, "%s\n%s",
                tile_error_message(), ir);
}

static void fill(int32_t *x, unsigned n, int32_t start, int32_t step) {
  for (unsigned i = 0; i < n; i++)
    x[i] = start + step * (int32_t)i;
}

// A random shape of rank 1 or 2 with at most MAX_TILE / 4 elements.
static unsigned random_shape(unsigned *ret_bits) {
  unsigned rank = 1 + ir_pick(&seed, 2);
  for (unsigned d = 0; d < rank; d++)
    ret_bits[d] = ir_pick(&seed, 5);
  return rank;
}

static unsigned numel(unsigned rank, const unsigned *bits) {
  unsigned total = 0;
  for (unsigned d = 0; d < rank; d++)
    total += bits[d];
  return 1u << total;
}

START_TEST(join_makes_pairs) {
  static int32_t a[MAX_TILE], b[MAX_TILE], out[MAX_TILE];
  for (unsigned round = 0; round < ROUNDS; round++) {
    unsigned bits[3], rank = random_shape(bits), warp_bits = ir_pick(&seed, 4);
    struct ir_text t = ir_text_begin(run.arena);
    bits[rank] = 1;
    const char *from = ir_random_layout(&t, &seed, rank, bits, warp_bits);
    const char *to = ir_random_layout(&t, &seed, rank + 1, bits, warp_bits);
    const char *x = ir_load(&t, "%a", rank, bits, "i32", from);
    const char *y = ir_load(&t, "%b", rank, bits, "i32", from);
    const char *half = ir_tensor(&t, rank, bits, "i32", from);
    ir_line(&t, "%%r = \"tile.join\"(%s, %s) : (%s, %s) -> %s", x, y, half, half,
            ir_tensor(&t, rank + 1, bits, "i32", to));
    ir_store(&t, "%p", "%r", rank + 1, bits, "i32", to);
    const char *ir =
        ir_text_end(&t, "%a: !tile.ptr<i32>, %b: !tile.ptr<i32>, %p: !tile.ptr<i32>", "");
    fill(a, MAX_TILE, 0, 1);
    fill(b, MAX_TILE, -1, -1);
    void *pa = a, *pb = b, *p = out, *values[] = {&pa, &pb, &p};
    launch(ir, warp_bits, values);
    for (unsigned i = 0; i < numel(rank, bits); i++)
      ck_assert_msg(out[2 * i] == (int32_t)i && out[2 * i + 1] == -1 - (int32_t)i,
                    "pair %u is %d, %d\n%s", i, out[2 * i], out[2 * i + 1], ir);
  }
}
END_TEST

START_TEST(split_takes_pairs_apart) {
  static int32_t in[MAX_TILE], a[MAX_TILE], b[MAX_TILE];
  for (unsigned round = 0; round < ROUNDS; round++) {
    unsigned bits[3], rank = random_shape(bits), warp_bits = ir_pick(&seed, 4);
    struct ir_text t = ir_text_begin(run.arena);
    bits[rank] = 1;
    const char *from = ir_random_layout(&t, &seed, rank + 1, bits, warp_bits);
    const char *to = ir_random_layout(&t, &seed, rank, bits, warp_bits);
    const char *x = ir_load(&t, "%p", rank + 1, bits, "i32", from);
    const char *half = ir_tensor(&t, rank, bits, "i32", to);
    ir_line(&t, "%%r:2 = \"tile.split\"(%s) : (%s) -> (%s, %s)", x,
            ir_tensor(&t, rank + 1, bits, "i32", from), half, half);
    ir_store(&t, "%a", "%r#0", rank, bits, "i32", to);
    ir_store(&t, "%b", "%r#1", rank, bits, "i32", to);
    const char *ir =
        ir_text_end(&t, "%a: !tile.ptr<i32>, %b: !tile.ptr<i32>, %p: !tile.ptr<i32>", "");
    fill(in, MAX_TILE, 5, 3);
    void *pa = a, *pb = b, *p = in, *values[] = {&pa, &pb, &p};
    launch(ir, warp_bits, values);
    for (unsigned i = 0; i < numel(rank, bits); i++)
      ck_assert_msg(a[i] == in[2 * i] && b[i] == in[2 * i + 1], "pair %u is %d, %d\n%s", i, a[i],
                    b[i], ir);
  }
}
END_TEST

// Two scalars make a tile of two; its halves are scalars again; one element is a scalar.
START_TEST(pairs_of_scalars) {
  unsigned two[] = {1}, one[] = {0};
  for (unsigned round = 0; round < 8; round++) {
    unsigned warp_bits = ir_pick(&seed, 3);
    struct ir_text t = ir_text_begin(run.arena);
    const char *l = ir_random_layout(&t, &seed, 1, two, warp_bits);
    const char *single = ir_random_layout(&t, &seed, 1, one, warp_bits);
    const char *type = ir_tensor(&t, 1, two, "i32", l);
    const char *unit = ir_tensor(&t, 1, one, "i32", single);
    ir_line(&t, "%%j = \"tile.join\"(%%x, %%y) : (i32, i32) -> %s", type);
    ir_line(&t, "%%s:2 = \"tile.split\"(%%j) : (%s) -> (i32, i32)", type);
    ir_line(&t, "%%d = arith.subi %%s#0, %%s#1 : i32");
    ir_line(&t, "%%t = \"tile.splat\"(%%d) : (i32) -> %s", unit);
    ir_line(&t, "%%u = \"tile.unsplat\"(%%t) : (%s) -> i32", unit);
    ir_line(&t, "%%k = \"tile.splat\"(%%u) : (i32) -> %s", type);
    ir_line(&t, "%%r = arith.addi %%k, %%j : %s", type);
    ir_store(&t, "%p", "%r", 1, two, "i32", l);
    const char *ir = ir_text_end(&t, "%x: i32, %y: i32, %p: !tile.ptr<i32>", "");
    int32_t x = 100, y = 30, out[2] = {0};
    void *p = out, *values[] = {&x, &y, &p};
    launch(ir, warp_bits, values);
    ck_assert_int_eq(out[0], 170);
    ck_assert_int_eq(out[1], 100);
  }
}
END_TEST

// ---- maps ----

// Collatz steps up to a limit: a loop whose length differs from element to element.
static const char collatz[] =
    "func.func private @steps(%x: i32) -> (i32, i1) {\n"
    "%c0 = arith.constant 0 : i32\n%c1 = arith.constant 1 : i32\n"
    "%c3 = arith.constant 3 : i32\n%cap = arith.constant 200 : i32\n"
    "%w:2 = scf.while (%y = %x, %n = %c0) : (i32, i32) -> (i32, i32) {\n"
    "  %more = arith.cmpi sgt, %y, %c1 : i32\n %less = arith.cmpi slt, %n, %cap : i32\n"
    "  %go = arith.andi %more, %less : i1\n  scf.condition(%go) %y, %n : i32, i32\n"
    "} do { ^bb0(%y: i32, %n: i32):\n"
    "  %odd = arith.andi %y, %c1 : i32\n %is = arith.cmpi ne, %odd, %c0 : i32\n"
    "  %next = scf.if %is -> (i32) {\n"
    "    %t = arith.muli %y, %c3 : i32\n %u = arith.addi %t, %c1 : i32\n scf.yield %u : i32\n"
    "  } else { %h = arith.shrsi %y, %c1 : i32\n scf.yield %h : i32 }\n"
    "  %m = arith.addi %n, %c1 : i32\n  scf.yield %next, %m : i32, i32 }\n"
    "%done = arith.cmpi sle, %w#0, %c1 : i32\n"
    "return %w#1, %done : i32, i1\n}\n";

static int32_t collatz_steps(int32_t x) {
  int32_t n = 0;
  for (; x > 1 && n < 200; n++)
    x = x & 1 ? 3 * x + 1 : x >> 1;
  return n;
}

#define SIZES(n) "array<i32: " n ", 0, 0, 0, 0, 0, 0>"

START_TEST(maps_run_control_flow) {
  static int32_t in[MAX_TILE], out[MAX_TILE];
  for (unsigned round = 0; round < 6; round++) {
    unsigned bits[2], rank = random_shape(bits), warp_bits = ir_pick(&seed, 3);
    struct ir_text t = ir_text_begin(run.arena);
    const char *l = ir_random_layout(&t, &seed, rank, bits, warp_bits);
    const char *x = ir_load(&t, "%a", rank, bits, "i32", l);
    const char *type = ir_tensor(&t, rank, bits, "i32", l);
    ir_line(&t,
            "%%r:2 = \"tile.map_elementwise\"(%s) {function = @steps, pack = 1 : i32, "
            "operandSegmentSizes = " SIZES("1, 0") ", resultSegmentSizes = " SIZES(
                "1, 1") "} : (%s) -> (%s, %s)",
            x, type, type, ir_tensor(&t, rank, bits, "i1", l));
    ir_store(&t, "%p", "%r#0", rank, bits, "i32", l);
    const char *ir = ir_text_end(&t, "%a: !tile.ptr<i32>, %p: !tile.ptr<i32>", collatz);
    fill(in, MAX_TILE, 0, 1);
    void *pa = in, *p = out, *values[] = {&pa, &p};
    launch(ir, warp_bits, values);
    for (unsigned i = 0; i < numel(rank, bits); i++)
      ck_assert_msg(out[i] == collatz_steps((int32_t)i), "%u: %d\n%s", i, out[i], ir);
  }
}
END_TEST

// Four neighbours at a time, rotated; a thread with two registers fills the group up.
START_TEST(maps_of_packs) {
  static const char rotate[] =
      "func.func private @rotate(%a: i32, %b: i32, %c: i32, %d: i32) -> (i32, i32, i32, i32) {\n"
      "return %b, %c, %d, %a : i32, i32, i32, i32\n}\n";
  for (unsigned size = 2; size <= 8; size *= 2) {
    struct ir_text t = ir_text_begin(run.arena);
    unsigned bits[] = {8};
    const char *l =
        ir_layout(&t, arena_printf(run.arena,
                                   "blocked<{order = [0], size_per_thread = [%u], threads_per_warp "
                                   "= [32], warps_per_cta = [%u]}>",
                                   size, size == 8 ? 1u : 8u / size));
    const char *x = ir_load(&t, "%a", 1, bits, "i32", l), *type = ir_tensor(&t, 1, bits, "i32", l);
    ir_line(&t,
            "%%r = \"tile.map_elementwise\"(%s) {function = @rotate, pack = 4 : i32, "
            "operandSegmentSizes = " SIZES("1, 0") ", resultSegmentSizes = " SIZES(
                "1, 0") "} : (%s) -> %s",
            x, type, type);
    ir_store(&t, "%p", "%r", 1, bits, "i32", l);
    const char *ir = ir_text_end(&t, "%a: !tile.ptr<i32>, %p: !tile.ptr<i32>", rotate);
    int32_t in[256], out[256];
    fill(in, 256, 0, 1);
    void *pa = in, *p = out, *values[] = {&pa, &p};
    launch(ir, size == 2 ? 2 : size == 4 ? 1 : 0, values);
    for (int i = 0; i < 256; i++) {
      int group = size == 2 ? 2 : 4, base = i / group * group, next = i - base + 1;
      ck_assert_int_eq(out[i], next < group ? base + next : size == 2 ? base + 1 : base);
    }
  }
}
END_TEST

// ---- calls ----

// A function with tiles in and out, a barrier inside, and a call of another one; called twice.
START_TEST(calls_of_functions) {
  static const char functions[] =
      "func.func private @twice(%x: i32) -> i32 {\n"
      "  %c2 = arith.constant 2 : i32\n  %r = arith.muli %x, %c2 : i32\n  return %r : i32\n}\n"
      "func.func private @reverse(%t: tensor<64xi32, #A>, %k: i32) -> (tensor<64xi32, #B>, i32) {\n"
      "  %d = func.call @twice(%k) : (i32) -> i32\n"
      "  %s = \"tile.splat\"(%d) : (i32) -> tensor<64xi32, #A>\n"
      "  %u = arith.addi %t, %s : tensor<64xi32, #A>\n"
      "  %v = \"tilegpu.convert_layout\"(%u) : (tensor<64xi32, #A>) -> tensor<64xi32, #B>\n"
      "  return %v, %d : tensor<64xi32, #B>, i32\n}\n"
      "func.func private @note(%p: !tile.ptr<i32>, %x: i32) {\n"
      "  \"tile.store\"(%p, %x) {cache = \"\", evict = \"\"} : (!tile.ptr<i32>, i32) -> ()\n"
      "  return\n}\n";
  struct ir_text t = ir_text_begin(run.arena);
  unsigned bits[] = {6};
  t.aliases = "#A = #tilegpu.linear<{register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = "
              "[[0]], block = []}>\n"
              "#B = #tilegpu.linear<{register = [[32]], lane = [[16], [8], [4], [2], [0]], warp = "
              "[[1]], block = []}>\n";
  const char *x = ir_load(&t, "%a", 1, bits, "i32", "#A");
  ir_line(&t, "%%k = arith.constant 50 : i32");
  ir_line(&t,
          "%%r:2 = func.call @reverse(%s, %%k) : (tensor<64xi32, #A>, i32) -> (tensor<64xi32, #B>, "
          "i32)",
          x);
  ir_line(&t,
          "%%q:2 = func.call @reverse(%s, %%r#1) : (tensor<64xi32, #A>, i32) -> "
          "(tensor<64xi32, #B>, i32)",
          x);
  ir_line(&t, "%%s = arith.addi %%r#0, %%q#0 : tensor<64xi32, #B>");
  ir_store(&t, "%p", "%s", 1, bits, "i32", "#B");
  ir_line(&t, "func.call @note(%%n, %%q#1) : (!tile.ptr<i32>, i32) -> ()");
  const char *ir =
      ir_text_end(&t, "%a: !tile.ptr<i32>, %p: !tile.ptr<i32>, %n: !tile.ptr<i32>", functions);
  int32_t in[64], out[64], note = 0;
  fill(in, 64, 1000, 7);
  void *pa = in, *p = out, *pn = &note, *values[] = {&pa, &p, &pn};
  launch(ir, 1, values);
  for (int i = 0; i < 64; i++)
    ck_assert_int_eq(out[i], 2 * in[i] + 300);
  ck_assert_int_eq(note, 200);
}
END_TEST

TCase *emit_pairs_tests(void) {
  TCase *t = tcase_create("emit_pairs");
  tcase_add_checked_fixture(t, open_run, close_run);
  tcase_set_timeout(t, 300);
  tcase_add_test(t, join_makes_pairs);
  tcase_add_test(t, split_takes_pairs_apart);
  tcase_add_test(t, pairs_of_scalars);
  tcase_add_test(t, maps_run_control_flow);
  tcase_add_test(t, maps_of_packs);
  tcase_add_test(t, calls_of_functions);
  return t;
}
