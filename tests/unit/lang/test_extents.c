// SPDX-License-Identifier: Apache-2.0
// Which compile-time parameters of kernels are inferred to be extents of tiles.
#include "base/file.h"
#include "lang/eval/builtin_flags.h"
#include "lang/extents/extents.h"
#include "parsed.h"
#include "suites.h"

#include <stdio.h>

static const char *const words[] = {"none", "element", "row",   "m",     "n",
                                    "k",    "step",    "group", "stages"};

// "BLOCK=element:n ROWS=row:columns! | dot loop": parameters with their use and what they cover
// (`+`: a loop steps by it), then traits.
static void describe(const struct lang_extents *x, struct strbuf *out) {
  for (size_t i = 0; i < x->count; i++)
    strbuf_printf(out, "%s%s=%s%s%s%s", i > 0 ? " " : "", x->params[i].param,
                  words[x->params[i].use], x->params[i].is_step ? "+" : "",
                  x->params[i].covers ? ":" : "", x->params[i].covers ? x->params[i].covers : "");
  strbuf_printf(out, " |%s%s%s%s", x->has_dot ? " dot" : "", x->has_chain ? " chain" : "",
                x->has_loop_with_loads ? " loop" : "", x->has_reduction ? " reduction" : "");
}

static void check_extents(const char *text, const char *kernel, const char *want) {
  struct parsed p = parsed_create("t.tile", str_from(text));
  ck_assert_msg(diag_error_count(p.diag) == 0, "%.1500s: %s", text, diag_first_error(p.diag));
  struct lang_extents x = lang_extents_of(p.arena, p.unit, kernel);
  struct strbuf out = {0};
  describe(&x, &out);
  ck_assert_msg(strcmp(strbuf_cstr(&out), want) == 0, "%.1500s\n gives  %s\n wanted %s", text,
                strbuf_cstr(&out), want);
  strbuf_finish(&out);
  parsed_destroy(&p);
}

static void check_tutorial(const char *path, const char *kernel, const char *want) {
  struct arena *a = arena_create();
  struct str text;
  ck_assert(file_read(a, arena_printf(a, "%s/%s", TUTORIALS_DIR, path), SOURCE_MAX_BYTES, &text) ==
            0);
  check_extents(arena_strndup(a, text.ptr, text.len), kernel, want);
  arena_destroy(a);
}

START_TEST(tutorials) {
  check_tutorial("01-vector-add/add.tile", NULL, "BLOCK=element:n |");
  check_tutorial("02-fused-elementwise/fused.tile", NULL, "BLOCK=element:columns |");
  check_tutorial("03-fused-softmax/softmax.tile", NULL,
                 "ROWS=element:rows BLOCK=row:columns | reduction");
  check_tutorial("04-layer-norm/layer_norm.tile", "layer_norm",
                 "ROWS=element:rows BLOCK=row:columns EVEN=none | reduction");
  check_tutorial("04-layer-norm/layer_norm.tile", "layer_norm_ahead",
                 "BLOCK=row:columns EVEN=none | loop reduction");
  check_tutorial("04-layer-norm/layer_norm.tile", "layer_norm_backward",
                 "BLOCK=row:columns | loop reduction");
  check_tutorial("04-layer-norm/layer_norm.tile", "sum_parts",
                 "PARTS=step+:parts BLOCK=element:columns | loop reduction");
  check_tutorial("05-dropout/dropout.tile", NULL, "BLOCK=element:n |");
  check_tutorial("06-matmul/matmul.tile", NULL,
                 "BLOCK_M=m:M BLOCK_N=n:N BLOCK_K=k+:K GROUP_M=group ACTIVATION=none | dot loop");
  check_tutorial("07-flash-attention/attention.tile", NULL,
                 "D=none CAUSAL=none BLOCK_M=m:queries BLOCK_N=n+:keys | dot chain loop reduction");
}
END_TEST

