// SPDX-License-Identifier: Apache-2.0
// Tests of derived spaces: they contain the configurations that experts use, and nothing absurd.
#include "autotune/tune_build.h"
#include "base/file.h"
#include "lang/tuning/tuning.h"
#include "suites.h"

#include <inttypes.h>

static struct arena *a;
static struct diag_engine *diag;
static struct tune_space s;
static struct lang_binding fixed[4];
static size_t fixed_count;

static void setup(void) {
  a = arena_create();
  diag = diag_engine_create(a);
  fixed_count = 0;
}

static void teardown(void) { arena_destroy(a); }

static void fix(const char *name, const char *text) {
  fixed[fixed_count++] = (struct lang_binding){.name = name, .kind = BIND_CONSTANT, .text = text};
}

// Arguments end with a name of NULL.
static void derive_text(struct str text, const char *kernel, const struct cost_argument *args) {
  struct lang_unit *m = lang_unit_read(a, diag, source_create(a, "t.tile", text));
  size_t n = 0;
  while (args && args[n].name)
    n++;
  ck_assert_msg(tune_space_derived(a, diag, m, kernel, fixed, fixed_count, args, n, &s) &&
                    diag_error_count(diag) == 0,
                "%s", diag_first_error(diag));
  ck_assert_uint_ge(s.count, 1);
  ck_assert_str_eq(s.origin, "derived");
}

static void derive(const char *tutorial, const char *kernel, const struct cost_argument *args) {
  struct str text;
  const char *path = arena_printf(a, "%s/tutorials/%s", SOURCE_ROOT, tutorial);
  ck_assert_int_eq(file_read(a, path, SOURCE_MAX_BYTES, &text), 0);
  derive_text(text, kernel, args);
}

#define ARGS(...) ((const struct cost_argument[]){__VA_ARGS__, {NULL, 0}})

static bool holds(const char *spelling) {
  size_t at;
  return tune_space_find(&s, str_from(spelling), &at);
}

static void check_default(const char *want) {
  struct strbuf out = {0};
  tune_config_print(&s, 0, &out);
  ck_assert_str_eq(strbuf_cstr(&out), want);
  strbuf_finish(&out);
}

static void check_count(size_t least, size_t most) {
  ck_assert_msg(s.count >= least && s.count <= most, "%zu configurations", s.count);
}

static void check_values(const char *name, const char *want) {
  struct strbuf out = {0};
  for (size_t i = 0; i < s.dim_count; i++)
    if (strcmp(s.dims[i].name, name) == 0)
      for (size_t k = 0; k < s.dims[i].count; k++)
        strbuf_printf(&out, "%s%s", k > 0 ? " " : "", s.dims[i].values[k]);
  ck_assert_msg(strcmp(strbuf_cstr(&out), want) == 0, "%s is one of %s, not %s", name,
                strbuf_cstr(&out), want);
  strbuf_finish(&out);
}

START_TEST(vector_add) {
  derive("01-vector-add/add.tile", NULL, ARGS({"n", 1 << 24}));
  check_default("BLOCK=1024, num_warps=4");
  check_values("BLOCK", "128 256 512 1024 2048 4096 8192");
  check_count(12, 40);
  ck_assert(holds("BLOCK=1024, num_warps=4") && holds("BLOCK=2048, num_warps=8") &&
            holds("BLOCK=512, num_warps=4") && holds("BLOCK=256, num_warps=2"));
  ck_assert(!holds("BLOCK=8192, num_warps=1") && !holds("BLOCK=128, num_warps=8"));
  // No block is longer than the vector, except the kernel's own.
  derive("01-vector-add/add.tile", NULL, ARGS({"n", 300}));
  check_values("BLOCK", "128 256 512 1024");
  check_default("BLOCK=1024, num_warps=4");
  ck_assert(!holds("BLOCK=1024, num_warps=8") && holds("BLOCK=512, num_warps=4"));
}
END_TEST

