// SPDX-License-Identifier: Apache-2.0
// Gathers and histograms on the CPU, over random layouts: in one warp, where shuffles do, and
// across warps.
#include "cpu_run.h"
#include "ir_text.h"
#include "lowering/analysis/gather_plan.h"
#include "lowering/pass.h"
#include "suites.h"

enum { ROUNDS = 40, MAX_TILE = 2048 };

static struct cpu_run run;
static uint32_t seed = 4242;
static void open_run(void) { cpu_run_open(&run); }
static void close_run(void) { cpu_run_close(&run); }

static void launch(const char *ir, unsigned warp_bits, void *const *values) {
  ck_assert_msg(cpu_run_ir(&run, ir, 1u << warp_bits, 1, true, values) == TILE_OK, "%s\n%s",
                tile_error_message(), ir);
}

// Row-major number of an element with coordinate `axis` replaced.
static unsigned moved(unsigned rank, const unsigned *from_bits, const unsigned *to_bits,
                      unsigned axis, unsigned number, unsigned index) {
  unsigned ret = 0, shift = 0;
  for (unsigned d = rank; d-- > 0;) {
    unsigned at = number & ((1u << from_bits[d]) - 1);
    number >>= from_bits[d];
    ret |= (d == axis ? index : at) << shift;
    shift += to_bits[d];
  }
  return ret;
}

// A random source and index; every element of the result is the one that its index names.
static void check_gather(unsigned warp_bits, bool random, const char *element, unsigned bytes) {
  static int32_t index[MAX_TILE];
  static uint8_t in[MAX_TILE * 8], out[MAX_TILE * 8];
  unsigned rank = 1 + ir_pick(&seed, 3), from[3], to[3], axis = ir_pick(&seed, rank);
  unsigned n = 1, m = 1;
  for (unsigned d = 0; d < rank; d++) {
    to[d] = from[d] = ir_pick(&seed, 4);
    if (d == axis)
      to[d] = ir_pick(&seed, 5);
    n <<= to[d];
    m <<= from[d];
  }
  struct ir_text t = ir_text_begin(run.arena);
  const char *source = ir_random_layout(&t, &seed, rank, from, warp_bits);
  // With equal shapes also one layout for both, which keeps columns together.
  bool same = !random && memcmp(from, to, rank * sizeof *from) == 0;
  const char *result = same ? source : ir_random_layout(&t, &seed, rank, to, warp_bits);
  const char *x = ir_load(&t, "%x", rank, from, element, source);
  const char *i = ir_load(&t, "%i", rank, to, "i32", result);
  ir_line(&t, "%%r = \"tile.gather\"(%s, %s) {axis = %u : i32} : (%s, %s) -> %s", x, i, axis,
          ir_tensor(&t, rank, from, element, source), ir_tensor(&t, rank, to, "i32", result),
          ir_tensor(&t, rank, to, element, result));
  ir_store(&t, "%p", "%r", rank, to, element, result);
  const char *ir = ir_text_end(
      &t,
      arena_printf(run.arena, "%%x: !tile.ptr<%s>, %%i: !tile.ptr<i32>, %%p: !tile.ptr<%s>",
                   element, element),
      "");
  for (unsigned k = 0; k < n; k++)
    index[k] = (int32_t)ir_pick(&seed, 1u << from[axis]);
  for (unsigned k = 0; k < m * bytes; k++)
    in[k] = (uint8_t)(k * 37 + k / 256);
  memset(out, 0, sizeof out);
  void *px = in, *pi = index, *p = out, *values[] = {&px, &pi, &p};
  launch(ir, warp_bits, values);
  for (unsigned k = 0; k < n; k++) {
    unsigned want = moved(rank, to, from, axis, k, (unsigned)index[k]);
    ck_assert_msg(memcmp(out + k * bytes, in + want * bytes, bytes) == 0, "element %u\n%s", k, ir);
  }
}

START_TEST(gathers_in_a_warp) {
  for (unsigned round = 0; round < ROUNDS; round++) {
    check_gather(0, round & 1, "i32", 4);
    check_gather(round & 3, false, "i32", 4);
  }
}
END_TEST

START_TEST(gathers_across_warps) {
  for (unsigned round = 0; round < ROUNDS; round++)
    check_gather(1 + ir_pick(&seed, 3), true, round & 1 ? "i32" : "f32", 4);
}
END_TEST

START_TEST(gathers_of_every_width) {
  for (unsigned round = 0; round < 10; round++) {
    check_gather(round & 1, round & 2, "i8", 1);
    check_gather(round & 1, round & 2, "bf16", 2);
    check_gather(round & 1, round & 2, "f64", 8);
  }
}
END_TEST