#define HEAD "import triton\nimport triton.language as tl\n@triton.jit\n"

START_TEST(products_as_others_write_them) {
  // Iterations are counted, nothing is masked, and the pointers advance.
  check_extents(HEAD "def f(a, b, c, M, N, K, sa, sb, sc, BM: tl.constexpr, BN: tl.constexpr,\n"
                     "      BK: tl.constexpr, GROUP: tl.constexpr):\n"
                     "    pid = tl.program_id(axis=0)\n"
                     "    n_m = tl.cdiv(M, BM)\n"
                     "    n_n = tl.cdiv(N, BN)\n"
                     "    pid_m, pid_n = tl.swizzle2d(pid // n_n, pid % n_n, n_m, n_n, GROUP)\n"
                     "    rm = pid_m * BM + tl.arange(0, BM)\n"
                     "    rn = pid_n * BN + tl.arange(0, BN)\n"
                     "    rk = tl.arange(0, BK)\n"
                     "    pa = a + rm[:, None] * sa + rk[None, :]\n"
                     "    pb = b + rk[:, None] * sb + rn[None, :]\n"
                     "    acc = tl.zeros((BM, BN), dtype=tl.float32)\n"
                     "    for k in range(0, tl.cdiv(K, BK)):\n"
                     "        acc += tl.dot(tl.load(pa), tl.load(pb))\n"
                     "        pa += BK\n"
                     "        pb += BK * sb\n"
                     "    tl.store(c + rm[:, None] * sc + rn[None, :], acc.to(tl.float16))\n",
                NULL, "BM=m:M BN=n:N BK=k+:K GROUP=group | dot loop");
  // Block pointers; lengths known at compile time.
  check_extents(
      HEAD
      "def f(a, b, c, M, N: tl.constexpr, K: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,\n"
      "      BK: tl.constexpr, GROUP: tl.constexpr):\n"
      "    pid = tl.program_id(0)\n"
      "    width = GROUP * tl.cdiv(N, BN)\n"
      "    first = pid // width * GROUP\n"
      "    size = min(tl.cdiv(M, BM) - first, GROUP)\n"
      "    pid_m = first + pid % size\n"
      "    pid_n = (pid % width) // size\n"
      "    pa = tl.make_block_ptr(a, shape=(M, K), strides=(K, 1), offsets=(pid_m * BM, 0),\n"
      "                           block_shape=(BM, BK), order=(1, 0))\n"
      "    pb = tl.make_block_ptr(base=b, shape=(K, N), strides=(N, 1), offsets=(0, pid_n * BN),\n"
      "                           block_shape=(BK, BN), order=(1, 0))\n"
      "    acc = tl.zeros((BM, BN), dtype=tl.float32)\n"
      "    k = 0\n"
      "    while k < K:\n"
      "        x = tl.load(pa, boundary_check=(0, 1))\n"
      "        acc = tl.dot(x, tl.load(pb, boundary_check=(0, 1)), acc=acc)\n"
      "        pa = tl.advance(pa, (0, BK))\n"
      "        pb = tl.advance(pb, (BK, 0))\n"
      "        k += BK\n",
      NULL, "N=none K=none BM=m:M BN=n:N BK=k+:K GROUP=group | dot loop");
  // Descriptors: their shapes are the sizes.
  check_extents(
      HEAD "def f(a, b, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):\n"
           "    da = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])\n"
           "    db = tl.make_tensor_descriptor(b, [K, N], strides=[N, 1], block_shape=[BK, BN])\n"
           "    acc = tl.zeros((BM, BN), dtype=tl.float32)\n"
           "    for k in range(0, K, BK):\n"
           "        x = da.load([tl.program_id(0) * BM, k])\n"
           "        y = tl.load_tensor_descriptor(db, [k, tl.program_id(1) * BN])\n"
           "        acc = tl.dot(x, y, acc=acc)\n",
      NULL, "BM=m:M BN=n:N BK=k+:K | dot loop");
  // As parameters: their sizes have no names.
  check_extents(HEAD "def f(a: tensordesc[f16, [BM, BK]], b: tensordesc[f16, [BN, BK]],\n"
                     "      c: tensordesc[f16, [BM, BN]], K, BM: tl.constexpr, BN: tl.constexpr, "
                     "BK: tl.constexpr):\n"
                     "    acc = tl.zeros((BM, BN), dtype=tl.float32)\n"
                     "    i, j = tl.program_id(0) * BM, tl.program_id(1) * BN\n"
                     "    for k in range(0, K, BK):\n"
                     "        acc = tl.dot(a.load([i, k]), b.load([j, k]).T, acc=acc)\n"
                     "    c.store([i, j], acc)\n",
                NULL, "BM=m BN=n BK=k+:K | dot loop");
}
END_TEST