START_TEST(softmax) {
  derive("03-fused-softmax/softmax.tile", NULL, ARGS({"rows", 4096}, {"columns", 781}));
  check_values("BLOCK", "1024");
  check_count(15, 60);
  check_default("ROWS=8, BLOCK=1024, num_warps=4");
  ck_assert(holds("ROWS=1, BLOCK=1024, num_warps=4") && holds("ROWS=1, BLOCK=1024, num_warps=8") &&
            holds("ROWS=4, BLOCK=1024, num_warps=4") && holds("ROWS=1, BLOCK=1024, num_warps=1"));
  derive("03-fused-softmax/softmax.tile", NULL, ARGS({"rows", 4096}, {"columns", 65536}));
  check_default("ROWS=1, BLOCK=65536, num_warps=32");
  check_count(1, 4);
  derive("03-fused-softmax/softmax.tile", NULL, ARGS({"rows", 4}, {"columns", 32}));
  ck_assert(holds("ROWS=1, BLOCK=32, num_warps=1") && holds("ROWS=4, BLOCK=32, num_warps=1") &&
            !holds("ROWS=8, BLOCK=32, num_warps=1") && !holds("ROWS=1, BLOCK=32, num_warps=4"));
}
END_TEST

START_TEST(layer_norm) {
  derive("04-layer-norm/layer_norm.tile", "layer_norm", ARGS({"rows", 4096}, {"columns", 8192}));
  check_values("BLOCK", "8192");
  check_values("EVEN", "");
  check_values("num_stages", "");
  ck_assert(holds("ROWS=1, BLOCK=8192, num_warps=8") && holds("ROWS=1, BLOCK=8192, num_warps=16"));
  ck_assert(!holds("ROWS=8, BLOCK=8192, num_warps=4"));
  derive("04-layer-norm/layer_norm.tile", "layer_norm_ahead",
         ARGS({"rows", 4096}, {"columns", 8192}));
  ck_assert(holds("BLOCK=8192, num_warps=16, num_stages=3"));
  derive("04-layer-norm/layer_norm.tile", "sum_parts", ARGS({"parts", 132}, {"columns", 8192}));
  ck_assert(holds("PARTS=32, BLOCK=128, num_warps=4, num_stages=2"));
  check_count(50, 1500);
}
END_TEST

START_TEST(dropout) {
  derive("05-dropout/dropout.tile", NULL, ARGS({"n", 1 << 24}));
  ck_assert(holds("BLOCK=1024, num_warps=4") && holds("BLOCK=512, num_warps=2"));
  check_values("num_stages", "");
  check_count(12, 40);
}
END_TEST

