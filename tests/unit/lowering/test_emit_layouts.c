// SPDX-License-Identifier: Apache-2.0
// Layouts at work on the CPU: random linear layouts, with replication and with dependent bases,
// for ranges, conversions of every kind, stores and atomics. Element i of the tile must end at
// index i whatever the layouts.
#include "cpu_run.h"
#include "layouts/encoding.h"
#include "suites.h"

#include <stdlib.h>

enum { MAX_TILE = 1024, MAX_WARP_BITS = 3 };

static struct cpu_run run;
static void open_run(void) { cpu_run_open(&run); }
static void close_run(void) { cpu_run_close(&run); }

static uint32_t seed = 12345;
static uint32_t pick(uint32_t n) {
  seed = seed * 1664525u + 1013904223u;
  return (seed >> 8) % n;
}

// A surjective layout of a vector of 2^bits: a random distribution of its bits over registers,
// lanes and warps; the locations left over are zero or repeat what is there.
static struct encoding random_layout(unsigned bits, unsigned warp_bits) {
  uint32_t image[24];
  unsigned sizes[] = {0, 5, warp_bits}, locations;
  unsigned room = 5 + warp_bits, least = bits > room ? bits - room : 0;
  sizes[0] = least + pick(3);
  locations = sizes[0] + 5 + warp_bits;
  for (unsigned i = 0; i < locations; i++)
    image[i] = i < bits ? 1u << i : pick(2) ? 0 : pick(1u << bits);
  for (unsigned i = locations; i-- > 1;) {
    unsigned j = pick(i + 1);
    uint32_t t = image[i];
    image[i] = image[j];
    image[j] = t;
  }
  struct encoding e = {.kind = ENC_LINEAR, .rank = 1};
  unsigned out_bits[] = {bits}, at = 0;
  e.linear = ll_empty(1, out_bits);
  static const enum ll_in ins[] = {LL_REGISTER, LL_LANE, LL_WARP};
  for (unsigned k = 0; k < 3; k++) {
    ll_add_in(&e.linear, ins[k]);
    for (unsigned b = 0; b < sizes[k]; b++)
      ll_push_basis(&e.linear, ins[k], &image[at++]);
  }
  ll_add_in(&e.linear, LL_BLOCK);
  return e;
}

static const char *text_of(const struct encoding *e) {
  struct strbuf b = {0};
  encoding_print(e, &b);
  const char *s = arena_strdup(run.arena, strbuf_cstr(&b));
  strbuf_finish(&b);
  return s;
}