START_TEST(what_says_what_is_computed_stays) {
  // Heads have D unmasked elements; a padded head is covered as a whole.
  static const char heads[] =
      "def f(x, out, n, H, D: tl.constexpr, PAD: tl.constexpr, HEADS: tl.constexpr, B: "
      "tl.constexpr):\n"
      "    batch = tl.program_id(1) // HEADS\n"
      "    head = tl.program_id(1) %% HEADS\n"
      "    row = tl.program_id(0) * B + tl.arange(0, B)\n"
      "    d = tl.arange(0, %s)\n"
      "    at = batch * H + head * D + row[:, None] * D + d[None, :]\n"
      "    tl.store(out + at, tl.load(x + at, mask=(row < n)[:, None]%s))\n";
  struct strbuf text = {0};
  strbuf_printf(&text, "%s", HEAD);
  strbuf_printf(&text, heads, "D", "");
  check_extents(strbuf_cstr(&text), NULL, "D=none PAD=none HEADS=none B=element:n |");
  strbuf_clear(&text);
  strbuf_printf(&text, "%s", HEAD);
  strbuf_printf(&text, heads, "PAD", " & (d < D)[None, :]");
  check_extents(strbuf_cstr(&text), NULL, "D=none PAD=row:D HEADS=none B=element:n |");
  strbuf_finish(&text);
  // Lengths and flags are not groups.
  check_extents(HEAD "def f(x, N: tl.constexpr, FLAG: tl.constexpr, B: tl.constexpr):\n"
                     "    i = min(tl.program_id(0), N - 1) * B + tl.arange(0, B)\n"
                     "    if FLAG and N > 2:\n"
                     "        tl.store(x + i, 0.0, mask=i < N)\n",
                NULL, "N=none FLAG=none B=element:N |");
}
END_TEST

START_TEST(through_calls_and_loops) {
  check_extents(HEAD "def tail(p, value, n, *, B: tl.constexpr = 64):\n"
                     "    i = tl.program_id(0) * B + tl.arange(0, B)\n"
                     "    tl.store(p + i, value, mask=i < n)\n"
                     "@triton.jit\n"
                     "def f(p, n, SIZE: tl.constexpr, STAGES: tl.constexpr, STEP: tl.constexpr):\n"
                     "    tail(p, 1.0, n, B=SIZE)\n"
                     "    s = 0.0\n"
                     "    for at in tl.range(0, n, STEP, num_stages=STAGES):\n"
                     "        i = at + tl.arange(0, STEP)\n"
                     "        s += tl.sum(tl.load(p + i, mask=i < n, other=0.0))\n"
                     "    tl.store(p, s)\n",
                "f", "SIZE=element:n STAGES=stages STEP=step+:n | loop reduction");
  // A helper called program_id of another module is treated as the builtin.
  check_extents("from somewhere import helpers as ext\n" HEAD "def f(p, n, B: tl.constexpr):\n"
                "    i = ext.program_id(0) * B + tl.arange(0, B)\n"
                "    tl.store(p + i, ext.value(i), mask=i < n)\n",
                NULL, "B=element:n |");
  // The walk ends for a function that calls itself, also in its own arguments.
  check_extents(HEAD "def f(p, n, B: tl.constexpr):\n"
                     "    f(p, n, B)\n"
                     "    f(p, f(p, n, B), B)\n"
                     "    i = tl.program_id(0) * B + tl.arange(0, B)\n"
                     "    tl.store(p + i, 0.0, mask=i < n)\n",
                "f", "B=element:n |");
}
END_TEST