START_TEST(matmul) {
  static const char *const tried[] = {
      // by those who write such lists
      "128, BLOCK_N=256, BLOCK_K=64, GROUP_M=8, num_warps=8, num_stages=3",
      "64, BLOCK_N=256, BLOCK_K=32, GROUP_M=8, num_warps=4, num_stages=4",
      "128, BLOCK_N=128, BLOCK_K=32, GROUP_M=8, num_warps=4, num_stages=4",
      "128, BLOCK_N=128, BLOCK_K=64, GROUP_M=8, num_warps=8, num_stages=3",
      "128, BLOCK_N=128, BLOCK_K=128, GROUP_M=8, num_warps=8, num_stages=3",
      "128, BLOCK_N=64, BLOCK_K=32, GROUP_M=8, num_warps=4, num_stages=4",
      "64, BLOCK_N=128, BLOCK_K=32, GROUP_M=8, num_warps=4, num_stages=4",
      "128, BLOCK_N=32, BLOCK_K=32, GROUP_M=8, num_warps=4, num_stages=4",
      "64, BLOCK_N=32, BLOCK_K=32, GROUP_M=8, num_warps=2, num_stages=5",
      "32, BLOCK_N=64, BLOCK_K=32, GROUP_M=8, num_warps=2, num_stages=5",
      "256, BLOCK_N=128, BLOCK_K=64, GROUP_M=16, num_warps=8, num_stages=3",
      "256, BLOCK_N=64, BLOCK_K=32, GROUP_M=4, num_warps=4, num_stages=4"};
  derive("06-matmul/matmul.tile", NULL, ARGS({"M", 4096}, {"N", 4096}, {"K", 4096}));
  check_default("BLOCK_M=128, BLOCK_N=128, BLOCK_K=64, GROUP_M=8, num_warps=4, num_stages=3");
  check_count(200, 4096);
  check_values("ACTIVATION", "");
  for (size_t i = 0; i < COUNT_OF(tried); i++)
    ck_assert_msg(holds(arena_printf(a, "BLOCK_M=%s", tried[i])), "%s", tried[i]);
  for (size_t i = 0; i < s.count; i++) { // nothing absurd
    int64_t m, n;
    ck_assert(str_to_i64(str_from(tune_config_value(&s, i, "BLOCK_M")), &m) &&
              str_to_i64(str_from(tune_config_value(&s, i, "BLOCK_N")), &n));
    int64_t each = m * n / (32 * (int64_t)tune_config_warps(&s, i));
    ck_assert_msg(each >= 8 && each <= 128, "%" PRId64 " x %" PRId64 " on %u warps", m, n,
                  tune_config_warps(&s, i));
  }
  // A tile is given: the rest adapts.
  fix("BLOCK_M", "256");
  fix("BLOCK_N", "128");
  derive("06-matmul/matmul.tile", NULL, ARGS({"M", 4096}, {"N", 4096}, {"K", 4096}));
  ck_assert(holds("BLOCK_K=64, GROUP_M=8, num_warps=8, num_stages=3") &&
            !holds("BLOCK_K=64, GROUP_M=8, num_warps=2, num_stages=3"));
}
END_TEST

START_TEST(narrow_matmul) {
  derive("06-matmul/matmul.tile", NULL, ARGS({"M", 16}, {"N", 4096}, {"K", 96}));
  check_values("BLOCK_M", "16 128");
  ck_assert(holds("BLOCK_M=16, BLOCK_N=128, BLOCK_K=64, GROUP_M=1, num_warps=4, num_stages=2") &&
            !holds("BLOCK_M=128, BLOCK_N=64, BLOCK_K=64, GROUP_M=8, num_warps=4, num_stages=2"));
  // Two iterations do not need three stages.
  ck_assert(!holds("BLOCK_M=16, BLOCK_N=128, BLOCK_K=64, GROUP_M=1, num_warps=4, num_stages=3"));
  check_default("BLOCK_M=128, BLOCK_N=128, BLOCK_K=64, GROUP_M=8, num_warps=4, num_stages=3");
  // Without known sizes everything is possible.
  derive("06-matmul/matmul.tile", NULL, NULL);
  check_values("BLOCK_M", "16 32 64 128 256");
  check_values("BLOCK_K", "16 32 64 128");
  check_count(200, 4096);
}
END_TEST

START_TEST(attention) {
  static const char *const tried[] = {
      "128, BLOCK_N=64, num_warps=4, num_stages=3",  "128, BLOCK_N=32, num_warps=4, num_stages=4",
      "128, BLOCK_N=128, num_warps=8, num_stages=2", "128, BLOCK_N=64, num_warps=8, num_stages=3",
      "64, BLOCK_N=64, num_warps=4, num_stages=3",   "64, BLOCK_N=32, num_warps=4, num_stages=3"};
  derive("07-flash-attention/attention.tile", NULL, ARGS({"queries", 4096}, {"keys", 4096}));
  check_default("BLOCK_M=128, BLOCK_N=64, num_warps=4, num_stages=3");
  check_count(50, 500);
  for (size_t i = 0; i < COUNT_OF(tried); i++)
    ck_assert_msg(holds(arena_printf(a, "BLOCK_M=%s", tried[i])), "%s", tried[i]);
  ck_assert(!holds("BLOCK_M=256, BLOCK_N=128, num_warps=4, num_stages=3"));
  // Wider heads leave less room.
  fix("D", "256");
  derive("07-flash-attention/attention.tile", NULL, ARGS({"queries", 4096}, {"keys", 4096}));
  ck_assert(!holds("BLOCK_M=128, BLOCK_N=128, num_warps=4, num_stages=2") &&
            holds("BLOCK_M=64, BLOCK_N=32, num_warps=4, num_stages=2"));
}
END_TEST