// Range in layout A, as `type`, converted to B and stored from there.
static const char *convert_kernel(unsigned n, const char *type, const char *a, const char *b) {
  bool wide = strcmp(type, "i64") == 0, same = strcmp(type, "i32") == 0;
  const char *to = same ? "arith.addi %ra, %zero" : wide ? "arith.extsi %ra" : "arith.trunci %ra";
  const char *from = same ? "arith.addi %xb, %zb" : wide ? "arith.trunci %xb" : "arith.extui %xb";
  struct strbuf s = {0};
  strbuf_printf(&s,
                "#A = %s\n#B = %s\nmodule { func.func @k(%%p: !tile.ptr<i32>) attributes "
                "{tile.kernel} {\n"
                "%%ra = \"tile.make_range\"() {start = 0 : i32, end = %u : i32} : () -> "
                "tensor<%uxi32, #A>\n"
                "%%rb = \"tile.make_range\"() {start = 0 : i32, end = %u : i32} : () -> "
                "tensor<%uxi32, #B>\n"
                "%%zero = arith.constant dense<0> : tensor<%uxi32, #A>\n"
                "%%zb = arith.constant dense<0> : tensor<%uxi32, #B>\n",
                a, b, n, n, n, n, n, n);
  if (same)
    strbuf_printf(&s, "%%xa = %s : tensor<%uxi32, #A>\n", to, n);
  else
    strbuf_printf(&s, "%%xa = %s : tensor<%uxi32, #A> to tensor<%ux%s, #A>\n", to, n, n, type);
  strbuf_printf(&s,
                "%%xb = \"tilegpu.convert_layout\"(%%xa) : (tensor<%ux%s, #A>) -> "
                "tensor<%ux%s, #B>\n",
                n, type, n, type);
  if (same)
    strbuf_printf(&s, "%%v = %s : tensor<%uxi32, #B>\n", from, n);
  else
    strbuf_printf(&s, "%%v = %s : tensor<%ux%s, #B> to tensor<%uxi32, #B>\n", from, n, type, n);
  strbuf_printf(&s,
                "%%ps = \"tile.splat\"(%%p) : (!tile.ptr<i32>) -> tensor<%ux!tile.ptr<i32>, #B>\n"
                "%%at = \"tile.addptr\"(%%ps, %%rb) : (tensor<%ux!tile.ptr<i32>, #B>, "
                "tensor<%uxi32, #B>) -> tensor<%ux!tile.ptr<i32>, #B>\n"
                "\"tile.store\"(%%at, %%v) {cache = \"\", evict = \"\"} : "
                "(tensor<%ux!tile.ptr<i32>, #B>, tensor<%uxi32, #B>) -> ()\n"
                "return } }\n",
                n, n, n, n, n, n);
  const char *text = arena_strdup(run.arena, strbuf_cstr(&s));
  strbuf_finish(&s);
  return text;
}

START_TEST(conversions_keep_every_element) {
  static const struct {
    const char *type;
    uint32_t mask;
  } types[] = {{"i32", UINT32_MAX}, {"i8", 0xff}, {"i64", UINT32_MAX}, {"i1", 1}, {"i16", 0xffff}};
  static int32_t out[MAX_TILE];
  for (unsigned round = 0; round < 60; round++) {
    unsigned bits = 4 + pick(7), warp_bits = pick(MAX_WARP_BITS + 1), n = 1u << bits;
    struct encoding a = random_layout(bits, warp_bits), b = random_layout(bits, warp_bits);
    size_t t = round % COUNT_OF(types);
    const char *ir = convert_kernel(n, types[t].type, text_of(&a), text_of(&b));
    memset(out, 0xff, sizeof out);
    void *p = out, *values[] = {&p};
    ck_assert_msg(cpu_run_ir(&run, ir, 1u << warp_bits, 1, true, values) == TILE_OK, "%s\n%s",
                  tile_error_message(), ir);
    for (unsigned i = 0; i < n; i++)
      ck_assert_msg((uint32_t)out[i] == (i & types[t].mask), "element %u is %d\n%s", i, out[i], ir);
  }
}
END_TEST

// The layout of a tile of two dimensions, flattened to a vector.
static const char *flat_layout(const char *text, const int64_t *shape) {
  const char *error = "", *why = "";
  size_t at;
  struct encoding e = {.kind = ENC_LINEAR, .rank = 1};
  struct linear_layout l;
  const struct encoding *tile = encoding_parse(run.arena, str_from(text), &error, &at);
  ck_assert_msg(tile != NULL, "%s: %s", text, error);
  ck_assert_msg(encoding_to_linear(tile, 2, shape, &l, &why), "%s: %s", text, why);
  e.linear = ll_flatten_outs(&l);
  ll_add_in(&e.linear, LL_BLOCK);
  return text_of(&e);
}