START_TEST(arguments_are_found_by_the_table) {
  // By position as by name.
  check_extents(HEAD "def f(p, n, STEP: tl.constexpr, STAGES: tl.constexpr):\n"
                     "    for at in tl.range(0, n, STEP, STAGES):\n"
                     "        i = at + tl.arange(end=STEP, start=0)\n"
                     "        tl.store(p + i, 0.0, mask=i < n)\n",
                NULL, "STEP=step+:n STAGES=stages |");
  // The language's own reduction, imported, is not Python's `max`.
  check_extents("from triton.language import max\n" HEAD "def f(p, n, B: tl.constexpr):\n"
                "    i = tl.program_id(0) * B + tl.arange(0, B)\n"
                "    tl.store(p, max(tl.load(p + i, mask=i < n), 0))\n",
                NULL, "B=element:n | reduction");
  check_extents(HEAD "def f(p, n, B: tl.constexpr):\n"
                     "    i = min(tl.program_id(0) * B + tl.arange(0, B), n - 1)\n"
                     "    tl.store(p + i, max(tl.load(p + i), 0))\n",
                NULL, "B=element:n |");
}
END_TEST

// Rows of one form have the parameters that it reads: each is called with nothing.
START_TEST(forms_have_their_parameters) {
  static const struct {
    const char *name;
    unsigned flags;
  } rows[] = {
#define BUILTIN(name, params, flags, fn, tag) {name, flags},
#define MATH(name, params, flags) {name, flags},
#define STD(name, flags) {name, flags},
#include "lang/builtins/builtins.def"
  };
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    char text[256];
    if (!(rows[i].flags & FORM_MASK))
      continue;
    const char *prefix = rows[i].flags & BUILTIN_BARE ? "" : "tl.";
    snprintf(text, sizeof text,
             HEAD "def f(B: tl.constexpr):\n    for i in %s%s():\n        %s%s()\n", prefix,
             rows[i].name, prefix, rows[i].name);
    struct parsed p = parsed_create("t.tile", str_from(text));
    lang_extents_of(p.arena, p.unit, NULL);
    parsed_destroy(&p);
  }
}
END_TEST

START_TEST(hostile_texts_end) {
  struct strbuf text = {0};
  strbuf_puts(&text, HEAD "def f(p, B: tl.constexpr):\n    x = ");
  for (int i = 0; i < 900; i++) // as deep as trees may be
    strbuf_puts(&text, "1 + ");
  strbuf_puts(&text, "B\n");
  for (int i = 0; i < 40; i++)
    strbuf_printf(&text, "%*sfor i%d in range(0, x):\n", 4 + i, "", i);
  strbuf_printf(&text, "%*stl.store(p + tl.arange(0, B), x)\n", 44, "");
  check_extents(strbuf_cstr(&text), NULL, "B=none |");
  strbuf_finish(&text);
}
END_TEST

Suite *extents_suite(void) {
  Suite *s = suite_create("extents");
  TCase *t = tcase_create("extents");
  tcase_add_test(t, tutorials);
  tcase_add_test(t, products_as_others_write_them);
  tcase_add_test(t, what_says_what_is_computed_stays);
  tcase_add_test(t, through_calls_and_loops);
  tcase_add_test(t, arguments_are_found_by_the_table);
  tcase_add_test(t, forms_have_their_parameters);
  tcase_add_test(t, hostile_texts_end);
  suite_add_tcase(s, t);
  return s;
}