#define HEAD "import triton\nimport triton.language as tl\n@triton.jit\n"

START_TEST(square_blocks) {
  derive_text(STR(HEAD "def transpose(x, y, n, BLOCK: tl.constexpr):\n"
                       "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
                       "    k = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)\n"
                       "    m = (i < n)[:, None] & (k < n)[None, :]\n"
                       "    v = tl.load(x + i[:, None] * n + k[None, :], mask=m)\n"
                       "    tl.store(y + k[None, :] * n + i[:, None], v, mask=m)\n"),
              NULL, ARGS({"n", 4096}));
  ck_assert(holds("BLOCK=32, num_warps=4") && holds("BLOCK=64, num_warps=8") &&
            !holds("BLOCK=256, num_warps=4") && !holds("BLOCK=1, num_warps=4"));
}
END_TEST

START_TEST(nothing_to_choose) {
  derive_text(STR(HEAD "def one(x, n):\n    tl.store(x, n)\n"), NULL, NULL);
  check_default("num_warps=4");
  check_count(1, 4);
  // Extents that are computed elsewhere: their names come without a text.
  fix("B", NULL);
  derive_text(STR(HEAD "def f(x, n, B: tl.constexpr, C: tl.constexpr = 64):\n"
                       "    i = tl.program_id(0) * B + tl.arange(0, B)\n"
                       "    k = tl.program_id(1) * C + tl.arange(0, C)\n"
                       "    tl.store(x + i, 0.0, mask=i < n)\n"
                       "    tl.store(x + k, 0.0, mask=k < n)\n"),
              NULL, ARGS({"n", 1 << 20}));
  check_default("C=64, num_warps=4");
  ck_assert_uint_eq(s.dim_count, 2);
}
END_TEST

START_TEST(parameters_called_as_options_are) {
  derive_text(
      STR(HEAD "def f(x, n, B: tl.constexpr, num_warps: tl.constexpr, num_stages: tl.constexpr):\n"
               "    for at in tl.range(0, n, B, num_stages=num_stages):\n"
               "        i = at + tl.arange(0, B)\n"
               "        tl.store(x + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)\n"),
      NULL, ARGS({"n", 1 << 20}));
  ck_assert_uint_eq(s.dim_count, 3);
  size_t at;
  ck_assert(tune_space_find(&s, STR("B=1024, num_warps=8, num_stages=2"), &at));
  ck_assert(s.dims[1].kind == TUNE_CONSTANT && s.dims[2].kind == TUNE_CONSTANT);
  ck_assert_uint_eq(tune_config_warps(&s, at), 8);
  ck_assert_uint_eq(tune_config_stages(&s, at), 2);
}
END_TEST