// Fragments of tensor cores go by matrix instructions, which the CPU performs: most pairs of
// these, at this size.
START_TEST(matrices_keep_every_element) {
  enum { ROWS = 32, COLUMNS = 32 };
#define PARENT "mma<{version=2, instr_shape=[16,8], warps_per_cta=[2,2]}>"
  static const char *const layouts[] = {
      PARENT, "dot_op<{op_idx=0, k_width=2, parent=" PARENT "}>",
      "dot_op<{op_idx=1, k_width=4, parent=" PARENT "}>",
      "blocked<{order=[1,0], size_per_thread=[1,8], threads_per_warp=[4,8], warps_per_cta=[4,1]}>",
      "blocked<{order=[0,1], size_per_thread=[8,1], threads_per_warp=[4,8], warps_per_cta=[1,4]}>"};
#undef PARENT
  static const struct {
    const char *type;
    uint32_t mask;
  } types[] = {{"i16", 0xffff}, {"i32", UINT32_MAX}, {"i8", 0xff}};
  static int32_t out[ROWS * COLUMNS];
  const int64_t shape[] = {ROWS, COLUMNS};
  unsigned loads = 0, stores = 0, transposed = 0;
  for (size_t k = 0; k < COUNT_OF(layouts) * COUNT_OF(layouts) * COUNT_OF(types); k++) {
    size_t t = k % COUNT_OF(types), a = k / COUNT_OF(types) / COUNT_OF(layouts);
    size_t b = k / COUNT_OF(types) % COUNT_OF(layouts);
    if (a == b)
      continue;
    const char *ir = convert_kernel(ROWS * COLUMNS, types[t].type, flat_layout(layouts[a], shape),
                                    flat_layout(layouts[b], shape));
    struct compile_result r;
    ck_assert(cpu_run_compile(&run, ir, "sm_90a", 4, EMIT_LLVM, false, &r));
    loads += strstr(r.output.ptr, "@llvm.nvvm.ldmatrix") != NULL;
    stores += strstr(r.output.ptr, "@llvm.nvvm.stmatrix") != NULL;
    transposed += strstr(r.output.ptr, ".trans.b16") != NULL;
    memset(out, 0xff, sizeof out);
    void *p = out, *values[] = {&p};
    ck_assert_msg(cpu_run_ir(&run, ir, 4, 1, true, values) == TILE_OK, "%s\n%s",
                  tile_error_message(), ir);
    for (uint32_t i = 0; i < ROWS * COLUMNS; i++)
      ck_assert_msg((uint32_t)out[i] == (i & types[t].mask), "element %u is %d\n%s", i, out[i], ir);
  }
  ck_assert_uint_ge(loads, 20);
  ck_assert_uint_ge(stores, 20);
  ck_assert_uint_ge(transposed, 10);
}
END_TEST

// A tile of 64 KiB goes in rounds through less memory: which of them a register takes part in is
// decided by registers on one side and by warps on the other.
START_TEST(large_tiles_go_in_rounds) {
  enum { ROWS = 128, COLUMNS = 128 };
  static int32_t out[ROWS * COLUMNS];
  static const char *const columns_first[] = {
      "order = [0, 1], size_per_thread = [4, 1], threads_per_warp = [32, 1], warps_per_cta = [1, "
      "8]",
      "order = [1, 0], size_per_thread = [1, 8], threads_per_warp = [4, 8], warps_per_cta = [8, 1]",
      "order = [0, 1], size_per_thread = [2, 2], threads_per_warp = [4, 8], warps_per_cta = [2, "
      "4]"};
  for (size_t i = 0; i < COUNT_OF(columns_first); i++) {
    const int64_t shape[] = {ROWS, COLUMNS};
    static const char rows_first[] = "blocked<{order = [1, 0], size_per_thread = [1, 4], "
                                     "threads_per_warp = [1, 32], warps_per_cta = [8, 1]}>";
    const char *texts[] = {rows_first, arena_printf(run.arena, "blocked<{%s}>", columns_first[i])};
    const char *flat[2];
    for (int k = 0; k < 2; k++)
      flat[k] = flat_layout(texts[k], shape);
    const char *ir = convert_kernel(ROWS * COLUMNS, "i32", flat[0], flat[1]);
    struct compile_result r;
    ck_assert(cpu_run_compile(&run, ir, "sm_90a", 8, EMIT_PTX, false, &r));
    ck_assert_uint_eq(r.info.shared_bytes, 32768);
    memset(out, 0xff, sizeof out);
    void *p = out, *values[] = {&p};
    ck_assert_msg(cpu_run_ir(&run, ir, 8, 1, true, values) == TILE_OK, "%s", tile_error_message());
    for (int k = 0; k < ROWS * COLUMNS; k++)
      ck_assert_int_eq(out[k], k);
  }
}
END_TEST

