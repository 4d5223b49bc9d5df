// SPDX-License-Identifier: Apache-2.0
// Emission: parameters, builtins, hints; and robustness: texts cut anywhere, mutated, and every
// golden's input must end in a module or in messages.
#include "base/file.h"
#include "emitted.h"
#include "suites_emit.h"
#include "tests/sample.h"

#include <dirent.h>

START_TEST(vector_add) {
  CHECK_IR("@triton.jit\n"
           "def add(x: ptr[f32] % 16, y: const_ptr[f32], n: i32, BLOCK: tl.constexpr = 128):\n"
           "  offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
           "  mask = offs < n\n"
           "  tl.store(x + offs, tl.load(x + offs, mask) + tl.load(y + offs, mask), mask)\n",
           "func.func @add(%arg0: !tile.ptr<f32> {tile.divisibility = 16 : i32, tile.dtype = "
           "\"f32\", tile.name = \"x\"}",
           "tile.const", "tile.name = \"y\"", "tile.name = \"n\"", "attributes {tile.kernel}",
           "tile.get_program_id", "tile.make_range", "tile.load", "tile.load", "arith.addf",
           "tile.store");
}
END_TEST

START_TEST(bindings) {
  struct arena *a = arena_create();
  struct diag_engine *diag = diag_engine_create(a);
  struct ir_context *c = ir_context_create(a, diag);
  struct str text = STR("def k(x, y, n, one, DIM: constexpr, act=None):\n"
                        "  static_print(x.dtype, n.dtype, one, DIM, act)\n");
  struct source *s = source_create(a, "t.tile", text);
  struct strbuf printed = {0};
  const struct lang_binding b[] = {
      {.name = "x", .kind = BIND_POINTER, .dtype = DTYPE_BF16, .divisible_by = 16},
      {.name = "y", .kind = BIND_CONSTANT, .text = "None"},
      {.name = "n", .kind = BIND_SCALAR, .dtype = DTYPE_U32, .divisible_by = 1},
      {.name = "one", .kind = BIND_SCALAR, .dtype = DTYPE_I32, .divisible_by = 1, .is_one = true},
      {.name = "DIM", .kind = BIND_CONSTANT, .text = "64"}};
  struct lang_options o = {.bindings = b, .binding_count = COUNT_OF(b), .static_print = &printed};
  MlirModule m = lang_emit(c, lang_unit_read(a, diag, s), &o);
  ck_assert(!mlirModuleIsNull(m));
  ck_assert_str_eq(strbuf_cstr(&printed), "ptr[bf16] u32 i32 64 None\n");
  // The argument that equals 1 is a constant of its type: not a parameter, with unchanged
  // semantics.
  struct strbuf ir = {0};
  ir_print(mlirModuleGetOperation(m), false, &ir);
  ck_assert_ptr_nonnull(strstr(strbuf_cstr(&ir), "arith.constant 1 : i32"));
  strbuf_finish(&ir);
  MlirOperation kernel = module_kernel(c, m);
  MlirType type = mlirTypeAttrGetValue(op_attr(kernel, "function_type"));
  ck_assert_int_eq(mlirFunctionTypeGetNumInputs(type), 2);
  ck_assert_int_eq(mlirIntegerAttrGetValueInt(func_arg_attr(kernel, 0, "tile.divisibility")), 16);
  ck_assert(mlirAttributeIsNull(func_arg_attr(kernel, 1, "tile.divisibility")));
  struct str u32 = {0};
  MlirStringRef r = mlirStringAttrGetValue(func_arg_attr(kernel, 1, "tile.dtype"));
  u32.ptr = r.data, u32.len = r.length;
  ck_assert(str_is(u32, "u32"));
  mlirModuleDestroy(m);
  strbuf_finish(&printed);
  ir_context_destroy(c);
  arena_destroy(a);
}
END_TEST

START_TEST(bindings_that_contradict) {
  static const struct lang_binding wrong[] = {
      {.name = "x", .kind = BIND_POINTER, .dtype = DTYPE_F16, .divisible_by = 1},
      {.name = "n", .kind = BIND_POINTER, .dtype = DTYPE_I32, .divisible_by = 1},
      {.name = "B", .kind = BIND_SCALAR, .dtype = DTYPE_I32, .divisible_by = 1}};
  for (size_t i = 0; i < COUNT_OF(wrong); i++) {
    struct arena *a = arena_create();
    struct diag_engine *diag = diag_engine_create(a);
    struct ir_context *c = ir_context_create(a, diag);
    struct source *s = source_create(
        a, "t.tile", STR("def k(x: ptr[f32], n: i32, B: constexpr = 4):\n  store(x, n)\n"));
    struct lang_options o = {.bindings = &wrong[i], .binding_count = 1};
    ck_assert(mlirModuleIsNull(lang_emit(c, lang_unit_read(a, diag, s), &o)));
    ck_assert(diag_first_error_code(diag) == E0413);
    ir_context_destroy(c);
    arena_destroy(a);
  }
}
END_TEST