// Accumulators that fit one by one, and would not together: they are not live at the same time.
START_TEST(many_products) {
  struct strbuf text = {0};
  strbuf_puts(&text, HEAD "def f(x, n, B: tl.constexpr, D: tl.constexpr):\n"
                          "    i = tl.program_id(0) * B + tl.arange(0, B)\n"
                          "    d = tl.arange(0, D)\n"
                          "    at = i[:, None] * D + d[None, :]\n"
                          "    w = tl.load(x + d[:, None] * D + d[None, :])\n"
                          "    v = tl.load(x + at, mask=(i < n)[:, None])\n");
  for (int i = 0; i < 3; i++)
    strbuf_printf(&text,
                  "    v%d = tl.dot(v, w).to(tl.float16)\n"
                  "    w%d = tl.dot(w, w).to(tl.float16)\n",
                  i, i);
  strbuf_puts(&text, "    tl.store(x + at, v0 + v1 + v2, mask=(i < n)[:, None])\n");
  fix("B", "256");
  fix("D", "256");
  derive_text((struct str){text.ptr, text.len}, NULL, ARGS({"n", 4096}));
  ck_assert(holds("num_warps=16") && !holds("num_warps=8"));
  strbuf_finish(&text);
}
END_TEST

START_TEST(what_heuristics_compute_is_no_choice) {
  struct lang_tuning tuning;
  struct tune_problem p = {
      .file = "t.tile",
      .text = STR("import triton\nimport triton.language as tl\n"
                  "@triton.heuristics({'C': lambda args: 2 * args['B']})\n"
                  "@triton.jit\n"
                  "def f(x, n, B: tl.constexpr, C: tl.constexpr, D: tl.constexpr):\n"
                  "    i = tl.program_id(0) * B + tl.arange(0, B)\n"
                  "    k = tl.program_id(0) * C + tl.arange(0, C)\n"
                  "    l = tl.program_id(0) * D + tl.arange(0, D)\n"
                  "    tl.store(x + i, 0.0, mask=i < n)\n"
                  "    tl.store(x + k, 0.0, mask=k < n)\n"
                  "    tl.store(x + l, 0.0, mask=l < n)\n")};
  fix("D", "64");
  p.fixed = fixed;
  p.fixed_count = fixed_count;
  ck_assert_msg(tune_problem_space(a, diag, &p, "sm_90a", &s, &tuning), "%s",
                diag_first_error(diag));
  ck_assert_uint_eq(s.dim_count, 2);
  check_default("B=1024, num_warps=4");
}
END_TEST

// Eight extents: coarser values, and then fewer dimensions, keep the space in bounds.
START_TEST(many_extents) {
  struct strbuf text = {0};
  strbuf_puts(&text, HEAD "def f(x, n");
  for (int i = 0; i < 8; i++)
    strbuf_printf(&text, ", B%d: tl.constexpr", i);
  strbuf_puts(&text, "):\n");
  for (int i = 0; i < 8; i++)
    strbuf_printf(&text,
                  "    i = tl.program_id(0) * B%d + tl.arange(0, B%d)\n"
                  "    tl.store(x + i, tl.load(x + i, mask=i < n), mask=i < n)\n",
                  i, i);
  derive_text((struct str){text.ptr, text.len}, NULL, ARGS({"n", 1 << 24}));
  check_count(2, TUNE_MAX_CONFIGS);
  ck_assert_uint_eq(s.dim_count, 9);
  strbuf_finish(&text);
}
END_TEST

Suite *space_derived_suite(void) {
  Suite *suite = suite_create("space_derived");
  TCase *t = tcase_create("space_derived");
  tcase_add_checked_fixture(t, setup, teardown);
  tcase_add_test(t, vector_add);
  tcase_add_test(t, softmax);
  tcase_add_test(t, layer_norm);
  tcase_add_test(t, dropout);
  tcase_add_test(t, matmul);
  tcase_add_test(t, narrow_matmul);
  tcase_add_test(t, attention);
  tcase_add_test(t, square_blocks);
  tcase_add_test(t, nothing_to_choose);
  tcase_add_test(t, parameters_called_as_options_are);
  tcase_add_test(t, what_heuristics_compute_is_no_choice);
  tcase_add_test(t, many_products);
  tcase_add_test(t, many_extents);
  suite_add_tcase(suite, t);
  return suite;
}