// A layout that keeps the axis in lanes needs no shared memory; one that puts it on warps does.
START_TEST(where_gathers_happen) {
  static const struct {
    const char *layout;
    unsigned axis;
    uint32_t shared;
  } cases[] = {
      {"blocked<{order = [1, 0], size_per_thread = [1, 1], threads_per_warp = [1, 32], "
       "warps_per_cta = [4, 1]}>",
       1, 0},
      {"blocked<{order = [1, 0], size_per_thread = [1, 1], threads_per_warp = [1, 32], "
       "warps_per_cta = [4, 1]}>",
       0, 4 * 16 * 32},
      {"blocked<{order = [1, 0], size_per_thread = [1, 4], threads_per_warp = [4, 8], "
       "warps_per_cta = [4, 1]}>",
       1, 0},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    struct ir_text t = ir_text_begin(run.arena);
    unsigned bits[] = {4, 5};
    const char *l = ir_layout(&t, cases[i].layout);
    const char *x = ir_load(&t, "%x", 2, bits, "f32", l),
               *at = ir_load(&t, "%i", 2, bits, "i32", l);
    ir_line(&t, "%%r = \"tile.gather\"(%s, %s) {axis = %u : i32} : (%s, %s) -> %s", x, at,
            cases[i].axis, ir_tensor(&t, 2, bits, "f32", l), ir_tensor(&t, 2, bits, "i32", l),
            ir_tensor(&t, 2, bits, "f32", l));
    const char *ir = ir_text_end(&t, "%x: !tile.ptr<f32>, %i: !tile.ptr<i32>", "");
    struct diag_engine *diag = diag_engine_create(run.arena);
    struct ir_context *c = ir_context_create(run.arena, diag);
    MlirModule m = ir_parse(c, "gather.mlir", str_from(ir));
    ck_assert_msg(!mlirModuleIsNull(m), "%s", diag_first_error(diag));
    MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(module_kernel(c, m), 0));
    MlirOperation op = mlirBlockGetFirstOperation(body);
    while (!op_is(c, op, OP_TILE_GATHER))
      op = mlirOperationGetNextInBlock(op);
    ck_assert_uint_eq(gather_scratch_bytes(c, op), cases[i].shared);
    mlirModuleDestroy(m);
    ir_context_destroy(c);
  }
}
END_TEST

// ---- histograms ----

START_TEST(histograms_count) {
  static int32_t in[MAX_TILE], out[MAX_TILE];
  static uint8_t mask[MAX_TILE];
  for (unsigned round = 0; round < ROUNDS; round++) {
    unsigned most = round % 8 ? 8 : 11; // log2
    unsigned bits[] = {ir_pick(&seed, most)}, bins[] = {ir_pick(&seed, most - 1)};
    unsigned warp_bits = ir_pick(&seed, 4), n = 1u << bits[0];
    bool masked = round & 1;
    struct ir_text t = ir_text_begin(run.arena);
    const char *from = ir_random_layout(&t, &seed, 1, bits, warp_bits);
    const char *to = ir_random_layout(&t, &seed, 1, bins, warp_bits);
    const char *x = ir_load(&t, "%x", 1, bits, "i32", from);
    const char *m = ir_load(&t, "%m", 1, bits, "i1", from);
    const char *tile = ir_tensor(&t, 1, bits, "i32", from);
    ir_line(&t, "%%r = \"tile.histogram\"(%s%s%s) : (%s%s%s) -> %s", x, masked ? ", " : "",
            masked ? m : "", tile, masked ? ", " : "",
            masked ? ir_tensor(&t, 1, bits, "i1", from) : "", ir_tensor(&t, 1, bins, "i32", to));
    ir_store(&t, "%p", "%r", 1, bins, "i32", to);
    const char *ir =
        ir_text_end(&t, "%x: !tile.ptr<i32>, %m: !tile.ptr<i1>, %p: !tile.ptr<i32>", "");
    int32_t want[MAX_TILE] = {0};
    for (unsigned i = 0; i < n; i++) {
      in[i] = (int32_t)ir_pick(&seed, (2u << bins[0])) - (1 << (bins[0] / 2));
      mask[i] = (uint8_t)ir_pick(&seed, 2);
      if (in[i] >= 0 && in[i] < 1 << bins[0] && (mask[i] || !masked))
        want[in[i]]++;
    }
    void *px = in, *pm = mask, *p = out, *values[] = {&px, &pm, &p};
    launch(ir, warp_bits, values);
    for (unsigned i = 0; i < 1u << bins[0]; i++)
      ck_assert_msg(out[i] == want[i], "bin %u: %d, not %d\n%s", i, out[i], want[i], ir);
  }
}
END_TEST

TCase *emit_gather_tests(void) {
  TCase *t = tcase_create("emit_gather");
  tcase_add_checked_fixture(t, open_run, close_run);
  tcase_set_timeout(t, 300);
  tcase_add_test(t, gathers_in_a_warp);
  tcase_add_test(t, gathers_across_warps);
  tcase_add_test(t, gathers_of_every_width);
  tcase_add_test(t, where_gathers_happen);
  tcase_add_test(t, histograms_count);
  return t;
}