START_TEST(memory) {
  CHECK_IR("def k(x: ptr[f16], n: i32):\n"
           "  o = arange(0, 64)\n"
           "  v = load(x + o, mask=o < n, other=0, cache_modifier='.cg', "
           "eviction_policy='evict_last', volatile=True)\n"
           "  store(x + o, 1.5, mask=n > 3, cache_modifier='.wt')\n"
           "  store(x + o[:, None] + o[None, :], v[:, None])\n",
           "dense<0.000000e+00> : tensor<64xf16>", "cache = \"cg\"", "evict = \"evict_last\"",
           "is_volatile = true", "dense<1.500000e+00> : tensor<64xf16>", "cache = \"wt\"",
           "tile.broadcast", "tensor<64x64x!tile.ptr<f16>>");
}
END_TEST

START_TEST(atomics) {
  CHECK_IR("def k(x: ptr[f32], i: ptr[i32], u: ptr[u64]):\n"
           "  o = arange(0, 64)\n"
           "  atomic_add(x + o, 1, mask=o < 3, sem='relaxed', scope='cta')\n"
           "  atomic_max(i, 1)\n  atomic_min(u, 1)\n  atomic_xchg(u, 1)\n  atomic_xor(i, 3)\n"
           "  atomic_max(x, 2.0)\n",
           "kind = \"fadd\", scope = \"cta\", sem = \"relaxed\"", "kind = \"max\"",
           "kind = \"umin\"", "kind = \"xchg\"", "kind = \"xor\"", "arith.cmpi sge",
           "kind = \"max\"", "kind = \"umin\"", "arith.select");
}
END_TEST

START_TEST(hints) {
  CHECK_IR("def k(x: ptr[f32], n: i32):\n"
           "  multiple_of(n, 16)\n"
           "  o = max_contiguous(multiple_of(program_id(0) * n + arange(0, 64), 8), 64)\n"
           "  assume(n > 0)\n"
           "  store(x + o, max_constancy(n + o, 2))\n",
           "tile.divisibility = 16 : i32", "tile.contiguity = array<i32: 64>",
           "tile.divisibility = array<i32: 8>", "tile.assume", "tile.constancy = array<i32: 2>");
}
END_TEST

START_TEST(debugging) {
  CHECK_IR("def k(x: ptr[u32], n: i32):\n"
           "  device_print('v:', load(x), n, 1.5, hex=True)\n"
           "  assert n > 3, 'n is small'\n"
           "  device_assert(arange(0, 8) < n, mask=arange(0, 8) > 2)\n"
           "  debug_barrier()\n",
           "tile.print", "hex = true, is_signed = array<i32: 0, 1, 1>", "prefix = \"v:\"",
           "message = \"n is small\"", "arith.ori", "tile.assert", "tile.debug_barrier");
}
END_TEST

START_TEST(math_library) {
  CHECK_IR("def k(x: ptr[f16]):\n  v = load(x)\n  store(x, exp(v) + tl.math.exp2(v) + v.log2())\n",
           "arith.extf", "math.exp2", "arith.truncf", "math.exp2", "math.log2", "arith.truncf");
  CHECK_IR("def k(x: ptr[f64]):\n  v = load(x)\n"
           "  store(x, exp(v) + exp2(v) + log(v) + log2(v) + sin(v) + cos(v) + tanh(v) + erf(v) + "
           "rsqrt(v) + sigmoid(v) + sqrt(v) + floor(v))\n",
           "math.fma", "arith.bitcast", "math.sqrt", "math.floor");
  CHECK_IR("def k(x: ptr[f32]):\n  v = load(x)\n"
           "  store(x, log(v) + sin(v) + cos(v) + tanh(v) + erf(v) + sigmoid(v) + div_rn(v, v) + "
           "sqrt_rn(v) + ceil(v) + fma(v, 2.0, 1.0) + clamp(v, 0.0, 1.0))\n",
           "math.fma", "tile.precise_divf", "tile.precise_sqrt", "math.ceil", "math.fma",
           "tile.clampf");
}
END_TEST

START_TEST(library_has_the_place_of_its_call) {
  struct emitted r =
      emit_text(STR("def k(x: ptr[f32], n: i32):\n  store(x, exp(erf(n)))\n"), NULL, NULL);
  ck_assert_ptr_nonnull(strstr(strbuf_cstr(&r.messages), "test.tile:2:16: error: `tl.erf`"));
  ck_assert_uint_eq(r.errors, 1); // no error follows from the first
  emitted_free(&r);
}
END_TEST

// ---- robustness ----