// Each element is counted once, however many threads hold it, and all of them learn the old value.
static const char *atomic_kernel(unsigned n, const char *a) {
  return arena_printf(
      run.arena,
      "#A = %s\nmodule { func.func @k(%%c: !tile.ptr<i32>, %%o: !tile.ptr<i32>) attributes "
      "{tile.kernel} {\n"
      "%%r = \"tile.make_range\"() {start = 0 : i32, end = %u : i32} : () -> tensor<%uxi32, #A>\n"
      "%%one = arith.constant dense<1> : tensor<%uxi32, #A>\n"
      "%%cs = \"tile.splat\"(%%c) : (!tile.ptr<i32>) -> tensor<%ux!tile.ptr<i32>, #A>\n"
      "%%ca = \"tile.addptr\"(%%cs, %%r) : (tensor<%ux!tile.ptr<i32>, #A>, tensor<%uxi32, #A>) -> "
      "tensor<%ux!tile.ptr<i32>, #A>\n"
      "%%old = \"tile.atomic_rmw\"(%%ca, %%one) {kind = \"add\", sem = \"relaxed\", scope = "
      "\"gpu\"} : (tensor<%ux!tile.ptr<i32>, #A>, "
      "tensor<%uxi32, #A>) -> tensor<%uxi32, #A>\n"
      "%%os = \"tile.splat\"(%%o) : (!tile.ptr<i32>) -> tensor<%ux!tile.ptr<i32>, #A>\n"
      "%%oa = \"tile.addptr\"(%%os, %%r) : (tensor<%ux!tile.ptr<i32>, #A>, tensor<%uxi32, #A>) -> "
      "tensor<%ux!tile.ptr<i32>, #A>\n"
      "%%was = \"tile.atomic_rmw\"(%%oa, %%old) {kind = \"add\", sem = \"relaxed\", scope = "
      "\"gpu\"} : (tensor<%ux!tile.ptr<i32>, #A>, "
      "tensor<%uxi32, #A>) -> tensor<%uxi32, #A>\n"
      "return } }\n",
      a, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n);
}

START_TEST(atomics_count_each_element_once) {
  static int32_t counts[MAX_TILE], olds[MAX_TILE];
  for (unsigned round = 0; round < 16; round++) {
    unsigned bits = 4 + pick(6), warp_bits = pick(MAX_WARP_BITS + 1), n = 1u << bits;
    struct encoding a = random_layout(bits, warp_bits);
    const char *ir = atomic_kernel(n, text_of(&a));
    for (unsigned i = 0; i < n; i++) {
      counts[i] = (int32_t)(7 * i);
      olds[i] = 1000;
    }
    void *c = counts, *o = olds, *values[] = {&c, &o};
    ck_assert_msg(cpu_run_ir(&run, ir, 1u << warp_bits, 1, false, values) == TILE_OK, "%s\n%s",
                  tile_error_message(), ir);
    for (unsigned i = 0; i < n; i++) {
      ck_assert_msg(counts[i] == (int32_t)(7 * i) + 1, "count %u is %d\n%s", i, counts[i], ir);
      ck_assert_msg(olds[i] == 1000 + (int32_t)(7 * i), "old %u is %d\n%s", i, olds[i], ir);
    }
  }
}
END_TEST

