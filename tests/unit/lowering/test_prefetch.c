// SPDX-License-Identifier: Apache-2.0
// prefetch changes no bit of a result: kernels run on the CPU as the passes in front of it leave
// them, and with what it makes of them.
#include "cpu_run.h"
#include "suites.h"

enum { WARPS = 4, SIDE = 64, DEPTH = 160 };

static struct cpu_run run;
static void open_run(void) { cpu_run_open(&run); }
static void close_run(void) { cpu_run_close(&run); }

static const char product[] =
    "    i = tl.arange(0, 64)\n    j = tl.arange(0, 32)\n"
    "    acc = tl.zeros([64, 64], tl.float32)\n"
    "    for t in range(0, 160, 32):\n"
    "        a = tl.load(x + i[:, None] * 160 + t + j[None, :])\n"
    "        b = tl.load(y + (t + j[:, None]) * 64 + i[None, :])\n"
    "        acc = tl.dot(a.to(T), b.to(T), acc, input_precision=PRECISION)\n"
    "    tl.store(out + i[:, None] * 64 + i[None, :], acc)\n";

// The first product's result is an operand of the second one.
static const char chain[] =
    "    i = tl.arange(0, 64)\n    j = tl.arange(0, 32)\n"
    "    q = tl.load(x + i[:, None] * 160 + j[None, :])\n"
    "    acc = tl.zeros([64, 64], tl.float32)\n"
    "    for t in range(0, 128, 32):\n"
    "        b = tl.load(y + (t + j[:, None]) * 64 + i[None, :])\n"
    "        s = tl.dot(q.to(T), b.to(T), input_precision=PRECISION)\n"
    "        c = tl.load(y + (t + i[:, None]) * 64 + i[None, :])\n"
    "        acc = tl.dot(s.to(T), c.to(T), acc, input_precision=PRECISION)\n"
    "    tl.store(out + i[:, None] * 64 + i[None, :], acc)\n";

// All passes in front of prefetch.
static const char *passes_before(void) {
  size_t count;
  const enum pass_id *order = pipeline_passes(PIPELINE_WHOLE, &count);
  struct strbuf b = {0};
  for (size_t i = 0; i < count && order[i] != PASS_prefetch; i++)
    strbuf_printf(&b, "%s%s", i ? "," : "", pass_info(order[i])->flag);
  const char *text = arena_strdup(run.arena, strbuf_cstr(&b));
  strbuf_finish(&b);
  return text;
}

// The IR behind these passes.
static const char *passed(const char *text, bool is_tile, const char *passes) {
  struct compile_request r = {
      .source = source_create(run.arena, is_tile ? "test.tile" : "test.mlir", str_from(text)),
      .target = target_find(STR("cpu")),
      .num_warps = WARPS,
      .num_stages = 3,
      .emit = EMIT_TILEGPU,
      .passes.only = passes};
  struct compile_result ret;
  run.diag = diag_engine_create(run.arena);
  bool ok = is_tile ? compile_kernel(run.arena, run.diag, &r, &ret)
                    : compile_mlir(run.arena, run.diag, &r, &ret);
  ck_assert_msg(ok, "%s\n%.900s", diag_first_error(run.diag), text);
  return arena_strndup(run.arena, ret.output.ptr, ret.output.len);
}

static void run_on(const char *ir, void *x, void *y, float *out) {
  void *to = out, *values[] = {&x, &y, &to};
  memset(out, 0xff, SIDE * SIDE * sizeof *out);
  ck_assert_msg(cpu_run_ir(&run, ir, WARPS, 1, true, values) == TILE_OK, "%s\n%.900s",
                tile_error_message(), ir);
}

static unsigned count_of(const char *text, const char *what) {
  unsigned n = 0;
  for (const char *at = text; (at = strstr(at, what)) != NULL; at++)
    n++;
  return n;
}

// Small numbers of the type, as bytes that mean some in each.
static void fill(uint16_t *x, size_t count, bool is_f32) {
  uint32_t seed = 12;
  for (size_t i = 0; i < count; i++) {
    seed = seed * 1664525u + 1013904223u;
    bool sign = is_f32 && i % 2 == 0; // the low half of an f32
    x[i] = (uint16_t)(sign ? seed >> 8 : (is_f32 ? 0x3f00 : 0x3800) + (seed >> 20) % 0x400);
  }
}

static const struct product_case {
  const char *body, *loaded, *multiplied, *precision;
  unsigned least; // products that it becomes, at least
} cases[] = {{product, "f16", "float16", "tf32", 2}, {product, "bf16", "bfloat16", "tf32", 2},
             {product, "f32", "float32", "tf32", 4}, {product, "f32", "float32", "ieee", 8},
             {product, "i8", "float16", "tf32", 1},  {product, "f16", "float32", "tf32", 2},
             {chain, "f16", "float16", "tf32", 6}};

START_TEST(results_are_the_same_to_the_bit) {
  static uint16_t x[2 * SIDE * DEPTH], y[2 * SIDE * DEPTH];
  static float whole[SIDE * SIDE], sliced[SIDE * SIDE];
  const struct product_case *k = &cases[_i];
  bool is_f32 = strcmp(k->loaded, "f32") == 0;
  fill(x, COUNT_OF(x), is_f32);
  fill(y, COUNT_OF(y), is_f32);
  struct strbuf text = {0};
  strbuf_printf(&text,
                "import triton\nimport triton.language as tl\n@triton.jit\n"
                "def k(x: ptr[%s] %% 16, y: ptr[%s] %% 16, out: ptr[f32] %% 16,\n"
                "      T: tl.constexpr = tl.%s, PRECISION: tl.constexpr = \"%s\"):\n%s",
                k->loaded, k->loaded, k->multiplied, k->precision, k->body);
  const char *before = passed(strbuf_cstr(&text), true, passes_before());
  const char *after = passed(before, false, "prefetch");
  ck_assert_msg(count_of(after, "\"tile.dot\"") >= k->least, "%s %s: %u", k->loaded, k->multiplied,
                count_of(after, "\"tile.dot\""));
  run_on(before, x, y, whole);
  run_on(after, x, y, sliced);
  ck_assert(memcmp(whole, sliced, sizeof whole) == 0);
  ck_assert(whole[0] != whole[1]);
  strbuf_finish(&text);
}
END_TEST

TCase *prefetch_tests(void) {
  TCase *t = tcase_create("prefetch");
  tcase_add_unchecked_fixture(t, open_run, close_run);
  tcase_set_timeout(t, 120);
  tcase_add_loop_test(t, results_are_the_same_to_the_bit, 0, COUNT_OF(cases));
  return t;
}