static const char sample[] =
    "import triton\nimport triton.language as tl\nSCALE = 1.5\n"
    "@triton.jit\ndef act(v, KIND: tl.constexpr):\n"
    "    if KIND == \"relu\":\n        return tl.maximum(v, 0.0)\n"
    "    return v * tl.sigmoid(v)\n"
    "@triton.jit\ndef k(x: ptr[f32], n: i32, B: tl.constexpr = 64):\n"
    "    o = tl.program_id(0) * B + tl.arange(0, B)\n    acc = tl.zeros((B,), dtype=tl.float32)\n"
    "    for i in range(0, n, B):\n        v = tl.load(x + o + i, mask=o + i < n, other=0.0)\n"
    "        if n > 3:\n            acc += act(v, \"silu\") * SCALE\n        else:\n"
    "            continue\n    a, (b, c) = 1, (2, f\"{B:x}\")\n"
    "    while (j := a) < n:\n        a = j * 2\n        if a == 7:\n            break\n"
    "    tl.store(x + o, tl.where(o < n, acc, -1.0)[None, :].reshape(B) if n else acc, mask=o < "
    "n)\n";

static void must_end(struct str text) {
  struct emitted r = emit_text(text, NULL, "B=32");
  emitted_free(&r);
  struct emitted named = emit_text(text, "k", NULL);
  emitted_free(&named);
}

START_TEST(texts_cut_anywhere) {
  must_end((struct str){sample, sizeof sample - 1});
  for (size_t n = (size_t)_i * sample_step(); n < sizeof sample - 1; n += 8 * sample_step())
    must_end((struct str){sample, n});
}
END_TEST

// Each word of the sample replaced by each of a few troublesome ones.
START_TEST(words_replaced) {
  static const char *const words[] = {"None", "x",       "n",    "(1, 2)", "-1",     "0",
                                      "1.5",  "tl.load", "\"\"", "k",      "o[None]"};
  const char *word = words[_i];
  unsigned step = sample_step(), seen = (unsigned)_i; // each word has a sample of its own
  for (size_t i = 0; i < sizeof sample - 1;) {
    size_t end = i;
    while (end < sizeof sample - 1 && (sample[end] == '_' || sample[end] == '.' ||
                                       (sample[end] >= '0' && sample[end] <= '9') ||
                                       (sample[end] >= 'A' && sample[end] <= 'z')))
      end++;
    if (end > i && seen++ % step == 0) {
      struct strbuf text = {0};
      strbuf_put(&text, sample, i);
      strbuf_puts(&text, word);
      strbuf_puts(&text, sample + end);
      must_end((struct str){text.ptr, text.len});
      strbuf_finish(&text);
    }
    i = end + 1;
  }
}
END_TEST

static unsigned run_folder(const char *path) {
  DIR *d = opendir(path);
  ck_assert_ptr_nonnull(d);
  unsigned count = 0;
  for (struct dirent *f; (f = readdir(d));) {
    if (!str_ends(str_from(f->d_name), ".tile"))
      continue;
    struct arena *a = arena_create();
    struct str text;
    ck_assert_int_eq(file_read(a, arena_printf(a, "%s/%s", path, f->d_name), 1 << 20, &text), 0);
    struct emitted r = emit_text(text, NULL, "BLOCK=64");
    emitted_free(&r);
    arena_destroy(a);
    count++;
  }
  closedir(d);
  return count;
}

START_TEST(every_golden) { ck_assert_uint_gt(run_folder(TESTS_DIR "/diagnostics"), 60); }
END_TEST

START_TEST(deep_nesting_ends) {
  struct strbuf text = {0};
  strbuf_puts(&text, "def k(x: ptr[f32], n: i32):\n");
  for (int i = 0; i < 3000; i++)
    strbuf_puts(&text, "  if n > 1:\n    return\n");
  must_end((struct str){text.ptr, text.len});
  strbuf_clear(&text);
  strbuf_puts(&text, "@jit\ndef f(v):\n  return ");
  for (int i = 0; i < 60; i++)
    strbuf_puts(&text, "f(");
  strbuf_puts(&text, "v");
  for (int i = 0; i < 60; i++)
    strbuf_puts(&text, ")");
  strbuf_puts(&text, "\n@jit\ndef k(x: ptr[f32]):\n  store(x, f(1.0))\n");
  must_end((struct str){text.ptr, text.len});
  strbuf_finish(&text);
}
END_TEST

TCase *emit_tests(void) {
  TCase *t = tcase_create("emit");
  tcase_set_timeout(t, 600);
  tcase_add_test(t, vector_add);
  tcase_add_test(t, bindings);
  tcase_add_test(t, bindings_that_contradict);
  tcase_add_test(t, memory);
  tcase_add_test(t, atomics);
  tcase_add_test(t, hints);
  tcase_add_test(t, debugging);
  tcase_add_test(t, math_library);
  tcase_add_test(t, library_has_the_place_of_its_call);
  tcase_add_loop_test(t, texts_cut_anywhere, 0, 8);
  tcase_add_loop_test(t, words_replaced, 0, 11);
  tcase_add_test(t, every_golden);
  tcase_add_test(t, deep_nesting_ends);
  return t;
}