// Two-dimensional shapes through trans, reshape, expand_dims and broadcast.
START_TEST(shape_operations_follow_coordinates) {
  static const char ir[] =
      "#B = #tilegpu.blocked<{order = [1, 0], size_per_thread = [2, 2], threads_per_warp = [4, 8], "
      "warps_per_cta = [2, 1]}>\n"
      "#T = #tilegpu.blocked<{order = [0, 1], size_per_thread = [2, 2], threads_per_warp = [8, 4], "
      "warps_per_cta = [1, 2]}>\n"
      "#R = #tilegpu.slice<{dim = 1, parent = #B}>\n"
      "#C = #tilegpu.slice<{dim = 0, parent = #B}>\n"
      "#V = #tilegpu.blocked<{order = [0], size_per_thread = [1], threads_per_warp = [32], "
      "warps_per_cta = [2]}>\n"
      "module { func.func @k(%p: !tile.ptr<i32>) attributes {tile.kernel} {\n"
      "%r = \"tile.make_range\"() {start = 0 : i32, end = 16 : i32} : () -> tensor<16xi32, #R>\n"
      "%c = \"tile.make_range\"() {start = 0 : i32, end = 32 : i32} : () -> tensor<32xi32, #C>\n"
      "%re = \"tile.expand_dims\"(%r) {axis = 1 : i32} : (tensor<16xi32, #R>) -> "
      "tensor<16x1xi32, #B>\n"
      "%ce = \"tile.expand_dims\"(%c) {axis = 0 : i32} : (tensor<32xi32, #C>) -> "
      "tensor<1x32xi32, #B>\n"
      "%rb = \"tile.broadcast\"(%re) : (tensor<16x1xi32, #B>) -> tensor<16x32xi32, #B>\n"
      "%cb = \"tile.broadcast\"(%ce) : (tensor<1x32xi32, #B>) -> tensor<16x32xi32, #B>\n"
      "%k = arith.constant dense<100> : tensor<16x32xi32, #B>\n"
      "%r100 = arith.muli %rb, %k : tensor<16x32xi32, #B>\n"
      "%x = arith.addi %r100, %cb : tensor<16x32xi32, #B>\n"
      "%t = \"tile.trans\"(%x) {order = array<i32: 1, 0>} : (tensor<16x32xi32, #B>) -> "
      "tensor<32x16xi32, #T>\n"
      "%v = \"tile.reshape\"(%t) {allow_reorder = false} : (tensor<32x16xi32, #T>) -> "
      "tensor<512xi32, #V>\n"
      "%i = \"tile.make_range\"() {start = 0 : i32, end = 512 : i32} : () -> tensor<512xi32, #V>\n"
      "%ps = \"tile.splat\"(%p) : (!tile.ptr<i32>) -> tensor<512x!tile.ptr<i32>, #V>\n"
      "%at = \"tile.addptr\"(%ps, %i) : (tensor<512x!tile.ptr<i32>, #V>, tensor<512xi32, #V>) -> "
      "tensor<512x!tile.ptr<i32>, #V>\n"
      "\"tile.store\"(%at, %v) {cache = \"\", evict = \"\"} : (tensor<512x!tile.ptr<i32>, #V>, "
      "tensor<512xi32, #V>) -> ()\n"
      "return } }\n";
  int32_t out[512] = {0};
  void *p = out, *values[] = {&p};
  ck_assert_int_eq(cpu_run_ir(&run, ir, 2, 1, false, values), TILE_OK);
  for (int c = 0; c < 32; c++)
    for (int r = 0; r < 16; r++)
      ck_assert_int_eq(out[c * 16 + r], r * 100 + c);
}
END_TEST

TCase *emit_layouts_tests(void) {
  TCase *t = tcase_create("emit_layouts");
  tcase_add_checked_fixture(t, open_run, close_run);
  tcase_set_timeout(t, 300);
  tcase_add_test(t, conversions_keep_every_element);
  tcase_add_test(t, matrices_keep_every_element);
  tcase_add_test(t, large_tiles_go_in_rounds);
  tcase_add_test(t, atomics_count_each_element_once);
  tcase_add_test(t, shape_operations_follow_coordinates);
  return t;
}
